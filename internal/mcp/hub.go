package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/quire-agent/quire/internal/tool"
	"github.com/quire-agent/quire/internal/x/group"
)

// The bounds of time where nothing else is said.
const (
	usualConnect = 15 * time.Second // for one server
	usualStartup = 10 * time.Second // how long a session waits for all of them
	usualCall    = 2 * time.Minute
	longest      = time.Hour   // that a file may give a call
	terminate    = time.Second // how long a server has to end by itself
)

// Options say how servers are connected to.
type Options struct {
	Version string   // of this program
	Dir     string   // the project: where commands start, and the root that servers are told of
	Env     []string // of commands, without the keys that this program was given
	Auth    Auth
	Client  *http.Client  // for servers with an address; nil: the usual one
	Connect time.Duration // for one server, 0: the usual
	Startup time.Duration // how long Connect waits for all, 0: the usual
}

// A Hub holds the connections of a session. Its methods and tools may be used
// concurrently.
type Hub struct {
	o      Options
	ctx    context.Context // of the connections: it ends with Close
	cancel context.CancelFunc
	all    sync.WaitGroup

	servers []*link

	giving sync.Once
	given  []tool.Tool // to the agents

	mu      sync.Mutex
	fixed   bool // the tools were given out: from now on changes are told
	closing bool
	news    []string // not told yet
}

// Connect connects to all servers at once and returns when all have answered or the
// time for it is up; those that are late go on connecting, and what they bring is
// told later. A server that cannot be connected to stops nothing: see
// [Hub.Report]. The hub is closed in the end.
func Connect(ctx context.Context, servers []Server, o Options) *Hub {
	if o.Connect == 0 {
		o.Connect = usualConnect
	}
	if o.Startup == 0 {
		o.Startup = usualStartup
	}
	h := &Hub{o: o}
	h.ctx, h.cancel = context.WithCancel(context.WithoutCancel(ctx))
	var first sync.WaitGroup
	for _, s := range servers {
		l := &link{hub: h, Server: s}
		h.servers = append(h.servers, l)
		if s.Skip != "" {
			continue
		}
		first.Add(1)
		h.spawn(func() {
			l.open(h.ctx)
			first.Done()
		})
	}
	ready := make(chan struct{})
	h.spawn(func() { first.Wait(); close(ready) })
	timer := time.NewTimer(o.Startup)
	defer timer.Stop()
	select {
	case <-ready:
	case <-timer.C:
	case <-ctx.Done():
	}
	return h
}

// Close ends all connections, and the servers that were started for them.
func (h *Hub) Close() {
	h.cancel()
	var all sync.WaitGroup
	for _, l := range h.servers {
		all.Go(l.close)
	}
	all.Wait()
	h.mu.Lock()
	h.closing = true
	h.mu.Unlock()
	h.all.Wait()
}

// spawn starts what Close waits for. When the hub is closing nothing is started.
func (h *Hub) spawn(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closing {
		h.all.Go(f)
	}
}

// A link is the connection to one server.
type link struct {
	hub *Hub
	Server

	opening sync.Mutex // one opens at a time

	mu      sync.Mutex
	session *sdk.ClientSession
	cmd     *exec.Cmd
	stderr  *group.Tail
	tools   []*sdk.Tool // by name
	asked   bool        // it has answered, or failed to
	err     error
	closed  bool
}

// stderrTail is how much is kept of what a server says besides, stderrShown how
// much of that an error shows, in bytes.
const (
	stderrTail  = 2000
	stderrShown = 200
)

// open connects, where there is no connection, and lists the tools.
func (l *link) open(ctx context.Context) {
	l.opening.Lock()
	defer l.opening.Unlock()
	l.mu.Lock()
	done := l.session != nil || l.closed
	l.mu.Unlock()
	if done {
		return
	}
	limited, cancel := context.WithTimeout(ctx, l.hub.o.Connect)
	defer cancel()
	session, tools, err := l.dial(limited)
	if err != nil {
		err = l.told(err, limited)
	}
	l.opened(session, tools, err)
}

func (l *link) opened(session *sdk.ClientSession, tools []*sdk.Tool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.tools
	l.asked, l.err = true, err
	if err != nil {
		return
	}
	l.session, l.tools = session, tools
	l.hub.spawn(func() { l.watch(session) })
	l.hub.changed(l.Name, was, tools)
}

// watch waits for the end of a connection, so that the next call makes a new one.
func (l *link) watch(session *sdk.ClientSession) {
	err := session.Wait()
	_ = session.Close() // it has ended; what listened on it ends too
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session == session {
		l.session = nil
		l.err = errors.Join(errors.New("the connection ended"), err)
	}
	if l.cmd != nil {
		group.Kill(l.cmd)
	}
}

// told is an error with what the server said besides.
func (l *link) told(err error, ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("it did not answer in %s", l.hub.o.Connect)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stderr == nil {
		return err
	}
	text, _ := l.stderr.Text()
	text = strings.TrimSpace(text)
	if text == "" {
		return err
	}
	return fmt.Errorf("%w; it said: %s", err, strings.ToValidUTF8(text[max(len(text)-stderrShown, 0):], ""))
}

func (l *link) dial(ctx context.Context) (*sdk.ClientSession, []*sdk.Tool, error) {
	transport, err := l.transport()
	if err != nil {
		return nil, nil, err
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "quire", Version: l.hub.o.Version}, &sdk.ClientOptions{
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { l.hub.spawn(l.relist) },
	})
	if l.hub.o.Dir != "" {
		client.AddRoots(&sdk.Root{Name: "project", URI: (&url.URL{Scheme: "file", Path: l.hub.o.Dir}).String()})
	}
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		return nil, nil, err
	}
	tools, err := list(ctx, session)
	if err != nil {
		return nil, nil, errors.Join(err, session.Close())
	}
	return session, tools, nil
}

func (l *link) transport() (sdk.Transport, error) {
	if l.URL != "" {
		return l.overHTTP()
	}
	env, missing := filled(l.Env, l.hub.o.Auth)
	if missing != "" {
		return nil, missingKey(missing)
	}
	cmd := exec.Command(l.Command, l.Args...)
	cmd.Dir, cmd.Env = l.hub.o.Dir, append(slices.Clone(l.hub.o.Env), env...)
	tail := &group.Tail{Limit: stderrTail}
	cmd.Stderr = tail
	group.Set(cmd)
	l.mu.Lock()
	l.cmd, l.stderr = cmd, tail
	l.mu.Unlock()
	return &sdk.CommandTransport{Command: cmd, TerminateDuration: terminate}, nil
}

func missingKey(provider string) error {
	return fmt.Errorf("there is no key for %s: `quire models key set %s` keeps one", provider, provider)
}

func (l *link) overHTTP() (sdk.Transport, error) {
	headers, missing := filled(l.Headers, l.hub.o.Auth)
	if missing != "" {
		return nil, missingKey(missing)
	}
	at, err := url.Parse(l.URL)
	if err != nil {
		return nil, fmt.Errorf("its url: %w", err)
	}
	client := http.Client{}
	if l.hub.o.Client != nil {
		client = *l.hub.o.Client
	}
	client.Transport = &headed{host: at.Host, headers: headers, next: client.Transport}
	return &sdk.StreamableClientTransport{Endpoint: l.URL, HTTPClient: &client}, nil
}

// headed adds headers to requests to one host: where a redirect leads elsewhere
// they do not follow it.
type headed struct {
	host    string
	headers []string
	next    http.RoundTripper
}

// RoundTrip sends a request.
func (t *headed) RoundTrip(r *http.Request) (*http.Response, error) {
	next := t.next
	if next == nil {
		next = http.DefaultTransport
	}
	if r.URL.Host != t.host || len(t.headers) == 0 {
		return next.RoundTrip(r)
	}
	r = r.Clone(r.Context())
	for _, h := range t.headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	return next.RoundTrip(r)
}

// The bounds of what a server may list.
const mostTools = 512

// list are the tools of a server, all pages of the list, by name.
func list(ctx context.Context, session *sdk.ClientSession) (tools []*sdk.Tool, err error) {
	if c := session.InitializeResult().Capabilities; c == nil || c.Tools == nil {
		return nil, nil
	}
	for t, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, fmt.Errorf("list its tools: %w", err)
		}
		if len(tools) == mostTools {
			break
		}
		tools = append(tools, t)
	}
	slices.SortStableFunc(tools, func(a, b *sdk.Tool) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(tools, func(a, b *sdk.Tool) bool { return a.Name == b.Name }), nil
}

// relist lists the tools again.
func (l *link) relist() {
	l.mu.Lock()
	session := l.session
	l.mu.Unlock()
	if session == nil {
		return // it is being connected to, and lists them then
	}
	ctx, cancel := context.WithTimeout(l.hub.ctx, l.hub.o.Connect)
	defer cancel()
	tools, err := list(ctx, session)
	if err != nil {
		return // what is there stays; the next call says what is wrong
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.tools
	l.tools = tools
	l.hub.changed(l.Name, was, tools)
}

func (l *link) close() {
	l.opening.Lock()
	defer l.opening.Unlock()
	l.mu.Lock()
	session, cmd := l.session, l.cmd
	l.closed, l.session = true, nil
	l.mu.Unlock()
	if session != nil {
		_ = session.Close() // nothing is wanted of it any more
	}
	if cmd != nil && cmd.Process != nil {
		group.Kill(cmd)
	}
}

// live is the session, connected to anew where it had ended.
func (l *link) live(ctx context.Context) (*sdk.ClientSession, error) {
	l.mu.Lock()
	session, asked := l.session, l.asked
	l.mu.Unlock()
	if session != nil {
		return session, nil
	}
	if asked {
		l.open(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.session != nil:
		return l.session, nil
	case l.err != nil:
		return nil, l.err
	}
	return nil, errors.New("it is still being connected to")
}

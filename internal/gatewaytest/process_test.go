package gatewaytest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/gateway"
	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/ingest"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/store/sqlite"
)

// asGateway is the variable that makes the test program a gateway. It holds a
// setting.
const asGateway = "QUIRE_GATEWAYTEST_PROCESS"

// A setting is how a gateway in a process of its own is started.
type setting struct {
	Home     string
	Upstream string
	Listen   string // address and port; "": a free one of loopback
	Ahead    string // file that says how far its clock is set forward, in nanoseconds
	Budget   int    // of a curated stream, in tokens
	Die      int64  // at which of its writes it kills itself, 0 for never
}

// served runs the gateway where this process is to be one, until its standard input
// ends.
func served() bool {
	text := os.Getenv(asGateway)
	if text == "" {
		return false
	}
	var s setting
	err := json.Unmarshal([]byte(text), &s)
	if err == nil {
		err = s.serve()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}

func (s setting) serve() (err error) {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, s.Home, sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	g, err := gateway.New(s.options(store))
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.address())
	if err != nil {
		return err
	}
	server := &http.Server{Handler: g, ReadHeaderTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	fmt.Println(listener.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
	err = server.Close()
	<-ended
	return errors.Join(err, g.Close(ctx))
}

func (s setting) address() string {
	if s.Listen == "" {
		return "127.0.0.1:0"
	}
	return s.Listen
}

func (s setting) options(store *sqlite.Store) gateway.Options {
	c, err := counter()
	if err != nil {
		panic(err)
	}
	m := &mortal{Bodies: store, at: s.Die, ahead: ahead{s.Ahead}}
	o := options(&ingest.Pool{
		Home: s.Home, Bodies: m, Table: store, Heads: store, Index: index.New(store, store), Counter: c,
		Mask: func(text string) string { return text }, Owner: "user:local", Now: m.now,
	}, s.Upstream)
	curating(&o)
	if s.Budget > 0 {
		o.Curate.Budget = s.Budget
	}
	o.Failed = func(err error) { fmt.Fprintln(os.Stderr, "the gateway:", err) }
	return o
}

// A mortal counts the writes of a process, bodies before and after they are durable
// and lines of journals, which ask for the time; and it ends the process at one.
type mortal struct {
	quire.Bodies
	ahead ahead
	at    int64
	seen  atomic.Int64
}

func (m *mortal) step() {
	if m.seen.Add(1) != m.at {
		return
	}
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {}
}

// PutBodies puts.
func (m *mortal) PutBodies(ctx context.Context, bodies [][]byte) ([]quire.Hash, error) {
	m.step()
	defer m.step()
	return m.Bodies.PutBodies(ctx, bodies)
}

func (m *mortal) now() time.Time {
	m.step()
	return m.ahead.now()
}

// An ahead is a clock that a file sets forward, for several processes at a time.
type ahead struct{ file string }

func (a ahead) now() time.Time {
	text, err := os.ReadFile(a.file)
	if err != nil {
		return time.Now()
	}
	n, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return time.Now().Add(time.Duration(n))
}

func (a ahead) set(t testing.TB, d time.Duration) {
	t.Helper()
	next := a.file + ".next"
	if err := os.WriteFile(next, []byte(strconv.FormatInt(int64(d), 10)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, a.file); err != nil {
		t.Fatal(err)
	}
}

// A process is a gateway that runs apart, and can be killed.
type process struct {
	t       testing.TB
	setting setting
	cmd     *exec.Cmd
	in      io.Closer
	done    chan struct{} // it has ended

	mu      sync.Mutex // guards address
	address string
}

// newProcess starts a gateway in a home of its own.
func newProcess(t testing.TB, s setting) *process {
	t.Helper()
	if s.Home == "" {
		s.Home = filepath.Join(t.TempDir(), "home")
	}
	p := &process{t: t, setting: s}
	p.start()
	t.Cleanup(p.stop)
	return p
}

// start starts it, at the same address where it was started before.
func (p *process) start() {
	p.t.Helper()
	text, err := json.Marshal(p.setting)
	if err != nil {
		p.t.Fatal(err)
	}
	p.cmd = exec.CommandContext(context.WithoutCancel(p.t.Context()), os.Args[0]) //nolint:gosec // it is this program
	p.cmd.Env = append(os.Environ(), asGateway+"="+string(text))
	p.cmd.Stderr = os.Stderr
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		p.t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	done, cmd := make(chan struct{}), p.cmd
	p.done = done
	go func() {
		// How it ended is for who asked it to.
		_ = cmd.Wait()
		close(done)
	}()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.address = strings.TrimSpace(line)
}

// url is where it listens, "" where it died before it did.
func (p *process) url() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return "http://" + p.address
}

// kill ends it at once, and waits until it is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// again starts it anew after it was killed, with a long life.
func (p *process) again() {
	p.t.Helper()
	p.setting.Die = 0
	if p.address != "" {
		p.setting.Listen = p.address
	}
	p.start()
}

// stop ends it in peace.
func (p *process) stop() {
	_ = p.in.Close()
	<-p.done
}

// A remote is a gateway in another process, as a handler.
type remote struct{ p *process }

// ServeHTTP passes a request on; where nothing answers, or not to the end, it breaks
// off.
func (r remote) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	out := in.Clone(in.Context())
	target := r.p.url()
	out.URL.Host, out.URL.Scheme, out.RequestURI, out.Host = strings.TrimPrefix(target, "http://"), "http", "", ""
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(out)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer answer.Body.Close()
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	if _, err := io.Copy(w, answer.Body); err != nil {
		panic(http.ErrAbortHandler)
	}
	if h, ok := w.(*held); ok {
		h.done = true
	}
}

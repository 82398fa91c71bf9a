package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quire-agent/quire/internal/curation"
	"github.com/quire-agent/quire/internal/quire"
)

// An exchange is one request under way with its answer.
type exchange struct {
	route
	visit
	gateway *Gateway
	cancel  context.CancelCauseFunc
	began   time.Time
	cred    string // keyed hash of the credential, "" without one
	label   string // what the client calls the session
	up      tape
	down    tape

	// What the answer is, all of it written and read by the goroutine of the request.
	status   int
	first    time.Time // when the answer began
	kind     string    // content type of the answer
	encoding string
	after    string
	whole    bool   // the answer came to its end
	packed   string // how the request is compressed

	writing  *writing         // nil while it is relayed and nothing else
	reply    *curation.Answer // of a curated call, when it is over
	outgoing *http.Request    // as it went up
	came     []byte           // of the request, as far as it was taken in
	held     int              // bytes of the budget that were taken for it, and for nothing else
	body     *body            // nil where it was not taken in, or cannot be read
	reading  *reading         // of the body, nil until somebody wants to know
	sentBody []byte           // as it came, without compression
	secrets  []string         // of the client
	opened   string           // why nobody decided what goes up
	head     uint64           // of its model and tools
	retried  bool
	taken    atomic.Bool // it was handed to the observer
}

// relay passes a request on and its answer back. A model call goes to the observer
// when it is over, however it ended.
func (g *Gateway) relay(w http.ResponseWriter, r *http.Request, to route, v visit) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	e := &exchange{route: to, visit: v, gateway: g, cancel: cancel, began: g.options.Pool.Now(), cred: g.credential(r), label: labelOf(r.Header), secrets: secretsOf(r), packed: strings.ToLower(r.Header.Get("Content-Encoding"))}
	e.up.budget, e.down.budget = &g.copies, &g.copies
	defer func() { g.copies.give(e.held) }()
	up := &upload{exchange: e, body: r.Body, control: http.NewResponseController(w)}
	out := r.Clone(ctx)
	out.Header.Del("Upgrade")
	out.Header.Del("Http2-Settings")
	if e.call {
		defer g.observer.put(e)
	}
	switch {
	case r.ContentLength == 0:
	case (e.call || e.count) && g.options.Curate != nil:
		if err := e.ask(out, up); err != nil {
			e.unreached(w, out, err)
			return
		}
	default:
		if e.call {
			e.up.expect(r.ContentLength)
		}
		out.Body = up
	}
	e.proxy().ServeHTTP(&download{ResponseWriter: w, control: up.control, limit: g.limits.Client}, out)
}

func (e *exchange) proxy() *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite: e.rewrite, Transport: e.gateway.transport, FlushInterval: -1,
		BufferPool: &e.gateway.buffers, ModifyResponse: e.begun, ErrorHandler: e.unreached, ErrorLog: e.gateway.silent,
	}
}

// rewrite addresses the request upstream. What the proxy takes out of care for
// others (forwarding headers, odd queries) is put back: the upstream is the one
// that the client means.
func (e *exchange) rewrite(p *httputil.ProxyRequest) {
	base := e.gateway.upstreams[e.api]
	p.Out.URL = join(base, e.visit, p.In.URL.RawQuery)
	p.Out.Host = ""
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if v := p.In.Header.Values(name); len(v) > 0 {
			p.Out.Header[name] = v
		}
	}
	p.Out.Header.Del(tokenHeader)
	if key := e.gateway.options.Keys[e.api]; key != "" {
		e.authorize(p.Out, key)
	}
	p.Out.Header.Set("Accept-Encoding", "identity")
	e.outgoing = p.Out
}

// authorize puts a key of the gateway's in the place of the client's.
func (e *exchange) authorize(r *http.Request, key string) {
	for _, name := range []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key"} {
		r.Header.Del(name)
	}
	if q := r.URL.Query(); q.Has("key") {
		q.Del("key")
		r.URL.RawQuery = q.Encode()
	}
	switch e.api {
	case Messages:
		r.Header.Set("X-Api-Key", key)
	case Gemini:
		r.Header.Set("X-Goog-Api-Key", key)
	default:
		r.Header.Set("Authorization", "Bearer "+key)
	}
}

// join puts a path behind a base. A version that both have stands once: clients of
// some APIs are given addresses with it, and of others without.
func join(base *url.URL, v visit, query string) *url.URL {
	u := *base
	path, raw := v.path, v.raw
	if at := strings.LastIndexByte(base.Path, '/'); at >= 0 && at+1 < len(base.Path) {
		last := base.Path[at:] + "/"
		if strings.HasPrefix(path, last) && strings.HasPrefix(raw, last) {
			path, raw = path[len(last)-1:], raw[len(last)-1:]
		}
	}
	escaped := base.EscapedPath()
	u.Path, u.RawPath, u.RawQuery = base.Path+path, escaped+raw, query
	return &u
}

// begun takes note of an answer and begins to copy it.
func (e *exchange) begun(r *http.Response) error {
	e.status, e.first = r.StatusCode, e.gateway.options.Pool.Now()
	if r.StatusCode >= http.StatusBadRequest {
		e.refused(r)
	}
	e.kind, e.encoding, e.after = r.Header.Get("Content-Type"), r.Header.Get("Content-Encoding"), r.Header.Get("Retry-After")
	if r.StatusCode < http.StatusBadRequest && e.writing != nil && e.writing.curates() {
		e.curate(r)
	}
	r.Body = newAnswerBody(e, r.Body, r.ContentLength)
	return nil
}

var (
	errLarge = errors.New("the request is larger than the gateway takes")
	errSlow  = errors.New("the request came too slowly")
)

// unreached answers in place of an upstream that did not.
func (e *exchange) unreached(w http.ResponseWriter, r *http.Request, err error) {
	switch cause := context.Cause(r.Context()); {
	case errors.Is(cause, errLarge) || errors.Is(err, errLarge):
		e.gateway.refuse(w, e.api, quire.CallTooLarge, http.StatusRequestEntityTooLarge, errLarge.Error())
	case errors.Is(cause, errSlow) || errors.Is(err, errSlow):
		w.Header().Set("Connection", "close")
		e.gateway.refuse(w, e.api, quire.CallInvalid, http.StatusRequestTimeout, errSlow.Error())
	case r.Context().Err() != nil:
		// The client left: nobody reads an answer.
		w.WriteHeader(http.StatusBadGateway)
	default:
		e.api.refusal(w, quire.CallServer, http.StatusBadGateway, "the gateway could not reach "+e.gateway.upstreams[e.api].Host)
	}
}

// An upload copies a request on its way up.
type upload struct {
	*exchange
	body    io.ReadCloser
	control *http.ResponseController
	size    int64
	since   time.Time // when it was first read
	kept    bool      // whoever reads keeps what is read
}

// slowest is how many bytes a client has to send in a second on the whole, and
// startUp how often the time of one piece it may take longer than that.
const (
	slowest = 4 << 10
	startUp = 5
)

// until is when the next piece must have come: a client has a time for each, and one
// that grows with what it sent for all.
func (u *upload) until() time.Time {
	piece := u.gateway.limits.Client
	if u.since.IsZero() {
		u.since = time.Now()
	}
	all := u.since.Add(startUp*piece + time.Duration(u.size)*time.Second/slowest)
	if next := time.Now().Add(piece); next.Before(all) {
		return next
	}
	return all
}

// Read reads a piece. Where the server can, the client has a time for it.
func (u *upload) Read(p []byte) (int, error) {
	// A writer of a test has no deadlines, and then there is none.
	_ = u.control.SetReadDeadline(u.until())
	n, err := u.body.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		u.cancel(errSlow)
		err = errSlow
	}
	u.size += int64(n)
	u.gateway.counts.up.Add(int64(n))
	if u.call && !u.kept {
		u.up.write(p[:n])
	}
	if u.size > u.gateway.limits.Body {
		u.cancel(errLarge)
		return n, errLarge
	}
	if errors.Is(err, io.EOF) {
		// What comes next on the connection is waited for without a limit.
		_ = u.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// Close ends the request.
func (u *upload) Close() error { return u.body.Close() }

// An answerBody copies an answer on its way down.
type answerBody struct {
	*exchange
	body io.ReadCloser
	left int64 // bytes that are announced and did not come, below 0: it is not known
	last lastEvent
}

func newAnswerBody(e *exchange, body io.ReadCloser, size int64) *answerBody {
	return &answerBody{exchange: e, body: body, left: size}
}

// Read reads a piece as soon as there is one.
func (b *answerBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	b.gateway.counts.down.Add(int64(n))
	if b.call {
		b.down.write(p[:n])
		b.ends(p[:n], err)
	}
	return n, err
}

// ends notes the end of an answer, and hands the call to the observer before the
// client has the last of it: what the client sends next is looked at behind it.
func (b *answerBody) ends(p []byte, err error) {
	if b.taken.Load() {
		return
	}
	b.left -= int64(len(p))
	if errors.Is(err, io.EOF) || b.left == 0 || b.last.ends(p) {
		b.whole = true
	}
	if b.whole && b.gateway.options.Curate != nil && b.status < http.StatusBadRequest {
		b.gateway.observer.put(b.exchange)
	}
}

// A lastEvent watches a stream for the event that ends it. Lines are looked at by
// their beginning: nothing that is said in an answer can begin one.
type lastEvent struct {
	line []byte
	seen bool
}

// ends takes a piece and reports whether the event that ends the stream is whole.
func (l *lastEvent) ends(p []byte) bool {
	const longest = 40
	for len(p) > 0 {
		at := bytes.IndexByte(p, '\n')
		part := p
		if at >= 0 {
			part = p[:at]
		}
		l.line = append(l.line, part[:min(len(part), max(0, longest-len(l.line)))]...)
		if at < 0 {
			return false
		}
		p = p[at+1:]
		line := string(bytes.TrimRight(l.line, "\r"))
		l.line = l.line[:0]
		if line == "" && l.seen {
			return true
		}
		switch line {
		case "event: message_stop", "event: response.completed", "event: response.incomplete", "event: response.failed", "data: [DONE]":
			l.seen = true
		}
	}
	return false
}

// Close gives the answer up.
func (b *answerBody) Close() error { return b.body.Close() }

// A download gives the client a time for each piece that it takes, so that a slow
// one is cut off and holds nothing.
type download struct {
	http.ResponseWriter
	control *http.ResponseController
	limit   time.Duration
}

// WriteHeader begins the answer, which may be all of it.
func (d *download) WriteHeader(status int) {
	_ = d.control.SetWriteDeadline(time.Now().Add(d.limit))
	d.ResponseWriter.WriteHeader(status)
}

// Write writes a piece.
func (d *download) Write(p []byte) (int, error) {
	// A writer of a test has no deadlines, and then there is none.
	_ = d.control.SetWriteDeadline(time.Now().Add(d.limit))
	return d.ResponseWriter.Write(p)
}

// Unwrap lets the proxy flush.
func (d *download) Unwrap() http.ResponseWriter { return d.ResponseWriter }

// buffers are what the proxy copies with.
type buffers struct{ pool sync.Pool }

// Get is a buffer.
func (b *buffers) Get() []byte {
	if p, ok := b.pool.Get().(*[32 << 10]byte); ok {
		return p[:]
	}
	return make([]byte, 32<<10)
}

// Put takes a buffer back.
func (b *buffers) Put(p []byte) { b.pool.Put((*[32 << 10]byte)(p)) }

package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

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
	whole    bool // the answer came to its end
}

// relay passes a request on and its answer back. A model call goes to the observer
// when it is over, however it ended.
func (g *Gateway) relay(w http.ResponseWriter, r *http.Request, to route, v visit) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	e := &exchange{route: to, visit: v, gateway: g, cancel: cancel, began: g.options.Pool.Now(), cred: g.credential(r), label: labelOf(r.Header)}
	e.up.budget, e.down.budget = &g.copies, &g.copies
	control := http.NewResponseController(w)
	out := r.Clone(ctx)
	if r.ContentLength != 0 {
		if e.call {
			e.up.expect(r.ContentLength)
		}
		out.Body = &upload{exchange: e, body: r.Body, control: control}
	}
	if e.call {
		defer g.observer.put(e)
	}
	e.proxy().ServeHTTP(&download{ResponseWriter: w, control: control, limit: g.limits.Client}, out)
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
	p.Out.Header.Set("Accept-Encoding", "identity")
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
	e.kind, e.encoding, e.after = r.Header.Get("Content-Type"), r.Header.Get("Content-Encoding"), r.Header.Get("Retry-After")
	r.Body = newAnswerBody(e, r.Body)
	return nil
}

var (
	errStalled = errors.New("upstream went silent")
	errLarge   = errors.New("the request is larger than the gateway takes")
)

// unreached answers in place of an upstream that did not.
func (e *exchange) unreached(w http.ResponseWriter, r *http.Request, err error) {
	switch cause := context.Cause(r.Context()); {
	case errors.Is(cause, errLarge) || errors.Is(err, errLarge):
		e.gateway.refuse(w, e.api, quire.CallTooLarge, http.StatusRequestEntityTooLarge, errLarge.Error())
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
}

// Read reads a piece. Where the server can, the client has a time for each.
func (u *upload) Read(p []byte) (int, error) {
	// A writer of a test has no deadlines, and then there is none.
	_ = u.control.SetReadDeadline(time.Now().Add(u.gateway.limits.Client))
	n, err := u.body.Read(p)
	u.size += int64(n)
	u.gateway.counts.up.Add(int64(n))
	if u.call {
		u.up.write(p[:n])
	}
	if u.size > u.gateway.limits.Body {
		u.cancel(errLarge)
		return n, errLarge
	}
	if err != nil {
		// What comes next on the connection is waited for without a limit.
		_ = u.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// Close ends the request.
func (u *upload) Close() error { return u.body.Close() }

// An answerBody copies an answer on its way down, and ends the exchange where
// upstream is silent for too long.
type answerBody struct {
	*exchange
	body  io.ReadCloser
	timer *time.Timer
}

func newAnswerBody(e *exchange, body io.ReadCloser) *answerBody {
	return &answerBody{exchange: e, body: body, timer: time.AfterFunc(e.gateway.limits.Idle, func() { e.cancel(errStalled) })}
}

// Read reads a piece as soon as there is one.
func (b *answerBody) Read(p []byte) (int, error) {
	b.timer.Reset(b.gateway.limits.Idle)
	n, err := b.body.Read(p)
	b.gateway.counts.down.Add(int64(n))
	if b.call {
		b.down.write(p[:n])
	}
	if errors.Is(err, io.EOF) {
		b.whole = true
	}
	return n, err
}

// Close gives the answer up.
func (b *answerBody) Close() error {
	b.timer.Stop()
	return b.body.Close()
}

// A download gives the client a time for each piece that it takes, so that a slow
// one is cut off and holds nothing.
type download struct {
	http.ResponseWriter
	control *http.ResponseController
	limit   time.Duration
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

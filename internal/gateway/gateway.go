package gateway

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/quire-agent/quire/internal/ingest"
	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
)

// Options are what a gateway is made with. Pool must be able to count tokens.
type Options struct {
	Pool      *ingest.Pool
	Prices    *price.Table
	Upstreams map[API]string // base addresses; of an API that is missing, its vendor's
	Keys      map[API]string // that go up in the place of the client's; of an API that is missing, the client's own
	Secret    []byte         // what credentials are hashed with, and the token is made from; kept across restarts
	Listen    string         // host of the listener: on loopback relaying needs no token
	Hosts     []string       // further names under which it is reached
	Limits    Limits
	Proxy     func(*http.Request) (*url.URL, error) // through which upstreams are reached; nil: none
	Curate    *Curation                             // nil: sessions are relayed and not curated
	Seen      func(Line)                            // told of each model call, in the order in which they end; from one goroutine
	Failed    func(error)                           // told of faults of ours; from any goroutine
}

// Limits bound what a gateway takes. A zero is the default.
type Limits struct {
	Body       int64         // bytes of a request: 512 MiB
	Concurrent int           // requests at a time: 1,024
	Copies     int64         // bytes that are copied for the record and not yet recorded: 256 MiB
	Sessions   int           // sessions that are known by their messages: 4,096
	Open       int           // of these, journals that are open: 64
	Connect    time.Duration // until upstream is connected: 30 s
	Answer     time.Duration // until the answer begins: 30 min
	Idle       time.Duration // between two pieces of an answer: 30 min
	Head       time.Duration // for the client to send what stands in front of a request: 30 s
	Keep       time.Duration // that a connection of a client is kept without a request: 10 min
	Client     time.Duration // for the client to send, or to take, one piece: 2 min
	Send       time.Duration // for upstream to take one piece of a request: 5 min
	Record     time.Duration // that an answer waits at most for what passed to be recorded: 30 s
	Ping       time.Duration // after which a client hears something while a page is read for it: 5 s
	Settle     time.Duration // of quiet before rows and index are made of what was recorded: 3 s
}

func (l Limits) filled() Limits {
	return Limits{
		Body: or(l.Body, 512<<20), Concurrent: or(l.Concurrent, 1024), Copies: or(l.Copies, 256<<20),
		Sessions: or(l.Sessions, 4096), Open: or(l.Open, 64),
		Connect: or(l.Connect, 30*time.Second), Answer: or(l.Answer, 30*time.Minute), Idle: or(l.Idle, 30*time.Minute),
		Head: or(l.Head, 30*time.Second), Keep: or(l.Keep, 10*time.Minute), Client: or(l.Client, 2*time.Minute), Send: or(l.Send, 5*time.Minute), Record: or(l.Record, 30*time.Second),
		Ping: or(l.Ping, 5*time.Second), Settle: or(l.Settle, 3*time.Second),
	}
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// A Gateway is an [http.Handler]. Any number of requests may run at a time.
type Gateway struct {
	options   Options
	limits    Limits
	guard     guard
	upstreams map[API]*url.URL
	transport *patient
	buffers   buffers
	silent    *log.Logger // for what the proxy would write to the process's; the client sees it on its connection
	slots     chan struct{}
	copies    budget
	observer  *observer
	reader    *reader
	counts    counts
}

// counts are what the relay counts. The observer has counts of its own.
type counts struct {
	requests, refused, running, up, down atomic.Int64
}

// New makes a gateway and starts its observer. Close ends it.
func New(o Options) (*Gateway, error) {
	g := &Gateway{options: o, limits: o.Limits.filled(), upstreams: map[API]*url.URL{}}
	for _, a := range APIs() {
		u, err := parseUpstream(or(o.Upstreams[a], a.Upstream()))
		if err != nil {
			return nil, fmt.Errorf("the upstream of %s: %w", a, err)
		}
		g.upstreams[a] = u
	}
	g.guard = guard{token: Token(o.Secret), open: loopback(o.Listen), listen: o.Listen, hosts: o.Hosts}
	g.slots = make(chan struct{}, g.limits.Concurrent)
	g.copies.free.Store(g.limits.Copies)
	g.transport = g.newTransport()
	g.silent = log.New(io.Discard, "", 0)
	g.reader = newReader()
	g.observer = newObserver(g)
	g.observer.start()
	return g, nil
}

var errAddress = errors.New("not an address like https://host")

func parseUpstream(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" {
		return nil, errAddress
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	return u, nil
}

// Token is what proves that somebody may speak to a gateway with that secret.
func Token(secret []byte) string { return keyed(secret, "token")[:32] }

// keyed is a hash that tells nothing to who does not have the secret.
func keyed(secret []byte, text string) string {
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(text))
	return hex.EncodeToString(h.Sum(nil))
}

// Close records what waits, makes rows and index of it, and gives the sessions up.
// Requests must be over. The context bounds the waiting; what was not done by then
// is left to the next start, but for copies that were not recorded, which are lost.
func (g *Gateway) Close(ctx context.Context) error {
	err := g.observer.close(ctx)
	g.transport.CloseIdleConnections()
	return err
}

func (g *Gateway) newTransport() *patient {
	dialer := &net.Dialer{Timeout: g.limits.Connect}
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &pressed{conn, g.limits.Send}, nil
	}
	return &patient{idle: g.limits.Idle, Transport: &http.Transport{
		Proxy: g.options.Proxy, DialContext: dial, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: g.limits.Connect, ResponseHeaderTimeout: g.limits.Answer,
		MaxIdleConnsPerHost: g.limits.Concurrent, IdleConnTimeout: 90 * time.Second,
		DisableCompression: true, WriteBufferSize: 32 << 10, ReadBufferSize: 32 << 10,
	}}
}

// Server is a server of the gateway with its limits for connections. What it would say
// of them goes nowhere: a client sees what is wrong with its own.
func (g *Gateway) Server() *http.Server {
	const largestHead = 1 << 20
	return &http.Server{Handler: g, ReadHeaderTimeout: g.limits.Head, IdleTimeout: g.limits.Keep, MaxHeaderBytes: largestHead, ErrorLog: g.silent}
}

// ServeHTTP relays a request, or answers one that is meant for the gateway.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.counts.requests.Add(1)
	defer g.broke()
	// The limit of the request before on this connection may be over. A writer of a
	// test has none.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(g.limits.Client))
	to := routeOf(r)
	v, status, why := g.guard.check(r)
	switch {
	case status != 0:
		g.refuse(w, to.api, quire.CallForbidden, status, why)
	case own(v.path):
		g.report(w, r, v.path)
	case r.Method == http.MethodConnect:
		g.refuse(w, to.api, quire.CallInvalid, http.StatusMethodNotAllowed, "the gateway is no proxy for other hosts")
	case asksFor(r, "websocket"):
		w.Header().Set("Upgrade", "HTTP/1.1")
		w.Header().Set("Connection", "Upgrade")
		g.refuse(w, to.api, quire.CallInvalid, http.StatusUpgradeRequired, "the gateway speaks HTTP and no WebSocket")
	case r.ContentLength > g.limits.Body:
		g.refuse(w, to.api, quire.CallTooLarge, http.StatusRequestEntityTooLarge, "the request is larger than the gateway takes")
	default:
		g.enter(w, r, to, v)
	}
}

// broke tells of a fault of ours in a request, whose connection ends with it.
func (g *Gateway) broke() {
	fault := recover()
	if fault == nil {
		return
	}
	if fault != http.ErrAbortHandler {
		g.fault(fault)
	}
	panic(http.ErrAbortHandler)
}

// asksFor reports whether a request wants its connection to become another protocol.
// Other wishes of that kind than WebSocket may be passed over: HTTP/2 is one that some
// clients have in every request.
func asksFor(r *http.Request, protocol string) bool {
	for _, v := range r.Header.Values("Upgrade") {
		if strings.Contains(strings.ToLower(v), protocol) {
			return true
		}
	}
	return false
}

func (g *Gateway) refuse(w http.ResponseWriter, a API, kind quire.CallErrorKind, status int, why string) {
	g.counts.refused.Add(1)
	a.refusal(w, kind, status, why)
}

// enter relays a request if there is room for one more.
func (g *Gateway) enter(w http.ResponseWriter, r *http.Request, to route, v visit) {
	select {
	case g.slots <- struct{}{}:
		g.counts.running.Add(1)
		defer func() { g.counts.running.Add(-1); <-g.slots }()
		g.relay(w, r, to, v)
	default:
		g.refuse(w, to.api, quire.CallOverloaded, 0, "the gateway has too many requests at a time")
	}
}

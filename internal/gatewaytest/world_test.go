package gatewaytest

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/quire-agent/quire/internal/gateway"
	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/ingest"
	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/script"
	"github.com/quire-agent/quire/internal/sim"
	"github.com/quire-agent/quire/internal/store/mem"
	"github.com/quire-agent/quire/internal/token"
)

func TestMain(m *testing.M) {
	if served() {
		return
	}
	flag.Parse()
	fewWalks()
	goleak.VerifyTestMain(m)
}

// fewWalks makes walks few where nobody says how many: each is two clients at work,
// and there are three kinds of them. `make walks` lets thousands go.
func fewWalks() {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	checks := "12"
	if testing.Short() {
		checks = "5"
	}
	if !given {
		if err := flag.Set("rapid.checks", checks); err != nil {
			panic(err)
		}
	}
}

// counter is made once for all tests: loading its vocabulary takes a while.
var counter = sync.OnceValues(token.NewCounter)

// A failer is a test or a property: what a world reports to.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// A clock is set by hand. It is safe for concurrent use.
type clock struct{ ns atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.ns.Store(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC).UnixNano())
	return c
}

func (c *clock) now() time.Time       { return time.Unix(0, c.ns.Load()).UTC() }
func (c *clock) pass(d time.Duration) { c.ns.Add(int64(d)) }
func keySecret() []byte               { return []byte("a secret of the tests, 32 bytes!") }
func (c *clock) tick() func() time.Time {
	return func() time.Time { c.pass(time.Millisecond); return c.now() }
}

// newPool is a pool in memory, with its journals in a folder.
func newPool(t failer, home string, now func() time.Time) *ingest.Pool {
	t.Helper()
	c, err := counter()
	if err != nil {
		t.Fatalf("the counter: %v", err)
	}
	store := mem.New()
	return &ingest.Pool{
		Home: home, Bodies: store, Table: store, Heads: store, Index: index.New(store, store), Counter: c,
		Mask: func(text string) string { return text }, Owner: "user:local", Now: now,
	}
}

// newSim is a simulator that plays a script.
func newSim(t failer, text string, now func() time.Time, limits sim.Limits) *sim.Sim {
	t.Helper()
	parsed, err := script.Parse(text)
	if err != nil {
		t.Fatalf("the script: %v\n%s", err, text)
	}
	c, err := counter()
	if err != nil {
		t.Fatalf("the counter: %v", err)
	}
	s, err := sim.New(sim.Options{Counter: c, Script: parsed, Now: now, Secret: "s", Limits: limits})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return s
}

// An upstream is a listener whose provider can be changed, and which can be told to
// go wrong once. One serves all walks, as a listener costs more than a walk.
type upstream struct {
	address string
	serves  atomic.Pointer[sim.Sim]

	lies  atomic.Pointer[liar]   // answers in the provider's place
	usage atomic.Pointer[string] // stands in the place of each count of a usage

	mu   sync.Mutex // guards next
	next *fault
}

// A fault is what an upstream does to one request.
type fault struct {
	status int  // answer that error, and ask nobody
	cut    int  // break off behind so many bytes of the answer
	stall  bool // do not break off there, but say nothing more
}

func newUpstream(t testing.TB) *upstream {
	u := &upstream{}
	server := httptest.NewServer(u)
	t.Cleanup(server.Close)
	u.address = server.URL
	return u
}

// kind is what system prompts are long with.
const kind = "Be terse, precise and kind. "

// last is the last request that it got.
func (u *upstream) last() string {
	list := u.serves.Load().Requests()
	if len(list) == 0 {
		return "nothing"
	}
	body := strings.ReplaceAll(string(list[len(list)-1].Body), kind, "")
	return regexp.MustCompile(`(line \d+ of result \d of step \d+ says[a-z ]*\\+n)+`).ReplaceAllString(body, "…")
}

// fail makes the next request fail.
func (u *upstream) fail(f fault) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.next = &f
}

func (u *upstream) take() *fault {
	u.mu.Lock()
	defer u.mu.Unlock()
	f := u.next
	u.next = nil
	return f
}

// ServeHTTP answers as the provider does, or goes wrong.
func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	provider := u.serves.Load()
	switch f := u.take(); {
	case u.lies.Load() != nil:
		u.lies.Load().ServeHTTP(w, r)
	case f == nil && u.usage.Load() == nil:
		provider.ServeHTTP(w, r)
	case f == nil:
		u.lie(w, r)
	case f.status != 0:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(f.status)
		fmt.Fprintf(w, `{"type":"error","error":{"type":"overloaded_error","code":%d,"status":"UNAVAILABLE","message":"not now"}}`, f.status)
	case f.stall && f.cut == 0:
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	default:
		provider.ServeHTTP(&cutter{ResponseWriter: w, left: f.cut, stall: f.stall, gone: r.Context().Done()}, r)
	}
}

// lie answers with another usage.
func (u *upstream) lie(w http.ResponseWriter, r *http.Request) {
	out := answerOf(u.serves.Load(), r)
	w.Header().Set("Content-Type", out.Header().Get("Content-Type"))
	w.WriteHeader(out.Code)
	counts := regexp.MustCompile(`("[A-Za-z_]*[tT]okens?[A-Za-z_]*Count"|"[a-z_]*tokens"): ?\d+`)
	_, _ = io.WriteString(w, counts.ReplaceAllString(out.Body.String(), "${1}:"+*u.usage.Load()))
}

// A cutter lets so many bytes through and breaks the connection, or stalls until the
// client is gone.
type cutter struct {
	http.ResponseWriter
	left  int
	stall bool
	gone  <-chan struct{}
}

// Write breaks off where nothing is left.
func (c *cutter) Write(p []byte) (int, error) {
	if len(p) < c.left {
		c.left -= len(p)
		return c.ResponseWriter.Write(p)
	}
	_, _ = c.ResponseWriter.Write(p[:c.left])
	c.Flush()
	if c.stall {
		<-c.gone
	}
	panic(http.ErrAbortHandler)
}

// Flush sends what was written.
func (c *cutter) Flush() { _ = http.NewResponseController(c.ResponseWriter).Flush() }

// options are those of a gateway whose only upstream is u.
func options(pool *ingest.Pool, u string) gateway.Options {
	o := gateway.Options{Pool: pool, Prices: price.Default(), Upstreams: map[gateway.API]string{}, Secret: keySecret(), Listen: "127.0.0.1"}
	for _, a := range gateway.APIs() {
		o.Upstreams[a] = u
	}
	o.Limits.Settle = time.Hour
	return o
}

// start makes a gateway.
func start(t failer, o gateway.Options) *gateway.Gateway {
	t.Helper()
	g, err := gateway.New(o)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return g
}

// stop closes a gateway, with all it has recorded.
func stop(t failer, g *gateway.Gateway) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := g.Close(ctx); err != nil {
		t.Fatalf("close the gateway: %v", err)
	}
}

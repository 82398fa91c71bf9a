package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/ingest"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/store/mem"
	"github.com/quire-agent/quire/internal/token"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// counter is made once for all tests: loading its vocabulary takes a while.
var counter = sync.OnceValues(token.NewCounter)

// newPool is a pool in memory, with its journals in a folder of the test.
func newPool(t testing.TB) *ingest.Pool {
	t.Helper()
	c, err := counter()
	if err != nil {
		t.Fatal(err)
	}
	store := mem.New()
	return &ingest.Pool{
		Home: t.TempDir(), Bodies: store, Table: store, Heads: store, Index: index.New(store, store), Counter: c,
		Mask: func(text string) string { return text }, Owner: "user:local", Now: time.Now,
	}
}

// A world is a gateway in front of an upstream.
type world struct {
	t     testing.TB
	pool  *ingest.Pool
	g     *Gateway
	url   string
	stop  func()
	lines chan Line
}

// newWorld starts a gateway whose upstream of all APIs is the one given.
func newWorld(t testing.TB, pool *ingest.Pool, upstream string, change func(*Options)) *world {
	t.Helper()
	w := &world{t: t, pool: pool, lines: make(chan Line, 1000)}
	o := Options{
		Pool: pool, Prices: price.Default(), Upstreams: map[API]string{}, Secret: []byte("a secret of the tests, 32 bytes!"), Listen: "127.0.0.1",
		Seen: func(l Line) { w.lines <- l }, Failed: func(err error) { t.Errorf("the gateway: %v", err) },
	}
	for _, a := range APIs() {
		o.Upstreams[a] = upstream
	}
	if change != nil {
		change(&o)
	}
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(g)
	w.g, w.url = g, server.URL
	w.stop = sync.OnceFunc(func() {
		server.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := g.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(w.stop)
	return w
}

// line waits for the line of the next call.
func (w *world) line() Line {
	w.t.Helper()
	select {
	case l := <-w.lines:
		return l
	case <-time.After(time.Minute):
		w.t.Fatal("no line came")
		return Line{}
	}
}

// post sends a body with the headers of all APIs.
func post(t testing.TB, url, body string, headers ...string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range [][2]string{{"X-Api-Key", "k"}, {"Authorization", "Bearer k"}, {"X-Goog-Api-Key", "k"}, {"Anthropic-Version", "2023-06-01"}, {"Content-Type", "application/json"}} {
		r.Header.Set(h[0], h[1])
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, text
}

func serveHandler(t testing.TB, h http.Handler) string {
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

// do sends a request and reads the answer.
func do(t testing.TB, r *http.Request) (int, string) {
	t.Helper()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

func callText(t testing.TB, l Line) string {
	t.Helper()
	text, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// rawJournals is all that stands in the journals of a home.
func rawJournals(t testing.TB, home string) string {
	t.Helper()
	names, err := journal.List(home)
	if err != nil || len(names) == 0 {
		t.Fatalf("%d journals, %v", len(names), err)
	}
	var all strings.Builder
	for _, n := range names {
		text, err := os.ReadFile(n.Path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

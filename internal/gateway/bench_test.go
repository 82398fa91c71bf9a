package gateway

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/secret"
)

// grown is a call of a session of about that many bytes, of which the last message
// differs from call to call.
func grown(size, n int) string {
	var b strings.Builder
	b.WriteString(`{"model":"claude-sonnet-4-5","max_tokens":100,"tools":[{"name":"read","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"go"}`)
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"c%d","name":"read","input":{"n":%d}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":"%s"}]}`, i, i, i, strings.Repeat("a line of source code; ", 200))
	}
	fmt.Fprintf(&b, `,{"role":"user","content":"and %d"}]}`, n)
	return b.String()
}

func quick() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		const perToken = 4 // bytes
		_, _ = io.WriteString(w, strings.Replace(messagesReply, `"input_tokens":30`, fmt.Sprintf(`"input_tokens":9,"cache_read_input_tokens":0,"cache_creation_input_tokens":%d`, n/perToken), 1))
	})
}

// firstByte is how long it takes until the answer begins.
func firstByte(b *testing.B, client *http.Client, address, body string) time.Duration {
	r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, address+"/v1/messages", strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	answer, err := client.Do(r)
	took := time.Since(began)
	if err != nil {
		b.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
	return took
}

// A growing session is one whose requests go on from each other.
type growing struct {
	front string   // of the list
	list  []string // its elements
	turn  int
}

// newGrowing is a session of about that many bytes.
func newGrowing(size int) *growing {
	g := &growing{front: `{"model":"claude-sonnet-4-5","max_tokens":100,"cache_control":{"type":"ephemeral"},"tools":[{"name":"read","input_schema":{"type":"object"}}],"system":"N","messages":[`}
	for i, held := 0, 0; held < size; i++ {
		text := fmt.Sprintf(`{"role":"user","content":"turn %d"},{"role":"assistant","content":[{"type":"tool_use","id":"c%d","name":"read","input":{"n":%d}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":"%s"}]},{"role":"assistant","content":[{"type":"text","text":"done"}]}`,
			i, i, i, i, strings.Repeat(fmt.Sprintf("line %d of a source;\\n", i), 200))
		held += len(text)
		g.list = append(g.list, text)
	}
	return g
}

// next is the next request. early changes something in front of all messages, as
// clients do that write a time or a bill there.
func (g *growing) next(early bool) string {
	if g.turn > 0 {
		g.list = append(g.list, `{"role":"assistant","content":[{"type":"text","text":"8080"}]}`)
	}
	g.turn++
	g.list = append(g.list, fmt.Sprintf(`{"role":"user","content":"and %d"}`, g.turn))
	front := g.front
	if early {
		front = strings.Replace(front, `"N"`, fmt.Sprintf(`[{"type":"text","text":"x-anthropic-billing-header: %d"},{"type":"text","text":"N"}]`, g.turn), 1)
	}
	return front + strings.Join(g.list, ",") + `]}`
}

// BenchmarkFirstByte is the time until the answer to a request of 1 MB of a known
// session begins, through the gateway and through a plain reverse proxy in the same
// run, of requests that go on from each other: of a session that is warm; of one whose
// requests are looked at first, as there are several without a name; of such a one
// that changes its front with each request; and of one that is curated. The record of a
// call is awaited between two, so that what is measured is what a client waits for, and
// not what else the processor does.
func BenchmarkFirstByte(b *testing.B) {
	for _, name := range []string{"warm", "looked", "changed", "curated"} {
		b.Run(name, func(b *testing.B) { measureFirstByte(b, name) })
	}
}

func measureFirstByte(b *testing.B, name string) {
	upstream := serveHandler(b, quick())
	target, err := url.Parse(upstream)
	if err != nil {
		b.Fatal(err)
	}
	plain := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(target) }})
	defer plain.Close()
	pool, ahead := newPool(b), time.Duration(0)
	pool.Now = func() time.Time { return time.Now().Add(ahead) }
	w := newWorld(b, pool, upstream, func(o *Options) { o.Limits.Settle = time.Hour; curates(o) })
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	defer client.CloseIdleConnections()
	s := newGrowing(1 << 20)
	firstByte(b, client, w.url, s.next(name == "changed"))
	w.line()
	switch name {
	case "looked", "changed": // of several sessions without a name only the words tell which one it is
		firstByte(b, client, w.url, messagesCall)
		w.line()
	case "curated":
		for tries := 1; ; tries++ {
			ahead += 3 * time.Hour
			firstByte(b, client, w.url, s.next(false))
			l := w.line()
			if l.Curated {
				break
			}
			if tries == 6 {
				b.Fatalf("no epoch began: %+v", l)
			}
		}
	}
	var ours, theirs []time.Duration
	for b.Loop() {
		body := s.next(name == "changed")
		ours = append(ours, firstByte(b, client, w.url, body))
		if l := w.line(); l.Curated != (name == "curated") || l.Branch != "" || l.Session != 1 {
			b.Fatalf("%+v", l)
		}
		theirs = append(theirs, firstByte(b, client, plain.URL, body))
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	at := func(list []time.Duration, p int) float64 { return float64(list[len(list)*p/100].Microseconds()) / 1000 }
	b.ReportMetric(at(ours, 50), "ms-p50")
	b.ReportMetric(at(theirs, 50), "ms-proxy-p50")
	b.ReportMetric(at(ours, 50)-at(theirs, 50), "ms-added-p50")
	b.ReportMetric(at(ours, 99), "ms-p99")
	b.ReportMetric(at(theirs, 99), "ms-proxy-p99")
}

// BenchmarkRecord is what the record of a call of 1 MB costs beside the relay: a
// session whose views grow by a message.
func BenchmarkRecord(b *testing.B) {
	w := newWorld(b, newPool(b), serveHandler(b, quick()), func(o *Options) { o.Limits.Settle = time.Hour })
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	b.SetBytes(1 << 20)
	for i := 0; b.Loop(); i++ {
		firstByte(b, client, w.url, grown(1<<20, i))
		w.line()
	}
}

// BenchmarkThroughput is how much of 200 kB requests passes, one after the other, as
// fast as they are answered.
func BenchmarkThroughput(b *testing.B) {
	upstream := serveHandler(b, quick())
	target, err := url.Parse(upstream)
	if err != nil {
		b.Fatal(err)
	}
	plain := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(target) }})
	defer plain.Close()
	w := newWorld(b, newPool(b), upstream, func(o *Options) {
		o.Limits.Settle, o.Seen, o.Curate = time.Hour, nil, &Curation{Secrets: secret.NewFinder()}
	})
	body := grown(200_000, 0)
	for _, c := range []struct{ name, address string }{{"gateway", w.url}, {"proxy", plain.URL}} {
		b.Run(c.name, func(b *testing.B) {
			client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
			defer client.CloseIdleConnections()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				firstByte(b, client, c.address, body)
			}
		})
	}
}

package gatewaytest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/gateway"
	"github.com/quire-agent/quire/internal/quire"
)

// A full is a store of bodies that has no room while it is told so, or that never
// comes to an end of writing.
type full struct {
	quire.Bodies
	on   atomic.Bool
	hang chan struct{} // nil: it fails; else writes wait for its end
}

// PutBodies fails, or waits.
func (f *full) PutBodies(ctx context.Context, bodies [][]byte) ([]quire.Hash, error) {
	if !f.on.Load() {
		return f.Bodies.PutBodies(ctx, bodies)
	}
	if f.hang != nil {
		<-f.hang
		return f.Bodies.PutBodies(ctx, bodies)
	}
	return nil, fmt.Errorf("put bodies: %w", quire.ErrFull)
}

// On a full disk the client goes on as it would without the gateway; what the gateway
// could not keep it says. When there is room again it keeps what comes.
func TestFullDisk(t *testing.T) {
	for _, d := range dialects() {
		t.Run(string(d.api), func(t *testing.T) {
			for from := range 3 {
				fullFrom(t, d, 3*from+1)
			}
		})
	}
}

// fullFrom has no room for three steps of the tale.
func fullFrom(t *testing.T, d dialect, from int) {
	t.Helper()
	disk := &full{}
	var faults atomic.Int64
	s := newStage(t, d, func(o *gateway.Options) {
		disk.Bodies = o.Pool.Bodies
		o.Pool.Bodies = disk
		o.Failed = func(error) { faults.Add(1) }
	})
	for label := range plot() {
		disk.on.Store(label >= from && label < from+3)
		s.step(label, label%2 == 0)
	}
	stop(t, s.g)
	s.accepted()
	if faults.Load() == 0 {
		t.Error("nobody was told")
	}
	health, err := s.pool.Check(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range health.Faults {
		if f.What == "missing" {
			t.Errorf("a journal names what is not there: %+v", f)
		}
	}
}

// A disk that hangs holds up no answer of a session that is relayed.
func TestHangingDisk(t *testing.T) {
	disk := &full{hang: make(chan struct{})}
	s := newStage(t, dialects()[0], func(o *gateway.Options) {
		disk.Bodies = o.Pool.Bodies
		o.Pool.Bodies = disk
		o.Curate = nil
	})
	disk.on.Store(true)
	s.tell()
	close(disk.hang)
	stop(t, s.g)
	s.accepted()
	s.kept(s.pool)
}

// A disk that hangs in front of an epoch, or behind one, holds up no answer either: the
// client's own words go up, without thinking that a provider would refuse, and when the
// disk goes on so does the stream.
func TestHangingDiskCurated(t *testing.T) {
	for _, d := range dialects() {
		for _, from := range []int{2, 5} {
			t.Run(fmt.Sprint(d.api, " from ", from), func(t *testing.T) {
				disk := &full{hang: make(chan struct{})}
				s := newStage(t, d, func(o *gateway.Options) {
					disk.Bodies = o.Pool.Bodies
					o.Pool.Bodies = disk
					o.Limits.Record = 100 * time.Millisecond
					o.Failed = func(error) {} // what was not waited for is told of, and not what is looked at here
				})
				for label := range plot() {
					switch label {
					case from:
						disk.on.Store(true)
					case from + 3:
						disk.on.Store(false)
						close(disk.hang)
					}
					s.step(label, label%2 == 0)
				}
				if n := s.g.Status().Totals.Opened; from == 5 && n == 0 {
					t.Error("nothing was held up")
				}
				stop(t, s.g)
				s.accepted()
			})
		}
	}
}

// A liar is a provider that answers as it likes.
type liar struct {
	status int
	kind   string
	body   string
}

// ServeHTTP answers.
func (l *liar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Nobody cares what was asked.
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", l.kind)
	w.WriteHeader(l.status)
	_, _ = io.WriteString(w, l.body)
}

// What an upstream says that is no answer goes down as it came, byte for byte, in
// front of an epoch, and as far as it can be read behind one; the session goes on
// after it.
func TestGarbage(t *testing.T) {
	for _, d := range dialects() {
		t.Run(string(d.api), func(t *testing.T) {
			for i, l := range []*liar{
				{200, "text/html", "<html><body>Sign in</body></html>"}, {200, "application/json", `{"id": 1, "cho`}, {200, "application/json", "[]"},
				{200, "text/event-stream", "data: {\"type\":\n\ndata: [DONE]\n\n"}, {200, "text/event-stream", "event: message_start\ndata: \x00\xff\n\n"},
				{200, "", ""}, {502, "text/html", "<h1>Bad Gateway</h1>"}, {404, "text/plain", "no such page"},
			} {
				garbled(t, d, l, i)
			}
		})
	}
}

// garbled lets a liar answer one call of a tale: the second, or one behind an epoch.
func garbled(t *testing.T, d dialect, l *liar, i int) {
	t.Helper()
	s := newStage(t, d, nil)
	at := 1 + 4*(i%2)
	for label := range plot()[:7] {
		s.ready(label)
		if label == at {
			s.garble(l)
		}
		s.ask(s.talk, i%3 == 0, mishap{})
	}
	n := s.g.Status().Totals
	stop(t, s.g)
	s.accepted()
	if n.Epochs == 0 {
		t.Error("there was no epoch")
	}
}

// garble asks a liar once.
func (s *stage) garble(l *liar) {
	s.t.Helper()
	s.up.lies.Store(l)
	h := s.send(s.talk, through, l.kind == "text/event-stream", 0)
	s.up.lies.Store(nil)
	if h.err == nil {
		s.t.Fatalf("%q passed for an answer", l.body)
	}
	// A curated stream ends where it cannot be read any more.
	curated := s.g.Status().Totals.Curated > 0 && strings.HasPrefix(l.body, h.body)
	if h.code != l.status || h.body != l.body && !curated {
		s.t.Fatalf("upstream said %d %q, the client got %d %q", l.status, l.body, h.code, h.body)
	}
}

// An upstream that lies about usage spoils neither figures nor decisions: what is
// impossible is not taken, and the answers stay the same.
func TestLyingUsage(t *testing.T) {
	for _, d := range dialects() {
		for _, n := range []string{"-5", "99999999999999999999", `"many"`} {
			t.Run(string(d.api)+n, func(t *testing.T) {
				s := newStage(t, d, nil)
				s.up.usage.Store(&n)
				for label := range plot() {
					s.ready(label)
					h := s.send(s.talk, through, false, 0)
					if h.code != http.StatusOK {
						t.Fatalf("label %d: %d %s", label, h.code, h.body)
					}
					s.take(h)
				}
				total := s.g.Status().Totals
				stop(t, s.g)
				s.accepted()
				if total.Input < 0 || total.Output < 0 || total.CacheRead < 0 || total.Cost < 0 || total.Cost > 1000 {
					t.Errorf("%+v", total)
				}
			})
		}
	}
}

// take takes an answer up whose usage may be anything: the words and calls are those
// of an honest provider.
func (s *stage) take(h heard) {
	s.t.Helper()
	honest := s.send(s.talk, direct, false, 0)
	if h.err == nil {
		s.agree(s.talk, h, honest)
		return
	}
	// The client does not read such an answer either; it asks once more, and gets
	// one with honest figures.
	lie := s.up.usage.Swap(nil)
	s.agree(s.talk, s.send(s.talk, through, false, 0), honest)
	s.up.usage.Store(lie)
}

// An upstream that stalls in front of its answer or in the middle of it is given up,
// and the same request succeeds after it, in front of an epoch and behind it.
func TestStalls(t *testing.T) {
	for _, d := range dialects() {
		t.Run(string(d.api)+" relayed", func(t *testing.T) { stalled(t, d, 1, 0) })
		t.Run(string(d.api)+" curated", func(t *testing.T) { stalled(t, d, 5, 90) })
	}
}

func stalled(t *testing.T, d dialect, at, behind int) {
	s := newStage(t, d, func(o *gateway.Options) { o.Limits.Answer, o.Limits.Idle = 300*time.Millisecond, 300*time.Millisecond })
	for label := range plot()[:7] {
		s.ready(label)
		if label == at {
			s.up.fail(fault{stall: true, cut: behind})
			if h := s.send(s.talk, through, true, 0); h.err == nil {
				t.Fatalf("it was answered: %s", h.body)
			}
		}
		s.patient(label)
	}
	stop(t, s.g)
	s.accepted()
}

// patient asks until the machine is quick enough for the short limits of the test.
func (s *stage) patient(label int) {
	s.t.Helper()
	for range 50 {
		h := s.send(s.talk, through, label%2 == 0, 0)
		if h.err == nil {
			s.agree(s.talk, h, s.send(s.talk, direct, label%2 == 0, 0))
			return
		}
	}
	s.t.Fatal("it is never answered")
}

// A crowd of slow clients is cut off one by one, and holds neither places nor copies.
func TestSlowCrowd(t *testing.T) {
	piece := strings.Repeat("x", 64<<10)
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, piece); err != nil {
				return
			}
		}
	}))
	defer endless.Close()
	c := newClock()
	pool := newPool(t, t.TempDir(), c.tick())
	o := options(pool, endless.URL)
	o.Limits.Client, o.Limits.Copies, o.Limits.Concurrent = 100*time.Millisecond, 1<<20, 40
	g := start(t, o)
	server := httptest.NewServer(g)
	for range 30 {
		slowClient(t, server.URL)
	}
	waitFor(t, "the places are free", func() bool { return g.Status().Running == 0 })
	server.Close()
	stop(t, g)
}

// slowClient asks and takes nothing.
func slowClient(t *testing.T, address string) {
	t.Helper()
	r, err := dialects()[0].post("/v1/messages", []byte(`{"model":"m"}`), "k", "")
	if err != nil {
		t.Fatal(err)
	}
	r.URL.Host = strings.TrimPrefix(address, "http://")
	transport := &http.Transport{DisableKeepAlives: true, ReadBufferSize: 1}
	answer, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
}

// waitFor waits for a condition, as long as a machine may be slow.
func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); {
		if time.Now().After(end) {
			t.Fatalf("%s: never", what)
		}
		select {
		case <-t.Context().Done():
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

//go:build linux

package trial

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/script"
	"github.com/quire-agent/quire/internal/sim"
	"github.com/quire-agent/quire/internal/token"
)

// A bench is a project with a scripted provider that notes when requests come and
// when answers end.
type bench struct {
	tb     testing.TB
	quire  string
	dir    string
	server *httptest.Server
	sim    *sim.Sim
	mu     sync.Mutex
	came   []time.Time
	done   []time.Time
	bodies [][]byte
	keep   bool // the bodies
}

func newBench(tb testing.TB, text string) *bench {
	tb.Helper()
	b := &bench{tb: tb, quire: built(tb), dir: tb.TempDir()}
	plan, err := script.Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	counter, err := token.NewCounter()
	if err != nil {
		tb.Fatal(err)
	}
	if b.sim, err = sim.New(sim.Options{Counter: counter, Script: plan}); err != nil {
		tb.Fatal(err)
	}
	b.server = httptest.NewServer(b)
	tb.Cleanup(func() { b.sim.Close(); b.server.Close() })
	if err := os.MkdirAll(filepath.Join(b.dir, "project"), 0o700); err != nil {
		tb.Fatal(err)
	}
	for i := range 50 {
		name := filepath.Join(b.dir, "project", fmt.Sprintf("%d.txt", i))
		if err := os.WriteFile(name, fmt.Appendf(nil, "file %d\n%s", i, strings.Repeat("a line of the file\n", 20)), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return b
}

func (b *bench) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := time.Now()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the program was ended
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	b.mu.Lock()
	b.came = append(b.came, at)
	if b.keep {
		b.bodies = append(b.bodies, body)
	}
	b.mu.Unlock()
	b.sim.ServeHTTP(w, r)
	b.mu.Lock()
	b.done = append(b.done, time.Now())
	b.mu.Unlock()
}

// run runs the program and says when it began and how much memory it took at most,
// in bytes.
func (b *bench) run(args ...string) (began time.Time, most int64) {
	b.tb.Helper()
	cmd := exec.Command(b.quire, append([]string{"run", "--solo", "--permit", "full", "--model", "anthropic/claude-sonnet-5-5", "--base-url", b.server.URL}, args...)...)
	cmd.Dir, cmd.Env = filepath.Join(b.dir, "project"), environment(b.dir)
	var fault bytes.Buffer
	cmd.Stderr = &fault
	began = time.Now()
	if err := cmd.Run(); err != nil {
		b.tb.Fatalf("%v\n%s", err, fault.Bytes()[max(0, fault.Len()-2000):])
	}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		most = u.Maxrss * 1024
	}
	return began, most
}

// quantile is the share q of durations that are not longer, in milliseconds.
func quantile(list []time.Duration, q float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return float64(sorted[min(len(sorted)-1, int(q*float64(len(sorted))))].Microseconds()) / 1000
}

// BenchmarkStart is the time from the start of the program to its first request, in
// a session that begins.
func BenchmarkStart(b *testing.B) {
	x := newBench(b, "turn always\n say Done.\n")
	x.run("warm the file cache")
	var took []time.Duration
	for b.Loop() {
		n := len(x.came)
		began, _ := x.run("say it")
		took = append(took, x.came[n].Sub(began))
	}
	b.ReportMetric(quantile(took, .5), "ms/p50")
	b.ReportMetric(quantile(took, .95), "ms/p95")
}

// longCalls makes a session of more than 9,386 messages.
const longCalls = 5000

// BenchmarkLongSession makes a session of 5,000 calls in one run, and goes on with it:
// how much memory the run takes at most, and how long it is from the start of the
// program that goes on to its first request. It takes minutes; -benchtime 1x.
func BenchmarkLongSession(b *testing.B) {
	for b.Loop() {
		x := newBench(b, fmt.Sprintf("loop %d times\nturn\n call read {\"path\": \"${loop}.txt\"}\nend\nturn always\n say Done.\n", longCalls-1))
		for i := range longCalls {
			name := filepath.Join(x.dir, "project", fmt.Sprintf("%d.txt", i+1))
			if err := os.WriteFile(name, fmt.Appendf(nil, "file %d\n%s", i+1, strings.Repeat(fmt.Sprintf("line of file %d\n", i+1), 12)), 0o600); err != nil {
				b.Fatal(err)
			}
		}
		began, most := x.run("read all files")
		b.ReportMetric(float64(most)/(1<<20), "MiB/run")
		b.ReportMetric(time.Since(began).Seconds()*1000/longCalls, "ms/call")
		n := len(x.came)
		began, most = x.run("--continue", "go on")
		b.ReportMetric(x.came[n].Sub(began).Seconds()*1000, "ms/resume")
		b.ReportMetric(float64(most)/(1<<20), "MiB/resume")
	}
}

// BenchmarkLatency is the time between the end of an answer and the next request,
// with a tool that reads a small file between them, beside that of a client that
// sends the same bodies one after the other.
func BenchmarkLatency(b *testing.B) {
	for b.Loop() {
		x := newBench(b, "loop 500 times\nturn\n call read {\"path\": \"${loop}.txt\"}\nend\nturn always\n say Done.\n")
		for i := range 500 {
			name := filepath.Join(x.dir, "project", fmt.Sprintf("%d.txt", i+1))
			if err := os.WriteFile(name, fmt.Appendf(nil, "file %d\n%s", i+1, strings.Repeat("a line of the file\n", 12)), 0o600); err != nil {
				b.Fatal(err)
			}
		}
		x.keep = true
		x.run("read all files")
		ours := x.gaps()
		bare := x.bare()
		b.ReportMetric(quantile(ours, .5)-quantile(bare, .5), "ms/p50")
		b.ReportMetric(quantile(ours, .99)-quantile(bare, .99), "ms/p99")
		b.ReportMetric(quantile(bare, .99), "ms/bare-p99")
	}
}

// gaps are the times between the ends of answers and the requests behind them, the
// first 50 left out.
func (b *bench) gaps() (list []time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := 50; i+1 < len(b.came); i++ {
		list = append(list, b.came[i+1].Sub(b.done[i]))
	}
	return list
}

// bare sends what was sent again, with nothing between.
func (b *bench) bare() []time.Duration {
	bodies := b.bodies
	b.keep, b.came, b.done = false, nil, nil
	client := &http.Client{}
	for _, body := range bodies {
		r, err := http.NewRequest(http.MethodPost, b.server.URL+"/v1/messages", bytes.NewReader(body))
		if err != nil {
			b.tb.Fatal(err)
		}
		r.Header.Set("x-api-key", "chaos")
		r.Header.Set("anthropic-version", "2023-06-01")
		resp, err := client.Do(r)
		if err != nil {
			b.tb.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			b.tb.Fatal(err)
		}
		resp.Body.Close()
	}
	return b.gaps()
}

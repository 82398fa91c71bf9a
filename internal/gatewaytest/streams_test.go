package gatewaytest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// streams is how many answers come at a time.
const streams = 1000

// A holder is an upstream that begins answers, holds them all until the last has begun,
// and ends them then.
type holder struct {
	begun sync.WaitGroup
	end   chan struct{}
}

func newHolder() *holder {
	h := &holder{end: make(chan struct{})}
	h.begun.Add(streams)
	return h
}

// ServeHTTP answers.
func (h *holder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// What was asked does not matter.
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, "event: ping\ndata: {\"type\":\"ping\"}\n\n")
	_ = http.NewResponseController(w).Flush()
	h.begun.Done()
	<-h.end
}

// BenchmarkStreams is the memory of a gateway, at most, in a process of its own while
// it passes a thousand answers at a time to requests of 50 kB; beside it that of a plain
// reverse proxy, in this process together with upstream and clients.
func BenchmarkStreams(b *testing.B) {
	if _, ok := statusOf(b, os.Getpid(), "VmHWM"); !ok {
		b.Skip("the memory of a process cannot be read here")
	}
	for b.Loop() {
		h := newHolder()
		up := httptest.NewServer(h)
		p := newProcess(b, setting{Upstream: up.URL})
		hold(b, "http://"+p.address, h)
		peak, _ := statusOf(b, p.cmd.Process.Pid, "VmHWM")
		p.stop()
		up.Close()
		b.ReportMetric(float64(peak)/1024, "MiB")
	}
	h := newHolder()
	up := httptest.NewServer(h)
	defer up.Close()
	target, err := url.Parse(up.URL)
	if err != nil {
		b.Fatal(err)
	}
	plain := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }})
	defer plain.Close()
	before, _ := statusOf(b, os.Getpid(), "VmRSS")
	hold(b, plain.URL, h)
	after, _ := statusOf(b, os.Getpid(), "VmHWM")
	b.ReportMetric(float64(after-before)/1024, "MiB-of-proxy-upstream-clients")
}

// hold asks for all answers, and takes them to their ends.
func hold(b *testing.B, address string, h *holder) {
	b.Helper()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	var all sync.WaitGroup
	for i := range streams {
		all.Go(func() {
			body := `{"model":"claude-sonnet-4-5","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"` + strings.Repeat("word ", 10_000) + strconv.Itoa(i) + `"}],"tools":[{"name":"read","input_schema":{}}]}`
			r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, address+"/v1/messages", strings.NewReader(body))
			if err != nil {
				b.Error(err)
				return
			}
			answer, err := client.Do(r)
			if err != nil {
				b.Error(err)
				h.begun.Done()
				return
			}
			defer answer.Body.Close()
			if _, err := io.Copy(io.Discard, answer.Body); err != nil {
				b.Error(err)
			}
		})
	}
	h.begun.Wait()
	close(h.end)
	all.Wait()
}

// statusOf is a figure of a process in KiB, where the system tells it.
func statusOf(b *testing.B, pid int, name string) (kib int, ok bool) {
	b.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, name+":"); found {
			kib, err = strconv.Atoi(strings.Fields(rest)[0])
			return kib, err == nil
		}
	}
	return 0, false
}

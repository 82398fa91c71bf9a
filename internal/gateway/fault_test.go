package gateway

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// begun is an upstream that begins a stream and then waits for its request to end.
type begun struct {
	text string
	gone chan struct{}
}

func (b *begun) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, b.text)
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
	close(b.gone)
}

// A client that leaves ends the request upstream, and what came is kept as part of
// an answer (G14).
//
// design.md G14
func TestDisconnect(t *testing.T) {
	b := &begun{text: messagesStream[:strings.Index(messagesStream, "event: content_block_stop")], gone: make(chan struct{})}
	w := newWorld(t, newPool(t), serveHandler(t, b), nil)
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/v1/messages", strings.NewReader(messagesCall))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(answer.Body, make([]byte, len(b.text))); err != nil {
		t.Fatal(err)
	}
	leave()
	answer.Body.Close()
	<-b.gone
	if l := w.line(); !l.Cut || l.Session != 1 {
		t.Errorf("%+v", l)
	}
	w.stop()
	if got := (&talk{t: t, world: w}).journal("1"); !strings.HasSuffix(got, "text 8080\n") {
		t.Errorf("kept was\n%s", got)
	}
}

// An upstream that goes silent is given up.
func TestSilentUpstream(t *testing.T) {
	b := &begun{text: messagesStream[:40], gone: make(chan struct{})}
	w := newWorld(t, newPool(t), serveHandler(t, b), func(o *Options) { o.Limits.Idle = 50 * time.Millisecond })
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/v1/messages", strings.NewReader(messagesCall))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if got, err := io.ReadAll(answer.Body); err == nil || string(got) != messagesStream[:40] {
		t.Errorf("%q, %v", got, err)
	}
	<-b.gone
	if l := w.line(); !l.Cut {
		t.Errorf("%+v", l)
	}
}

// An upstream that is not there is an error in the words of the API.
func TestNoUpstream(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + listener.Addr().String()
	listener.Close()
	w := newWorld(t, newPool(t), address, nil)
	for path, call := range map[string]string{"/v1/messages": messagesCall, "/v1/responses": responsesCall, "/v1/chat/completions": chatCall, geminiPath: geminiCall} {
		answer, got := post(t, w.url+path, call)
		if answer.StatusCode != 502 || !strings.Contains(string(got), `"error"`) || !strings.Contains(string(got), "could not reach") {
			t.Errorf("%s: %d %s", path, answer.StatusCode, got)
		}
		w.line()
	}
}

// What is too large is refused, announced or not, and so is one request too many.
func TestLimits(t *testing.T) {
	m := &mirror{status: 200, pieces: []string{messagesReply}}
	w := newWorld(t, newPool(t), serveMirror(t, m), func(o *Options) { o.Limits.Body, o.Limits.Concurrent = 1000, 1 })
	big := `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("x", 2000) + `"}]}`
	if answer, got := post(t, w.url+"/v1/messages", big); answer.StatusCode != 413 {
		t.Errorf("%d %s", answer.StatusCode, got)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/v1/messages", struct{ io.Reader }{strings.NewReader(big)})
	if err != nil {
		t.Fatal(err)
	}
	if status, text := do(t, r); status != 413 {
		t.Errorf("without a length: %d %s", status, text)
	}
	w.g.slots <- struct{}{}
	if answer, got := post(t, w.url+"/v1/messages", messagesCall); answer.StatusCode != 529 {
		t.Errorf("one too many: %d %s", answer.StatusCode, got)
	}
	<-w.g.slots
	if answer, _ := post(t, w.url+"/v1/messages", messagesCall); answer.StatusCode != 200 {
		t.Errorf("after that: %d", answer.StatusCode)
	}
}

// What does not fit the budget of copies is relayed all the same, and said.
func TestLostRecord(t *testing.T) {
	m := &mirror{status: 200, header: http.Header{"Content-Type": {"application/json"}}, pieces: []string{messagesReply}}
	pool := newPool(t)
	w := newWorld(t, pool, serveMirror(t, m), func(o *Options) { o.Limits.Copies = int64(len(messagesCall) + len(messagesReply)) })
	big := strings.Replace(messagesCall, "Which port?", "Which port, please?", 1)
	if answer, got := post(t, w.url+"/v1/messages", big); answer.StatusCode != 200 || string(got) != messagesReply {
		t.Errorf("%d %s", answer.StatusCode, got)
	}
	if l := w.line(); l.Lost != 1 || l.Session != 0 {
		t.Errorf("%+v", l)
	}
	for range 3 { // the budget came back
		post(t, w.url+"/v1/messages", messagesCall)
		if l := w.line(); l.Lost != 0 || l.Session != 1 {
			t.Errorf("%+v", l)
		}
	}
	if s := w.g.Status(); s.Totals.Lost != 1 || w.g.copies.free.Load() != w.g.limits.Copies {
		t.Errorf("%+v, %d bytes are free", s.Totals, w.g.copies.free.Load())
	}
}

// A client that does not take its answer is cut off, and upstream with it.
func TestSlowClient(t *testing.T) {
	gone := make(chan struct{})
	endless := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(gone)
		piece := bytes.Repeat([]byte("x"), 64<<10)
		for r.Context().Err() == nil {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	})
	w := newWorld(t, newPool(t), serveHandler(t, endless), func(o *Options) { o.Limits.Client, o.Limits.Copies = 100*time.Millisecond, 1<<20 })
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReaderSize(conn, 16).ReadSlice('1'); err != nil || string(line) != "HTTP/1" {
		t.Fatalf("%q, %v", line, err)
	}
	<-gone
	if l := w.line(); !l.Cut || l.Lost != 1 {
		t.Errorf("%+v", l)
	}
}

// Keys are nowhere but upstream: in no journal, no body, no line.
func TestKeysAreNotKept(t *testing.T) {
	const key = "made-up-key-of-a-client"
	m := &mirror{status: 200, header: http.Header{"Content-Type": {"application/json"}}, pieces: []string{messagesReply}}
	w := newWorld(t, newPool(t), serveMirror(t, m), nil)
	post(t, w.url+"/v1/messages?key="+key, messagesCall, "X-Api-Key", key, "Authorization", "Bearer "+key)
	if m.asked[0].Header.Get("X-Api-Key") != key || m.asked[0].URL.Query().Get("key") != key {
		t.Errorf("upstream got %v", m.asked[0].Header)
	}
	l := w.line()
	w.stop()
	if text := strings.Join([]string{callText(t, l), rawJournals(t, w.pool.Home)}, ""); strings.Contains(text, key) {
		t.Errorf("the key is in\n%s", text)
	}
}

// Close may be called again, and reports are refused or answered after it as before.
func TestCloseTwice(t *testing.T) {
	w := newWorld(t, newPool(t), serveMirror(t, &mirror{status: 200}), nil)
	w.stop()
	if err := w.g.Close(t.Context()); err != nil {
		t.Error(err)
	}
	rec := httptest.NewRecorder()
	w.g.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "http://127.0.0.1/quire/status", nil))
	if rec.Code != 401 {
		t.Errorf("%d", rec.Code)
	}
}

package gateway

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/secret"
)

// A keeper is an upstream that keeps what came, and answers all of it alike.
type keeper struct {
	mu     sync.Mutex // guards what follows
	asked  []*http.Request
	bodies [][]byte
}

func (k *keeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	k.mu.Lock()
	k.asked, k.bodies = append(k.asked, r), append(k.bodies, body)
	k.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, messagesReply)
}

// take gives what came since it was asked last.
func (k *keeper) take() (asked []*http.Request, bodies [][]byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	asked, bodies = k.asked, k.bodies
	k.asked, k.bodies = nil, nil
	return asked, bodies
}

// curates has a gateway look at requests before they go up.
func curates(o *Options) { o.Curate = &Curation{Secrets: secret.NewFinder()} }

// listens serves a world by its own server, and gives the address.
func (w *world) listens() string {
	w.t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(w.t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	server := w.g.Server()
	ended := make(chan struct{})
	go func() { defer close(ended); _ = server.Serve(listener) }()
	w.t.Cleanup(func() { server.Close(); <-ended; w.stop() })
	return listener.Addr().String()
}

// dial is a connection with a limit that no test comes to.
func dial(t testing.TB, address string) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// raw sends a text and reads the answer to it, without what comes before it.
func raw(t testing.TB, address, text string) (status int, header http.Header, body string) {
	t.Helper()
	conn := dial(t, address)
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return answered1(t, bufio.NewReader(conn), text)
}

func answered1(t testing.TB, in *bufio.Reader, text string) (status int, header http.Header, body string) {
	t.Helper()
	method, _, _ := strings.Cut(text, " ")
	for {
		answer, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			t.Fatalf("%.60q: %v", text, err)
		}
		all, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode != http.StatusContinue {
			return answer.StatusCode, answer.Header, string(all)
		}
	}
}

// What is said on the wire in two ways is refused, or means upstream what it means
// here; the token goes up in no disguise; other protocols are declined.
func TestRawRequests(t *testing.T) {
	k := &keeper{}
	w := newWorld(t, newPool(t), serveHandler(t, k), curates)
	address, token := w.listens(), Token(w.g.options.Secret)
	const host = "Host: 127.0.0.1\r\n"
	post := func(headers, body string) string {
		return "POST /v1/other HTTP/1.1\r\n" + host + headers + "\r\n" + body
	}
	get := func(path, headers string) string { return "GET " + path + " HTTP/1.1\r\n" + host + headers + "\r\n" }
	for _, c := range []struct {
		name, text string
		status     int
		up         string // path and body of what went up, "" for nothing
	}{
		{"two lengths", post("Content-Length: 2\r\nContent-Length: 3\r\n", "{}x"), 400, ""},
		{"a length of another kind", post("Content-Length: +2\r\n", "{}"), 400, ""},
		{"a space in front of the colon", post("Content-Length : 2\r\n", "{}"), 400, ""},
		{"chunks and a length", post("Content-Length: 40\r\nTransfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n"), 200, "/v1/other {}"},
		{"an encoding that is not known", post("Transfer-Encoding: xchunked\r\n", "2\r\n{}\r\n0\r\n\r\n"), 501, ""},
		{"two encodings", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "2\r\n{}\r\n0\r\n\r\n"), 501, ""},
		{"trailers", post("Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n", "2\r\n{}\r\n0\r\nX-Sum: 1\r\n\r\n"), 200, "/v1/other {}"},
		{"a wait for the word to go on", post("Content-Length: 2\r\nExpect: 100-continue\r\n", "{}"), 200, "/v1/other {}"},
		{"no host", "GET / HTTP/1.1\r\n\r\n", 400, ""},
		{"two hosts", get("/", "Host: evil.example\r\n"), 400, ""},
		{"another host in the line", "GET http://evil.example/v1/models HTTP/1.1\r\n" + host + "\r\n", 403, ""},
		{"a tunnel", "CONNECT 127.0.0.1:22 HTTP/1.1\r\n" + host + "\r\n", 405, ""},
		{"a header with a line in it", get("/v1/models", "X-Odd: a\rb\r\n"), 400, ""},
		{"a WebSocket", get("/v1/responses", "Connection: Upgrade\r\nUpgrade: WebSocket\r\n"), 426, ""},
		{"a wish for HTTP/2", get("/v1/models", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"), 200, "/v1/models "},
		{"HTTP/2 at once", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 403, ""},
		{"HTTP/1.0", "GET /v1/models HTTP/1.0\r\n" + host + "\r\n", 200, "/v1/models "},
		{"only the head", "HEAD /v1/models HTTP/1.1\r\n" + host + "\r\n", 200, "/v1/models "},
		{"options", "OPTIONS /v1/models HTTP/1.1\r\n" + host + "\r\n", 200, "/v1/models "},
		{"options of a page", "OPTIONS /v1/models HTTP/1.1\r\n" + host + "Origin: https://evil.example\r\n\r\n", 403, ""},
		{"a path that goes up", get("/v1/../../x", ""), 200, "/v1/../../x "},
		{"its page in disguise", get("/%71uire/status", ""), 401, ""},
		{"the token escaped", get("/%74/"+token+"/v1/models", ""), 200, "/v1/models "},
		{"the token behind a slash", get("//t/"+token+"/v1/models", ""), 401, ""},
		{"the token behind the path", get("/v1/models/t/"+token, ""), 401, ""},
		{"the token in Authorization", get("/v1/models", "Authorization: Bearer "+token+"\r\n"), 401, ""},
		{"the token as a key", get("/v1/models", "X-Api-Key: "+token+"\r\n"), 401, ""},
		{"the token as a second key", get("/v1/models", "X-Api-Key: k\r\nX-Api-Key: "+token+"\r\n"), 401, ""},
		{"the token in the query", get("/v1/models?key="+token, ""), 401, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, _, body := raw(t, address, c.text)
			if status != c.status {
				t.Errorf("%d %s, want %d", status, body, c.status)
			}
			asked, bodies := k.take()
			up := ""
			for i, r := range asked {
				up += r.URL.EscapedPath() + " " + string(bodies[i])
				if r.Header.Get("Upgrade")+r.Header.Get("Http2-Settings") != "" {
					t.Errorf("up went %v", r.Header)
				}
			}
			if up != c.up {
				t.Errorf("up went %q, want %q", up, c.up)
			}
		})
	}
	free(t, w)
}

// oddBodies are requests that no reader of JSON likes, or that it reads in a way of its
// own. large ones are left out of short runs.
func oddBodies(large bool) map[string][]byte {
	call := func(content string) []byte {
		return []byte(`{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":` + content + `}],"tools":[{"name":"read","input_schema":{"type":"object"}}]}`)
	}
	nested := func(n int) []byte {
		return call(`[{"type":"tool_use","id":"t","name":"read","input":` + strings.Repeat(`{"a":[`, n/2) + "1" + strings.Repeat(`]}`, n/2) + `}]`)
	}
	list := map[string][]byte{
		"a mark of byte order": append([]byte("\ufeff"), call(`"x"`)...), "a number that is none": []byte(`{"model":"m","temperature":NaN,"messages":[]}`),
		"a name twice": []byte(`{"model":"a","model":"claude-sonnet-4-5","messages":[],"messages":[{"role":"user","content":"x"},{"role":"user","content":"y"}],"tools":[{"name":"read","name":"write"}]}`),
		"no UTF-8":     call("\"\xff\xfe\xc0\xaf\""), "half a pair": call(`"\ud83d and \ude00"`), "a zero in a text": call(`"a\u0000b"`),
		"200 deep": nested(200), "9,000 deep": nested(9000), "20,000 deep": nested(20_000), "nothing in it": []byte(`{}`), "a list": []byte(`[{"model":"m"}]`),
		"a text": []byte(`"{}"`), "half of it": call(`"x"`)[:60], "two of them": append(call(`"x"`), call(`"y"`)...), "a null in the list": []byte(`{"model":"m","messages":[null,7,"x",[],{}]}`),
		"numbers for messages": []byte(`{"model":"m","messages":[` + strings.Repeat("1,", 400_000) + `1]}`), "blank": []byte("  \n"), "large numbers": []byte(`{"model":"m","max_tokens":1e999,"messages":[{"role":"user","content":"x"}]}`),
	}
	if large {
		list["100 MB"] = call(`"` + strings.Repeat("0123456789abcdef", 100<<16) + `"`)
	}
	return list
}

// Whatever stands in a body, it goes up byte for byte and is answered; nothing of ours
// breaks over it, and no room stays taken.
func TestOddBodies(t *testing.T) {
	for _, looks := range []bool{true, false} {
		k := &keeper{}
		w := newWorld(t, newPool(t), serveHandler(t, k), func(o *Options) {
			if looks {
				curates(o)
			}
		})
		for name, body := range oddBodies(looks && !testing.Short()) {
			for _, path := range []string{"/v1/messages", "/v1/chat/completions", "/v1/responses", geminiPath} {
				if len(body) > 1<<20 && path != "/v1/messages" {
					continue
				}
				answer, got := post(t, w.url+path, string(body))
				if _, bodies := k.take(); answer.StatusCode != 200 || string(got) != messagesReply || len(bodies) != 1 || !bytes.Equal(bodies[0], body) {
					t.Errorf("%s to %s: %d %.200s, up went %d", name, path, answer.StatusCode, got, len(bodies))
				}
				w.line()
			}
		}
		w.stop()
		if free := w.g.copies.free.Load(); free != w.g.limits.Copies {
			t.Errorf("%d bytes of copies are taken", w.g.limits.Copies-free)
		}
	}
}

// A request that unpacks to more than there is room for is relayed as it came.
func TestPackedBomb(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for range 64 {
		if _, err := z.Write(bytes.Repeat([]byte(" "), 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	k := &keeper{}
	w := newWorld(t, newPool(t), serveHandler(t, k), func(o *Options) { curates(o); o.Limits.Copies = 8 << 20 })
	answer, got := post(t, w.url+"/v1/messages", packed.String(), "Content-Encoding", "gzip")
	if _, bodies := k.take(); answer.StatusCode != 200 || len(bodies) != 1 || !bytes.Equal(bodies[0], packed.Bytes()) {
		t.Errorf("%d %s", answer.StatusCode, got)
	}
	if l := w.line(); l.Odd == "" {
		t.Errorf("%+v", l)
	}
	if free := w.g.copies.free.Load(); free != 8<<20 {
		t.Errorf("%d bytes are free", free)
	}
}

// What does not fit the copies goes up as it comes, byte for byte, announced or not.
func TestNoRoomForACopy(t *testing.T) {
	k := &keeper{}
	w := newWorld(t, newPool(t), serveHandler(t, k), func(o *Options) { curates(o); o.Limits.Copies = 100_000 })
	big := grown(1<<20, 0)
	for _, r := range []io.Reader{strings.NewReader(big), struct{ io.Reader }{strings.NewReader(big)}} {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/v1/messages", r)
		if err != nil {
			t.Fatal(err)
		}
		status, _ := do(t, q)
		if _, bodies := k.take(); status != 200 || len(bodies) != 1 || string(bodies[0]) != big {
			t.Errorf("%d, up went %d", status, len(bodies))
		}
		if l := w.line(); l.Lost != 1 {
			t.Errorf("%+v", l)
		}
	}
	if free := w.g.copies.free.Load(); free != 100_000 {
		t.Errorf("%d bytes are free", free)
	}
}

// ends waits for the end of what a connection says.
func ends(t *testing.T, conn net.Conn) string {
	t.Helper()
	all, err := io.ReadAll(conn)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal("the connection is kept")
	}
	return string(all)
}

// A client that sends its head, or its body, a byte at a time is cut off: each byte
// comes in time, all of them do not.
func TestDrip(t *testing.T) {
	k := &keeper{}
	w := newWorld(t, newPool(t), serveHandler(t, k), func(o *Options) {
		curates(o)
		o.Limits.Head, o.Limits.Client = 100*time.Millisecond, 100*time.Millisecond
	})
	address := w.listens()
	for _, begin := range []string{"POST /v1/messages HTTP/1.1\r\n", "POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000000\r\n\r\n", "PUT /v1/files HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000000\r\n\r\n"} {
		conn := dial(t, address)
		if _, err := io.WriteString(conn, begin); err != nil {
			t.Fatal(err)
		}
		stop := make(chan struct{})
		var dripping sync.WaitGroup
		dripping.Go(func() {
			tick := time.NewTicker(5 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-stop:
					return
				case <-tick.C:
					if _, err := io.WriteString(conn, "x"); err != nil {
						return
					}
				}
			}
		})
		ends(t, conn)
		close(stop)
		dripping.Wait()
	}
	free(t, w)
}

// free waits until no request has a place.
func free(t *testing.T, w *world) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	late := time.After(time.Minute)
	for w.g.Status().Running > 0 {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("a place stays taken")
		}
	}
}

// An upstream that takes nothing of a request, or stops in the middle of an answer or
// of a refusal, is given up, and so is a request that goes up while it comes.
func TestUpstreamStops(t *testing.T) {
	for _, c := range []struct {
		name, says, body string
		path             string
	}{
		{"takes nothing", "", grown(16<<20, 0), "/v1/messages"},
		{"takes nothing of a file", "", strings.Repeat("x", 16<<20), "/v1/files"},
		{"half an answer", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{\"id\":", messagesCall, "/v1/messages"},
		{"half a refusal", "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{\"error\":", messagesCall, "/v1/messages"},
		{"half a stream", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nevent: mess", messagesCall, "/v1/messages"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, newPool(t), deaf(t, c.says), func(o *Options) {
				curates(o)
				o.Limits.Send, o.Limits.Idle = 200*time.Millisecond, 200*time.Millisecond
			})
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+c.path, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			answer, err := http.DefaultClient.Do(r)
			if err == nil {
				_, err = io.ReadAll(answer.Body)
				answer.Body.Close()
			}
			if (err == nil) != (c.says == "") || err == nil && answer.StatusCode != 502 {
				t.Errorf("%v", err)
			}
			free(t, w)
		})
	}
}

// deaf is the address of an upstream that says something and reads nothing of what is
// larger than a connection holds.
func deaf(t *testing.T, says string) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); listener.Close(); all.Wait() })
	all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer conn.Close()
				if says != "" {
					_, _ = http.ReadRequest(bufio.NewReader(conn))
					_, _ = io.WriteString(conn, says)
				}
				<-ctx.Done()
			})
		}
	})
	return "http://" + listener.Addr().String()
}

// The time for an answer is that of its own request, not of the one before it on the
// same connection.
func TestConnectionIsKept(t *testing.T) {
	const limit = 50 * time.Millisecond
	w := newWorld(t, newPool(t), serveHandler(t, &keeper{}), func(o *Options) { o.Limits.Client = limit })
	conn := dial(t, w.listens())
	in := bufio.NewReader(conn)
	for _, text := range []string{
		"POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}", "GET /quire/status HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Quire-Token: " + Token(w.g.options.Secret) + "\r\n\r\n",
		"HEAD / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "GET /quire/status HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
	} {
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
		if status, _, _ := answered1(t, in, text); status != 200 && status != 401 {
			t.Errorf("%.30q: %d", text, status)
		}
		<-time.After(2 * limit) // the limit of this request is over
	}
}

// Providers repeat keys in what they refuse: nobody else sees them.
func TestRepeatedKeysAreHidden(t *testing.T) {
	const key = "made-up-key-of-a-client"
	body := fmt.Sprintf(`{"type":"error","error":{"type":"authentication_error","message":"no such key: %s"}}`, key)
	m := &mirror{status: 401, header: http.Header{"Content-Type": {"application/json"}}, pieces: []string{body}}
	w := newWorld(t, newPool(t), serveMirror(t, m), curates)
	answer, got := post(t, w.url+"/v1/messages", messagesCall, "X-Api-Key", key)
	if answer.StatusCode != 401 || string(got) != body {
		t.Errorf("%d %s", answer.StatusCode, got)
	}
	if l := w.line(); !strings.Contains(l.Error, "no such key: [key]") {
		t.Errorf("%s", callText(t, l))
	}
}

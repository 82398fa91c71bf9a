package gateway

import (
	"net/http"
	"strings"
	"testing"
)

// Who may speak to the gateway (issue 7, section 4; failures.md B23).
func TestGuard(t *testing.T) {
	const token = "0123456789abcdef"
	for _, c := range []struct {
		what, listen, host, path, header, origin string
		status                                   int
	}{
		{"loopback", "127.0.0.1", "127.0.0.1:80", "/v1/messages", "", "", 0},
		{"its name", "127.0.0.1", "localhost:80", "/v1/messages", "", "", 0},
		{"IPv6", "::1", "[::1]:80", "/v1/messages", "", "", 0},
		{"a name that was pointed here", "127.0.0.1", "evil.example", "/v1/messages", "", "", 403},
		{"the same with the token", "127.0.0.1", "evil.example", "/v1/messages", token, "", 403},
		{"a page of another host", "127.0.0.1", "127.0.0.1", "/v1/messages", "", "https://evil.example", 403},
		{"a page without a host", "127.0.0.1", "127.0.0.1", "/v1/messages", "", "null", 403},
		{"a page of this machine", "127.0.0.1", "127.0.0.1", "/v1/messages", "", "http://localhost:3000", 0},
		{"an application", "127.0.0.1", "127.0.0.1", "/v1/messages", "", "vscode-webview://x", 0},
		{"its own pages", "127.0.0.1", "127.0.0.1", "/quire/status", "", "", 401},
		{"with the token", "127.0.0.1", "127.0.0.1", "/quire/status", token, "", 0},
		{"with another", "127.0.0.1", "127.0.0.1", "/quire/status", token + "0", "", 401},
		{"with the token in the path", "127.0.0.1", "127.0.0.1", "/t/" + token + "/quire/status", "", "", 0},
		{"with another in the path", "127.0.0.1", "127.0.0.1", "/t/other/v1/messages", "", "", 401},
		{"off loopback", "0.0.0.0", "192.0.2.1:80", "/v1/messages", "", "", 401},
		{"with the token", "0.0.0.0", "192.0.2.1:80", "/v1/messages", token, "", 0},
		{"with the token in the path", "0.0.0.0", "192.0.2.1:80", "/t/" + token + "/v1/messages", "", "", 0},
		{"by another name", "0.0.0.0", "evil.example", "/v1/messages", token, "", 403},
		{"by the name that was given", "0.0.0.0", "box.example:80", "/v1/messages", token, "", 0},
	} {
		g := guard{token: token, open: loopback(c.listen), listen: c.listen, hosts: []string{"box.example"}}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://x"+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = c.host
		r.Header.Set(tokenHeader, c.header)
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		v, status, why := g.check(r)
		if status != c.status || (status != 0) == (why == "") {
			t.Errorf("%s: %d %s, want %d", c.what, status, why, c.status)
		}
		if status == 0 && strings.Contains(v.path, token) {
			t.Errorf("%s: the token is left in %s", c.what, v.path)
		}
	}
	if (&guard{}).is("") {
		t.Error("no token proves something")
	}
}

func TestReports(t *testing.T) {
	m := &mirror{status: 200, header: http.Header{"Content-Type": {"application/json"}}, pieces: []string{messagesReply}}
	w := newWorld(t, newPool(t), serveMirror(t, m), nil)
	post(t, w.url+"/v1/messages", messagesCall)
	w.line()
	get := func(path, token string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(tokenHeader, token)
		return do(t, r)
	}
	token := Token(w.g.options.Secret)
	for _, c := range []struct{ path, want string }{
		{"/quire/status", `"calls":1`}, {"/quire/sessions", `"session":1`}, {"/quire/metrics", "\nquire_calls_total 1\n"},
		{"/quire/metrics", "quire_tokens_total{kind=\"output\"} 3\n"},
	} {
		if status, text := get(c.path, token); status != 200 || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d %s", c.path, status, text)
		}
		if status, text := get(c.path, ""); status != 401 || strings.Contains(text, token) {
			t.Errorf("%s without the token: %d %s", c.path, status, text)
		}
	}
	if status, _ := get("/quire/other", token); status != 404 {
		t.Errorf("%d", status)
	}
	if len(m.asked) != 1 {
		t.Errorf("upstream was asked %d times", len(m.asked))
	}
}

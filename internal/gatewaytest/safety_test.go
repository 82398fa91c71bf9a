package gatewaytest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/gateway"
	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/store/sqlite"
)

// Keys and the token are in nothing that a gateway writes or shows: no journal, no
// store, no line, no fault, no page (G20).
//
// design.md G20
func TestSecretsAreNotKept(t *testing.T) {
	const key = "made-up-key-of-a-client-for-the-tests"
	token := gateway.Token(keySecret())
	for _, d := range dialects() {
		t.Run(string(d.api), func(t *testing.T) {
			home := filepath.Join(t.TempDir(), "home")
			shown := keyedSession(t, d, home, key)
			for _, one := range []string{key, token, string(keySecret())} {
				if strings.Contains(shown, one) {
					t.Errorf("%q is shown", one)
				}
				if name := fileWith(t, home, one); name != "" {
					t.Errorf("%q is in %s", one, name)
				}
			}
		})
	}
}

// keyedSession is a session under a key over a home on disk; it gives all that was
// shown of it.
func keyedSession(t *testing.T, d dialect, home, key string) string {
	t.Helper()
	store, err := sqlite.Open(context.Background(), home, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var shown strings.Builder
	show := func(v any) {
		text, _ := json.Marshal(v)
		mu.Lock()
		defer mu.Unlock()
		shown.Write(text)
	}
	s := newStage(t, d, func(o *gateway.Options) {
		o.Pool.Home, o.Pool.Bodies, o.Pool.Table, o.Pool.Heads, o.Pool.Index = home, store, store, store, index.New(store, store)
		o.Seen = func(l gateway.Line) { show(l) }
		o.Failed = func(err error) { show(err.Error()) }
	})
	s.key = key
	s.tell()
	s.up.fail(fault{status: 503})
	s.send(s.talk, through, true, 0)
	for _, path := range []string{"/quire/status", "/quire/sessions", "/quire/metrics"} {
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+path, nil)
		r.Header.Set("X-Quire-Token", gateway.Token(keySecret()))
		show(answerOf(s.g, r).Body.String())
	}
	stop(t, s.g)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return shown.String()
}

// fileWith is a file below a folder that holds a text, "" for none.
func fileWith(t *testing.T, dir, text string) (name string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(text)) {
			name = path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// A chain is its credential's own (G1, G20): who sends another's conversation under
// another key gets nothing of what is kept of it. What the other's stream folded, this
// one sends itself; what the model reads back comes from this one's own pages.
//
// design.md G1, G20
func TestOtherCredential(t *testing.T) {
	for _, d := range dialects() {
		t.Run(string(d.api), func(t *testing.T) {
			s := newStage(t, d, nil)
			s.tell()
			before := len(s.sims[through].Requests())
			other := s.talk.clone()
			for end := range other.views {
				other.views[end] = unthinking(other.views[end], 0)
			}
			s.key = "another key"
			s.say(other, len(plot()), nil)
			h := s.send(other, through, false, 0)
			if h.err != nil {
				t.Fatalf("%d %v %s", h.code, h.err, h.body)
			}
			for _, q := range s.sims[through].Requests()[before:] {
				if bytes.Contains(q.Body, []byte("recall p")) || bytes.Contains(q.Body, []byte("<quire")) {
					t.Errorf("what was folded for the first went up for the other:\n%s", q.Body)
				}
			}
			stop(t, s.g)
		})
	}
}

// Off loopback nothing is relayed without the token, which may stand in the path or
// in its header, never in Authorization, and goes no further. The pages of the
// gateway want it on loopback too. Another Host, or a page of another origin, is
// refused.
func TestToken(t *testing.T) {
	token := gateway.Token(keySecret())
	for _, c := range []struct {
		name, listen, host, path string
		header                   [2]string
		status                   int
	}{
		{"loopback", "127.0.0.1", "127.0.0.1:80", "", [2]string{}, 200},
		{"off it", "0.0.0.0", "192.0.2.1:80", "", [2]string{}, 401},
		{"in its header", "0.0.0.0", "192.0.2.1:80", "", [2]string{"X-Quire-Token", token}, 200},
		{"in the path", "0.0.0.0", "192.0.2.1:80", "/t/" + token, [2]string{}, 200},
		{"a wrong one in the path", "127.0.0.1", "127.0.0.1:80", "/t/wrong", [2]string{}, 401},
		{"in Authorization", "0.0.0.0", "192.0.2.1:80", "", [2]string{"Authorization", "Bearer " + token}, 401},
		{"another host", "127.0.0.1", "evil.example", "", [2]string{}, 403},
		{"another origin", "127.0.0.1", "127.0.0.1:80", "", [2]string{"Origin", "https://evil.example"}, 403},
	} {
		for _, d := range dialects() {
			t.Run(c.name+" "+string(d.api), func(t *testing.T) {
				s := newStage(t, d, func(o *gateway.Options) { o.Listen = c.listen })
				s.ready(0)
				r, err := d.request(s.call(s.talk, through, true), "k", "")
				if err != nil {
					t.Fatal(err)
				}
				r.URL.Path, r.Host = c.path+r.URL.Path, c.host
				if c.header[0] != "" {
					r.Header.Set(c.header[0], c.header[1])
				}
				tokenCase(t, s, r, c.status, token)
			})
		}
	}
}

// tokenCase asks, and looks at what went up.
func tokenCase(t *testing.T, s *stage, r *http.Request, status int, token string) {
	t.Helper()
	out := answerOf(s.g, r)
	if out.Code != status {
		t.Errorf("%d %s, want %d", out.Code, out.Body, status)
	}
	list := s.sims[through].Requests()
	if (len(list) == 1) != (status == 200) {
		t.Errorf("%d requests went up", len(list))
	}
	for _, q := range list {
		if head := fmt.Sprint(q.Path, q.Header); strings.Contains(head, token) {
			t.Errorf("the token went up: %s", head)
		}
	}
	if _, err := s.api.understand(out.Code, out.Header(), out.Body.Bytes()); (err == nil) != (status == 200) {
		t.Errorf("the client makes of it: %v", err)
	}
	stop(t, s.g)
}

// A client that stops in the middle of its request is cut off, one that sends too much
// is refused, and an upstream that never answers is given up: each with an answer of
// the API, and no place stays taken.
func TestPhases(t *testing.T) {
	s := newStage(t, dialects()[0], func(o *gateway.Options) {
		o.Limits.Client, o.Limits.Answer, o.Limits.Body = 200*time.Millisecond, 300*time.Millisecond, 1<<20
	})
	server := httptest.NewServer(s.g)
	defer server.Close()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(server.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5000\r\n\r\n{\"model\":"); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(conn); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the connection of the slow client is kept")
	}
	waitFor(t, "the place of the slow client is free", func() bool { return s.g.Status().Running == 0 })
	s.up.fail(fault{stall: true})
	s.ready(0)
	if h := s.send(s.talk, through, true, 0); h.code < 500 || h.err == nil {
		t.Errorf("an upstream that never answers: %d %v", h.code, h.err)
	}
	s.talk.add(s.talk.views[0][0])
	s.talk.views[through][0].Blocks[0].Text = strings.Repeat("much ", 1<<18)
	if h := s.send(s.talk, through, true, 0); h.code != http.StatusRequestEntityTooLarge || h.err == nil {
		t.Errorf("too much: %d %v", h.code, h.err)
	}
	waitFor(t, "all places are free", func() bool { return s.g.Status().Running == 0 })
	stop(t, s.g)
}

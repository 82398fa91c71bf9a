package sim_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/sim"
	"github.com/quire-agent/quire/internal/wire/anthropic"
	"github.com/quire-agent/quire/internal/wire/chat"
	"github.com/quire-agent/quire/internal/wire/gemini"
	"github.com/quire-agent/quire/internal/wire/responses"
)

const hello = `{"model":"claude-opus-5","max_tokens":99,"stream":true,"messages":[{"role":"user","content":"hello there"}]}`

// fetch sends a request over a connection and is the body as far as it came.
func fetch(t *testing.T, ctx context.Context, url, path, body string) (string, int, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, "POST", url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Api-Key", "k")
	r.Header.Set("Authorization", "Bearer k")
	r.Header.Set("X-Goog-Api-Key", "k")
	r.Header.Set("Anthropic-Version", "2023-06-01")
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(r)
	if err != nil {
		return "", 0, err
	}
	defer answer.Body.Close()
	got, err := io.ReadAll(answer.Body)
	return string(got), answer.StatusCode, err
}

func TestFaults(t *testing.T) {
	ctx := context.Background()
	_, server := serve(t, sim.Options{Script: parsed(t, "turn\n say hello there\nturn\n cut 40\n say hello there\nturn\n garbage 40\n say hello there\nturn\n drop\nturn\n cut 0\n say a\nturn\n fail 529\nturn\n cut 100000\n say hello there")})
	whole, _, err := fetch(t, ctx, server.URL, "/v1/messages", hello)
	if err != nil || !strings.Contains(whole, "message_stop") {
		t.Fatalf("%q, %v", whole, err)
	}
	if cut, _, err := fetch(t, ctx, server.URL, "/v1/messages", hello); !errors.Is(err, io.ErrUnexpectedEOF) || len(cut) != 40 || cut[:30] != whole[:30] {
		t.Errorf("cut: %q, %v", cut, err)
	}
	if garbled, _, err := fetch(t, ctx, server.URL, "/v1/messages", hello); err != nil || !strings.Contains(garbled[40:], "502 Bad Gateway") || strings.Contains(garbled, "message_stop") {
		t.Errorf("garbage: %q, %v", garbled, err)
	}
	if got, _, err := fetch(t, ctx, server.URL, "/v1/messages", hello); !errors.Is(err, io.EOF) {
		t.Errorf("drop: %q, %v", got, err)
	}
	if got, status, err := fetch(t, ctx, server.URL, "/v1/messages", hello); !errors.Is(err, io.ErrUnexpectedEOF) || got != "" || status != 200 {
		t.Errorf("cut at once: %q, %d, %v", got, status, err)
	}
	if got, status, err := fetch(t, ctx, server.URL, "/v1/messages", hello); err != nil || status != 529 || !strings.Contains(got, "overloaded_error") {
		t.Errorf("overload: %q, %d, %v", got, status, err)
	}
	if got, _, err := fetch(t, ctx, server.URL, "/v1/messages", hello); err != nil || len(got) < len(whole)-20 {
		t.Errorf("a cut behind the end: %q, %v", got, err)
	}
}

// A stall ends when the client leaves, and when the simulator is closed.
func TestStall(t *testing.T) {
	s, server := serve(t, sim.Options{Script: parsed(t, "turn 2 times\n stall 10\n say a")})
	ctx, cancel := context.WithCancel(context.Background())
	for _, leave := range []func(){cancel, s.Close} {
		begun := len(s.Requests())
		var wait sync.WaitGroup
		wait.Go(func() {
			if got, _, err := fetch(t, ctx, server.URL, "/v1/messages", hello); err == nil {
				t.Errorf("it ended with %q", got)
			}
		})
		for len(s.Requests()) == begun || s.Requests()[begun].Status == 0 {
			runtime.Gosched()
		}
		leave()
		wait.Wait()
		ctx = context.Background()
	}
}

// Time passes in a bubble: a first byte that is slow, and a stall that ends.
func TestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := make(t, sim.Options{Script: parsed(t, "turn\n wait 3s\n stall 5 for 2s\n say hello"), Now: time.Now})
		before := time.Now()
		w := post(s, "/v1/messages", hello)
		if took := time.Since(before); took != 5*time.Second || !strings.Contains(w.Body.String(), "message_stop") {
			t.Errorf("it took %v: %s", took, w.Body)
		}
		s.Close()
	})
}

// A client that leaves while nothing comes is not served further.
func TestLeavesWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := make(t, sim.Options{Script: parsed(t, "turn\n wait 1h\n say a")})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, "POST", "/v1/chat/completions", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"a"}]}`))
		r.Header.Set("Authorization", "Bearer k")
		w := httptest.NewRecorder()
		before := time.Now()
		s.ServeHTTP(w, r)
		if took := time.Since(before); took != time.Minute || w.Body.Len() > 0 {
			t.Errorf("after %v: %q", took, w.Body)
		}
		s.Close()
	})
}

// Streams are those of the wire packages: what they decode is what the script says,
// for each API, and a stream that is cut is known as such.
func TestStreams(t *testing.T) {
	decode := map[string]func(io.Reader) []error{
		"messages":  func(r io.Reader) []error { return drain(t, anthropic.DecodeStream(r)) },
		"chat":      func(r io.Reader) []error { return drain(t, chat.DecodeStream(r)) },
		"responses": func(r io.Reader) []error { return drain(t, responses.DecodeStream(r)) },
		"gemini":    func(r io.Reader) []error { return drain(t, gemini.DecodeStream(r)) },
	}
	bodies := map[string]string{
		"messages": hello, "chat": `{"model":"gpt-5.4","stream":true,"messages":[{"role":"user","content":"hello there"}]}`,
		"responses": `{"model":"gpt-5.4","stream":true,"input":"hello there"}`, "gemini": `{"contents":[{"parts":[{"text":"hello there"}]}]}`,
	}
	_, server := serve(t, sim.Options{Script: parsed(t, "turn 4 times\n say hello there\nturn always\n cut 150\n say hello there")})
	for round := range 2 {
		for api, path := range paths() {
			if api == "gemini" {
				path = "/v1beta/models/gemini-4-neon:streamGenerateContent?alt=sse"
			}
			got, _, _ := fetch(t, context.Background(), server.URL, path, bodies[api])
			errs := decode[api](strings.NewReader(got))
			if broken := len(errs) > 0; broken != (round == 1) {
				t.Errorf("%s, round %d: %v in %q", api, round, errs, got)
			}
			for _, err := range errs {
				var e *quire.CallError
				if !errors.As(err, &e) || e.Kind != quire.CallCut && e.Kind != quire.CallGarbled {
					t.Errorf("%s: %v", api, err)
				}
			}
		}
	}
}

// drain reads a stream to its end, checks its text and gives its errors.
func drain(t *testing.T, stream func(func(quire.Delta, error) bool)) (errs []error) {
	var text strings.Builder
	for d, err := range stream {
		if err != nil {
			errs = append(errs, err)
			break
		}
		if g, ok := d.(quire.BlockGrew); ok {
			text.WriteString(g.Text)
		}
		if b, ok := d.(quire.BlockBegun); ok {
			text.WriteString(b.Block.Text)
		}
	}
	if len(errs) == 0 && text.String() != "hello there" {
		t.Errorf("the stream says %q", text.String())
	}
	return errs
}

// Many clients at a time: every answer is whole, and all are recorded.
func TestTogether(t *testing.T) {
	s, server := serve(t, sim.Options{})
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 5 {
				if got, _, err := fetch(t, context.Background(), server.URL, "/v1/messages", hello); err != nil || !strings.Contains(got, "message_stop") {
					t.Errorf("%q, %v", got, err)
				}
			}
		})
	}
	wait.Wait()
	if n := len(s.Requests()); n != 20 {
		t.Errorf("%d requests", n)
	}
}

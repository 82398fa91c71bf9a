package sim_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
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

// spoken is an API as a client speaks it: a request that is answered by a stream,
// and how the answer is read.
type spoken struct {
	path, body string
	read       func(r io.Reader) func(yield func(quire.Delta, error) bool)
}

func everyAPI() map[string]spoken {
	return map[string]spoken{
		"messages":  {"/v1/messages", hello, func(r io.Reader) func(func(quire.Delta, error) bool) { return anthropic.DecodeStream(r) }},
		"chat":      {"/v1/chat/completions", `{"model":"gpt-5.4","stream":true,"messages":[{"role":"user","content":"hello there"}]}`, func(r io.Reader) func(func(quire.Delta, error) bool) { return chat.DecodeStream(r) }},
		"responses": {"/v1/responses", `{"model":"gpt-5.4","stream":true,"input":"hello there"}`, func(r io.Reader) func(func(quire.Delta, error) bool) { return responses.DecodeStream(r) }},
		"gemini":    {"/v1beta/models/gemini-4-neon:streamGenerateContent?alt=sse", `{"contents":[{"parts":[{"text":"hello there"}]}]}`, func(r io.Reader) func(func(quire.Delta, error) bool) { return gemini.DecodeStream(r) }},
	}
}

// Every fault that a script can ask for comes on every API as a client must expect
// it: refusals with their status and, where asked for, the time to wait; streams
// that end too early or go on as something else, which their readers find out.
func TestFaultsOfEveryAPI(t *testing.T) {
	for api, s := range everyAPI() {
		for fault, check := range map[string]func(*testing.T, spoken, answer){
			"fail 429 after 1.5": refusedWith(429, "1.5"), "fail 500": refusedWith(500, ""), "fail 503": refusedWith(503, ""), "fail 529": refusedWith(529, ""),
			"drop": dropped, "cut 40": cutOff, "cut 0": cutOff, "garbage 40": garbled,
		} {
			t.Run(api+"/"+fault, func(t *testing.T) {
				_, server := serve(t, sim.Options{Script: parsed(t, "turn\n "+fault+"\n say hello there\nturn\n say hello there")})
				check(t, s, askStream(t, server.URL, s))
				if again := askStream(t, server.URL, s); again.err != nil || again.status != 200 || len(drain(t, s.read(strings.NewReader(again.body)))) > 0 {
					t.Errorf("the next call is not answered: %d %v %.200q", again.status, again.err, again.body)
				}
			})
		}
	}
}

// An answer is what came of a request.
type answer struct {
	status int
	after  string
	body   string
	err    error
}

func askStream(t *testing.T, url string, s spoken) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), "POST", url+s.path, strings.NewReader(s.body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"X-Api-Key": "k", "Authorization": "Bearer k", "X-Goog-Api-Key": "k", "Anthropic-Version": "2023-06-01"} {
		r.Header.Set(name, value)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	got, err := client.Do(r)
	if err != nil {
		return answer{err: err}
	}
	defer func() { _ = got.Body.Close() }()
	body, err := io.ReadAll(got.Body)
	return answer{got.StatusCode, got.Header.Get("Retry-After"), string(body), err}
}

func refusedWith(status int, after string) func(*testing.T, spoken, answer) {
	return func(t *testing.T, _ spoken, a answer) {
		t.Helper()
		if a.err != nil || a.status != status || a.after != after || message(t, []byte(a.body)) == "" {
			t.Errorf("status %d after %q, %v: %s", a.status, a.after, a.err, a.body)
		}
	}
}

func dropped(t *testing.T, _ spoken, a answer) {
	t.Helper()
	if !errors.Is(a.err, io.EOF) {
		t.Errorf("%+v", a)
	}
}

func cutOff(t *testing.T, s spoken, a answer) {
	t.Helper()
	if !errors.Is(a.err, io.ErrUnexpectedEOF) || a.status != 200 || len(a.body) > 40 {
		t.Errorf("%+v", a)
	}
	breaks(t, s, a, quire.CallCut)
}

func garbled(t *testing.T, s spoken, a answer) {
	t.Helper()
	if a.err != nil || a.status != 200 {
		t.Errorf("%+v", a)
	}
	breaks(t, s, a, quire.CallGarbled, quire.CallCut)
}

// breaks holds that the reader of the stream finds one of the kinds.
func breaks(t *testing.T, s spoken, a answer, kinds ...quire.CallErrorKind) {
	t.Helper()
	errs := drain(t, s.read(strings.NewReader(a.body)))
	var e *quire.CallError
	if len(errs) != 1 || !errors.As(errs[0], &e) {
		t.Fatalf("%v in %q", errs, a.body)
	}
	for _, k := range kinds {
		if e.Kind == k {
			return
		}
	}
	t.Errorf("%v, want one of %v", e, kinds)
}

// A first byte that is slow and a stream that stalls take their time on every API.
func TestWaitsOfEveryAPI(t *testing.T) {
	for api, a := range everyAPI() {
		t.Run(api, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := make(t, sim.Options{Script: parsed(t, "turn\n wait 3s\n stall 5 for 2s\n say hello there"), Now: time.Now})
				defer s.Close()
				before := time.Now()
				w := post(s, a.path, a.body)
				if took := time.Since(before); took != 5*time.Second || w.Code != 200 {
					t.Errorf("it took %v, status %d", took, w.Code)
				}
				if errs := drain(t, a.read(w.Body)); len(errs) > 0 {
					t.Error(fmt.Sprint(errs))
				}
			})
		})
	}
}

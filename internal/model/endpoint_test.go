package model

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/anthropic"
	"github.com/quire-agent/quire/internal/wire/openai"
)

// way is a way to a provider without a network.
type way func(*http.Request) (*http.Response, error)

func (f way) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// through is an endpoint behind a way.
func through(f way) *Endpoint {
	return &Endpoint{Base: "https://provider.example", Key: NewKey("made-up-key", "a test"), Client: &http.Client{
		Transport: f, CheckRedirect: NewClient(variables(nil)).CheckRedirect,
	}}
}

// slowBody gives a piece after each wait, and ends with the request.
type slowBody struct {
	ctx   context.Context
	waits []time.Duration
}

func (b *slowBody) Read(p []byte) (int, error) {
	wait := time.Duration(1 << 62)
	if len(b.waits) > 0 {
		wait, b.waits = b.waits[0], b.waits[1:]
	}
	select {
	case <-time.After(wait):
		return copy(p, ": nothing to say\n"), nil
	case <-b.ctx.Done():
		return 0, b.ctx.Err()
	}
}

func (b *slowBody) Close() error { return nil }

func answerOf(status int, header http.Header, text string) way {
	return func(*http.Request) (*http.Response, error) {
		if header == nil {
			header = http.Header{}
		}
		return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(text))}, nil
	}
}

func codec() Codec {
	return Codec{Stream: anthropic.DecodeStream, Reply: anthropic.DecodeReply, Error: openai.DecodeError}
}

// last is the error that ends an answer.
func last(seq iter.Seq2[quire.Delta, error]) error {
	var last error
	for _, err := range seq {
		last = err
	}
	return last
}

// TestLimits holds how long nothing may come, by a clock that only waits move. An
// answer may take longer than that in all.
func TestLimits(t *testing.T) {
	minutes := func(n ...int) (list []time.Duration) {
		for _, n := range n {
			list = append(list, time.Duration(n)*time.Minute)
		}
		return list
	}
	for _, c := range []struct {
		name   string
		limits Limits
		begin  time.Duration
		waits  []time.Duration
		kind   quire.CallErrorKind
		took   time.Duration
	}{
		{"no beginning", Limits{Begin: time.Minute}, time.Hour, nil, quire.CallNetwork, time.Minute},
		{"by default", Limits{}, time.Hour, nil, quire.CallNetwork, 10 * time.Minute},
		{"stalls", Limits{Stall: 2 * time.Minute}, time.Minute, minutes(1, 1, 1), quire.CallCut, 6 * time.Minute},
		{"slow but there", Limits{Stall: 2 * time.Minute}, 0, minutes(1, 1, 1, 1, 1, 1, 1, 3), quire.CallCut, 9 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := through(func(r *http.Request) (*http.Response, error) {
					select {
					case <-time.After(c.begin):
						return &http.Response{StatusCode: 200, Body: &slowBody{r.Context(), c.waits}}, nil
					case <-r.Context().Done():
						return nil, r.Context().Err()
					}
				})
				e.Limits = c.limits
				begin := time.Now()
				err := last(e.Send(t.Context(), Request{}, codec()))
				failed, _ := errors.AsType[*quire.CallError](err)
				if failed == nil || failed.Kind != c.kind || !strings.Contains(failed.Message, "nothing came for") {
					t.Errorf("the error is %v", err)
				}
				if took := time.Since(begin); took != c.took {
					t.Errorf("it took %v, want %v", took, c.took)
				}
			})
		})
	}
}

func TestEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := through(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: &slowBody{ctx: r.Context()}}, nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
		defer cancel()
		begin := time.Now()
		err := last(e.Send(ctx, Request{}, codec()))
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 7*time.Second {
			t.Errorf("ended after %v with %v", time.Since(begin), err)
		}
		if _, ok := errors.AsType[*quire.CallError](err); ok {
			t.Errorf("the end of the context is taken for a fault of the provider: %v", err)
		}
	})
}

// TestFaults holds what is made of what else may come.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name string
		way  way
		kind quire.CallErrorKind
		says string
	}{
		{"redirect", answerOf(307, http.Header{"Location": {"https://other.example/"}}, ""), quire.CallNotFound, "https://other.example/"},
		{"huge error", answerOf(400, nil, strings.Repeat("x", 4<<20)), quire.CallInvalid, "xxx"},
		{"JSON that is no answer", answerOf(200, http.Header{"Content-Type": {"application/json"}}, "{"), quire.CallGarbled, ""},
		{"nothing", answerOf(200, nil, ""), quire.CallCut, ""},
		{"no way", func(*http.Request) (*http.Response, error) {
			return nil, errors.New("no way with made-up-key")
		}, quire.CallNetwork, "no way with [key]"},
		{"certificate", func(*http.Request) (*http.Response, error) {
			return nil, &tls.CertificateVerificationError{Err: io.EOF}
		}, quire.CallNetwork, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := last(through(c.way).Send(t.Context(), Request{}, codec()))
			e, ok := errors.AsType[*quire.CallError](err)
			if !ok || e.Kind != c.kind || !strings.Contains(e.Message, c.says) {
				t.Errorf("the error is %v", err)
			}
			if len(err.Error()) > 2000 || strings.Contains(err.Error(), "made-up") {
				t.Errorf("the error is %.3000v", err)
			}
			if (c.name == "certificate") != (e.Code == CodeCertificate) {
				t.Errorf("the code is %q", e.Code)
			}
		})
	}
}

func TestBodyIsBounded(t *testing.T) {
	_, w := newWatch(t.Context(), time.Hour)
	defer w.stop()
	b := &body{strings.NewReader("1234567890"), w, time.Hour, 6}
	if text, err := io.ReadAll(b); !errors.Is(err, errTooLong) {
		t.Errorf("%q is read of too long an answer, %v", text, err)
	}
}

// TestAskedWaits holds that a wait is understood in all its forms.
func TestAskedWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			header http.Header
			want   float64
		}{
			{http.Header{"Retry-After": {"12"}}, 12},
			{http.Header{"Retry-After": {"12"}, "Retry-After-Ms": {"250"}}, 0.25},
			{http.Header{"Retry-After": {time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat)}}, 90},
			{http.Header{"Retry-After": {time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat)}}, 0},
			{http.Header{"Retry-After": {"soon"}}, 0},
			{nil, 0},
		} {
			err := last(through(answerOf(429, c.header, `{"error":{"message":"slow down"}}`)).Send(t.Context(), Request{}, codec()))
			e, _ := errors.AsType[*quire.CallError](err)
			if e == nil || e.Kind != quire.CallRate || e.After != c.want {
				t.Errorf("%v gives %+v, want %v", c.header, e, c.want)
			}
		}
	})
}

// TestProxy holds that calls go through the proxy that the environment names, and
// past it where it says so.
func TestProxy(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "asked for "+r.URL.Host, http.StatusTeapot)
	}))
	defer proxy.Close()
	for _, name := range []string{"HTTP_PROXY", "http_proxy"} {
		client := NewClient(variables(map[string]string{name: proxy.URL, "no_proxy": "direct.invalid"}))
		e := &Endpoint{Base: "http://provider.invalid", Client: client}
		if err := last(e.Send(t.Context(), Request{}, codec())); err == nil || !strings.Contains(err.Error(), "asked for provider.invalid") {
			t.Errorf("%s: the error is %v", name, err)
		}
		req, _ := http.NewRequest(http.MethodPost, "http://direct.invalid/", nil)
		if to, err := client.Transport.(*http.Transport).Proxy(req); to != nil || err != nil {
			t.Errorf("%s: what is to go past the proxy goes to %v, %v", name, to, err)
		}
		client.CloseIdleConnections()
	}
}

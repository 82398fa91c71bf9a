package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// embeddings is a small endpoint to which every text means the same but one that
// speaks of the kitchen: that is near to what asks for the cellar.
func embeddings(t *testing.T, broken *atomic.Bool, sent *strings.Builder) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Input []string `json:"input"`
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || r.Header.Get("Authorization") != "Bearer made-up" {
			t.Errorf("asked with %v, %v", r.Header, err)
		}
		if broken.Load() {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		type item struct {
			Index  int       `json:"index"`
			Vector []float32 `json:"embedding"`
		}
		var data []item
		for i, text := range q.Input {
			sent.WriteString(text + "\n")
			v := []float32{1, 0}
			if strings.Contains(text, "narwhal") || strings.Contains(text, "cellar") {
				v = []float32{0, 1}
			}
			data = append(data, item{i, v})
		}
		if err := json.NewEncoder(w).Encode(map[string][]item{"data": data}); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// Vectors are made when they are asked for, with masked texts; pages are then found
// by meaning too, by words alone where the endpoint fails, and without an endpoint
// nothing is sent.
func TestPagesAreFoundByMeaning(t *testing.T) {
	home, plants := t.TempDir(), toolPlants()
	plants[0].result = "the narwhal is in the bath"
	runAt(t, home, "import", plantTools(t, "/home/ann/shop", plants))
	var broken atomic.Bool
	var sent strings.Builder
	url := embeddings(t, &broken, &sent)
	run := func(want int, args ...string) (string, string) {
		t.Helper()
		var out, errOut bytes.Buffer
		a := app{dir: t.TempDir(), goos: "linux", build: builtFrom("v1.2.3", "")}
		env := newEnvironment([]string{"HOME=" + t.TempDir(), "QUIRE_HOME=" + home, "QUIRE_EMBED_URL=" + url, "QUIRE_EMBED_MODEL=small", "QUIRE_EMBED_KEY=made-up"})
		if code := a.Run(t.Context(), args, strings.NewReader(""), &out, &errOut, env); code != want {
			t.Fatalf("quire %v: code %d, %s", args, code, errOut.String())
		}
		return out.String(), errOut.String()
	}
	broken.Store(true)
	if _, told := run(1, "pool", "embed"); !strings.Contains(told, "goes on from there") {
		t.Errorf("told %q", told)
	}
	broken.Store(false)
	if out, _ := run(0, "pool", "embed", "--json"); !strings.Contains(out, `"sessions": 1`) {
		t.Errorf("embedded %s", out)
	}
	lookFor(t, plants, "what was sent", sent.String())
	if out, _ := run(0, "pool", "embed", "--json"); !strings.Contains(out, `"pieces": 0`) {
		t.Errorf("embedded again: %s", out)
	}
	if out, _ := run(0, "recall", "cellar"); !strings.Contains(out, "narwhal") {
		t.Errorf("found %s", out)
	}
	broken.Store(true)
	if out, told := run(0, "recall", "narwhal"); !strings.Contains(out, "narwhal") || !strings.Contains(told, "words alone") {
		t.Errorf("found %s, told %s", out, told)
	}
	before := sent.Len()
	if out := runAt(t, home, "recall", "narwhal"); !strings.Contains(out, "narwhal") || sent.Len() != before {
		t.Errorf("found %s; something was sent", out)
	}
}

// An endpoint is asked for by whoever wants vectors, with both settings.
func TestEmbedWantsAnEndpoint(t *testing.T) {
	home := t.TempDir()
	runAt(t, home, "import", plantTools(t, "/home/ann/shop", toolPlants()[:1]))
	for _, env := range [][]string{nil, {"QUIRE_EMBED_URL=http://localhost:1/v1"}} {
		var out, errOut bytes.Buffer
		a := app{dir: t.TempDir(), goos: "linux", build: builtFrom("v1.2.3", "")}
		code := a.Run(t.Context(), []string{"pool", "embed"}, strings.NewReader(""), &out, &errOut, newEnvironment(append(env, "HOME="+t.TempDir(), "QUIRE_HOME="+home)))
		if code != 2 || !strings.Contains(errOut.String(), "config set embed") {
			t.Errorf("code %d, %s", code, errOut.String())
		}
	}
}

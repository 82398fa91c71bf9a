package sim_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/quire-agent/quire/internal/sim"
)

// post sends a body to a simulator and is the answer.
func post(s http.Handler, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", path, strings.NewReader(body))
	r.Header.Set("X-Api-Key", "k")
	r.Header.Set("Anthropic-Version", "2023-06-01")
	r.Header.Set("Authorization", "Bearer k")
	r.Header.Set("X-Goog-Api-Key", "k")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// message is the text of an error in any of the forms.
func message(t *testing.T, body []byte) string {
	t.Helper()
	var e struct {
		Error struct{ Message string }
	}
	if err := json.Unmarshal(body, &e); err != nil {
		t.Fatalf("%v in %.200s", err, body)
	}
	return e.Error.Message
}

// filled puts images and long texts in their places.
func filled(t *testing.T, body string) string {
	t.Helper()
	body = regexp.MustCompile(`@png (\d+)x(\d+)@`).ReplaceAllStringFunc(body, func(m string) string {
		var w, h int
		size, _, _ := strings.Cut(m[len("@png "):], "@")
		left, right, _ := strings.Cut(size, "x")
		w, _ = strconv.Atoi(left)
		h, _ = strconv.Atoi(right)
		return picture(t, w, h)
	})
	return regexp.MustCompile(`@bytes \d+@`).ReplaceAllStringFunc(body, func(m string) string {
		n, _ := strconv.Atoi(strings.Trim(m[len("@bytes "):], "@"))
		return strings.Repeat("word ", n/5)
	})
}

// picture is a PNG in base64.
func picture(t *testing.T, width, height int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func paths() map[string]string {
	return map[string]string{
		"messages": "/v1/messages", "chat": "/v1/chat/completions", "responses": "/v1/responses",
		"gemini": "/v1beta/models/gemini-4-neon:generateContent",
	}
}

// failures.md A1, A2, A3, A4, A5, A6, A8, A9, A25
func TestRequests(t *testing.T) {
	for api, path := range paths() {
		cases, err := txtar.ParseFile(filepath.Join("testdata", api+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		s := make(t, sim.Options{})
		for _, c := range cases.Files {
			t.Run(api+"/"+c.Name, func(t *testing.T) { checkRequest(t, s, path, c) })
		}
	}
}

func checkRequest(t *testing.T, s http.Handler, path string, c txtar.File) {
	want, body, refused := "", string(c.Data), strings.HasPrefix(c.Name, "refuses ")
	if refused {
		want, body, _ = strings.Cut(body, "\n")
	}
	w := post(s, path, filled(t, body))
	if !refused {
		if w.Code != 200 {
			t.Errorf("status %d: %.400s", w.Code, w.Body)
		}
		return
	}
	if got := message(t, w.Body.Bytes()); w.Code != 400 || !strings.Contains(got, want) {
		t.Errorf("status %d, %q, want %q", w.Code, got, want)
	}
}

// Bodies are the vendors' to the byte.
func TestErrorBodies(t *testing.T) {
	s := make(t, sim.Options{Script: parsed(t, "turn always\n fail 429 after 1.5")})
	for _, c := range []struct{ path, body, want string }{
		{"/v1/messages", `{"max_tokens":1}`, `{"type":"error","error":{"type":"invalid_request_error","message":"model: Field required"},"request_id":"req_000001"}`},
		{"/v1/chat/completions", `{"model":"m"}`, `{"error":{"message":"Missing required parameter: 'messages'.","type":"invalid_request_error","param":"messages","code":"missing_required_parameter"}}`},
		{"/v1/responses", `{"model":"m","input":"hi"}`, `{"error":{"message":"This request would exceed your rate limit. Please try again later.","type":"requests","param":null,"code":"rate_limit_exceeded"}}`},
		{"/v1beta/models/m:generateContent", `{"contents":[{"parts":[{"text":"hi"}]}]}`, `{"error":{"code":429,"message":"This request would exceed your rate limit. Please try again later.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1.5s"}]}}`},
		{"/v1/files", `{}`, `{"type":"error","error":{"type":"not_found_error","message":"Not found"},"request_id":"req_0"}`},
	} {
		w := post(s, c.path, c.body)
		if got := w.Body.String(); got != c.want {
			t.Errorf("%s answers %s\nwant %s", c.path, got, c.want)
		}
		if w.Code == 429 && w.Header().Get("Retry-After") != "1.5" {
			t.Errorf("%s: Retry-After %q", c.path, w.Header().Get("Retry-After"))
		}
	}
}

func TestKeys(t *testing.T) {
	for _, c := range []struct {
		path, header, value string
		status              int
		want                string
	}{
		{"/v1/messages", "", "", 401, "x-api-key header is required"},
		{"/v1/messages", "X-Api-Key", "other", 401, "invalid x-api-key"},
		{"/v1/messages", "X-Api-Key", "mine", 400, "anthropic-version: header is required"},
		{"/v1/messages", "Authorization", "Bearer mine", 400, "anthropic-version: header is required"},
		{"/v1/chat/completions", "", "", 401, "You didn't provide an API key."},
		{"/v1/responses", "Authorization", "Bearer other", 401, "Incorrect API key provided."},
		{"/v1/responses", "Authorization", "Bearer mine", 400, "Missing required parameter: 'model'."},
		{"/v1beta/models/m:generateContent", "", "", 403, "Method doesn't allow unregistered callers"},
		{"/v1beta/models/m:generateContent", "X-Goog-Api-Key", "other", 400, "API key not valid."},
		{"/v1beta/models/m:generateContent?key=mine", "", "", 400, "contents is not specified"},
	} {
		s := make(t, sim.Options{Key: "mine"})
		r := httptest.NewRequest("POST", c.path, strings.NewReader("{}"))
		if c.header != "" {
			r.Header.Set(c.header, c.value)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if got := message(t, w.Body.Bytes()); w.Code != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%s with %s %s: %d, %q", c.path, c.header, c.value, w.Code, got)
		}
		q := s.Requests()[0]
		shown, _ := json.Marshal(q)
		if bytes.Contains(shown, []byte(`mine`)) || q.Status != c.status || (c.value == "") != (q.Credential == "") && !strings.Contains(c.path, "key=") {
			t.Errorf("%s with %s: recorded %s", c.path, c.header, shown)
		}
	}
}

// failures.md A26
func TestBodyLimit(t *testing.T) {
	s := make(t, sim.Options{Limits: sim.Limits{Body: 100}})
	for api, path := range paths() {
		w := post(s, path, `{"model":"`+strings.Repeat("m", 100)+`"}`)
		want, status := map[string]string{"messages": "Request exceeds the maximum size", "gemini": "Request payload size exceeds the limit: 100 bytes."}[api], 413
		if api == "gemini" {
			status = 400
		}
		if got := message(t, w.Body.Bytes()); w.Code != status || !strings.Contains(got, want) {
			t.Errorf("%s: %d, %q", api, w.Code, got)
		}
	}
}

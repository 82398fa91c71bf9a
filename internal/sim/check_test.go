package sim_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/sim"
	"github.com/quire-agent/quire/internal/wire/chat"
)

// What Check says of a call is what the simulator answers to it.
func TestCheckIsTheSimulator(t *testing.T) {
	s := make(t, sim.Options{})
	rapid.Check(t, func(t *rapid.T) {
		c := conversation(t)
		calls := 100
		c.Messages = append(c.Messages, round(t, &calls)...)
		if rapid.Bool().Draw(t, "broken") {
			rapid.SampledFrom(mutations()).Draw(t, "mutation").change(&c, len(c.Messages)-2)
		}
		for _, d := range dialects() {
			sent := c
			if d.name == "gemini" {
				sent.Model = "gemini-4-neon"
			} else {
				sent = unsigned(c)
			}
			err := sim.Check(sim.API(d.name), sent, sim.Limits{}, "")
			status, body := answered(t, s, d, c)
			var refused *quire.CallError
			if (err == nil) != (status == 200) || err != nil && (!errors.As(err, &refused) || !strings.Contains(unescaped(body), refused.Message)) {
				t.Fatalf("%s: %v, but %d %s", d.name, err, status, body)
			}
		}
	})
}

// unescaped is the message of an error body.
func unescaped(body string) string {
	var e struct {
		Error struct{ Message string }
	}
	if json.Unmarshal([]byte(body), &e) != nil {
		return ""
	}
	return e.Error.Message
}

func TestCheckSizes(t *testing.T) {
	c := long(quire.MarkNone)
	for _, api := range []sim.API{sim.Messages, sim.Chat, sim.Responses, sim.Gemini} {
		var refused *quire.CallError
		if err := sim.Check(api, c, sim.Limits{Body: 1000}, ""); !errors.As(err, &refused) || refused.Kind != quire.CallTooLarge {
			t.Errorf("%s: %v", api, err)
		}
		if err := sim.Check(api, c, sim.Limits{}, ""); err != nil {
			t.Errorf("%s: %v", api, err)
		}
	}
	c.Messages[0].Blocks = append(c.Messages[0].Blocks, quire.Block{Part: quire.Part{Kind: quire.PartToolCall, Text: "{"}})
	if err := sim.Check(sim.Messages, c, sim.Limits{}, ""); err == nil || errors.As(err, new(*quire.CallError)) {
		t.Errorf("arguments that are no JSON: %v", err)
	}
}

// Images count in requests, whatever message they stand in.
func TestImageLimits(t *testing.T) {
	s := make(t, sim.Options{Limits: sim.Limits{Images: 22, ImageBytes: 150}})
	one := func(w, h int) string {
		return `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + picture(t, w, h) + `"}}`
	}
	body := func(images ...string) string {
		return `{"model":"claude-opus-5","max_tokens":9,"messages":[{"role":"user","content":[` + strings.Join(images, ",") + `]}]}`
	}
	times := func(n int, image string) []string {
		list := []string{}
		for range n {
			list = append(list, image)
		}
		return list
	}
	for name, c := range map[string]struct{ body, want string }{
		"one wide":    {body(one(2001, 1)), ""},
		"many":        {body(times(21, one(2000, 1))...), ""},
		"many, wide":  {body(times(21, one(2001, 1))...), "exceed max allowed size: 2000 pixels"},
		"too many":    {body(times(23, one(1, 1))...), "messages: too many images: 23 > 22"},
		"a large one": {body(one(1500, 1500)), "image exceeds 0 MB maximum"},
	} {
		w := post(s, "/v1/messages", c.body)
		if got := unescaped(w.Body.String()); (c.want == "") != (w.Code == 200) || !strings.Contains(got, c.want) {
			t.Errorf("%s: %d, %q", name, w.Code, got)
		}
	}
}

// Where a cache keeps answers, an answer that is sent back is read.
func TestCachedAnswers(t *testing.T) {
	s := make(t, sim.Options{Script: parsed(t, "turn always\n words 200")})
	body := `{"model":"deepseek-chat","messages":[{"role":"user","content":"hello"}]}`
	first, err := chat.DecodeReply(post(s, "/v1/chat/completions", body).Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for answer, read := range map[string]bool{first.Blocks[0].Text: true, strings.ToUpper(first.Blocks[0].Text): false} {
		quoted, _ := json.Marshal(answer)
		again := make(t, sim.Options{Script: parsed(t, "turn always\n words 200")})
		post(again, "/v1/chat/completions", body)
		w := post(again, "/v1/chat/completions", `{"model":"deepseek-chat","messages":[{"role":"user","content":"hello"},{"role":"assistant","content":`+string(quoted)+`},{"role":"user","content":"and?"}]}`)
		second, err := chat.DecodeReply(w.Body.Bytes())
		if err != nil || (second.Usage.CacheRead > 200) != read {
			t.Errorf("an answer unchanged: %v, usage %+v, %v", read, second.Usage, err)
		}
	}
}

// get asks for a list.
func get(s http.Handler, path, header, key string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", path, nil)
	r.Header.Set(header, key)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func TestLists(t *testing.T) {
	s := make(t, sim.Options{Key: "k"})
	for _, c := range []struct{ path, header, key, want string }{
		{"/v1/models", "Authorization", "Bearer k", `"id":"gpt-6.2-sol","object":"model"`},
		{"/v1beta/models", "X-Goog-Api-Key", "k", `"name":"models/gemini-4-neon"`},
		{"/v1/models", "Authorization", "Bearer x", `"code":"invalid_api_key"`},
		{"/v1beta/models", "X-Goog-Api-Key", "x", "API key not valid."},
		{"/v1/batches", "Authorization", "Bearer k", "Invalid URL (GET /v1/batches)"},
	} {
		if got := get(s, c.path, c.header, c.key).Body.String(); !strings.Contains(got, c.want) {
			t.Errorf("%s with %s: %s", c.path, c.key, got)
		}
	}
	w := post(s, "/v1beta/models/gemini-4-neon:countTokens", `{"contents":[{"parts":[{"text":"hello there"}]}]}`)
	if got := w.Body.String(); !strings.HasPrefix(got, `{"totalTokens":`) {
		t.Error(got)
	}
	var list []sim.Request
	if err := json.Unmarshal(get(s, "/sim/requests", "", "").Body.Bytes(), &list); err != nil || len(list) != 1 || list[0].Prompt == 0 || list[0].Status != 200 {
		t.Errorf("%+v, %v", list, err)
	}
}

// A call that no turn answers is told to the client and to the owner.
func TestNoTurn(t *testing.T) {
	var told error
	s, err := sim.New(sim.Options{Counter: counter(t), Script: parsed(t, ""), Failed: func(err error) { told = err }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w := post(s, "/v1/messages", hello)
	if got := unescaped(w.Body.String()); w.Code != 400 || !strings.Contains(got, "no turn of the script is left that fits") || told == nil {
		t.Errorf("%d, %q, told %v", w.Code, got, told)
	}
}

package sim_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/sim"
	"github.com/quire-agent/quire/internal/wire/anthropic"
	"github.com/quire-agent/quire/internal/wire/chat"
	"github.com/quire-agent/quire/internal/wire/gemini"
	"github.com/quire-agent/quire/internal/wire/responses"
)

// conversation draws a call that every API takes: turns of the user, each with
// rounds of one to three parallel calls and their results in any order.
func conversation(t *rapid.T) quire.Call {
	c := quire.Call{Model: "claude-opus-5", MaxOutput: 50, Tools: []quire.ToolSpec{
		{Name: "read", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "list", Description: "Lists.", Schema: json.RawMessage(`{"type":"object"}`)},
	}}
	words := rapid.SampledFrom([]string{"hello", "日本", "go on, please", "x\ny", `"quoted"`})
	for range rapid.IntRange(0, 2).Draw(t, "system") {
		c.System = append(c.System, text(quire.PartSystem, words.Draw(t, "system")))
	}
	turns, calls := rapid.IntRange(1, 3).Draw(t, "turns"), 0
	for turn := range turns {
		c.Messages = append(c.Messages, quire.Message{Role: quire.RoleUser, Blocks: []quire.Block{text(quire.PartUser, words.Draw(t, "user"))}})
		for range rapid.IntRange(0, 3).Draw(t, "rounds") {
			c.Messages = append(c.Messages, round(t, &calls)...)
		}
		if turn < turns-1 {
			c.Messages = append(c.Messages, quire.Message{Role: quire.RoleAssistant, Blocks: []quire.Block{text(quire.PartText, words.Draw(t, "answer"))}})
		}
	}
	return c
}

// round is an answer with calls, and their results.
func round(t *rapid.T, calls *int) []quire.Message {
	answer, results := quire.Message{Role: quire.RoleAssistant}, quire.Message{Role: quire.RoleTool}
	if rapid.Bool().Draw(t, "says") {
		answer.Blocks = append(answer.Blocks, text(quire.PartText, "I look."))
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "calls") {
		*calls++
		id := fmt.Sprintf("call_%d", *calls)
		tool := rapid.SampledFrom([]string{"read", "list"}).Draw(t, "tool")
		call := quire.Block{Part: quire.Part{Kind: quire.PartToolCall, ToolUse: id, Tool: tool, Text: fmt.Sprintf(`{"n":%d}`, *calls)}}
		if i == 0 {
			call.Signature = "skip_thought_signature_validator"
		}
		answer.Blocks = append(answer.Blocks, call)
		results.Blocks = append(results.Blocks, quire.Block{Part: quire.Part{Kind: quire.PartToolResult, ToolUse: id, Tool: tool, Text: "result of " + id}})
	}
	results.Blocks = rapid.Permutation(results.Blocks).Draw(t, "results")
	return []quire.Message{answer, results}
}

// A dialect is how a call is sent to an API.
type dialect struct {
	name, path string
	encode     func(quire.Call) ([]byte, error)
}

func dialects() []dialect {
	var list []dialect
	for _, d := range []dialect{{name: "messages", encode: anthropic.EncodeCall}, {name: "chat", encode: chat.EncodeCall}, {name: "responses", encode: responses.EncodeCall}, {name: "gemini", encode: gemini.EncodeCall}} {
		d.path = paths()[d.name]
		list = append(list, d)
	}
	return list
}

// answered is the status and the message for a call.
func answered(t *rapid.T, s *sim.Sim, d dialect, c quire.Call) (int, string) {
	if d.name != "gemini" {
		c = unsigned(c)
	}
	body, err := d.encode(c)
	if err != nil {
		t.Fatal(err)
	}
	w := post(s, d.path, string(body))
	return w.Code, w.Body.String()
}

// unsigned is a call without the signatures that one API wants.
func unsigned(c quire.Call) quire.Call {
	c.Messages = slices.Clone(c.Messages)
	for i, m := range c.Messages {
		blocks := slices.Clone(m.Blocks)
		for k := range blocks {
			blocks[k].Signature = ""
		}
		c.Messages[i].Blocks = blocks
	}
	return c
}

func TestValidConversations(t *testing.T) {
	s := make(t, sim.Options{})
	rapid.Check(t, func(t *rapid.T) {
		c := conversation(t)
		for _, d := range dialects() {
			if status, body := answered(t, s, d, c); status != 200 {
				t.Fatalf("%s: %d %s", d.name, status, body)
			}
		}
	})
}

// A mutation breaks a call in one way, at the round that stands at message i: the
// answer with its calls there, the results behind it.
type mutation struct {
	name   string
	change func(c *quire.Call, i int)
	want   map[string]string // by API; one that is not there takes the call
}

func mutations() []mutation {
	results := func(c *quire.Call, i int) *[]quire.Block {
		c.Messages = slices.Clone(c.Messages)
		m := &c.Messages[i+1]
		m.Blocks = slices.Clone(m.Blocks)
		return &m.Blocks
	}
	pair := "Please ensure that the number of function response parts"
	return []mutation{
		{"a result is missing", func(c *quire.Call, i int) {
			if b := results(c, i); len(*b) > 1 {
				*b = (*b)[1:]
				return
			}
			c.Messages[i+1] = quire.Message{Role: quire.RoleUser, Blocks: []quire.Block{text(quire.PartUser, "wait")}}
		}, map[string]string{
			"messages": "`tool_use` ids were found without `tool_result` blocks immediately after", "chat": "did not have response messages", "responses": "No tool output found for function call", "gemini": "Please ensure that"}},
		{"a result is there twice", func(c *quire.Call, i int) { b := results(c, i); *b = append(*b, (*b)[0]) }, map[string]string{
			"messages": "each tool_use must have a single result", "chat": "must be a response to a preceeding message", "responses": "Duplicate function call output", "gemini": pair}},
		{"a result is of another call", func(c *quire.Call, i int) { b := results(c, i); (*b)[0].ToolUse = "call_0" }, map[string]string{
			"messages": "`tool_use` ids were found without", "chat": "must be a response to a preceeding message", "responses": "No tool call found for function call output with call_id call_0", "gemini": pair}},
		{"the calls are missing", func(c *quire.Call, i int) { c.Messages = slices.Delete(slices.Clone(c.Messages), i, i+1) }, map[string]string{
			"messages": "unexpected `tool_use_id` found", "chat": "must be a response to a preceeding message", "responses": "No tool call found", "gemini": "Please ensure that"}},
		{"the results are missing", func(c *quire.Call, i int) { c.Messages = slices.Delete(slices.Clone(c.Messages), i+1, i+2) }, map[string]string{
			"messages": "`tool_use` ids were found without", "chat": "did not have response messages", "responses": "No tool output found", "gemini": "Please ensure that"}},
		{"the user comes between", func(c *quire.Call, i int) {
			c.Messages = slices.Insert(slices.Clone(c.Messages), i+1, quire.Message{Role: quire.RoleUser, Blocks: []quire.Block{text(quire.PartUser, "wait")}})
		}, map[string]string{
			"messages": "`tool_use` ids were found without", "chat": "did not have response messages", "gemini": "Please ensure that"}},
		{"an id is used again", func(c *quire.Call, i int) {
			c.Messages = slices.Insert(slices.Clone(c.Messages), i, c.Messages[i], c.Messages[i+1])
		}, map[string]string{"messages": "`tool_use` ids must be unique", "responses": "Duplicate function call"}},
		{"a text is empty", func(c *quire.Call, i int) {
			c.Messages = append(slices.Clone(c.Messages), quire.Message{Role: quire.RoleUser, Blocks: []quire.Block{text(quire.PartUser, ""), text(quire.PartUser, "a")}})
		}, map[string]string{"messages": "text content blocks must be non-empty"}},
		{"a member is not known", func(c *quire.Call, i int) {
			c.Rest = append(c.Rest, quire.Field{Name: "wish", Value: json.RawMessage("1")})
		}, map[string]string{
			"messages": "wish: Extra inputs are not permitted", "chat": "Unrecognized request argument supplied: wish", "responses": "Unknown parameter: 'wish'", "gemini": `Unknown name \"wish\"`}},
		{"two tools have one name", func(c *quire.Call, i int) { c.Tools = append(slices.Clone(c.Tools), c.Tools[0]) }, map[string]string{
			"messages": "Tool names must be unique", "chat": "tool names must be unique", "responses": "tool names must be unique", "gemini": "Duplicate function declaration"}},
		{"an image is none", func(c *quire.Call, i int) {
			c.Messages = append(slices.Clone(c.Messages), quire.Message{Role: quire.RoleUser, Blocks: []quire.Block{{Part: quire.Part{Kind: quire.PartImage, Media: &quire.Media{Type: "image/png"}, Data: "none"}}}})
		}, map[string]string{"messages": "Could not process image", "chat": "unsupported image", "responses": "unsupported image", "gemini": "Unable to process input image"}},
		{"there are five breakpoints", func(c *quire.Call, i int) {
			m := quire.Message{Role: quire.RoleUser}
			for range 5 {
				b := text(quire.PartUser, "a")
				b.Cache = quire.MarkShort
				m.Blocks = append(m.Blocks, b)
			}
			c.Messages = append(slices.Clone(c.Messages), m)
		}, map[string]string{"messages": "A maximum of 4 blocks with cache_control", "chat": "at most 4 may be set", "responses": "at most 4 may be set"}},
	}
}

// failures.md A1, A2, A4, A5, A6
func TestBrokenConversations(t *testing.T) {
	s := make(t, sim.Options{})
	rapid.Check(t, func(t *rapid.T) {
		c := conversation(t)
		// So that there is a round, and something behind it.
		calls := 100
		c.Messages = append(c.Messages, round(t, &calls)...)
		c.Messages = append(c.Messages, quire.Message{Role: quire.RoleAssistant, Blocks: []quire.Block{text(quire.PartText, "So.")}},
			quire.Message{Role: quire.RoleUser, Blocks: []quire.Block{text(quire.PartUser, "and?")}})
		var rounds []int
		for i, m := range c.Messages {
			if m.Role == quire.RoleTool {
				rounds = append(rounds, i-1)
			}
		}
		m := rapid.SampledFrom(mutations()).Draw(t, "mutation")
		m.change(&c, rapid.SampledFrom(rounds).Draw(t, "round"))
		for _, d := range dialects() {
			status, body := answered(t, s, d, c)
			if want := m.want[d.name]; want == "" && status != 200 || want != "" && (status != 400 || !strings.Contains(body, want)) {
				t.Fatalf("%s, %s: %d %s, want %q", m.name, d.name, status, body, want)
			}
		}
	})
}

// FuzzRequests: no body makes the simulator panic, and each is answered.
func FuzzRequests(f *testing.F) {
	for _, body := range []string{
		hello, `{"model":"m","messages":[{"role":"tool","tool_call_id":"a","content":[]},{"role":"assistant","tool_calls":[{}]}]}`,
		`{"model":"m","input":[{"type":"reasoning","summary":[]},{"type":"function_call_output"},{"role":"user","content":[{}]}]}`,
		`{"contents":[{"role":"function","parts":[{"functionResponse":{"name":"a"}}]},{"parts":null}],"tools":[{"functionDeclarations":[{}]}]}`,
		`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"","content":[{"type":"document","source":{}}]}]}],"cache_control":7,"thinking":{"type":"enabled","budget_tokens":1e3}}`,
	} {
		f.Add(body)
	}
	s := make(f, sim.Options{})
	f.Fuzz(func(t *testing.T, body string) {
		for api, path := range paths() {
			if w := post(s, path, body); w.Code != 200 && w.Code != 400 || !json.Valid(w.Body.Bytes()) && !strings.Contains(body, "stream") {
				t.Errorf("%s: %d %q", api, w.Code, w.Body)
			}
		}
	})
}

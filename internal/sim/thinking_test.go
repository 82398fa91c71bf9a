package sim_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/sim"
	"github.com/quire-agent/quire/internal/wire/anthropic"
)

// thought is a conversation of three answers with thinking, made by a simulator.
func thought(t *testing.T, s http.Handler, model string) quire.Call {
	t.Helper()
	c := long(quire.MarkNone)
	c.Model, c.MaxOutput, c.Thinking = model, 2000, quire.Thinking{Mode: "enabled", Budget: 1024}
	c.Tools = []quire.ToolSpec{{Name: "read", Schema: json.RawMessage(`{"type":"object"}`)}}
	for range 3 {
		r := said(t, s, c)
		call := r.Blocks[len(r.Blocks)-1]
		result := quire.Block{Part: quire.Part{Kind: quire.PartToolResult, ToolUse: call.ToolUse, Text: "done " + call.ToolUse}}
		c.Messages = append(c.Messages, quire.Message{Role: quire.RoleAssistant, Blocks: r.Blocks}, quire.Message{Role: quire.RoleUser, Blocks: []quire.Block{result}})
	}
	return c
}

const loop = "turn always\n think step ${call}\n call read {\"n\": ${call}}"

// refused is why a call is refused, "" when it is not.
func refused(t *testing.T, s http.Handler, c quire.Call) string {
	t.Helper()
	body, err := anthropic.EncodeCall(c)
	if err != nil {
		t.Fatal(err)
	}
	w := post(s, "/v1/messages", string(body))
	if w.Code == 200 {
		return ""
	}
	return message(t, w.Body.Bytes())
}

// edit is a copy of a call whose message i has other blocks.
func edit(c quire.Call, i int, change func([]quire.Block) []quire.Block) quire.Call {
	c.Messages = append([]quire.Message(nil), c.Messages...)
	c.Messages[i].Blocks = change(append([]quire.Block(nil), c.Messages[i].Blocks...))
	return c
}

func withoutThinking(blocks []quire.Block) []quire.Block { return blocks[1:] }

// failures.md A8, A9, A10
func TestBoundThinking(t *testing.T) {
	const bound, invalid = "bound to a different conversation", "Invalid `signature`"
	longer := func(b []quire.Block) []quire.Block { b[0].Text += "."; return b }
	marked := func(b []quire.Block) []quire.Block { b[0].Cache = quire.MarkShort; return b }
	for _, c := range []struct {
		name   string
		change func(quire.Call) quire.Call
		free   string // why it is refused where thinking is not bound to its prefix
		bound  string // and where it is
	}{
		{"nothing", func(c quire.Call) quire.Call { return c }, "", ""},
		{"a mark", func(c quire.Call) quire.Call { return edit(c, 2, marked) }, "", ""},
		{"a setting", func(c quire.Call) quire.Call { c.MaxOutput++; return c }, "", ""},
		{"an early result", func(c quire.Call) quire.Call { return edit(c, 2, longer) }, "", "messages.3.content.0: " + invalid + " in `thinking` block. The block is " + bound},
		{"the last result", func(c quire.Call) quire.Call { return edit(c, 6, longer) }, "", ""},
		{"the first words", func(c quire.Call) quire.Call { return edit(c, 0, longer) }, "", bound},
		{"the system prompt", func(c quire.Call) quire.Call { c.System = nil; return c }, "", bound},
		{"a tool", func(c quire.Call) quire.Call {
			c.Tools = append(c.Tools[:1:1], quire.ToolSpec{Name: "x", Schema: c.Tools[0].Schema})
			return c
		}, "", bound},
		{"the first thinking", func(c quire.Call) quire.Call { return edit(c, 1, withoutThinking) }, "", ""},
		{"the first two", func(c quire.Call) quire.Call { return edit(edit(c, 1, withoutThinking), 3, withoutThinking) }, "", ""},
		{"one between others", func(c quire.Call) quire.Call { return edit(c, 3, withoutThinking) }, "", bound},
		{"a word of thinking", func(c quire.Call) quire.Call { return edit(c, 1, longer) }, invalid, invalid},
		{"the model", func(c quire.Call) quire.Call { c.Model += "-x"; return c }, invalid, invalid},
	} {
		for _, model := range []string{"claude-opus-5", "claude-opus-5-5"} {
			for _, always := range []bool{false, true} {
				want := c.free
				if always || model == "claude-opus-5-5" {
					want = c.bound
				}
				s := make(t, sim.Options{Script: parsed(t, loop), Limits: sim.Limits{BoundThinking: always}, Secret: "s"})
				got := refused(t, s, c.change(thought(t, s, model)))
				if (got == "") != (want == "") || !strings.Contains(got, want) {
					t.Errorf("%s, %s, always %v: %q, want %q", c.name, model, always, got, want)
				}
			}
		}
	}
}

// Thinking of another prefix is dropped where the client wants that, with all that
// follows it.
func TestDroppedThinking(t *testing.T) {
	s := make(t, sim.Options{Script: parsed(t, loop)})
	c := thought(t, s, "claude-opus-5-5")
	whole := said(t, s, c).Usage.Prompt()
	c.Thinking.Rest = []quire.Field{{Name: "block_binding", Value: json.RawMessage(`{"prefix_mismatch_behavior":"drop_block"}`)}}
	c = edit(c, 2, func(b []quire.Block) []quire.Block { b[0].Text += "."; return b })
	u := said(t, s, c).Usage
	list := s.Requests()
	if dropped := list[len(list)-1].Dropped; dropped != 2 || u.Prompt() >= whole {
		t.Errorf("%d blocks dropped, %d tokens of %d", dropped, u.Prompt(), whole)
	}
}

// Simulators with one secret take each other's thinking, others do not.
func TestSecrets(t *testing.T) {
	a, b, c := sim.Options{Script: parsed(t, loop), Secret: "a"}, sim.Options{Secret: "a"}, sim.Options{Secret: "c"}
	conversation := thought(t, make(t, a), "claude-opus-5-5")
	if why := refused(t, make(t, b), conversation); why != "" {
		t.Error(why)
	}
	if why := refused(t, make(t, c), conversation); !strings.Contains(why, "Invalid `signature`") {
		t.Errorf("another secret: %q", why)
	}
}

// Thinking that was not asked for is not shown.
func TestThinkingUnasked(t *testing.T) {
	s := make(t, sim.Options{Script: parsed(t, "turn always\n think so\n say it")})
	for mode, want := range map[string]int{"": 1, "disabled": 1, "adaptive": 2} {
		c := long(quire.MarkNone)
		c.Thinking.Mode = mode
		if r := said(t, s, c); len(r.Blocks) != want {
			t.Errorf("%q: %d blocks", mode, len(r.Blocks))
		}
	}
}

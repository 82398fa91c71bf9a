package gateway

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/sim"
	"github.com/quire-agent/quire/internal/wire/anthropic"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// list is the list of messages of a request that went up.
func (s *scene) list(r sim.Request) []json.RawMessage {
	name := map[API]string{Messages: "messages", Chat: "messages", Responses: "input", Gemini: "contents"}[s.api]
	return rawjson.Elements(rawjson.Get(rawjson.Members(r.Body), name))
}

// extends holds I1 over the network: the list of a request begins with that of the
// one before it, cache marks aside.
func (s *scene) extends(from int) {
	s.t.Helper()
	all := s.sim.Requests()
	for i := from + 1; i < len(all); i++ {
		before, after := s.list(all[i-1]), s.list(all[i])
		if len(after) < len(before) {
			s.t.Errorf("request %d has %d elements, the one before it %d", i+1, len(after), len(before))
		}
		for k := range before[:min(len(before), len(after))] {
			if a, b := unmarkedText(before[k]), unmarkedText(after[k]); a != b {
				s.t.Fatalf("request %d, element %d: was\n%.600s\nis\n%.600s", i+1, k, a, b)
			}
		}
	}
}

// unmarkedText is an element without marks, a text as a list of one block.
func unmarkedText(raw json.RawMessage) string {
	raw = bytes.ReplaceAll(raw, []byte(`,"cache_control":{"type":"ephemeral"}`), nil)
	raw = bytes.ReplaceAll(raw, []byte(`"content":[{"type":"text","text":`), []byte(`"content":[`))
	return string(bytes.ReplaceAll(raw, []byte(`"}]`), []byte(`"]`)))
}

// G13, G5: a gateway that starts goes on with the streams of the one before it, byte
// for byte, what was recalled in them too.
//
// design.md G5, G13
func TestStreamsSurvive(t *testing.T) {
	for _, a := range apis() {
		t.Run(string(a.api), func(t *testing.T) {
			s := worked(t, a.api, a.model, false, looksBack)
			s.say("look back at the first file")
			first := len(s.sim.Requests())
			_, l := s.ask()
			s.fine(l)
			s.restart()
			s.say("go on")
			_, l = s.ask()
			s.fine(l)
			if !l.Curated || l.Epoch != "" {
				t.Errorf("behind the restart: %s", callText(t, l))
			}
			s.restart()
			s.work(5, 2)
			s.valid()
			s.extends(first)
		})
	}
}

// G14: the same view without an answer is the same bytes.
//
// design.md G14
func TestRetriesAreTheSameBytes(t *testing.T) {
	const busy = "turn 2 times\n when user contains try this\n fail 529 overloaded\nturn\n when user contains try this\n say It went."
	s := worked(t, Messages, "claude-sonnet-4-5", true, busy)
	s.say("try this")
	for range 2 {
		if r, _ := s.send(); r.StatusCode != 529 {
			t.Fatalf("status %d", r.StatusCode)
		}
		s.world.line()
	}
	s.restart()
	_, l := s.ask()
	s.fine(l)
	all := s.sim.Requests()
	for i := len(all) - 2; i < len(all); i++ {
		if !bytes.Equal(all[i].Body, all[len(all)-3].Body) {
			t.Errorf("request %d differs from the one before", i+1)
		}
	}
}

// G2: a fork inherits the rendered bytes of its ancestors, and the branch that was
// left lives on. An answered view that is sent again is a sibling.
//
// design.md G2
func TestForks(t *testing.T) {
	s := worked(t, Messages, "claude-sonnet-4-5", false, "turn always\n when user contains way\n say So be it.")
	first := len(s.sim.Requests())
	trunk := s.call.Messages
	s.say("one way")
	_, l := s.ask()
	s.fine(l)
	left := s.call.Messages
	s.call.Messages = trunk[:len(trunk):len(trunk)]
	s.say("another way")
	_, l = s.ask()
	s.fine(l)
	if !l.Curated || l.Branch == "" {
		t.Errorf("the fork: %s", callText(t, l))
	}
	s.call.Messages = left
	s.say("go on that way")
	_, l = s.ask()
	s.fine(l)
	if !l.Curated || l.Branch != "" {
		t.Errorf("the branch that was left: %s", callText(t, l))
	}
	s.valid()
	all := s.sim.Requests()
	one, other := s.list(all[first]), s.list(all[first+1])
	for i := range len(one) - 1 {
		if unmarkedText(one[i]) != unmarkedText(other[i]) {
			t.Fatalf("element %d differs between the branches", i)
		}
	}
	s.call.Messages = s.call.Messages[:len(s.call.Messages)-1]
	_, l = s.ask()
	s.fine(l)
	s.valid()
	all = s.sim.Requests()
	if n := len(all); !bytes.Equal(all[n-1].Body, all[n-2].Body) {
		t.Errorf("the same view went up as other bytes: %s", difference(all[n-1].Body, all[n-2].Body))
	}
}

// G3: what the client clears stays in our stream, as long as that is cheaper: here it
// is one result.
//
// design.md G3
func TestClearedResultsStay(t *testing.T) {
	s := worked(t, Messages, "claude-sonnet-4-5", false, looksBack)
	s.say("look back at it")
	_, l := s.ask()
	s.fine(l)
	first := len(s.sim.Requests()) - 1
clearing:
	for i := range s.call.Messages {
		blocks := s.call.Messages[i].Blocks
		for j := range blocks {
			if blocks[j].Kind == quire.PartToolResult {
				blocks[j].Text = "[cleared]"
				break clearing
			}
		}
	}
	s.say("go on")
	_, l = s.ask()
	s.fine(l)
	if l.Cleared == 0 {
		t.Errorf("nothing was cleared: %s", callText(t, l))
	}
	s.valid()
	s.extends(first)
}

// G9: another model, other tools or another system prompt are a free epoch behind a
// finished loop, and pass within one.
//
// design.md G9
func TestChangesByTheClient(t *testing.T) {
	s := worked(t, Messages, "claude-sonnet-4-5", false, looksBack)
	s.work(5, 6)
	s.restart()
	s.call.Model = "claude-opus-4-5"
	s.work(6, 6)
	s.call.Tools = append(s.call.Tools, quire.ToolSpec{Name: "web", Schema: json.RawMessage(`{"type":"object"}`)})
	s.work(7, 6)
	s.call.System[0].Text = "You work on another project."
	s.work(8, 6)
	s.valid()
	tools := rawjson.Elements(rawjson.Get(rawjson.Members(s.last().Body), "tools"))
	if len(tools) != 4 || !strings.Contains(string(tools[3]), `"recall"`) {
		t.Errorf("the list of tools is %s", tools)
	}
}

// G14, I7: a prompt that its provider finds too long is made smaller and sent once
// more; the session was not curated before.
//
// design.md G14
func TestTooLong(t *testing.T) {
	s := newScene(t, Messages, "claude-sonnet-4-5", rounds, sim.Limits{Window: 60_000})
	s.call.MaxOutput = 2000
	forced := 0
	for turn := range 14 {
		s.say("do step " + string(rune('a'+turn)))
		for range 6 {
			r, l := s.ask()
			s.fine(l)
			if strings.HasPrefix(l.Epoch, quire.EpochForced) {
				forced++
			}
			s.results(r, listing("part", 60))
		}
		_, l := s.ask()
		s.fine(l)
	}
	if forced == 0 {
		t.Error("no forced epoch began")
	}
	refused := 0
	for _, r := range s.sim.Requests() {
		if r.Refused != "" {
			refused++
		}
	}
	if refused > forced {
		t.Errorf("%d requests were refused, %d epochs were forced", refused, forced)
	}
}

// G10: our marks take the place of the client's, with the longest lifetime that it
// asked for; where it asks for none there are none. G15: what would clear handles is
// consumed, and what keeps thinking passes.
//
// design.md G10, G15
func TestMarksAndServerSideEditing(t *testing.T) {
	for _, c := range []struct {
		name string
		mark quire.Mark
		want string
		not  string
	}{
		{"none", quire.MarkNone, `"recall"`, `"cache_control"`},
		{"short", quire.MarkShort, `"cache_control":{"type":"ephemeral"}`, `"1h"`},
		{"long", quire.MarkLong, `"cache_control":{"type":"ephemeral","ttl":"1h"}`, `"cache_control":{"type":"ephemeral"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t, Messages, "claude-sonnet-4-5", rounds, sim.Limits{})
			s.call.System[0].Cache = c.mark
			for turn := range 4 {
				s.work(turn, 6)
			}
			s.clock.pass(26 * time.Hour)
			s.call.Thinking = quire.Thinking{Mode: "adaptive"}
			s.call.Rest = []quire.Field{{Name: "context_management", Value: json.RawMessage(`{"edits":[{"type":"clear_thinking_20251015","keep":"all"},{"type":"clear_tool_uses_20250919"}]}`)}}
			s.say("more")
			_, l := s.ask()
			s.fine(l)
			body := string(s.last().Body)
			if !l.Curated || !strings.Contains(body, c.want) || strings.Contains(body, c.not) {
				t.Errorf("want %s and not %s in %.1500s", c.want, c.not, body)
			}
			if !strings.Contains(body, "clear_thinking_20251015") || strings.Contains(body, "clear_tool_uses") {
				t.Errorf("the edits: %.1500s", body[len(body)-800:])
			}
		})
	}
}

// difference is where two bodies differ first.
func difference(a, b []byte) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	from := max(0, i-200)
	return string(a[from:min(len(a), i+200)]) + "\nand\n" + string(b[from:min(len(b), i+200)])
}

// G11: a count of a known chain is that of the stream.
//
// design.md G11
func TestCountOfTheStream(t *testing.T) {
	s := worked(t, Messages, "claude-sonnet-4-5", false, looksBack)
	s.say("go on")
	c := s.call
	c.MaxOutput = 0
	body, err := anthropic.EncodeCall(c)
	if err != nil {
		t.Fatal(err)
	}
	r, text := post(t, s.world.url+"/v1/messages/count_tokens", string(body))
	var count struct {
		Tokens int64 `json:"input_tokens"`
	}
	if err := json.Unmarshal(text, &count); err != nil || r.StatusCode != 200 {
		t.Fatalf("%d %s", r.StatusCode, text)
	}
	_, l := s.ask()
	s.fine(l)
	if d := l.Usage.Prompt() - count.Tokens; d < -8 || d > 8 {
		t.Errorf("the count is %d, the prompt was %d", count.Tokens, l.Usage.Prompt())
	}
}

package gateway

import (
	"bytes"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/anthropic"
	"github.com/quire-agent/quire/internal/wire/responses"
)

// sums decodes the messages of a Messages call and gives their canonical hashes.
func sums(t testing.TB, messages string) []quire.Hash {
	t.Helper()
	c, err := anthropic.DecodeCall([]byte(`{"model":"m","max_tokens":1,"messages":` + messages + `}`))
	if err != nil {
		t.Fatal(err)
	}
	return hashes(canonical(c.Messages))
}

func hashes(list []message) (out []quire.Hash) {
	for _, m := range list {
		out = append(out, m.sum)
	}
	return out
}

// What says nothing to the model is no part of a message's identity.
//
// design.md G1
func TestCanonLeavesOut(t *testing.T) {
	for _, c := range []struct {
		what, a, b string
		differ     bool
	}{
		{"a string is one text", `[{"role":"user","content":"hi"}]`, `[{"role":"user","content":[{"type":"text","text":"hi"}]}]`, false},
		{"cache marks", `[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}]`, `[{"content":"hi","role":"user"}]`, false},
		{"an empty text", `[{"role":"assistant","content":[{"type":"text","text":""},{"type":"text","text":"a"}]}]`, `[{"role":"assistant","content":"a"}]`, false},
		{"thinking", `[{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"s"},{"type":"text","text":"a"}]}]`, `[{"role":"assistant","content":"a"}]`, false},
		{"order and escapes of arguments", `[{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"r","input":{"a":1,"b":"é"}}]}]`, `[{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"r","input":{ "b":"\u00e9", "a":1}}]}]`, false},
		{"what the model said in a row", `[{"role":"assistant","content":"a"},{"role":"assistant","content":"b"}]`, `[{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]`, false},
		{"a result as a string", `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"x"}]}]`, `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"x"}]}]}]`, false},
		{"another call", `[{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"r","input":{}}]}]`, `[{"role":"assistant","content":[{"type":"tool_use","id":"d","name":"r","input":{}}]}]`, true},
		{"another role", `[{"role":"user","content":"a"}]`, `[{"role":"assistant","content":"a"}]`, true},
		{"blocks cut elsewhere", `[{"role":"user","content":[{"type":"text","text":"ab"},{"type":"text","text":"c"}]}]`, `[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"bc"}]}]`, true},
		{"digits of numbers", `[{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"r","input":{"a":1.0}}]}]`, `[{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"r","input":{"a":1}}]}]`, true},
	} {
		a, b := sums(t, c.a), sums(t, c.b)
		if same := len(a) == 1 && len(b) == 1 && a[0] == b[0]; same == c.differ {
			t.Errorf("%s: the same is %v", c.what, same)
		}
	}
}

// Ids of items and encrypted reasoning are no part of it, and tools in the input
// are no message.
func TestCanonOfResponses(t *testing.T) {
	view := func(input string) *view {
		c, err := responses.DecodeCall([]byte(`{"model":"m","input":` + input + `}`))
		if err != nil {
			t.Fatal(err)
		}
		return newView(c)
	}
	a := view(`[{"type":"additional_tools","tools":[{"type":"namespace","name":"f"}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]},{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"AAA"},{"type":"function_call","id":"fc_1","call_id":"c1","name":"x","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"1"}]`)
	b := view(`[{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]},{"type":"function_call","call_id":"c1","name":"x","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"1"}]`)
	if x, y := hashes(a.messages), hashes(b.messages); len(x) != 3 || len(y) != 3 || x[0] != y[0] || x[1] != y[1] || x[2] != y[2] {
		t.Errorf("%d and %d messages, %v %v", len(x), len(y), x, y)
	}
	if !a.offers || b.offers {
		t.Errorf("tools are offered: %v, %v", a.offers, b.offers)
	}
}

func TestProject(t *testing.T) {
	for text, want := range map[string]string{
		"You are here.\n - Primary working directory: /home/ann/shop\nmore": "/home/ann/shop",
		"<environment_context>\n  <cwd>/home/ann/shop</cwd>":                "/home/ann/shop",
		"Working directory: /home/ann/shop \n":                              "/home/ann/shop",
		"the working directory: none":                                       "",
	} {
		c := quire.Call{System: []quire.Block{{Part: quire.Part{Kind: quire.PartSystem, Text: text}}}}
		if got := newView(c).project; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Whose words a text is (G19).
//
// design.md G19
func TestWords(t *testing.T) {
	text := func(s string) quire.Block { return quire.Block{Part: quire.Part{Kind: quire.PartUser, Text: s}} }
	result := quire.Block{Part: quire.Part{Kind: quire.PartToolResult, ToolUse: "c", Text: "x"}}
	for _, c := range []struct {
		what   string
		blocks []quire.Block
		want   quire.PartKind
	}{
		{"a text", []quire.Block{text("hi")}, quire.PartUser},
		{"beside a result", []quire.Block{result, text("hi")}, quire.PartMachine},
		{"in a frame", []quire.Block{text("<system-reminder>\nhi\n</system-reminder>\n")}, quire.PartMachine},
		{"in another tag than it began with", []quire.Block{text("<b>hi</i>")}, quire.PartUser},
		{"known", []quire.Block{text("known")}, quire.PartMachine},
	} {
		m := message{Message: quire.Message{Role: quire.RoleUser, Blocks: c.blocks}}
		parts := enteredParts(&m, func(s string) bool { return s != "known" })
		if got := parts[len(parts)-1].Kind; got != c.want {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
	m := message{Message: quire.Message{Role: quire.RoleUser, Blocks: []quire.Block{text("first"), text("last")}}}
	if parts := enteredParts(&m, func(string) bool { return true }); parts[0].Kind != quire.PartMachine || parts[1].Kind != quire.PartUser {
		t.Errorf("%v", parts)
	}
}

// The canonical form of JSON is JSON, stays as it is, and does not depend on white
// space or the order of members.
func FuzzCanonJSON(f *testing.F) {
	for _, seed := range []string{`{"b":1,"a":{"d":[1, 2,{"z":null,"y":"\u00e9"}]}}`, `[1e3,-0,"\ud800"]`, `{"a":1,"a":2}`, `"x"`, `{"id":"i","cache_control":{},"x":true}`, `{"id":5}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if !json.Valid(in) {
			return
		}
		out := canonJSON(in)
		if !json.Valid(out) {
			t.Fatalf("%s became %s", in, out)
		}
		if again := canonJSON(out); !bytes.Equal(again, out) {
			t.Fatalf("%s became %s and then %s", in, out, again)
		}
		var wide bytes.Buffer
		if json.Indent(&wide, in, " ", "\t") == nil && !bytes.Equal(canonJSON(wide.Bytes()), out) {
			t.Fatalf("%s is %s, with white space %s", in, out, canonJSON(wide.Bytes()))
		}
	})
}

// Fields of a hash are told apart from each other.
func TestFieldsDoNotRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.StringN(0, 4, 8), 1, 4).Draw(t, "fields")
		other := rapid.SliceOfN(rapid.StringN(0, 4, 8), 1, 4).Draw(t, "other")
		same := len(list) == len(other)
		for i := 0; same && i < len(list); i++ {
			same = list[i] == other[i]
		}
		if got := newSum(list...).end() == newSum(other...).end(); got != same {
			t.Fatalf("%q and %q: the same is %v", list, other, got)
		}
	})
}

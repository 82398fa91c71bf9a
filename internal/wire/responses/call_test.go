package responses

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/wiretest"
)

// seeds are requests that touch each form once.
func seeds() []string {
	return []string{
		`{}`,
		`{"model":"m","input":"hi"}`,
		`{"model":"m","input":[{"role":"user","content":"hi"}]}`,
		`{"input":"","stream":false,"max_output_tokens":0,"instructions":null,"tools":[],"reasoning":null,"store":false,"include":["reasoning.encrypted_content"],"previous_response_id":"r","conversation":{"id":"c"},"background":true}`,
		`{"input":"hi","instructions":"be brief","text":{"verbosity":"low"},"prompt_cache_key":"k","temperature":1.0}`,
		`{"instructions":"a","input":[{"type":"message","role":"developer","content":[{"type":"input_text","text":"b"}]},{"role":"system","content":"c"},{"type":"message","id":"m1","role":"developer","content":"d"},{"role":"user","content":"e"}]}`,
		`{"input":[{"role":"developer","content":"a"},{"role":"developer","content":[]}]}`,
		`{"input":[{"type":"additional_tools","tools":[{"type":"namespace","name":"n","tools":[]}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"x","prompt_cache_breakpoint":{"mode":"explicit"}},{"type":"input_image","image_url":"data:image/png;base64,AAEC","detail":"auto"},{"type":"input_image","image_url":"https://e.example/a"},{"type":"input_image","file_id":"f"},{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,AAEC"},{"type":"input_file","file_url":"https://e.example/a.pdf"},{"type":"input_audio","x":1},5]}]}`,
		`{"input":[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"enc"},{"type":"message","id":"msg_1","role":"assistant","status":"completed","phase":"commentary","content":[{"type":"output_text","text":"a","annotations":[],"logprobs":[]},{"type":"refusal","refusal":"no"},{"type":"odd"},{"type":"output_text","text":"","annotations":[{"type":"url_citation"}]}]},{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{\"a\": 1.0}","status":"completed","namespace":"n"},{"type":"custom_tool_call","call_id":"c2","name":"g","input":"x\ny"},{"type":"function_call_output","call_id":"c1","output":"ok"},{"type":"custom_tool_call_output","call_id":"c2","output":[{"type":"input_text","text":"ok"},{"type":"input_image","image_url":"data:image/png;base64,AAEC"}]}]}`,
		`{"input":[{"type":"reasoning","summary":[{"type":"summary_text","text":"a"}],"content":null,"encrypted_content":null},{"type":"reasoning","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}]},{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"t"}]},{"type":"reasoning"}]}`,
		`{"input":[{"role":"assistant","content":"a"},{"role":"assistant","content":"b"},{"role":"assistant","content":[{"type":"odd"},{"type":"odd2"}]},{"type":"odd_call","call_id":"z"},{"role":"assistant","content":[]},{"role":"assistant","content":[{"type":"output_text","text":"c","message":1}]}]}`,
		`{"input":[{"type":"web_search_call","id":"ws","status":"completed","action":{"type":"search","query":"q"}},{"type":"tool_search_call","call_id":null,"execution":"server","arguments":{}},{"type":"tool_search_output","call_id":"x","tools":[]},{"type":"local_shell_call","call_id":"l","action":{"type":"exec"}},{"type":"local_shell_call_output","id":"l","output":"x"},{"type":"compaction","encrypted_content":"e"},{"type":"compaction_trigger"},{"type":"item_reference","id":"i"},{"type":"new_thing","a":[1e3]},7,null]}`,
		`{"input":[{"type":"function_call","name":"f"},{"type":"function_call_output","call_id":"c","output":""},{"type":"function_call_output","call_id":"c","output":[]},{"type":"function_call_output","call_id":"c"},{"type":"custom_tool_call_output","call_id":"","output":"x"}]}`,
		`{"tools":[{"type":"function","name":"f","description":"d","parameters":{"b":1,"a":2},"strict":null},{"type":"custom","name":"g","format":{"type":"grammar","syntax":"lark","definition":"start: x"}},{"type":"namespace","name":"n","description":"d","tools":[{"type":"function","name":"h"}]},{"type":"web_search","search_context_size":"low"},{"type":"tool_search","execution":"client"}],"tool_choice":{"type":"function","name":"f"},"reasoning":{"effort":"high","summary":"auto"}}`,
		`{"tools":[5],"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[]},"reasoning":{"summary":"auto"}}`,
		`{"input":[{"role":"user","content":"x","input":""}]}`,
		`{"input":[{"role":"user","content":"\ud800"},{"type":"function_call","call_id":"a","name":"f","arguments":"\udc00"}]}`,
	}
}

func checkCall(t rapid.TB, in []byte) {
	t.Helper()
	c, err := DecodeCall(in)
	if err != nil {
		return
	}
	out, err := EncodeCall(c)
	if err != nil {
		t.Fatalf("%s: %v", in, err)
	}
	if err := wiretest.SameJSON(in, out); err != nil {
		t.Fatal(err)
	}
	again, err := DecodeCall(out)
	if err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	if twice, err := EncodeCall(again); err != nil || !bytes.Equal(out, twice) {
		t.Fatalf("%s\nbecame\n%s, %v", out, twice, err)
	}
}

func TestCallsComeBack(t *testing.T) {
	for _, s := range seeds() {
		if _, err := DecodeCall([]byte(s)); err != nil {
			t.Errorf("%s: %v", s, err)
		}
		checkCall(t, []byte(s))
	}
}

// TestAnyCallComesBack holds the same of requests that are put together by
// chance out of what is usual and what is odd.
func TestAnyCallComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkCall(t, []byte(anyCall(t))) })
}

func FuzzCall(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) { checkCall(t, in) })
}

func TestDecodeCallRefuses(t *testing.T) {
	for _, in := range []string{``, `[]`, `{`, `null`} {
		if _, err := DecodeCall([]byte(in)); err == nil {
			t.Errorf("%q was read as a request", in)
		}
	}
}

// TestPlacesWin holds that a place that was changed is what is sent.
func TestPlacesWin(t *testing.T) {
	c, err := DecodeCall([]byte(`{"model":"a","max_output_tokens":0,"stream":false,"input":[{"type":"reasoning","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],"encrypted_content":"e"},{"type":"function_call_output","call_id":"c","output":""}],"reasoning":{"effort":"low","summary":"auto"}}`))
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.MaxOutput, c.Stream, c.Thinking.Effort = "b", 6, true, "high"
	c.Messages[0].Blocks[0].Text = "ab"
	c.Messages[1].Blocks[0].Text = "gone"
	out, err := EncodeCall(c)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"model":"b","max_output_tokens":6,"stream":true,"input":[{"type":"reasoning","summary":[{"type":"summary_text","text":"ab"}],"encrypted_content":"e"},{"type":"function_call_output","call_id":"c","output":"gone"}],"reasoning":{"effort":"high","summary":"auto"}}`
	if err := wiretest.SameJSON([]byte(want), out); err != nil {
		t.Error(err)
	}
}

// A key that a client sent is the one that is sent on.
func TestOneCacheKey(t *testing.T) {
	c, err := DecodeCall([]byte(`{"model":"m","input":"hi","prompt_cache_key":"theirs"}`))
	if err != nil {
		t.Fatal(err)
	}
	c.CacheKey = "ours"
	out, err := EncodeCall(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := wiretest.SameJSON([]byte(`{"model":"m","input":"hi","prompt_cache_key":"theirs"}`), out); err != nil {
		t.Error(err)
	}
}

// TestFreshCall holds what a call looks like that was not read from this
// protocol: instructions, parts by role, results by the type of their calls.
func TestFreshCall(t *testing.T) {
	part := func(kind quire.PartKind, text string) quire.Part { return quire.Part{Kind: kind, Text: text} }
	call := quire.Part{Kind: quire.PartToolCall, Tool: "g", ToolUse: "c2", Text: "x y"}
	out, err := EncodeCall(quire.Call{
		Model:    "m",
		CacheKey: "session",
		System:   []quire.Block{{Part: part(quire.PartSystem, "be brief")}},
		Messages: []quire.Message{
			{Role: quire.RoleUser, Blocks: []quire.Block{{Part: part(quire.PartUser, "hi"), Cache: quire.MarkLong}}},
			{Role: quire.RoleAssistant, Blocks: []quire.Block{
				{Part: part(quire.PartThinking, "hm"), Signature: "enc"},
				{Part: part(quire.PartText, "I look.")},
				{Part: call, Rest: []quire.Field{{Name: "type", Value: []byte(`"custom_tool_call"`)}}},
			}},
			{Role: quire.RoleUser, Blocks: []quire.Block{
				{Part: quire.Part{Kind: quire.PartToolResult, ToolUse: "c2", Text: "ok"}},
				{Part: part(quire.PartUser, "and?"), Plain: true},
			}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"model":"m","prompt_cache_key":"session","instructions":"be brief","input":[
		{"role":"user","content":[{"type":"input_text","text":"hi","prompt_cache_breakpoint":{"mode":"explicit","ttl":"12h"}}]},
		{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"enc"},
		{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},
		{"type":"custom_tool_call","call_id":"c2","name":"g","input":"x y"},
		{"type":"custom_tool_call_output","call_id":"c2","output":"ok"},
		{"role":"user","content":"and?"}]}`
	if err := wiretest.SameJSON([]byte(want), out); err != nil {
		t.Error(err)
	}
}

func BenchmarkCall(b *testing.B) {
	in := largeCall(1 << 20)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		c, err := DecodeCall(in)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := EncodeCall(c); err != nil {
			b.Fatal(err)
		}
	}
}

func largeCall(size int) []byte {
	var b strings.Builder
	b.WriteString(`{"model":"m","input":[{"role":"developer","content":"be brief"}`)
	for b.Len() < size {
		b.WriteString(`,{"type":"function_call","call_id":"c1","name":"read","arguments":"{\"path\":\"a/b.go\"}"},{"type":"function_call_output","call_id":"c1","output":"`)
		b.WriteString(strings.Repeat(`func f(a int) string {\n\treturn \"x\"\n}\n`, 50))
		b.WriteString(`"}`)
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}

package chat

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
		`{"model":"m","messages":[{"role":"user","content":"hi"}]}`,
		`{"model":5,"messages":null,"stream":false,"max_tokens":0,"tools":[],"tool_choice":null,"temperature":1.0}`,
		`{"messages":[{"role":"system","content":"a"},{"role":"developer","content":[{"type":"text","text":"b"}]},{"role":"system","content":"c","name":"n"},{"role":"user","content":[]}]}`,
		`{"messages":[{"role":"system","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"text","text":""}]},{"role":"system","content":"b"}]}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":"see","prompt_cache_breakpoint":{"mode":"explicit"}},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAEC","detail":"low"}},{"type":"image_url","image_url":"https://e.example/a.png"},{"type":"image_url","image_url":"data:image/png;base64,AAEC"}]}]}`,
		`{"messages":[{"role":"user","content":[{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AAEC"}},{"type":"file","file":{"file_id":"f1"}},{"type":"input_audio","input_audio":{"data":"AA==","format":"wav"}},{"type":"new","x":[1e3]},7]}]}`,
		`{"messages":[{"role":"assistant","content":null,"reasoning_content":"mm","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\": 1.0}"}},{"id":"c2","type":"custom","custom":{"name":"g","input":"x y"}}]},{"role":"tool","tool_call_id":"c1","content":"ok"},{"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":"ok"}]}]}`,
		`{"messages":[{"role":"assistant","content":"","reasoning":"r","reasoning_content":"r","reasoning_details":[{"type":"reasoning.encrypted","data":"zz"}],"tool_calls":[{"function":{"name":"f","arguments":{"a":1}}},{"id":"","type":"function","function":{"name":"","arguments":""}},{"id":"x","type":"other"},{"index":0,"id":"y","type":"function","function":{"name":"f"}}]}]}`,
		`{"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"refusal","refusal":"no"},{"type":"text","text":"yes"}],"refusal":null},{"role":"function","name":"f","content":"1"},{"role":"tool","tool_call_id":"q"},{"role":"tool","content":""},5]}`,
		`{"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"b":1,"a":2},"strict":true},"cache_control":{"type":"ephemeral","ttl":"1h"}},{"type":"custom","custom":{"name":"g","format":{"type":"text"}}},{"type":"builtin_function","function":{"name":"$web_search"}},{"type":"web_search","x":{}}],"tool_choice":{"type":"function","function":{"name":"f"}}}`,
		`{"tools":[{"function":{"name":"f"}}],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[]}}}`,
		`{"reasoning_effort":"high","thinking":{"type":"enabled","budget_tokens":5,"clear_thinking":false},"enable_thinking":false,"thinking_budget":9}`,
		`{"enable_thinking":false,"thinking_budget":9}`,
		`{"reasoning":{"effort":"low","enabled":false,"max_tokens":7,"exclude":true},"thinking":{"type":"x"}}`,
		`{"max_completion_tokens":7,"max_tokens":8,"stream":true,"stream_options":{"include_usage":true},"prompt_cache_key":"k"}`,
		`{"messages":[{"role":"user","content":"\ud800"},{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"\udc00"}}]}]}`,
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

// TestArgumentsKeepTheirBytes holds that what a model wrote goes back as it was.
func TestArgumentsKeepTheirBytes(t *testing.T) {
	in := `{"messages":[{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{ \"n\" : 1.50,\n\"s\":\"\\u00e9\" }"}}]}]}`
	c, err := DecodeCall([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.Messages[0].Blocks[0].Text, "{ \"n\" : 1.50,\n\"s\":\"\\u00e9\" }"; got != want {
		t.Errorf("arguments %q, want %q", got, want)
	}
}

// TestPlacesWin holds that a place that was changed is what is sent.
func TestPlacesWin(t *testing.T) {
	c, err := DecodeCall([]byte(`{"model":"a","max_tokens":5,"stream":false,"messages":[{"role":"tool","tool_call_id":"c","content":""},{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.MaxOutput, c.Stream = "b", 6, true
	c.Messages[0].Blocks[0].Text = "gone"
	c.Messages[1].Blocks[0].Cache = quire.MarkNone
	out, err := EncodeCall(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := wiretest.SameJSON([]byte(`{"model":"b","max_tokens":6,"stream":true,"messages":[{"role":"tool","tool_call_id":"c","content":"gone"},{"role":"user","content":[{"type":"text","text":"x"}]}]}`), out); err != nil {
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
	b.WriteString(`{"model":"m","messages":[{"role":"system","content":"be brief"}`)
	for b.Len() < size {
		b.WriteString(`,{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a/b.go\"}"}}]},{"role":"tool","tool_call_id":"c1","content":"`)
		b.WriteString(strings.Repeat(`func f(a int) string {\n\treturn \"x\"\n}\n`, 50))
		b.WriteString(`"}`)
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}

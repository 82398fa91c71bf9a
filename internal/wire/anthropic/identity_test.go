package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/wiretest"
	"github.com/quire-agent/quire/internal/x/sse"
)

func words() []string {
	return strings.Fields(`model max_tokens stream tools system messages tool_choice thinking output_config effort
		type text role user assistant system content name description input_schema custom cache_control ephemeral ttl 1h 5m
		tool_use tool_result server_tool_use id tool_use_id input is_error thinking signature redacted_thinking data
		image document source base64 url media_type text/plain auto any none enabled budget_tokens stop_reason usage other`)
}

// Whatever a request holds, what is encoded is what was decoded.
func TestIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := wiretest.Grammar{Words: words(), Choose: func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "") }}
		var request bytes.Buffer
		request.WriteString(`{"model":"m","messages":[{"role":"user","content":[`)
		for i := range g.Choose(4) {
			request.WriteString(map[bool]string{true: "", false: ","}[i == 0])
			request.Write(typed(g))
		}
		request.WriteString(`]}],"extra":`)
		request.Write(g.Object(3))
		request.WriteString(`,"system":[`)
		request.Write(g.Object(3))
		request.WriteString(`],"tools":[`)
		request.Write(g.Object(3))
		request.WriteString(`]}`)
		checkIdentity(t, request.Bytes(), true)
		checkIdentity(t, g.Object(6), false)
	})
}

// typed is a block of a type that the API knows, with members of every form.
func typed(g wiretest.Grammar) []byte {
	kinds := []string{"text", "thinking", "tool_use", "tool_result", "image", "document", "redacted_thinking"}
	block := bytes.TrimPrefix(g.Object(4), []byte("{"))
	head := `{"type":"` + kinds[g.Choose(len(kinds))] + `","id":"a","name":"b","input":{"c":1.0},"text":"x","thinking":"","tool_use_id":"a","source":` + string(source(g))
	if len(block) > 1 {
		head += ","
	}
	return append([]byte(head), block...)
}

func source(g wiretest.Grammar) []byte {
	kinds := []string{"base64", "text", "url", "content", "file"}
	return []byte(`{"type":"` + kinds[g.Choose(len(kinds))] + `","media_type":"text/plain","data":"aGk=","url":"u","content":[{"type":"text","text":"t"}]}`)
}

type fataler interface{ Fatalf(string, ...any) }

func checkIdentity(t fataler, raw []byte, must bool) {
	c, err := DecodeCall(raw)
	if err != nil {
		if must {
			t.Fatalf("%s: %v", raw, err)
		}
		return
	}
	out, err := EncodeCall(c)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	if err := wiretest.SameJSON(raw, out); err != nil {
		t.Fatalf("%v", err)
	}
	again, err := DecodeCall(out)
	if err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	fixed, err := EncodeCall(again)
	if err != nil || !bytes.Equal(out, fixed) {
		t.Fatalf("%s, then %s, %v", out, fixed, err)
	}
}

// Numbers, arguments and what no text can hold come back byte for byte.
func TestBytesStay(t *testing.T) {
	raw := `{"model":"m","max_tokens":1e3,"temperature":0.70,"messages":[{"role":"assistant","content":[` +
		`{"type":"tool_use","id":"a","name":"b","input":{"z": 1.0,  "a":"\u00e9\ud83d","n":[1E5]}},{"type":"text","text":"\udc00 x"}]}]}`
	c, err := DecodeCall([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	out, err := EncodeCall(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, literal := range []string{`1e3`, `0.70`, `{"z": 1.0,  "a":"\u00e9\ud83d","n":[1E5]}`, `"\udc00 x"`} {
		if !bytes.Contains(out, []byte(literal)) {
			t.Errorf("%s is not in %s", literal, out)
		}
	}
}

// A place that was changed counts, and not the old form that was kept.
func TestChangedPlacesCount(t *testing.T) {
	raw := `{"model":"m","max_tokens":0,"stream":false,"output_config":{"effort":"low","format":{}},"system":"s","messages":[{"role":"user","content":[` +
		`{"type":"text","text":"\ud800","cache_control":{"type":"ephemeral","ttl":"5m"}},` +
		`{"type":"image","source":{"type":"file","file_id":"f"}},` +
		`{"type":"redacted_thinking","data":"x","cache_control":{"type":"ephemeral"}},{"type":"tool_result","tool_use_id":"a","content":"","is_error":false}]}]}`
	c, err := DecodeCall([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	c.MaxOutput, c.Stream, c.Thinking.Effort = 7, true, ""
	c.System[0].Cache = quire.MarkLong
	b := c.Messages[0].Blocks
	b[0].Text, b[0].Cache = "new", quire.MarkNone
	b[1].Data, b[1].Media = "hi", &quire.Media{Type: "image/png"}
	b[2].Cache = quire.MarkLong
	b[3].Text, b[3].IsError = "out", true
	out, err := EncodeCall(c)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"model":"m","max_tokens":7,"stream":true,"output_config":{"format":{}},"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral","ttl":"1h"}}],` +
		`"messages":[{"role":"user","content":[{"type":"text","text":"new"},` +
		`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}},` +
		`{"type":"redacted_thinking","data":"x","cache_control":{"type":"ephemeral","ttl":"1h"}},{"type":"tool_result","tool_use_id":"a","is_error":true,"content":"out"}]}]}`
	if err := wiretest.SameJSON([]byte(want), out); err != nil {
		t.Error(err)
	}
}

// Calls that no request was the source of: messages of the tool role, a call
// without arguments, a Plain text with company.
func TestEncodeOwnCall(t *testing.T) {
	result := func(id string) quire.Message {
		return quire.Message{Role: quire.RoleTool, Blocks: []quire.Block{{Part: quire.Part{Kind: quire.PartToolResult, ToolUse: id, Text: "ok"}}}}
	}
	out, err := EncodeCall(quire.Call{Model: "m", MaxOutput: 1, Messages: []quire.Message{
		{Role: quire.RoleUser, Blocks: []quire.Block{{Part: quire.Part{Kind: quire.PartUser, Text: "a"}, Plain: true}, {Part: quire.Part{Kind: quire.PartMachine, Text: "b"}}}},
		{Role: quire.RoleAssistant, Blocks: []quire.Block{{Part: quire.Part{Kind: quire.PartToolCall, Tool: "x", ToolUse: "1"}}, {Part: quire.Part{Kind: quire.PartToolCall, Tool: "x", ToolUse: "2", Text: `{"k":[1]}`}}}},
		result("1"), result("2"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"x","input":{}},{"type":"tool_use","id":"2","name":"x","input":{"k":[1]}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"ok"},{"type":"tool_result","tool_use_id":"2","content":"ok"}]}]}`
	if err := wiretest.SameJSON([]byte(want), out); err != nil {
		t.Error(err)
	}
}

func TestRefused(t *testing.T) {
	for _, raw := range []string{``, `{`, `[]`, `{"messages":[1]}`, `{"messages":[{"role":"user"},"x"]}`, `{"tools":[null]}`} {
		if _, err := DecodeCall([]byte(raw)); err == nil {
			t.Errorf("%q was decoded", raw)
		}
	}
	broken := []quire.Block{
		{Part: quire.Part{Kind: quire.PartToolCall, Tool: "x", ToolUse: "1", Text: `{"cut`}},
		{Part: quire.Part{Kind: quire.PartTools}},
		{Part: quire.Part{Kind: quire.PartText}, Rest: []quire.Field{{Name: "a", Value: json.RawMessage(`{`)}}},
	}
	for _, b := range broken {
		if out, err := EncodeCall(quire.Call{Messages: []quire.Message{{Role: quire.RoleAssistant, Blocks: []quire.Block{b}}}}); err == nil {
			t.Errorf("%v became %s", b, out)
		}
		if out, err := EncodeReply(quire.Reply{Blocks: []quire.Block{b}}); err == nil {
			t.Errorf("%v became %s", b, out)
		}
	}
	for _, raw := range []string{`{}`, `{"type":"error"}`, `7`} {
		if _, err := DecodeReply([]byte(raw)); err == nil {
			t.Errorf("%q was decoded", raw)
		}
	}
}

func seeds(f *testing.F, section string) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range files {
		raw, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range txtar.Parse(raw).Files {
			if file.Name == section {
				f.Add(file.Data)
			}
		}
	}
}

func FuzzDecodeCall(f *testing.F) {
	seeds(f, "request.json")
	f.Fuzz(func(t *testing.T, raw []byte) { checkIdentity(t, raw, false) })
}

// A reply is whole after the first time: what the API promises is filled in.
func FuzzDecodeReply(f *testing.F) {
	seeds(f, "reply.json")
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := DecodeReply(raw)
		if err != nil {
			return
		}
		out, err := EncodeReply(r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := DecodeReply(out)
		if err != nil {
			t.Fatal(err)
		}
		fixed, err := EncodeReply(again)
		if err != nil || !bytes.Equal(out, fixed) {
			t.Fatalf("%s\nthen\n%s, %v", out, fixed, err)
		}
	})
}

// Streams that are damaged end in an error, and deltas come in their order.
func FuzzDecodeStream(f *testing.F) {
	seeds(f, "stream")
	start := `data:{"type":"content_block_start","index":%d,"content_block":{"type":"server_tool_use"}}` + "\n\n"
	grow := `data:{"type":"content_block_delta","index":0,"delta":{"partial_json":"1"}}` + "\n\n"
	f.Add([]byte(begun + fmt.Sprintf(start, 0) + grow + fmt.Sprintf(start, 1) + grow)) // two open blocks, both growing
	f.Fuzz(func(t *testing.T, raw []byte) {
		var deltas []quire.Delta
		for d, err := range DecodeStream(bytes.NewReader(raw)) {
			if err != nil {
				return
			}
			deltas = append(deltas, d)
		}
		first, err := wiretest.Fold(deltas)
		if err != nil {
			t.Fatal(err)
		}
		var e Encoder
		var out []byte
		for _, d := range deltas {
			b, err := e.Encode(d)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, b...)
		}
		if again := fold(t, collect(t, out)); len(again.Blocks) != len(first.Blocks) || again.Usage.Prompt() != first.Usage.Prompt() {
			t.Fatalf("%+v\nbecame\n%+v", first, again)
		}
	})
}

func FuzzDecodeError(f *testing.F) {
	f.Add(529, "3", []byte(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`))
	f.Add(502, "", []byte(`<html>`))
	f.Fuzz(func(t *testing.T, status int, after string, body []byte) {
		e := DecodeError(status, after, body)
		if e.Kind == "" || !(e.After >= 0) {
			t.Fatalf("%+v", e)
		}
		_, out := EncodeError(e)
		if !json.Valid(out) {
			t.Fatalf("%s", out)
		}
	})
}

// BenchmarkCall decodes and encodes a request of a megabyte, as a long session
// of an agent sends it.
func BenchmarkCall(b *testing.B) {
	raw := longRequest(1 << 20)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		c, err := DecodeCall(raw)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := EncodeCall(c); err != nil {
			b.Fatal(err)
		}
	}
}

func longRequest(size int) []byte {
	round := `{"role":"assistant","content":[{"type":"thinking","thinking":"Next.","signature":"c2ln"},{"type":"tool_use","id":"toolu_1","name":"read","input":{"path":"internal/a/b.go","limit":200}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"` + strings.Repeat(`\tif err != nil {\n\t\treturn fmt.Errorf(\"read: %w\", err)\n\t}\n`, 60) + `"}]}]}`
	out := []byte(`{"model":"m","max_tokens":32000,"messages":[` + round)
	for len(out) < size {
		out = append(append(out, ','), round...)
	}
	return append(out, "]}"...)
}

func BenchmarkStream(b *testing.B) {
	var in []byte
	add := func(name, data string) { in = sse.Append(in, sse.Event{Name: name, Data: []byte(data)}) }
	add("message_start", `{"type":"message_start","message":{"id":"a","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}`)
	add("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
	for range 1000 {
		add("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a few words "}}`)
	}
	add("content_block_stop", `{"type":"content_block_stop","index":0}`)
	add("message_delta", `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3000}}`)
	add("message_stop", `{"type":"message_stop"}`)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range DecodeStream(bytes.NewReader(in)) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// Calls of server tools and their results are paired by what the API pairs them
// by, whatever they are called. failures.md A3
func TestServerToolsPair(t *testing.T) {
	raw := `{"messages":[{"role":"assistant","content":[{"type":"server_tool_use","id":"s1","name":"advisor","input":{}},{"type":"advisor_tool_result","tool_use_id":"s1","content":{}},` +
		`{"type":"mcp_tool_use","id":"s2","name":"x","input":{}},{"type":"mcp_tool_result","tool_use_id":"s2"},{"type":"tool_of_next_year_tool_result","tool_use_id":"s3"}]}]}`
	c, err := DecodeCall([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"s1", "s1", "s2", "s2", "s3"} {
		if b := c.Messages[0].Blocks[i]; b.ToolUse != want || b.Opaque == nil {
			t.Errorf("block %d: %+v", i, b)
		}
	}
}

// Thinking is sent as it came, whatever changes beside it. failures.md A8
func TestThinkingStays(t *testing.T) {
	thinking := []string{`{"type":"thinking","thinking":"a\u00e9 \"b\"\n","signature":"c2ln/+=="}`, `{"type":"thinking","thinking":"","signature":"eA=="}`, `{"type":"redacted_thinking","data":"ZW5j"}`}
	raw := `{"messages":[{"role":"assistant","content":[` + strings.Join(thinking, ",") + `,{"type":"text","text":"old"}]}]}`
	c, err := DecodeCall([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	blocks := c.Messages[0].Blocks
	blocks[3].Text, blocks[3].Cache = "new", quire.MarkShort
	for i, want := range thinking {
		got, err := encodeBlock(blocks[i])
		if err != nil {
			t.Fatal(err)
		}
		if err := wiretest.SameJSON([]byte(want), got); err != nil {
			t.Error(err)
		}
	}
}

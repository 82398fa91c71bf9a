package gemini

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
)

func words() []string {
	return strings.Fields(`contents parts role user model function text thought thoughtSignature functionCall functionResponse name args id #1
		response output error inlineData fileData mimeType data fileUri image/png executableCode tools functionDeclarations description
		parameters parametersJsonSchema googleSearch toolConfig functionCallingConfig mode ANY AUTO NONE allowedFunctionNames
		generationConfig maxOutputTokens thinkingConfig thinkingBudget thinkingLevel HIGH systemInstruction cachedContent other`)
}

// Whatever a request holds, what is encoded is what was decoded.
func TestIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := wiretest.Grammar{Words: words(), Choose: func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "") }}
		var request bytes.Buffer
		request.WriteString(`{"contents":[{"role":"user","parts":[`)
		for i := range g.Choose(4) {
			request.WriteString(map[bool]string{true: "", false: ","}[i == 0])
			request.Write(typed(g))
		}
		fmt.Fprintf(&request, `]}],"systemInstruction":%s,"tools":[{"functionDeclarations":[%s]},%s],"generationConfig":%s,"toolConfig":%s}`,
			g.Object(3), g.Object(3), g.Object(3), g.Object(3), g.Object(4))
		checkIdentity(t, request.Bytes(), true)
		checkIdentity(t, g.Object(6), false)
	})
}

// typed is a part that the API knows, with members of every form.
func typed(g wiretest.Grammar) []byte {
	kinds := []string{"functionCall", "functionResponse", "inlineData", "fileData", "executableCode"}
	inner := bytes.TrimPrefix(g.Object(4), []byte("{"))
	part := `{"` + kinds[g.Choose(len(kinds))] + `":{"name":"b","data":"aGk=","fileUri":"u","response":{"output":"x"}`
	if len(inner) > 1 {
		part += ","
	}
	return append(append([]byte(part), inner...), `,"thoughtSignature":"c2ln"}`...)
}

type fataler interface{ Fatalf(string, ...any) }

func checkIdentity(t fataler, raw []byte, must bool) {
	c, err := DecodeCall(raw)
	raw = spelled(raw)
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

// A place that was changed counts, and not the old form that was kept.
func TestChangedPlacesCount(t *testing.T) {
	raw := `{"systemInstruction":{"role":"user","parts":[{"text":"s"}]},"tools":[{"functionDeclarations":[{"name":"a","parameters":{"type":"OBJECT"}}],"googleSearch":{}}],` +
		`"toolConfig":{"functionCallingConfig":{"mode":"ANY"},"retrievalConfig":{}},"generationConfig":{"maxOutputTokens":0,"topK":1,"thinkingConfig":{"thinkingLevel":"LOW"}},` +
		`"contents":[{"role":"function","parts":[{"functionResponse":{"name":"a","response":{"x":1}}},{"inlineData":{"mimeType":"image/png","data":"?"}},{"functionCall":{"name":"a","args":null}}]}]}`
	c, err := DecodeCall([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	c.MaxOutput, c.Thinking = 7, quire.Thinking{Mode: "disabled"}
	c.Choice = quire.Choice{Mode: "tool", Tool: "a"}
	c.System[0].Text = "new"
	c.Tools[0].Schema = []byte(`{"type":"object"}`)
	b := c.Messages[0].Blocks
	b[0].Text = "out"
	b[1].Data = "hi"
	b[2].Text = `{"k":1.0}`
	out, err := EncodeCall(c)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"systemInstruction":{"parts":[{"text":"new"}]},"tools":[{"functionDeclarations":[{"name":"a","parametersJsonSchema":{"type":"object"}}]},{"googleSearch":{}}],` +
		`"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["a"]},"retrievalConfig":{}},"generationConfig":{"maxOutputTokens":7,"topK":1,"thinkingConfig":{"thinkingBudget":0}},` +
		`"contents":[{"role":"function","parts":[{"functionResponse":{"name":"a","response":{"output":"out"}}},{"inlineData":{"mimeType":"image/png","data":"aGk="}},{"functionCall":{"name":"a","args":{"k":1.0}}}]}]}`
	if err := wiretest.SameJSON([]byte(want), out); err != nil {
		t.Error(err)
	}
}

// Calls that no request was the source of: messages of the tool role, results
// with pieces, a system message between others, tools of the provider by name.
func TestEncodeOwnCall(t *testing.T) {
	result := func(id string, pieces ...quire.Block) quire.Message {
		return quire.Message{Role: quire.RoleTool, Blocks: []quire.Block{{Part: quire.Part{Kind: quire.PartToolResult, Tool: "x", ToolUse: id, Text: id}, Content: pieces}}}
	}
	out, err := EncodeCall(quire.Call{
		Choice: quire.Choice{Mode: "none"}, Thinking: quire.Thinking{Effort: "high"},
		Tools: []quire.ToolSpec{{Type: "googleSearch"}, {Name: "x", Schema: []byte(`{}`)}, {Name: "y"}},
		Messages: []quire.Message{
			{Role: quire.RoleAssistant, Blocks: []quire.Block{{Part: quire.Part{Kind: quire.PartToolCall, Tool: "x", ToolUse: "#1", Text: `{}`}}, {Part: quire.Part{Kind: quire.PartToolCall, Tool: "x", ToolUse: "2", Text: `{}`}}}},
			result("#1"),
			result("2", quire.Block{Part: quire.Part{Kind: quire.PartMachine, Text: "a"}}, quire.Block{Part: quire.Part{Kind: quire.PartImage, Media: &quire.Media{Type: "image/png"}, Data: "hi"}}),
			{Role: quire.RoleSystem, Blocks: []quire.Block{{Part: quire.Part{Kind: quire.PartSystem, Text: "now"}}}},
		}})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"tools":[{"googleSearch":{}},{"functionDeclarations":[{"name":"x","parametersJsonSchema":{}},{"name":"y"}]}],"toolConfig":{"functionCallingConfig":{"mode":"NONE"}},` +
		`"generationConfig":{"thinkingConfig":{"thinkingLevel":"HIGH"}},"contents":[` +
		`{"role":"model","parts":[{"functionCall":{"name":"x","args":{}}},{"functionCall":{"id":"2","name":"x","args":{}}}]},` +
		`{"role":"user","parts":[{"functionResponse":{"name":"x","response":{"output":"#1"}}},{"functionResponse":{"id":"2","name":"x","response":{"output":"2\na"},"parts":[{"inlineData":{"mimeType":"image/png","data":"aGk="}}]}}]},` +
		`{"role":"user","parts":[{"text":"now"}]}]}`
	if err := wiretest.SameJSON([]byte(want), out); err != nil {
		t.Error(err)
	}
}

func TestRefused(t *testing.T) {
	for _, raw := range []string{``, `{`, `[]`, `{"contents":[1]}`} {
		if _, err := DecodeCall([]byte(raw)); err == nil {
			t.Errorf("%q was decoded", raw)
		}
	}
	broken := []quire.Block{
		{Part: quire.Part{Kind: quire.PartToolCall, Tool: "x", Text: `{"cut`}},
		{Part: quire.Part{Kind: quire.PartTools}},
		{Part: quire.Part{Kind: quire.PartText}, Rest: []quire.Field{{Name: "a", Value: json.RawMessage(`{`)}}},
		{Part: quire.Part{Kind: quire.PartToolResult}, Content: []quire.Block{{Part: quire.Part{Kind: quire.PartImage}, Rest: []quire.Field{{Name: "a", Value: json.RawMessage(`{`)}}}}},
	}
	for _, b := range broken {
		if out, err := EncodeCall(quire.Call{Messages: []quire.Message{{Role: quire.RoleAssistant, Blocks: []quire.Block{b}}}}); err == nil {
			t.Errorf("%v became %s", b, out)
		}
		if out, err := EncodeReply(quire.Reply{Blocks: []quire.Block{b}}); err == nil {
			t.Errorf("%v became %s", b, out)
		}
	}
	for _, raw := range []string{`{}`, `{"error":{}}`, `7`, `{"candidates":[7]}`} {
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
	f.Add([]byte(`[{"candidates":[{"content":{"parts":[{"text":"a","x":1}]},"finishReason":"STOP"}]}]`))
	f.Add([]byte("[{\"candidates\":[{\"\x85\":0}]},{\"candidates\":[{\"finishReason\":\"NEW\"}]}]"))
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
		if again := fold(t, collect(t, out)); again.Stop != first.Stop || len(again.Blocks) != len(first.Blocks) {
			t.Fatalf("%+v\nbecame\n%+v", first, again)
		}
	})
}

func FuzzDecodeError(f *testing.F) {
	f.Add(429, "3", []byte(`[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"m","details":[{"retryDelay":"2.5s"}]}}]`))
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
	round := `{"role":"model","parts":[{"text":"Next.","thought":true},{"functionCall":{"name":"read","args":{"path":"internal/a/b.go","limit":200}},"thoughtSignature":"c2ln"}]},` +
		`{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"` + strings.Repeat(`\tif err != nil {\n\t\treturn fmt.Errorf(\"read: %w\", err)\n\t}\n`, 60) + `"}}}]}`
	out := []byte(`{"contents":[` + round)
	for len(out) < size {
		out = append(append(out, ','), round...)
	}
	return append(out, "]}"...)
}

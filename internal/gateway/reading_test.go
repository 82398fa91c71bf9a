package gateway

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/quire"
)

// elementTexts are elements of lists, by API: such as lead, such as are one message
// with their neighbours, such as are no message at all.
func elementTexts(a API) []string {
	switch a {
	case Responses:
		return []string{
			`{"type":"message","role":"developer","content":[{"type":"input_text","text":"be brief"}]}`, `{"role":"system","content":"N"}`,
			`{"type":"message","role":"user","content":[{"type":"input_text","text":"go N"}]}`, `{"role":"user","content":"N \ud800"}`,
			`{"type":"reasoning","id":"rs_N","summary":[],"encrypted_content":"eN"}`, `{"type":"function_call","id":"fc_N","call_id":"c1","name":"read","arguments":"{\"n\":N}"}`,
			`{"type":"function_call_output","call_id":"c1","output":"line N"}`, `{"type":"message","id":"m","role":"assistant","status":"completed","content":[{"type":"output_text","text":"N","annotations":[]}]}`,
			`{"type":"item_reference","id":"x"}`, `{"type":"compaction_trigger"}`, `{"type":"message","role":"assistant","content":[]}`,
		}
	case Chat:
		return []string{
			`{"role":"system","content":"be brief"}`, `{"role":"developer","content":[{"type":"text","text":"N"}]}`, `{"role":"user","content":"go N"}`,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"cN","type":"function","function":{"name":"read","arguments":"{\"b\":1,\"a\":N}"}}]}`,
			`{"role":"tool","tool_call_id":"cN","content":"line N"}`, `{"role":"assistant","content":"N"}`, `{"role":"odd","content":[7]}`, `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}`,
		}
	case Gemini:
		return []string{
			`{"role":"user","parts":[{"text":"go N"}]}`, `{"role":"model","parts":[{"functionCall":{"name":"read","args":{"n":N}}}]}`, `{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"N"}}}]}`,
			`{"role":"model","parts":[{"text":"N","thoughtSignature":"s"}]}`, `{"role":"model","parts":[{"functionCall":{"id":"iN","name":"read","args":{}}},{"functionCall":{"name":"grep","args":{}}}]}`,
			`{"role":"user","parts":[{"functionResponse":{"id":"iN","name":"read","response":{}}},{"functionResponse":{"name":"grep","response":{}}}]}`, `{"parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}`,
		}
	}
	return []string{
		`{"role":"user","content":"go N"}`, `{"role":"user","content":[{"type":"text","text":"N","cache_control":{"type":"ephemeral"}}]}`, `{"role":"user","content":[{"type":"text","text":"N"}]}`,
		`{"role":"assistant","content":[{"type":"thinking","thinking":"N","signature":"s"},{"type":"tool_use","id":"tN","name":"read","input":{"b":1,"a":N}}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"tN","content":[{"type":"text","text":"N"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}]}`,
		`{"role":"assistant","content":"N"}`, `{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"s"}]}`, `{"role":"system","content":"N"}`, `{"role":"user","content":[]}`, `{"role":"user", "content" : "\u00e9\ud83d N" }`,
	}
}

// bodyText is a request with a list.
func bodyText(a API, system int, list []string) string {
	front := map[API]string{
		Messages: `{"model":"m","max_tokens":9,"system":[{"type":"text","text":"be N in /x"}],"tools":[{"name":"read","input_schema":{"b":1, "a":2}}],"messages":[`,
		Chat:     `{"model":"m","tools":[{"type":"function","function":{"name":"read","parameters":{"b":1,"a":2}}}],"odd":N,"messages":[`, Responses: `{"model":"m","instructions":"be N","store":false,"input":[`,
		Gemini: `{"systemInstruction":{"parts":[{"text":"be N"}]},"contents":[`,
	}[a]
	behind := map[API]string{Messages: `],"stream":true}`, Chat: `],"stream":true}`, Responses: `],"tools":[{"type":"function","name":"read","parameters":{}}]}`, Gemini: `],"tools":[{"functionDeclarations":[{"name":"read"}]}]}`}[a]
	return strings.ReplaceAll(front, "N", fmt.Sprint(system)) + strings.Join(list, " , ") + behind
}

// What a reader reads in parts is what is read of the whole, whatever it saw before.
func TestReaderReadsWhatIsThere(t *testing.T) {
	for _, a := range APIs() {
		t.Run(string(a), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				r := newReader()
				element := rapid.Custom(func(t *rapid.T) string {
					return strings.ReplaceAll(rapid.SampledFrom(elementTexts(a)).Draw(t, "element"), "N", fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "n")))
				})
				list := rapid.SliceOfN(element, 0, 6).Draw(t, "list")
				for range rapid.IntRange(1, 5).Draw(t, "requests") {
					switch rapid.IntRange(0, 4).Draw(t, "what") {
					case 0:
						if n := len(list); n > 0 {
							list[rapid.IntRange(0, n-1).Draw(t, "at")] = element.Draw(t, "other")
						}
					case 1:
						list = list[:rapid.IntRange(0, len(list)).Draw(t, "keep")]
					case 2:
						r.turn()
					default:
						list = append(list, rapid.SliceOfN(element, 1, 3).Draw(t, "more")...)
					}
					sameView(t, r, a, bodyText(a, rapid.IntRange(0, 2).Draw(t, "system"), list))
				}
			})
		})
	}
}

// sameView reads a request both ways.
func sameView(t *rapid.T, r *reader, a API, text string) {
	to := route{api: a, call: true, model: map[bool]string{true: "gemini-x"}[a == Gemini], stream: a == Gemini}
	b := plainBody([]byte(text))
	got, err := r.view(to, b)
	if err != nil {
		t.Fatal(err)
	}
	call, err := to.decode(b.data)
	if err != nil {
		t.Fatal(err)
	}
	want := newView(call)
	if got.keys != nil && len(got.keys) != len(got.call.Messages) {
		t.Fatalf("%d keys of %d messages", len(got.keys), len(got.call.Messages))
	}
	got.keys = nil
	for _, v := range []*view{got, want} {
		withoutTypes(v)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s\nis read as\n%+v\nwant\n%+v", text, got, want)
	}
}

// withoutTypes takes out what the codec of Responses notes of a result by the call that
// it answers, which matters only where a call is written again, and makes what is
// nothing one nothing.
func withoutTypes(v *view) {
	clean := func(m *quire.Message) {
		var blocks []quire.Block
		for _, b := range m.Blocks {
			if b.Kind == quire.PartToolResult {
				b.Rest = nil
			}
			blocks = append(blocks, b)
		}
		m.Blocks = blocks
	}
	for i := range v.call.Messages {
		clean(&v.call.Messages[i])
	}
	for i := range v.messages {
		clean(&v.messages[i].Message)
	}
	if len(v.call.Messages) == 0 {
		v.call.Messages = nil
	}
}

// A reader holds nothing of what nobody asked for in two turns, and no more at a time
// than its bound allows.
func TestReaderForgets(t *testing.T) {
	r := newReader()
	b := plainBody([]byte(grown(100_000, 0)))
	to := route{api: Messages, call: true}
	if _, err := r.view(to, b); err != nil || r.now.held < 100_000 {
		t.Fatalf("%d bytes, %v", r.now.held, err)
	}
	r.turn()
	if _, err := r.view(to, b); err != nil || r.now.held < 100_000 {
		t.Errorf("after a turn with a request: %d bytes, %v", r.now.held, err)
	}
	r.turn()
	r.turn()
	if n := r.now.held + r.last.held; n != 0 || len(r.last.elements)+len(r.last.heads)+len(r.last.runs) != 0 {
		t.Errorf("after two turns without: %d bytes", n)
	}
	for i := range 5 {
		if _, err := r.view(to, plainBody([]byte(strings.ReplaceAll(grown(mostRead/4, 0), "source", fmt.Sprint("source", i))))); err != nil {
			t.Fatal(err)
		}
		if n := r.now.held + r.last.held; n > mostRead+mostRead/4 {
			t.Errorf("%d bytes are held", n)
		}
	}
}

// BenchmarkRead is the reading of a request of 1 MB that goes on from one that was
// read, beside that of the whole.
func BenchmarkRead(b *testing.B) {
	to := route{api: Messages, call: true}
	for _, c := range []struct {
		name string
		read func(r *reader, text []byte) error
	}{
		{"known", func(r *reader, text []byte) error { _, err := r.view(to, plainBody(text)); return err }},
		{"whole", func(_ *reader, text []byte) error {
			call, err := to.decode(text)
			newView(call)
			return err
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := newReader()
			texts := [][]byte{[]byte(grown(1<<20, 0)), []byte(grown(1<<20, 1))}
			b.SetBytes(1 << 20)
			for i := 0; b.Loop(); i++ {
				if err := c.read(r, texts[i%2]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package curation

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

func dialectsByName() map[string]*Dialect {
	return map[string]*Dialect{"messages": Messages(), "chat": Chat(), "responses": Responses(), "gemini": Gemini()}
}

// Whatever a client sends, taking it apart and putting it together again fails or
// gives JSON, and marks are gone where they are ours to set.
func FuzzEdit(f *testing.F) {
	for name, body := range map[string]string{
		"messages":  `{"model":"m","system":"s","tools":[{"name":"read","input_schema":{},"cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral","ttl":"1h"}}]},{"role":"assistant","content":"yes"}],"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]}}`,
		"chat":      `{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"r"}],"tools":[]}`,
		"responses": `{"model":"m","input":[{"role":"developer","content":"s"},{"role":"user","content":"hi"},{"type":"reasoning","id":"r"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"r"}],"truncation":"auto"}`,
		"gemini":    `{"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"r"}}}]}],"tools":[{"functionDeclarations":[{"name":"f"}]}]}`,
	} {
		f.Add(name, body)
	}
	f.Fuzz(func(t *testing.T, name, body string) {
		d := dialectsByName()[name]
		if d == nil {
			return
		}
		call, err := d.decodeCall([]byte(body))
		if err != nil {
			return
		}
		items, _, lead, err := d.Items([]byte(body), &call)
		if err != nil {
			return
		}
		c := Call{Lead: lead, Head: true, Mark: quire.MarkShort}
		for _, it := range items {
			c.List = append(c.List, it.Raw)
		}
		for _, make := range []func() ([]byte, error){
			func() ([]byte, error) { return d.Edit([]byte(body), &c) },
			func() ([]byte, error) { return d.Less([]byte(body), 10), nil },
			func() ([]byte, error) { return d.Unbound([]byte(body)), nil },
		} {
			if out, err := make(); err == nil && !json.Valid(out) {
				t.Errorf("%s became %s", body, out)
			}
		}
	})
}

// Events of an answer in any pieces are passed on or fail.
func FuzzAnswer(f *testing.F) {
	f.Add("messages", "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"usage\":{}}}\n\n|event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"recall\",\"input\":{}}}\n\n|event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n|event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
	f.Add("chat", "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n\n|data: [DONE]\n\n")
	f.Add("responses", "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"r\"}}\n\n")
	f.Add("gemini", "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hi\"}]},\"finishReason\":\"STOP\"}]}\n\n")
	f.Fuzz(func(t *testing.T, name, text string) {
		d := dialectsByName()[name]
		if d == nil {
			return
		}
		a := d.NewAnswer([]byte("{}"))
		for piece := range strings.SplitSeq(text, "|") {
			down, ended, err := a.Event([]byte(piece))
			if err != nil {
				return
			}
			if !a.Over() && !ended && string(down) != piece {
				t.Errorf("%q went down as %q", piece, down)
			}
			if ended {
				calls, alone := a.Recalls()
				if alone && len(calls) == 0 {
					t.Error("nothing is alone")
				}
				_, _ = a.Finish()
				return
			}
		}
	})
}

// G6: the tool for recalling takes at most 120 tokens, about four bytes each.
func TestRecallIsSmall(t *testing.T) {
	for name, d := range dialectsByName() {
		raw, err := d.tools(nil)
		if err != nil || len(raw) > 4*120 {
			t.Errorf("%s: %d bytes, %v", name, len(raw), err)
		}
	}
}

// G6: where recall has no place a request is left alone.
func TestPlace(t *testing.T) {
	tool := quire.ToolSpec{Name: "read", Schema: json.RawMessage(`{}`)}
	for _, c := range []struct {
		name string
		call quire.Call
		want bool
	}{
		{"no tools", quire.Call{}, false},
		{"tools", quire.Call{Tools: []quire.ToolSpec{tool}}, true},
		{"auto", quire.Call{Tools: []quire.ToolSpec{tool}, Choice: quire.Choice{Mode: "auto"}}, true},
		{"forced", quire.Call{Tools: []quire.ToolSpec{tool}, Choice: quire.Choice{Mode: "tool", Tool: "read"}}, false},
		{"none", quire.Call{Tools: []quire.ToolSpec{tool}, Choice: quire.Choice{Mode: "none"}}, false},
		{"its own recall", quire.Call{Tools: []quire.ToolSpec{{Name: "recall", Schema: json.RawMessage(`{}`)}}}, false},
	} {
		if got := Messages().Place(&c.call); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

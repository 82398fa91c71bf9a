package responses

import (
	"encoding/json"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/openai"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// decodeTools takes the tools when every one of them is an object of a type. The
// tools of a namespace, and how free text is to look, stay in the rest.
func decodeTools(r *rawjson.Reader) []quire.ToolSpec {
	list, _ := openai.List(r.Peek("tools"))
	var tools []quire.ToolSpec
	for _, raw := range list {
		t, ok := decodeTool(raw)
		if !ok {
			return nil
		}
		tools = append(tools, t)
	}
	if len(tools) > 0 {
		r.Take("tools")
	}
	return tools
}

func decodeTool(raw json.RawMessage) (quire.ToolSpec, bool) {
	var t quire.ToolSpec
	r, ok := rawjson.Read(raw)
	if !ok {
		return t, false
	}
	if t.Type = r.Text("type"); t.Type == "" {
		return t, false
	}
	t.Name, t.Description = r.Text("name"), r.Text("description")
	if rawjson.IsObject(r.Peek("parameters")) {
		t.Schema = r.Take("parameters")
	}
	if t.Type == "function" {
		t.Type = ""
	}
	t.Rest = r.Rest()
	t.Cache = openai.ReadMark(t.Rest)
	return t, true
}

func writeTools(w *rawjson.Writer, tools []quire.ToolSpec) {
	var list []json.RawMessage
	for _, t := range tools {
		raw, err := encodeTool(t)
		if err != nil {
			w.Fail(err)
		}
		list = append(list, raw)
	}
	if len(list) > 0 {
		w.Made("tools", rawjson.Array(list))
	}
}

// encodeTool writes a tool. A mark has no place there but where one was read.
func encodeTool(t quire.ToolSpec) (json.RawMessage, error) {
	var w rawjson.Writer
	w.Text("type", t.Type)
	w.Text("type", "function")
	w.Text("name", t.Name)
	w.Text("description", t.Description)
	w.Raw("parameters", t.Schema)
	var but []string
	if openai.ReadMark(t.Rest) != quire.MarkNone {
		but = openai.WriteMark(&w, t.Cache, t.Rest)
	}
	w.Rest(t.Rest, but...)
	return w.Bytes()
}

// decodeChoice takes a choice that is a mode or names one tool of ours. Another
// one, like a list of tools that are allowed, stays where it is.
func decodeChoice(r *rawjson.Reader) quire.Choice {
	switch mode, _ := rawjson.TextOf(r.Peek("tool_choice")); mode {
	case "auto", "none", "required":
		r.Take("tool_choice")
		return quire.Choice{Mode: mode}
	}
	inner, _ := rawjson.Read(r.Peek("tool_choice"))
	kind, _ := rawjson.TextOf(inner.Take("type"))
	c := quire.Choice{Mode: "tool", Tool: inner.Text("name")}
	if kind != "function" && kind != "custom" || c.Tool == "" || len(inner.Rest()) > 0 {
		return quire.Choice{}
	}
	if kind == "custom" {
		c.Rest = []quire.Field{{Name: "type", Value: openai.Quote(kind)}}
	}
	r.Take("tool_choice")
	return c
}

func writeChoice(w *rawjson.Writer, c quire.Choice) {
	if c.Mode != "tool" {
		w.Text("tool_choice", c.Mode)
		return
	}
	var inner rawjson.Writer
	inner.Raw("type", rawjson.Get(c.Rest, "type"))
	inner.Text("type", "function")
	inner.Text("name", c.Tool)
	w.Object("tool_choice", &inner)
}

// decodeThinking takes the effort; what is said beside it about reasoning is left
// in the rest of it.
func decodeThinking(r *rawjson.Reader) quire.Thinking {
	inner, ok := rawjson.Read(r.Peek("reasoning"))
	if !ok {
		return quire.Thinking{}
	}
	r.Take("reasoning")
	t := quire.Thinking{Effort: inner.Text("effort")}
	if left := openai.Object(inner.Rest()); t.Effort == "" || string(left) != "{}" {
		t.Rest = []quire.Field{{Name: "reasoning", Value: left}}
	}
	return t
}

func writeThinking(w *rawjson.Writer, t quire.Thinking) {
	left, kept := rawjson.Read(rawjson.Get(t.Rest, "reasoning"))
	if t.Effort == "" && !kept {
		return
	}
	var inner rawjson.Writer
	inner.Text("effort", t.Effort)
	inner.Rest(left.Rest())
	w.Object("reasoning", &inner)
}

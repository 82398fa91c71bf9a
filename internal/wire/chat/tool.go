package chat

import (
	"encoding/json"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/openai"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// decodeTools takes the tools when every one of them is an object of a type.
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
	t.Type = r.Text("type")
	if t.Type == "" {
		return t, false
	}
	place := nestOf(t.Type)
	if inner, ok := rawjson.Read(r.Peek(place)); ok && place != "" {
		t.Name, t.Description = inner.Text("name"), inner.Text("description")
		if raw := inner.Peek("parameters"); len(raw) > 0 && raw[0] == '{' {
			t.Schema = inner.Take("parameters")
		}
		r.Put(place, openai.Object(inner.Rest()))
		if string(r.Peek(place)) == "{}" && t.Name != "" {
			r.Take(place)
		}
	}
	if t.Type == "function" {
		t.Type = ""
	}
	t.Rest = r.Rest()
	t.Cache = openai.ReadMark(t.Rest)
	return t, true
}

// nestOf is the member in which a type of tool has its name and schema, "" for
// the tools that the provider runs.
func nestOf(kind string) string {
	switch kind {
	case "", "function", "builtin_function":
		return "function"
	case "custom":
		return "custom"
	}
	return ""
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

func encodeTool(t quire.ToolSpec) (json.RawMessage, error) {
	var w rawjson.Writer
	w.Text("type", t.Type)
	w.Text("type", "function")
	if place := nestOf(t.Type); place != "" && (t.Name != "" || t.Description != "" || t.Schema != nil) {
		var inner rawjson.Writer
		inner.Text("name", t.Name)
		inner.Text("description", t.Description)
		inner.Raw("parameters", t.Schema)
		if left, ok := rawjson.Read(rawjson.Get(t.Rest, place)); ok {
			inner.Rest(left.Rest())
		}
		raw, err := inner.Bytes()
		if err != nil {
			return nil, err
		}
		w.Made(place, raw)
	}
	w.Rest(t.Rest, openai.WriteMark(&w, t.Cache, t.Rest)...)
	return w.Bytes()
}

// decodeChoice takes a choice that is a mode or names one function. Another one,
// like a list of tools that are allowed, stays where it is.
func decodeChoice(r *rawjson.Reader) quire.Choice {
	switch mode, _ := rawjson.TextOf(r.Peek("tool_choice")); mode {
	case "auto", "none", "required":
		r.Take("tool_choice")
		return quire.Choice{Mode: mode}
	}
	outer, ok := rawjson.Read(r.Peek("tool_choice"))
	if !ok {
		return quire.Choice{}
	}
	kind := outer.Text("type")
	inner, ok := rawjson.Read(outer.Take(kind))
	if !ok || kind != "function" && kind != "custom" {
		return quire.Choice{}
	}
	c := quire.Choice{Mode: "tool", Tool: inner.Text("name")}
	if c.Tool == "" || inner.Rest() != nil || outer.Rest() != nil {
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
	kind, _ := rawjson.TextOf(rawjson.Get(c.Rest, "type"))
	if kind != "custom" {
		kind = "function"
	}
	b := append([]byte(`{"type":`), openai.Quote(kind)...)
	b = append(append(append(b, ','), openai.Quote(kind)...), `:{"name":`...)
	b = append(append(b, openai.Quote(c.Tool)...), "}}"...)
	w.Made("tool_choice", b)
}

// decodeToolCall reads one call of a tool. Its arguments are taken byte by byte;
// the few servers that write them as an object get one back.
func decodeToolCall(raw json.RawMessage) quire.Block {
	b := quire.Block{Part: quire.Part{Kind: quire.PartToolCall}}
	opaque := quire.Block{Part: b.Part, Opaque: raw}
	r, ok := rawjson.Read(raw)
	if !ok {
		return opaque
	}
	place, argument, ok := callPlace(r)
	if !ok {
		return opaque
	}
	inner, ok := rawjson.Read(r.Peek(place))
	if !ok {
		return opaque
	}
	given := inner.Peek(argument)
	if text, ok := rawjson.TextOf(given); ok {
		inner.Take(argument)
		b.Text = text
	} else if len(given) > 0 && given[0] == '{' {
		b.Text = string(given)
		inner.Put(argument, json.RawMessage("{}"))
	} else {
		return opaque
	}
	b.ToolUse, b.Tool = r.Text("id"), inner.Text("name")
	if r.Put(place, openai.Object(inner.Rest())); string(r.Peek(place)) == "{}" {
		r.Take(place)
	}
	b.Rest = r.Rest()
	return b
}

// callPlace is the member of a tool call that holds its name and arguments, and
// what these are called. A call without a type is told by "" from one with the
// ordinary type.
func callPlace(r *rawjson.Reader) (place, argument string, ok bool) {
	raw := r.Peek("type")
	if raw == nil {
		r.Put("type", json.RawMessage(`""`))
		return "function", "arguments", true
	}
	switch kind, _ := rawjson.TextOf(raw); kind {
	case "function":
		r.Take("type")
		return "function", "arguments", true
	case "custom":
		return "custom", "input", true
	}
	return "", "", false
}

func encodeToolCall(w *rawjson.Writer, b quire.Block) json.RawMessage {
	raw, err := toolCall(b)
	if err != nil {
		w.Fail(err)
	}
	return raw
}

func toolCall(b quire.Block) (json.RawMessage, error) {
	if b.Opaque != nil {
		return openai.Value(b.Opaque)
	}
	place, argument := "function", "arguments"
	kept := rawjson.Get(b.Rest, "type")
	if kind, _ := rawjson.TextOf(kept); kind == "custom" {
		place, argument = "custom", "input"
	}
	var w, inner rawjson.Writer
	w.Text("id", b.ToolUse)
	if string(kept) != `""` {
		w.Text("type", place)
	}
	left, _ := rawjson.Read(rawjson.Get(b.Rest, place))
	inner.Text("name", b.Tool)
	writeArguments(&inner, argument, b.Text, left)
	inner.Rest(left.Rest())
	raw, err := inner.Bytes()
	if err != nil {
		return nil, err
	}
	w.Made(place, raw)
	w.Rest(openai.Without(b.Rest, "type"))
	return w.Bytes()
}

func writeArguments(w *rawjson.Writer, name, text string, left *rawjson.Reader) {
	if string(left.Peek(name)) == "{}" && json.Valid([]byte(text)) {
		w.Raw(name, json.RawMessage(text))
		return
	}
	w.Full(name, text)
}

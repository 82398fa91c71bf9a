package gemini

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

const (
	toolsName        = "tools"
	choiceName       = "toolConfig"
	callingName      = "functionCallingConfig"
	declarationsName = "functionDeclarations"
	schemaName       = "parametersJsonSchema"
)

// takeTools takes tools if they are written as encodeTools writes them, and
// leaves them otherwise.
func takeTools(r *rawjson.Reader) []quire.ToolSpec {
	raw := r.Peek(toolsName)
	tools := toolsOf(raw)
	if again, err := encodeTools(tools); err == nil && len(tools) > 0 && sameTools(raw, again) {
		r.Take(toolsName)
	}
	return tools
}

// sameTools reports whether two lists of tools are grouped in the same way. What
// is in the groups is known to be the same.
func sameTools(a, b json.RawMessage) bool {
	list, other := rawjson.Elements(a), rawjson.Elements(b)
	if len(list) != len(other) {
		return false
	}
	for i := range list {
		one, two := rawjson.Members(list[i]), rawjson.Members(other[i])
		if len(one) != len(two) || (rawjson.Get(one, declarationsName) == nil) != (rawjson.Get(two, declarationsName) == nil) {
			return false
		}
	}
	return true
}

// toolsOf reads the declarations of functions one by one. A tool that is no
// function has the name of its first member for its type.
func toolsOf(raw json.RawMessage) []quire.ToolSpec {
	var tools []quire.ToolSpec
	for _, one := range rawjson.Elements(raw) {
		o, ok := rawjson.Read(one)
		if !ok {
			return nil
		}
		list := rawjson.Elements(o.Take(declarationsName))
		for _, d := range list {
			declaration, ok := rawjson.Read(d)
			if !ok {
				return nil
			}
			tools = append(tools, decodeDeclaration(declaration))
		}
		if rest := o.Rest(); len(rest) > 0 {
			tools = append(tools, quire.ToolSpec{Type: rest[0].Name, Rest: rest})
		}
	}
	return tools
}

// decodeDeclaration reads a function. A schema in the API's own form stays in
// the rest too, as it is another member.
func decodeDeclaration(r *rawjson.Reader) quire.ToolSpec {
	t := quire.ToolSpec{Name: r.Text("name"), Description: r.Text("description")}
	if rawjson.IsObject(r.Peek(schemaName)) {
		t.Schema = r.Take(schemaName)
	} else if own := r.Peek("parameters"); rawjson.IsObject(own) {
		t.Schema = own
	}
	t.Rest = r.Rest()
	return t
}

func encodeDeclaration(t quire.ToolSpec) (json.RawMessage, error) {
	var w rawjson.Writer
	w.Text("name", t.Name)
	w.Text("description", t.Description)
	own := rawjson.Get(t.Rest, "parameters")
	if bytes.Equal(own, t.Schema) {
		w.Rest(t.Rest)
		return w.Bytes()
	}
	w.Raw(schemaName, t.Schema)
	if rawjson.IsObject(own) {
		w.Rest(t.Rest, "parameters")
	} else {
		w.Rest(t.Rest)
	}
	return w.Bytes()
}

// encodeTools writes functions that follow each other in one group.
func encodeTools(tools []quire.ToolSpec) (json.RawMessage, error) {
	var groups, functions []json.RawMessage
	flush := func() {
		if len(functions) > 0 {
			var w rawjson.Writer
			w.Made(declarationsName, rawjson.Array(functions))
			// Made of what is JSON already.
			group, _ := w.Bytes()
			groups, functions = append(groups, group), nil
		}
	}
	for _, t := range tools {
		if t.Type == "" {
			raw, err := encodeDeclaration(t)
			if err != nil {
				return nil, err
			}
			functions = append(functions, raw)
			continue
		}
		flush()
		raw, err := encodeProviderTool(t)
		if err != nil {
			return nil, err
		}
		groups = append(groups, raw)
	}
	flush()
	return rawjson.Array(groups), nil
}

// encodeProviderTool writes a tool that is no function.
func encodeProviderTool(t quire.ToolSpec) (json.RawMessage, error) {
	var w rawjson.Writer
	w.Rest(t.Rest)
	if rawjson.Get(t.Rest, t.Type) == nil {
		w.Made(t.Type, json.RawMessage("{}"))
	}
	return w.Bytes()
}

func writeTools(w *rawjson.Writer, c quire.Call) {
	if kept := rawjson.Get(c.Rest, toolsName); kept != nil && reflect.DeepEqual(toolsOf(kept), c.Tools) {
		w.Raw(toolsName, kept)
		return
	}
	if len(c.Tools) == 0 {
		return
	}
	raw, err := encodeTools(c.Tools)
	if err != nil {
		w.Fail(err)
	}
	w.Made(toolsName, raw)
}

// choiceModes pairs the modes of a [quire.Choice] with those of the API, which
// has no mode for one tool: it is the only one allowed then.
var choiceModes = [...]struct{ mode, theirs string }{{"auto", "AUTO"}, {"required", "ANY"}, {"tool", "ANY"}, {"none", "NONE"}}

// takeChoice reads toolConfig, which stays in the rest as it may hold more.
func takeChoice(r *rawjson.Reader) quire.Choice { return choiceOf(r.Peek(choiceName)) }

func choiceOf(raw json.RawMessage) quire.Choice {
	config := rawjson.Members(rawjson.Get(rawjson.Members(raw), callingName))
	mode, _ := rawjson.TextOf(rawjson.Get(config, "mode"))
	allowed := rawjson.Elements(rawjson.Get(config, "allowedFunctionNames"))
	if mode == "ANY" && len(allowed) == 1 {
		tool, _ := rawjson.TextOf(allowed[0])
		return quire.Choice{Mode: "tool", Tool: tool}
	}
	for _, m := range choiceModes {
		if m.theirs == mode {
			return quire.Choice{Mode: m.mode}
		}
	}
	return quire.Choice{}
}

func writeChoice(w *rawjson.Writer, c quire.Call) {
	kept := rawjson.Get(c.Rest, choiceName)
	if old := choiceOf(kept); kept != nil && old.Mode == c.Choice.Mode && old.Tool == c.Choice.Tool {
		w.Raw(choiceName, kept)
		return
	}
	var o, calling rawjson.Writer
	for _, m := range choiceModes {
		if m.mode == c.Choice.Mode {
			calling.Full("mode", m.theirs)
		}
	}
	if c.Choice.Mode == "tool" {
		calling.Made("allowedFunctionNames", rawjson.Array([]json.RawMessage{rawjson.AppendText(nil, c.Choice.Tool)}))
	}
	writeUnlessEmpty(&o, callingName, &calling)
	o.Rest(rawjson.Members(kept), callingName)
	writeUnlessEmpty(w, choiceName, &o)
}

package curation

import (
	"encoding/json"
	"slices"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// Tools is the tool for recalling, as a list of one: its declaration, with the hint
// when to use it, takes at most 120 tokens.
func Tools() []quire.ToolSpec {
	return []quire.ToolSpec{{
		Name:        run.RecallName,
		Description: "Reads back what left this conversation: a page by name (p412, p412#L10-L40), or what a search finds. Use it when a handle or card names what you need.",
		Schema:      json.RawMessage(`{"type":"object","properties":{"page":{"type":"string"},"query":{"type":"string"}}}`),
	}}
}

// Place says whether the tool for recalling has one in a request: one where the model
// may call it, which it may not where the client says what is allowed.
func (d *Dialect) Place(c *quire.Call) bool {
	if len(c.Tools) == 0 || c.Choice.Mode != "" && c.Choice.Mode != "auto" || allows(c.Rest) {
		return false
	}
	functions := false
	for i := range c.Tools {
		if c.Tools[i].Name == run.RecallName {
			return false
		}
		functions = functions || c.Tools[i].Schema != nil
	}
	return functions
}

// allows reports whether a request says which tools may be called, in a form that is
// no [quire.Choice].
func allows(rest []quire.Field) bool {
	if choice := rawjson.Get(rest, "tool_choice"); choice != nil && string(choice) != "null" {
		return true
	}
	for _, name := range [...]string{"toolConfig", "tool_config"} {
		config := rawjson.Members(rawjson.Get(rest, name))
		for _, name := range [...]string{"functionCallingConfig", "function_calling_config"} {
			calling := rawjson.Members(rawjson.Get(config, name))
			if rawjson.Get(calling, "allowedFunctionNames") != nil || rawjson.Get(calling, "allowed_function_names") != nil {
				return true
			}
		}
	}
	return false
}

// tools is the list of a request with the tool for recalling behind all others.
func (d *Dialect) tools(raw json.RawMessage) (json.RawMessage, error) {
	body, err := d.encodeCall(quire.Call{Tools: Tools()})
	if err != nil {
		return nil, err
	}
	ours := rawjson.Elements(rawjson.Get(rawjson.Members(body), "tools"))
	list := rawjson.Elements(raw)
	if d.list == "contents" {
		if joined, ok := declared(list, ours); ok {
			return rawjson.Array(joined), nil
		}
	}
	return rawjson.Array(slices.Concat(list, ours)), nil
}

// declarations is where Gemini lists functions within a tool.
const declarations = "functionDeclarations"

// declared puts the declaration behind those of the last tool that has any.
func declared(list, ours []json.RawMessage) ([]json.RawMessage, bool) {
	for i := len(list) - 1; i >= 0 && len(ours) == 1; i-- {
		theirs := rawjson.Elements(rawjson.Get(rawjson.Members(list[i]), declarations))
		if len(theirs) == 0 {
			continue
		}
		added := rawjson.Elements(rawjson.Get(rawjson.Members(ours[0]), declarations))
		out := slices.Clone(list)
		out[i] = object(rawjson.Members(list[i]), func(f *quire.Field) bool {
			if f.Name == declarations {
				f.Value = rawjson.Array(slices.Concat(theirs, added))
			}
			return true
		})
		return out, true
	}
	return nil, false
}

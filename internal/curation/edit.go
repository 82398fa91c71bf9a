package curation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// Edit is the body that goes up in the place of a client's: its list is that of the
// call, recall stands behind its tools, our marks in the place of its own, and what
// lets the provider clear the prompt is taken out (design, G6, G10, G15). Members
// that nothing is said of are the client's bytes.
func (d *Dialect) Edit(body []byte, c *Call) ([]byte, error) {
	fields := rawjson.Members(body)
	tools, err := d.tools(d.clean(rawjson.Get(fields, "tools")))
	if err != nil {
		return nil, fmt.Errorf("put recall into the list of tools: %w", err)
	}
	system := d.clean(rawjson.Get(fields, "system"))
	if c.Head && d.marks {
		system, tools = markHead(system, tools, c.Mark)
	}
	if rawjson.Get(fields, "tools") == nil {
		fields = append(fields, quire.Field{Name: "tools"})
	}
	return object(fields, func(f *quire.Field) bool {
		switch {
		case f.Name == d.list:
			lead := rawjson.Elements(f.Value)
			f.Value = Joined(slices.Concat(lead[:min(c.Lead, len(lead))], c.List))
		case f.Name == "tools":
			f.Value = tools
		case f.Name == "system" && d.marks:
			f.Value = system
		case f.Name == markName && d.marks, f.Name == "truncation" && d.list == "input":
			return false
		case f.Name == "context_management":
			f.Value = keeping(f.Value)
			return f.Value != nil
		}
		return true
	}), nil
}

func (d *Dialect) clean(raw json.RawMessage) json.RawMessage {
	if !d.marks {
		return raw
	}
	return unmarked(raw)
}

// markHead puts a mark at the end of what stands in front of all messages.
func markHead(system, tools json.RawMessage, m quire.Mark) (json.RawMessage, json.RawMessage) {
	if n := len(rawjson.Elements(system)); n > 0 {
		return markedList(system, n-1, m), tools
	}
	if text, _ := rawjson.TextOf(system); text != "" {
		return markedList(system, 0, m), tools
	}
	return system, markedList(tools, len(rawjson.Elements(tools))-1, m)
}

// keeping is what a client asks its provider to do with the prompt, without what
// would clear handles of ours or fold them away; nil where nothing is left.
func keeping(raw json.RawMessage) json.RawMessage {
	if rawjson.IsArray(raw) {
		return kept(raw)
	}
	if !rawjson.IsObject(raw) {
		return raw
	}
	empty := false
	out := object(rawjson.Members(raw), func(f *quire.Field) bool {
		if f.Name != "edits" {
			return true
		}
		f.Value = kept(f.Value)
		empty = f.Value == nil
		return !empty
	})
	if empty && len(rawjson.Members(out)) == 0 {
		return nil
	}
	return out
}

func kept(raw json.RawMessage) json.RawMessage {
	var out []json.RawMessage
	for _, e := range rawjson.Elements(raw) {
		kind, _ := rawjson.TextOf(rawjson.Get(rawjson.Members(e), "type"))
		if !strings.HasPrefix(kind, "clear_tool_uses") && !strings.HasPrefix(kind, "compact") {
			out = append(out, e)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return rawjson.Array(out)
}

// Less is a body whose answer may have fewer tokens, by so many as were spent; where
// thinking has a budget the limit stays above it.
func (d *Dialect) Less(body []byte, spent int64) []byte {
	fields := rawjson.Members(body)
	floor := int64(1)
	thinking := rawjson.Members(rawjson.Get(fields, "thinking"))
	if n, err := strconv.ParseInt(string(rawjson.Get(thinking, "budget_tokens")), 10, 64); err == nil {
		floor = n + 1
	}
	lower := func(f *quire.Field) {
		if n, err := strconv.ParseInt(string(f.Value), 10, 64); err == nil && n > 0 {
			f.Value = strconv.AppendInt(nil, min(n, max(n-spent, floor)), 10)
		}
	}
	return object(fields, func(f *quire.Field) bool {
		for _, name := range d.limit {
			if f.Name == name {
				lower(f)
			}
		}
		if f.Name == "generationConfig" && d.list == "contents" {
			f.Value = object(rawjson.Members(f.Value), func(g *quire.Field) bool {
				if g.Name == "maxOutputTokens" {
					lower(g)
				}
				return true
			})
		}
		return true
	})
}

// Unbound is a client's body without thinking: what was made behind a prompt of ours
// is bound to it, and to no other (design, G17). Where the list ends with results,
// thinking is not asked for either: a provider would want it in front of the calls.
func (d *Dialect) Unbound(body []byte) []byte {
	fields := rawjson.Members(body)
	list, open := d.unthought(rawjson.Get(fields, d.list))
	return object(fields, func(f *quire.Field) bool {
		if f.Name == d.list {
			f.Value = list
		}
		return !(f.Name == "thinking" && d.marks && open && enabled(f.Value))
	})
}

func enabled(raw json.RawMessage) bool {
	kind, _ := rawjson.TextOf(rawjson.Get(rawjson.Members(raw), "type"))
	return kind == "enabled"
}

// unthought is a list without blocks and items of thinking. open says that the
// results of its last answer's calls follow it, and no words with them.
func (d *Dialect) unthought(raw json.RawMessage) (_ json.RawMessage, open bool) {
	var out []json.RawMessage
	answered := false
	for _, e := range rawjson.Elements(raw) {
		members := rawjson.Members(e)
		if isThought(members) {
			continue
		}
		role, _ := rawjson.TextOf(rawjson.Get(members, "role"))
		if role != "assistant" || !d.marks {
			open = open && !answered || answered && onlyResults(members)
			answered = false
			out = append(out, e)
			continue
		}
		answered, open = true, false
		if e = withoutThought(members); e != nil {
			out = append(out, e)
		}
	}
	return rawjson.Array(out), open
}

// onlyResults reports whether a message holds results of tools and no words.
func onlyResults(members []quire.Field) bool {
	list := rawjson.Elements(rawjson.Get(members, "content"))
	for _, b := range list {
		if kind, _ := rawjson.TextOf(rawjson.Get(rawjson.Members(b), "type")); kind == "text" {
			return false
		}
	}
	return len(list) > 0
}

func isThought(members []quire.Field) bool {
	kind, _ := rawjson.TextOf(rawjson.Get(members, "type"))
	return kind == "thinking" || kind == "redacted_thinking" || kind == "reasoning"
}

// withoutThought is a message without its thinking, nil where nothing else is in it.
func withoutThought(members []quire.Field) json.RawMessage {
	some := true
	out := object(members, func(f *quire.Field) bool {
		if f.Name != "content" || !rawjson.IsArray(f.Value) {
			return true
		}
		var blocks []json.RawMessage
		for _, b := range rawjson.Elements(f.Value) {
			if !isThought(rawjson.Members(b)) {
				blocks = append(blocks, b)
			}
		}
		some = len(blocks) > 0
		f.Value = rawjson.Array(blocks)
		return true
	})
	if !some {
		return nil
	}
	return out
}

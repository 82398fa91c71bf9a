package chat

import (
	"encoding/json"
	"slices"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/openai"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// roleOf knows the roles that a message can be taken apart by.
func roleOf(raw json.RawMessage) quire.Role {
	switch name, _ := rawjson.TextOf(raw); name {
	case "system", "developer":
		return quire.RoleSystem
	case "user":
		return quire.RoleUser
	case "assistant":
		return quire.RoleAssistant
	case "tool":
		return quire.RoleTool
	}
	return 0
}

func decodeMessage(raw json.RawMessage) quire.Message {
	r, ok := rawjson.Read(raw)
	if !ok {
		return opaqueMessage(raw)
	}
	m := quire.Message{Role: roleOf(r.Peek("role"))}
	if m.Role == 0 || m.Role == quire.RoleTool && r.Peek("content") == nil {
		return opaqueMessage(raw)
	}
	r.Is("role", m.Role.String())
	switch m.Role {
	case quire.RoleTool:
		m.Blocks = []quire.Block{decodeResult(r)}
	case quire.RoleAssistant:
		m.Blocks = decodeAnswer(r)
	default:
		m.Blocks = decodeContent(r, textKind(m.Role))
	}
	m.Rest = r.Rest()
	return m
}

func opaqueMessage(raw json.RawMessage) quire.Message {
	return quire.Message{Blocks: []quire.Block{{Opaque: raw}}}
}

// textKind is what text of a role is.
func textKind(role quire.Role) quire.PartKind {
	switch role {
	case quire.RoleSystem:
		return quire.PartSystem
	case quire.RoleUser:
		return quire.PartUser
	}
	return quire.PartText
}

// decodeContent takes content that is a text or a list of parts and not empty.
func decodeContent(r *rawjson.Reader, kind quire.PartKind) []quire.Block {
	if text := r.Text("content"); text != "" {
		return []quire.Block{{Part: quire.Part{Kind: kind, Text: text}, Plain: true}}
	}
	list, ok := openai.List(r.Peek("content"))
	if !ok {
		return nil
	}
	r.Take("content")
	blocks := make([]quire.Block, len(list))
	for i, raw := range list {
		blocks[i] = decodePart(raw, kind)
	}
	return blocks
}

// decodeAnswer reads what a model said: its thinking, its words, its calls.
func decodeAnswer(r *rawjson.Reader) []quire.Block {
	var blocks []quire.Block
	if thinking, ok := decodeThought(r); ok {
		blocks = append(blocks, thinking)
	}
	blocks = append(blocks, decodeContent(r, quire.PartText)...)
	list, ok := openai.List(r.Peek("tool_calls"))
	if !ok {
		return blocks
	}
	r.Take("tool_calls")
	for _, raw := range list {
		blocks = append(blocks, decodeToolCall(raw))
	}
	return blocks
}

// decodeResult reads the result of a tool. The name of the tool, which some
// dialects put there, is looked at and stays where it is.
func decodeResult(r *rawjson.Reader) quire.Block {
	b := quire.Block{Part: quire.Part{Kind: quire.PartToolResult, ToolUse: r.Text("tool_call_id")}}
	b.Tool, _ = rawjson.TextOf(r.Peek("name"))
	b.Content = decodeContent(r, quire.PartMachine)
	if len(b.Content) == 1 && b.Content[0].Plain {
		b.Text, b.Content = b.Content[0].Text, nil
	}
	return b
}

// splitResults makes each result of a tool a message of its own, as this
// protocol has it. What else stands in the message follows in one of the user.
func splitResults(m quire.Message) []quire.Message {
	if !slices.ContainsFunc(m.Blocks, isResult) || m.Role == quire.RoleTool && len(m.Blocks) == 1 {
		return []quire.Message{m}
	}
	var list []quire.Message
	other := quire.Message{Role: quire.RoleUser, Rest: m.Rest}
	for _, b := range m.Blocks {
		if isResult(b) {
			list = append(list, quire.Message{Role: quire.RoleTool, Blocks: []quire.Block{b}})
		} else {
			other.Blocks = append(other.Blocks, b)
		}
	}
	if len(other.Blocks) > 0 {
		return append(list, other)
	}
	return list
}

func isResult(b quire.Block) bool { return b.Kind == quire.PartToolResult && b.Opaque == nil }

func encodeMessage(m quire.Message) (json.RawMessage, error) {
	if m.Role == 0 && len(m.Blocks) == 1 && m.Blocks[0].Opaque != nil {
		return m.Blocks[0].Opaque, nil
	}
	var w rawjson.Writer
	if kept := rawjson.Get(m.Rest, "role"); roleOf(kept) == m.Role {
		w.Raw("role", kept)
	}
	w.Full("role", m.Role.String())
	switch m.Role {
	case quire.RoleTool:
		writeResult(&w, m)
	case quire.RoleAssistant:
		writeAnswer(&w, m)
	default:
		writeContent(&w, m.Blocks)
	}
	w.Rest(m.Rest)
	return w.Bytes()
}

func writeContent(w *rawjson.Writer, blocks []quire.Block) {
	switch {
	case len(blocks) == 0:
	case len(blocks) == 1 && plain(blocks[0]):
		w.Text("content", blocks[0].Text)
	default:
		w.Made("content", encodeParts(w, blocks))
	}
}

// plain reports whether a block can stand as a string.
func plain(b quire.Block) bool {
	return b.Plain && isText(b.Kind) && b.Text != "" && b.Opaque == nil && b.Cache == quire.MarkNone && len(b.Rest) == 0
}

func isText(k quire.PartKind) bool {
	return k == quire.PartSystem || k == quire.PartUser || k == quire.PartMachine || k == quire.PartText
}

func writeResult(w *rawjson.Writer, m quire.Message) {
	for _, b := range m.Blocks {
		w.Text("tool_call_id", b.ToolUse)
		writeContent(w, resultContent(b))
	}
	if rawjson.Get(m.Rest, "content") == nil {
		w.Full("content", "")
	}
}

// resultContent is the pieces of a result.
func resultContent(b quire.Block) []quire.Block {
	if len(b.Content) > 0 || b.Text == "" {
		return b.Content
	}
	return []quire.Block{{Part: quire.Part{Kind: quire.PartMachine, Text: b.Text}, Plain: true, Cache: b.Cache}}
}

func writeAnswer(w *rawjson.Writer, m quire.Message) {
	var thoughts, words []quire.Block
	var calls []json.RawMessage
	for _, b := range m.Blocks {
		switch {
		case b.Kind == quire.PartToolCall:
			calls = append(calls, encodeToolCall(w, b))
		case b.Kind == quire.PartThinking && b.Opaque == nil && !isPart(b):
			thoughts = append(thoughts, b)
		default:
			words = append(words, b)
		}
	}
	writeContent(w, words)
	writeThoughts(w, thoughts)
	if len(calls) > 0 {
		w.Made("tool_calls", rawjson.Array(calls))
	}
}

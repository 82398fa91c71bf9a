package responses

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/openai"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// The types of items that are taken apart.
const (
	itemMessage      = "message"
	itemReasoning    = "reasoning"
	itemCall         = "function_call"
	itemCustomCall   = "custom_tool_call"
	itemResult       = "function_call_output"
	itemCustomResult = "custom_tool_call_output"
)

// decodeItem reads an item as a message: a whole one, or part of what the
// assistant said.
func decodeItem(raw json.RawMessage) quire.Message {
	r, ok := rawjson.Read(raw)
	if !ok {
		return quire.Message{Blocks: []quire.Block{{Opaque: raw}}}
	}
	kind, _ := rawjson.TextOf(r.Peek("type"))
	switch {
	case kind == itemMessage || r.Peek("type") == nil:
		return decodeMessage(r, raw)
	case kind == itemReasoning:
		return assistant(decodeReasoning(r, raw))
	case kind == itemCall || kind == itemCustomCall:
		return assistant(decodeCall(r, raw))
	case kind == itemResult || kind == itemCustomResult:
		return quire.Message{Role: quire.RoleTool, Blocks: []quire.Block{decodeResult(r, raw)}}
	}
	return opaqueItem(kind, r, raw)
}

func assistant(blocks ...quire.Block) quire.Message {
	return quire.Message{Role: quire.RoleAssistant, Blocks: blocks}
}

// opaqueItem is an item that is not taken apart, as far as its type tells what it
// is. Calls and results keep the id that pairs them.
func opaqueItem(kind string, r *rawjson.Reader, raw json.RawMessage) quire.Message {
	m := quire.Message{Blocks: []quire.Block{{Opaque: raw}}}
	b := &m.Blocks[0]
	b.ToolUse, _ = rawjson.TextOf(r.Peek("call_id"))
	switch {
	case strings.HasSuffix(kind, "_output"):
		m.Role, b.Kind = quire.RoleTool, quire.PartToolResult
		b.Tool = strings.TrimSuffix(strings.TrimSuffix(kind, "_output"), "_call")
	case strings.HasSuffix(kind, "_call") || kind == "mcp_list_tools" || kind == "mcp_approval_request":
		m.Role, b.Kind = quire.RoleAssistant, quire.PartToolCall
		b.Tool = strings.TrimSuffix(kind, "_call")
	case kind == itemReasoning:
		m.Role, b.Kind = quire.RoleAssistant, quire.PartThinking
	case kind == "compaction" || kind == "compaction_summary":
		m.Role, b.Kind, b.Origin = quire.RoleAssistant, quire.PartMachine, quire.OriginSummary
	case kind == "additional_tools":
		m.Role, b.Kind = quire.RoleSystem, quire.PartTools
	}
	return m
}

func roleOf(raw json.RawMessage) quire.Role {
	switch name, _ := rawjson.TextOf(raw); name {
	case "system", "developer":
		return quire.RoleSystem
	case "user":
		return quire.RoleUser
	case "assistant":
		return quire.RoleAssistant
	}
	return 0
}

// decodeMessage reads a message with content. Its type stays in the rest, as it
// may be missing.
func decodeMessage(r *rawjson.Reader, raw json.RawMessage) quire.Message {
	m := quire.Message{Role: roleOf(r.Peek("role"))}
	if m.Role == 0 || r.Peek("input") != nil {
		return quire.Message{Blocks: []quire.Block{{Opaque: raw}}}
	}
	if m.Role == quire.RoleAssistant {
		return decodeWords(r, raw)
	}
	r.Is("role", m.Role.String())
	m.Blocks = decodeContent(r, "content", textKind(m.Role))
	m.ID = r.Text("id")
	m.Rest = r.Rest()
	return m
}

func textKind(role quire.Role) quire.PartKind {
	if role == quire.RoleSystem {
		return quire.PartSystem
	}
	return quire.PartUser
}

// decodeWords reads a message of the assistant. Its first block says what the
// item has beside its content; without content there is no block to say it.
func decodeWords(r *rawjson.Reader, raw json.RawMessage) quire.Message {
	blocks := decodeContent(r, "content", quire.PartText)
	if len(blocks) == 0 {
		return assistant(quire.Block{Part: quire.Part{Kind: quire.PartText}, Opaque: raw})
	}
	r.Take("role")
	for i := range blocks {
		b := &blocks[i]
		switch {
		case i == 0:
			b.Rest = append(b.Rest, quire.Field{Name: itemMessage, Value: openai.Object(r.Rest())})
		case b.Opaque != nil:
			b.Rest = []quire.Field{{Name: itemMessage, Value: json.RawMessage("null")}}
		}
	}
	return assistant(blocks...)
}

// encodeItems writes a message as items. Custom are the calls whose results are
// of the type for free text.
func encodeItems(m quire.Message, custom map[string]bool) ([]json.RawMessage, error) {
	switch {
	case m.Role == quire.RoleAssistant:
		return encodeAnswer(m.Blocks)
	case m.Role == quire.RoleTool || slices.ContainsFunc(m.Blocks, isResult):
		return encodeResults(m, custom)
	case len(m.Blocks) == 1 && m.Blocks[0].Opaque != nil && (m.Role == 0 || m.Blocks[0].Kind == quire.PartTools):
		raw, err := openai.Value(m.Blocks[0].Opaque)
		return []json.RawMessage{raw}, err
	}
	raw, err := encodeMessage(m)
	return []json.RawMessage{raw}, err
}

func isResult(b quire.Block) bool { return b.Kind == quire.PartToolResult }

func encodeMessage(m quire.Message) (json.RawMessage, error) {
	var w rawjson.Writer
	if kept := rawjson.Get(m.Rest, "role"); roleOf(kept) == m.Role {
		w.Raw("role", kept)
	}
	w.Text("role", m.Role.String())
	w.Text("id", m.ID)
	writeContent(&w, "content", m.Blocks)
	w.Rest(m.Rest, "input")
	return w.Bytes()
}

// encodeAnswer writes what the assistant made. Texts in a row are the parts of
// one item until one of them begins another.
func encodeAnswer(blocks []quire.Block) ([]json.RawMessage, error) {
	var list []json.RawMessage
	for len(blocks) > 0 {
		n := 1
		for n < len(blocks) && isPart(blocks[0]) && continues(blocks[n]) {
			n++
		}
		raw, err := encodeMade(blocks[:n])
		if err != nil {
			return nil, err
		}
		list = append(list, raw)
		blocks = blocks[n:]
	}
	return list, nil
}

// isPart reports whether a block of the assistant is a part of a message.
func isPart(b quire.Block) bool {
	if b.Opaque != nil {
		return rawjson.Get(b.Rest, itemMessage) != nil
	}
	return b.Kind != quire.PartThinking && b.Kind != quire.PartToolCall
}

// continues reports whether a block is a part of the message before it.
func continues(b quire.Block) bool {
	mark := rawjson.Get(b.Rest, itemMessage)
	return isPart(b) && (mark == nil || string(mark) == "null")
}

// encodeMade writes one item of the assistant.
func encodeMade(blocks []quire.Block) (json.RawMessage, error) {
	b := blocks[0]
	switch {
	case isPart(b):
		return encodeWords(blocks)
	case b.Opaque != nil:
		return openai.Value(b.Opaque)
	case b.Kind == quire.PartThinking:
		return encodeReasoning(b)
	}
	return encodeCall(b)
}

// encodeWords undoes decodeWords.
func encodeWords(blocks []quire.Block) (json.RawMessage, error) {
	var w rawjson.Writer
	left, marked := rawjson.Read(rawjson.Get(blocks[0].Rest, itemMessage))
	if !marked {
		w.Text("type", itemMessage)
	}
	w.Text("role", "assistant")
	blocks = slices.Clone(blocks)
	for i := range blocks {
		blocks[i].Rest = openai.Without(blocks[i].Rest, itemMessage)
	}
	writeContent(&w, "content", blocks)
	w.Rest(left.Rest())
	return w.Bytes()
}

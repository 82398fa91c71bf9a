package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// maxDepth bounds blocks inside blocks. The API has two levels: a document in a
// tool result, with pieces. What is deeper stays opaque, so that nesting made on
// purpose costs no more than its length.
const maxDepth = 2

// takeContent takes a member that is a string or a list of blocks, and leaves
// anything else and an empty list where they are. Texts become parts of the kind
// given.
func takeContent(r *rawjson.Reader, name string, text quire.PartKind, depth int) []quire.Block {
	raw := r.Peek(name)
	if s, exact := rawjson.TextOf(raw); exact {
		r.Take(name)
		return []quire.Block{{Part: quire.Part{Kind: text, Text: s}, Plain: true}}
	}
	list := rawjson.Elements(raw)
	if len(list) == 0 {
		return nil
	}
	r.Take(name)
	return decodeBlocks(list, text, depth)
}

func decodeBlocks(list []json.RawMessage, text quire.PartKind, depth int) []quire.Block {
	blocks := make([]quire.Block, len(list))
	for i, raw := range list {
		blocks[i] = decodeBlock(raw, text, depth)
	}
	return blocks
}

// writeContent writes a member that is a string or a list of blocks; nothing
// when there are none.
func writeContent(w *rawjson.Writer, name string, blocks []quire.Block) {
	switch {
	case len(blocks) == 1 && plain(blocks[0]):
		w.Full(name, blocks[0].Text)
	case len(blocks) > 0:
		writeList(w, name, blocks, encodeBlock)
	}
}

// plain reports whether a block can stand as a string.
func plain(b quire.Block) bool {
	return b.Plain && isText(b.Kind) && b.Opaque == nil && b.Cache == quire.MarkNone && len(b.Rest) == 0
}

func isText(k quire.PartKind) bool {
	return k == quire.PartSystem || k == quire.PartUser || k == quire.PartMachine || k == quire.PartText
}

// decodeBlock reads a block. One without what its type must have is opaque.
func decodeBlock(raw json.RawMessage, text quire.PartKind, depth int) quire.Block {
	r, ok := rawjson.Read(raw)
	if !ok {
		return quire.Block{Opaque: raw}
	}
	var b quire.Block
	kind, _ := rawjson.TextOf(r.Peek("type"))
	switch {
	case kind == "text" && isString(r, "text"):
		b.Kind, b.Text = text, r.AnyText("text")
	case kind == "thinking" && isString(r, "thinking"):
		b.Kind, b.Text, b.Signature = quire.PartThinking, r.AnyText("thinking"), r.Text("signature")
	case kind == "tool_use" && isString(r, "id") && isString(r, "name") && r.Peek("input") != nil:
		b = takeToolUse(r)
	case kind == "tool_result" && isString(r, "tool_use_id") && depth == 0:
		b = takeToolResult(r, depth)
	case kind == "image" && r.Peek("source") != nil:
		b = takeMedia(r, quire.PartImage, depth)
	case kind == "document" && r.Peek("source") != nil && depth < maxDepth:
		b = takeMedia(r, quire.PartDocument, depth)
	default:
		return opaque(raw, r, kind)
	}
	r.Take("type")
	b.Cache = takeMark(r)
	b.Rest = r.Rest()
	return b
}

// opaque is a block that is sent as it is. What pairs the calls of server tools
// with their results is read.
func opaque(raw json.RawMessage, r *rawjson.Reader, kind string) quire.Block {
	b := quire.Block{Opaque: raw, Cache: markOf(r.Peek(cacheControl))}
	switch {
	case kind == "redacted_thinking":
		b.Kind = quire.PartThinking
	case strings.HasSuffix(kind, "tool_use"):
		b.ToolUse, b.Tool = r.AnyText("id"), r.AnyText("name")
	case strings.HasSuffix(kind, "tool_result"):
		b.ToolUse = r.AnyText("tool_use_id")
	}
	return b
}

func isString(r *rawjson.Reader, name string) bool {
	raw := r.Peek(name)
	return len(raw) > 0 && raw[0] == '"'
}

func takeToolUse(r *rawjson.Reader) quire.Block {
	p := quire.Part{Kind: quire.PartToolCall, ToolUse: r.AnyText("id"), Tool: r.AnyText("name")}
	p.Text = string(r.Take("input"))
	return quire.Block{Part: p}
}

func takeToolResult(r *rawjson.Reader, depth int) quire.Block {
	b := quire.Block{Part: quire.Part{Kind: quire.PartToolResult, ToolUse: r.AnyText("tool_use_id"), IsError: r.True("is_error")}}
	if isString(r, "content") {
		if b.Text, _ = rawjson.TextOf(r.Peek("content")); b.Text != "" {
			r.AnyText("content")
		}
		return b
	}
	b.Content = takeContent(r, "content", quire.PartMachine, depth+1)
	return b
}

// encodeBlock writes a block.
func encodeBlock(b quire.Block) (json.RawMessage, error) {
	if b.Opaque != nil {
		return encodeOpaque(b)
	}
	var w rawjson.Writer
	switch {
	case isText(b.Kind):
		w.Full("type", "text")
		w.AnyText("text", b.Text, b.Rest)
	case b.Kind == quire.PartThinking:
		w.Full("type", "thinking")
		w.AnyText("thinking", b.Text, b.Rest)
		w.Text("signature", b.Signature)
	case b.Kind == quire.PartToolCall:
		writeToolUse(&w, b)
	case b.Kind == quire.PartToolResult:
		writeToolResult(&w, b)
	case b.Kind == quire.PartImage, b.Kind == quire.PartDocument:
		w.Full("type", b.Kind.String())
		writeSource(&w, b)
	default:
		return nil, fmt.Errorf("a block cannot be of kind %q", b.Kind)
	}
	writeMark(&w, b.Cache, b.Rest)
	return w.Bytes()
}

// encodeOpaque writes a block as it was, its cache mark aside.
func encodeOpaque(b quire.Block) (json.RawMessage, error) {
	r, ok := rawjson.Read(b.Opaque)
	if !ok || markOf(r.Peek(cacheControl)) == b.Cache {
		return b.Opaque, nil
	}
	var w rawjson.Writer
	writeMark(&w, b.Cache, r.Rest())
	return w.Bytes()
}

func writeToolUse(w *rawjson.Writer, b quire.Block) {
	w.Full("type", "tool_use")
	w.AnyText("id", b.ToolUse, b.Rest)
	w.AnyText("name", b.Tool, b.Rest)
	input := json.RawMessage(b.Text)
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	w.Raw("input", input)
}

func writeToolResult(w *rawjson.Writer, b quire.Block) {
	w.Full("type", "tool_result")
	w.AnyText("tool_use_id", b.ToolUse, b.Rest)
	w.True("is_error", b.IsError)
	if b.Text != "" {
		w.AnyText("content", b.Text, b.Rest)
		return
	}
	writeContent(w, "content", b.Content)
}

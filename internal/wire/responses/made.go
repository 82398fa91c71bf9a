package responses

import (
	"encoding/json"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/openai"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// decodeReasoning reads a reasoning item. Text is what can be read of it, the
// reasoning itself or its summary, and the signature is the encrypted content.
// A summary of several pieces, and content, stay in the rest too and are sent as
// they are as long as they say the same as the text.
func decodeReasoning(r *rawjson.Reader, raw json.RawMessage) quire.Block {
	if !rawjson.IsArray(r.Peek("summary")) {
		return opaqueItem(itemReasoning, r, raw).Blocks[0]
	}
	r.Take("type")
	b := quire.Block{Part: quire.Part{Kind: quire.PartThinking}}
	b.Signature = r.Text("encrypted_content")
	b.Text = readable(r.Rest())
	if string(summaryOf(b.Text)) == string(r.Peek("summary")) || simpleSummary(r.Peek("summary"), b.Text) {
		r.Take("summary")
	}
	b.Rest = r.Rest()
	return b
}

// readable is the reasoning as far as it can be read.
func readable(fields []quire.Field) string {
	if text := piecesText(rawjson.Get(fields, "content")); text != "" {
		return text
	}
	return piecesText(rawjson.Get(fields, "summary"))
}

func piecesText(raw json.RawMessage) string {
	var texts []string
	for _, piece := range rawjson.Elements(raw) {
		r, _ := rawjson.Read(piece)
		if text, ok := rawjson.TextOf(r.Peek("text")); ok {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, pieceBreak)
}

// pieceBreak stands between the pieces of a summary in a text.
const pieceBreak = "\n\n"

// simpleSummary reports whether a summary is one text and nothing beside it, or
// empty as the text is.
func simpleSummary(raw json.RawMessage, text string) bool {
	list := rawjson.Elements(raw)
	if len(list) != 1 {
		return len(list) == 0 && text == ""
	}
	r, ok := rawjson.Read(list[0])
	return ok && r.Is("type", "summary_text") && text != "" && r.Is("text", text) && len(r.Rest()) == 0
}

func summaryOf(text string) json.RawMessage {
	if text == "" {
		return json.RawMessage("[]")
	}
	b := append([]byte(`[{"type":"summary_text","text":`), openai.Quote(text)...)
	return append(b, "}]"...)
}

func encodeReasoning(b quire.Block) (json.RawMessage, error) {
	var w rawjson.Writer
	w.Text("type", itemReasoning)
	rest := b.Rest
	if !saysSame(rest, b.Text) {
		rest = openai.Without(rest, "summary", "content")
	}
	w.Raw("id", rawjson.Get(rest, "id"))
	w.Raw("summary", rawjson.Get(rest, "summary"))
	w.Made("summary", summaryOf(b.Text))
	w.Text("encrypted_content", b.Signature)
	w.Rest(rest)
	return w.Bytes()
}

// saysSame reports whether what was kept of a reasoning item says its text.
func saysSame(rest []quire.Field, text string) bool {
	content, summary := rawjson.Get(rest, "content"), rawjson.Get(rest, "summary")
	if piecesText(content) == "" && summary == nil {
		return true
	}
	return piecesText(content) == text || summary != nil && piecesText(summary) == text
}

// decodeCall reads a call of a function or of a tool that takes free text.
func decodeCall(r *rawjson.Reader, raw json.RawMessage) quire.Block {
	name, kind := "arguments", itemCall
	if !r.Is("type", itemCall) {
		name, kind = "input", itemCustomCall
	}
	text, ok := rawjson.TextOf(r.Peek(name))
	if !ok {
		return opaqueItem(kind, r, raw).Blocks[0]
	}
	r.Take(name)
	b := quire.Block{Part: quire.Part{Kind: quire.PartToolCall, Text: text}}
	b.ToolUse, b.Tool = r.Text("call_id"), r.Text("name")
	b.Rest = r.Rest()
	return b
}

// isCustom reports whether a call or result is of a tool that takes free text.
func isCustom(b quire.Block) bool {
	name, _ := rawjson.TextOf(rawjson.Get(b.Rest, "type"))
	return name == itemCustomCall || name == itemCustomResult
}

func encodeCall(b quire.Block) (json.RawMessage, error) {
	var w rawjson.Writer
	w.Raw("type", rawjson.Get(b.Rest, "type"))
	w.Text("type", itemCall)
	w.Raw("id", rawjson.Get(b.Rest, "id"))
	w.Text("call_id", b.ToolUse)
	w.Text("name", b.Tool)
	if isCustom(b) {
		w.Full("input", b.Text)
	} else {
		w.Full("arguments", b.Text)
	}
	w.Rest(b.Rest)
	return w.Bytes()
}

// decodeResult reads the result of a tool: a text, or a list of parts.
func decodeResult(r *rawjson.Reader, raw json.RawMessage) quire.Block {
	_, isText := rawjson.TextOf(r.Peek("output"))
	if !isText && !rawjson.IsArray(r.Peek("output")) {
		return opaqueItem(itemResult, r, raw).Blocks[0]
	}
	r.Is("type", itemResult)
	b := quire.Block{Part: quire.Part{Kind: quire.PartToolResult, ToolUse: r.Text("call_id")}}
	b.Content = decodeContent(r, "output", quire.PartMachine)
	if len(b.Content) == 1 && b.Content[0].Plain {
		b.Text, b.Content = b.Content[0].Text, nil
	}
	b.Rest = r.Rest()
	return b
}

// encodeResults writes the results of a message, and behind them, as a message
// of the user, what else stands in it.
func encodeResults(m quire.Message, custom map[string]bool) ([]json.RawMessage, error) {
	var list []json.RawMessage
	other := quire.Message{Role: quire.RoleUser, ID: m.ID, Rest: m.Rest}
	for _, b := range m.Blocks {
		if !isResult(b) {
			other.Blocks = append(other.Blocks, b)
			continue
		}
		raw, err := encodeResult(b, custom[b.ToolUse])
		if err != nil {
			return nil, err
		}
		list = append(list, raw)
	}
	if len(other.Blocks) == 0 {
		return list, nil
	}
	raw, err := encodeMessage(other)
	return append(list, raw), err
}

func encodeResult(b quire.Block, custom bool) (json.RawMessage, error) {
	if b.Opaque != nil {
		return openai.Value(b.Opaque)
	}
	var w rawjson.Writer
	w.Raw("type", rawjson.Get(b.Rest, "type"))
	if custom {
		w.Text("type", itemCustomResult)
	}
	w.Text("type", itemResult)
	w.Text("call_id", b.ToolUse)
	content := b.Content
	if len(content) == 0 && b.Text != "" {
		content = []quire.Block{{Part: quire.Part{Kind: quire.PartMachine, Text: b.Text}, Plain: true, Cache: b.Cache}}
	}
	writeContent(&w, "output", content)
	if rawjson.Get(b.Rest, "output") == nil {
		w.Full("output", "")
	}
	w.Rest(b.Rest)
	return w.Bytes()
}

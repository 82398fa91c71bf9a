package gemini

import (
	"encoding/json"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// responseOf reads functionResponse. One with an id is kept as it is: what it answers
// may have none.
func responseOf(raw json.RawMessage) (b quire.Block, exact, ok bool) {
	r, ok := rawjson.Read(raw)
	if !ok || !rawjson.IsString(r.Peek("name")) {
		return b, false, false
	}
	b.Kind = quire.PartToolResult
	b.Tool, b.ToolUse = r.AnyText("name"), takeID(r)
	response := r.Peek("response")
	text, isError, plain := responseText(response)
	if b.Text, b.IsError = text, isError; plain {
		r.Take("response")
	}
	if pieces := rawjson.Elements(r.Peek("parts")); len(pieces) > 0 {
		b.Content = decodePieces(text, pieces)
		b.Text = ""
	}
	return b, plain && b.ToolUse == "" && len(r.Rest()) == 0, true
}

// responseText is the text of a response, by the names that the API suggests. It
// is plain when it is written back from the text alone.
func responseText(raw json.RawMessage) (text string, isError, plain bool) {
	members := rawjson.Members(raw)
	if len(members) == 1 {
		text, exact := rawjson.TextOf(members[0].Value)
		switch name := members[0].Name; {
		case name == "output" && rawjson.IsString(members[0].Value):
			return text, false, exact
		case name == "error" && rawjson.IsString(members[0].Value):
			return text, true, exact
		}
	}
	return string(raw), false, false
}

// decodePieces are the text of a response and the media beside it.
func decodePieces(text string, list []json.RawMessage) []quire.Block {
	var pieces []quire.Block
	if text != "" {
		pieces = append(pieces, quire.Block{Part: quire.Part{Kind: quire.PartMachine, Text: text}})
	}
	for _, raw := range list {
		pieces = append(pieces, decodePart(raw, quire.PartMachine))
	}
	return pieces
}

// encodeResponse writes functionResponse. Texts among the pieces of a result are
// one text here, as the API has a single response; media stand beside it.
func encodeResponse(b quire.Block) (json.RawMessage, error) {
	var w, response rawjson.Writer
	writeID(&w, b)
	w.Full("name", b.Tool)
	text, parts, err := splitContent(b)
	if err != nil {
		return nil, err
	}
	name := "output"
	if b.IsError {
		name = "error"
	}
	response.Full(name, text)
	w.Object("response", &response)
	if len(parts) > 0 {
		w.Made("parts", rawjson.Array(parts))
	}
	return w.Bytes()
}

func splitContent(b quire.Block) (text string, parts []json.RawMessage, err error) {
	texts := make([]string, 0, 1)
	if b.Text != "" {
		texts = append(texts, b.Text)
	}
	for _, piece := range b.Content {
		if piece.Kind != quire.PartImage && piece.Kind != quire.PartDocument && piece.Opaque == nil {
			texts = append(texts, piece.Text)
			continue
		}
		raw, err := encodePart(piece)
		if err != nil {
			return "", nil, err
		}
		parts = append(parts, raw)
	}
	return strings.Join(texts, "\n"), parts, nil
}

package chat

import (
	"encoding/json"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/openai"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// decodePart reads one part of a content list. A part that cannot be taken apart
// is opaque.
func decodePart(raw json.RawMessage, kind quire.PartKind) quire.Block {
	opaque := quire.Block{Part: quire.Part{Kind: kind}, Opaque: raw}
	r, ok := rawjson.Read(raw)
	if !ok {
		return opaque
	}
	switch name, _ := rawjson.TextOf(r.Peek("type")); name {
	case "text":
		return decodeTextPart(r, "text", kind, opaque)
	case "refusal":
		return decodeTextPart(r, "refusal", kind, opaque)
	case "thinking":
		return decodeThinkingPart(r, opaque)
	case "image_url":
		return decodeMedia(r, quire.PartImage, "image_url", "url", opaque)
	case "file":
		return decodeMedia(r, quire.PartDocument, "file", "file_data", opaque)
	case "input_audio", "video_url", "document_url":
		opaque.Kind = quire.PartDocument
	}
	return opaque
}

func decodeTextPart(r *rawjson.Reader, name string, kind quire.PartKind, opaque quire.Block) quire.Block {
	text, ok := rawjson.TextOf(r.Peek(name))
	if !ok {
		return opaque
	}
	r.Is("type", "text")
	r.Take(name)
	b := quire.Block{Part: quire.Part{Kind: kind, Text: text}, Rest: r.Rest()}
	b.Cache = openai.ReadMark(b.Rest)
	return b
}

// decodeThinkingPart reads the form in which Mistral shows thinking: a part with
// one text in it.
func decodeThinkingPart(r *rawjson.Reader, opaque quire.Block) quire.Block {
	opaque.Kind = quire.PartThinking
	list, _ := openai.List(r.Peek("thinking"))
	if len(list) != 1 {
		return opaque
	}
	inner, ok := rawjson.Read(list[0])
	if !ok || !inner.Is("type", "text") {
		return opaque
	}
	text := inner.Text("text")
	if text == "" || inner.Rest() != nil {
		return opaque
	}
	r.Take("thinking")
	b := quire.Block{Part: quire.Part{Kind: quire.PartThinking, Text: text}, Rest: r.Rest()}
	b.Cache = openai.ReadMark(b.Rest)
	return b
}

// isPart reports whether a block of thinking stands in the content list.
func isPart(b quire.Block) bool {
	name, _ := rawjson.TextOf(rawjson.Get(b.Rest, "type"))
	return name == "thinking"
}

func isRefusal(b quire.Block) bool {
	name, _ := rawjson.TextOf(rawjson.Get(b.Rest, "type"))
	return name == "refusal" && b.Kind != quire.PartToolCall
}

// refusalBlock is a refusal in the place of an answer, as a part.
func refusalBlock(text string) quire.Block {
	return quire.Block{
		Part: quire.Part{Kind: quire.PartText, Text: text},
		Rest: []quire.Field{{Name: "type", Value: json.RawMessage(`"refusal"`)}},
	}
}

// decodeMedia reads an image or a file. What a member says beside the data, or
// the address, is left in it.
func decodeMedia(r *rawjson.Reader, kind quire.PartKind, outer, name string, opaque quire.Block) quire.Block {
	opaque.Kind = kind
	if r.Peek(outer) == nil {
		return opaque
	}
	b := quire.Block{Part: quire.Part{Kind: kind}}
	r.Is("type", outer)
	takeMember(r, &b, outer, name)
	b.Rest = r.Rest()
	b.Cache = openai.ReadMark(b.Rest)
	return b
}

// takeMember takes an address out of a member: out of the object that it is,
// whose other members are left, or the address that it is itself, for which ""
// is left. A data URL becomes what it holds; another address is a text.
func takeMember(r *rawjson.Reader, b *quire.Block, outer, name string) {
	inner, isObject := rawjson.Read(r.Peek(outer))
	url, _ := rawjson.TextOf(r.Peek(outer))
	left := json.RawMessage(`""`)
	if isObject {
		url = inner.Text(name)
		left = openai.Object(inner.Rest())
	}
	if url == "" {
		return
	}
	media, data, ok := openai.Media(url)
	if b.Media, b.Data = media, data; !ok {
		b.Text = url
	}
	r.Put(outer, left)
	if string(left) == "{}" {
		r.Take(outer)
	}
}

func encodeParts(w *rawjson.Writer, blocks []quire.Block) json.RawMessage {
	var list []json.RawMessage
	for _, b := range blocks {
		raw, err := encodePart(b)
		if err != nil {
			w.Fail(err)
		}
		list = append(list, raw)
	}
	return rawjson.Array(list)
}

func encodePart(b quire.Block) (json.RawMessage, error) {
	var w rawjson.Writer
	switch {
	case b.Opaque != nil:
		return openai.Value(b.Opaque)
	case isPart(b):
		text := append([]byte(`[{"type":"text","text":`), openai.Quote(b.Text)...)
		w.Made("thinking", append(text, "}]"...))
	case b.Kind == quire.PartImage:
		w.Text("type", "image_url")
		writeMember(&w, b, "image_url", "url")
	case b.Kind == quire.PartDocument:
		w.Text("type", "file")
		writeMember(&w, b, "file", "file_data")
	default:
		writeText(&w, b)
	}
	w.Rest(b.Rest, openai.WriteMark(&w, b.Cache, b.Rest)...)
	return w.Bytes()
}

func writeText(w *rawjson.Writer, b quire.Block) {
	name := "text"
	if isRefusal(b) {
		name = "refusal"
	}
	w.Text("type", name)
	w.Full(name, b.Text)
}

// writeMember undoes takeMember.
func writeMember(w *rawjson.Writer, b quire.Block, outer, name string) {
	url, kept := b.Text, rawjson.Get(b.Rest, outer)
	if b.Data != "" {
		url = openai.DataURL(b.Media, b.Data)
	}
	if url == "" {
		return
	}
	if string(kept) == `""` {
		w.Text(outer, url)
		return
	}
	var inner rawjson.Writer
	if left, ok := rawjson.Read(kept); ok {
		inner.Rest(left.Rest(), name)
	}
	inner.Text(name, url)
	w.Object(outer, &inner)
}

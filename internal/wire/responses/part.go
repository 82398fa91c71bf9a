package responses

import (
	"encoding/json"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/openai"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// decodeContent takes content that is a text or a list of parts and not empty.
func decodeContent(r *rawjson.Reader, name string, kind quire.PartKind) []quire.Block {
	if text := r.Text(name); text != "" {
		return []quire.Block{{Part: quire.Part{Kind: kind, Text: text}, Plain: true}}
	}
	list, ok := openai.List(r.Peek(name))
	if !ok {
		return nil
	}
	r.Take(name)
	blocks := make([]quire.Block, len(list))
	for i, raw := range list {
		blocks[i] = decodePart(raw, kind)
	}
	return blocks
}

func writeContent(w *rawjson.Writer, name string, blocks []quire.Block) {
	switch {
	case len(blocks) == 0:
	case len(blocks) == 1 && blocks[0].Plain && bare(blocks[0]):
		w.Text(name, blocks[0].Text)
	default:
		w.Made(name, encodeParts(w, blocks))
	}
}

func isText(k quire.PartKind) bool {
	return k == quire.PartSystem || k == quire.PartUser || k == quire.PartMachine || k == quire.PartText
}

// textType is the type that a text has by who speaks.
func textType(kind quire.PartKind) string {
	if kind == quire.PartText {
		return "output_text"
	}
	return "input_text"
}

// decodePart reads one part of a content list. A part that cannot be taken apart
// is opaque.
func decodePart(raw json.RawMessage, kind quire.PartKind) quire.Block {
	opaque := quire.Block{Part: quire.Part{Kind: kind}, Opaque: raw}
	r, ok := rawjson.Read(raw)
	if !ok || r.Peek(itemMessage) != nil {
		return opaque
	}
	switch name, _ := rawjson.TextOf(r.Peek("type")); name {
	case "input_text", "output_text", "text":
		return decodeTextPart(r, "text", kind, opaque)
	case "refusal":
		return decodeTextPart(r, "refusal", kind, opaque)
	case "input_image":
		return decodeMedia(r, quire.PartImage, "image_url", "image_url")
	case "input_file":
		return decodeMedia(r, quire.PartDocument, "file_data", "file_url")
	}
	return opaque
}

func decodeTextPart(r *rawjson.Reader, name string, kind quire.PartKind, opaque quire.Block) quire.Block {
	text, ok := rawjson.TextOf(r.Peek(name))
	if !ok {
		return opaque
	}
	r.Is("type", textType(kind))
	r.Take(name)
	b := quire.Block{Part: quire.Part{Kind: kind, Text: text}, Rest: r.Rest()}
	b.Cache = openai.ReadMark(b.Rest)
	return b
}

// decodeMedia reads an image or a file: its bytes out of a data URL, or its
// address. A file that the provider holds is named in the rest.
func decodeMedia(r *rawjson.Reader, kind quire.PartKind, data, link string) quire.Block {
	b := quire.Block{Part: quire.Part{Kind: kind}}
	r.Take("type")
	url, _ := rawjson.TextOf(r.Peek(data))
	if media, bytes, ok := openai.Media(url); ok {
		b.Media, b.Data = media, bytes
		r.Take(data)
	} else {
		b.Text = r.Text(link)
	}
	b.Rest = r.Rest()
	b.Cache = openai.ReadMark(b.Rest)
	return b
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
	case b.Kind == quire.PartImage:
		w.Text("type", "input_image")
		writeMedia(&w, b, "image_url", "image_url")
	case b.Kind == quire.PartDocument:
		w.Text("type", "input_file")
		writeMedia(&w, b, "file_data", "file_url")
	default:
		writeText(&w, b)
	}
	w.Rest(b.Rest, openai.WriteMark(&w, b.Cache, b.Rest)...)
	return w.Bytes()
}

func writeMedia(w *rawjson.Writer, b quire.Block, data, link string) {
	if b.Data != "" {
		w.Text(data, openai.DataURL(b.Media, b.Data))
		return
	}
	w.Text(link, b.Text)
}

func writeText(w *rawjson.Writer, b quire.Block) {
	kind := rawjson.Get(b.Rest, "type")
	w.Raw("type", kind)
	w.Text("type", textType(b.Kind))
	if isRefusal(b) {
		w.Full("refusal", b.Text)
		return
	}
	w.Full("text", b.Text)
}

func isRefusal(b quire.Block) bool {
	name, _ := rawjson.TextOf(rawjson.Get(b.Rest, "type"))
	return name == "refusal"
}

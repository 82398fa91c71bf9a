package gemini

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// takeParts takes the parts of a content, and leaves what is no list and an
// empty one where they are. Texts become parts of the kind given.
func takeParts(r *rawjson.Reader, text quire.PartKind) []quire.Block {
	list := rawjson.Elements(r.Peek("parts"))
	if len(list) == 0 {
		return nil
	}
	r.Take("parts")
	blocks := make([]quire.Block, len(list))
	for i, raw := range list {
		blocks[i] = decodePart(raw, text)
	}
	return blocks
}

// dataNames lists the members of which a part has one.
var dataNames = [...]string{"text", "functionCall", "functionResponse", "inlineData", "fileData", "executableCode", "codeExecutionResult", "toolCall", "toolResponse"}

// dataName is the one member that says what a part is, "" for none or several.
func dataName(r *rawjson.Reader) string {
	found := ""
	for _, name := range dataNames {
		if r.Peek(name) == nil {
			continue
		}
		if found != "" {
			return ""
		}
		found = name
	}
	return found
}

// decodePart reads a part. One without what its member must have is opaque.
func decodePart(raw json.RawMessage, text quire.PartKind) quire.Block {
	r, ok := rawjson.Read(raw)
	if !ok {
		return quire.Block{Opaque: raw}
	}
	var b quire.Block
	name := dataName(r)
	value := r.Peek(name)
	exact := false
	switch {
	case name == "text" && rawjson.IsString(value):
		b.Kind, b.Text = text, r.AnyText(name)
		if r.True("thought") {
			b.Kind = quire.PartThinking
		}
	case name == "functionCall":
		b, exact, ok = callOf(value)
	case name == "functionResponse":
		b, exact, ok = responseOf(value)
	case name == "inlineData":
		b, exact, ok = inlineOf(value)
	case name == "fileData":
		b, exact, ok = fileOf(value)
	default:
		ok = false
	}
	if !ok {
		return opaque(raw, value)
	}
	if exact {
		r.Take(name)
	}
	b.Signature = r.Text("thoughtSignature")
	b.Rest = r.Rest()
	return b
}

// opaque is a part that is sent as it is. The id pairs calls of the provider's
// own tools with their results.
func opaque(raw, value json.RawMessage) quire.Block {
	id, _ := rawjson.TextOf(rawjson.Get(rawjson.Members(value), "id"))
	return quire.Block{Part: quire.Part{ToolUse: id}, Opaque: raw}
}

// callOf reads functionCall. Arguments that come in pieces are not understood.
func callOf(raw json.RawMessage) (b quire.Block, exact, ok bool) {
	r, ok := rawjson.Read(raw)
	if !ok || !rawjson.IsString(r.Peek("name")) || r.Peek("partialArgs") != nil || r.Peek("willContinue") != nil {
		return b, false, false
	}
	b.Kind = quire.PartToolCall
	b.Tool, b.ToolUse = r.AnyText("name"), takeID(r)
	if rawjson.IsObject(r.Peek("args")) {
		b.Text = string(r.Take("args"))
	}
	return b, len(r.Rest()) == 0, true
}

// takeID takes an id, unless it is of the form of those that are never sent.
func takeID(r *rawjson.Reader) string {
	if id, _ := rawjson.TextOf(r.Peek("id")); ownName(id) {
		return ""
	}
	return r.Text("id")
}

func encodeCall(b quire.Block) (json.RawMessage, error) {
	var w rawjson.Writer
	writeID(&w, b)
	w.Full("name", b.Tool)
	w.Raw("args", json.RawMessage(b.Text))
	return w.Bytes()
}

func writeID(w *rawjson.Writer, b quire.Block) {
	if !ownName(b.ToolUse) {
		w.Text("id", b.ToolUse)
	}
}

// inlineOf reads inlineData. Its size is known; dimensions and hash are left to
// who counts and stores.
func inlineOf(raw json.RawMessage) (b quire.Block, exact, ok bool) {
	r, ok := rawjson.Read(raw)
	if !ok || !rawjson.IsString(r.Peek("data")) {
		return b, false, false
	}
	b = media(r.Text("mimeType"))
	text, _ := rawjson.TextOf(r.Peek("data"))
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		data, err = base64.URLEncoding.DecodeString(text)
	}
	if err != nil || len(data) == 0 {
		return b, false, true
	}
	b.Data = string(data)
	b.Media.Bytes = len(data)
	if base64.StdEncoding.EncodeToString(data) == text {
		r.Take("data")
	}
	return b, len(r.Rest()) == 0, true
}

// fileOf reads fileData. Its address is the text.
func fileOf(raw json.RawMessage) (b quire.Block, exact, ok bool) {
	r, ok := rawjson.Read(raw)
	if !ok || !rawjson.IsString(r.Peek("fileUri")) {
		return b, false, false
	}
	b = media(r.Text("mimeType"))
	b.Text = r.AnyText("fileUri")
	return b, len(r.Rest()) == 0, b.Text != ""
}

// media is an image or, of any other type, a document.
func media(mime string) quire.Block {
	kind := quire.PartDocument
	if strings.HasPrefix(mime, "image/") {
		kind = quire.PartImage
	}
	return quire.Block{Part: quire.Part{Kind: kind, Media: &quire.Media{Type: mime}}}
}

func encodeMedia(b quire.Block) (name string, raw json.RawMessage, err error) {
	var w rawjson.Writer
	if b.Media != nil {
		w.Text("mimeType", b.Media.Type)
	}
	if b.Data == "" && b.Text != "" {
		w.Full("fileUri", b.Text)
		raw, err = w.Bytes()
		return "fileData", raw, err
	}
	w.Full("data", base64.StdEncoding.EncodeToString([]byte(b.Data)))
	raw, err = w.Bytes()
	return "inlineData", raw, err
}

// encodePart writes a part.
func encodePart(b quire.Block) (json.RawMessage, error) {
	if b.Opaque != nil {
		return b.Opaque, nil
	}
	var w rawjson.Writer
	switch {
	case isText(b.Kind):
		w.AnyText("text", b.Text, b.Rest)
	case b.Kind == quire.PartThinking:
		w.AnyText("text", b.Text, b.Rest)
		w.True("thought", true)
	case b.Kind == quire.PartToolCall:
		raw, err := encodeCall(b)
		writeKept(&w, b, "functionCall", raw, err, callOf)
	case b.Kind == quire.PartToolResult:
		raw, err := encodeResponse(b)
		writeKept(&w, b, "functionResponse", raw, err, responseOf)
	case b.Kind == quire.PartImage, b.Kind == quire.PartDocument:
		writeMedia(&w, b)
	default:
		return nil, fmt.Errorf("a part cannot be of kind %q", b.Kind)
	}
	w.Text("thoughtSignature", b.Signature)
	w.Rest(b.Rest)
	return w.Bytes()
}

func isText(k quire.PartKind) bool {
	return k == quire.PartSystem || k == quire.PartUser || k == quire.PartMachine || k == quire.PartText
}

// writeKept writes a member: as it was kept, if that still says the same.
func writeKept(w *rawjson.Writer, b quire.Block, name string, raw json.RawMessage, err error, read func(json.RawMessage) (quire.Block, bool, bool)) {
	if kept := rawjson.Get(b.Rest, name); kept != nil {
		if old, _, ok := read(kept); ok && sameBlock(old, b) {
			return
		}
	}
	if err != nil {
		w.Fail(err)
	}
	w.Made(name, raw)
}

func writeMedia(w *rawjson.Writer, b quire.Block) {
	name, raw, err := encodeMedia(b)
	read := inlineOf
	if name == "fileData" {
		read = fileOf
	}
	writeKept(w, b, name, raw, err, read)
}

// sameBlock reports whether two blocks say the same, names of our own aside.
func sameBlock(a, b quire.Block) bool {
	return a.Kind == b.Kind && a.Text == b.Text && a.Data == b.Data && a.Tool == b.Tool && a.IsError == b.IsError &&
		(ownName(b.ToolUse) || a.ToolUse == b.ToolUse) && mediaType(a) == mediaType(b) && reflect.DeepEqual(a.Content, b.Content)
}

func mediaType(b quire.Block) string {
	if b.Media == nil {
		return ""
	}
	return b.Media.Type
}

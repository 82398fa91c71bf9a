package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"reflect"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

const plainText = "text/plain"

// takeMedia reads an image or a document. Its size and type are known where its
// bytes are; dimensions and hash are left to who counts and stores. A source
// that says more than there is a place for stays in the rest.
func takeMedia(r *rawjson.Reader, kind quire.PartKind, depth int) quire.Block {
	b, exact := decodeSource(r.Peek("source"), depth)
	b.Kind = kind
	if exact {
		r.Take("source")
	}
	return b
}

// decodeSource reads where the content of an image or document comes from.
func decodeSource(raw json.RawMessage, depth int) (b quire.Block, exact bool) {
	b.Media = &quire.Media{}
	o, ok := rawjson.Read(raw)
	if !ok {
		return b, false
	}
	switch {
	case o.Is("type", "base64"):
		b.Media.Type = o.Text("media_type")
		exact = takeBase64(o, &b)
	case o.Is("type", "text"):
		b.Media.Type = plainText
		exact = o.Is("media_type", plainText)
		b.Data = o.Text("data")
		b.Media.Bytes = len(b.Data)
	case o.Is("type", "url"):
		b.Text = o.Text("url")
		exact = b.Text != ""
	case o.Is("type", "content") && !isString(o, "content"):
		b.Content = takeContent(o, "content", quire.PartMachine, depth+1)
		exact = len(b.Content) > 0
	}
	return b, exact && len(o.Rest()) == 0
}

// takeBase64 decodes data. It reports whether encoding would give the same.
func takeBase64(o *rawjson.Reader, b *quire.Block) bool {
	text, _ := rawjson.TextOf(o.Peek("data"))
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(data) == 0 {
		return false
	}
	b.Data = string(data)
	b.Media.Bytes = len(data)
	o.Take("data")
	return b.Media.Type != plainText && base64.StdEncoding.EncodedLen(len(data)) == len(text)
}

// writeSource writes the source, unless the one that was kept still says the same.
func writeSource(w *rawjson.Writer, b quire.Block) {
	if kept := rawjson.Get(b.Rest, "source"); kept != nil {
		if old, _ := decodeSource(kept, 0); sameSource(old, b) {
			return
		}
	}
	var o rawjson.Writer
	switch {
	case len(b.Content) > 0:
		o.Full("type", "content")
		writeContent(&o, "content", b.Content)
	case b.Data != "" && b.Media != nil && b.Media.Type == plainText:
		o.Full("type", "text")
		o.Full("media_type", plainText)
		o.Full("data", b.Data)
	case b.Data != "":
		o.Full("type", "base64")
		if b.Media != nil {
			o.Text("media_type", b.Media.Type)
		}
		o.Full("data", base64.StdEncoding.EncodeToString([]byte(b.Data)))
	default:
		o.Full("type", "url")
		o.Full("url", b.Text)
	}
	w.Object("source", &o)
}

func sameSource(a, b quire.Block) bool {
	return a.Data == b.Data && a.Text == b.Text && mediaType(a) == mediaType(b) && reflect.DeepEqual(a.Content, b.Content)
}

func mediaType(b quire.Block) string {
	if b.Media == nil {
		return ""
	}
	return b.Media.Type
}

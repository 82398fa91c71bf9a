package openai

import (
	"encoding/json"
	"slices"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// List is the elements of a JSON array that has some. They are parts of raw.
func List(raw json.RawMessage) ([]json.RawMessage, bool) {
	list := rawjson.Elements(raw)
	return list, len(list) > 0
}

// Quote is a text as a JSON string.
func Quote(s string) json.RawMessage { return rawjson.AppendText(nil, s) }

// Object is members that were read as an object again.
func Object(fields []quire.Field) json.RawMessage {
	var w rawjson.Writer
	for _, f := range fields {
		w.Made(f.Name, f.Value)
	}
	b, _ := w.Bytes()
	return b
}

// Value gives back a value that is to be sent as it is, if it is JSON.
func Value(raw json.RawMessage) (json.RawMessage, error) {
	var w rawjson.Writer
	w.Raw("opaque", raw)
	if _, err := w.Bytes(); err != nil {
		return nil, err
	}
	return raw, nil
}

// Without is the members but for those with some names.
func Without(fields []quire.Field, names ...string) []quire.Field {
	var kept []quire.Field
	for _, f := range fields {
		if !slices.Contains(names, f.Name) {
			kept = append(kept, f)
		}
	}
	return kept
}

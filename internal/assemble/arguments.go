package assemble

import (
	"encoding/json"
	"fmt"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// Bounds in bytes of what stays of the arguments of a lowered call: of one
// member, and of all that are kept.
const (
	argumentMember = 160
	argumentAll    = 480
)

// Arguments is what stands for the arguments of a tool call that was lowered: an
// object with the short members of the old one, in their order, and a marker that
// names the page in the place of each long one. Members beyond 480 bytes are one
// marker. Arguments that are no object, as free text is none, become the marker
// alone. Short arguments, and those that do not get shorter, stay as they are. recall is
// the name of the tool that reads the page back.
func Arguments(raw string, page quire.PageNumber, recall string) string {
	if len(raw) <= argumentMember {
		return raw
	}
	short := shortened(raw, page, recall)
	if len(short) >= len(raw) || !names(short, page) {
		return raw
	}
	return short
}

func shortened(raw string, page quire.PageNumber, recall string) string {
	r, err := rawjson.Parse([]byte(raw))
	switch {
	case err != nil && rawjson.IsObject([]byte(raw)) && json.Valid([]byte(raw)):
		return raw // an object that may not be written back
	case err != nil:
		return marker(len(raw), page, recall)
	}
	var w rawjson.Writer
	size, left := 0, 0
	for _, f := range r.Rest() {
		value := shortMember(f.Value, page, recall)
		if size += len(f.Name) + len(value); size > argumentAll {
			left += len(f.Name) + len(f.Value)
			continue
		}
		w.Raw(f.Name, value)
	}
	if left > 0 {
		w.Full("_", marker(left, page, recall))
	}
	out, err := w.Bytes()
	if err != nil {
		return raw
	}
	return string(out)
}

func shortMember(value json.RawMessage, page quire.PageNumber, recall string) json.RawMessage {
	if len(value) <= argumentMember {
		return value
	}
	text, err := json.Marshal(marker(len(value), page, recall))
	if err != nil {
		return value
	}
	return text
}

func marker(bytes int, page quire.PageNumber, recall string) string {
	return fmt.Sprintf("[%s: %d bytes are not shown; %s %s reads them]", page, bytes, recall, page)
}

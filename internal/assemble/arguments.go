package assemble

import (
	"encoding/json"
	"fmt"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// Bounds in bytes of what stays of the arguments of a lowered call: of one
// member, and of all that are kept. What the call was about stands in the handle of
// its result too.
const (
	argumentMember = 60
	argumentAll    = 60
	argumentLeast  = 40 // arguments up to here stay as they are
)

// marked is the name of the member that says what is missing.
const marked = "_"

// Arguments is what stands for the arguments of a tool call that was lowered: an
// object with the short members of the old one, in their order, and one marker for
// all others, which names the page. Arguments that are no object, as free text is
// none, become the marker alone. Short arguments, and those that do not get shorter,
// stay as they are. recall is the name of the tool that reads the page back.
func Arguments(raw string, page quire.PageNumber, recall string) string {
	if len(raw) <= argumentLeast {
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
		n := len(f.Name) + len(f.Value)
		if len(f.Value) > argumentMember || size+n > argumentAll || f.Name == marked {
			left += n
			continue
		}
		size += n
		w.Raw(f.Name, f.Value)
	}
	if left > 0 {
		w.Full(marked, marker(left, page, recall))
	}
	out, err := w.Bytes()
	if err != nil {
		return raw
	}
	return string(out)
}

func marker(bytes int, page quire.PageNumber, recall string) string {
	return fmt.Sprintf("[%d bytes more: %s %s]", bytes, recall, page)
}

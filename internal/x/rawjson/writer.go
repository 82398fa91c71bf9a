package rawjson

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/quire"
)

// A Writer puts one object together. Members come in the order in which they are
// written; a name is written once, the first value stands. The first error
// sticks and is what Bytes returns. The zero Writer is ready for use.
type Writer struct {
	buf   []byte
	names []string
	more  map[string]bool // of names, where there are many
	err   error
}

// manyNames is where looking a name up begins to beat comparing it with all.
const manyNames = 32

// open begins a member. It reports false when its name is written already.
func (w *Writer) open(name string) bool {
	if slices.Contains(w.names, name) || w.more[name] {
		return false
	}
	w.buf = append(w.buf, '{')
	if len(w.names) > 0 {
		w.buf[len(w.buf)-1] = ','
	}
	w.buf = append(AppendText(w.buf, name), ':')
	w.remember(name)
	return true
}

func (w *Writer) remember(name string) {
	if len(w.names) < manyNames {
		w.names = append(w.names, name)
		return
	}
	if w.more == nil {
		w.more = map[string]bool{}
	}
	w.more[name] = true
}

// Raw writes a member with a value that is JSON already; nothing for an empty one.
func (w *Writer) Raw(name string, value json.RawMessage) {
	if len(value) == 0 {
		return
	}
	if !json.Valid(value) {
		w.Fail(fmt.Errorf("the value of %q is not valid JSON", name))
	}
	w.Made(name, value)
}

// Made is Raw for a value that this package has made, and is not looked at again.
func (w *Writer) Made(name string, value json.RawMessage) {
	if len(value) > 0 && w.open(name) {
		w.buf = append(w.buf, value...)
	}
}

// Object writes a member whose value is an object that was put together apart.
func (w *Writer) Object(name string, o *Writer) {
	raw, err := o.Bytes()
	if err != nil {
		w.Fail(err)
	}
	w.Made(name, raw)
}

// Text writes a text; nothing for an empty one.
func (w *Writer) Text(name, value string) {
	if value != "" {
		w.Full(name, value)
	}
}

// Full writes a text even if it is empty.
func (w *Writer) Full(name, value string) {
	if w.open(name) {
		w.buf = AppendText(w.buf, value)
	}
}

// AnyText writes a text, empty or not. Where [Reader.AnyText] has left the member
// in the rest, it is left to the rest for as long as it still says the same.
func (w *Writer) AnyText(name, value string, rest []quire.Field) {
	if kept := Get(rest, name); kept != nil {
		if old, _ := TextOf(kept); old == value {
			return
		}
	}
	w.Full(name, value)
}

// Count writes a number; nothing for zero.
func (w *Writer) Count(name string, value int64) {
	if value != 0 {
		w.Number(name, value)
	}
}

// Number writes a number even if it is zero.
func (w *Writer) Number(name string, value int64) {
	if w.open(name) {
		w.buf = strconv.AppendInt(w.buf, value, 10)
	}
}

// True writes true; nothing for false.
func (w *Writer) True(name string, value bool) {
	if value && w.open(name) {
		w.buf = append(w.buf, "true"...)
	}
}

// Rest writes the members whose names are not written yet, but for some.
func (w *Writer) Rest(fields []quire.Field, but ...string) {
	for _, f := range fields {
		if !slices.Contains(but, f.Name) {
			w.Raw(f.Name, f.Value)
		}
	}
}

// Fail makes Bytes fail.
func (w *Writer) Fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// Bytes closes the object and is what was written. The Writer is used up.
func (w *Writer) Bytes() (json.RawMessage, error) {
	if w.err != nil {
		return nil, w.err
	}
	if len(w.names) == 0 {
		return json.RawMessage("{}"), nil
	}
	return append(w.buf, '}'), nil
}

// Array is the elements as one array.
func Array(elements []json.RawMessage) json.RawMessage {
	size := 2 + len(elements)
	for _, e := range elements {
		size += len(e)
	}
	b := append(make([]byte, 0, size), '[')
	for i, e := range elements {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, e...)
	}
	return append(b, ']')
}

// AppendText appends a text as a JSON string, with no more escapes than JSON
// needs: the quote, the backslash and control characters. Bytes that are not
// UTF-8 become U+FFFD.
func AppendText(dst []byte, s string) []byte {
	dst = append(slices.Grow(dst, len(s)+2), '"')
	from := 0
	for at := 0; at < len(s); {
		c := s[at]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			at++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[at:])
		if c >= utf8.RuneSelf && (r != utf8.RuneError || size > 1) {
			at += size
			continue
		}
		dst = appendEscape(append(dst, s[from:at]...), c)
		at += size
		from = at
	}
	return append(append(dst, s[from:]...), '"')
}

// appendEscape writes what stands for a byte that cannot stand for itself.
func appendEscape(dst []byte, c byte) []byte {
	switch {
	case c == '"' || c == '\\':
		return append(dst, '\\', c)
	case c == '\n':
		return append(dst, `\n`...)
	case c == '\t':
		return append(dst, `\t`...)
	case c == '\r':
		return append(dst, `\r`...)
	case c >= utf8.RuneSelf:
		return append(dst, "\ufffd"...)
	}
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}

package rawjson

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// ErrSyntax is the error for what is not one JSON value.
var ErrSyntax = errors.New("not valid JSON")

// ErrObject is the error for JSON that is not an object where one is wanted.
var ErrObject = errors.New("not a JSON object")

// ErrLong is the error for an object of more members and elements than are kept.
var ErrLong = errors.New("more members and elements than are kept")

// A Reader hands out the members of one object. The values it hands out are
// parts of what it reads, which must not change while they are in use. Of
// members with the same name the last counts, as everywhere. A nil Reader has
// no members.
type Reader struct{ fields []quire.Field }

// Parse reads an object that may be damaged.
func Parse(b []byte) (*Reader, error) {
	if !Valid(b) {
		return nil, ErrSyntax
	}
	r, ok := Read(b)
	if !ok {
		return nil, ErrObject
	}
	return r, nil
}

// Read reads an object. It reports false for anything else, and for an object
// with a name that may not be written back: one with a replacement character.
func Read(raw json.RawMessage) (*Reader, bool) {
	if !IsObject(raw) {
		return nil, false
	}
	r := &Reader{Members(raw)}
	if slices.ContainsFunc(r.fields, func(f quire.Field) bool { return strings.Contains(f.Name, "\ufffd") }) {
		return nil, false
	}
	r.settle()
	return r, true
}

// settle keeps the last of the members with one name.
func (r *Reader) settle() {
	if !repeated(r.fields) {
		return
	}
	last := make(map[string]int, len(r.fields))
	for i, f := range r.fields {
		last[f.Name] = i
	}
	var kept []quire.Field
	for i, f := range r.fields {
		if last[f.Name] == i {
			kept = append(kept, f)
		}
	}
	r.fields = kept
}

// repeated reports whether a name may come twice. Of few members it is sure.
func repeated(fields []quire.Field) bool {
	if len(fields) > 16 {
		return true
	}
	for i, f := range fields {
		if Get(fields[i+1:], f.Name) != nil {
			return true
		}
	}
	return false
}

func (r *Reader) index(name string) int {
	if r == nil {
		return -1
	}
	return slices.IndexFunc(r.fields, func(f quire.Field) bool { return f.Name == name })
}

// Peek is the value of a member, nil if there is none or it was taken.
func (r *Reader) Peek(name string) json.RawMessage { return Get(r.Rest(), name) }

// Take takes a member, whatever it holds; nil if there is none.
func (r *Reader) Take(name string) json.RawMessage {
	i := r.index(name)
	if i < 0 {
		return nil
	}
	value := r.fields[i].Value
	r.fields = slices.Delete(r.fields, i, i+1)
	return value
}

// Put sets a member, in its place if there is one of that name, else at the end.
func (r *Reader) Put(name string, value json.RawMessage) {
	if i := r.index(name); i >= 0 {
		r.fields[i].Value = value
		return
	}
	r.fields = append(r.fields, quire.Field{Name: name, Value: value})
}

// Text takes a member that is a text and not empty.
func (r *Reader) Text(name string) string {
	text, exact := TextOf(r.Peek(name))
	if !exact || text == "" {
		return ""
	}
	r.Take(name)
	return text
}

// AnyText takes a member that is a text, empty or not. One that cannot be written
// back is read as far as it can be and left where it is; see [Writer.AnyText].
func (r *Reader) AnyText(name string) string {
	text, exact := TextOf(r.Peek(name))
	if exact {
		r.Take(name)
	}
	return text
}

// Is takes a member that is the text want, and reports whether it did.
func (r *Reader) Is(name, want string) bool {
	if text, exact := TextOf(r.Peek(name)); !exact || text != want {
		return false
	}
	r.Take(name)
	return true
}

// Count takes a member that is a whole number above zero, in plain digits.
func (r *Reader) Count(name string) int {
	raw := r.Peek(name)
	n, err := strconv.Atoi(string(raw))
	if err != nil || n <= 0 || strconv.Itoa(n) != string(raw) {
		return 0
	}
	r.Take(name)
	return n
}

// True takes a member that is true, and reports whether it did.
func (r *Reader) True(name string) bool {
	if string(r.Peek(name)) != "true" {
		return false
	}
	r.Take(name)
	return true
}

// Rest is the members that nobody took, in their order; nil if there are none.
func (r *Reader) Rest() []quire.Field {
	if r == nil || len(r.fields) == 0 {
		return nil
	}
	return r.fields
}

// Get is the value of the member of that name in a list, nil if there is none.
func Get(fields []quire.Field, name string) json.RawMessage {
	for _, f := range fields {
		if f.Name == name {
			return f.Value
		}
	}
	return nil
}

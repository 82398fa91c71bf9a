package page

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A value is a JSON value as far as it could be read.
type value struct {
	kind   kind
	text   string  // of a string, unescaped; of a number, true, false and null as written
	list   []value // of an array
	fields []field // of an object, in the order of the text
}

type kind uint8

const (
	kindNone kind = iota
	kindText
	kindAtom // number, true, false, null
	kindList
	kindObject
)

type field struct {
	name  string
	value value
}

// maxDepth bounds nesting, so that the reader's stack is bounded.
const maxDepth = 32

// parseJSON reads the JSON value at the beginning of s. Where s is cut off or
// invalid, what was read before stands: arguments of a call may have been
// recorded before it was complete.
func parseJSON(s string) value {
	r := reader{s: s}
	return r.value(0)
}

// A reader reads tolerant JSON. It never fails: it ends.
type reader struct {
	s string
	i int
}

func (r *reader) space() {
	for r.i < len(r.s) && (r.s[r.i] == ' ' || r.s[r.i] == '\n' || r.s[r.i] == '\t' || r.s[r.i] == '\r') {
		r.i++
	}
}

// take steps over c if it is next.
func (r *reader) take(c byte) bool {
	r.space()
	if r.i < len(r.s) && r.s[r.i] == c {
		r.i++
		return true
	}
	return false
}

// stop ends reading.
func (r *reader) stop() { r.i = len(r.s) }

func (r *reader) value(depth int) value {
	r.space()
	if r.i == len(r.s) || depth > maxDepth {
		r.stop()
		return value{}
	}
	switch r.s[r.i] {
	case '{':
		return r.object(depth)
	case '[':
		return r.array(depth)
	case '"':
		return value{kind: kindText, text: r.text()}
	}
	return r.atom()
}

func (r *reader) object(depth int) value {
	v := value{kind: kindObject}
	r.i++
	for r.i < len(r.s) && !r.take('}') {
		r.space()
		if r.i == len(r.s) || r.s[r.i] != '"' {
			r.stop()
			break
		}
		name := r.text()
		if !r.take(':') {
			r.stop()
			break
		}
		v.fields = append(v.fields, field{name, r.value(depth + 1)})
		if !r.take(',') && !r.take('}') {
			r.stop()
		} else if r.s[r.i-1] == '}' {
			break
		}
	}
	return v
}

func (r *reader) array(depth int) value {
	v := value{kind: kindList}
	r.i++
	for r.i < len(r.s) && !r.take(']') {
		e := r.value(depth + 1)
		if e.kind == kindNone {
			break
		}
		v.list = append(v.list, e)
		if !r.take(',') && !r.take(']') {
			r.stop()
		} else if r.s[r.i-1] == ']' {
			break
		}
	}
	return v
}

// atom reads what is neither text nor list nor object.
func (r *reader) atom() value {
	end := strings.IndexAny(r.s[r.i:], ",]} \n\t\r:\"")
	if end < 0 {
		end = len(r.s) - r.i
	}
	if end == 0 {
		r.stop()
		return value{}
	}
	v := value{kind: kindAtom, text: r.s[r.i : r.i+end]}
	r.i += end
	return v
}

// text reads a string, with or without its closing quote.
func (r *reader) text() string {
	r.i++
	rest := r.s[r.i:]
	end := strings.IndexAny(rest, `"\`)
	if end < 0 {
		r.stop()
		return rest
	}
	if rest[end] == '"' {
		r.i += end + 1
		return rest[:end]
	}
	return r.escaped(end)
}

// escaped reads the rest of a string whose first escape is at byte first.
func (r *reader) escaped(first int) string {
	var b strings.Builder
	for {
		b.WriteString(r.s[r.i : r.i+first])
		r.i += first
		if r.i == len(r.s) {
			return b.String()
		}
		if r.s[r.i] == '"' {
			r.i++
			return b.String()
		}
		r.escape(&b)
		if first = strings.IndexAny(r.s[r.i:], `"\`); first < 0 {
			first = len(r.s) - r.i
		}
	}
}

func (r *reader) escape(b *strings.Builder) {
	if r.i+1 >= len(r.s) {
		r.stop()
		return
	}
	c := r.s[r.i+1]
	r.i += 2
	switch c {
	case 'n':
		b.WriteByte('\n')
	case 't':
		b.WriteByte('\t')
	case 'r':
		b.WriteByte('\r')
	case 'b':
		b.WriteByte('\b')
	case 'f':
		b.WriteByte('\f')
	case 'u':
		b.WriteRune(r.unicode())
	default:
		b.WriteByte(c)
	}
}

// unicode reads the four digits after \u, and a second escape where the two
// are halves of one character.
func (r *reader) unicode() rune {
	first := r.hex()
	if !utf16.IsSurrogate(first) || !strings.HasPrefix(r.s[r.i:], `\u`) {
		return first
	}
	back := r.i
	r.i += 2
	if both := utf16.DecodeRune(first, r.hex()); both != utf8.RuneError {
		return both
	}
	r.i = back
	return utf8.RuneError
}

func (r *reader) hex() rune {
	end := min(r.i+4, len(r.s))
	n, err := strconv.ParseUint(r.s[r.i:end], 16, 16)
	if err != nil || end-r.i < 4 {
		return utf8.RuneError
	}
	r.i = end
	return rune(n)
}

// get returns the first field with one of the names, in the order of the names.
func (v value) get(names ...string) (value, bool) {
	for _, name := range names {
		for _, f := range v.fields {
			if f.name == name {
				return f.value, true
			}
		}
	}
	return value{}, false
}

// str returns the text of the first of the fields that is text and not empty.
func (v value) str(names ...string) string {
	for _, name := range names {
		if f, ok := v.get(name); ok && f.kind == kindText && f.text != "" {
			return f.text
		}
	}
	return ""
}

// number returns the first of the fields that is a whole number, also one
// written as text, and whether there is one.
func (v value) number(names ...string) (int, bool) {
	for _, name := range names {
		f, ok := v.get(name)
		if !ok {
			continue
		}
		if n, ok := f.whole(); ok {
			return n, true
		}
	}
	return 0, false
}

func (v value) whole() (int, bool) {
	if v.kind != kindAtom && v.kind != kindText {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSpace(v.text))
	if err != nil {
		return 0, false
	}
	return n, true
}

// texts returns the strings of a list.
func (v value) texts() []string {
	var all []string
	for _, e := range v.list {
		if e.kind == kindText {
			all = append(all, e.text)
		}
	}
	return all
}

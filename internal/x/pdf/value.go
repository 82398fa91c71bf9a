package pdf

import (
	"bytes"
	"strconv"
)

// A kind says what a value is.
type kind uint8

const (
	none kind = iota
	number
	name
	text
	list
	dict
	ref      // to the object of a number
	operator // a word of a content stream, true, false, null
)

// A value is an object of a document, or a word of a content.
type value struct {
	kind   kind
	number float64 // also of the object that is referred to
	text   string  // of a name, a text, an operator
	list   []value
	dict   map[string]value
	stream []byte // of a dict with one, as it is stored
}

// A reader reads values. What is damaged is read as far as it makes sense; a
// reader always comes forward.
type reader struct {
	data []byte
	at   int
	deep int
}

// deepest is how deep values may stand in each other.
const deepest = 64

func space(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func delimiter(c byte) bool { return bytes.IndexByte([]byte("()<>[]{}/%"), c) >= 0 }

// skip passes over white space and comments.
func (r *reader) skip() {
	for r.at < len(r.data) {
		switch c := r.data[r.at]; {
		case space(c):
			r.at++
		case c == '%':
			for r.at < len(r.data) && r.data[r.at] != '\n' && r.data[r.at] != '\r' {
				r.at++
			}
		default:
			return
		}
	}
}

func (r *reader) has(word string) bool { return bytes.HasPrefix(r.data[r.at:], []byte(word)) }

// next reads a value; ok is false at the end, and at the end of a list or dict.
func (r *reader) next() (v value, ok bool) {
	r.skip()
	if r.at >= len(r.data) {
		return v, false
	}
	switch c := r.data[r.at]; {
	case c == '/':
		return r.name(), true
	case c == '(':
		return r.literal(), true
	case r.has("<<"):
		r.at += 2
		return r.dict(), true
	case c == '<':
		return r.hex(), true
	case c == '[':
		r.at++
		return r.list(), true
	case c == ']' || c == '>' || c == ')':
		return v, false
	case c == '{' || c == '}':
		r.at++
		return value{kind: operator, text: string(c)}, true
	default:
		return r.word(), true
	}
}

func (r *reader) name() value {
	r.at++
	from := r.at
	for r.at < len(r.data) && !space(r.data[r.at]) && !delimiter(r.data[r.at]) {
		r.at++
	}
	raw := r.data[from:r.at]
	var out []byte
	for i := 0; i < len(raw); i++ {
		if raw[i] == '#' && i+2 < len(raw) {
			if n, err := strconv.ParseUint(string(raw[i+1:i+3]), 16, 8); err == nil {
				out = append(out, byte(n))
				i += 2
				continue
			}
		}
		out = append(out, raw[i])
	}
	return value{kind: name, text: string(out)}
}

// literal reads a text in parentheses.
func (r *reader) literal() value {
	r.at++
	var out []byte
	for open := 1; r.at < len(r.data); r.at++ {
		c := r.data[r.at]
		switch c {
		case '\\':
			out = r.escape(out)
			continue
		case '(':
			open++
		case ')':
			if open--; open == 0 {
				r.at++
				return value{kind: text, text: string(out)}
			}
		}
		out = append(out, c)
	}
	return value{kind: text, text: string(out)}
}

// escape reads what follows a backslash, and stays at its last byte.
func (r *reader) escape(out []byte) []byte {
	r.at++
	if r.at >= len(r.data) {
		return out
	}
	c := r.data[r.at]
	if i := bytes.IndexByte([]byte("nrtbf"), c); i >= 0 {
		return append(out, "\n\r\t\b\f"[i])
	}
	switch {
	case c == '\r' && r.at+1 < len(r.data) && r.data[r.at+1] == '\n':
		r.at++
		return out
	case c == '\n' || c == '\r':
		return out
	case c < '0' || c > '7':
		return append(out, c)
	}
	n := 0
	for i := 0; i < 3 && r.at < len(r.data) && r.data[r.at] >= '0' && r.data[r.at] <= '7'; i++ {
		n = n*8 + int(r.data[r.at]-'0')
		r.at++
	}
	r.at--
	return append(out, byte(n))
}

// hex reads a text in hexadecimal.
func (r *reader) hex() value {
	r.at++
	var out []byte
	digits := 0
	for ; r.at < len(r.data) && r.data[r.at] != '>'; r.at++ {
		n, err := strconv.ParseUint(string(r.data[r.at]), 16, 8)
		if err != nil {
			continue
		}
		if digits++; digits%2 == 1 {
			out = append(out, byte(n)<<4)
		} else {
			out[len(out)-1] |= byte(n)
		}
	}
	r.at = min(r.at+1, len(r.data))
	return value{kind: text, text: string(out)}
}

func (r *reader) list() value {
	v := value{kind: list}
	if r.deep++; r.deep > deepest {
		r.at = len(r.data)
	}
	for {
		one, ok := r.next()
		if !ok {
			break
		}
		v.list = append(v.list, one)
		v.list = refer(v.list)
	}
	r.deep--
	r.close("]")
	return v
}

// refer makes a reference of what ends with a number, a generation and R.
func refer(values []value) []value {
	n := len(values)
	if n < 3 || values[n-1].kind != operator || values[n-1].text != "R" || values[n-2].kind != number || values[n-3].kind != number {
		return values
	}
	return append(values[:n-3], value{kind: ref, number: values[n-3].number})
}

func (r *reader) dict() value {
	v := value{kind: dict, dict: map[string]value{}}
	if r.deep++; r.deep > deepest {
		r.at = len(r.data)
	}
	var all []value
	for {
		one, ok := r.next()
		if !ok {
			break
		}
		all = refer(append(all, one))
	}
	r.deep--
	for i := 0; i+1 < len(all); i += 2 {
		if all[i].kind == name {
			v.dict[all[i].text] = all[i+1]
		}
	}
	r.close(">>")
	return v
}

// close passes over the end of a list or dict, or over one byte where something
// else ends here.
func (r *reader) close(end string) {
	if r.has(end) {
		r.at += len(end)
		return
	}
	r.at = min(r.at+1, len(r.data))
}

// word reads a number or an operator.
func (r *reader) word() value {
	from := r.at
	for r.at < len(r.data) && !space(r.data[r.at]) && !delimiter(r.data[r.at]) {
		r.at++
	}
	if r.at == from {
		r.at++
	}
	word := string(r.data[from:r.at])
	if n, err := strconv.ParseFloat(word, 64); err == nil {
		return value{kind: number, number: n}
	}
	return value{kind: operator, text: word}
}

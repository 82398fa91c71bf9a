package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// The bounds of reading. A log line holds at most one message. The longest that
// agents write carry a few images, of at most 5 MiB each; a bound of 16 MiB lets
// them through and keeps the whole program well under 200 MiB, since a line is
// in memory twice at times, as it stands and decoded.
const (
	maxLine    = 16 << 20 // longer lines are passed over
	keepBuffer = 1 << 20  // a line buffer above this size is given back
	readBuffer = 128 << 10
)

// A lineReader reads a log line by line. Its memory is bounded by the longest
// line, and that by maxLine. A byte order mark at the beginning and the carriage
// return of CRLF are not part of a line; lines of white space only are passed
// over but counted. Other bytes come as they are, whatever their encoding.
type lineReader struct {
	line   []byte // the current line; overwritten by the next call of next
	number int    // of the current line, from 1
	long   bool   // the current line was longer than maxLine: line is empty
	err    error  // the fault that ended the reading; nil at the end of the log

	src *bufio.Reader
	buf []byte
	max int
}

func newLineReader(src io.Reader) *lineReader {
	return &lineReader{src: bufio.NewReaderSize(src, readBuffer), max: maxLine}
}

// next moves on to the next line. It returns false at the end of the log or
// when the reader fails.
func (l *lineReader) next() bool {
	for l.err == nil {
		ended := l.read()
		if l.number == 1 {
			l.line = bytes.TrimPrefix(l.line, []byte("\ufeff"))
		}
		l.line = bytes.Trim(l.line, " \t\r\n")
		if l.long || len(l.line) > 0 {
			return true
		}
		if ended {
			return false
		}
	}
	return false
}

// read takes one line, or the first bytes of a long one, off the source. It
// reports whether the source has ended.
func (l *lineReader) read() (ended bool) {
	if cap(l.buf) > keepBuffer {
		l.buf = nil
	}
	l.buf, l.line, l.long = l.buf[:0], nil, false
	l.number++
	for {
		chunk, err := l.src.ReadSlice('\n')
		if err == nil && len(l.buf) == 0 && !l.long && len(chunk) <= l.max {
			l.line = chunk
			return false
		}
		l.keep(chunk)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		l.line = l.buf
		if err != nil && !errors.Is(err, io.EOF) {
			l.err, l.line = err, nil
		}
		return err != nil
	}
}

func (l *lineReader) keep(chunk []byte) {
	if l.long || len(l.buf)+len(chunk) > l.max {
		l.long, l.buf = true, nil
		return
	}
	if room := cap(l.buf) - len(l.buf); room < len(chunk) {
		// Doubling leaves less behind than the growth of append.
		l.buf = slices.Grow(l.buf, max(cap(l.buf), len(chunk)))
	}
	l.buf = append(l.buf, chunk...)
}

// errSyntax is what damaged JSON is reported as.
var errSyntax = errors.New("not valid JSON")

// A value is one JSON value as it stands in the log, without white space around
// it. It aliases the buffer it was read from; the methods that return a string
// copy. The zero value is an absent value. Methods that expect another type of
// value, and methods of the absent value, return the zero value of their result.
//
// Reading is lenient: what is well-formed is read exactly, what is not is read
// as far as it makes sense, and brackets and strings that do not close are
// reported. Nothing is decoded before it is asked for, which is what makes
// reading fast: most of a log is long strings.
type value []byte

// is reports whether v is the string s.
func (v value) is(s string) bool {
	if len(v) == len(s)+2 && string(v[1:len(v)-1]) == s {
		return v[0] == '"'
	}
	return v.isString() && bytes.IndexByte(v, '\\') >= 0 && v.text() == s
}

func (v value) isString() bool { return len(v) >= 2 && v[0] == '"' }
func (v value) isObject() bool { return len(v) >= 2 && v[0] == '{' }
func (v value) isArray() bool  { return len(v) >= 2 && v[0] == '[' }

// isNull reports whether v is absent or null.
func (v value) isNull() bool { return len(v) == 0 || v[0] == 'n' }

// truth reports whether v is true.
func (v value) truth() bool { return string(v) == "true" }

// raw is the JSON of v.
func (v value) raw() string { return string(v) }

// text is the decoded string. Bytes that are not UTF-8 stay as they are, and an
// escape that stands for no character (half of a surrogate pair) stays written
// out, so that nothing is lost.
func (v value) text() string {
	if !v.isString() {
		return ""
	}
	return unquote(v[1 : len(v)-1])
}

// integer is the number without its fraction, and at most 2^62 from zero.
func (v value) integer() int64 {
	if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		return n
	}
	f := v.number()
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return int64(max(min(f, 1<<62), -1<<62))
}

func (v value) number() float64 {
	if len(v) == 0 || v[0] == '"' {
		return 0
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil {
		return 0
	}
	return f
}

// time is a time written in RFC 3339.
func (v value) time() time.Time {
	if !v.isString() {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, string(v[1:len(v)-1]))
	if err != nil {
		return time.Time{}
	}
	return t
}

// get follows field names down through objects; absent when one is missing.
// Of fields with the same name it takes the first. It reads v from its
// beginning on each call: where several fields of a large object are wanted,
// walk it once with members.
func (v value) get(path ...string) value {
	for _, name := range path {
		v = v.field(name)
	}
	return v
}

func (v value) field(name string) value {
	for m := v.members(); m.next(); {
		if string(m.key) == name {
			return m.val
		}
	}
	return nil
}

// members walks the fields of an object in their order:
//
//	m := v.members()
//	for m.next() { … m.key, m.val … }
//	if m.err != nil { … }
//
// A value that is not an object has no members, and that is not an error.
func (v value) members() walk { return walk{buf: v, open: '{', shut: '}'} }

// items walks the elements of an array, like members; key stays nil.
func (v value) items() walk { return walk{buf: v, open: '[', shut: ']'} }

// A walk is a walk over the fields of an object or the elements of an array.
type walk struct {
	key []byte // decoded; aliases the buffer where nothing was escaped
	val value
	err error // what ended the walk early; nil when it went to the end

	buf        []byte
	pos        int
	open, shut byte
}

// next moves on to the next field or element.
func (w *walk) next() bool {
	if w.err != nil || !w.advance() {
		return false
	}
	if w.open == '{' && !w.readKey() {
		return w.fail()
	}
	end := valueEnd(w.buf, w.pos)
	if end < 0 {
		return w.fail()
	}
	w.val, w.pos = w.buf[w.pos:end], end
	return true
}

// advance goes to the beginning of the next field or element. It returns false
// at the end.
func (w *walk) advance() bool {
	first := w.pos == 0
	if first {
		if len(w.buf) == 0 || w.buf[0] != w.open {
			return false
		}
		w.pos = 1
	}
	switch w.pos = space(w.buf, w.pos); {
	case w.pos >= len(w.buf):
		return w.fail()
	case w.buf[w.pos] == w.shut:
		return w.finish()
	case first:
		return true
	case w.buf[w.pos] != ',':
		return w.fail()
	}
	w.pos = space(w.buf, w.pos+1)
	return true
}

// finish ends the walk at the closing bracket, behind which nothing may stand.
func (w *walk) finish() bool {
	if w.pos != len(w.buf)-1 {
		return w.fail()
	}
	return false
}

func (w *walk) fail() bool {
	w.err, w.val = errSyntax, nil
	return false
}

func (w *walk) readKey() bool {
	if w.pos >= len(w.buf) || w.buf[w.pos] != '"' {
		return false
	}
	end := stringEnd(w.buf, w.pos)
	if end < 0 {
		return false
	}
	w.key = w.buf[w.pos+1 : end-1]
	if bytes.IndexByte(w.key, '\\') >= 0 {
		w.key = []byte(unquote(w.key))
	}
	w.pos = space(w.buf, end)
	if w.pos >= len(w.buf) || w.buf[w.pos] != ':' {
		return false
	}
	w.pos = space(w.buf, w.pos+1)
	return true
}

// space is the first position from i on that is not white space.
func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// valueEnd is the position behind the value that begins at b[i], or -1.
func valueEnd(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return stringEnd(b, i)
	case '{', '[':
		return bracketEnd(b, i)
	}
	return scalarEnd(b, i)
}

// stringEnd is the position behind the string whose quote is b[i], or -1. Short
// strings without escapes, which most keys and ids are, are looked through byte
// by byte. In others it looks for quotes only and then counts the backslashes in
// front of them, which passes over newlines and tabs, the most frequent escapes,
// at full speed.
func stringEnd(b []byte, i int) int {
	first := i + 1
	for at := first; at < min(first+24, len(b)); at++ {
		if b[at] == '"' {
			return at + 1
		}
		if b[at] == '\\' {
			break
		}
	}
	for at := first; ; at++ {
		n := bytes.IndexByte(b[at:], '"')
		if n < 0 {
			return -1
		}
		at += n
		back := at
		for back > first && b[back-1] == '\\' {
			back--
		}
		if (at-back)%2 == 0 {
			return at + 1
		}
	}
}

// bracketEnd is the position behind the object or array that begins at b[i], or
// -1. That each bracket is closed by one of its kind is seen only by walking in.
func bracketEnd(b []byte, i int) int {
	depth := 0
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			end := stringEnd(b, i)
			if end < 0 {
				return -1
			}
			i = end - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// scalarEnd is the position behind the number or word that begins at b[i], or -1.
func scalarEnd(b []byte, i int) int {
	end := i
	for end < len(b) && !delimiter(b[end]) {
		end++
	}
	if end == i {
		return -1
	}
	return end
}

func delimiter(c byte) bool {
	switch c {
	case ',', ':', ']', '}', '{', '[', '"', ' ', '\n', '\t', '\r':
		return true
	}
	return false
}

// unquote decodes the inside of a JSON string into memory of its own.
func unquote(s []byte) string {
	at := bytes.IndexByte(s, '\\')
	if at < 0 {
		return string(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	for at >= 0 {
		b.Write(s[:at])
		s = s[at+unescape(&b, s[at:]):]
		at = bytes.IndexByte(s, '\\')
	}
	b.Write(s)
	return b.String()
}

// unescape writes what the escape at the beginning of s stands for and returns
// its length. An escape that stands for nothing is written as it is.
func unescape(b *strings.Builder, s []byte) int {
	if len(s) < 2 {
		b.Write(s)
		return len(s)
	}
	switch s[1] {
	case 'n':
		b.WriteByte('\n')
	case 't':
		b.WriteByte('\t')
	case '"', '\\', '/':
		b.WriteByte(s[1])
	case 'r':
		b.WriteByte('\r')
	case 'b':
		b.WriteByte('\b')
	case 'f':
		b.WriteByte('\f')
	case 'u':
		return unescapeRune(b, s)
	default:
		b.Write(s[:2])
	}
	return 2
}

// unescapeRune is unescape for the form with four hexadecimal digits, or twice
// that for a surrogate pair.
func unescapeRune(b *strings.Builder, s []byte) int {
	r, ok := hexRune(s)
	if !ok {
		b.Write(s[:2])
		return 2
	}
	if !utf16.IsSurrogate(r) {
		b.WriteRune(r)
		return 6
	}
	low, _ := hexRune(s[6:])
	if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
		b.WriteRune(pair)
		return 12
	}
	b.Write(s[:6])
	return 6
}

func hexRune(s []byte) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(s[2:6]), 16, 32)
	return rune(n), err == nil
}

// errLongLine is what a line over maxLine is reported as.
var errLongLine = fmt.Errorf("line longer than %d MiB", maxLine>>20)

// headLines are the lines at the beginning of a file's head, which may be cut
// off anywhere, the last one too. Lines of white space only are left out.
func headLines(head []byte) iter.Seq[value] {
	return func(yield func(value) bool) {
		for line := range bytes.Lines(bytes.TrimPrefix(head, []byte("\ufeff"))) {
			line = bytes.Trim(line, " \t\r\n")
			if len(line) > 0 && !yield(line) {
				return
			}
		}
	}
}

package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/quire-agent/quire/internal/quire"
)

// maxDepth bounds how deep the bracketed values that a document reader enters
// may be nested.
const maxDepth = 64

// The ways in which a document can be damaged.
var (
	errTruncated = errors.New("the file ends in the middle of a record")
	errOversized = fmt.Errorf("a record is longer than %d MiB and was passed over", maxLine>>20)
	errStop      = errors.New("the reader of the events wants no more")
)

// A document reads JSON text piece by piece: the caller walks into the objects
// and arrays it wants to see the inside of and takes everything else whole. Its
// memory is bounded by the longest value taken, and that by maxLine. A byte
// order mark at the beginning is not part of the text.
type document struct {
	src   *bufio.Reader
	buf   []byte
	limit int
	depth int
}

func newDocument(src io.Reader) *document {
	d := &document{src: bufio.NewReaderSize(src, readBuffer), limit: maxLine}
	if bom, _ := d.src.Peek(3); string(bom) == "\ufeff" {
		_, _ = d.src.Discard(len(bom)) // cannot fail: the bytes are buffered
	}
	return d
}

// peek is the first byte of the next token, which stays unread. At the end of
// the text it is io.EOF, inside an object or array errTruncated.
func (d *document) peek() (byte, error) {
	for {
		c, err := d.src.ReadByte()
		if errors.Is(err, io.EOF) && d.depth > 0 {
			return 0, errTruncated
		}
		if err != nil {
			return 0, err
		}
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c, d.src.UnreadByte()
		}
	}
}

// object walks the fields of the object that begins at the next token. The
// function must read the value of each, by any method of d.
func (d *document) object(field func(key string) error) error {
	return d.bracketed('{', '}', func(int) error {
		if c, err := d.peek(); err != nil || c != '"' {
			return damage(err)
		}
		key, err := d.take()
		if err != nil {
			return err
		}
		name := key.text()
		if c, err := d.peek(); err != nil || c != ':' {
			return damage(err)
		}
		_, _ = d.src.Discard(1) // cannot fail: the byte was just peeked at
		return field(name)
	})
}

// array walks the elements of the array that begins at the next token, counted
// from 1. The function must read each, by any method of d.
func (d *document) array(element func(n int) error) error {
	return d.bracketed('[', ']', element)
}

// records takes the elements of the array that begins at the next token one by
// one and stamps s with their ordinals. One that is too long is reported to s and
// passed over. It returns errStop once s is done.
func (d *document) records(s *sink, record func(n int, v value)) error {
	return d.array(func(n int) error {
		s.Stamp = quire.Stamp{Line: n}
		v, err := d.take()
		switch {
		case errors.Is(err, errOversized):
			s.skip(err)
		case err != nil:
			return err
		default:
			record(n, v)
		}
		if s.done {
			return errStop
		}
		return nil
	})
}

func (d *document) bracketed(open, shut byte, element func(n int) error) error {
	if c, err := d.peek(); err != nil || c != open || d.depth == maxDepth {
		return damage(err)
	}
	d.depth++
	_, _ = d.src.Discard(1) // cannot fail: the byte was just peeked at
	for n := 1; ; n++ {
		more, err := d.more(shut, n == 1)
		if err != nil {
			return err
		}
		if !more {
			d.depth--
			return nil
		}
		if err := element(n); err != nil {
			return err
		}
	}
}

// more reads what stands between two elements, or the end of them.
func (d *document) more(shut byte, first bool) (bool, error) {
	c, err := d.peek()
	switch {
	case err != nil:
		return false, err
	case c == shut:
		_, err = d.src.Discard(1)
		return false, err
	case first:
		return true, nil
	case c != ',':
		return false, errSyntax
	}
	_, _ = d.src.Discard(1) // cannot fail: the byte was just peeked at
	_, err = d.peek()
	return true, err
}

// take reads the next value whole. It is valid until the next value is taken. A
// value over the limit is passed over and reported as errOversized; reading may
// go on behind it.
func (d *document) take() (value, error) {
	if cap(d.buf) > keepBuffer {
		d.buf = nil
	}
	d.buf = d.buf[:0]
	long := false
	err := d.scan(func(chunk []byte) {
		if long = long || len(d.buf)+len(chunk) > d.limit; !long {
			d.buf = append(d.buf, chunk...)
		}
	})
	if err == nil && long {
		return nil, errOversized
	}
	return d.buf, err
}

// skip passes over the next value without keeping any of it.
func (d *document) skip() error { return d.scan(func([]byte) {}) }

// scan hands the bytes of the next value on in chunks.
func (d *document) scan(keep func(chunk []byte)) error {
	if _, err := d.peek(); err != nil {
		return err
	}
	var s span
	for !s.done {
		if _, err := d.src.Peek(1); err != nil {
			return s.end(err)
		}
		window, _ := d.src.Peek(d.src.Buffered())
		n := s.advance(window)
		keep(window[:n])
		_, _ = d.src.Discard(n) // cannot fail: the bytes are buffered
	}
	return s.fault()
}

// A span finds the end of a JSON value whose text comes in chunks.
type span struct {
	depth   int
	inside  bool // in a string
	escaped bool // in a string, behind an odd number of backslashes
	scalar  bool // in a number or a word
	bad     bool // it began with a byte that begins no value
	done    bool
}

// advance reads on in chunk and returns how many of its bytes belong to the value.
func (s *span) advance(chunk []byte) int {
	for i := 0; i < len(chunk); i++ {
		switch {
		case s.inside:
			if i = s.str(chunk, i); i == len(chunk) {
				return i
			}
		case s.scalar:
			if s.done = delimiter(chunk[i]); s.done {
				return i
			}
		default:
			s.structure(chunk[i])
		}
		if s.done {
			return i + 1
		}
	}
	return len(chunk)
}

// str reads on in a string from chunk[i] and returns the position of the quote
// that ends it, or the length of the chunk. Like stringEnd it looks for quotes
// only.
func (s *span) str(chunk []byte, i int) int {
	for first := i; ; i++ {
		n := bytes.IndexByte(chunk[i:], '"')
		if n < 0 {
			s.escaped = s.odd(chunk[first:])
			return len(chunk)
		}
		if i += n; !s.odd(chunk[first:i]) {
			s.inside, s.escaped = false, false
			s.done = s.depth == 0
			return i
		}
	}
}

// odd reports whether an odd number of backslashes stands at the end of b, the
// one at the end of the chunk before it included.
func (s *span) odd(b []byte) bool {
	n := len(b)
	for n > 0 && b[n-1] == '\\' {
		n--
	}
	return (len(b)-n)%2 == 1 != (n == 0 && s.escaped)
}

// structure takes one byte outside of strings and of scalars at the top.
func (s *span) structure(c byte) {
	switch c {
	case '"':
		s.inside = true
	case '{', '[':
		s.depth++
	case '}', ']':
		s.depth--
		s.done = s.depth <= 0
		s.bad = s.depth < 0
	case ',', ':':
		s.bad = s.depth == 0
		s.done = s.bad
	default:
		s.scalar = s.depth == 0
	}
}

// end says what the end of the text means for the value.
func (s *span) end(err error) error {
	switch {
	case !errors.Is(err, io.EOF):
		return err
	case s.scalar:
		return nil
	}
	return errTruncated
}

func (s *span) fault() error {
	if s.bad {
		return errSyntax
	}
	return nil
}

// damage is err, or errSyntax where the text went on but not as it should.
func damage(err error) error {
	if err == nil {
		return errSyntax
	}
	return err
}

// headOf is the JSON at the beginning of a file's head, which may be cut off
// anywhere.
func headOf(head []byte) value {
	return bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
}

// headField is the field of an object that may be cut off anywhere; the last
// field may then be cut off too.
func headField(v value, name string) value {
	m := v.members()
	for m.next() {
		if string(m.key) == name {
			return m.val
		}
	}
	if m.err != nil && string(m.key) == name && m.pos < len(v) {
		return v[m.pos:]
	}
	return nil
}

// headItem is the first element of an array that may be cut off anywhere.
func headItem(v value) value {
	m := v.items()
	if m.next() {
		return m.val
	}
	if m.err != nil && m.pos < len(v) {
		return v[m.pos:]
	}
	return nil
}

package sse

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
)

// MaxEvent bounds the data of one event in bytes. The largest that providers
// send hold an image or a whole answer.
const MaxEvent = 64 << 20

// ErrTooLong is the error for an event above MaxEvent.
var ErrTooLong = errors.New("event longer than 64 MiB")

// An Event is one event of a stream.
type Event struct {
	Name string // "" where the stream does not name it
	Data []byte // lines joined by \n; the reader does not use it again
}

// Read reads the events of a stream in their order. It reads no further than it
// is asked to, and gives an event as soon as the blank line behind it is there.
// Events without data are passed over. Lines end in LF, CRLF or CR.
//
// The first error ends the sequence. A stream that ends in the middle of a line
// gives what is there of the event together with [io.ErrUnexpectedEOF]: the line
// may be whole or not, which only its reader can tell. One that ends behind a
// line gives the event as if a blank line had followed.
func Read(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		in := lines{src: bufio.NewReaderSize(r, 32<<10)}
		var b builder
		for {
			line, err := in.next()
			if err != nil {
				b.end(line, err, yield)
				return
			}
			if !b.take(line, yield) {
				return
			}
		}
	}
}

// A builder puts one event together.
type builder struct {
	event Event
	some  bool // a data line came
}

// take reads one line, and gives the event when it was the last. It reports
// whether to go on.
func (b *builder) take(line []byte, yield func(Event, error) bool) bool {
	if len(line) > 0 {
		if err := b.field(line); err != nil {
			yield(Event{}, err)
			return false
		}
		return true
	}
	event, some := b.event, b.some
	*b = builder{}
	return !some || yield(event, nil)
}

func (b *builder) field(line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		b.event.Name = string(value)
	case "data":
		if len(b.event.Data)+len(value) > MaxEvent {
			return ErrTooLong
		}
		if b.some {
			b.event.Data = append(b.event.Data, '\n')
		}
		b.event.Data = append(b.event.Data, value...)
		b.some = true
	}
	return nil
}

// end gives what is left when the stream is over.
func (b *builder) end(line []byte, err error, yield func(Event, error) bool) {
	switch {
	case !errors.Is(err, io.EOF):
		yield(Event{}, err)
	case len(line) > 0:
		if err := b.field(line); err != nil {
			yield(Event{}, err)
			return
		}
		yield(b.event, io.ErrUnexpectedEOF)
	case b.some:
		yield(b.event, nil)
	}
}

// lines cuts a stream into lines.
type lines struct {
	src     *bufio.Reader
	afterCR bool // the line before ended in CR: a LF that follows belongs to it
	begun   bool
}

// next is the next line, without its end. With an error it is what came before
// the error. The line is valid until the next call.
func (l *lines) next() ([]byte, error) {
	var long []byte
	for {
		chunk, err := l.chunk()
		if err != nil {
			return long, err
		}
		end := lineEnd(chunk)
		if end < 0 {
			if long = append(long, chunk...); len(long) > MaxEvent {
				return nil, ErrTooLong
			}
			l.discard(len(chunk))
			continue
		}
		l.afterCR = chunk[end] == '\r'
		line := chunk[:end]
		if long != nil {
			line = append(long, line...)
		}
		l.discard(end + 1)
		return line, nil
	}
}

// chunk is what is there to read, at least one byte.
func (l *lines) chunk() ([]byte, error) {
	if !l.begun {
		l.begun = true
		if mark, _ := l.src.Peek(3); string(mark) == "\ufeff" {
			l.discard(3)
		}
	}
	if l.afterCR {
		l.afterCR = false
		if next, _ := l.src.Peek(1); string(next) == "\n" {
			l.discard(1)
		}
	}
	if _, err := l.src.Peek(1); err != nil {
		return nil, fmt.Errorf("read event stream: %w", err)
	}
	return l.src.Peek(l.src.Buffered())
}

// discard drops bytes that were peeked at, which cannot fail.
func (l *lines) discard(n int) { _, _ = l.src.Discard(n) }

func lineEnd(b []byte) int {
	end := bytes.IndexByte(b, '\n')
	head := b
	if end >= 0 {
		head = b[:end]
	}
	if cr := bytes.IndexByte(head, '\r'); cr >= 0 {
		return cr
	}
	return end
}

// Append adds an event to dst in the form that [Read] reads back: each line of
// its data, whatever it ends in, becomes one ended by LF. Line ends in a name
// are left out. An event without data is dropped by readers.
func Append(dst []byte, e Event) []byte {
	if e.Name != "" {
		dst = append(dst, "event: "...)
		dst = append(dst, lineEnds.Replace(e.Name)...)
		dst = append(dst, '\n')
	}
	for rest, more := e.Data, true; more; {
		var line []byte
		line, rest, more = cutLine(rest)
		dst = append(dst, "data: "...)
		dst = append(dst, line...)
		dst = append(dst, '\n')
	}
	return append(dst, '\n')
}

// lineEnds leaves out what would end a line.
var lineEnds = strings.NewReplacer("\n", "", "\r", "")

// cutLine cuts b behind its first line end; more reports whether there was one.
func cutLine(b []byte) (line, rest []byte, more bool) {
	end := lineEnd(b)
	if end < 0 {
		return b, nil, false
	}
	behind := end + 1
	if b[end] == '\r' && behind < len(b) && b[behind] == '\n' {
		behind++
	}
	return b[:end], b[behind:], true
}

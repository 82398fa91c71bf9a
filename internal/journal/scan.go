package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/quire-agent/quire/internal/quire"
)

// maxLine is the longest line of a journal. Texts are in bodies, so that a line
// comes nowhere near it; it bounds what a damaged file can take of memory.
const maxLine = 256 << 20

// A Damage is a place of a journal that cannot be read as what it is. It is
// [quire.ErrDamaged].
type Damage struct {
	Path   string `json:"path"`
	Line   int    `json:"line"` // from 1
	At     int64  `json:"at"`   // its first byte, from 0
	Reason string `json:"reason"`
}

// Error names the place and says what is wrong there.
func (d *Damage) Error() string { return fmt.Sprintf("%s:%d: %s", d.Path, d.Line, d.Reason) }

// Unwrap is [quire.ErrDamaged].
func (d *Damage) Unwrap() error { return quire.ErrDamaged }

// isDamage reports whether an error is about one place of a journal, so that
// reading goes on after it.
func isDamage(err error) bool {
	_, ok := errors.AsType[*Damage](err)
	return ok
}

// errLong says that a line was longer than its reader takes.
var errLong = errors.New("the line is too long")

// lines cuts a stream at line ends.
type lines struct {
	src   *bufio.Reader
	limit int64 // bytes of the longest line
	at    int64 // bytes taken so far
}

func newLines(r io.Reader, limit int64) *lines {
	return &lines{src: bufio.NewReaderSize(r, 64<<10), limit: limit}
}

// next returns the next line without its end; it is the caller's. What stands
// after the last line end is no line: io.EOF comes instead. A line over the
// limit is read over and is errLong.
func (l *lines) next() ([]byte, error) {
	var line []byte
	var size int64
	for {
		piece, err := l.src.ReadSlice('\n')
		size += int64(len(piece))
		if size <= l.limit+1 {
			line = append(line, piece...)
		} else {
			line = nil
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return nil, err
		}
		l.at += size
		if size > l.limit+1 {
			return nil, errLong
		}
		return bytes.TrimSuffix(line, []byte("\n")), nil
	}
}

// A scanner reads the records of a journal and checks their numbers.
type scanner struct {
	path  string
	lines *lines
	line  int
	next  int64 // seq that comes next, -1 when it cannot be known
}

// each is [Read] on a stream.
func (s *scanner) each(yield func(quire.Record, error) bool) {
	for {
		start := s.lines.at
		line, err := s.lines.next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil && !errors.Is(err, errLong) {
			yield(quire.Record{}, fmt.Errorf("read journal %s: %w", s.path, err))
			return
		}
		s.line++
		if !s.one(line, err, start, yield) {
			return
		}
	}
}

func (s *scanner) one(line []byte, err error, start int64, yield func(quire.Record, error) bool) bool {
	record := quire.Record{Line: line}
	if err == nil {
		record, err = parse(line)
	}
	if err != nil {
		s.next = -1
		return yield(quire.Record{Line: line}, s.damage(start, err.Error()))
	}
	want := s.next
	s.next = record.Seq + 1
	if want >= 0 && record.Seq != want && !yield(quire.Record{}, s.damage(start, gap(want, record.Seq))) {
		return false
	}
	return yield(record, nil)
}

func (s *scanner) damage(at int64, reason string) *Damage {
	return &Damage{Path: s.path, Line: s.line, At: at, Reason: reason}
}

func gap(want, got int64) string {
	if got > want {
		return fmt.Sprintf("records %d to %d are missing before it", want, got-1)
	}
	return fmt.Sprintf("its seq is %d where %d was to come", got, want)
}

// scan reads a journal from a stream.
func scan(path string, r io.Reader) iter.Seq2[quire.Record, error] {
	return func(yield func(quire.Record, error) bool) {
		s := &scanner{path: path, lines: newLines(r, maxLine)}
		s.each(yield)
	}
}

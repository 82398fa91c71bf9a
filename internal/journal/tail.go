package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/quire-agent/quire/internal/quire"
)

// An end is where the whole part of a journal ends.
type end struct {
	last   quire.Record // zero when there is none
	at     int64        // where the next record goes: after the last whole line
	reason string       // why what follows is torn, "" when nothing does
}

// findEnd looks for the last line that is whole, from the end: what stands
// before it is not read. Torn is what a writer leaves that was interrupted: an
// end without a line end, and lines in front of it that are not JSON, as the
// disk leaves them when power fails between the pieces of a write. A line that
// is JSON but no record is not torn and is never cut: what comes of it is
// [Damage], for those who read. A file of whole lines of which none is a record
// is not a journal: [quire.ErrDamaged].
func findEnd(r io.ReaderAt, size int64) (end, error) {
	b := &backward{src: r, from: size}
	e := end{at: size}
	for e.at > 0 {
		line, start, err := b.line(e.at)
		if err != nil {
			return end{}, err
		}
		why := torn(line)
		if why == "" {
			e.last, err = b.lastRecord(line, start)
			return e, err
		}
		if start == 0 && bytes.HasSuffix(line, []byte("\n")) {
			return end{}, noRecord(errors.New(why))
		}
		e.at, e.reason = start, why
	}
	return e, nil
}

// torn says why a line, given with its end, was not written whole.
func torn(line []byte) string {
	text, whole := bytes.CutSuffix(line, []byte("\n"))
	switch {
	case !whole:
		return "the last line has no end"
	case !json.Valid(text):
		return "the last line is not JSON"
	default:
		return ""
	}
}

// lastRecord is the record of a line, or of the nearest one before it.
func (b *backward) lastRecord(line []byte, start int64) (quire.Record, error) {
	for {
		record, err := parse(bytes.TrimSuffix(line, []byte("\n")))
		if err == nil || start == 0 {
			return record, noRecord(err)
		}
		if line, start, err = b.line(start); err != nil {
			return quire.Record{}, err
		}
	}
}

func noRecord(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: no line of it is a record", quire.ErrDamaged)
}

// backward reads lines from the end of a file.
type backward struct {
	src  io.ReaderAt
	held []byte // of the file, from
	from int64  // this byte on
}

// line returns the line that ends before a byte, with its end if it has one, and
// where it starts. Calls go from the end of the file to its beginning.
func (b *backward) line(before int64) ([]byte, int64, error) {
	b.held = b.held[:before-b.from]
	searched := 0
	for {
		body := b.held[:len(b.held)-searched]
		if searched == 0 {
			body = bytes.TrimSuffix(body, []byte("\n"))
		}
		if i := bytes.LastIndexByte(body, '\n'); i >= 0 {
			return b.held[i+1:], b.from + int64(i) + 1, nil
		}
		if b.from == 0 {
			return b.held, 0, nil
		}
		searched = len(b.held)
		if err := b.extend(); err != nil {
			return nil, 0, err
		}
	}
}

// extend reads as much again before what is held as is held, and 64 KiB at least.
func (b *backward) extend() error {
	n := min(max(64<<10, int64(len(b.held))), b.from)
	if int64(len(b.held))+n > maxLine+64<<10 {
		return fmt.Errorf("%w: its last line is longer than %d bytes", quire.ErrDamaged, maxLine)
	}
	held := make([]byte, n, n+int64(len(b.held)))
	if k, err := b.src.ReadAt(held, b.from-n); int64(k) < n {
		return errors.Join(io.ErrUnexpectedEOF, err)
	}
	b.held, b.from = append(held, b.held...), b.from-n
	return nil
}

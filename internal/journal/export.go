package journal

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/quire"
)

const (
	// exportVersion is the version of the form.
	exportVersion = 1

	// exportMark begins each line of an export that is no line of the journal.
	exportMark = `{"export":`
)

// The kinds of lines that an export adds.
const (
	exportSession = "session" // an exportHead; the first line
	exportBody    = "body"    // an exportedBody
	exportLine    = "line"    // an exportedBytes: a line of the journal that cannot stand as it is
	exportEnd     = "end"     // an exportFoot; the last line
)

type exportHead struct {
	Export  string              `json:"export"`
	V       int                 `json:"v"`
	Masked  bool                `json:"masked"` // secrets were masked: it cannot be imported
	Session quire.SessionNumber `json:"session"`
	ULID    string              `json:"ulid"`
}

type exportedBody struct {
	Export string     `json:"export"`
	Hash   quire.Hash `json:"hash"` // of the body before it was masked
	Text   *string    `json:"text,omitempty"`
	Base64 *[]byte    `json:"base64,omitempty"` // where it is not UTF-8
}

type exportedBytes struct {
	Export string `json:"export"`
	Base64 []byte `json:"base64"`
}

type exportFoot struct {
	Export string     `json:"export"`
	Lines  int        `json:"lines"`  // of the journal
	Bodies int        `json:"bodies"` // in this file
	Digest quire.Hash `json:"digest"` // SHA-256 of the journal, of its masked form in a masked export
}

// A bodyReader is what an export needs of [quire.Bodies].
type bodyReader interface {
	Body(ctx context.Context, h quire.Hash) ([]byte, error)
	HasBodies(ctx context.Context, hs []quire.Hash) ([]bool, error)
}

// Export writes a journal and the bodies that it names as one file: a first line
// that describes it; the lines of the journal as they stand; before the line
// that first names a body, that body; a last line by which a reader sees that
// nothing is missing. Every line is JSON.
//
// A body is named by any string that is its hash, so that what a newer program
// recorded is complete too. What is forgotten is left out. Any other body that a part names must be there: [quire.ErrMissing]
// otherwise.
//
// With mask nil it is unmasked, and [Import] takes it back byte for byte.
// Otherwise every string of the journal and every body has gone through mask,
// the first line says so, and Import refuses it.
//
// It takes no lock. What a writer appends meanwhile may or may not be in it.
// Memory holds one body and one line at a time. After an error what was written
// is incomplete, and Import says so.
func Export(ctx context.Context, w io.Writer, path string, bodies bodyReader, mask func(string) string) error {
	out := bufio.NewWriterSize(w, 64<<10)
	e := &exporter{out: out, bodies: bodies, mask: mask, seen: map[quire.Hash]bool{}, digest: sha256.New()}
	err := e.export(ctx, path)
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("export journal %s: %w", path, err)
	}
	return nil
}

type exporter struct {
	out    *bufio.Writer
	bodies bodyReader
	mask   func(string) string // nil: as it is
	gone   *forgotten
	seen   map[quire.Hash]bool // bodies that are written
	digest hash.Hash
	lines  int
}

func (e *exporter) export(ctx context.Context, path string) error {
	session, err := Head(path)
	if err != nil {
		return err
	}
	if e.gone, err = readForgotten(path); err != nil {
		return err
	}
	first := exportHead{Export: exportSession, V: exportVersion, Masked: e.mask != nil, Session: session.Number, ULID: session.ULID}
	if err := e.write(first); err != nil {
		return err
	}
	for r, err := range Read(path) {
		if err == nil {
			err = e.record(ctx, r)
		} else if isDamage(err) {
			err = e.damaged(r, err)
		}
		if err != nil {
			return err
		}
	}
	return e.write(exportFoot{Export: exportEnd, Lines: e.lines, Bodies: len(e.seen), Digest: sum(e.digest)})
}

// damaged writes what is left of a record. Only a line that is too long to read
// is lost, and that is an error.
func (e *exporter) damaged(r quire.Record, err error) error {
	d, _ := errors.AsType[*Damage](err)
	switch {
	case d.Reason == errLong.Error():
		return err
	case r.Line == nil:
		return nil // records are missing there: no line
	default:
		return e.line(r.Line)
	}
}

func (e *exporter) record(ctx context.Context, r quire.Record) error {
	c := claimOf(r)
	if r.Type != quire.RecordMark && !e.gone.holds(c) {
		if err := e.named(ctx, r.Line, c); err != nil {
			return err
		}
	}
	return e.line(r.Line)
}

// named writes the bodies that a record names for the first time.
func (e *exporter) named(ctx context.Context, line []byte, c claim) error {
	may := hashes(line)
	there, err := e.bodies.HasBodies(ctx, may)
	if err != nil {
		return err
	}
	for i, h := range may {
		switch {
		case there[i] && !e.seen[h]:
			err = e.body(ctx, h)
		case !there[i] && slices.Contains(c.bodies, h):
			err = fmt.Errorf("record %d names the body %s: %w", c.seq, h, quire.ErrMissing)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *exporter) body(ctx context.Context, h quire.Hash) error {
	body, err := e.bodies.Body(ctx, h)
	if err != nil {
		return err
	}
	e.seen[h] = true
	text := string(body)
	if e.mask != nil {
		text = e.mask(text)
	}
	one := exportedBody{Export: exportBody, Hash: h, Text: &text}
	if !utf8.ValidString(text) {
		raw := []byte(text)
		one.Text, one.Base64 = nil, &raw
	}
	return e.write(one)
}

// line writes a line of the journal, as it stands where it is JSON and cannot be
// taken for a line of the export's own.
func (e *exporter) line(line []byte) error {
	plain := json.Valid(line)
	switch {
	case e.mask != nil && plain:
		line = maskRecord(line, e.mask, e.seen)
	case e.mask != nil:
		line = []byte(e.mask(string(line)))
	}
	e.lines++
	addLine(e.digest, line)
	if !plain || bytes.HasPrefix(line, []byte(exportMark)) {
		return e.write(exportedBytes{exportLine, line})
	}
	if _, err := e.out.Write(line); err != nil {
		return err
	}
	return e.out.WriteByte('\n')
}

func (e *exporter) write(v any) error {
	enc := json.NewEncoder(e.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// addLine adds a line and its end to a digest.
func addLine(h hash.Hash, line []byte) {
	h.Write(line)
	h.Write([]byte("\n"))
}

func sum(h hash.Hash) quire.Hash { return quire.Hash(h.Sum(nil)) }

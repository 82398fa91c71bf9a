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
	"os"
	"path/filepath"
	"slices"

	"github.com/quire-agent/quire/internal/quire"
)

// ErrMasked says that an export cannot be imported, because its secrets are
// masked.
var ErrMasked = errors.New("secrets are masked in it, so it is not what was recorded")

// A bodyWriter is what an import needs of [quire.Bodies].
type bodyWriter interface {
	PutBodies(ctx context.Context, bodies [][]byte) ([]quire.Hash, error)
}

// An Imported says what an import did.
type Imported struct {
	Name
	Lines  int  `json:"lines"`  // of the journal
	Bodies int  `json:"bodies"` // in the export
	New    bool `json:"new"`    // false: the session was here already
}

// Options are choices of an import.
type Options struct {
	// Renumber gives the session the next free number where its own is taken by
	// another one. The number in the journal's first line is then not the one
	// that was exported; everything else is.
	Renumber bool
}

// Import takes an unmasked [Export] into a home: bodies first, durably, then the
// journal, in one step, so that a crash leaves a whole session or none (and
// bodies that nothing names). Everything is checked before: the hash of each
// body, that the bodies that parts name are there, that the end is there.
//
// A session that is here already, known by its ULID, is left as it is if it
// holds what the export holds, perhaps with more after it. If it holds something
// else, or if its number is taken by another session, the error is
// [quire.ErrConflict]. A masked export is [ErrMasked], one that is cut off or
// altered [quire.ErrDamaged].
func Import(ctx context.Context, home string, r io.Reader, bodies bodyWriter, options Options) (Imported, error) {
	done, err := importInto(ctx, home, r, bodies, options)
	if err != nil {
		return Imported{}, fmt.Errorf("import session: %w", kindOf(err))
	}
	return done, nil
}

func importInto(ctx context.Context, home string, r io.Reader, bodies bodyWriter, options Options) (Imported, error) {
	if err := makeFolder(Folder(home)); err != nil {
		return Imported{}, err
	}
	draft, err := os.CreateTemp(Folder(home), ".import-*")
	if err != nil {
		return Imported{}, err
	}
	i := &importer{src: newLines(r, maxExportLine), bodies: bodies, out: bufio.NewWriterSize(draft, 64<<10), seen: map[quire.Hash]bool{}, gone: newForgotten(), digest: sha256.New()}
	if err = i.read(ctx); err == nil {
		err = errors.Join(i.out.Flush(), draft.Sync())
	}
	err = errors.Join(err, draft.Close())
	var name Name
	var fresh bool
	if err == nil {
		name, fresh, err = place(home, draft.Name(), i.session, options)
	}
	return Imported{Name: name, Lines: i.lines, Bodies: len(i.seen), New: fresh}, errors.Join(err, removeIfThere(draft.Name()))
}

const (
	// maxExportLine bounds a line of an export: a body of 512 MiB, written as
	// JSON in the longest way.
	maxExportLine = 4 << 30

	// maxBatch is how many bytes of bodies are put at a time.
	maxBatch = 8 << 20
)

// An importer reads an export into a draft of the journal and the pool.
type importer struct {
	src    *lines
	bodies bodyWriter
	out    *bufio.Writer

	session quire.SessionRecord
	seen    map[quire.Hash]bool
	gone    *forgotten
	open    []claim // that are not met
	batch   [][]byte
	waiting int // bytes of batch
	digest  hash.Hash
	lines   int
	ended   bool
}

// An exportedAny is any line of an export's own.
type exportedAny struct {
	Export string     `json:"export"`
	V      int        `json:"v"`
	Masked bool       `json:"masked"`
	Hash   quire.Hash `json:"hash"`
	Text   *string    `json:"text"`
	Base64 *[]byte    `json:"base64"`
	Lines  int        `json:"lines"`
	Bodies int        `json:"bodies"`
	Digest quire.Hash `json:"digest"`
}

func (i *importer) read(ctx context.Context) error {
	if err := i.head(); err != nil {
		return err
	}
	for n := 2; ; n++ {
		line, err := i.src.next()
		switch {
		case errors.Is(err, io.EOF) && i.ended:
			return i.put(ctx)
		case errors.Is(err, io.EOF):
			return fmt.Errorf("%w: it is cut off after line %d", quire.ErrDamaged, n-1)
		case err == nil:
			err = i.one(ctx, line)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
}

// head reads the first line.
func (i *importer) head() error {
	line, err := i.src.next()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	var first exportedAny
	if !bytes.HasPrefix(line, []byte(exportMark)) || json.Unmarshal(line, &first) != nil || first.Export != exportSession {
		return fmt.Errorf("%w: its first line is not that of an export of a session", quire.ErrDamaged)
	}
	if first.V > exportVersion {
		return fmt.Errorf("it has version %d of the form, and this program reads up to %d", first.V, exportVersion)
	}
	if first.Masked {
		return ErrMasked
	}
	return nil
}

func (i *importer) one(ctx context.Context, line []byte) error {
	if i.ended {
		return fmt.Errorf("%w: it goes on after its end", quire.ErrDamaged)
	}
	if !bytes.HasPrefix(line, []byte(exportMark)) {
		return i.journalLine(line)
	}
	var own exportedAny
	if err := json.Unmarshal(line, &own); err != nil {
		return fmt.Errorf("%w: %w", quire.ErrDamaged, err)
	}
	switch own.Export {
	case exportBody:
		return i.body(ctx, own)
	case exportLine:
		if own.Base64 == nil {
			return fmt.Errorf("%w: a line without its bytes", quire.ErrDamaged)
		}
		return i.journalLine(*own.Base64)
	case exportEnd:
		return i.end(own)
	default:
		return fmt.Errorf("%w: %.40q is no part of an export", quire.ErrDamaged, own.Export)
	}
}

func (i *importer) body(ctx context.Context, own exportedAny) error {
	var body []byte
	switch {
	case own.Text != nil:
		body = []byte(*own.Text)
	case own.Base64 != nil:
		body = *own.Base64
	}
	if got := quire.Sum(string(body)); got != own.Hash {
		return fmt.Errorf("%w: the body %s has the hash %s", quire.ErrDamaged, own.Hash, got)
	}
	i.seen[own.Hash] = true
	i.batch, i.waiting = append(i.batch, body), i.waiting+len(body)
	if i.waiting < maxBatch {
		return nil
	}
	return i.put(ctx)
}

// put stores the bodies that wait.
func (i *importer) put(ctx context.Context) error {
	if len(i.batch) == 0 {
		return nil
	}
	_, err := i.bodies.PutBodies(ctx, i.batch)
	i.batch, i.waiting = nil, 0
	return err
}

func (i *importer) journalLine(line []byte) error {
	r, bad := parse(line)
	if i.lines == 0 {
		if err := i.first(r, bad); err != nil {
			return err
		}
	}
	if bad == nil {
		i.claim(r)
	}
	i.lines++
	addLine(i.digest, line)
	_, err := i.out.Write(append(slices.Clip(line), '\n'))
	return err
}

// first reads what session it is.
func (i *importer) first(r quire.Record, bad error) (err error) {
	if bad != nil {
		return fmt.Errorf("%w: the journal's first line: %w", quire.ErrDamaged, bad)
	}
	if i.session, err = head("the journal", r); err != nil {
		return err
	}
	if i.session.Number < 1 || !isULID(i.session.ULID) {
		return fmt.Errorf("%w: session %s with the ULID %.40q", quire.ErrDamaged, i.session.Number, i.session.ULID)
	}
	return nil
}

// claim notes what a record needs that did not come before it. A later mark may
// say that it is forgotten.
func (i *importer) claim(r quire.Record) {
	i.gone.record(r)
	c := claimOf(r)
	c.bodies = slices.DeleteFunc(c.bodies, func(h quire.Hash) bool { return i.seen[h] })
	if len(c.bodies) > 0 {
		i.open = append(i.open, c)
	}
}

// complete makes sure that the bodies that parts name are there.
func (i *importer) complete() error {
	for _, c := range i.open {
		if !i.gone.holds(c) {
			return fmt.Errorf("record %d names the body %s: %w", c.seq, c.bodies[0], quire.ErrMissing)
		}
	}
	return nil
}

func (i *importer) end(own exportedAny) error {
	i.ended = true
	if own.Lines != i.lines || own.Bodies != len(i.seen) || own.Digest != sum(i.digest) || i.lines == 0 {
		return fmt.Errorf("%w: it has %d lines and %d bodies, and was written with %d and %d", quire.ErrDamaged, i.lines, len(i.seen), own.Lines, own.Bodies)
	}
	return i.complete()
}

// place gives a draft its name.
func place(home, draft string, session quire.SessionRecord, options Options) (name Name, fresh bool, err error) {
	err = withNumbers(home, func(next quire.SessionNumber) (quire.SessionNumber, error) {
		name, fresh, err = placeNumbered(home, draft, session, options, next)
		return name.Number, err
	})
	return name, fresh, err
}

func placeNumbered(home, draft string, session quire.SessionRecord, options Options, next quire.SessionNumber) (Name, bool, error) {
	all, err := List(home)
	if err != nil {
		return Name{}, false, err
	}
	if at := slices.IndexFunc(all, func(n Name) bool { return n.ULID == session.ULID }); at >= 0 {
		return all[at], false, sameSession(all[at], draft, session.Number)
	}
	number := session.Number
	if at := slices.IndexFunc(all, func(n Name) bool { return n.Number == number }); at >= 0 {
		if !options.Renumber {
			return Name{}, false, fmt.Errorf("%w: %s is another session here, %s", quire.ErrConflict, number, filepath.Base(all[at].Path))
		}
		number = next
	}
	name, err := settleDraft(home, draft, session, number)
	return name, true, err
}

// settleDraft moves a draft to its place, with its number changed where it has
// to be.
func settleDraft(home, draft string, session quire.SessionRecord, number quire.SessionNumber) (Name, error) {
	if number != session.Number {
		if err := renumber(draft, session.Number, number); err != nil {
			return Name{}, err
		}
	}
	path := pathOf(home, number, session.ULID)
	if err := os.Rename(draft, path); err != nil {
		return Name{}, err
	}
	if err := syncFolder(Folder(home)); err != nil {
		return Name{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return Name{}, err
	}
	return Name{Number: number, ULID: session.ULID, Path: path, Bytes: info.Size(), Changed: info.ModTime()}, nil
}

package trace

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/zstd"
)

// The ways in which a file can fail to be a log, for errors.Is.
var (
	ErrUnknown    = errors.New("not a session log of a known format")
	ErrEmpty      = errors.New("the file is empty")
	ErrBinary     = errors.New("a binary file of an unknown kind")
	ErrDirectory  = errors.New("a folder, not a file")
	ErrIrregular  = errors.New("not a regular file")
	ErrUnreadable = errors.New("the file cannot be read")
	ErrPiece      = errors.New("a piece of a session, which is read with it")
)

// importers lists the formats in the order in which they are tried: those that
// name their agent first, the plain message arrays, which could be anybody's,
// last.
func importers() []importer {
	return []importer{
		claudeImporter(),
		codexImporter(),
		copilotImporter(),
		opencodeImporter(),
		miniImporter(),
		sweImporter(),
		messagesImporter(),
	}
}

// Open recognises a file by its content and returns the sessions in it, mostly
// one. Files may be compressed with gzip or zstd. Nothing but the beginning is
// read yet. The error wraps one of the errors above and names the path.
func Open(path string) ([]*Log, error) {
	logs, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	return logs, nil
}

func open(path string) ([]*Log, error) {
	info, err := regular(path)
	if err != nil {
		return nil, err
	}
	head, magic, err := readHead(path)
	switch {
	case err != nil:
		return nil, err
	case magic == magicSQLite:
		return openSQLite(path)
	case isStoredSession(head):
		return []*Log{openStoredSession(path, info.Size())}, nil
	case isStoredPiece(head):
		return nil, ErrPiece
	}
	format, err := recognise(head)
	if err != nil {
		return nil, err
	}
	log := &Log{Path: path, Agent: format.agent, Size: info.Size()}
	log.events = format.events(path)
	return []*Log{log}, nil
}

// regular describes a file that can be read from beginning to end.
func regular(path string) (os.FileInfo, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, unreadable(err)
	case info.IsDir():
		return nil, ErrDirectory
	case !info.Mode().IsRegular():
		return nil, ErrIrregular
	case info.Size() == 0:
		return nil, ErrEmpty
	}
	return info, nil
}

// unreadable adds ErrUnreadable to a fault. The path is left out of it: the
// caller names it.
func unreadable(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("%w: %w", ErrUnreadable, err)
}

// recognise finds the format that a head belongs to.
func recognise(head []byte) (importer, error) {
	if len(bytes.Trim(head, "\ufeff \t\r\n")) == 0 {
		return importer{}, ErrEmpty
	}
	if bytes.IndexByte(head[:min(len(head), 512)], 0) >= 0 {
		return importer{}, ErrBinary
	}
	if first := headOf(head)[0]; first != '{' && first != '[' {
		return importer{}, ErrUnknown
	}
	for _, f := range importers() {
		if f.match(head) {
			return f, nil
		}
	}
	return importer{}, ErrUnknown
}

// isStoredPiece reports whether a head is that of a message or a part of one in
// the folder in which OpenCode kept its sessions. They are read with the session
// that they name.
func isStoredPiece(head []byte) bool {
	v := headOf(head)
	id := headField(v, "id").text()
	return (strings.HasPrefix(id, "msg") || strings.HasPrefix(id, "prt")) &&
		strings.HasPrefix(headField(v, "sessionID").text(), "ses")
}

// events reads a file with an importer.
func (f importer) events(path string) iter.Seq2[quire.Event, error] {
	return func(yield func(quire.Event, error) bool) {
		more := true
		err := f.readFile(path, func(e quire.Event) bool {
			more = more && yield(e, nil)
			return more
		})
		if err != nil && more {
			yield(nil, fmt.Errorf("reading %s: %w", path, err))
		}
	}
}

func (f importer) readFile(path string, yield func(quire.Event) bool) error {
	src, _, err := openPlain(path)
	if err != nil {
		return err
	}
	defer src.Close()
	return f.read(src, yield)
}

// readHead reads the beginning of the decompressed file.
func readHead(path string) (head []byte, magic magic, err error) {
	src, magic, err := openPlain(path)
	if err != nil {
		return nil, magic, err
	}
	defer src.Close()
	if magic == magicSQLite {
		return nil, magic, nil
	}
	head, err = io.ReadAll(io.LimitReader(src, headSize))
	if err != nil && len(head) == 0 {
		return nil, magic, unreadable(err)
	}
	return head, magic, nil
}

// A magic says how the bytes of a file are to be read.
type magic uint8

const (
	magicNone magic = iota
	magicGzip
	magicZstd
	magicSQLite
)

func magicOf(head []byte) magic {
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return magicGzip
	case zstd.Match(head):
		return magicZstd
	case bytes.HasPrefix(head, []byte("SQLite format 3\x00")):
		return magicSQLite
	}
	return magicNone
}

// An opened is a file read through its decompressor. Closing it closes both.
type opened struct {
	io.Reader
	decoder io.Closer // nil where there is none
	file    *os.File
}

// Close releases the file and what decompressed it.
func (p *opened) Close() error {
	if p.decoder != nil {
		_ = p.decoder.Close() // a decoder holds memory only
	}
	return p.file.Close()
}

func openPlain(path string) (*opened, magic, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, magicNone, unreadable(err)
	}
	p := &opened{Reader: file, file: file}
	kind, err := p.decompress()
	if err != nil {
		_ = p.Close() // the fault that matters is the one at hand
		return nil, kind, unreadable(err)
	}
	return p, kind, nil
}

// decompress looks at the first bytes of the file and puts the decompressor they
// ask for in front of it.
func (p *opened) decompress() (magic, error) {
	first := make([]byte, 16)
	n, err := io.ReadFull(p.file, first)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return magicNone, err
	}
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return magicNone, err
	}
	kind := magicOf(first[:n])
	return kind, p.attach(kind)
}

func (p *opened) attach(kind magic) error {
	var r io.ReadCloser
	var err error
	switch kind {
	case magicGzip:
		r, err = gzip.NewReader(p.file)
	case magicZstd:
		r, err = zstd.NewReader(p.file)
	default:
		return nil
	}
	if err == nil {
		p.Reader, p.decoder = r, r
	}
	return err
}

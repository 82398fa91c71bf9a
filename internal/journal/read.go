package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"

	"github.com/quire-agent/quire/internal/quire"
)

// Read yields the records of a journal in order. It takes no lock and may run
// while a writer appends: it ends at the last whole line that it finds, and a
// part of a line after that is no error. Memory is bounded by the longest line.
//
// A place that cannot be read comes as a [*Damage]: a line that is no record
// comes with a Record that holds only the Line (none where it is longer than 256
// MiB), missing records with an empty one, before the record that shows that
// they are missing. The sequence then goes on. Any other error ends it; a
// journal that is not there is [quire.ErrNotFound]. A Record is the caller's.
func Read(path string) iter.Seq2[quire.Record, error] {
	return func(yield func(quire.Record, error) bool) {
		f, err := openRead(path)
		if err != nil {
			yield(quire.Record{}, fmt.Errorf("read journal: %w", err))
			return
		}
		defer f.Close()
		scan(path, f)(yield)
	}
}

// openRead opens a file, and says [quire.ErrNotFound] where there is none.
func openRead(path string) (*os.File, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", path, quire.ErrNotFound)
	}
	return f, err
}

// Head reads the first record of a journal, which describes the session. It
// reads no further. A journal without a record is [quire.ErrNotFound].
func Head(path string) (quire.SessionRecord, error) {
	for r, err := range Read(path) {
		if err != nil {
			return quire.SessionRecord{}, err
		}
		return head(path, r)
	}
	return quire.SessionRecord{}, fmt.Errorf("read journal %s: its first record: %w", path, quire.ErrNotFound)
}

func head(path string, r quire.Record) (quire.SessionRecord, error) {
	if r.Type != quire.RecordSession {
		return quire.SessionRecord{}, &Damage{Path: path, Line: 1, Reason: fmt.Sprintf("the first record is of type %.40q, not %s", r.Type, quire.RecordSession)}
	}
	return Decode[quire.SessionRecord](r)
}

// Last reads the last record of a journal, from its end: what stands before it
// is not read. Bytes after the last whole record are passed over. A journal
// without a record is [quire.ErrNotFound].
func Last(path string) (quire.Record, error) {
	f, err := openRead(path)
	if err != nil {
		return quire.Record{}, fmt.Errorf("read journal: %w", err)
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return quire.Record{}, fmt.Errorf("read journal: %w", err)
	}
	end, err := findEnd(f, size)
	if err != nil {
		return quire.Record{}, fmt.Errorf("read journal %s: %w", path, err)
	}
	if end.at == 0 {
		return quire.Record{}, fmt.Errorf("read journal %s: its last record: %w", path, quire.ErrNotFound)
	}
	return end.last, nil
}

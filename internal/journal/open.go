package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

const tornSuffix = ".torn"

// A Torn is the end of a journal that was not written whole and was cut off.
type Torn struct {
	Path   string `json:"path"`
	At     int64  `json:"at"`      // where the journal was cut: its length now
	Bytes  int64  `json:"bytes"`   // that were cut
	Kept   string `json:"kept"`    // the file that has them now
	KeptAt int64  `json:"kept_at"` // where they begin in it
	Reason string `json:"reason"`
}

// String says what was cut and where it is.
func (t *Torn) String() string {
	return fmt.Sprintf("%s was cut at byte %d: %s; the %d bytes after it are in %s from byte %d", t.Path, t.At, t.Reason, t.Bytes, t.Kept, t.KeptAt)
}

// Open opens a journal for writing and creates it, with its folder, where there
// is none. The clock gives the times of records.
//
// Only the end of an existing journal is read. An end that was not written whole
// is cut off and kept in a file beside it ([Writer.Torn] says so); damage
// elsewhere is left to [Read]. The errors are [quire.ErrLocked] with the pid of
// the process that writes it, [quire.ErrReadOnly], [quire.ErrFull],
// [quire.ErrDamaged] for a file that is no journal, or what the system says.
func Open(path string, now func() time.Time) (*Writer, error) {
	w, err := openWriter(path, os.O_RDWR|os.O_CREATE, now)
	if err != nil {
		return nil, fmt.Errorf("open journal %s: %w", path, kindOf(err))
	}
	return w, nil
}

// openWriter opens the file with the given flags, under the lock.
func openWriter(path string, flags int, now func() time.Time) (*Writer, error) {
	if err := makeFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	lock, err := hold(path)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, errors.Join(err, release(lock))
	}
	w := &Writer{path: path, now: now, file: f, disk: f, lock: lock, most: maxLine}
	if err := w.recover(); err != nil {
		return nil, errors.Join(err, f.Close(), release(lock))
	}
	return w, nil
}

// recover finds where the journal goes on.
func (w *Writer) recover() error {
	size, err := w.file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if size == 0 {
		return syncFolder(filepath.Dir(w.path))
	}
	e, err := findEnd(w.file, size)
	if err != nil {
		return err
	}
	if e.at < size {
		if w.torn, err = w.cut(e, size); err != nil {
			return err
		}
	}
	w.durable = e.at
	if e.at > 0 {
		w.seq, w.last = e.last.Seq+1, e.last.T
	}
	return nil
}

// cut moves the end of the file to the file of torn ends. It is durable there
// before it goes here.
func (w *Writer) cut(e end, size int64) (*Torn, error) {
	kept := w.path + tornSuffix
	at, err := keep(kept, io.NewSectionReader(w.file, e.at, size-e.at))
	if err != nil {
		return nil, err
	}
	if err := errors.Join(w.file.Truncate(e.at), w.file.Sync()); err != nil {
		return nil, err
	}
	return &Torn{Path: w.path, At: e.at, Bytes: size - e.at, Kept: kept, KeptAt: at, Reason: e.reason}, nil
}

// keep appends bytes to a file, durably, and says where they begin.
func keep(path string, from io.Reader) (at int64, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return 0, err
	}
	if at, err = f.Seek(0, io.SeekEnd); err == nil {
		_, err = io.Copy(f, from)
	}
	return at, errors.Join(err, f.Sync(), f.Close(), syncFolder(filepath.Dir(path)))
}

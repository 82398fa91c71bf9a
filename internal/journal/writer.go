package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/quire-agent/quire/internal/quire"
)

// maxPending is how many bytes may wait for a Sync before Append makes one.
const maxPending = 16 << 20

// A disk is the file under a writer. Tests put one in that fails.
type disk interface {
	io.WriterAt
	Truncate(size int64) error
	Sync() error
}

// A Writer appends to a journal; there is one at a time. Its methods may be
// called concurrently.
//
// Appended records wait in memory until [Writer.Sync] writes them and makes them
// durable, in one write and one fsync however many they are. They are kept until
// that has succeeded: after an error (a full disk, say) the same Writer can go
// on, and its next Sync writes them again. Nothing is built on what a failed
// write or fsync may have left in the file.
type Writer struct {
	path string
	now  func() time.Time
	file *os.File // closes with the writer
	disk disk
	lock *os.File
	torn *Torn
	most int // bytes of a line; maxLine

	syncing sync.Mutex // held while the file is written; before mu

	mu      sync.Mutex // of what follows
	pending []byte     // whole lines that are not durable
	durable int64      // bytes of the file that are
	seq     int64      // of the next record
	last    time.Time  // t of the last record
	closed  bool
}

// Path is the file of the journal.
func (w *Writer) Path() string { return w.path }

// Torn describes the end that was cut when the journal was opened, nil when none
// was.
func (w *Writer) Torn() *Torn { return w.torn }

// Append adds a record and returns its seq. The payload is encoded as JSON and
// must be an object (nil is an empty one); its fields stand beside those of the
// envelope, whose names they may not have. A json.RawMessage keeps its fields as
// they are, those that nobody knows too.
//
// The record is durable when a later [Writer.Sync] has returned without an
// error. After an error it is not in the journal, and its seq goes to the next
// one. Append itself syncs when 16 MiB are waiting.
func (w *Writer) Append(kind string, payload any) (seq int64, err error) {
	for {
		seq, room, err := w.append(kind, payload)
		if err != nil {
			return 0, fmt.Errorf("append to journal %s: a %s: %w", w.path, kind, err)
		}
		if room {
			return seq, nil
		}
		if err := w.Sync(); err != nil {
			return 0, err
		}
	}
}

// append adds a record if there is room for it.
func (w *Writer) append(kind string, payload any) (seq int64, room bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return 0, false, os.ErrClosed
	}
	r := quire.Record{V: quire.RecordVersion, Seq: w.seq, Type: kind}
	r.T, r.Back = stamp(w.now(), w.last)
	line, err := encode(r, payload)
	if err != nil {
		return 0, false, err
	}
	if len(line) > w.most {
		return 0, false, fmt.Errorf("%d bytes in one line, at most %d: long texts are bodies", len(line), w.most)
	}
	if len(w.pending) > 0 && len(w.pending)+len(line) > maxPending {
		return 0, false, nil
	}
	w.pending = append(w.pending, line...)
	w.seq, w.last = r.Seq+1, r.T
	return r.Seq, true, nil
}

// Sync makes durable what was appended before it. Calls that come together share
// one fsync. After an error ([quire.ErrFull], [quire.ErrReadOnly] or what the
// system says) the records are kept, and a later Sync tries again.
func (w *Writer) Sync() error {
	target := w.target()
	w.syncing.Lock()
	defer w.syncing.Unlock()
	batch, at, closed := w.batch()
	switch {
	case at >= target:
		return nil
	case closed:
		return fmt.Errorf("sync journal %s: %w", w.path, os.ErrClosed)
	}
	if err := w.write(batch, at); err != nil {
		return fmt.Errorf("sync journal %s: %w", w.path, kindOf(err))
	}
	w.settle(len(batch))
	return nil
}

// target is how long the file must be for all that is appended so far.
func (w *Writer) target() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.durable + int64(len(w.pending))
}

// batch is what waits and where it goes. Append writes only behind it while it
// is written out.
func (w *Writer) batch() (lines []byte, at int64, closed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pending, w.durable, w.closed
}

// write puts a batch into the file, or leaves the file as it was as far as that
// is still possible: what cannot be taken back is written over by the next try,
// or cut by the next Open.
func (w *Writer) write(batch []byte, at int64) error {
	_, err := w.disk.WriteAt(batch, at)
	if err == nil {
		err = w.disk.Sync()
	}
	if err != nil {
		return errors.Join(err, w.disk.Truncate(at))
	}
	return nil
}

// settle takes what is durable out of what waits. A buffer that grew is not kept.
func (w *Writer) settle(n int) {
	const keep = 1 << 20
	w.mu.Lock()
	defer w.mu.Unlock()
	w.durable += int64(n)
	rest := w.pending[n:]
	if cap(w.pending) > keep {
		w.pending = append([]byte(nil), rest...)
		return
	}
	w.pending = w.pending[:copy(w.pending, rest)]
}

// Close syncs, closes the file and gives up the lock, the last two also when the
// first fails. A second Close is os.ErrClosed.
func (w *Writer) Close() error {
	err := w.Sync()
	w.syncing.Lock()
	defer w.syncing.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return fmt.Errorf("close journal %s: %w", w.path, os.ErrClosed)
	}
	w.closed = true
	return errors.Join(err, w.file.Close(), release(w.lock))
}

// kindOf adds the error of package quire that an error of the system is.
func kindOf(err error) error {
	switch {
	case isFull(err):
		return fmt.Errorf("%w: %w", quire.ErrFull, err)
	case isReadOnly(err):
		return fmt.Errorf("%w: %w", quire.ErrReadOnly, err)
	default:
		return err
	}
}

package journal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/flock"
)

const numbersName = "numbers"

// Create begins the journal of a new session: it gives the session its number
// and, where the record has none, its ULID, and writes the record as the first
// line, durably. The record is returned as it was written.
//
// Numbers rise, are never given twice in a home, whatever processes ask at the
// same time, and not again after [Remove]. A crash in between may leave a number
// without a journal, or a journal without a record. The errors are those of
// [Open].
func Create(home string, session quire.SessionRecord, now func() time.Time) (*Writer, quire.SessionRecord, error) {
	w, session, err := create(home, session, now)
	if err != nil {
		return nil, quire.SessionRecord{}, fmt.Errorf("create a journal in %s: %w", home, kindOf(err))
	}
	return w, session, nil
}

func create(home string, session quire.SessionRecord, now func() time.Time) (w *Writer, _ quire.SessionRecord, err error) {
	if session.ULID == "" {
		if session.ULID, err = newULID(now(), rand.Reader); err != nil {
			return nil, session, err
		}
	}
	if !isULID(session.ULID) {
		return nil, session, fmt.Errorf("%.40q is not a ULID", session.ULID)
	}
	err = withNumbers(home, func(next quire.SessionNumber) (quire.SessionNumber, error) {
		session.Number = next
		w, err = openWriter(pathOf(home, next, session.ULID), os.O_RDWR|os.O_CREATE|os.O_EXCL, now)
		return next, err
	})
	if err != nil {
		return nil, session, err
	}
	if _, err = w.Append(quire.RecordSession, session); err == nil {
		err = w.Sync()
	}
	if err != nil {
		return nil, session, errors.Join(err, w.Close(), os.Remove(w.path))
	}
	return w, session, nil
}

// withNumbers runs take with the next free number of a home, while no other
// process can do the same. What take returns without an error is the highest
// number in use from then on.
func withNumbers(home string, take func(next quire.SessionNumber) (quire.SessionNumber, error)) error {
	if err := makeFolder(Folder(home)); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(Folder(home), numbersName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(takeNumber(home, f, take), f.Close())
}

func takeNumber(home string, f *os.File, take func(quire.SessionNumber) (quire.SessionNumber, error)) error {
	if err := flock.Wait(f); err != nil {
		return err
	}
	highest, err := highestNumber(home, f)
	if err != nil {
		return err
	}
	taken, err := take(highest + 1)
	if err != nil || taken <= highest {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(strconv.Itoa(int(taken))+"\n"), 0)
	return errors.Join(err, f.Sync())
}

// highestNumber is the highest number in use or once given out: the names tell
// the first, the file the second. A file that cannot be read as a number counts
// for nothing.
func highestNumber(home string, f io.ReaderAt) (quire.SessionNumber, error) {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, 20))
	if err != nil {
		return 0, err
	}
	given, bad := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 32)
	if bad != nil || given < 0 {
		given = 0
	}
	highest := quire.SessionNumber(given)
	all, err := List(home)
	if len(all) > 0 {
		highest = max(highest, all[len(all)-1].Number)
	}
	return highest, err
}

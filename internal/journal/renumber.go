package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/quire-agent/quire/internal/quire"
)

// renumber puts another session number into the first line of a journal that
// nobody has open.
func renumber(path string, from, to quire.SessionNumber) error {
	fresh, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = copyRenumbered(fresh, path, from, to)
	if err = errors.Join(err, fresh.Sync(), fresh.Close()); err != nil {
		return errors.Join(err, os.Remove(fresh.Name()))
	}
	return os.Rename(fresh.Name(), path)
}

func copyRenumbered(w io.Writer, path string, from, to quire.SessionNumber) error {
	old, err := os.Open(path)
	if err != nil {
		return err
	}
	src, err := renumbered(old, from, to)
	if err == nil {
		_, err = io.Copy(w, src)
	}
	return errors.Join(err, old.Close())
}

// renumbered is a journal with another session number in its first line.
func renumbered(journal io.Reader, from, to quire.SessionNumber) (io.Reader, error) {
	src := bufio.NewReader(journal)
	line, err := src.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	if from == to {
		return io.MultiReader(bytes.NewReader(line), src), nil
	}
	start, end, err := numberIn(line)
	if err != nil {
		return nil, err
	}
	var e envelope
	if err := json.Unmarshal(line, &e); err != nil {
		return nil, err
	}
	changed := fmt.Appendf(append([]byte(nil), line[:start]...), "%d", to)
	changed = append(changed, bytes.TrimSuffix(line[end:], []byte("\n"))...)
	return io.MultiReader(bytes.NewReader(append(resum(changed, e.Sum), '\n')), src), nil
}

// numberIn finds the value of the field session of an object.
func numberIn(line []byte) (start, end int, err error) {
	dec := json.NewDecoder(bytes.NewReader(line))
	if _, err := dec.Token(); err != nil {
		return 0, 0, err
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return 0, 0, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return 0, 0, err
		}
		if key == "session" {
			end = int(dec.InputOffset())
			return end - len(value), end, nil
		}
	}
	return 0, 0, fmt.Errorf("%w: no session number in the first line", quire.ErrDamaged)
}

// sameSession makes sure that a journal begins with what a draft holds, the
// number that it was given here aside.
func sameSession(here Name, draft string, number quire.SessionNumber) (err error) {
	old, err := os.Open(here.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	f, err := os.Open(draft)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	want, err := renumbered(f, number, here.Number)
	if err != nil {
		return err
	}
	same, err := begins(old, want)
	if err == nil && !same {
		return fmt.Errorf("%w: session %s is here already and holds something else", quire.ErrConflict, here.Number)
	}
	return err
}

// begins reports whether one stream begins with all of the other.
func begins(all, start io.Reader) (bool, error) {
	a, b := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(start, b)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return false, err
		}
		m, short := io.ReadFull(all, a[:n])
		if m < n || !bytes.Equal(a[:n], b[:n]) {
			return false, ignoreEnd(short)
		}
		if err != nil {
			return true, nil
		}
	}
}

func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

package journal

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/quire"
)

const (
	folderName = "sessions"
	extension  = ".jsonl"
)

// A Name is a journal of a home, as its file name tells it.
type Name struct {
	Number  quire.SessionNumber `json:"session"`
	ULID    string              `json:"ulid"`
	Path    string              `json:"path"`
	Bytes   int64               `json:"bytes"`
	Changed time.Time           `json:"changed"` // when the file last changed
}

// Folder is where the journals of a home are.
func Folder(home string) string { return filepath.Join(home, folderName) }

// List lists the journals of a home by number, then ULID. It reads names and no
// journal; files with other names are passed over. A home without journals has
// none.
func List(home string) ([]Name, error) {
	entries, err := os.ReadDir(Folder(home))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	var list []Name
	for _, entry := range entries {
		if n, ok := named(home, entry); ok {
			list = append(list, n)
		}
	}
	slices.SortFunc(list, func(a, b Name) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), strings.Compare(a.ULID, b.ULID))
	})
	return list, nil
}

// named reads a name. A file that goes while it is looked at is none.
func named(home string, entry fs.DirEntry) (Name, bool) {
	number, ulid, ok := parseName(entry.Name())
	if !ok {
		return Name{}, false
	}
	info, err := entry.Info()
	if err != nil || !info.Mode().IsRegular() {
		return Name{}, false
	}
	return Name{Number: number, ULID: ulid, Path: filepath.Join(Folder(home), entry.Name()), Bytes: info.Size(), Changed: info.ModTime()}, true
}

// parseName reads s7-01JEXAMPLE….jsonl.
func parseName(file string) (quire.SessionNumber, string, bool) {
	stem, ok := strings.CutSuffix(file, extension)
	first, ulid, dash := strings.Cut(stem, "-")
	number, err := quire.ParseSessionNumber(first)
	return number, ulid, ok && dash && err == nil && isULID(ulid)
}

func pathOf(home string, n quire.SessionNumber, ulid string) string {
	return filepath.Join(Folder(home), n.String()+"-"+ulid+extension)
}

// Find looks a journal up by s<n>, by its ULID or by a beginning of that which
// no other journal has; upper and lower case are the same. None is
// [quire.ErrNotFound]; several are an error that names them.
func Find(home, text string) (Name, error) {
	all, err := List(home)
	if err != nil {
		return Name{}, err
	}
	number, notNumber := quire.ParseSessionNumber(text)
	upper := strings.ToUpper(text)
	found := slices.DeleteFunc(all, func(n Name) bool {
		if notNumber == nil {
			return n.Number != number
		}
		return text == "" || !strings.HasPrefix(n.ULID, upper)
	})
	switch len(found) {
	case 0:
		return Name{}, fmt.Errorf("session %.80q: %w", text, quire.ErrNotFound)
	case 1:
		return found[0], nil
	default:
		return Name{}, fmt.Errorf("session %.80q may be any of %s", text, files(found))
	}
}

func files(list []Name) string {
	var names []string
	for _, n := range list {
		names = append(names, filepath.Base(n.Path))
	}
	return strings.Join(names, ", ")
}

// Remove deletes a journal with its torn ends. The bodies that it names stay
// where they are. A journal that somebody writes is [quire.ErrLocked], one that
// is not there [quire.ErrNotFound]. Its number is not given out again.
func Remove(path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove journal %s: %w", path, quire.ErrNotFound)
	}
	lock, err := hold(path)
	if err != nil {
		return fmt.Errorf("remove journal %s: %w", path, kindOf(err))
	}
	err = os.Remove(path)
	if err == nil {
		err = removeIfThere(path + tornSuffix)
	}
	err = errors.Join(err, release(lock), syncFolder(filepath.Dir(path)))
	if err != nil {
		return fmt.Errorf("remove journal %s: %w", path, kindOf(err))
	}
	return nil
}

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

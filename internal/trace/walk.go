package trace

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"
)

// ErrLoop is the error for a link to a folder that holds the link.
var ErrLoop = errors.New("the link leads back to a folder above it")

// A Found is a file that [Walk] found. Whether it is a log only [Open] can say.
type Found struct {
	Path     string // as given, or below a folder as given
	Size     int64
	Modified time.Time
}

// Walk lists the files given and those below the folders given, in lexical
// order below each. Links are followed; a file or folder that several paths lead
// to is listed once, where it comes first. What cannot be listed (a folder that
// cannot be read, a broken link, a link that leads in a circle) is yielded as an
// error beside the Found that names it, and the walk goes on.
func Walk(paths []string) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		w := walker{yield: yield, seen: make(map[string]bool), above: make(map[string]bool)}
		for _, path := range paths {
			if !w.visit(path) {
				return
			}
		}
	}
}

// A walker is the state of one walk. Its methods return false when the reader
// wants no more.
type walker struct {
	yield func(Found, error) bool
	seen  map[string]bool // by real path
	above map[string]bool // folders that are being listed, by real path
}

func (w *walker) visit(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return w.fault(path, unresolved(path, err))
	}
	if full, err := filepath.Abs(real); err == nil {
		real = full
	}
	if w.above[real] {
		return w.fault(path, ErrLoop)
	}
	if w.seen[real] {
		return true
	}
	w.seen[real] = true
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return w.fault(path, unreadable(err))
	case info.IsDir():
		return w.folder(path, real)
	}
	return w.file(path, info)
}

func (w *walker) fault(path string, err error) bool {
	return w.yield(Found{Path: path}, fmt.Errorf("looking at %s: %w", path, err))
}

func (w *walker) file(path string, info fs.FileInfo) bool {
	if !info.Mode().IsRegular() {
		return w.fault(path, ErrIrregular)
	}
	return w.yield(Found{Path: path, Size: info.Size(), Modified: info.ModTime()}, nil)
}

// folder lists a folder. Entries read before a fault are visited.
func (w *walker) folder(path, real string) bool {
	w.above[real] = true
	defer delete(w.above, real)
	entries, err := os.ReadDir(real)
	if err != nil && !w.fault(path, unreadable(err)) {
		return false
	}
	for _, e := range entries {
		if !w.visit(filepath.Join(path, e.Name())) {
			return false
		}
	}
	return true
}

// unresolved is the error for a path that leads nowhere. A chain of links that
// leads in a circle has no error of its own in the standard library.
func unresolved(path string, err error) error {
	if _, statErr := os.Stat(path); statErr != nil {
		return unreadable(statErr)
	}
	return unreadable(err)
}

package walk

import (
	"io/fs"
	"iter"
	"path"
)

// An Entry is a file, a folder or a link that was met.
type Entry struct {
	Path  string // from the root of the project, with slashes
	Entry fs.DirEntry
}

// Options say what is met.
type Options struct {
	Folders bool // folders too, each before what is in it
	Ignored bool // also what .gitignore files leave out; .git never
	Depth   int  // levels below the folder, 0 for all
}

// Project yields what is in a folder of a project and below it, by name within
// each folder. dir is "." for all of the project; the .gitignore files above it
// count. Symbolic links are yielded and not followed. A folder that cannot be
// read is yielded as an error, and the walk goes on; a folder that is not there
// is one error.
func Project(fsys fs.FS, dir string, o Options) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		w := &walker{fsys: fsys, o: o, yield: yield}
		w.folder(path.Clean(dir), w.above(path.Clean(dir)), 1)
	}
}

type walker struct {
	fsys  fs.FS
	o     Options
	yield func(Entry, error) bool
}

// above reads the .gitignore files of the folders that a folder is in.
func (w *walker) above(dir string) []ignore {
	if dir == "." {
		return nil
	}
	parent := path.Dir(dir)
	return w.with(w.above(parent), parent)
}

// with adds the .gitignore file of a folder, if there is one.
func (w *walker) with(files []ignore, dir string) []ignore {
	if w.o.Ignored {
		return nil
	}
	text, err := fs.ReadFile(w.fsys, path.Join(dir, ".gitignore"))
	if err != nil {
		return files
	}
	return append(files[:len(files):len(files)], parseIgnore(dir, string(text)))
}

// folder reports whether the walk goes on.
func (w *walker) folder(dir string, files []ignore, level int) bool {
	entries, err := fs.ReadDir(w.fsys, dir)
	if err != nil && !w.yield(Entry{Path: dir}, err) {
		return false
	}
	files = w.with(files, dir)
	for _, e := range entries {
		if !w.entry(path.Join(dir, e.Name()), e, files, level) {
			return false
		}
	}
	return true
}

func (w *walker) entry(name string, e fs.DirEntry, files []ignore, level int) bool {
	if ignored(files, name, e.IsDir()) {
		return true
	}
	if !e.IsDir() {
		return w.yield(Entry{name, e}, nil)
	}
	if w.o.Folders && !w.yield(Entry{name, e}, nil) {
		return false
	}
	if level == w.o.Depth {
		return true
	}
	return w.folder(name, files, level+1)
}

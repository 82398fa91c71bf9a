package fs

import (
	"errors"
	"io/fs"
	"maps"
	"slices"

	"github.com/quire-agent/quire/internal/quire"
)

// An Outside is a file that is not what the model has seen of it.
type Outside struct {
	Path string
	Now  quire.Hash // zero: it is gone
}

// maxCompared bounds the files that are compared, in bytes: a longer one counts as
// unchanged.
const maxCompared = 8 << 20

// Outsides are the files that are not what the model has seen of them, by path: the
// user changed them, or a command.
func (f *Files) Outsides() (list []Outside) {
	f.mu.Lock()
	seen := maps.Clone(f.seen)
	f.mu.Unlock()
	for _, path := range slices.Sorted(maps.Keys(seen)) {
		if seen[path] == (quire.Hash{}) {
			continue
		}
		if now, ok := f.version(path); ok && now != seen[path] {
			list = append(list, Outside{path, now})
		}
	}
	return list
}

// version is what a file is now; ok is false where that is not looked at.
func (f *Files) version(path string) (now quire.Hash, ok bool) {
	info, err := f.fence.Root().Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return quire.Hash{}, true
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxCompared {
		return quire.Hash{}, false
	}
	data, err := f.fence.Root().ReadFile(path)
	if err != nil {
		return quire.Hash{}, false
	}
	return quire.Sum(string(data)), true
}

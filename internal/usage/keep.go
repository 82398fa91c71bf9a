package usage

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/quire-agent/quire/internal/price"
)

// A Keep holds what was read of journals, so that one that did not change since is not
// read again. It is no source: with all its files deleted the sums are the same. It may
// be used by several processes at once.
type Keep struct {
	Dir string // made when it is needed
}

// keepVersion is that of what is kept. Files of another one are read anew.
const keepVersion = 1

// A kept journal is known by its size and time: journals are only ever appended to,
// or written anew.
type kept struct {
	Version int    `json:"version"`
	Size    int64  `json:"size"`
	Time    int64  `json:"time"`  // of its last change, in ns since 1970
	Calls   []Call `json:"calls"` // without their cost, which is a matter of the prices
}

// Read reads the calls of a journal as [Read] does. What cannot be kept is read
// again the next time; that is no error.
func (k Keep) Read(path string, prices *price.Table) ([]Call, error) {
	now, err := stamp(path)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(k.Dir, filepath.Base(path)+".json")
	was := k.load(file)
	if was.Version != keepVersion || was.Size != now.Size || was.Time != now.Time {
		if was.Calls, err = Read(path, nil); err != nil {
			return nil, err
		}
		if then, err := stamp(path); err == nil && then.Size == now.Size && then.Time == now.Time {
			k.store(file, kept{keepVersion, now.Size, now.Time, was.Calls})
		}
	}
	for i := range was.Calls {
		was.Calls[i].charge(prices)
	}
	return was.Calls, nil
}

func stamp(path string) (kept, error) {
	info, err := os.Stat(path)
	if err != nil {
		return kept{}, fmt.Errorf("read the usage of %s: %w", path, err)
	}
	return kept{Size: info.Size(), Time: info.ModTime().UnixNano()}, nil
}

// load is what is kept, zero where nothing is or what is there is damaged.
func (Keep) load(file string) (was kept) {
	text, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(text, &was) != nil {
		return kept{}
	}
	return was
}

func (k Keep) store(file string, now kept) {
	text, err := json.Marshal(now)
	if err != nil || os.MkdirAll(k.Dir, 0o700) != nil {
		return
	}
	temp, err := os.CreateTemp(k.Dir, "new-*")
	if err != nil {
		return
	}
	_, err = temp.Write(text)
	if closed := temp.Close(); err != nil || closed != nil || os.Rename(temp.Name(), file) != nil {
		_ = os.Remove(temp.Name())
	}
}

// Prune removes what is kept of journals that are not among those of the paths.
func (k Keep) Prune(paths []string) error {
	files, err := filepath.Glob(filepath.Join(k.Dir, "*.json"))
	if err != nil {
		return fmt.Errorf("prune what is kept of usage: %w", err)
	}
	for _, f := range files {
		journal := filepath.Base(f[:len(f)-len(".json")])
		if slices.ContainsFunc(paths, func(p string) bool { return filepath.Base(p) == journal }) {
			continue
		}
		if err := os.Remove(f); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("prune what is kept of usage: %w", err)
		}
	}
	return nil
}

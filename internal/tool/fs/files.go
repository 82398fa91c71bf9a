package fs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/quire-agent/quire/internal/permit"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/tool"
	"github.com/quire-agent/quire/internal/undo"
	"github.com/quire-agent/quire/internal/x/fence"
	"github.com/quire-agent/quire/internal/x/walk"
)

// Files is the files of one agent's project, and what of them the agent has
// seen. Its methods and tools may be used concurrently; changes are made one
// after the other.
type Files struct {
	fence *fence.Fence
	tree  *undo.Tree

	changing sync.Mutex

	mu   sync.Mutex
	seen map[string]quire.Hash
}

// New makes it. An agent that starts with other eyes than another one (a worker)
// has Files of its own over the same tree.
func New(f *fence.Fence, t *undo.Tree) *Files {
	return &Files{fence: f, tree: t, seen: map[string]quire.Hash{}}
}

// Tools are the tools over these files, in the order in which they are declared.
func (f *Files) Tools() []tool.Tool {
	return []tool.Tool{f.read(), f.list(), f.edit(), f.write(), f.patch()}
}

// Saw notes which version of a file the model has seen: a session that is
// resumed says so of the reads in it.
func (f *Files) Saw(path string, version quire.Hash) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen[path] = version
}

// sawOf is the version that was seen, zero for none.
func (f *Files) sawOf(path string) quire.Hash {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen[path]
}

// reads and writes are what a call wants that names one path.
func reads(name string) tool.Want {
	return tool.Want{Request: permit.Request{Reads: []string{name}}}
}

func writes(names ...string) tool.Want {
	return tool.Want{Request: permit.Request{Writes: names}, Serial: true}
}

// resolve is fence.Resolve with a failure for the model.
func (f *Files) resolve(name string) (string, *tool.Result) {
	rel, err := f.fence.Resolve(name)
	var outside *fence.OutsideError
	switch {
	case errors.As(err, &outside):
		r := tool.Failed("%v. Only files of the project (%s) can be used here.", err, f.fence.Dir())
		return "", &r
	case err != nil:
		r := tool.Failed("%v.", err)
		return "", &r
	}
	return rel, nil
}

// maxFile bounds what is read into memory.
const maxFile = 64 << 20

// load reads a file that is to be there, for the model.
func (f *Files) load(rel, named string) ([]byte, *tool.Result) {
	fail := func(format string, args ...any) ([]byte, *tool.Result) {
		r := tool.Failed(format, args...)
		return nil, &r
	}
	info, err := f.fence.Root().Stat(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fail("%s does not exist.%s", named, f.suggest(rel))
	case err != nil:
		return fail("%s cannot be read: %v.", named, err)
	case info.IsDir():
		return fail("%s is a folder: use list for what is in it.", named)
	case !info.Mode().IsRegular():
		return fail("%s is not an ordinary file.", named)
	case info.Size() > maxFile:
		return fail("%s has %d bytes, more than can be read at once (%d): look at parts of it with grep, or with bash (head, tail, sed -n).", named, info.Size(), maxFile)
	}
	data, err := f.fence.Root().ReadFile(rel)
	if err != nil {
		return fail("%s cannot be read: %v.", named, err)
	}
	return data, nil
}

// suggest names files of the same name elsewhere, or of nearly the same here.
func (f *Files) suggest(rel string) string {
	base := strings.ToLower(path.Base(rel))
	var found []string
	looked := 0
	for e, err := range walk.Project(f.fence.Root().FS(), ".", walk.Options{}) {
		if looked++; err != nil || looked > 20_000 || len(found) == 5 {
			break
		}
		if strings.ToLower(path.Base(e.Path)) == base {
			found = append(found, e.Path)
		}
	}
	if len(found) == 0 {
		return " Use find or list to see what is there."
	}
	return " Did you mean " + strings.Join(found, " or ") + "?"
}

// A write is a file as it is to be.
type write struct {
	path string // resolved
	data []byte // nil: it is removed
	perm fs.FileMode
}

// commit makes changes, all or none, the old bytes stored first, and says what
// it did. It is called with changing held. The error is of the pool or of the
// disk.
func (f *Files) commit(ctx context.Context, list []write) ([]undo.Change, error) {
	var done []undo.Change
	for _, w := range list {
		changes, err := f.apply(ctx, w)
		done = append(done, changes...)
		if err != nil {
			// What was done is taken back also when the context has ended.
			_, restoring := f.tree.Restore(context.WithoutCancel(ctx), done)
			return nil, errors.Join(err, restoring)
		}
	}
	for _, w := range list {
		f.Saw(w.path, versionOf(w.data))
	}
	return done, nil
}

// versionOf is the version of a file, zero for none.
func versionOf(data []byte) quire.Hash {
	if data == nil {
		return quire.Hash{}
	}
	return quire.Sum(string(data))
}

// apply makes one change.
func (f *Files) apply(ctx context.Context, w write) ([]undo.Change, error) {
	before, _, err := f.tree.Keep(ctx, w.path)
	if err != nil {
		return nil, err
	}
	if w.data == nil {
		if err := f.fence.Root().Remove(w.path); err != nil {
			return nil, fmt.Errorf("remove %s: %w", w.path, err)
		}
		return []undo.Change{{Path: w.path, Before: before}}, nil
	}
	perm := w.perm
	if before.Kind == undo.File && perm == 0 {
		perm = before.Mode
	}
	if perm == 0 {
		perm = 0o644
	}
	made, err := f.fence.Write(w.path, w.data, perm)
	var changes []undo.Change
	for _, dir := range made {
		changes = append(changes, undo.Change{Path: dir, After: undo.State{Kind: undo.Folder}})
	}
	if err != nil {
		return changes, err
	}
	after, _, err := f.tree.State(w.path)
	if err != nil {
		return changes, err
	}
	return append(changes, undo.Change{Path: w.path, Before: before, After: after}), nil
}

// stale says that a file is not what the model has seen of it.
func (f *Files) stale(rel, named string, data []byte) *tool.Result {
	seen := f.sawOf(rel)
	if seen == (quire.Hash{}) || seen == quire.Sum(string(data)) {
		return nil
	}
	r := tool.Failed("%s was changed since you last read it, by the user, a command or another agent. Nothing was changed. Read it again, then edit what is there now.", named)
	return &r
}

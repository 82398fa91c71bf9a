package undo

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/walk"
)

// The bounds of what is kept for a command.
const (
	MaxFiles = 50_000    // files and folders that are looked at
	MaxFile  = 8 << 20   // bytes of a file that is kept
	maxBytes = 128 << 20 // bytes that are read for one command
	maxBatch = 8 << 20   // bytes that are stored at a time
	racy     = 2 * time.Second
)

// Notice says in one line, for the user who is asked to let a command run, what
// could not be put back after any command.
const Notice = "Undo covers the project's files, but not those that .gitignore leaves out, single files over 8 MiB, submodules, anything outside the project, and what a command that goes on in the background does later."

// A Watch is the project as it stood before a command.
type Watch struct {
	tree    *Tree
	git     index
	entries map[string]entry
	gaps    []Conflict
	more    bool // there are more files than are looked at
	read    int64
}

// An entry is what stood at a path.
type entry struct {
	kind Kind
	stat stat
	hash quire.Hash // zero: not kept, or git has it
	blob string     // git's name of the bytes, "" when it does not have them
	racy bool       // it was changed so shortly before that its time does not tell
}

// Watch takes in the project as it stands. Bytes that git has are not stored:
// they are read from git when they are needed. Other files are stored, once as
// long as they do not change.
func (t *Tree) Watch(ctx context.Context) (*Watch, error) {
	w := &Watch{tree: t, git: readIndex(ctx, t.fence.Dir())}
	entries, err := w.look(ctx, time.Now())
	if err != nil {
		return nil, fmt.Errorf("look at the project: %w", err)
	}
	w.entries = entries
	if err := w.keep(ctx); err != nil {
		return nil, fmt.Errorf("keep the project's files: %w", err)
	}
	return w, nil
}

// Gaps lists what could not be put back if the command changed it, in order.
func (w *Watch) Gaps() []Conflict { return w.gaps }

// look goes through the project: what is not ignored, and what git has.
func (w *Watch) look(ctx context.Context, now time.Time) (map[string]entry, error) {
	entries := map[string]entry{}
	for e, err := range walk.Project(w.tree.fence.Root().FS(), ".", walk.Options{Folders: true}) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err != nil {
			continue // a folder that cannot be read cannot be put back either
		}
		if w.tree.excepted(e.Path) {
			continue
		}
		if w.more = len(entries) >= MaxFiles; w.more {
			break
		}
		w.add(entries, e.Path, now)
	}
	for _, name := range w.git.names {
		if _, ok := entries[name]; !ok && len(entries) < MaxFiles {
			w.add(entries, name, now)
		}
	}
	return entries, nil
}

// excepted reports whether a path is one that is left out.
func (t *Tree) excepted(name string) bool {
	return t.except != "" && (name == t.except || strings.HasPrefix(name, t.except+"/"))
}

func (w *Watch) add(entries map[string]entry, name string, now time.Time) {
	info, err := w.tree.fence.Root().Lstat(name)
	if err != nil {
		return
	}
	e := entry{kind: kindOf(info.Mode()), stat: statOf(info)}
	e.racy = now.Sub(info.ModTime()) < racy
	entries[name] = e
}

// keep stores the bytes that nobody else has.
func (w *Watch) keep(ctx context.Context) error {
	b := &batch{watch: w}
	for _, name := range sortedNames(w.entries) {
		e := w.entries[name]
		if e.kind != File && e.kind != Link {
			continue
		}
		if blob := w.git.clean(name); blob != "" && !e.racy && e.kind == File {
			e.blob = blob
			w.entries[name] = e
			continue
		}
		if k, ok := w.tree.kept(name, e); ok {
			e.hash = k
			w.entries[name] = e
			continue
		}
		if err := b.add(ctx, name, e); err != nil {
			return err
		}
	}
	if w.more {
		w.gaps = append(w.gaps, Conflict{".", fmt.Sprintf("the project has more than %d files; the rest is not watched", MaxFiles)})
	}
	return b.flush(ctx)
}

// kept finds bytes that were stored before.
func (t *Tree) kept(name string, e entry) (quire.Hash, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k, ok := t.known[name]
	return k.hash, ok && k.stat.same(e.stat) && !e.racy
}

func sortedNames(entries map[string]entry) []string {
	names := make([]string, 0, len(entries))
	for name := range entries {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// A batch collects bodies that are stored together.
type batch struct {
	watch  *Watch
	names  []string
	bodies [][]byte
	bytes  int
}

func (b *batch) add(ctx context.Context, name string, e entry) error {
	w := b.watch
	switch {
	case e.stat.size > MaxFile:
		w.gaps = append(w.gaps, Conflict{name, fmt.Sprintf("it is larger than %d MiB", MaxFile>>20)})
		return nil
	case w.read+e.stat.size > maxBytes:
		w.gaps = append(w.gaps, Conflict{name, "the files that git does not have are too large together"})
		return nil
	}
	_, data, err := w.tree.State(name)
	if err != nil {
		w.gaps = append(w.gaps, Conflict{name, "it cannot be read"})
		return nil
	}
	w.read += int64(len(data))
	b.names, b.bodies, b.bytes = append(b.names, name), append(b.bodies, data), b.bytes+len(data)
	if b.bytes > maxBatch {
		return b.flush(ctx)
	}
	return nil
}

func (b *batch) flush(ctx context.Context) error {
	if len(b.names) == 0 {
		return nil
	}
	hashes, err := b.watch.tree.bodies.PutBodies(ctx, b.bodies)
	if err != nil {
		return err
	}
	t := b.watch.tree
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, name := range b.names {
		e := b.watch.entries[name]
		e.hash = hashes[i]
		b.watch.entries[name] = e
		t.known[name] = known{e.stat, e.hash}
	}
	b.names, b.bodies, b.bytes = nil, nil, 0
	return nil
}

// Changes compares the project with what it was, and returns what was changed,
// by path. A change whose Before cannot be put back is in the list and in gaps.
func (w *Watch) Changes(ctx context.Context) (changes []Change, gaps []Conflict, err error) {
	now, err := w.look(ctx, time.Now())
	if err != nil {
		return nil, nil, fmt.Errorf("compare the project: %w", err)
	}
	c := &comparison{watch: w}
	for _, name := range sortedNames(merged(w.entries, now)) {
		if err := c.compare(ctx, name, w.entries[name], now[name]); err != nil {
			return nil, nil, fmt.Errorf("compare the project: %w", err)
		}
	}
	return c.changes, c.gaps, nil
}

func merged(a, b map[string]entry) map[string]entry {
	all := make(map[string]entry, len(a))
	for name := range a {
		all[name] = entry{}
	}
	for name := range b {
		all[name] = entry{}
	}
	return all
}

type comparison struct {
	watch   *Watch
	changes []Change
	gaps    []Conflict
}

func (c *comparison) compare(ctx context.Context, name string, before, now entry) error {
	if before.kind == now.kind && (before.kind != File && before.kind != Link || before.stat.same(now.stat) && !before.racy) {
		return nil
	}
	if before.kind == None && c.watch.more {
		return nil // it may have been there before
	}
	after, err := c.watch.state(name, now)
	if err != nil {
		c.gaps = append(c.gaps, Conflict{name, "it cannot be read any more"})
		return nil
	}
	old, kept, err := c.watch.before(ctx, name, before)
	if err != nil {
		return err
	}
	if old == after {
		return nil
	}
	if !kept {
		c.gaps = append(c.gaps, Conflict{name, "its old content was not kept"})
	}
	c.changes = append(c.changes, Change{name, old, after})
	return nil
}

// state is what stands at a path now, without its bytes in memory.
func (w *Watch) state(name string, e entry) (State, error) {
	switch e.kind {
	case None, Folder, Other:
		return State{Kind: e.kind}, nil
	case Link:
		s, _, err := w.tree.State(name)
		return s, err
	}
	file, err := w.tree.fence.Root().Open(name)
	if err != nil {
		return State{}, err
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return State{}, err
	}
	return State{File, quire.Hash(sum.Sum(nil)), e.stat.mode.Perm()}, nil
}

// before is the state that an entry was in; kept is false when its bytes are
// lost.
func (w *Watch) before(ctx context.Context, name string, e entry) (s State, kept bool, err error) {
	s = State{Kind: e.kind, Hash: e.hash}
	if e.kind == File {
		s.Mode = e.stat.mode.Perm()
	}
	if e.kind != File && e.kind != Link || e.hash != (quire.Hash{}) {
		return s, true, nil
	}
	data, ok := blob(ctx, w.tree.fence.Dir(), name, e)
	if !ok {
		return s, false, nil
	}
	hashes, err := w.tree.bodies.PutBodies(ctx, [][]byte{data})
	if err != nil {
		return s, false, err
	}
	s.Hash = hashes[0]
	return s, true, nil
}

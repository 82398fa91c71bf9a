package undo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/fence"
)

// Bodies keeps the old bytes. A quire.Bodies is one.
type Bodies interface {
	PutBodies(ctx context.Context, bodies [][]byte) ([]quire.Hash, error)
	Body(ctx context.Context, h quire.Hash) ([]byte, error)
}

// A Tree is the files of a project with the place for their old bytes. Its
// methods may be called concurrently, but what a Watch sees is changed by
// everybody: a caller that wants to know whose changes they are lets nobody else
// work meanwhile.
type Tree struct {
	fence  *fence.Fence
	bodies Bodies
	except string // "" for nothing

	mu    sync.Mutex
	known map[string]known // files whose bytes are stored
}

// known is a file as it was when its bytes were stored.
type known struct {
	stat stat
	hash quire.Hash
}

// stat is what tells without reading that a file has not changed.
type stat struct {
	size  int64
	mtime time.Time
	mode  fs.FileMode
}

func statOf(info fs.FileInfo) stat { return stat{info.Size(), info.ModTime(), info.Mode()} }

func (s stat) same(t stat) bool {
	return s.size == t.size && s.mode == t.mode && s.mtime.Equal(t.mtime)
}

// New makes a tree.
func New(f *fence.Fence, b Bodies) *Tree {
	return &Tree{fence: f, bodies: b, known: map[string]known{}}
}

// Except leaves a folder out of what a Watch sees: that in which the program keeps
// its own files, which change all the time. A folder outside of the project is
// left out anyway. It is called before the first Watch.
func (t *Tree) Except(dir string) {
	if name, err := t.fence.Resolve(dir); err == nil {
		t.except = name
	}
}

// State is what stands at a path now, with the bytes of a file or the target of
// a link. A path that does not exist is no error, and none that leads through a
// link exists: what is there stands at another path.
func (t *Tree) State(name string) (State, []byte, error) {
	if t.linked(name) {
		return State{}, nil, nil
	}
	info, err := t.fence.Root().Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || isNotFolder(err) {
		return State{}, nil, nil
	}
	if err != nil {
		return State{}, nil, fmt.Errorf("look at %s: %w", name, err)
	}
	switch kind := kindOf(info.Mode()); kind {
	case File:
		data, err := t.fence.Root().ReadFile(name)
		if err != nil {
			return State{}, nil, fmt.Errorf("look at %s: %w", name, err)
		}
		return State{File, quire.Sum(string(data)), info.Mode().Perm()}, data, nil
	case Link:
		target, err := t.fence.Root().Readlink(name)
		if err != nil {
			return State{}, nil, fmt.Errorf("look at %s: %w", name, err)
		}
		return State{Kind: Link, Hash: quire.Sum(target)}, []byte(target), nil
	default:
		return State{Kind: kind}, nil, nil
	}
}

// linked reports whether a folder on the way to a path is a link.
func (t *Tree) linked(name string) bool {
	for i, c := range name {
		if c != '/' {
			continue
		}
		info, err := t.fence.Root().Lstat(name[:i])
		if err != nil {
			return false
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

// isNotFolder reports whether a path leads through a file.
func isNotFolder(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path) && path.Err != nil && path.Err.Error() == "not a directory"
}

func kindOf(mode fs.FileMode) Kind {
	switch {
	case mode.IsRegular():
		return File
	case mode.IsDir():
		return Folder
	case mode&fs.ModeSymlink != 0:
		return Link
	}
	return Other
}

// Keep is State with the bytes stored: when it returns, what stands at the path
// can be put back.
func (t *Tree) Keep(ctx context.Context, name string) (State, []byte, error) {
	state, data, err := t.State(name)
	if err != nil || state.Kind == None || state.Kind == Folder || state.Kind == Other {
		return state, data, err
	}
	if _, err := t.bodies.PutBodies(ctx, [][]byte{data}); err != nil {
		return State{}, nil, fmt.Errorf("keep the old bytes of %s: %w", name, err)
	}
	return state, data, nil
}

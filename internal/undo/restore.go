package undo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// A Report says what came of putting changes back. Paths are in order.
type Report struct {
	Restored  []string   `json:"restored,omitempty"`  // are as they were before
	Conflicts []Conflict `json:"conflicts,omitempty"` // were left as they are, as far as the reason says
}

// A Conflict is a path that was not put back, or not all the way.
type Conflict struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Check says what Restore would do, and changes nothing. It cannot foresee what
// the file system refuses.
func (t *Tree) Check(ctx context.Context, changes []Change) (Report, error) {
	r := &restoration{tree: t}
	if err := r.plan(ctx, changes); err != nil {
		return Report{}, err
	}
	for _, c := range r.chains {
		r.report.Restored = append(r.report.Restored, c.Path)
	}
	return r.sorted(), nil
}

// Restore puts back what the changes of a run made of the project, given in the
// order in which they were made. A path that is not in the state in which the
// run left it was changed by somebody else since and is left alone. After an
// error some paths may have been put back; doing it again puts back the rest.
func (t *Tree) Restore(ctx context.Context, changes []Change) (Report, error) {
	r := &restoration{tree: t}
	if err := r.plan(ctx, changes); err != nil {
		return Report{}, err
	}
	r.clear()
	for _, c := range r.chains {
		if err := r.fill(ctx, c); err != nil {
			return r.sorted(), err
		}
	}
	return r.sorted(), nil
}

// A restoration is one call of Restore. Its chains are those still to be put
// back, by path.
type restoration struct {
	tree   *Tree
	chains []chain
	report Report
}

func (r *restoration) conflict(path, reason string, args ...any) {
	r.report.Conflicts = append(r.report.Conflicts, Conflict{path, fmt.Sprintf(reason, args...)})
}

func (r *restoration) sorted() Report {
	slices.Sort(r.report.Restored)
	slices.SortStableFunc(r.report.Conflicts, func(a, b Conflict) int { return strings.Compare(a.Path, b.Path) })
	return r.report
}

// plan keeps the chains that can be put back.
func (r *restoration) plan(ctx context.Context, changes []Change) error {
	for _, c := range chains(changes) {
		if c.broken {
			r.conflict(c.Path, "somebody else changed it during the run; only what the run did after that is put back")
		}
		if c.Before == c.After {
			continue
		}
		ok, err := r.possible(ctx, c)
		if err != nil {
			return err
		}
		if ok {
			r.chains = append(r.chains, c)
		}
	}
	slices.SortFunc(r.chains, func(a, b chain) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

func (r *restoration) possible(ctx context.Context, c chain) (bool, error) {
	now, _, err := r.tree.State(c.Path)
	if err != nil {
		r.conflict(c.Path, "it cannot be looked at: %v", err)
		return false, nil
	}
	switch {
	case now == c.Before:
		r.report.Restored = append(r.report.Restored, c.Path)
		return false, nil
	case now != c.After:
		r.conflict(c.Path, "it was changed after the run")
		return false, nil
	case c.Before.Kind == Other || c.After.Kind == Other:
		r.conflict(c.Path, "it is neither a file, a link nor a folder")
		return false, nil
	case c.Before.Kind == None || c.Before.Kind == Folder:
		return true, nil
	}
	return r.stored(ctx, c)
}

// stored reports whether the old bytes are there.
func (r *restoration) stored(ctx context.Context, c chain) (bool, error) {
	if _, err := r.tree.bodies.Body(ctx, c.Before.Hash); err != nil {
		if !errors.Is(err, quire.ErrNotFound) && !errors.Is(err, quire.ErrDamaged) {
			return false, fmt.Errorf("undo %s: %w", c.Path, err)
		}
		r.conflict(c.Path, "its old content was not kept")
		return false, nil
	}
	return true, nil
}

// clear removes what stands where something else or nothing was, from the inside
// out. What cannot be removed is not put back.
func (r *restoration) clear() {
	var left []chain
	for _, c := range slices.Backward(r.chains) {
		if c.After.Kind == None || c.After.Kind == c.Before.Kind && c.Before.Kind != Link {
			left = append(left, c)
			continue
		}
		switch err := r.tree.fence.Root().Remove(c.Path); {
		case err != nil && c.After.Kind == Folder:
			r.conflict(c.Path, "the folder is not empty: something in it is not of this run")
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			r.conflict(c.Path, "%v", err)
		default:
			left = append(left, c)
		}
	}
	slices.Reverse(left)
	r.chains = left
}

// fill makes what was there. Folders come before what is in them, because a path
// sorts before those below it.
func (r *restoration) fill(ctx context.Context, c chain) error {
	done := r.make
	if c.Before.Kind == None {
		done = func(context.Context, chain) error { return nil }
	}
	err := done(ctx, c)
	var file *fs.PathError
	switch {
	case errors.As(err, &file) || errors.Is(err, fs.ErrExist):
		r.conflict(c.Path, "%v", err)
	case err != nil:
		return fmt.Errorf("undo %s: %w", c.Path, err)
	default:
		r.report.Restored = append(r.report.Restored, c.Path)
	}
	return nil
}

func (r *restoration) make(ctx context.Context, c chain) error {
	root := r.tree.fence.Root()
	if c.Before.Kind == Folder {
		_, err := r.tree.fence.Folders(c.Path)
		return err
	}
	data, err := r.tree.bodies.Body(ctx, c.Before.Hash)
	if err != nil {
		return err
	}
	if c.Before.Kind == Link {
		if _, err := r.tree.fence.Folders(parent(c.Path)); err != nil {
			return err
		}
		return root.Symlink(string(data), c.Path)
	}
	_, err = r.tree.fence.Write(c.Path, data, c.Before.Mode)
	return err
}

func parent(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i]
	}
	return "."
}

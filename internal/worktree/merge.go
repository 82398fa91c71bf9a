package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/x/fence"
	"github.com/quire-agent/quire/internal/x/gitexec"
)

// A Merge is what became of a worker's changes.
type Merge struct {
	Merged    []string // paths that were changed, made or removed in the project
	Conflicts []Conflict
}

// A Conflict is a file that both changed. It stays in the project as it is there.
type Conflict struct {
	Path   string `json:"path"`
	Why    string `json:"why"`
	Marked string `json:"marked,omitempty"` // both versions, with marks where they differ; "" where lines cannot be compared
}

// Merge brings the changes of the copy into the project. Each file is written in one
// step; after an error some may have been, and Merged says which. What is in the
// project already counts as merged, so that it may be done once more after a crash.
// Paths of both lists are in their order.
func (t *Tree) Merge(ctx context.Context) (Merge, error) {
	var m Merge
	paths, err := t.Changed(ctx)
	if err != nil {
		return m, fmt.Errorf("merge a worktree: %w", err)
	}
	into, err := fence.Open(t.project)
	if err != nil {
		return m, fmt.Errorf("merge a worktree: %w", err)
	}
	defer into.Close()
	for _, path := range paths {
		if err := t.mergeFile(ctx, into, path, &m); err != nil {
			return m, fmt.Errorf("merge %s: %w", path, err)
		}
	}
	if err := t.inSubmodules(ctx, &m); err != nil {
		return m, fmt.Errorf("merge a worktree: %w", err)
	}
	return m, nil
}

// inSubmodules finds what was written into the folders of submodules. The copy has
// them empty, and git does not look into them.
func (t *Tree) inSubmodules(ctx context.Context, m *Merge) error {
	out, err := git(ctx, t.Dir, nil, "ls-files", "--stage", "-z")
	if err != nil {
		return err
	}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		link, path, _ := strings.Cut(entry, "\t")
		if !strings.HasPrefix(link, "160000 ") {
			continue
		}
		files, err := os.ReadDir(filepath.Join(t.Dir, filepath.FromSlash(path)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if len(files) > 0 {
			m.Conflicts = append(m.Conflicts, Conflict{Path: path, Why: "it is a submodule, whose files are not in the copy; what was written there is not carried over"})
		}
	}
	return nil
}

// Changed lists the paths that differ from the beginning, committed or not, in their
// order.
func (t *Tree) Changed(ctx context.Context) ([]string, error) {
	tracked, err := git(ctx, t.Dir, nil, "diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", "--relative", t.base)
	if err != nil {
		return nil, err
	}
	fresh, err := git(ctx, t.Dir, nil, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, err
	}
	var paths []string
	for p := range strings.SplitSeq(string(tracked)+string(fresh), "\x00") {
		if p != "" {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// A version is a file at one time. The zero version is none.
type version struct {
	there bool
	link  bool
	perm  fs.FileMode
	data  []byte
}

func (v version) equal(w version) bool {
	return v.there == w.there && v.link == w.link && bytes.Equal(v.data, w.data) && v.perm&0o100 == w.perm&0o100
}

func (v version) text() bool {
	return v.there && !v.link && utf8.Valid(v.data) && bytes.IndexByte(v.data, 0) < 0
}

func (t *Tree) mergeFile(ctx context.Context, into *fence.Fence, path string, m *Merge) error {
	base, err := t.atBase(ctx, path)
	if err != nil {
		return err
	}
	theirs, err := onDisk(t.Dir, path)
	if err != nil {
		return err
	}
	ours, err := onDisk(into.Dir(), path)
	if err != nil {
		return err
	}
	switch {
	case ours.equal(theirs):
		m.Merged = append(m.Merged, path)
		return nil
	case ours.equal(base):
		return t.put(into, path, theirs, m)
	case !ours.text() || !theirs.text():
		m.Conflicts = append(m.Conflicts, Conflict{Path: path, Why: why(ours, theirs)})
		return nil
	}
	text, clean, err := threeWay(ctx, base, ours, theirs)
	if err != nil {
		return err
	}
	if !clean {
		m.Conflicts = append(m.Conflicts, Conflict{Path: path, Why: "both changed the same lines", Marked: string(text)})
		return nil
	}
	return t.put(into, path, version{there: true, perm: theirs.perm, data: text}, m)
}

func why(ours, theirs version) string {
	switch {
	case !ours.there:
		return "it was removed in the project and changed in the copy"
	case !theirs.there:
		return "it was changed in the project and removed in the copy"
	default:
		return "both changed it, and it is no text whose lines could be compared"
	}
}

// atBase is a file as the copy began with it, with line ends and filters as on disk.
func (t *Tree) atBase(ctx context.Context, path string) (version, error) {
	out, err := git(ctx, t.Dir, nil, "ls-tree", "-z", t.base, "--", path)
	if err != nil || len(out) == 0 {
		return version{}, err
	}
	mode, _, _ := strings.Cut(string(out), " ")
	v := version{there: true, perm: 0o644}
	data, err := git(ctx, t.Dir, nil, "cat-file", "--filters", t.base+":./"+path)
	switch mode {
	case "120000":
		v.link = true
		data, err = git(ctx, t.Dir, nil, "cat-file", "blob", t.base+":./"+path)
	case "100755":
		v.perm = 0o755
	}
	v.data = data
	return v, err
}

func onDisk(dir, path string) (version, error) {
	name := filepath.Join(dir, filepath.FromSlash(path))
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid):
		return version{}, nil
	case err != nil:
		return version{}, err
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(name)
		return version{there: true, link: true, data: []byte(to)}, err
	case !info.Mode().IsRegular():
		return version{there: true, link: true, data: []byte(info.Mode().String())}, nil
	}
	data, err := os.ReadFile(name)
	return version{there: true, perm: info.Mode().Perm(), data: data}, err
}

// put brings a version into the project. A link is only made where none leads out.
func (t *Tree) put(into *fence.Fence, path string, v version, m *Merge) error {
	name, err := into.Resolve(path)
	if err != nil || name != path && !v.link {
		m.Conflicts = append(m.Conflicts, Conflict{Path: path, Why: "in the project it is a link, or in a folder that is one"})
		return nil
	}
	switch {
	case !v.there:
		err = into.Root().Remove(path)
	case v.link:
		m.Conflicts = append(m.Conflicts, Conflict{Path: path, Why: "the copy made a link of it, which is not carried over"})
		return nil
	default:
		_, err = into.Write(path, v.data, v.perm)
	}
	if err == nil {
		m.Merged = append(m.Merged, path)
	}
	return err
}

// threeWay merges lines. clean is false where both changed the same ones; the text
// has marks then.
func threeWay(ctx context.Context, base, ours, theirs version) (text []byte, clean bool, err error) {
	dir, err := os.MkdirTemp("", "quire-merge-")
	if err != nil {
		return nil, false, err
	}
	defer os.RemoveAll(dir)
	for name, v := range map[string]version{"base": base, "ours": ours, "theirs": theirs} {
		if err := os.WriteFile(filepath.Join(dir, name), v.data, 0o600); err != nil {
			return nil, false, err
		}
	}
	cmd, err := gitexec.Command(ctx, dir, "merge-file", "-p", "-L", "the project", "-L", "before", "-L", "the copy", "ours", "base", "theirs")
	if err != nil {
		return nil, false, err
	}
	var fault bytes.Buffer
	cmd.Stderr = &fault
	out, err := cmd.Output()
	const failed = 128 // exit codes below it count conflicts
	var exit *exec.ExitError
	switch {
	case err == nil:
		return out, true, nil
	case errors.As(err, &exit) && exit.ExitCode() > 0 && exit.ExitCode() < failed && ctx.Err() == nil:
		return out, false, nil
	default:
		return nil, false, fmt.Errorf("compare the versions: %w: %s", err, strings.TrimSpace(fault.String()))
	}
}

package undo

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/fence"
)

// pool keeps bodies in memory.
type pool struct {
	mu     sync.Mutex
	bodies map[quire.Hash][]byte
	puts   int
}

func (p *pool) PutBodies(_ context.Context, bodies [][]byte) ([]quire.Hash, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bodies == nil {
		p.bodies = map[quire.Hash][]byte{}
	}
	var list []quire.Hash
	for _, b := range bodies {
		h := quire.Sum(string(b))
		p.bodies[h] = slices.Clone(b)
		list = append(list, h)
		p.puts++
	}
	return list, nil
}

func (p *pool) Body(_ context.Context, h quire.Hash) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b, ok := p.bodies[h]; ok {
		return slices.Clone(b), nil
	}
	return nil, fmt.Errorf("body %s: %w", h, quire.ErrNotFound)
}

type fataler interface {
	Helper()
	Fatal(args ...any)
}

func must(t fataler, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newTree(t testing.TB) (*Tree, *pool, string) {
	t.Helper()
	dir := t.TempDir()
	f, err := fence.Open(dir)
	must(t, err)
	t.Cleanup(func() { _ = f.Close() })
	p := &pool{}
	return New(f, p), p, f.Dir()
}

func put(t fataler, dir, name, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
}

// shot is the whole tree as text.
func shot(t fataler, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if rel == ".git" {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %s", rel, info.Mode())
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			must(t, err)
			fmt.Fprintf(&b, " %q", data)
		case info.Mode()&os.ModeSymlink != 0:
			to, err := os.Readlink(path)
			must(t, err)
			b.WriteString(" -> " + to)
		}
		b.WriteByte('\n')
		return nil
	})
	must(t, err)
	return b.String()
}

func git(t testing.TB, dir string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func watched(t testing.TB, tree *Tree, do func()) ([]Change, []Conflict) {
	t.Helper()
	w, err := tree.Watch(t.Context())
	must(t, err)
	do()
	changes, gaps, err := w.Changes(t.Context())
	must(t, err)
	return changes, gaps
}

// failures.md B29: what a command did is put back, in a repository and outside
// of one.
func TestCommandIsUndone(t *testing.T) {
	for _, repository := range []bool{false, true} {
		t.Run(fmt.Sprintf("git=%v", repository), func(t *testing.T) {
			tree, _, dir := newTree(t)
			put(t, dir, "a.txt", "tracked\n")
			put(t, dir, "sub/b.txt", "tracked too\n")
			put(t, dir, "dirty.txt", "one\n")
			put(t, dir, ".gitignore", "ignored/\n")
			put(t, dir, "ignored/x", "not looked at")
			if repository {
				git(t, dir, "init", "-q")
				git(t, dir, "add", ".")
				git(t, dir, "commit", "-qm", "x")
			}
			put(t, dir, "dirty.txt", "one\ntwo\n")
			put(t, dir, "new.txt", "untracked\n")
			must(t, os.Symlink("a.txt", filepath.Join(dir, "link")))
			must(t, os.Mkdir(filepath.Join(dir, "empty"), 0o755))
			before := shot(t, dir)
			changes, gaps := watched(t, tree, func() {
				put(t, dir, "a.txt", "changed\n")
				must(t, os.RemoveAll(filepath.Join(dir, "sub")))
				put(t, dir, "dirty.txt", "three\n")
				must(t, os.Chmod(filepath.Join(dir, "new.txt"), 0o755))
				must(t, os.Remove(filepath.Join(dir, "link")))
				must(t, os.Symlink("nowhere", filepath.Join(dir, "link")))
				must(t, os.Remove(filepath.Join(dir, "empty")))
				put(t, dir, "empty", "now a file")
				put(t, dir, "made/deep/c.txt", "made")
			})
			if len(gaps) > 0 {
				t.Errorf("gaps: %v", gaps)
			}
			report, err := tree.Restore(t.Context(), changes)
			must(t, err)
			if len(report.Conflicts) > 0 {
				t.Errorf("conflicts: %v", report.Conflicts)
			}
			if after := shot(t, dir); after != before {
				t.Errorf("it was\n%s\nand is now\n%s", before, after)
			}
		})
	}
}

// failures.md B29: what the user changes afterwards is not taken back.
func TestUserEditIsAConflict(t *testing.T) {
	tree, _, dir := newTree(t)
	put(t, dir, "a", "1")
	put(t, dir, "b", "1")
	changes, _ := watched(t, tree, func() {
		put(t, dir, "a", "22")
		put(t, dir, "b", "22")
		put(t, dir, "made/c", "22")
	})
	put(t, dir, "a", "the user's")
	put(t, dir, "made/mine", "the user's")
	check, err := tree.Check(t.Context(), changes)
	must(t, err)
	report, err := tree.Restore(t.Context(), changes)
	must(t, err)
	if got := fmt.Sprint(report.Restored); got != "[b made/c]" {
		t.Errorf("restored %s, want b and made/c", got)
	}
	if len(report.Conflicts) != 2 || report.Conflicts[0].Path != "a" || report.Conflicts[1].Path != "made" {
		t.Errorf("conflicts: %v, want a and made", report.Conflicts)
	}
	if len(check.Conflicts) != 1 || check.Conflicts[0].Path != "a" {
		t.Errorf("check foresaw %v, want a", check.Conflicts)
	}
	if now := shot(t, dir); !strings.Contains(now, `a -rw-r--r-- "the user's"`) || !strings.Contains(now, `mine -rw-r--r-- "the user's"`) || !strings.Contains(now, `b -rw-r--r-- "1"`) {
		t.Errorf("it is now\n%s", now)
	}
}

func TestUserEditInBetween(t *testing.T) {
	tree, _, dir := newTree(t)
	put(t, dir, "a", "1")
	first, _ := watched(t, tree, func() { put(t, dir, "a", "22") })
	put(t, dir, "a", "the user's")
	second, _ := watched(t, tree, func() { put(t, dir, "a", "4444") })
	report, err := tree.Restore(t.Context(), slices.Concat(first, second))
	must(t, err)
	if len(report.Conflicts) != 1 || len(report.Restored) != 1 || !strings.Contains(shot(t, dir), "the user's") {
		t.Errorf("%+v, and the tree is\n%s", report, shot(t, dir))
	}
}

func TestLostBytesAreSaid(t *testing.T) {
	tree, p, dir := newTree(t)
	put(t, dir, "a", "1")
	changes, _ := watched(t, tree, func() { put(t, dir, "a", "22") })
	clear(p.bodies)
	report, err := tree.Restore(t.Context(), changes)
	must(t, err)
	if len(report.Conflicts) != 1 || !strings.Contains(report.Conflicts[0].Reason, "not kept") {
		t.Errorf("got %+v, want a conflict that says so", report)
	}
}

func TestLargeFilesAreGaps(t *testing.T) {
	tree, _, dir := newTree(t)
	put(t, dir, "large", strings.Repeat("x", MaxFile+1))
	w, err := tree.Watch(t.Context())
	must(t, err)
	if gaps := w.Gaps(); len(gaps) != 1 || gaps[0].Path != "large" {
		t.Errorf("gaps are %v, want large", gaps)
	}
	put(t, dir, "large", "small")
	changes, gaps, err := w.Changes(t.Context())
	must(t, err)
	if len(changes) != 1 || len(gaps) != 1 {
		t.Errorf("changes %v, gaps %v, want one each", changes, gaps)
	}
}

// Bytes of files that do not change are stored once, and those that git has not
// at all.
func TestLittleIsStored(t *testing.T) {
	tree, p, dir := newTree(t)
	for i := range 20 {
		put(t, dir, fmt.Sprintf("f%d", i), fmt.Sprint(i))
		age(t, filepath.Join(dir, fmt.Sprintf("f%d", i)))
	}
	watched(t, tree, func() {})
	watched(t, tree, func() {})
	if p.puts != 20 {
		t.Errorf("%d bodies were stored, want 20", p.puts)
	}
	git(t, dir, "init", "-q")
	git(t, dir, "add", ".")
	other := New(tree.fence, p)
	watched(t, other, func() {})
	if p.puts != 20 {
		t.Errorf("%d bodies were stored, want none that git has", p.puts-20)
	}
}

// age makes a file look as if it had not been touched for long.
func age(t testing.TB, path string) {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	past := info.ModTime().Add(-3600e9)
	must(t, os.Chtimes(path, past, past))
}

// Random changes in several steps, undone, give the tree there was.
func TestUndoIsExact(t *testing.T) {
	names := []string{"a", "b", "d/a", "d/b", "d/e/a", "d", "x/y/z", "l"}
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "undo")
		must(t, err)
		defer func() { must(t, os.RemoveAll(dir)) }()
		f, err := fence.Open(dir)
		must(t, err)
		defer func() { _ = f.Close() }()
		tree := New(f, &pool{})
		scramble(t, f.Dir(), names)
		before := shot(t, f.Dir())
		var all []Change
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			w, err := tree.Watch(context.Background())
			must(t, err)
			scramble(t, f.Dir(), names)
			changes, gaps, err := w.Changes(context.Background())
			must(t, err)
			if len(gaps) > 0 {
				t.Fatalf("gaps: %v", gaps)
			}
			all = append(all, changes...)
		}
		middle := shot(t, f.Dir())
		report, err := tree.Restore(context.Background(), all)
		must(t, err)
		if after := shot(t, f.Dir()); after != before || len(report.Conflicts) > 0 {
			t.Fatalf("it was\n%s\nbecame\n%s\nand is now\n%s\nchanges %+v\n%+v", before, middle, after, all, report)
		}
	})
}

// scramble does something to some paths. What is in the way is removed first.
func scramble(t *rapid.T, dir string, names []string) {
	for range rapid.IntRange(0, 5).Draw(t, "changes") {
		path := filepath.Join(dir, filepath.FromSlash(rapid.SampledFrom(names).Draw(t, "path")))
		for up := filepath.Dir(path); up != dir; up = filepath.Dir(up) {
			if info, err := os.Lstat(up); err == nil && !info.IsDir() {
				must(t, os.Remove(up))
			}
		}
		must(t, os.RemoveAll(path))
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		switch rapid.SampledFrom([]string{"file", "file", "run", "link", "folder", "gone"}).Draw(t, "what") {
		case "file":
			must(t, os.WriteFile(path, []byte(rapid.SampledFrom([]string{"", "1", "22", "3\n3"}).Draw(t, "text")), 0o644))
		case "run":
			must(t, os.WriteFile(path, []byte("#!"), 0o755))
		case "link":
			must(t, os.Symlink(rapid.SampledFrom([]string{"a", "nowhere"}).Draw(t, "to"), path))
		case "folder":
			must(t, os.Mkdir(path, 0o755))
		}
	}
}

func TestExceptedFolderIsNotWatched(t *testing.T) {
	tree, _, dir := newTree(t)
	put(t, dir, "kept/a", "1")
	put(t, dir, "own/b", "1")
	tree.Except(filepath.Join(dir, "own"))
	changes, _ := watched(t, tree, func() {
		put(t, dir, "kept/a", "2")
		put(t, dir, "own/b", "2")
		put(t, dir, "own/c", "2")
	})
	if len(changes) != 1 || changes[0].Path != "kept/a" {
		t.Errorf("%+v", changes)
	}
}

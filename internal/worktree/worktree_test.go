package worktree

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/x/flock"
)

// repo makes a repository with files: name, text, name, text.
func repo(t *testing.T, files ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	dir := t.TempDir()
	write(t, dir, files...)
	run(t, dir, "init", "-q")
	run(t, dir, "add", "-A")
	run(t, dir, "commit", "-q", "--allow-empty", "-m", "first")
	return dir
}

func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := git(t.Context(), dir, author(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func write(t *testing.T, dir string, files ...string) {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return "?"
	}
	return string(text)
}

func add(t *testing.T, project, parent string) *Tree {
	t.Helper()
	tree := open(t, project, parent, rand.Text(), false)
	t.Cleanup(func() {
		if err := tree.Close(); err != nil {
			t.Error(err)
		}
	})
	return tree
}

// open opens the copy for a task; found is whether one was there.
func open(t *testing.T, project, parent, task string, found bool) *Tree {
	t.Helper()
	tree, got, err := Open(t.Context(), project, parent, task)
	if err != nil || got != found {
		t.Fatalf("a copy was found: %t, %v", got, err)
	}
	return tree
}

func merge(t *testing.T, tree *Tree) Merge {
	t.Helper()
	m, err := tree.Merge(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const lines = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"

// Two writers begin with what is not committed, change apart from each other, and
// both changes arrive; where they change the same lines the second is a conflict.
func TestTwoWriters(t *testing.T) {
	project := repo(t, "a.txt", lines, "gone.txt", "x\n", ".gitignore", "*.log\n")
	write(t, project, "new.txt", "not committed\n", "a.txt", "ONE\n"+lines[4:], "x.log", "ignored")
	before := run(t, project, "status", "--porcelain")
	parent := t.TempDir()
	first, second := add(t, project, parent), add(t, project, parent)
	if read(t, first.Dir, "new.txt") != "not committed\n" || read(t, second.Dir, "a.txt")[:4] != "ONE\n" || read(t, first.Dir, "x.log") != "?" {
		t.Error("a copy does not begin with what the project holds")
	}
	if after := run(t, project, "status", "--porcelain"); after != before {
		t.Errorf("making copies changed the project from %q to %q", before, after)
	}
	write(t, first.Dir, "a.txt", strings.Replace(read(t, first.Dir, "a.txt"), "two", "TWO", 1), "sub/made.txt", "made\n")
	if err := os.Remove(filepath.Join(first.Dir, "gone.txt")); err != nil {
		t.Fatal(err)
	}
	write(t, second.Dir, "a.txt", strings.Replace(read(t, second.Dir, "a.txt"), "seven", "SEVEN", 1), "new.txt", "second\n")
	run(t, second.Dir, "add", "-A")
	run(t, second.Dir, "commit", "-q", "-m", "what a worker commits counts too")
	if m := merge(t, first); !slices.Equal(m.Merged, []string{"a.txt", "gone.txt", "sub/made.txt"}) || m.Conflicts != nil {
		t.Errorf("%+v", m)
	}
	write(t, project, "new.txt", "the user\n")
	m := merge(t, second)
	if !slices.Equal(m.Merged, []string{"a.txt"}) || len(m.Conflicts) != 1 || m.Conflicts[0].Path != "new.txt" || !strings.Contains(m.Conflicts[0].Marked, "<<<<<<< the project\nthe user\n") {
		t.Errorf("%+v", m)
	}
	if got := read(t, project, "a.txt"); got != "ONE\nTWO\nthree\nfour\nfive\nsix\nSEVEN\n" || read(t, project, "gone.txt") != "?" || read(t, project, "new.txt") != "the user\n" {
		t.Errorf("the project holds %q", got)
	}
}

func TestWhatCannotBeMerged(t *testing.T) {
	project := repo(t, "bin", "a\x00b", "kept", "k\n", "removed", "r\n")
	tree := add(t, project, t.TempDir())
	write(t, tree.Dir, "bin", "a\x00c", "removed", "changed\n")
	write(t, project, "bin", "a\x00d", "kept", "changed\n")
	for _, name := range []string{filepath.Join(tree.Dir, "kept"), filepath.Join(project, "removed")} {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("bin", filepath.Join(tree.Dir, "link")); err != nil {
		t.Skip("no links here")
	}
	m := merge(t, tree)
	var got []string
	for _, c := range m.Conflicts {
		got = append(got, c.Path+": "+c.Why)
	}
	want := []string{
		"bin: both changed it, and it is no text whose lines could be compared", "kept: it was changed in the project and removed in the copy",
		"link: the copy made a link of it, which is not carried over", "removed: it was removed in the project and changed in the copy",
	}
	if !slices.Equal(got, want) || m.Merged != nil {
		t.Errorf("got %q, merged %q", got, m.Merged)
	}
}

// A project in a folder of its repository has its copy in the same folder.
func TestFolderOfARepository(t *testing.T) {
	top := repo(t, "app/main.txt", "a\n", "other.txt", "b\n")
	tree := add(t, filepath.Join(top, "app"), t.TempDir())
	write(t, tree.Dir, "main.txt", "changed\n", "more.txt", "m\n")
	if m := merge(t, tree); !slices.Equal(m.Merged, []string{"main.txt", "more.txt"}) || read(t, top, "app/main.txt") != "changed\n" {
		t.Errorf("%+v", m)
	}
}

func TestEmptyRepositoryAndNone(t *testing.T) {
	project := repo(t)
	run(t, project, "update-ref", "-d", "HEAD")
	write(t, project, "a", "1\n")
	tree := add(t, project, t.TempDir())
	if read(t, tree.Dir, "a") != "1\n" {
		t.Error("the copy of a repository without a commit is empty")
	}
	if _, _, err := Open(t.Context(), t.TempDir(), t.TempDir(), "a"); !errors.Is(err, ErrNoRepo) {
		t.Errorf("got %v, want ErrNoRepo", err)
	}
}

// failures.md B29: what a crash leaves behind is removed, what somebody holds is
// not.
func TestSweep(t *testing.T) {
	project, parent := repo(t, "a", "1\n"), t.TempDir()
	held := add(t, project, parent)
	crashed := open(t, project, parent, "a", false)
	if err := crashed.lock.Close(); err != nil { // as the end of the process does
		t.Fatal(err)
	}
	now := time.Now()
	if n, err := Sweep(t.Context(), parent, now.Add(-time.Hour)); n != 0 || err != nil {
		t.Errorf("of those that are young %d are removed, %v", n, err)
	}
	if n, err := Sweep(t.Context(), parent, now.Add(time.Hour)); n != 1 || err != nil {
		t.Errorf("%d removed, %v", n, err)
	}
	if _, err := os.Stat(crashed.top()); !errors.Is(err, os.ErrNotExist) {
		t.Error("the worktree of a crash is still there")
	}
	if list := run(t, project, "worktree", "list", "--porcelain"); strings.Count(list, "worktree ") != 2 || read(t, held.Dir, "a") != "1\n" {
		t.Errorf("git knows of\n%s", list)
	}
	if n, err := Sweep(t.Context(), filepath.Join(parent, "none"), now); n != 0 || err != nil {
		t.Errorf("%d removed, %v", n, err)
	}
}

// What a process had in its copy when it ended is found again for the same task, and
// can be merged twice. A copy that was not whole is made anew.
func TestFoundAgain(t *testing.T) {
	project, parent := repo(t, "a", "1\n"), t.TempDir()
	first := open(t, project, parent, "task", false)
	write(t, first.Dir, "a", "worked on\n", "new", "n\n")
	write(t, project, "other", "of the user\n")
	if _, _, err := Open(t.Context(), project, parent, "task"); !errors.Is(err, flock.ErrHeld) {
		t.Errorf("a copy that is held can be opened: %v", err)
	}
	for range 2 {
		if err := errors.Join(first.Leave(), first.Leave()); err != nil {
			t.Fatal(err)
		}
		first = open(t, project, parent, "task", true)
		if read(t, first.Dir, "a") != "worked on\n" || read(t, first.Dir, "other") != "?" {
			t.Error("the copy is another one")
		}
		if m := merge(t, first); !slices.Equal(m.Merged, []string{"a", "new"}) || m.Conflicts != nil || read(t, project, "a") != "worked on\n" {
			t.Errorf("%+v", m)
		}
	}
	write(t, parent, filepath.Base(first.name)+baseSuffix, first.base) // cut off
	if err := first.Leave(); err != nil {
		t.Fatal(err)
	}
	second := open(t, project, parent, "task", false)
	if read(t, second.Dir, "other") != "of the user\n" {
		t.Error("the copy was not made anew")
	}
	if err := errors.Join(second.Leave(), Remove(t.Context(), project, parent, "task"), Remove(t.Context(), project, parent, "none")); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(parent)
	if err != nil || len(left) != 0 {
		t.Errorf("%v left behind, %v", left, err)
	}
}

// A submodule is a folder in the copy without its files; what is written there is a
// conflict, and everything else is merged.
func TestSubmodule(t *testing.T) {
	inner, project := repo(t, "in.txt", "1\n"), repo(t, "a", "1\n")
	run(t, project, "-c", "protocol.file.allow=always", "submodule", "add", "-q", inner, "sub")
	run(t, project, "commit", "-q", "-m", "with a submodule")
	write(t, project, "sub/in.txt", "dirty\n")
	tree := add(t, project, t.TempDir())
	write(t, tree.Dir, "a", "2\n", "sub/in.txt", "3\n", "sub/new.txt", "4\n")
	m := merge(t, tree)
	if !slices.Equal(m.Merged, []string{"a"}) || len(m.Conflicts) != 1 || m.Conflicts[0].Path != "sub" || read(t, project, "sub/in.txt") != "dirty\n" || read(t, project, "a") != "2\n" {
		t.Errorf("%+v", m)
	}
}

func TestInterrupted(t *testing.T) {
	project, parent := repo(t, "a", "1\n"), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Open(ctx, project, parent, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	left, err := os.ReadDir(parent)
	if err != nil || len(left) != 0 {
		t.Errorf("%v left behind, %v", left, err)
	}
}

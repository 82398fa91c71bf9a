package trace

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// tree makes files in a folder of the test's own and returns its path.
func tree(t *testing.T, files ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// walked lists what a walk finds, below root, and the errors it meets there.
func walked(t *testing.T, root string, paths ...string) (found []string, faults map[string]error) {
	t.Helper()
	faults = make(map[string]error)
	for f, err := range Walk(paths) {
		name, relErr := filepath.Rel(root, f.Path)
		if relErr != nil {
			t.Fatal(relErr)
		}
		if err != nil {
			faults[filepath.ToSlash(name)] = err
			continue
		}
		if f.Size == 0 || f.Modified.IsZero() {
			t.Errorf("%s is not described", name)
		}
		found = append(found, filepath.ToSlash(name))
	}
	return found, faults
}

func link(t *testing.T, root, target, name string) {
	t.Helper()
	if err := os.Symlink(filepath.Join(root, target), filepath.Join(root, name)); err != nil {
		t.Skipf("links cannot be made here: %v", err)
	}
}

func TestWalkIsLexical(t *testing.T) {
	root := tree(t, "b/2.jsonl", "b/1.jsonl", "a.txt", "b/c/x", ".hidden/y", "c")
	found, faults := walked(t, root, root)
	if want := []string{".hidden/y", "a.txt", "b/1.jsonl", "b/2.jsonl", "b/c/x", "c"}; !slices.Equal(found, want) || len(faults) > 0 {
		t.Errorf("found %q, %v", found, faults)
	}
	found, _ = walked(t, root, filepath.Join(root, "c"), filepath.Join(root, "b"), root)
	if want := []string{"c", "b/1.jsonl", "b/2.jsonl", "b/c/x", ".hidden/y", "a.txt"}; !slices.Equal(found, want) {
		t.Errorf("paths that overlap give %q", found)
	}
}

func TestWalkMeetsLoopOnce(t *testing.T) {
	root := tree(t, "a/one", "z/two")
	link(t, root, "", "a/up")
	link(t, root, "z", "b")
	found, faults := walked(t, root, root)
	if want := []string{"a/one", "b/two"}; !slices.Equal(found, want) {
		t.Errorf("found %q", found)
	}
	if len(faults) != 1 || !errors.Is(faults["a/up"], ErrLoop) {
		t.Errorf("faults are %v", faults)
	}
}

func TestWalkReportsBrokenLinks(t *testing.T) {
	root := tree(t, "a/one")
	link(t, root, "nowhere", "broken")
	link(t, root, "self", "self")
	found, faults := walked(t, root, root)
	if !slices.Equal(found, []string{"a/one"}) || len(faults) != 2 || !errors.Is(faults["broken"], ErrUnreadable) || !errors.Is(faults["self"], ErrUnreadable) {
		t.Errorf("found %q, faults %v", found, faults)
	}
}

func TestWalkPassesOverUnreadableFolders(t *testing.T) {
	root := tree(t, "a/one", "b/two")
	if err := os.Chmod(filepath.Join(root, "a"), 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Join(root, "a"), 0o755)
	if _, err := os.ReadDir(filepath.Join(root, "a")); err == nil {
		t.Skip("this user may read any folder")
	}
	found, faults := walked(t, root, root)
	if !slices.Equal(found, []string{"b/two"}) || !errors.Is(faults["a"], os.ErrPermission) {
		t.Errorf("found %q, faults %v", found, faults)
	}
}

func TestWalkMayStop(t *testing.T) {
	root := tree(t, "a/one", "a/two", "b/three")
	for range Walk([]string{root}) {
		break // must not panic
	}
}

package fence

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// fenced makes a project with a folder beside it and links between them.
func fenced(t *testing.T) *Fence {
	t.Helper()
	base := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	project := filepath.Join(base, "project")
	must(os.MkdirAll(filepath.Join(project, "sub"), 0o755))
	must(os.MkdirAll(filepath.Join(base, "project-other"), 0o755))
	must(os.WriteFile(filepath.Join(project, "sub", "a.txt"), []byte("a"), 0o644))
	must(os.WriteFile(filepath.Join(base, "secret"), []byte("s"), 0o644))
	links := map[string]string{
		"out":           filepath.Join(base, "secret"),
		"outdir":        base,
		"up":            "..",
		"in":            filepath.Join(project, "sub"),
		"dangling":      filepath.Join("sub", "new.txt"),
		"danglingOut":   filepath.Join(base, "nothing"),
		"danglingChain": "danglingOut",
		"self":          "self",
	}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(project, name)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	f, err := Open(project)
	must(err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// failures.md B14: no path leads out, whatever it is made of.
func TestResolve(t *testing.T) {
	f := fenced(t)
	cases := []struct{ path, want string }{
		{"sub/a.txt", "sub/a.txt"}, {"./sub/../sub/a.txt", "sub/a.txt"}, {".", "."}, {"new/deep/file", "new/deep/file"},
		{filepath.Join(f.Dir(), "sub", "a.txt"), "sub/a.txt"}, {f.Dir(), "."},
		{"in/a.txt", "sub/a.txt"}, {"in/new", "sub/new"}, {"dangling", "sub/new.txt"}, {"up/project/sub", "sub"},
		{"..", ""}, {"../secret", ""}, {"sub/../../secret", ""}, {"out", ""}, {"outdir/x/y", ""}, {"up/secret", ""},
		{"danglingOut", ""}, {"danglingChain", ""}, {"../project-other/x", ""}, {"/etc/passwd", ""}, {"", ""}, {"a\x00b", ""}, {"self", ""},
	}
	for _, c := range cases {
		got, err := f.Resolve(c.path)
		if c.want == "" && err == nil {
			t.Errorf("%q resolves to %q, want an error", c.path, got)
		}
		if c.want != "" && (err != nil || got != c.want) {
			t.Errorf("%q resolves to %q, %v, want %q", c.path, got, err, c.want)
		}
	}
}

func TestOutsideIsTyped(t *testing.T) {
	f := fenced(t)
	_, err := f.Resolve("out")
	var outside *OutsideError
	if !errors.As(err, &outside) || filepath.Base(outside.Target) != "secret" {
		t.Errorf("got %v, want an OutsideError to secret", err)
	}
}

package git

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/tool"
	"github.com/quire-agent/quire/internal/x/fence"
)

// repository has one commit, a staged and an unstaged change.
func repository(t *testing.T) (*Repository, string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	dir := t.TempDir()
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("a.txt", "one\n")
	put("b.txt", "one\n")
	run(t, dir, "init", "-q", "-b", "main")
	run(t, dir, "add", ".")
	run(t, dir, "commit", "-qm", "first things")
	put("a.txt", "two\n")
	put("b.txt", "two\n")
	run(t, dir, "add", "b.txt")
	put("-c.txt", "new\n")
	f, err := fence.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return New(f), dir
}

func run(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=a@example.com")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func TestTools(t *testing.T) {
	r, _ := repository(t)
	cases := []struct {
		tool   int
		args   string
		want   string
		not    string
		failed bool
	}{
		{0, `{}`, "## main\n M a.txt\nM  b.txt\n?? -c.txt", "", false},
		{0, `{"path":"a.txt"}`, " M a.txt", "b.txt", false},
		{0, `{"path":"-c.txt"}`, "?? -c.txt", "a.txt", false},
		{0, `{"path":"../x"}`, "outside the project", "", true},
		{1, `{}`, "-one\n+two", "b.txt", false},
		{1, `{"staged":true}`, "b/b.txt", "a.txt", false},
		{1, `{"revision":"HEAD","stat":true}`, "2 files changed", "+two", false},
		{1, `{"path":"-c.txt"}`, "(no differences)", "", false},
		{1, `{"revision":"--output=x"}`, "not a revision", "", true},
		{1, `{"revision":"nowhere"}`, "nowhere", "", true},
		{2, `{}`, "Ada  first things", "+one", false},
		{2, `{"patch":true,"limit":1,"path":"a.txt"}`, "+one", "b.txt", false},
		{2, `{"path":"-c.txt"}`, "(no commits)", "", false},
	}
	for _, c := range cases {
		got, err := r.Tools()[c.tool].Run(t.Context(), tool.Input{Args: json.RawMessage(c.args)})
		if err != nil || got.Error != c.failed || !strings.Contains(got.Text, c.want) || c.not != "" && strings.Contains(got.Text, c.not) {
			t.Errorf("%s %s: %+v, %v, want %q", r.Tools()[c.tool].Spec().Name, c.args, got, err, c.want)
		}
	}
}

// What the repository's own settings name is not run.
func TestRepositoryRunsNothing(t *testing.T) {
	r, dir := repository(t)
	mark := filepath.Join(dir, "..", filepath.Base(dir)+"-ran")
	script := filepath.Join(dir, "evil.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ntouch '"+mark+"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"core.fsmonitor", "diff.external", "core.pager", "diff.x.textconv", "diff.x.command"} {
		run(t, dir, "config", key, script)
	}
	if err := os.WriteFile(filepath.Join(dir, ".gitattributes"), []byte("* diff=x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tl := range r.Tools() {
		for _, args := range []string{`{}`, `{"patch":true}`, `{"staged":true}`} {
			if _, err := tl.Run(t.Context(), tool.Input{Args: json.RawMessage(args)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a program that the repository names was run")
	}
}

func TestOutsideOfARepository(t *testing.T) {
	f, err := fence.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	got, err := New(f).Tools()[0].Run(t.Context(), tool.Input{})
	if err != nil || !got.Error || !strings.Contains(strings.ToLower(got.Text), "not a git repository") {
		t.Errorf("got %+v, %v", got, err)
	}
}

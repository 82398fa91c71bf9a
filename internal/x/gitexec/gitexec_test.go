package gitexec

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	dir := t.TempDir()
	out, cut, err := Run(t.Context(), dir, 0, "version")
	if err != nil || cut || !strings.HasPrefix(string(out), "git version") {
		t.Errorf("got %q, %v, %v", out, cut, err)
	}
	out, cut, err = Run(t.Context(), dir, 3, "version")
	if err != nil || !cut || string(out) != "git" {
		t.Errorf("got %q, %v, %v, want it cut", out, cut, err)
	}
	_, _, err = Run(t.Context(), dir, 0, "log")
	if err == nil || !strings.HasPrefix(err.Error(), "git log: ") || !strings.Contains(err.Error(), "not a git repository") {
		t.Errorf("got %v, want what git said", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Run(ended, dir, 0, "version"); err == nil {
		t.Error("want an error when the context has ended")
	}
}

func TestWithoutGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, _, err := Run(t.Context(), t.TempDir(), 0, "version"); !errors.Is(err, ErrNone) {
		t.Errorf("got %v, want ErrNone", err)
	}
}

package gitexec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// ErrNone says that there is no git to run.
var ErrNone = errors.New("git is not installed")

// Run runs git in a folder and returns what it wrote. At most limit bytes are
// kept, 0 for all; more is reported by cut. The error holds what git said.
//
// A repository is data that somebody else may have written: its pagers, hooks,
// monitors and helpers for diffs are left out, and so are its optional locks.
// Filters that are configured by the user still run.
func Run(ctx context.Context, dir string, limit int, args ...string) (out []byte, cut bool, err error) {
	cmd, err := Command(ctx, dir, args...)
	if err != nil {
		return nil, false, err
	}
	stdout := &bounded{limit: limit}
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, false, fmt.Errorf("git %s: %w", verb(args), said(err, stderr.String()))
	}
	return stdout.kept.Bytes(), stdout.cut, nil
}

// Command is git with the same care, not started yet. It is for the few commands
// that are meant to change something.
func Command(ctx context.Context, dir string, args ...string) (*exec.Cmd, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, ErrNone
	}
	cmd := exec.CommandContext(ctx, git, append(guarded(), args...)...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "GIT_EXTERNAL_DIFF=", "LC_ALL=C")
	cmd.WaitDelay = time.Second
	return cmd, nil
}

func guarded() []string {
	return []string{"--no-pager", "--literal-pathspecs", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false", "-c", "color.ui=false"}
}

func verb(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func said(err error, text string) error {
	if text = strings.TrimSpace(text); text != "" {
		return errors.New(text)
	}
	return err
}

// bounded keeps the first bytes of what is written to it. It is no more than a
// writer: a buffer's ReadFrom would pass the bound by.
type bounded struct {
	kept  bytes.Buffer
	limit int
	cut   bool
}

// Write takes everything and keeps what has room.
func (b *bounded) Write(p []byte) (int, error) {
	room := len(p)
	if b.limit > 0 {
		room = min(room, b.limit-b.kept.Len())
	}
	b.cut = b.cut || room < len(p)
	b.kept.Write(p[:room])
	return len(p), nil
}

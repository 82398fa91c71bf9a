//go:build unix

package group_test

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/x/group"
)

func TestRun(t *testing.T) {
	for _, c := range []struct {
		script, out string
		want        group.Ending
	}{
		{"echo a; exit 3", "a\n", group.Ending{Exit: 3}},
		{"kill -9 $$", "", group.Ending{Exit: -1, Signal: "killed"}},
		{"sleep 600 & echo b", "b\n", group.Ending{}}, // what it leaves behind is ended
	} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", c.script)
		tail := &group.Tail{Limit: 100}
		cmd.Stdout = tail
		got, err := group.Run(cmd)
		if text, _ := tail.Text(); err != nil || got != c.want || text != c.out {
			t.Errorf("%s: %+v, %v, %q", c.script, got, err, text)
		}
	}
}

// An ender ends a context when something is written to it.
type ender context.CancelFunc

func (e ender) Write(p []byte) (int, error) {
	e()
	return len(p), nil
}

// The context ends the whole group, also where the command itself does not care.
func TestRunIsEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", "trap '' TERM; echo up; sleep 600 & wait; sleep 600")
	cmd.Stdout = ender(cancel)
	got, err := group.Run(cmd)
	if err != nil || got.Signal == "" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestNoSuchCommand(t *testing.T) {
	if _, err := group.Run(exec.CommandContext(t.Context(), "/no/such/command")); err == nil {
		t.Error("want an error")
	}
}

func TestTail(t *testing.T) {
	tail := &group.Tail{Limit: 10}
	for range 100 {
		if n, err := tail.Write([]byte("äöü")); n != 6 || err != nil {
			t.Fatal(n, err)
		}
	}
	if text, left := tail.Text(); text != "üäöüäöü"[len("üäöüäöü")-10:] || left != 590 {
		t.Errorf("%q, %d left out", text, left)
	}
	odd := &group.Tail{Limit: 3}
	if _, err := odd.Write([]byte(strings.Repeat("ä", 10))); err != nil {
		t.Fatal(err)
	}
	if text, left := odd.Text(); text != "ä" || left != 18 {
		t.Errorf("%q, %d left out", text, left)
	}
}

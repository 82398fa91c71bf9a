package taskset

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/quire"
)

// env is what checks need: compilers without a network.
func env() []string {
	return append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath", "GOTOOLCHAIN=local", "GOPROXY=off", "GOWORK=off", "PYTHONDONTWRITEBYTECODE=1")
}

// TestNothingDoneIsNothingSolved holds that no check is content with the project
// as it is laid out.
func TestNothingDoneIsNothingSolved(t *testing.T) {
	for _, x := range all(t) {
		t.Run(x.Name, func(t *testing.T) {
			t.Parallel()
			in := x.With(5)
			if m := in.Missing(); m != "" {
				t.Skipf("%s is not on the PATH", m)
			}
			if testing.Short() && x.Lang == "Go" {
				t.Skip("it compiles")
			}
			dir := t.TempDir()
			if err := in.LayOut(dir); err != nil {
				t.Fatal(err)
			}
			v, err := in.Judge(t.Context(), dir, env())
			if err != nil || v.Solved {
				t.Errorf("solved: %v, %v, %s", v.Solved, err, v.Output)
			}
		})
	}
}

// A hand is an agent that does one thing at a turn.
type hand struct {
	dir   string
	turns []string
	at    time.Duration
	do    func(turn int) error
}

func (h *hand) Turn(_ context.Context, words string) error {
	h.turns = append(h.turns, fmt.Sprintf("%v %s", h.at, words))
	return h.do(len(h.turns))
}

func (h *hand) Pass(d time.Duration) { h.at += d }

func TestPlay(t *testing.T) {
	x, err := Parse("least", least)
	if err != nil {
		t.Fatal(err)
	}
	in := x.With(3)
	if m := in.Missing(); m != "" {
		t.Skipf("%s is not on the PATH", m)
	}
	dir := t.TempDir()
	if err := in.LayOut(dir); err != nil {
		t.Fatal(err)
	}
	word := x.facts[0].value("least", 3)
	h := &hand{dir: dir}
	h.do = func(turn int) error {
		if turn < 2 {
			return nil
		}
		if _, err := os.Stat(filepath.Join(dir, "notes/1.md")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the file is still there: %v", err)
		}
		return os.WriteFile(filepath.Join(dir, "word.txt"), []byte(word), 0o600)
	}
	if err := in.Play(t.Context(), dir, h, h); err != nil {
		t.Fatal(err)
	}
	if len(h.turns) != 2 || !strings.HasPrefix(h.turns[1], "5m0s Write") {
		t.Errorf("the turns are %q", h.turns)
	}
	if v, err := in.Judge(t.Context(), dir, env()); err != nil || !v.Solved {
		t.Errorf("solved: %v, %v, %s", v.Solved, err, v.Output)
	}
	other := x.With(4)
	if v, err := other.Judge(t.Context(), dir, env()); err != nil || v.Solved {
		t.Errorf("the word of another seed is taken: %v, %v", v, err)
	}
}

// An agent that fails ends the talk; a file that is gone already does not.
func TestPlayEnds(t *testing.T) {
	x, err := Parse("least", least)
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	h := &hand{}
	h.do = func(turn int) error {
		if turn == 2 {
			return broken
		}
		return nil
	}
	if err := x.With(1).Play(t.Context(), t.TempDir(), h, h); !errors.Is(err, broken) || len(h.turns) != 2 {
		t.Errorf("%v after %d turns", err, len(h.turns))
	}
}

func TestMissingProgram(t *testing.T) {
	x, err := Parse("least", strings.Replace(least, "check sh", "check no-such-program-of-quire", 1))
	if err != nil {
		t.Fatal(err)
	}
	in := x.With(1)
	if _, err := in.Judge(t.Context(), t.TempDir(), env()); !errors.Is(err, ErrMissing) || in.Missing() == "" {
		t.Errorf("%v, missing %q", err, in.Missing())
	}
}

// echo is a model that keeps what it was sent.
type echo struct{ sent []quire.Call }

func (e *echo) Call(_ context.Context, c quire.Call) iter.Seq2[quire.Delta, error] {
	e.sent = append(e.sent, c)
	return func(func(quire.Delta, error) bool) {}
}

func TestForgetful(t *testing.T) {
	message := func(r quire.Role, k quire.PartKind, text string) quire.Message {
		return quire.Message{Role: r, Blocks: []quire.Block{{Part: quire.Part{Kind: k, Text: text}}}}
	}
	user := func(text string) quire.Message { return message(quire.RoleUser, quire.PartUser, text) }
	machine := message(quire.RoleUser, quire.PartMachine, "machine")
	answer := func(text string) quire.Message { return message(quire.RoleAssistant, quire.PartToolCall, text) }
	result := func(text string) quire.Message { return message(quire.RoleTool, quire.PartToolResult, text) }
	for _, c := range []struct {
		sent []quire.Message
		want string
	}{
		{[]quire.Message{user("u1")}, "u1"},
		{[]quire.Message{user("u1"), answer("a1"), user("u2")}, "u2"},
		{[]quire.Message{user("u1"), answer("a1"), user("u2"), answer("a2"), result("r2")}, "u2 a2 r2"},
		{[]quire.Message{user("u1"), answer("a1"), result("r1"), answer("a2"), result("r2"), result("r3")}, "u1 a2 r2 r3"},
		{[]quire.Message{user("u1"), answer("a1"), result("r1"), machine}, "u1 a1 r1 machine"},
		{[]quire.Message{machine}, "machine"},
	} {
		e := &echo{}
		tools := []quire.ToolSpec{{Name: "read"}, {Name: "recall"}}
		for range Forgetful(e, "recall").Call(t.Context(), quire.Call{Messages: c.sent, Tools: tools}) {
		}
		var got []string
		for _, m := range e.sent[0].Messages {
			got = append(got, m.Blocks[0].Text)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("sent %q, want %q", got, c.want)
		}
		if len(e.sent[0].Tools) != 1 || !slices.EqualFunc(tools, []string{"read", "recall"}, func(s quire.ToolSpec, n string) bool { return s.Name == n }) {
			t.Errorf("the tools are %v of %v", e.sent[0].Tools, tools)
		}
	}
}

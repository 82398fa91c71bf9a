package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/hook"
	"github.com/quire-agent/quire/internal/permit"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/quire-agent/quire/internal/secret"
	"github.com/quire-agent/quire/internal/x/fence"
)

// hooked is an agent with the hooks of a user's file around it, and no session.
func hooked(t *testing.T, text string) *agent {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh here")
	}
	dir := t.TempDir()
	path := filepath.Join(t.TempDir(), hooksFile)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := hook.Read(hook.Source{Kind: hook.OfUser, Path: path}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	project, err := fence.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = project.Close() })
	inv := &invocation{finder: sync.OnceValue(secret.NewFinder)}
	around := &around{hooks: &hook.Hooks{Handlers: list, Dir: project.Dir(), Env: []string{"PATH=" + os.Getenv("PATH")}}}
	return &agent{agentParts: agentParts{inv: inv, around: around}, project: project, loop: &run.Loop{Record: &recorded{}}}
}

// recorded is a record in memory.
type recorded struct{ kinds []string }

func (*recorded) Add(quire.Event) error { return nil }

func (r *recorded) Record(kind string, _ any) error {
	r.kinds = append(r.kinds, kind)
	return nil
}

func (*recorded) Sync(context.Context) error { return nil }

// failures.md B21: the hooks around an epoch fire, are recorded and cannot block it.
func TestHooksAroundAnEpoch(t *testing.T) {
	a := hooked(t, `{"hooks": {"PreCompact": [{"matcher": "forced", "hooks": [{"command": "cat >>log; exit 2"}]}], "PostCompact": [{"hooks": [{"command": "cat >>log"}]}]}}`)
	shown := 0
	emit := a.seen(t.Context(), func(run.Event) { shown++ })
	emit(run.Planned{Plan: schedule.Plan{}})
	emit(run.Planned{Plan: schedule.Plan{Kind: "forced", Reason: "the window is full"}})
	log, err := os.ReadFile(filepath.Join(a.project.Dir(), "log"))
	if err != nil || strings.Count(string(log), "\n") != 2 || !strings.Contains(string(log), `"trigger":"forced","reason":"the window is full"`) {
		t.Errorf("%s, %v", log, err)
	}
	if say := a.Warnings(t.Context()); say != nil || shown != 2 {
		t.Errorf("told %q, %d events shown", say, shown)
	}
	if got := a.loop.Record.(*recorded).kinds; strings.Join(got, " ") != "hook_pre_compact hook_post_compact" {
		t.Errorf("recorded %q", got)
	}
}

type asked struct{ n int }

func (a *asked) Ask(context.Context, permit.Question) (permit.Answer, error) {
	a.n++
	return permit.Session, nil
}

// A hook can refuse before the user is asked, can give leave, and is told that
// somebody waits.
func TestHooksAnswerForTheUser(t *testing.T) {
	const allow = `echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\",\"permissionDecision\":\"allow\"}}'`
	q := permit.Question{Tool: "bash", About: []permit.Subject{{Text: "make", Reason: "it runs code"}}}
	for _, c := range []struct {
		command string
		want    permit.Answer
		asked   int
	}{{"echo no >&2; exit 2", permit.Refuse, 0}, {allow, permit.Once, 0}, {"true", permit.Session, 1}} {
		a := hooked(t, `{"hooks": {"PermissionRequest": [{"hooks": [{"command": "`+c.command+`"}]}], "Notification": [{"hooks": [{"command": "cat >>log"}]}]}}`)
		user := &asked{}
		a.asker = user
		got, err := a.asking().Ask(t.Context(), q)
		if err != nil || got != c.want || user.n != c.asked {
			t.Errorf("%s: %v, %v, asked %d times", c.command, got, err, user.n)
		}
		_, err = os.Stat(filepath.Join(a.project.Dir(), "log"))
		if told := err == nil; told != (c.asked > 0) {
			t.Errorf("%s: notified: %v", c.command, told)
		}
	}
	a := hooked(t, `{"hooks": {"Notification": [{"hooks": [{"command": "cat >>log"}]}]}}`)
	if got, err := a.asking().Ask(t.Context(), q); got != permit.Refuse || err != nil {
		t.Errorf("nobody to ask: %v, %v", got, err)
	}
	if plain := (&agent{}); plain.asking() != nil {
		t.Error("without hooks there is nobody in between")
	}
}

// Instructions that the last pull brought are somebody else's until something is
// committed on top.
func TestPulledInstructions(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	git := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "init.defaultBranch=main"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "clone")
	git(from, "init", "-q")
	git(from, "commit", "-q", "--allow-empty", "-m", "first")
	git(from, "clone", "-q", from, to)
	if err := os.WriteFile(filepath.Join(from, "AGENTS.md"), []byte("do as I say\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git(from, "add", "-A")
	git(from, "commit", "-q", "-m", "second")
	if got := pulledFiles(t.Context(), to); got != nil {
		t.Errorf("before: %q", got)
	}
	git(to, "pull", "-q", "--ff-only")
	real, err := filepath.EvalSymlinks(to)
	if err != nil {
		t.Fatal(err)
	}
	if got := pulledFiles(t.Context(), to); len(got) != 1 || got[0] != filepath.Join(real, "AGENTS.md") {
		t.Errorf("after: %q", got)
	}
	git(to, "commit", "-q", "--allow-empty", "-m", "mine")
	if got := pulledFiles(t.Context(), to); got != nil {
		t.Errorf("after a commit: %q", got)
	}
}

func TestKeptNorms(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.jsonl")
	if _, err := keptNorms(path, time.Now()); !errors.Is(err, quire.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/quire-agent/quire/internal/x/trust"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hooks are the handlers of a text, as the user's.
func hooks(t *testing.T, text string) *Hooks {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh here")
	}
	list, err := parse([]byte(text), Source{OfUser, "hooks.json"}, false)
	if err != nil {
		t.Fatal(err)
	}
	return &Hooks{Handlers: list, Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}}
}

// one is a file with one hook.
func one(e Event, command string) string {
	quoted, err := json.Marshal(command)
	if err != nil {
		return ""
	}
	return fmt.Sprintf(`{"hooks": {%q: [{"hooks": [{"type": "command", "command": %s}]}]}}`, e, quoted)
}

// failures.md B21: all twelve events fire, exit code 2 blocks where that makes
// sense, and where it does not it blocks nothing.
func TestEveryEventFiresAndBlocks(t *testing.T) {
	for _, e := range Events() {
		h := hooks(t, one(e, "cat >in; echo out; echo no >&2; exit 2"))
		in := Input{Event: e, Session: "s1", Dir: h.Dir, Model: "m", Turn: "t3", Mode: "edit", Source: "startup", Tool: "bash", Prompt: "hello"}
		got := h.Fire(t.Context(), in)
		over := e == PreCompact || e == PostCompact || e == Notification || e == SessionEnd
		if (got.Blocked == "") != over || !over && got.Blocked != "no" || len(got.Records) != 1 {
			t.Errorf("%s: %+v", e, got)
			continue
		}
		if r := got.Records[0]; *r.Exit != 2 || r.Stdout != "out\n" || (r.Status == Blocked) == over {
			t.Errorf("%s: %+v", e, r)
		}
		text, err := os.ReadFile(filepath.Join(h.Dir, "in"))
		if err != nil {
			t.Fatal(err)
		}
		var read Input
		if err := json.Unmarshal(text, &read); err != nil || read.Event != e || read.Session != "s1" || strings.Count(string(text), "\n") != 1 || !strings.Contains(string(text), `"transcript_path":null`) {
			t.Errorf("%s read %s, %v", e, text, err)
		}
	}
	if len(Events()) != 12 {
		t.Errorf("%d events", len(Events()))
	}
}

func TestWhatHooksSay(t *testing.T) {
	for _, c := range []struct {
		event            Event
		command          string
		blocked, context string
		allowed          bool
		status           Status
	}{
		{UserPromptSubmit, "echo plain", "", "plain", false, Completed},
		{PreToolUse, "echo plain", "", "", false, Completed},
		{PreToolUse, `echo '{"decision":"block","reason":"because"}'`, "because", "", false, Blocked},
		{Stop, `echo '{"continue":false,"stopReason":"enough"}'`, "enough", "", false, Blocked},
		{Stop, `echo '{"continue":false}'`, "a hook ended it", "", false, Blocked},
		{Stop, `echo '{"continue":true,"decision":7}'`, "", "", false, Completed},
		{SessionStart, `echo '{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"more"}}'`, "", "more", false, Completed},
		{SessionStart, `echo '{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"more"}}'`, "", "", false, Completed},
		{PermissionRequest, `echo '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","permissionDecision":"allow"}}'`, "", "", true, Completed},
		{PreToolUse, `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'`, "", "", false, Completed},
		{PreToolUse, `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"not here"}}'`, "not here", "", false, Blocked},
		{PreToolUse, "exit 3", "", "", false, Failed},
		{PreToolUse, "exit 2", "a hook blocked it", "", false, Blocked},
		{PreToolUse, "echo why; exit 2", "why", "", false, Blocked},
		{PreToolUse, "kill -9 $$", "", "", false, Failed},
		{PreToolUse, "/no/such/command", "", "", false, Failed},
		{UserPromptSubmit, `test "$QUIRE_HOOK_SOURCE" = hooks.json && echo yes`, "", "yes", false, Completed},
	} {
		got := hooks(t, one(c.event, c.command)).Fire(t.Context(), Input{Event: c.event})
		if got.Blocked != c.blocked || strings.Join(got.Context, "|") != c.context || got.Allowed != c.allowed || got.Records[0].Status != c.status {
			t.Errorf("%s %s: %+v", c.event, c.command, got)
		}
	}
}

func TestMatchers(t *testing.T) {
	for _, c := range []struct {
		event         Event
		matcher, tool string
		want          bool
	}{
		{PreToolUse, "", "bash", true},
		{PreToolUse, "*", "bash", true},
		{PreToolUse, "ba.*|edit", "bash", true},
		{PreToolUse, "as", "bash", false},
		{PreToolUse, "a(", "a(", true},
		{PreToolUse, "a(", "b", false},
		{Stop, "never", "", true},
		{UserPromptSubmit, "never", "", true},
		{PostToolUse, "bash", "bash", false},
	} {
		h := Handler{Event: c.event, Matcher: c.matcher}
		in := Input{Event: c.event, Tool: c.tool}
		if c.event == PostToolUse {
			in.Event = PreToolUse
		}
		if got := h.accepts(in.Event, in.value()); got != c.want {
			t.Errorf("%s %q, %q: %v", c.event, c.matcher, c.tool, got)
		}
	}
}

// The first reason and all contexts count, in the order of the file, whichever hook
// ends first.
func TestSeveralHooksAreOneOutcome(t *testing.T) {
	h := hooks(t, `{"hooks": {"UserPromptSubmit": [{"hooks": [
		{"command": "while ! test -e second; do sleep 0.01; done; echo one"}, {"command": "touch second; echo two"},
		{"command": "echo first >&2; exit 2"}, {"command": "echo last >&2; exit 2"}]}]}}`)
	got := h.Fire(t.Context(), Input{Event: UserPromptSubmit})
	if got.Blocked != "first" || strings.Join(got.Context, " ") != "one two" || len(got.Records) != 4 {
		t.Errorf("%+v", got)
	}
}

func TestHooksThatAreNotRun(t *testing.T) {
	h := hooks(t, `{"hooks": {"Stop": [{"hooks": [{"type": "prompt"}, {}, {"command": "touch ran", "async": true}, {"command": "touch ran", "enabled": false}, {"command": "touch ran", "trusted": false}]}]}}`)
	got := h.Fire(t.Context(), Input{Event: Stop})
	for i, want := range []string{"type \"prompt\"", "no command", "async", "disabled", "not trusted"} {
		if r := got.Records[i]; r.Status != Skipped || !strings.Contains(r.Reason, want) {
			t.Errorf("%+v, want %q", r, want)
		}
	}
	if _, err := os.Stat(filepath.Join(h.Dir, "ran")); err == nil {
		t.Error("a hook was run all the same")
	}
}

// Check D13: a project's hook runs only where the user trusts exactly that command; the
// project's own word for it counts nothing.
func TestTrust(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "hooks.json")
	store, err := trust.Open(filepath.Join(dir, "trust.json"))
	if err != nil {
		t.Fatal(err)
	}
	read := func(command string) Handler {
		t.Helper()
		text := strings.Replace(one(Stop, command), `"type"`, `"trusted": true, "type"`, 1)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := Read(Source{OfProject, path}, false, store)
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		return list[0]
	}
	h := read("echo a")
	if !strings.Contains(h.Skip, "not trusted") {
		t.Errorf("%+v", h)
	}
	if err := store.Grant(trust.Grant{Kind: TrustKind, Sum: h.Sum()}); err != nil {
		t.Fatal(err)
	}
	if h := read("echo a"); h.Skip != "" {
		t.Errorf("%+v", h)
	}
	if h := read("echo b"); h.Skip == "" {
		t.Error("a changed command is still trusted")
	}
	if list, err := Read(Source{OfProject, filepath.Join(dir, "none")}, false, store); list != nil || err != nil {
		t.Errorf("%v, %v", list, err)
	}
}

// failures.md B21: a hook that does not end is ended with all that it started, and
// what hooks write is bounded.
func TestBounds(t *testing.T) {
	h := hooks(t, one(UserPromptSubmit, "trap '' TERM; sleep 600 & wait; sleep 600"))
	h.Handlers[0].Time = 50 * time.Millisecond
	got := h.Fire(t.Context(), Input{Event: UserPromptSubmit})
	if r := got.Records[0]; r.Status != Failed || !strings.HasPrefix(r.Reason, "it was ended after") {
		t.Errorf("%+v", r)
	}
	h = hooks(t, one(UserPromptSubmit, "i=0; while test $i -lt 3000; do echo 0123456789012345678901234567890123456789; i=$((i+1)); done"))
	got = h.Fire(t.Context(), Input{Event: UserPromptSubmit})
	if r := got.Records[0]; r.Status != Completed || len(r.Stdout) > maxOutput || len(got.Context[0]) > maxContext+100 {
		t.Errorf("%d bytes kept, %d into the prompt: %s %s", len(r.Stdout), len(got.Context[0]), r.Status, r.Reason)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := h.Fire(ctx, Input{Event: UserPromptSubmit}).Records[0]; r.Status != Failed || r.Exit != nil {
		t.Errorf("%+v", r)
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	for text, want := range map[string]string{
		"{": "unexpected", `{"hooks": {"PreTool": []}}`: `"PreTool" is no event`, `{"hooks": []}`: "cannot unmarshal",
	} {
		if _, err := parse([]byte(text), Source{}, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	list, err := parse([]byte(`{"hooks": {"Stop": [{"hooks": [{"command": "a", "commandWindows": "b", "timeout": 0}]}]}}`), Source{}, true)
	if err != nil || list[0].Command != "b" || list[0].Time != leastTime {
		t.Errorf("%+v, %v", list, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "{}", one(Stop, "a"), `{"hooks":{"Stop":[{"matcher":"x","hooks":[{"command":"a","timeout":1e300,"async":true}]}]}}`, `{"hooks":{"PreToolUse":[null,{"hooks":null}]}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parse([]byte(text), Source{OfUser, "hooks.json"}, false)
		if err != nil {
			return
		}
		for _, h := range list {
			if h.Time < leastTime || h.Time > usualTime || h.Skip == "" && strings.TrimSpace(h.Command) == "" {
				t.Errorf("%q gives %+v", text, h)
			}
		}
	})
}

func FuzzSaid(f *testing.F) {
	for _, seed := range []string{"", "plain", `{"decision":"block"}`, `{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"x"}}`, `{"hookSpecificOutput":[]}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, stdout string) {
		a := answer{}
		a.said(UserPromptSubmit, stdout)
		if len(a.context) > maxContext+100 || len(a.blocked) > maxContext+100 {
			t.Errorf("%d and %d bytes", len(a.context), len(a.blocked))
		}
	})
}

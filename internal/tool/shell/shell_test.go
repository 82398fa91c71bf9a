package shell

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/tool"
	"github.com/quire-agent/quire/internal/undo"
	"github.com/quire-agent/quire/internal/x/fence"
	"github.com/quire-agent/quire/internal/x/sandbox"
)

// The test binary stands for the program: it answers the hidden command.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == sandbox.Command {
		if err := sandbox.Become(os.Args[2:], os.Environ()); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(125)
		}
	}
	goleak.VerifyTestMain(m)
}

type pool struct {
	mu     sync.Mutex
	bodies map[quire.Hash][]byte
}

func (p *pool) PutBodies(_ context.Context, bodies [][]byte) ([]quire.Hash, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []quire.Hash
	for _, b := range bodies {
		h := quire.Sum(string(b))
		p.bodies[h] = b
		list = append(list, h)
	}
	return list, nil
}

func (p *pool) Body(_ context.Context, h quire.Hash) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b, ok := p.bodies[h]; ok {
		return b, nil
	}
	return nil, quire.ErrNotFound
}

func newShell(t testing.TB) (*Shell, string) {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	f, err := fence.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := New(Config{Project: f, Tree: undo.New(f, &pool{bodies: map[quire.Hash][]byte{}}), Shell: bash, Env: os.Environ()})
	t.Cleanup(func() { s.Close(); _ = f.Close() })
	return s, f.Dir()
}

func call(t testing.TB, ctx context.Context, s *Shell, number int, args string) tool.Result {
	t.Helper()
	r, err := s.Tools()[number].Run(ctx, tool.Input{Args: json.RawMessage(args)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestBash(t *testing.T) {
	s, dir := newShell(t)
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		args, want string
		failed     bool
	}{
		{`{"command":"echo out; echo err >&2"}`, "out\nerr\n", false},
		{`{"command":"true"}`, "(no output)", false},
		{`{"command":"echo x; exit 3"}`, "x\n\n[exit code 3]", true},
		{`{"command":"pwd","dir":"sub"}`, filepath.Join(dir, "sub") + "\n", false},
		{`{"command":"pwd","dir":"nowhere"}`, "nowhere is not a folder of the project.", true},
		{`{"command":"pwd","dir":".."}`, "outside the project", true},
		{`{"command":"cat; read x || echo no input"}`, "no input\n", false},
		{`{"command":"test -t 0 || test -t 1 || echo no terminal"}`, "no terminal\n", false},
		{`{"command":"kill -9 $$"}`, "ended by a signal", true},
		{`{"command":"printf '\\xff\\xfe'"}`, "\uFFFD", false},
		{`{"command":"sleep 600 & echo started"}`, "started\n", false},
		{`{"command":"echo x; sleep 600","timeout":1}`, "x\n\n[the time was up", true},
		{`{"command":"trap '' TERM; echo x; while :; do sleep 0.1; done","timeout":1}`, "the time was up", true},
	}
	for _, c := range cases {
		if got := call(t, t.Context(), s, 0, c.args); got.Error != c.failed || !strings.Contains(got.Text, c.want) {
			t.Errorf("%s: %v %q, want %q", c.args, got.Error, got.Text, c.want)
		}
	}
}

// failures.md A2: an interrupted call has a result, with what there is.
func TestInterrupted(t *testing.T) {
	s, dir := newShell(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan tool.Result, 1)
	go func() { done <- call(t, ctx, s, 0, `{"command":"echo begun > mark; echo begun; sleep 600"}`) }()
	waitFor(t, filepath.Join(dir, "mark"))
	cancel()
	got := <-done
	if !got.Error || !strings.Contains(got.Text, "begun") || !strings.Contains(got.Text, "interrupted") {
		t.Errorf("got %+v", got)
	}
	if len(got.Effects) != 1 || got.Effects[0].Path != "mark" {
		t.Errorf("effects are %v, want mark", got.Effects)
	}
}

// waitFor waits for another process, which has no other way to say so.
func waitFor(t *testing.T, path string) {
	t.Helper()
	for range 6000 {
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			return
		}
		<-time.After(5 * time.Millisecond)
	}
	t.Fatalf("%s did not come", path)
}

// failures.md B29: what a command changed can be put back.
func TestEffects(t *testing.T) {
	s, dir := newShell(t)
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("old\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got := call(t, t.Context(), s, 0, `{"command":"echo new > a; mkdir d; echo x > d/b"}`)
	var paths []string
	for _, c := range got.Effects {
		paths = append(paths, c.Path)
	}
	if fmt.Sprint(paths) != "[a d d/b]" {
		t.Errorf("effects are %v", paths)
	}
	report, err := s.Tree.Restore(t.Context(), got.Effects)
	if err != nil || len(report.Conflicts) > 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "a")); err != nil || string(data) != "old\n" {
		t.Errorf("a holds %q, %v", data, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "d")); err == nil {
		t.Error("d is still there")
	}
}

func TestBackground(t *testing.T) {
	s, dir := newShell(t)
	got := call(t, t.Context(), s, 0, `{"command":"echo one; echo up > mark; while [ ! -e go ]; do sleep 0.02; done; echo two; exit 4","background":true}`)
	if !strings.Contains(got.Text, "Started b1") {
		t.Fatalf("got %+v", got)
	}
	waitFor(t, filepath.Join(dir, "mark"))
	// What a command writes is read beside it: the first look may come too early.
	first := call(t, t.Context(), s, 1, `{"id":"b1"}`).Text
	for i := 0; i < 6000 && first == "(nothing new)\n[b1 is running]"; i++ {
		<-time.After(5 * time.Millisecond)
		first = call(t, t.Context(), s, 1, `{"id":"b1"}`).Text
	}
	if first != "one\n\n[b1 is running]" {
		t.Errorf("got %q", first)
	}
	if got := call(t, t.Context(), s, 1, `{"id":"b1"}`); got.Text != "(nothing new)\n[b1 is running]" {
		t.Errorf("got %q", got.Text)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := call(t, t.Context(), s, 1, `{"id":"b1","wait":60}`); got.Text != "two\n\n[b1 ended with exit code 4]" || got.Exit == nil || *got.Exit != 4 {
		t.Errorf("got %+v", got)
	}
	if got := call(t, t.Context(), s, 1, `{"id":"b2"}`); !got.Error || !strings.Contains(got.Text, "b1 (ended with exit code 4)") {
		t.Errorf("got %+v", got)
	}
}

func TestKill(t *testing.T) {
	s, dir := newShell(t)
	call(t, t.Context(), s, 0, `{"command":"(sleep 600; echo never > late) & echo $! > mark; wait","background":true}`)
	waitFor(t, filepath.Join(dir, "mark"))
	if got := call(t, t.Context(), s, 2, `{"id":"b1"}`); got.Error || !strings.Contains(got.Text, "[b1 ended") {
		t.Errorf("got %+v", got)
	}
	pid, err := os.ReadFile(filepath.Join(dir, "mark"))
	if err != nil {
		t.Fatal(err)
	}
	waitGone(t, strings.TrimSpace(string(pid)))
}

// waitGone waits until a process is dead: a kill has been sent when the tool
// answers, and the kernel may take its time to end what was killed.
func waitGone(t *testing.T, pid string) {
	t.Helper()
	for range 6000 {
		if exec.Command("kill", "-0", pid).Run() != nil {
			return
		}
		if state, _ := os.ReadFile("/proc/" + pid + "/stat"); strings.Contains(string(state), ") Z ") {
			return
		}
		<-time.After(5 * time.Millisecond)
	}
	t.Errorf("process %s of the group lives on", pid)
}

func TestTooManyJobs(t *testing.T) {
	s, _ := newShell(t)
	for range maxRunning {
		call(t, t.Context(), s, 0, `{"command":"sleep 600","background":true}`)
	}
	if got := call(t, t.Context(), s, 0, `{"command":"sleep 600","background":true}`); !got.Error || !strings.Contains(got.Text, "kill_bash") {
		t.Errorf("got %+v", got)
	}
	if n := len(s.Jobs()); n != maxRunning {
		t.Errorf("%d jobs, want %d", n, maxRunning)
	}
}

func TestSandboxed(t *testing.T) {
	if !sandbox.Available().Files {
		t.Skip("no sandbox here")
	}
	s, dir := newShell(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.Sandbox = &Sandbox{Self: self}
	if got := call(t, t.Context(), s, 0, `{"command":"echo x > in && cat in"}`); got.Error || got.Text != "x\n" {
		t.Errorf("got %+v", got)
	}
	got := call(t, t.Context(), s, 0, fmt.Sprintf(`{"command":"echo x > '%s-outside'"}`, dir))
	if !got.Error || !strings.Contains(got.Text, "ran in a sandbox") || !strings.Contains(got.Text, "no network") {
		t.Errorf("got %+v", got)
	}
}

func TestWants(t *testing.T) {
	s, _ := newShell(t)
	for command, looks := range map[string]bool{"ls | wc -l": true, "git status": true, "echo x > a": false, "go test": false, "$X": false, "ls > /dev/null": true, "FOO=$(rm a) ls": false} {
		args, err := json.Marshal(bashArgs{Command: command})
		if err != nil {
			t.Fatal(err)
		}
		if w := tool.WantOf(s.bash(), tool.Input{Args: args}); w.Serial == looks || (w.Notice == "") != looks || w.Command != command || w.Tool != "bash" {
			t.Errorf("%q: %+v, want that it looks only: %v", command, w, looks)
		}
	}
}

// failures.md A39: the beginning and the end are kept, and what is between them
// is counted.
func TestSpool(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &spool{}
		var all strings.Builder
		for range rapid.IntRange(1, 30).Draw(t, "writes") {
			p := strings.Repeat(rapid.SampledFrom([]string{"a", "b\n", "line\n"}).Draw(t, "text"), rapid.IntRange(0, keep/8).Draw(t, "times"))
			all.WriteString(p)
			if n, err := s.Write([]byte(p)); n != len(p) || err != nil {
				t.Fatal(n, err)
			}
		}
		text, next := s.from(0)
		if next != all.Len() {
			t.Fatalf("%d bytes, want %d", next, all.Len())
		}
		head, rest, cut := strings.Cut(text, "\n[… ")
		if !cut {
			if text != all.String() {
				t.Fatal("nothing is said to be missing and something is")
			}
			return
		}
		about, tail, _ := strings.Cut(rest, " …]\n")
		missing := all.String()[len(head) : all.Len()-len(tail)]
		if want := fmt.Sprintf("%d bytes, %d lines left out here", len(missing), strings.Count(missing, "\n")); about != want || !strings.HasSuffix(all.String(), tail) || len(tail) < keep {
			t.Fatalf("%q, want %q; the tail has %d bytes", about, want, len(tail))
		}
	})
}

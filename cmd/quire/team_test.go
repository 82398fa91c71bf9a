package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/brain"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/model"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/role"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/quire-agent/quire/internal/script"
	"github.com/quire-agent/quire/internal/sim"
	"github.com/quire-agent/quire/internal/token"
)

// A teamWorld is a project, a home and a simulator of providers, for runs of the
// program as a process.
type teamWorld struct {
	*testing.T
	home, project string
	sim           *sim.Sim
	url           string
}

// countOnce counts tokens; loading what it needs takes a while.
var countOnce = sync.OnceValues(token.NewCounter)

func newTeamWorld(t *testing.T, play string, files map[string]string) *teamWorld {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	plan, err := script.Parse(play)
	if err != nil {
		t.Fatal(err)
	}
	counter, err := countOnce()
	if err != nil {
		t.Fatal(err)
	}
	s, err := sim.New(sim.Options{Counter: counter, Script: plan, Failed: func(err error) { t.Log("the simulator:", err) }})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); server.Close() })
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &teamWorld{T: t, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "project"), sim: s, url: server.URL}
	for name, text := range files {
		w.write(name, text)
	}
	if err := os.MkdirAll(w.project, 0o755); err != nil {
		t.Fatal(err)
	}
	w.git("init", "-q")
	w.git("add", "-A")
	w.git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "begin")
	return w
}

func (w *teamWorld) write(name, text string) {
	w.Helper()
	path := filepath.Join(w.project, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.Fatal(err)
	}
}

// atHome writes a file of the home.
func (w *teamWorld) atHome(name, text string) {
	w.Helper()
	if err := os.MkdirAll(w.home, 0o700); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.home, name), []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
}

func (w *teamWorld) read(name string) string {
	w.Helper()
	text, err := os.ReadFile(filepath.Join(w.project, name))
	if err != nil {
		w.Fatal(err)
	}
	return string(text)
}

// recorded are the records of a type of all journals.
func (w *teamWorld) recorded(kind string) (list []quire.Record) {
	w.Helper()
	names, err := journal.List(w.home)
	if err != nil {
		w.Fatal(err)
	}
	for _, name := range names {
		for r, err := range journal.Read(name.Path) {
			if err != nil {
				w.Fatal(err)
			}
			if r.Type == kind {
				list = append(list, r)
			}
		}
	}
	return list
}

func (w *teamWorld) git(args ...string) {
	w.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = w.project
	if out, err := cmd.CombinedOutput(); err != nil {
		w.Fatalf("git %v: %v: %s", args, err, out)
	}
}

// command is the program with arguments.
func (w *teamWorld) command(args ...string) (*exec.Cmd, *bytes.Buffer, *bytes.Buffer) {
	w.Helper()
	path, err := exec.LookPath("quire")
	if err != nil {
		w.Fatal(err)
	}
	var out, errs bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = w.project, &out, &errs
	home := filepath.Dir(w.home)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "USERPROFILE=" + home, "QUIRE_HOME=" + w.home, "GOCACHE=" + buildCache(), "TMPDIR=" + os.TempDir(),
		"ANTHROPIC_API_KEY=a", "OPENAI_API_KEY=b", "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"),
	}
	return cmd, &out, &errs
}

// quire runs the program.
func (w *teamWorld) quire(args ...string) answer {
	w.Helper()
	cmd, out, errs := w.command(args...)
	err := cmd.Run()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		w.Fatal(err)
	}
	return answer{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// run runs a team, or one agent.
func (w *teamWorld) run(args ...string) answer {
	w.Helper()
	return w.quire(append([]string{"run", "--model", "anthropic/claude-sonnet-5-5", "--base-url", "anthropic=" + w.url + " openai=" + w.url + "/v1"}, args...)...)
}

// report runs a team and reads its report.
func (w *teamWorld) report(args ...string) teamReport {
	w.Helper()
	got := w.run(append([]string{"--output", "json"}, args...)...)
	var r teamReport
	if err := json.Unmarshal([]byte(got.out), &r); err != nil {
		w.Fatalf("%v: exit %d, %s\n%s", err, got.code, got.out, got.err)
	}
	return r
}

// asked are the bodies of the requests of an agent, by a text in its first message.
func (w *teamWorld) asked(mark string) (bodies []string) {
	for _, q := range w.sim.Requests() {
		if strings.Contains(string(q.Body), mark) {
			bodies = append(bodies, string(q.Body))
		}
	}
	return bodies
}

// The marks of agents in what they are sent.
const (
	markRouter  = "Plan who works"
	markPrimary = "You are the primary"
)

func markOf(role string) string { return "Your role: " + role + "." }

// planOf is a turn of the router: the primary is backend.
func planOf(more string, workers ...string) string {
	var list, todos []string
	for _, name := range append(workers, "backend") {
		name, writes, _ := strings.Cut(name, "!")
		list = append(list, fmt.Sprintf(`{"role": %q, "goal": "the goal of %s", "writes": %t}`, name, name, writes != ""))
		todos = append(todos, fmt.Sprintf(`{"id": "t-%s", "title": "work of %s", "role": %q}`, name, name, name))
	}
	return "turn\n when prompt contains " + markRouter + "\n say {\"role\": \"backend\", " + more + " \"reason\": \"ROUTER-REASON-3333\", \"workers\": [" +
		strings.Join(list, ", ") + "], \"todos\": [" + strings.Join(todos, ", ") + "]}\n"
}

func turnOf(mark string, lines ...string) string {
	return "turn\n when prompt contains " + mark + "\n " + strings.Join(lines, "\n ") + "\n"
}

const privateText = "the password of the harbour is SIBLING-TEXT-4711\n"

// What one agent saw, thought and tried reaches no other one: secrets are planted in
// the Brain's stream, in a worker's and in the primary's, and looked for in every
// request of everybody else. Asking for them by name or by words does not help, and
// a page that was published can be read.
func TestTeamIsolation(t *testing.T) {
	t.Parallel()
	play := planOf("", "librarian", "qa", "oracle") +
		turnOf(markOf("librarian"), "think WORKER-THOUGHT-0815", `call read {"path": "private.txt"}`, `call read {"path": "public.txt"}`) +
		turnOf(markOf("librarian"), `say {"summary": "LIBRARIAN-RESULT", "artifacts": [{"kind": "file", "uri": "page:p4", "label": "public"}, {"kind": "file", "uri": "page:p1"}]}`) +
		turnOf(markOf("qa"), `call recall {"page": "s3/p3"}`, `call recall {"page": "s1/p1"}`, `call recall {"query": "password harbour"}`) +
		turnOf(markOf("qa"), "say QA-RESULT") +
		turnOf(markOf("oracle"), "say ORACLE-RESULT") +
		turnOf(markPrimary, `call read {"path": "primary.txt"}`, `call recall {"page": "s3/p4"}`, `call recall {"page": "s3/p3"}`, `call recall {"query": "password harbour"}`) +
		turnOf(markPrimary, "say done once") +
		planOf("", "security") +
		turnOf(markOf("security"), `call recall {"query": "PRIMARY-TEXT"}`) +
		turnOf(markOf("security"), "say SECURITY-RESULT") +
		turnOf(markPrimary, "say done twice") + turnOf("@@s1", "say seen")
	w := newTeamWorld(t, play, map[string]string{"private.txt": privateText, "public.txt": "PUBLISHED-TEXT\n", "primary.txt": "PRIMARY-TEXT-2222\n"})
	if r := w.report("--mode", "radical", "look around"); r.Status != brain.StatusReadOnly || r.Summary != "done once" {
		t.Fatalf("the first run is %+v", r)
	}
	if r := w.report("--mode", "radical", "--continue", "and again"); r.Summary != "done twice" {
		t.Fatalf("the second run is %+v", r)
	}
	// Check D8: a reference to the session is its card: short, without what tools gave
	// and without what a worker saw.
	if got := w.run("--solo", "see @@s1"); got.out != "seen\n" {
		t.Fatalf("referring to the session: %+v", got)
	}
	card := w.asked("@@s1")[0]
	if at := strings.Index(card, "on record of session s1"); at < 0 || len(card)-at > 24<<10 || !strings.Contains(card, "done once") {
		t.Errorf("the card has %d bytes", len(card)-at)
	}
	for _, c := range []struct{ who, mark, secrets string }{
		{"who refers to the session", "@@s1", "SIBLING-TEXT WORKER-THOUGHT ROUTER-REASON PRIMARY-TEXT-2222 PUBLISHED-TEXT"},
		{"qa", markOf("qa"), "SIBLING-TEXT WORKER-THOUGHT ROUTER-REASON PRIMARY-TEXT LIBRARIAN-RESULT ORACLE-RESULT PUBLISHED-TEXT"},
		{"oracle", markOf("oracle"), "SIBLING-TEXT WORKER-THOUGHT ROUTER-REASON PRIMARY-TEXT LIBRARIAN-RESULT QA-RESULT"},
		{"security", markOf("security"), "SIBLING-TEXT WORKER-THOUGHT ROUTER-REASON PRIMARY-TEXT-2222 LIBRARIAN-RESULT QA-RESULT"},
		{"the primary", markPrimary, "SIBLING-TEXT WORKER-THOUGHT ROUTER-REASON"},
		{"the Brain", markRouter, "SIBLING-TEXT WORKER-THOUGHT PRIMARY-TEXT PUBLISHED-TEXT QA-RESULT"},
	} {
		bodies := w.asked(c.mark)
		if len(bodies) == 0 {
			t.Errorf("%s was asked nothing", c.who)
		}
		for _, body := range bodies {
			for _, s := range strings.Fields(c.secrets) {
				if strings.Contains(body, s) {
					t.Errorf("%s is sent %s", c.who, s)
				}
			}
		}
	}
	last := w.asked(markPrimary)[1]
	for _, want := range []string{"PUBLISHED-TEXT", "LIBRARIAN-RESULT", "QA-RESULT", "ORACLE-RESULT", "PRIMARY-TEXT-2222"} {
		if !strings.Contains(last, want) {
			t.Errorf("the primary is not sent %s", want)
		}
	}
	if !strings.Contains(last, "left out of the result: page:p1") {
		t.Error("the primary is not told what could not be published")
	}
}

// All agents of a run have the same tools and system, byte for byte, so that they
// share one prefix in the cache; those behind the first one read it from there
// (failures.md B33).
func TestTeamSharesOnePrefix(t *testing.T) {
	t.Parallel()
	play := planOf("", "librarian", "qa", "oracle") + turnOf(markOf("librarian"), "say one") + turnOf(markOf("qa"), "say two") + turnOf(markOf("oracle"), "say three") + turnOf(markPrimary, "say done")
	w := newTeamWorld(t, play, nil)
	w.report("--mode", "radical", "--permit", "edit", "look around")
	type head struct {
		Tools  json.RawMessage `json:"tools"`
		System json.RawMessage `json:"system"`
	}
	var first head
	for i, q := range w.sim.Requests() {
		var h head
		if err := json.Unmarshal(q.Body, &h); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = h
			continue
		}
		if !bytes.Equal(h.Tools, first.Tools) || !bytes.Equal(h.System, first.System) {
			t.Errorf("request %d has another head", i+1)
		}
		if q.Usage.CacheRead < 2_000 {
			t.Errorf("request %d reads %d tokens from the cache", i+1, q.Usage.CacheRead)
		}
	}
}

// Check D18: what `quire usage` adds up is what the simulator charged, exactly, by
// whatever it is added up, with a model that failed on the way.
func TestUsageIsTheSimulators(t *testing.T) {
	t.Parallel()
	play := planOf("", "librarian", "qa") +
		"turn\n when model contains opus\n fail 400 no such thing\n" +
		turnOf(markOf("librarian"), `call read {"path": "a.txt"}`) + turnOf(markOf("librarian"), "say one") + turnOf(markOf("qa"), "say two") +
		turnOf(markPrimary, `call read {"path": "a.txt"}`) + turnOf(markPrimary, "say done")
	w := newTeamWorld(t, play, map[string]string{"a.txt": "words\n"})
	brains := `{"brains": [{"id": "mixed", "extends": "brain", "roles": {"librarian": {"modelId": "anthropic/claude-opus-5", "fallbackModelIds": [""]}, "qa": {"modelId": "openai/gpt-5.4"}}}]}`
	w.atHome("brains.json", brains)
	r := w.report("--mode", "radical", "--brain", "mixed", "look around")
	if r.Summary != "done" {
		t.Fatalf("the run is %+v", r)
	}
	var books quire.Usage
	for _, q := range w.sim.Requests() {
		books = books.Add(q.Usage)
	}
	for _, by := range []string{"model", "role", "phase", "day", "session", "task"} {
		var u usageReport
		if err := json.Unmarshal([]byte(w.quire("usage", "--by", by, "--json").out), &u); err != nil {
			t.Fatal(err)
		}
		var in, read, write, out int64
		for _, b := range u.Buckets {
			in, read, write, out = in+b.Input, read+b.CacheRead, write+b.CacheWrite, out+b.Output
		}
		if in != books.Input || read != books.CacheRead || write != books.CacheWrite || out != books.Output {
			t.Errorf("by %s: %d, %d, %d, %d; the simulator has %+v", by, in, read, write, out, books)
		}
	}
	if m := r.Metrics.Tokens; m == nil || m.Input != books.Input || m.CacheRead != books.CacheRead || m.Output != books.Output || m.Calls != len(w.sim.Requests()) {
		t.Errorf("the report has %+v", r.Metrics.Tokens)
	}
	phases := w.quire("usage", "--by", "phase").out
	for _, want := range []string{"router", "support", "primary"} {
		if !strings.Contains(phases, want) {
			t.Errorf("%s is not among %s", want, phases)
		}
	}
}

// economy is a script of five workers who read four files each and report; alone, one
// agent reads all of them.
func economy() (play string, files map[string]string) {
	files = map[string]string{}
	roles := []string{"librarian", "qa", "security", "oracle", "designer"}
	play = planOf("", roles...)
	alone := "turn\n when not prompt contains Your role\n when not prompt contains " + markPrimary + "\n"
	for _, r := range roles {
		for n := range 4 {
			name := fmt.Sprintf("%s%d.txt", r, n)
			var text strings.Builder
			for i := range 120 {
				fmt.Fprintf(&text, "line %d of %s says something about the harbour\n", i, name)
			}
			files[name] = text.String()
			call := fmt.Sprintf(` call read {"path": %q}`, name) + "\n"
			play += "turn\n when prompt contains " + markOf(r) + "\n" + call + alone + call
		}
		report := " say {\"summary\": \"what " + r + " found is short\"}\n"
		play += "turn\n when prompt contains " + markOf(r) + "\n" + report
	}
	return play + turnOf(markPrimary, "say done") + alone + " say done\n", files
}

// A team of five workers sends at most 1.6 times the prompt tokens that one agent
// sends for the same work, and no worker's first prompt has more than 6,000 tokens
// besides the prefix that all share.
func TestTeamEconomy(t *testing.T) {
	t.Parallel()
	play, files := economy()
	sent := func(args ...string) (tokens int64, w *teamWorld) {
		w = newTeamWorld(t, play, files)
		if got := w.run(append(args, "look around")...); got.code != 0 || !strings.Contains(got.out, "done") {
			t.Fatalf("exit %d: %s %s", got.code, got.out, got.err)
		}
		for _, q := range w.sim.Requests() {
			tokens += q.Usage.Prompt()
		}
		return tokens, w
	}
	alone, solo := sent("--solo")
	if list := solo.recorded(quire.RecordEpoch); len(list) > 0 {
		t.Fatalf("the one agent did not only append: %d epochs", len(list))
	}
	b := `{"brains": [{"id": "wide", "extends": "brain", "routing": {"maxParallelAgents": 6}}]}`
	together, w := func() (int64, *teamWorld) {
		w := newTeamWorld(t, play, files)
		w.atHome("brains.json", b)
		if r := w.report("--mode", "radical", "--brain", "wide", "look around"); len(r.Routing.Workers) != 6 || r.Summary != "done" {
			t.Fatalf("the run is %+v", r)
		}
		var tokens int64
		for _, q := range w.sim.Requests() {
			tokens += q.Usage.Prompt()
		}
		return tokens, w
	}()
	t.Logf("the team sends %d tokens, one agent %d: %.2f times", together, alone, float64(together)/float64(alone))
	if float64(together) > 1.6*float64(alone) {
		t.Errorf("the team sends %d tokens, one agent %d", together, alone)
	}
	counter, err := countOnce()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []string{"librarian", "qa", "security", "oracle", "designer"} {
		var body struct {
			Messages json.RawMessage `json:"messages"`
		}
		if err := json.Unmarshal([]byte(w.asked(markOf(r))[0]), &body); err != nil {
			t.Fatal(err)
		}
		if n := counter.Count(string(body.Messages)); n > 6_000 {
			t.Errorf("the first prompt of %s has %d tokens besides the prefix", r, n)
		}
	}
}

// A run that is killed goes on: who had ended is not asked again, and who was at
// work goes on with the same bytes.
func TestTeamResumesAfterKill(t *testing.T) {
	t.Parallel()
	play := planOf(`"dependencies": [{"from": "t-librarian", "to": "t-oracle"}],`, "librarian", "oracle") +
		turnOf(markOf("librarian"), `call read {"path": "a.txt"}`) + turnOf(markOf("librarian"), "say LIBRARIAN-RESULT") +
		turnOf(markOf("oracle"), `call read {"path": "a.txt"}`) + turnOf(markOf("oracle"), "stall 0") +
		turnOf(markOf("oracle"), "say ORACLE-RESULT") + turnOf(markPrimary, "say done")
	w := newTeamWorld(t, play, map[string]string{"a.txt": "words\n"})
	w.killedAfter(func() bool { return len(w.asked(markOf("oracle"))) == 2 }, "--mode", "radical", "look around")
	before := w.asked(markOf("oracle"))[1]
	r := w.report("--mode", "radical", "--resume")
	if r.Summary != "done" || r.Task != "look around" || len(r.Routing.Workers) != 3 {
		t.Errorf("the resumed run is %+v", r)
	}
	if n := len(w.asked(markOf("librarian"))); n != 2 {
		t.Errorf("the worker that had ended was asked %d times, want 2", n)
	}
	got := w.asked(markOf("oracle"))
	if len(got) != 3 || got[2] != before {
		t.Errorf("the worker that was at work was asked %d times; the last time with other bytes: %t", len(got), got[len(got)-1] != before)
	}
	if n := len(w.asked(markRouter)); n != 1 {
		t.Errorf("the router was asked %d times", n)
	}
	if again := w.run("--resume"); again.code != int(exitUnusable) || !strings.Contains(again.err, "no run of s1 was interrupted") {
		t.Errorf("resuming once more: exit %d, %s", again.code, again.err)
	}
}

// A writer that was at work when its process was killed goes on in its copy, with the
// same bytes and with all that it had done there. What it changed arrives once.
func TestTeamWriterResumesAfterKill(t *testing.T) {
	t.Parallel()
	write := func(name string) string {
		return fmt.Sprintf(`call write {"path": %q, "content": "of the copy\n"}`, name)
	}
	mark := markOf("frontend")
	play := planOf("", "frontend!w") + turnOf(mark, write("first.txt")) + turnOf(mark, "stall 0") + turnOf(mark, write("second.txt")) + turnOf(mark, "say front done") +
		turnOf(markPrimary, `call read {"path": "first.txt"}`) + turnOf(markPrimary, "say done") + "turn always\n when prompt contains " + markOf("review") + "\n say {\"decision\": \"approved\"}\n"
	w := newTeamWorld(t, play, map[string]string{"a.txt": "words\n"})
	w.killedAfter(func() bool { return len(w.asked(mark)) == 2 }, "--permit", "edit", "look around")
	if _, err := os.Stat(filepath.Join(w.project, "first.txt")); err == nil {
		t.Error("what was written in the copy is in the project before it is merged")
	}
	before := w.asked(mark)[1]
	r := w.report("--permit", "edit", "--resume")
	if got := w.asked(mark); len(got) != 4 || got[2] != before {
		t.Errorf("the writer was asked %d times; the third time with other bytes: %t", len(got), len(got) > 2 && got[2] != before)
	}
	if w.read("first.txt") != "of the copy\n" || w.read("second.txt") != "of the copy\n" || r.Patch == nil || len(r.Patch.Changed) != 2 {
		t.Errorf("the resumed run is %+v", r)
	}
	w.noCopies()
	if got := w.quire("undo"); got.code != 0 {
		t.Errorf("undo: %+v", got)
	}
	if _, err := os.Stat(filepath.Join(w.project, "first.txt")); err == nil {
		t.Error("what was merged is not undone")
	}
}

// Who does not go on with a run has no copies of it left behind.
func TestTeamLeavesNoCopies(t *testing.T) {
	t.Parallel()
	mark := markOf("frontend")
	play := planOf("", "frontend!w") + turnOf(mark, "stall 0") + planOf("") + turnOf(markPrimary, "say done")
	w := newTeamWorld(t, play, nil)
	w.killedAfter(func() bool { return len(w.asked(mark)) == 1 }, "--permit", "edit", "look around")
	if r := w.report("--permit", "edit", "--continue", "look elsewhere"); r.Summary != "done" {
		t.Errorf("the run is %+v", r)
	}
	w.noCopies()
}

// killedAfter begins a run and kills it when something is so.
func (w *teamWorld) killedAfter(so func() bool, args ...string) {
	w.Helper()
	cmd, _, errs := w.command(append([]string{"run", "--model", "anthropic/claude-sonnet-5-5", "--base-url", "anthropic=" + w.url}, args...)...)
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	for begun := time.Now(); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			w.Fatalf("the run did not come so far: %s", errs)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		w.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
}

func (w *teamWorld) noCopies() {
	w.Helper()
	if left, err := filepath.Glob(filepath.Join(w.home, "worktrees", "*")); err != nil || len(left) > 0 {
		w.Errorf("copies are left: %v, %v", left, err)
	}
}

// Writers that work at the same time do so in copies, which the Brain merges; what
// both changed becomes a thing to do of the primary. What was merged can be undone.
func TestTeamWritersWorkInCopies(t *testing.T) {
	t.Parallel()
	edit := func(path, from, to string) string {
		return fmt.Sprintf(`call edit {"path": %q, "old_string": %q, "new_string": %q}`, path, from, to)
	}
	play := planOf("", "frontend!w", "dba!w") +
		turnOf(markOf("frontend"), edit("front.txt", "old", "new"), edit("both.txt", "middle", "middle of frontend")) + turnOf(markOf("frontend"), "say front done") +
		turnOf(markOf("dba"), edit("data.txt", "old", "new"), edit("both.txt", "middle", "middle of dba")) + turnOf(markOf("dba"), "say data done") +
		turnOf(markPrimary, `call read {"path": "both.txt"}`) + turnOf(markPrimary, "say settled") + "turn always\n when prompt contains " + markOf("review") + "\n say {\"decision\": \"approved\"}\n"
	w := newTeamWorld(t, play, map[string]string{"front.txt": "old\n", "data.txt": "old\n", "both.txt": "top\nmiddle\nend\n"})
	r := w.report("--mode", "radical", "--permit", "edit", "look around")
	if w.read("front.txt") != "new\n" || w.read("data.txt") != "new\n" {
		t.Errorf("front is %q, data is %q", w.read("front.txt"), w.read("data.txt"))
	}
	if both := w.read("both.txt"); both != "top\nmiddle of frontend\nend\n" && both != "top\nmiddle of dba\nend\n" {
		t.Errorf("what both changed is %q", both)
	}
	conflict := false
	for _, todo := range r.Todos {
		conflict = conflict || strings.HasPrefix(todo.ID, "conflict-") && strings.Contains(todo.Title, "both.txt")
	}
	if !conflict {
		t.Errorf("the things to do are %+v", r.Todos)
	}
	if text := w.asked(markPrimary)[0]; !strings.Contains(text, "Not merged") || !strings.Contains(text, "middle of dba") || !strings.Contains(text, "middle of frontend") {
		t.Error("the primary is not shown both versions")
	}
	w.noCopies()
	if got := w.quire("undo"); w.read("front.txt") != "old\n" {
		t.Errorf("undo leaves %q: %s%s", w.read("front.txt"), got.out, got.err)
	}
}

// Check D9, failures.md B10: without leave a team writes and runs nothing; with leave
// to edit it edits and runs no commands; with full leave it still does not push and
// delete what it pleases. Who supports cannot write at all.
func TestTeamPermissions(t *testing.T) {
	t.Parallel()
	write := `call write {"path": "new.txt", "content": "x\n"}`
	play := func() string {
		return planOf("", "librarian") + turnOf(markOf("librarian"), `call write {"path": "by-support.txt", "content": "x\n"}`) + turnOf(markOf("librarian"), "say looked") +
			turnOf(markPrimary, write, `call bash {"command": "sh make.sh"}`, `call bash {"command": "git push origin main"}`, `call bash {"command": "rm -rf /"}`) + turnOf(markPrimary, "say done")
	}
	for permit, want := range map[string][]bool{"read-only": {false, false}, "edit": {true, false}, "full": {true, true}} {
		t.Run(permit, func(t *testing.T) {
			w := newTeamWorld(t, play(), map[string]string{"make.sh": "echo x > shell.txt\n"})
			w.report("--permit", permit, "look around")
			for i, name := range []string{"new.txt", "shell.txt"} {
				_, err := os.Stat(filepath.Join(w.project, name))
				if (err == nil) != want[i] {
					t.Errorf("%s is there: %t, want %t", name, err == nil, want[i])
				}
			}
			if _, err := os.Stat(filepath.Join(w.project, "by-support.txt")); err == nil {
				t.Error("a worker that supports wrote a file")
			}
			last := w.asked(markPrimary)[1]
			if strings.Count(last, "Not permitted") < 2 {
				t.Errorf("pushing and deleting were let through: %s", last)
			}
		})
	}
}

// Check D14: a hook that blocks the user's words stops the run with its reason,
// before anybody is asked; one of a subagent blocks that worker alone.
func TestTeamHooks(t *testing.T) {
	t.Parallel()
	play := planOf("", "librarian", "qa") + turnOf(markOf("librarian"), "say one") + turnOf(markOf("qa"), "say QA-RESULT") + turnOf(markPrimary, "say done")
	w := newTeamWorld(t, play, nil)
	hooks := func(text string) {
		if err := os.MkdirAll(w.home, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(w.home, "hooks.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hooks(`{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "echo the office is closed >&2; exit 2", "trusted": true}]}]}}`)
	if got := w.run("look around"); got.code != int(exitDenied) || !strings.Contains(got.err, "the office is closed") || len(w.sim.Requests()) != 0 {
		t.Errorf("exit %d, %d requests: %s", got.code, len(w.sim.Requests()), got.err)
	}
	hooks(`{"hooks": {"SubagentStart": [{"matcher": "qa", "hooks": [{"type": "command", "command": "echo not today >&2; exit 2", "trusted": true}]}]}}`)
	r := w.report("--mode", "radical", "look around")
	if r.Summary != "done" || len(w.asked(markOf("qa"))) != 0 || len(w.asked(markOf("librarian"))) != 1 {
		t.Errorf("the report is %+v", r)
	}
	if text := w.asked(markPrimary)[0]; !strings.Contains(text, "not today") {
		t.Error("the primary is not told why")
	}
}

// failures.md A42, A44: a session of many runs keeps one stream of the primary, and
// what earlier workers reported stays in it as words, not as agents to be forgotten.
func TestTeamSessionGoesOn(t *testing.T) {
	t.Parallel()
	play := planOf("", "librarian") + turnOf(markOf("librarian"), "say LIBRARIAN-RESULT") + turnOf(markPrimary, "say first done") + planOf("") + turnOf(markPrimary, "say second done")
	w := newTeamWorld(t, play, nil)
	w.report("look around")
	if r := w.report("--continue", "go on"); r.Session != "s1" || r.Summary != "second done" {
		t.Errorf("the second report is %+v", r)
	}
	got := w.asked(markPrimary)
	for _, want := range []string{"look around", "LIBRARIAN-RESULT", "first done", "go on"} {
		if !strings.Contains(got[1], want) {
			t.Errorf("the second run does not see %s", want)
		}
	}
	router := w.asked(markRouter)
	if !strings.Contains(router[1], "How the last run ended: answered") {
		t.Error("the router is not told how the last run ended")
	}
}

// Check D15, failures.md B1, B2, B3, B4 and B5: a worker whose work does not fit into
// the window goes on all the same (B4). An epoch of its stream makes room where calls
// and results part (B1), by the window of its model (B2), and without a call of its own
// (B5). The journal has it with the tokens before and behind it, and hooks are told of
// it (B3).
func TestTeamOutgrowsTheWindow(t *testing.T) {
	t.Parallel()
	files, play := map[string]string{}, planOf("", "librarian")
	for n := range 14 {
		name := fmt.Sprintf("f%d.txt", n)
		files[name] = strings.Repeat(fmt.Sprintf("line of %s about the harbour\n", name), 200)
		play += turnOf(markOf("librarian"), fmt.Sprintf(`call read {"path": %q}`, name))
	}
	play += turnOf(markOf("librarian"), "say LIBRARIAN-RESULT") + turnOf(markPrimary, "say done")
	w := newTeamWorld(t, play, files)
	prices := `{"models": [{"id": "claude-sonnet-5-5", "provider": "anthropic", "rules": "anthropic-512", "window": 20000, "prices": [{"source": "a test", "grade": "secondary", "input": 3, "read": 0.3, "write": 3.75, "output": 15}]}]}`
	path := filepath.Join(filepath.Dir(w.home), "prices.json")
	if err := os.WriteFile(path, []byte(prices), 0o600); err != nil {
		t.Fatal(err)
	}
	hooks := `{"hooks": {"PreCompact": [{"hooks": [{"type": "command", "command": "echo before >> ../hooked.txt"}]}], "PostCompact": [{"hooks": [{"type": "command", "command": "echo behind >> ../hooked.txt"}]}]}}`
	w.atHome("hooks.json", hooks)
	if r := w.report("--prices", path, "look around"); r.Summary != "done" || r.Routing.Workers[0].Status != "completed" {
		t.Fatalf("the run is %+v", r)
	}
	if n := len(w.sim.Requests()); n != 17 {
		t.Errorf("%d requests, want one for each turn of the script", n)
	}
	for _, q := range w.sim.Requests() {
		if q.Prompt > 20_000 || q.Refused != "" {
			t.Errorf("request %d has %d tokens: %s", q.Number, q.Prompt, q.Refused)
		}
	}
	forced := 0
	for _, r := range w.recorded(quire.RecordEpoch) {
		e, err := journal.Decode[quire.EpochRecord](r)
		if err != nil || e.After >= e.Before {
			t.Errorf("the epoch is %+v, %v", e, err)
		}
		if e.Kind == quire.EpochForced {
			forced++
		}
	}
	if forced == 0 {
		t.Error("no forced epoch is recorded")
	}
	if hooked := w.read("../hooked.txt"); strings.Count(hooked, "before") < forced || strings.Count(hooked, "before") != strings.Count(hooked, "behind") {
		t.Errorf("of %d forced epochs the hooks were told %q", forced, hooked)
	}
}

// failures.md B18, B28: a reviewer reads what stands in the files now, whatever
// anybody had read before.
func TestReviewReadsWhatIsThere(t *testing.T) {
	t.Parallel()
	play := planOf(`"review": true,`) +
		turnOf(markPrimary, `call read {"path": "a.txt"}`) +
		turnOf(markPrimary, `call edit {"path": "a.txt", "old_string": "old words", "new_string": "new words"}`) + turnOf(markPrimary, "say changed") +
		turnOf(markOf("review"), `call read {"path": "a.txt"}`) +
		turnOf(markOf("review"), `say {"decision": "approved", "rationale": "read it", "coverage": [{"file": "a.txt", "depth": "inspected"}]}`)
	w := newTeamWorld(t, play, map[string]string{"a.txt": "old words\n"})
	r := w.report("--permit", "edit", "change the words of a.txt")
	if r.Status != brain.StatusApproved || r.Patch == nil || len(r.Patch.Changed) != 1 {
		t.Fatalf("the run is %+v", r)
	}
	if got := w.asked(markOf("review"))[1]; strings.Count(got, "new words") != 2 || strings.Count(got, "old words") != 1 {
		t.Errorf("besides the diff the reviewer has read %d new and %d old words", strings.Count(got, "new words")-1, strings.Count(got, "old words")-1)
	}
}

// Check D16: an interrupt while a worker works ends the run as aborted, without
// another model, with the tokens used so far on record; the run can be resumed.
func TestTeamInterrupt(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no interrupts to send")
	}
	play := planOf("", "librarian") + turnOf(markOf("librarian"), "stall 0") + turnOf(markOf("librarian"), "say LIBRARIAN-RESULT") + turnOf(markPrimary, "say done")
	w := newTeamWorld(t, play, nil)
	cmd, out, errs := w.command("run", "--model", "anthropic/claude-sonnet-5-5", "--base-url", "anthropic="+w.url, "look around")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for begun := time.Now(); len(w.asked(markOf("librarian"))) < 1; time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatalf("the worker never came: %s", errs)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // its code is looked at
	if code := cmd.ProcessState.ExitCode(); code != int(exitInterrupted) || !strings.Contains(errs.String(), "Status: aborted") || !strings.Contains(errs.String(), "--resume") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if n := len(w.asked(markPrimary)); n != 0 {
		t.Errorf("the primary was asked %d times", n)
	}
	if u := w.quire("usage", "--by", "phase"); !strings.Contains(u.out, "router") {
		t.Errorf("the usage is %s", u.out)
	}
	if r := w.report("--resume"); r.Summary != "done" || len(w.asked(markOf("librarian"))) != 2 {
		t.Errorf("the resumed run is %+v", r)
	}
}

// A specialist that the primary asks works in a stream of its own; the primary goes
// on in its own, and the calls of both are booked to whom they belong.
func TestTeamDispatch(t *testing.T) {
	t.Parallel()
	play := planOf("") + turnOf(markPrimary, `call dispatch_specialist {"role": "security", "goal": "SAFE-QUESTION"}`) +
		turnOf(markOf("security"), `call dispatch_specialist {"role": "qa", "goal": "x"}`) + turnOf(markOf("security"), "say SAFE-ANSWER") +
		turnOf(markPrimary, `call read {"path": "a.txt"}`) + turnOf(markPrimary, "say done")
	w := newTeamWorld(t, play, map[string]string{"a.txt": "words\n"})
	r := w.report("look around")
	if r.Summary != "done" || len(r.Routing.Workers) != 2 {
		t.Fatalf("the run is %+v", r)
	}
	if got := w.asked(markPrimary)[1]; !strings.Contains(got, "Specialist 1 of 2.") || !strings.Contains(got, "SAFE-ANSWER") {
		t.Error("the primary does not get the answer")
	}
	if got := w.asked(markOf("security"))[1]; !strings.Contains(got, "Only the primary can ask") {
		t.Error("a specialist asked another one")
	}
	var u usageReport
	if err := json.Unmarshal([]byte(w.quire("usage", "--by", "role", "--json").out), &u); err != nil {
		t.Fatal(err)
	}
	calls := map[string]int{}
	for _, b := range u.Buckets {
		calls[b.ID] = b.Calls
	}
	if calls["backend"] != 3 || calls["security"] != 2 || calls["routeBrain"] != 1 {
		t.Errorf("the calls are booked to %v", calls)
	}
}

func TestThinkingByAPI(t *testing.T) {
	for _, c := range []struct {
		api   model.API
		level string
		want  quire.Thinking
	}{
		{model.Messages, "", quire.Thinking{}}, {model.Responses, "", quire.Thinking{}},
		{model.Messages, "off", quire.Thinking{Mode: "disabled"}}, {model.Chat, "off", quire.Thinking{Effort: "none"}},
		{model.Messages, "minimal", quire.Thinking{Mode: "adaptive", Effort: "low"}}, {model.Messages, "high", quire.Thinking{Mode: "adaptive", Effort: "high"}},
		{model.Gemini, "high", quire.Thinking{Effort: "high"}},
	} {
		if got := thinkingOf(c.api, c.level); got.Mode != c.want.Mode || got.Effort != c.want.Effort {
			t.Errorf("%s %q: %+v, want %+v", c.api, c.level, got, c.want)
		}
	}
}

// failures.md B2: how a stream is kept is a brain's own, within what the model's
// window allows.
func TestBrainKeepsStreams(t *testing.T) {
	s := &staff{}
	s.preset.Context = role.Context{Tokens: 30_000, Compaction: "aggressive"}
	if got := s.termsOf(run.Terms{}).Settings; got.Budget != 30_000 || !got.Paid || got.Manual {
		t.Errorf("aggressive: %+v", got)
	}
	s.preset.Context = role.Context{Compaction: "manual"}
	if got := s.termsOf(run.Terms{Settings: schedule.Settings{Budget: 7}}).Settings; got.Budget != 7 || got.Paid || !got.Manual {
		t.Errorf("manual: %+v", got)
	}
}

func TestSeesImages(t *testing.T) {
	for id, want := range map[string]bool{"claude-sonnet-5-5": true, "gpt-5.4": true, "deepseek/deepseek-chat": false, "openai/gpt-oss-120b": false, "unheard-of": true} {
		if sees(id) != want {
			t.Errorf("%s sees: %t", id, !want)
		}
	}
}

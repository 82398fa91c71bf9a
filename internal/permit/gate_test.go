package permit

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

func run(command string) Request { return Request{Tool: "bash", Command: command} }

// failures.md B13: every default can be relaxed by a later layer, except by one
// that is not the user's own.
func TestLayers(t *testing.T) {
	user := Layer{Name: "user", Rules: []Rule{{Command: "git push", Verdict: Allow}, {Write: ".github/**", Verdict: Allow}, {Command: "npm publish", Verdict: Deny}}}
	foreign := Layer{Name: "project", Tighten: true, Rules: []Rule{{Command: "npm publish", Verdict: Allow}, {Command: "cargo publish", Verdict: Allow}, {Command: "go test", Verdict: Deny}, {Command: "git push -f", Verdict: Deny}}}
	p := &Policy{Mode: Full, Project: project(t), Layers: []Layer{Defaults(), user, foreign}}
	cases := []struct {
		request Request
		want    Verdict
	}{
		{run("git push"), Allow},
		{run("git push -f"), Deny},
		{run("git push --force"), Deny},
		{run("npm publish"), Deny},
		{run("cargo publish"), Ask},
		{run("go test ./..."), Deny},
		{Request{Tool: "write", Writes: []string{".github/workflows/a.yml"}}, Allow},
		{run("echo x > .github/workflows/a.yml"), Allow},
		{run("rm -rf /"), Deny},
	}
	for _, c := range cases {
		if d := p.Judge(c.request); d.Verdict != c.want {
			t.Errorf("%+v is %s, want %s: %s", c.request, d.Verdict, c.want, d.Reason)
		}
	}
}

// failures.md B14: tools stay in the project by what a path resolves to.
func TestPaths(t *testing.T) {
	cases := []struct {
		mode    Mode
		request Request
		want    Verdict
	}{
		{ReadOnly, Request{Reads: []string{"a"}}, Allow},
		{ReadOnly, Request{Reads: []string{"../a"}}, Deny},
		{Full, Request{Reads: []string{"/etc/passwd"}}, Deny},
		{Full, Request{Reads: []string{"out/a"}}, Deny},
		{Full, Request{Reads: []string{"in/a"}}, Allow},
		{Full, Request{Reads: []string{"private/a"}}, Ask},
		{ReadOnly, Request{Writes: []string{"a"}}, Deny},
		{Edit, Request{Writes: []string{"a"}}, Allow},
		{Edit, Request{Writes: []string{"a", "db/x"}}, Ask},
		{Edit, Request{Writes: []string{"out/a"}}, Ask},
		{Edit, Request{Writes: []string{".git/config"}}, Ask},
		{Edit, Request{Writes: []string{".GIT/config"}}, Ask},
		{ReadOnly, Request{Tool: "mcp__x__y", Unknown: true}, Deny},
		{Full, Request{Tool: "mcp__x__y", Unknown: true}, Ask},
		{ReadOnly, Request{Tool: "mcp__x__y", Foreign: true}, Deny},
		{Edit, Request{Tool: "mcp__x__y", Foreign: true}, Ask},
		{Full, Request{Tool: "mcp__x__y", Foreign: true}, Allow},
		{ReadOnly, Request{Tool: "todo"}, Allow},
	}
	for _, c := range cases {
		if d := policy(t, c.mode).Judge(c.request); d.Verdict != c.want {
			t.Errorf("%s: %+v is %s, want %s: %s", c.mode, c.request, d.Verdict, c.want, d.Reason)
		}
	}
}

// failures.md B11: lines for a shell that runs are judged as commands.
func TestInput(t *testing.T) {
	p := policy(t, Full)
	cases := []struct {
		command, input string
		want           Verdict
	}{
		{"bash", "ls\npwd\n", Allow},
		{"bash", "ls\nrm -rf /\n", Deny},
		{"bash -i", "git push", Ask},
		{"env FOO=1 sh", "make deploy", Deny},
		{"bash -s", "END\nrm -rf /", Deny},
		{"bash -s", "END_\nEND\nrm -rf /", Deny},
		{"cat", "rm -rf /", Allow},
		{"python3", "print(1)", Allow},
		{"sudo bash", "ls", Ask},
		{"ls", "'; rm -rf /", Allow},
	}
	for _, c := range cases {
		if d := p.Judge(Request{Command: c.command, Input: c.input}); d.Verdict != c.want {
			t.Errorf("%q with %q is %s, want %s: %s", c.command, c.input, d.Verdict, c.want, d.Reason)
		}
	}
}

// scripted answers in order and keeps what it was asked.
type scriptedAsker struct {
	answers []Answer
	asked   []Question
}

func (s *scriptedAsker) Ask(_ context.Context, q Question) (Answer, error) {
	s.asked = append(s.asked, q)
	if len(s.answers) == 0 {
		return Refuse, errors.New("no answer left")
	}
	a := s.answers[0]
	s.answers = s.answers[1:]
	return a, nil
}

func TestGateRemembers(t *testing.T) {
	asker := &scriptedAsker{answers: []Answer{Once, Session, SessionLike, Refuse}}
	g := &Gate{Policy: policy(t, Edit), Asker: asker}
	steps := []struct {
		command string
		asked   int
		want    Verdict
	}{
		{"./a.sh", 1, Allow},
		{"./a.sh", 2, Allow},
		{"./a.sh", 2, Allow},
		{"go test ./a", 3, Allow},
		{"go test ./b", 3, Allow},
		{"./a.sh && go test -run X ./c", 3, Allow},
		{"./a.sh; ./b.sh", 4, Deny},
	}
	for _, s := range steps {
		d, err := g.Check(t.Context(), run(s.command), "")
		if err != nil || d.Verdict != s.want || len(asker.asked) != s.asked {
			t.Fatalf("%q: %s, %v after %d questions, want %s after %d", s.command, d.Verdict, err, len(asker.asked), s.want, s.asked)
		}
	}
	if about := asker.asked[3].About; len(about) != 1 || about[0].Text != "./b.sh" {
		t.Errorf("it asked about %v, want only what was not allowed before", about)
	}
}

func TestGateWithoutAsker(t *testing.T) {
	g := &Gate{Policy: policy(t, Edit)}
	d, err := g.Check(t.Context(), run("go test ./..."), "")
	if err != nil || d.Verdict != Deny || !strings.Contains(d.Reason, "nobody to ask") {
		t.Errorf("got %+v, %v, want a denial that says why", d, err)
	}
}

func TestGatePassesErrors(t *testing.T) {
	g := &Gate{Policy: policy(t, Edit), Asker: &scriptedAsker{}}
	if _, err := g.Check(t.Context(), run("go test ./..."), ""); err == nil {
		t.Error("want the error of the asker")
	}
}

func TestNetworkIsAllowedOnlyWhenAsked(t *testing.T) {
	p := policy(t, Full)
	if d := p.Judge(run("go test ./...")); d.Network {
		t.Error("a test run got the network")
	}
	g := &Gate{Policy: p, Asker: &scriptedAsker{answers: []Answer{Once}}}
	if d, err := g.Check(t.Context(), run("go get example.com/x"), ""); err != nil || d.Verdict != Allow || !d.Network {
		t.Errorf("got %+v, %v, want the network", d, err)
	}
	p.Network = true
	if d := p.Judge(run("go get example.com/x")); d.Verdict != Allow || !d.Network {
		t.Errorf("got %+v, want the network without a question", d)
	}
}

func TestModesByName(t *testing.T) {
	for _, m := range []Mode{ReadOnly, Edit, Full} {
		if got, err := ParseMode(m.String()); err != nil || got != m {
			t.Errorf("%s reads as %s, %v", m, got, err)
		}
	}
	if _, err := ParseMode("all"); err == nil {
		t.Error("want an error for a mode that does not exist")
	}
	var r Rule
	if err := json.Unmarshal([]byte(`{"command":"git push","verdict":"deny"}`), &r); err != nil || r.Verdict != Deny || r.String() != "command git push" {
		t.Errorf("got %+v, %v", r, err)
	}
	if err := json.Unmarshal([]byte(`{"verdict":"maybe"}`), &r); err == nil {
		t.Error("want an error for a verdict that does not exist")
	}
	for _, v := range []Verdict{Allow, Ask, Deny} {
		if got, err := ParseVerdict(v.String()); err != nil || got != v {
			t.Errorf("%s reads as %s, %v", v, got, err)
		}
	}
}

// FuzzJudge holds that no text breaks the judge, that a wider mode is never
// stricter, and that no wrapping makes a command more welcome than it is.
func FuzzJudge(f *testing.F) {
	for _, seed := range []string{"ls", "rm -rf /", "bash -c 'git push'", "cat <<EOF\n$(rm x)\nEOF", "find . -exec sh -c 'rm {}' \\;", "x=1; y=$x; $y", "{a,b{c,d}}", "cd ..; touch a", "f() { $1; }; f ls", "sed 's/a/b/;w f' x", "env -S 'a b'", "xargs -I{} rm {}", "a=(1 2); echo ${a[@]:1}", "case x in y) ;; esac", "[[ a =~ b ]]", "time -o x ls", "$'\\x41'"} {
		f.Add(seed)
	}
	modes := []*Policy{policy(f, ReadOnly), policy(f, Edit), policy(f, Full)}
	f.Fuzz(func(t *testing.T, command string) {
		var verdicts []Verdict
		for _, p := range modes {
			verdicts = append(verdicts, p.Judge(run(command)).Verdict)
		}
		if command != "" && (verdicts[0] < verdicts[1] || verdicts[1] < verdicts[2]) {
			t.Errorf("%q: %v, a wider mode is stricter", command, verdicts)
		}
		quoted, err := syntax.Quote(command, syntax.LangBash)
		if err != nil || len(command) > 1000 || command == "" {
			return
		}
		for _, wrapped := range []string{"bash -c " + quoted, "env sh -c " + quoted, "eval " + quoted, "ls | bash -c " + quoted} {
			if got := modes[2].Judge(run(wrapped)).Verdict; got < verdicts[2] {
				t.Errorf("%q is %s, but %q is %s", command, verdicts[2], wrapped, got)
			}
		}
	})
}

func BenchmarkJudge(b *testing.B) {
	p := policy(b, Full)
	for b.Loop() {
		p.Judge(run("cd sub && go test ./... 2>&1 | tee /scratch/out | tail -20; git status --short && rm -rf build/*.o"))
	}
}

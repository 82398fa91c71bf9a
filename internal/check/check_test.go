package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestKinds(t *testing.T) {
	for _, c := range []struct {
		paths string
		kind  Kind
		tier  Tier
	}{
		{"README.md docs/a.txt LICENSE", KindDocs, Low},
		{"a_test.go src/x.spec.ts tests/y.py", KindTests, Low},
		{"README.md a_test.go", KindBackend, Medium},
		{"web/app.tsx api/h.go", KindFrontend, Medium},
		{"api/h.go README.md", KindBackend, Medium},
		{"src/server/x.ts", KindBackend, Medium},
		{"data.bin", KindUnknown, Medium},
		{"go.mod a.go", KindPackage, Medium},
		{"package.json src/auth/login.ts", KindPackage, High},
		{".github/workflows/ci.yml", KindCI, High},
		{"db/migrations/1.sql", KindDB, High},
		{"src/auth/token.go", KindAuth, High},
		{"src/author.go", KindBackend, Medium},
		{"src/auth/token.go .github/workflows/ci.yml", KindCI, Critical},
		{"src/auth_test.go", KindAuth, High},
		{"", KindUnknown, Medium},
	} {
		paths := strings.Fields(c.paths)
		if got := KindOf(paths); got != c.kind {
			t.Errorf("%s: %s, want %s", c.paths, got, c.kind)
		}
		if got := TierOf(paths, false); got != c.tier {
			t.Errorf("%s: %s, want %s", c.paths, got, c.tier)
		}
		if got := TierOf(paths, true); got != High && got != Critical {
			t.Errorf("%s, with a review demanded: %s", c.paths, got)
		}
	}
	if !NeedsReview([]string{"go.mod"}) || !NeedsReview([]string{"db/x.sql"}) || NeedsReview([]string{"a.go"}) {
		t.Error("which patches have to be reviewed")
	}
}

func project(files ...string) fs.FS {
	p := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		p[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return p
}

func names(list []Command) string {
	var out []string
	for _, c := range list {
		out = append(out, c.Name+"="+c.Line())
	}
	return strings.Join(out, "; ")
}

// failures.md B15: checks are found for every system.
func TestFind(t *testing.T) {
	for _, c := range []struct {
		files []string
		want  string
	}{
		{nil, ""},
		{[]string{"go.mod", "module x"}, "go build=go build ./...; go vet=go vet ./...; go test=go test ./..."},
		{[]string{"Cargo.toml", "[lints.clippy]"}, "cargo check=cargo check --all-targets; cargo clippy=cargo clippy --all-targets; cargo test=cargo test"},
		{[]string{"package.json", `{"scripts":{"test":"x","lint":"y","start":"z"}}`, "yarn.lock", ""}, "lint=yarn run lint; test=yarn run test"},
		{[]string{"package.json", `{"scripts":{"test":"echo \"Error: no test specified\""}}`}, ""},
		{[]string{"package.json", "{"}, ""},
		{[]string{"pyproject.toml", "[tool.pytest.ini_options]\n[tool.ruff]\n[tool.mypy]"}, "mypy=python3 -m mypy .; ruff=python3 -m ruff check .; pytest=python3 -m pytest -q"},
		{[]string{"setup.py", "", "tests/__init__.py", "", "tests/test_x.py", "import unittest"}, "unittest=python3 -m unittest discover"},
		{[]string{"setup.py", "", "tests/test_x.py", "import unittest"}, "unittest=python3 -m unittest discover -s tests"},
		{[]string{"pyproject.toml", "", "test_x.py", "from unittest import TestCase"}, "unittest=python3 -m unittest discover"},
		{[]string{"requirements.txt", "", "tests/test_a.py", "# nothing", "tests/test_b.py", "def test_b():\n    assert True"}, "pytest=python3 -m pytest -q"},
		{[]string{"requirements.txt", "", "tests/x.py", ""}, ""},
		{[]string{"pom.xml", "", "mvnw", ""}, "mvn compile=./mvnw -q -B test-compile; mvn test=./mvnw -q -B test"},
		{[]string{"build.gradle.kts", ""}, "gradle classes=gradle -q testClasses; gradle test=gradle -q test"},
		{[]string{"Makefile", "CHECK := x\ncheck: a\n\tgo vet\ntest::\nlint = 3\n"}, "make check=make check; make test=make test"},
		{[]string{"Makefile", "test:\n", "go.mod", ""}, "go build=go build ./...; go vet=go vet ./...; go test=go test ./..."},
		{[]string{"web/package.json", `{"scripts":{"test":"x"}}`, "bun.lock", "", "api/go.mod", "", "vendor/go.mod", "", ".x/go.mod", ""},
			"api: go build=go build ./...; api: go vet=go vet ./...; api: go test=go test ./...; web: test=bun run test"},
	} {
		if got := names(Find(project(c.files...), Config{})); got != c.want {
			t.Errorf("%v:\ngot  %s\nwant %s", c.files, got, c.want)
		}
	}
	own := Config{Custom: []Custom{{Name: "go test", Command: "make 'all of it' && x", Dir: "a"}}}
	got := Find(project("go.mod", ""), own)
	if len(got) != 3 || got[0].Line() != "make 'all of it' && x" || got[0].Dir != "a" || got[0].Purpose != ForCheck {
		t.Errorf("%+v", got)
	}
	if line := (&Command{Argv: []string{"x", "a b", "it's", ""}}).Line(); line != `x 'a b' 'it'\''s' ''` {
		t.Errorf("%s", line)
	}
}

func TestSelect(t *testing.T) {
	all := append(Find(project("go.mod", "", "package.json", `{"scripts":{"check":"a","lint":"b","test":"c"}}`), Config{}), Command{Name: "own", System: Own, Purpose: ForCheck})
	off := false
	for _, c := range []struct {
		config Config
		paths  string
		want   string
	}{
		{Config{}, "", "nothing was changed"},
		{Config{}, "README.md", "only documents were changed"},
		{Config{}, "a.go", "go build, go test, own"},
		{Config{}, "a_test.go", "go test, own"},
		{Config{}, "a.tsx", "lint, test, own"},
		{Config{}, "a.go b.tsx", "go build, go vet, go test, lint, test, own"},
		{Config{}, "config.xyz", "go build, go vet, go test, check, lint, test, own"},
		{Config{}, "go.mod", "go build, go vet, go test, own"},
		{Config{Strategy: All}, "a.go", "go build, go vet, go test, check, lint, test, own"},
		{Config{Scripts: []string{"test", "none"}}, "a.go", "test, none"},
		{Config{Enabled: &off}, "a.go", "checks are switched off in .quire/checks.json"},
		{Config{Policies: map[Kind]Policy{KindBackend: {Enabled: &off, Reason: "too slow"}}}, "a.go", "too slow"},
		{Config{Policies: map[Kind]Policy{KindBackend: {Scripts: []string{"go vet"}}}}, "a.go", "go vet"},
	} {
		list, why := c.config.Select(all, strings.Fields(c.paths))
		got := why
		for i, one := range list {
			if i > 0 {
				got += ", "
			}
			got += one.Name
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.paths, got, c.want)
		}
	}
	if _, why := (&Config{}).Select(nil, []string{"a.go"}); why != "the project has no checks that are known" {
		t.Errorf("%q", why)
	}
}

func TestConfig(t *testing.T) {
	c, err := ReadConfig(project(ConfigFile, `{"strategy":"all","timeoutMs":1500,"maxOutputBytes":10,"checks":[{"name":"a","command":"b"}],"policies":{"db-risk":{"review":"required"},"backend":{"review":"required","reason":"so"}}}`))
	if err != nil || c.time() != 1500*time.Millisecond || c.output() != 10 {
		t.Errorf("%+v, %v", c, err)
	}
	if why, ok := c.Reviewed(KindBackend); !ok || why != "so" {
		t.Errorf("%q, %v", why, ok)
	}
	if why, ok := c.Reviewed(KindDB); !ok || !strings.Contains(why, "db-risk") {
		t.Errorf("%q, %v", why, ok)
	}
	if _, ok := c.Reviewed(KindDocs); ok {
		t.Error("a review that nobody demands")
	}
	if c, err := ReadConfig(project()); err != nil || c.time() != usualTime || c.output() != usualOutput || !on(c.Enabled) {
		t.Errorf("%+v, %v", c, err)
	}
	for text, want := range map[string]string{
		"{": "unexpected EOF", `{"strategi":1}`: "unknown field", `{"strategy":"fast"}`: `strategy "fast"`, `{"timeoutMs":-1}`: "below zero", `{"checks":[{"name":"a"}]}`: "a name and a command",
		`{"checks":[{"name":"a","command":"x"},{"name":"a","command":"y"}]}`: "two checks", `{"checks":[{"name":"a","command":"x","dir":"../y"}]}`: "no folder",
		`{"checks":[{"name":"a","command":"x","purpose":"fun"}]}`: `purpose "fun"`, `{"policies":{"risky":{}}}`: `"risky" is no kind`, `{"policies":{"backend":{"review":"maybe"}}}`: `review "maybe"`,
	} {
		if _, err := ReadConfig(project(ConfigFile, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// plays answers checks by their names: those that fail, and one that is refused.
type plays struct {
	fail   []string
	refuse bool
	ran    []string
}

func (p *plays) Run(_ context.Context, c Command, _ Bounds) (Result, error) {
	if p.refuse {
		return Result{}, ErrRefused
	}
	p.ran = append(p.ran, c.Name)
	r := Result{Name: c.Name, Status: Passed}
	if slices.Contains(p.fail, c.Name) {
		r.Status = Failed
	}
	return r, nil
}

// failures.md B24: those that failed come first, and the rest waits for them.
func TestFailingOnesComeFirst(t *testing.T) {
	all, paths := Find(project("go.mod", ""), Config{Strategy: All}), []string{"a.go"}
	run := func(r Runner, last Summary) Summary {
		t.Helper()
		s, err := Run(t.Context(), r, all, paths, Config{Strategy: All}, last)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	r := &plays{fail: []string{"go test"}}
	first := run(r, Summary{})
	if first.Status != Failed || !slices.Equal(first.Failing(), []string{"go test"}) || len(first.Results) != 3 || first.NotRun != nil {
		t.Errorf("%+v", first)
	}
	r.ran = nil
	second := run(r, first)
	if second.Status != Failed || !slices.Equal(r.ran, []string{"go test"}) || !slices.Equal(second.NotRun, []string{"go build", "go vet"}) {
		t.Errorf("ran %q: %+v", r.ran, second)
	}
	third := run(&plays{fail: []string{"go build"}}, second)
	if third.Status != Failed || !slices.Equal(third.Failing(), []string{"go build"}) || third.Results[0].Name != "go test" || third.NotRun != nil {
		t.Errorf("%+v", third)
	}
	if last := run(&plays{}, third); last.Status != Passed || len(last.Results) != 3 || last.Results[0].Name != "go build" {
		t.Errorf("%+v", last)
	}
	// failures.md B26: that checks may not run is said, and is not taken for success.
	if refused := run(&plays{refuse: true}, Summary{}); refused.Status != Skipped || refused.Reason != ErrRefused.Error() || len(refused.Results) != 0 {
		t.Errorf("%+v", refused)
	}
	if none, err := Run(t.Context(), r, all, nil, Config{}, Summary{}); err != nil || none.Status != Skipped || none.Reason == "" || none.Review {
		t.Errorf("%+v, %v", none, err)
	}
	if sql, err := Run(t.Context(), r, nil, []string{"db/a.sql"}, Config{}, Summary{}); err != nil || !sql.Review {
		t.Errorf("%+v, %v", sql, err)
	}
}

func TestExec(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh here")
	}
	e := &Exec{Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH"), "WORD=hi"}, Now: time.Now}
	run := func(argv ...string) Result {
		t.Helper()
		r, err := e.Run(t.Context(), Command{Name: "c", Dir: ".", Argv: argv}, Bounds{time.Minute, 20})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := run("sh", "-c", "echo $WORD; echo no >&2"); r.Status != Passed || r.Stdout != "hi\n" || r.Stderr != "no\n" || r.Exit != 0 || r.Command != "sh" || len(r.Args) != 2 {
		t.Errorf("%+v", r)
	}
	if r := run("sh", "-c", "echo 0123456789012345678901234567890; exit 3"); r.Status != Failed || r.Exit != 3 || r.Stdout != "[12 bytes before this left out]\n2345678901234567890\n" {
		t.Errorf("%+v", r)
	}
	if r := run("no-such-program-here"); r.Status != Failed || r.Exit != -1 || !strings.Contains(r.Stderr, "no-such-program-here") {
		t.Errorf("%+v", r)
	}
	if r := run(); r.Status != Failed || !strings.Contains(r.Stderr, "no check of this name") {
		t.Errorf("%+v", r)
	}
	if r, err := e.Run(t.Context(), Command{Argv: []string{"sh"}, Dir: "none"}, Bounds{time.Minute, 20}); err != nil || !strings.Contains(r.Stderr, "no folder of the project") {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := e.Run(t.Context(), Command{Argv: []string{"sh", "-c", "sleep 600"}, Dir: "."}, Bounds{time.Millisecond, 20}); err != nil || !r.TimedOut || r.Status != Failed {
		t.Errorf("%+v, %v", r, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Run(ctx, Command{Argv: []string{"sh"}, Dir: "."}, Bounds{time.Minute, 20}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	wrapped := *e
	wrapped.Wrap = func(cmd *exec.Cmd) error { cmd.Env = append(cmd.Env, "WORD=wrapped"); return nil }
	e = &wrapped
	if r := run("sh", "-c", "echo $WORD"); r.Stdout != "wrapped\n" {
		t.Errorf("%+v", r)
	}
}

// Whatever the patch: each check is selected once, and all of a summary's checks
// are of its selection.
func TestRunProperties(t *testing.T) {
	all := Find(project("go.mod", "", "Cargo.toml", "", "package.json", `{"scripts":{"test":"x","lint":"y"}}`), Config{})
	path := rapid.SampledFrom([]string{"a.go", "b.rs", "c.ts", "README.md", "x_test.go", "db/a.sql", "z", "go.mod"})
	rapid.Check(t, func(t *rapid.T) {
		r := &plays{fail: rapid.SliceOf(rapid.SampledFrom([]string{"go test", "lint", "cargo check"})).Draw(t, "fail")}
		paths := rapid.SliceOf(path).Draw(t, "paths")
		last, err := Run(t.Context(), r, all, paths, Config{}, Summary{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := Run(t.Context(), r, all, paths, Config{}, last)
		if err != nil {
			t.Fatal(err)
		}
		var seen []string
		for _, one := range s.Results {
			seen = append(seen, one.Name)
		}
		seen = append(seen, s.NotRun...)
		slices.Sort(seen)
		if want := slices.Sorted(slices.Values(s.Selected)); fmt.Sprint(seen) != fmt.Sprint(want) || len(slices.Compact(slices.Clone(seen))) != len(seen) {
			t.Errorf("selected %q, ran or left %q", want, seen)
		}
		if s.Status != last.Status {
			t.Errorf("the same checks gave %s and then %s", last.Status, s.Status)
		}
	})
}

func FuzzConfig(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"checks":[{"name":"a","command":"b","dir":"c"}]}`, `{"policies":{"backend":{"enabled":false}}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseConfig([]byte(text))
		if err != nil {
			return
		}
		if c.time() <= 0 || c.output() <= 0 || len(Find(project(), c)) != len(c.Custom) {
			t.Errorf("%q gives %+v", text, c)
		}
	})
}

package search

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/tool"
	"github.com/quire-agent/quire/internal/x/fence"
)

func project(t testing.TB, files map[string]string) *fence.Fence {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := fence.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func sample() map[string]string {
	return map[string]string{
		"a.go":               "package a\n\nfunc Open() {}\nfunc open() {}\n",
		"sub/b.go":           "package b // Open\r\nvar x = \"日本\"\r\n",
		"sub/deep/c_test.go": "one\ntwo\nthree Open\nfour\nfive Open\nsix\n",
		"build/out.go":       "func Open() {}\n",
		".gitignore":         "build/\n*.log\n!keep.log\n/top\n",
		"x.log":              "Open\n", "keep.log": "Open\n", "top": "Open\n", "sub/top": "Open\n",
		".hidden/h": "Open -v --flag\n",
		"bin":       "Open\x00Open\n",
		"empty":     "",
		"-n":        "dash\n",
	}
}

// rg is the path of ripgrep, "" when there is none.
func rg() string {
	path, err := exec.LookPath("rg")
	if err != nil {
		return ""
	}
	return path
}

func call(t testing.TB, s *Search, number int, args string) tool.Result {
	t.Helper()
	r, err := s.Tools()[number].Run(t.Context(), tool.Input{Args: json.RawMessage(args)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// failures.md B31: what begins with a dash is looked for, with ripgrep and without.
func TestGrep(t *testing.T) {
	f := project(t, sample())
	cases := []struct{ args, want string }{
		{`{"pattern":"Open"}`, ".hidden/h:1:Open -v --flag\na.go:3:func Open() {}\nkeep.log:1:Open\nsub/b.go:1:package b // Open\nsub/deep/c_test.go:3:three Open\nsub/deep/c_test.go:5:five Open\nsub/top:1:Open\n"},
		{`{"pattern":"open","path":"a.go"}`, "a.go:4:func open() {}\n"},
		{`{"pattern":"open","path":"a.go","ignore_case":true}`, "a.go:3:func Open() {}\na.go:4:func open() {}\n"},
		{`{"pattern":"Open","glob":"*_test.go","context":1}`, "sub/deep/c_test.go-2-two\nsub/deep/c_test.go:3:three Open\nsub/deep/c_test.go-4-four\nsub/deep/c_test.go:5:five Open\nsub/deep/c_test.go-6-six\n"},
		{`{"pattern":"Open","files_only":true,"path":"sub"}`, "sub/b.go\nsub/deep/c_test.go\nsub/top\n"},
		{`{"pattern":"Open$","path":"sub","glob":"*.go"}`, "sub/b.go:1:package b // Open\nsub/deep/c_test.go:3:three Open\nsub/deep/c_test.go:5:five Open\n"},
		{`{"pattern":"^func \\w+\\(\\)"}`, "a.go:3:func Open() {}\na.go:4:func open() {}\n"},
		{`{"pattern":"日本|\\bfive\\b"}`, "sub/b.go:2:var x = \"日本\"\nsub/deep/c_test.go:5:five Open\n"},
		{`{"pattern":"-v"}`, ".hidden/h:1:Open -v --flag\n"},
		{`{"pattern":"--flag"}`, ".hidden/h:1:Open -v --flag\n"},
		{`{"pattern":"dash","path":"-n"}`, "-n:1:dash\n"},
		{`{"pattern":"nothing like it"}`, "(no matches)"},
		{`{"pattern":"Open","path":"build"}`, "build/out.go:1:func Open() {}\n"},
		{`{"pattern":"func","path":"build/out.go"}`, "build/out.go:1:func Open() {}\n"},
		{`{"pattern":"("}`, `"(" is not a regular expression`},
		{`{"pattern":"x","path":"../y"}`, "outside the project"},
		{`{"pattern":"x","path":"nowhere"}`, "does not exist"},
	}
	for _, ripgrep := range []string{"", rg()} {
		for _, c := range cases {
			got := call(t, New(f, ripgrep), 1, c.args)
			if got.Error && strings.Contains(got.Text, c.want) {
				continue
			}
			if got.Text != c.want {
				t.Errorf("rg=%q %s:\n%swant\n%s", ripgrep, c.args, got.Text, c.want)
			}
		}
	}
}

// The same results with and without ripgrep, whatever is looked for.
func TestGrepIsTheSameWithRipgrep(t *testing.T) {
	if rg() == "" {
		t.Skip("no ripgrep here")
	}
	f := project(t, sample())
	atoms := []string{"O", "pen", ".", `\w`, `\s`, `\b`, "[a-f]", "日", `\B`, "^", "$", "-", "(?i)OPEN", `\d*`, "|", "+", "x?", `\p{L}`, "[^a]", `\.`, `\A`, "(one|two)", "é"}
	rapid.Check(t, func(rt *rapid.T) {
		pattern := strings.Join(rapid.SliceOfN(rapid.SampledFrom(atoms), 1, 4).Draw(rt, "atoms"), "")
		args, err := json.Marshal(grepArgs{Pattern: pattern, Context: rapid.IntRange(0, 2).Draw(rt, "context")})
		if err != nil {
			rt.Fatal(err)
		}
		with, without := call(t, New(f, rg()), 1, string(args)), call(t, New(f, ""), 1, string(args))
		if with.Text != without.Text {
			rt.Fatalf("%q with ripgrep\n%s\nwithout\n%s", pattern, with.Text, without.Text)
		}
	})
}

func TestFind(t *testing.T) {
	s := New(project(t, sample()), "")
	cases := []struct{ args, want string }{
		{`{"pattern":"*.go"}`, "a.go\nsub/b.go\nsub/deep/c_test.go\n"},
		{`{"pattern":"sub/*"}`, "sub/b.go\nsub/deep/\nsub/top\n"},
		{`{"pattern":"**/deep/**"}`, "sub/deep/c_test.go\n"},
		{`{"pattern":"*.{log,go}","path":"sub"}`, "sub/b.go\nsub/deep/c_test.go\n"},
		{`{"pattern":"dee?"}`, "sub/deep/\n"},
		{`{"pattern":"top"}`, "sub/top\n"},
		{`{"pattern":"nothing"}`, "(nothing found)"},
		{`{"pattern":"*","path":"a.go"}`, "a.go is a file; path is the folder to look in."},
	}
	for _, c := range cases {
		if got := call(t, s, 0, c.args); got.Text != c.want {
			t.Errorf("%s:\n%swant\n%s", c.args, got.Text, c.want)
		}
	}
}

func TestBoundsAreSaid(t *testing.T) {
	files := map[string]string{"many": strings.Repeat("line\n", maxMatches+7), "long": "needle " + strings.Repeat("x", maxLine)}
	for i := range maxFound + 3 {
		files[fmt.Sprintf("d/f%04d", i)] = ""
	}
	s := New(project(t, files), "")
	if got := call(t, s, 1, `{"pattern":"line"}`); !strings.Contains(got.Text, "[7 more matches, in 1 files together") {
		t.Errorf("got …%s", got.Text[len(got.Text)-100:])
	}
	if got := call(t, s, 1, `{"pattern":"needle"}`); !strings.Contains(got.Text, "[… 7 bytes of this line left out …]") {
		t.Errorf("got …%s", got.Text[len(got.Text)-100:])
	}
	if got := call(t, s, 0, `{"pattern":"f*"}`); !strings.Contains(got.Text, "[3 more;") {
		t.Errorf("got …%s", got.Text[len(got.Text)-100:])
	}
}

func BenchmarkGrep(b *testing.B) {
	files := map[string]string{}
	for i := range 500 {
		files[fmt.Sprintf("d%d/f%d.go", i%20, i)] = strings.Repeat("func something(x int) error { return nil }\n", 100)
	}
	f := project(b, files)
	for _, ripgrep := range []string{"", rg()} {
		b.Run("rg="+filepath.Base(ripgrep), func(b *testing.B) {
			for b.Loop() {
				call(b, New(f, ripgrep), 1, `{"pattern":"needle|haystack"}`)
			}
		})
	}
}

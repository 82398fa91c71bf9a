package arch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// A rule is one thing that must hold.
type rule struct {
	name  string
	check func(*tree) []finding
}

// rules lists them all.
func rules() []rule {
	return []rule{
		{"parses", func(t *tree) []finding { return t.broken }},
		{"floors", checkFloors},
		{"owners", checkOwners},
		{"purity", checkPurity},
		{"edges", checkEdges},
		{"packets", checkPackets},
		{"state", checkState},
		{"budgets", checkBudgets},
		{"docs", checkDocs},
		{"names", checkNames},
		{"untyped", checkUntyped},
		{"readers", checkReaders},
		{"secrets", checkSecrets},
		{"places", checkPlaces},
	}
}

func TestRepository(t *testing.T) {
	repo := repository(t)
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			for _, f := range r.check(repo) {
				if !excepted(r.name, f) {
					t.Error(f)
				}
			}
		})
	}
}

// TestExceptionsAreNeeded keeps the list of exceptions from outliving its reasons.
func TestExceptionsAreNeeded(t *testing.T) {
	repo := repository(t)
	for _, e := range exceptions() {
		i := slices.IndexFunc(rules(), func(r rule) bool { return r.name == e.rule })
		if i < 0 || e.reason == "" {
			t.Errorf("exception %+v names no rule or no reason", e)
			continue
		}
		if !slices.ContainsFunc(rules()[i].check(repo), e.covers) {
			t.Errorf("nothing breaks the rule %s at %s any more: remove the exception", e.rule, e.where)
		}
	}
}

// TestRulesCanFail runs each rule on trees that break it. A tree is a txtar
// archive; its file "want" has one line for each finding expected, which must be
// part of it. An archive with an empty "want" shows what the rule allows.
func TestRulesCanFail(t *testing.T) {
	for _, r := range rules() {
		cases, err := filepath.Glob(filepath.Join("testdata", r.name, "*.txtar"))
		if err != nil {
			t.Fatal(err)
		}
		failed := len(composed()[r.name]) > 0
		for _, name := range cases {
			t.Run(r.name+"/"+filepath.Base(name), func(t *testing.T) {
				files, want := readCase(t, name)
				failed = failed || len(want) > 0
				compare(t, r.check(newTree(files)), want)
			})
		}
		if !failed {
			t.Errorf("no tree in testdata/%s shows that the rule can fail", r.name)
		}
	}
}

func readCase(t *testing.T, name string) (files []file, want []string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range txtar.Parse(text).Files {
		if f.Name != "want" {
			files = append(files, file{f.Name, string(f.Data)})
			continue
		}
		for line := range strings.Lines(string(f.Data)) {
			want = append(want, strings.TrimSpace(line))
		}
	}
	return files, want
}

func compare(t *testing.T, got []finding, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d findings, want %d: %v", len(got), len(want), got)
	}
	for _, w := range want {
		if !slices.ContainsFunc(got, func(f finding) bool { return strings.Contains(f.String(), w) }) {
			t.Errorf("no finding has %q in it: %v", w, got)
		}
	}
}

// composed holds the bad trees of rules about text. They are put together here,
// so that this repository does not hold what the rules forbid.
func composed() map[string][]string {
	long := strings.Repeat("Ab1", 16)
	return map[string][]string{
		"secrets": {
			"key: sk-" + "ant-api03-" + long, "sk-" + "proj-" + long, "AKI" + "A" + strings.Repeat("Q2", 8), "gh" + "p_" + long[:36],
			"-----BEGIN " + "RSA PRIVATE KEY-----", "Authorization: " + "Bearer " + long, "AIz" + "a" + long[:35],
			"xox" + "b-1234567890-abcdef", "eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxMjM0In0.c2lnbmF0dXJl",
		},
		"places": {
			"open /wor" + "k/x", "see /tm" + "p/a.txt", "in /roo" + "t/.cache", "at /hom" + "e/ada/src", "at /User" + "s/ada/src",
			"proxy." + "golang.org", "registry." + "npmjs.org", "pypi" + ".org",
		},
	}
}

func TestTextRulesCanFail(t *testing.T) {
	texts := composed()
	for _, r := range rules() {
		for _, text := range texts[r.name] {
			if got := r.check(newTree([]file{{"docs/a.md", "one\n" + text + "\n"}})); len(got) != 1 || got[0].where != "docs/a.md:2" {
				t.Errorf("%s: %q gives %v, want one finding in line 2", r.name, text, got)
			}
		}
	}
}

// The large trees of the size budget are made here rather than kept.
func TestSizesCanFail(t *testing.T) {
	body := func(lines int) string { return "func f() {\n" + strings.Repeat("\t_ = 0\n", lines-2) + "}\n" }
	cases := []struct {
		text string
		want []string
	}{
		{"package eval\n" + body(maxFunction), nil},
		{"package eval\n" + body(maxFunction+1), []string{"function f has 121 lines, at most 120"}},
		{"package eval\n" + strings.Repeat("//\n", maxFile-1), nil},
		{"package eval\n" + strings.Repeat("//\n", maxFile), []string{"1001 lines, at most 1000"}},
	}
	for _, c := range cases {
		compare(t, checkBudgets(newTree([]file{{"internal/eval/a.go", c.text}})), c.want)
	}
}

func TestTextRulesSpareTheRest(t *testing.T) {
	for _, text := range []string{
		"~/" + "tmp/a", "the net" + "/wo" + "rk/ing", "a." + "root/b", "task-" + strings.Repeat("a", 30), "a disk-" + strings.Repeat("b", 30), "/home", "go.sum",
	} {
		for _, r := range rules() {
			if got := r.check(newTree([]file{{"docs/a.md", text}})); len(got) > 0 {
				t.Errorf("%s: %q gives %v", r.name, text, got)
			}
		}
	}
}

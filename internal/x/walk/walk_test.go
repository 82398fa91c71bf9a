package walk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"
)

func TestMatch(t *testing.T) {
	cases := []struct {
		pattern string
		yes, no []string
	}{
		{"*.go", []string{"a.go"}, []string{"a/b.go", "a.gox"}},
		{"**/*.go", []string{"a.go", "a/b.go", "a/b/c.go"}, []string{"a.txt"}},
		{"db/**", []string{"db/a", "db/a/b"}, []string{"db", "x/db/a"}},
		{"a/**/b", []string{"a/b", "a/x/b", "a/x/y/b"}, []string{"a/b/c", "b"}},
		{"a/**/**/b", []string{"a/b", "a/x/b"}, []string{"ab"}},
		{"**", []string{"a", "a/b"}, nil},
		{"{a,b}/*.{go,md}", []string{"a/x.go", "b/x.md"}, []string{"c/x.go", "a/x.txt"}},
		{"{a,{b,c}}", []string{"a", "b", "c"}, []string{"d", "{b,c}"}},
		{"[a-c]?", []string{"ax", "c1"}, []string{"dx", "a"}},
		{"[!a]", []string{"b"}, []string{"a"}},
		{`\*`, []string{"*"}, []string{"a"}},
		{`a\{b`, []string{"a{b"}, []string{"ab"}},
		{"[", nil, []string{"[", "a"}},
		{"{a", []string{"{a"}, []string{"a"}},
		{"**/x/**/y", []string{"x/y", "a/x/b/y"}, []string{"y/x"}},
	}
	for _, c := range cases {
		for _, name := range c.yes {
			if !Match(c.pattern, name) {
				t.Errorf("%s does not match %s", c.pattern, name)
			}
		}
		for _, name := range c.no {
			if Match(c.pattern, name) {
				t.Errorf("%s matches %s", c.pattern, name)
			}
		}
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("a/**/b{c,d}/*", "a/x/bc/e")
	f.Add("{{{a,b},c},[d-", "{{{a")
	f.Add(strings.Repeat("{a,b}", 20), "aaa")
	f.Add(strings.Repeat("**/a/", 20), strings.Repeat("a/", 40))
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if len(pattern) < 300 && len(name) < 300 && Match(pattern, name) && !Match("{"+"x,"+pattern+"}", name) && !strings.ContainsAny(pattern, `{},\[`) {
			t.Errorf("%q matches %q, but not as an alternative", pattern, name)
		}
	})
}

func paths(t *testing.T, fsys fs.FS, dir string, o Options) string {
	t.Helper()
	var list []string
	for e, err := range Project(fsys, dir, o) {
		if err != nil {
			list = append(list, "error")
			continue
		}
		list = append(list, e.Path)
	}
	return strings.Join(list, " ")
}

func TestProject(t *testing.T) {
	fsys := fstest.MapFS{
		"a": {}, "b.log": {}, "keep.log": {}, "d/e/f": {}, "d/x.log": {}, "d/.gitignore": {Data: []byte("!x.log\n/e\n")}, "d/e2": {},
		"out/a": {}, "sub/out/a": {}, "sub/out2": {}, ".git/config": {}, "sub/.git/config": {}, "sp ace": {}, "#hash": {}, "!bang": {},
		".gitignore": {Data: []byte("# a comment\n*.log\n!keep.log\nout/\nsp\\ ace \n\\#hash\n\\!bang\r\n\n")},
	}
	cases := []struct {
		dir  string
		o    Options
		want string
	}{
		{".", Options{}, ".gitignore a d/.gitignore d/e2 d/x.log keep.log sub/out2"},
		{"d", Options{}, "d/.gitignore d/e2 d/x.log"},
		{".", Options{Folders: true, Depth: 1}, ".gitignore a d keep.log sub"},
		{"sub", Options{Ignored: true}, "sub/out/a sub/out2"},
		{"nowhere", Options{}, "error"},
	}
	for _, c := range cases {
		if got := paths(t, fsys, c.dir, c.o); got != c.want {
			t.Errorf("%s %+v:\n%s\nwant\n%s", c.dir, c.o, got, c.want)
		}
	}
}

func TestProjectStops(t *testing.T) {
	for range Project(fstest.MapFS{"a/b/c": {}, "a/d": {}}, ".", Options{}) {
		break
	}
	for _, err := range Project(brokenFS{}, ".", Options{}) {
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("got %v", err)
		}
	}
}

type brokenFS struct{}

func (brokenFS) Open(string) (fs.File, error) { return nil, fs.ErrPermission }

// What is left out is what git leaves out.
func TestIgnoreAsGitDoes(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	dir := t.TempDir()
	names := []string{"a", "b", "ab", "a.c", "d/a", "d/b", "d/e/a", "d/e/b.c", "e/a", "e/d/a", "x y"}
	for _, n := range names {
		write(t, dir, n, "")
	}
	git(t, dir, "init", "-q")
	pattern := rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"", "", "!", "/"}).Draw(t, "before") +
			strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "d", "e", "*", "**", "?", "*.c", "[ab]", "[!a]", "x y", "a*"}), 1, 3).Draw(t, "parts"), "/") +
			rapid.SampledFrom([]string{"", "", "/", " ", "/**"}).Draw(t, "after")
	})
	rapid.Check(t, func(rt *rapid.T) {
		top := strings.Join(rapid.SliceOfN(pattern, 0, 4).Draw(rt, "top"), "\n")
		inner := strings.Join(rapid.SliceOfN(pattern, 0, 2).Draw(rt, "d"), "\n")
		write(rt, dir, ".gitignore", top+"\n")
		write(rt, dir, "d/.gitignore", inner+"\n")
		want := strings.FieldsFunc(git(rt, dir, "ls-files", "-z", "--others", "--exclude-per-directory=.gitignore"), func(r rune) bool { return r == 0 })
		var got []string
		for e, err := range Project(os.DirFS(dir), ".", Options{}) {
			if err != nil {
				rt.Fatal(err)
			}
			got = append(got, e.Path)
		}
		slices.Sort(want)
		slices.Sort(got)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			rt.Fatalf(".gitignore %q and in d %q:\n%q\ngit has\n%q", top, inner, got, want)
		}
	})
}

func FuzzIgnore(f *testing.F) {
	f.Add("*.log\n!keep.log\n/a/**/b/\n\\#x\\ \n", "a/x/b")
	f.Add("//\n!\n/\n \n[\n", "a")
	f.Fuzz(func(t *testing.T, text, name string) {
		ig := parseIgnore(".", text)
		asFile, _ := ig.decides(name, false)
		if again, _ := parseIgnore(".", text+"\n# end\n").decides(name, false); again != asFile {
			t.Errorf("%q about %q changes with a comment", text, name)
		}
	})
}

type fataler interface {
	Helper()
	Fatal(args ...any)
}

func write(t fataler, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func git(t fataler, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func BenchmarkProject(b *testing.B) {
	dir := b.TempDir()
	write(b, dir, ".gitignore", "*.o\n/out/\n!keep.o\nnode_modules/\n")
	for i := range 2000 {
		write(b, dir, fmt.Sprintf("d%d/e%d/f%d.go", i%10, i%100, i), "")
	}
	for b.Loop() {
		for range Project(os.DirFS(dir), ".", Options{}) {
		}
	}
}

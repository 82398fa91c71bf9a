package norms

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// quarters counts a token for each four bytes.
type quarters struct{}

func (quarters) Count(text string) int { return (len(text) + 3) / 4 }

func write(t *testing.T, dir string, files ...string) {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(dir, filepath.FromSlash(files[i]))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func list(pages []Page) string {
	var b strings.Builder
	for _, p := range pages {
		fmt.Fprintf(&b, "%s red=%v foreign=%v %q\n", p.Name(), p.Red, p.Foreign, p.Text)
	}
	return b.String()
}

// failures.md B16: files are found from the working directory up to the root of the
// repository and in the user's folders, and stand in the order of their rank.
func TestPlacesAndOrder(t *testing.T) {
	top, home := t.TempDir(), t.TempDir()
	write(t, filepath.Dir(top), "AGENTS.md", "above the repository\n")
	write(t, top, ".git/HEAD", "x", "AGENTS.md", "# Root\nroot agents\n", "CLAUDE.md", "root claude\n", "a/b/AGENTS.md", "near agents\n", "a/QUIRE.md", "middle quire\n", "a/b/c/AGENTS.md", "below\n")
	write(t, home, "AGENTS.md", "user agents\n", "QUIRE.md", "user quire\n")
	places := Places(filepath.Join(top, "a", "b"), Place{Dir: home, Shown: "~/"}, Place{Dir: top}, Place{})
	got := Read(places, quarters{}, func(path string) bool { return strings.HasSuffix(path, "CLAUDE.md") || strings.HasPrefix(path, home) })
	want := `../QUIRE.md:1-1 red=false foreign=false "middle quire\n"
~/QUIRE.md:1-1 red=false foreign=false "user quire\n"
AGENTS.md:1-1 red=false foreign=false "near agents\n"
../../AGENTS.md:1-2 “Root” red=false foreign=false "# Root\nroot agents\n"
~/AGENTS.md:1-1 red=false foreign=false "user agents\n"
../../CLAUDE.md:1-1 red=false foreign=true "root claude\n"
`
	if list(got.Pages) != want || got.Fault != nil {
		t.Errorf("got %q\n%swant\n%s", got.Fault, list(got.Pages), want)
	}
}

// Without a repository only the project's own folder counts; without any file there
// is nothing.
func TestNothingIsNeeded(t *testing.T) {
	top := t.TempDir()
	write(t, top, "AGENTS.md", "outside\n", "p/x", "")
	got := Read(Places(filepath.Join(top, "p"), Place{Dir: filepath.Join(top, "no home")}), quarters{}, nil)
	if got.Pages != nil || got.Fault != nil {
		t.Errorf("%+v", got)
	}
	if h := Choose(nil, "fix it", MaxTokens, quarters{}); h.Texts != nil || h.Tokens() != 0 {
		t.Errorf("%+v", h)
	}
}

func TestWhatCannotBeReadIsSaid(t *testing.T) {
	top, secret := t.TempDir(), t.TempDir()
	write(t, secret, "key", "the key")
	write(t, top, "QUIRE.md/x", "", "CLAUDE.md", "same\n")
	if err := os.Symlink(filepath.Join(secret, "key"), filepath.Join(top, "AGENTS.md")); err != nil {
		t.Skip("no links here")
	}
	got := Read(Places(top), quarters{}, nil)
	if len(got.Pages) != 1 || len(got.Fault) != 2 || strings.Contains(list(got.Pages), "the key") {
		t.Errorf("%q %s", got.Fault, list(got.Pages))
	}
}

func TestCopiesAreThereOnce(t *testing.T) {
	top := t.TempDir()
	write(t, top, "AGENTS.md", "# A\nx\n# B\ny\n", "CLAUDE.md", "# B\ny\n\n# C\nz\n")
	got := Read(Places(top), quarters{}, nil)
	if len(got.Pages) != 3 || len(got.Twice) != 1 || got.Twice[0].Page.Name() != "CLAUDE.md:1-2 “B”" || got.Twice[0].Of.Name() != "AGENTS.md:3-4 “B”" {
		t.Errorf("%+v", got)
	}
}

// longFile is one with a red section, one about databases, one about pictures, each
// of some length, and a red line inside another.
func longFile() string {
	var b strings.Builder
	section := func(title string, lines ...string) {
		b.WriteString("## " + title + "\n" + strings.Join(lines, "\n") + "\n")
		for i := range 12 {
			fmt.Fprintf(&b, "Sentence %d of %s says a little more about how it is done around here.\n", i, title)
		}
		b.WriteByte('\n')
	}
	b.WriteString("# The project\n\n## Red lines\nNever push to the main branch.\n\n")
	section("Databases", "Migrations live in the folder of that name.")
	section("Pictures", "Icons are vectors.", "Do not commit photographs.")
	section("Releases", "Tags are signed.")
	return b.String()
}

func TestChoose(t *testing.T) {
	top := t.TempDir()
	write(t, top, "AGENTS.md", longFile())
	pages := Read(Places(top), quarters{}, nil).Pages
	h := Choose(pages, "write a migration of the databases for the orders table", 700, quarters{})
	text := h.Texts[0].Text
	for _, want := range []string{"Never push to the main branch.", "Migrations live in the folder", "[lines 21-35: The project › Pictures,", "  Do not commit photographs.", "2 of its 4 sections are left out here"} {
		if !strings.Contains(text, want) {
			t.Errorf("the head does not hold %q", want)
		}
	}
	if strings.Contains(text, "Icons are vectors") || h.Tokens() > 700 || h.Texts[0].Source != "AGENTS.md" {
		t.Errorf("%d tokens of %s:\n%s", h.Tokens(), h.Texts[0].Source, text)
	}
	if all := Choose(pages, "", 5000, quarters{}); strings.Contains(all.Texts[0].Text, "left out") {
		t.Error("a short file is not shown whole")
	}
}

func TestChinese(t *testing.T) {
	top := t.TempDir()
	write(t, top, "AGENTS.md", "# 规则\n不要直接推送到主分支。\n# 数据库\n"+strings.Repeat("迁移文件放在迁移目录里。", 20)+"\n# 图片\n"+strings.Repeat("图标用矢量格式保存在素材目录。", 20)+"\n")
	h := Choose(Read(Places(top), quarters{}, nil).Pages, "给数据库写一个迁移", 400, quarters{})
	if text := h.Texts[0].Text; !strings.Contains(text, "不要直接推送") || !strings.Contains(text, "迁移文件") || strings.Contains(text, "图标用矢量") {
		t.Errorf("%s", text)
	}
}

// Whatever the pages and the bound: the same input gives the same head, within the
// bound where there is room for the names, and every page is accounted for.
func TestChooseProperties(t *testing.T) {
	word := rapid.SampledFrom([]string{"never", "parser", "database", "must", "release", "picture", "test", "数据库", "不要"})
	rapid.Check(t, func(t *rapid.T) {
		var n Norms
		for f := range rapid.IntRange(0, 3).Draw(t, "files") {
			var b strings.Builder
			for s := range rapid.IntRange(0, 12).Draw(t, "sections") {
				fmt.Fprintf(&b, "# %s %d\n%s\n\n", word.Draw(t, "title"), s, strings.Join(rapid.SliceOfN(word, 1, 200).Draw(t, "body"), " "))
			}
			n.add(Page{File: fmt.Sprintf("F%d.md", f)}, b.String(), quarters{})
		}
		most := rapid.IntRange(300, 4000).Draw(t, "most")
		words := strings.Join(rapid.SliceOf(word).Draw(t, "words"), " ")
		h := Choose(n.Pages, words, most, quarters{})
		if again := Choose(n.Pages, words, most, quarters{}); fmt.Sprint(again) != fmt.Sprint(h) {
			t.Error("the same pages and words give another head")
		}
		if h.Tokens() > most {
			t.Errorf("%d tokens, at most %d", h.Tokens(), most)
		}
		if !h.Of(n.Pages) || len(n.Pages) > 0 && h.Of(n.Pages[1:]) {
			t.Error("the head does not know the pages that it was chosen from")
		}
		if len(h.Seen) != len(n.Pages) {
			t.Errorf("%d pages are accounted for, of %d", len(h.Seen), len(n.Pages))
		}
		for i, c := range h.Seen {
			if c.Full && !strings.Contains(text(h), strings.TrimSpace(n.Pages[i].Text)) {
				t.Errorf("%s is said to stand in full", n.Pages[i].Name())
			}
		}
	})
}

func text(h Head) (all string) {
	for _, t := range h.Texts {
		all += t.Text + "\n"
	}
	return all
}

func TestHealth(t *testing.T) {
	top := t.TempDir()
	write(t, top, "AGENTS.md", "# Used\nThe parser is in `src/parse.go`, its tool is `gone/tool.sh`, see `README.md` and `gone/tool.sh`.\nUse `go test ./...` and `example.com/mod/x`, `--flag/x`, `@scope/pkg`.\n# Unused\nnobody asks\n# Rules\nnever\n", "src/parse.go", "")
	pages := Read(Places(top), quarters{}, nil).Pages
	head := Choose(pages, "the parser of used things", MaxTokens, quarters{})
	if got := list(Unmatched(pages, []Head{head, head, head}, 3)); got != list(pages[1:2]) {
		t.Errorf("unmatched:\n%s", got)
	}
	if got := Unmatched(pages, []Head{head, head, {}}, 3); got != nil {
		t.Errorf("unmatched after too few: %v", got)
	}
	var gone []string
	for _, g := range MissingPaths(pages, func(dir, path string) bool { _, err := os.Stat(filepath.Join(dir, path)); return err == nil }) {
		gone = append(gone, g.Path)
	}
	if strings.Join(gone, " ") != "gone/tool.sh README.md" {
		t.Errorf("gone: %q", gone)
	}
}

// FuzzAdd holds that no line of a file is lost or there twice.
func FuzzAdd(f *testing.F) {
	for _, seed := range []string{"", "# a\nb", longFile(), "```\n# x\n\n```\n\n# y", strings.Repeat("word word word\n\n", 300)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "?")
		var n Norms
		n.add(Page{File: "F.md"}, text, quarters{})
		var all strings.Builder
		for _, p := range n.Pages {
			all.WriteString(p.Text)
		}
		if len(n.Twice) == 0 && strings.Join(strings.Fields(all.String()), " ") != strings.Join(strings.Fields(text), " ") {
			t.Errorf("%q became %q", text, all.String())
		}
		for _, p := range n.Pages {
			if p.First < 1 || p.Last < p.First {
				t.Errorf("lines %d to %d", p.First, p.Last)
			}
		}
	})
}

// A file of thousands of sections is chosen from as fast as it is read.
func BenchmarkChooseOfMany(b *testing.B) {
	var text strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&text, "# Section %d\nNever do thing %d. %s\n\n", i, i, strings.Repeat("word ", 30))
	}
	var n Norms
	n.add(Page{File: "F.md"}, text.String(), quarters{})
	for b.Loop() {
		Choose(n.Pages, "do thing 17", MaxTokens, quarters{})
	}
}

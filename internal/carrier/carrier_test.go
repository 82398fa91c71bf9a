package carrier

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/retrieve"
	"pgregory.net/rapid"
)

func folder(files ...string) fstest.MapFS {
	f := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		f[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return f
}

func list(entries []retrieve.Entry) string {
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&b, "%s %s | %s | %s | %d | %q\n", e.Kind, e.Name, e.Title, e.Source, e.First, e.Text)
	}
	return b.String()
}

func TestDocumentsAreCutByHeading(t *testing.T) {
	got, err := Documents(folder(
		"guide.md", "before\n# Guide\n## Setup ##\nrun it\n```\n# no heading\n```\n## Release\ntag it\n",
		"notes/plain.txt", "# just text\n",
		"notes/empty.md", "\n\n",
		"image.png", "x", ".git/x.md", "hidden", "bad.md", "a\x00b",
	), "docs")
	if err != nil {
		t.Fatal(err)
	}
	want := `document docs/guide.md |  | document docs/guide.md, line 1 | 1 | "before\n"
document docs/guide.md#Setup | Guide › Setup | document docs/guide.md, line 2, Guide › Setup | 2 | "# Guide\n## Setup ##\nrun it\n` + "```\\n# no heading\\n```" + `\n"
document docs/guide.md#Release | Guide › Release | document docs/guide.md, line 8, Guide › Release | 8 | "## Release\ntag it\n"
document docs/notes/plain.txt |  | document docs/notes/plain.txt, line 1 | 1 | "# just text\n"
`
	if list(got) != want {
		t.Errorf("got\n%swant\n%s", list(got), want)
	}
}

func TestKnowledgeSaysWhereItIsFrom(t *testing.T) {
	got, err := Knowledge(folder("build.md", "# Builds\nfrom: s7/p412\nThe race job needs cgo.\n"), "knowledge")
	if err != nil || len(got) != 1 || got[0].Kind != retrieve.HitKnowledge || !strings.HasSuffix(got[0].Source, "Builds, from s7/p412") {
		t.Errorf("%s, %v", list(got), err)
	}
}

func TestSkillsAreTheirDescriptions(t *testing.T) {
	got, err := Skills(folder(
		"deploy/SKILL.md", "---\nname: deploy-staging\ndescription: \"Bring a build to staging\"\n---\nsecret steps\n",
		"fold/SKILL.md", "---\r\ndescription: >\r\n  Move a table\r\n  without downtime\r\n---\r\n",
		"mute/SKILL.md", "no front matter", "deploy/other.md", "---\ndescription: x\n---",
	), "skills")
	want := `skill deploy-staging | deploy-staging | skill deploy-staging in skills/deploy/SKILL.md | 0 | "Bring a build to staging"
skill fold | fold | skill fold in skills/fold/SKILL.md | 0 | "Move a table without downtime"
`
	if err != nil || list(got) != want {
		t.Errorf("got %v\n%swant\n%s", err, list(got), want)
	}
}

func TestUnreadableFoldersAreReported(t *testing.T) {
	for name, read := range map[string]func(fs.FS, string) ([]retrieve.Entry, error){"documents": Documents, "skills": Skills} {
		if _, err := read(broken{}, "docs"); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "docs") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type broken struct{}

func (broken) Open(string) (fs.File, error) { return nil, fs.ErrPermission }

// What is cut is found again on the surface, with the lines of its file.
func TestSectionsAreFound(t *testing.T) {
	docs, err := Documents(folder("guide.md", "# Guide\nintro\n\n## Releasing\n\nTag the commit, then wait for the signature.\n"), "docs")
	if err != nil {
		t.Fatal(err)
	}
	c, err := retrieve.NewCollection(t.Context(), "documents", docs)
	if err != nil {
		t.Fatal(err)
	}
	hits, err := c.Search(t.Context(), retrieve.Query{Text: "signature of a tag", Reader: quire.Reader{Who: "user:me"}})
	if err != nil || len(hits) == 0 || hits[0].Name != "docs/guide.md#Releasing" {
		t.Fatalf("%+v, %v", hits, err)
	}
	for _, l := range hits[0].Lines {
		if strings.HasPrefix(l.Text, "Tag the commit") && l.Number == 6 && l.Hit {
			return
		}
	}
	t.Errorf("lines %+v", hits[0].Lines)
}

// checkSections holds what every text gives: sections that follow each other and
// together are the text, but for blank ones.
func checkSections(t interface{ Errorf(string, ...any) }, text string) {
	var all strings.Builder
	line := 1
	for _, s := range sections(text) {
		if s.first < line {
			t.Errorf("a section begins at line %d, inside the one before, which ends before %d", s.first, line)
		}
		line = s.first + strings.Count(s.text, "\n")
		all.WriteString(s.text)
	}
	if squeeze(all.String()) != squeeze(text) {
		t.Errorf("sections of %q are %q", text, all.String())
	}
}

func squeeze(text string) string { return strings.Join(strings.Fields(text), " ") }

func TestSectionProperties(t *testing.T) {
	line := rapid.SampledFrom([]string{"# a", "## b c", "### ", "text", "", "```", "~~~~", "####### no", "#no"})
	rapid.Check(t, func(t *rapid.T) { checkSections(t, strings.Join(rapid.SliceOf(line).Draw(t, "lines"), "\n")) })
}

func FuzzSections(f *testing.F) {
	for _, seed := range []string{"", "# a\nb", "a\n## b\n### c\n```\n# d\n```", "#\t#\n", "~~~\n```\n~~~\n# x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { checkSections(t, text) })
}

func FuzzFrontMatter(f *testing.F) {
	for _, seed := range []string{"---\nname: a\n---\n", "---\ndescription: >-\n  x\n  y\n", "---", "", "---\na: 'b'\n b\n# c: d\n...", "---\n:"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for key, value := range frontMatter(text) {
			if key == "" && value == "" || strings.ContainsAny(key, " \t\n") || strings.Contains(value, "\n") {
				t.Errorf("%q gives %q: %q", text, key, value)
			}
		}
	})
}

package skill

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/tool"
)

func place(t *testing.T, files ...string) Place {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(dir, filepath.FromSlash(files[i]))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Place{dir, "skills"}
}

func demo(t *testing.T) Set {
	t.Helper()
	return Read([]Place{
		place(t,
			"deploy/SKILL.md", "---\nname: deploy\ndescription: Bring a build to the staging servers\n---\nsecret steps\n",
			"tables/SKILL.md", "---\ndescription: 无停机迁移数据库表\n---\n# Steps\none\n", "mute/SKILL.md", "no front matter\n", ".git/x/SKILL.md", "---\ndescription: hidden\n---\n", "deploy/other.md", "x"),
		place(t, "d/SKILL.md", "---\nname: deploy\ndescription: the user's\n---\nother\n", "notes/SKILL.md", "---\nname: release-notes\ndescription: Write the notes of a release from its commits\n---\nn\n"),
		{filepath.Join(t.TempDir(), "none"), "none"},
	})
}

func call(t *testing.T, s Set, text string) tool.Result {
	t.Helper()
	r, err := s.Tool().Run(t.Context(), tool.Input{Args: json.RawMessage(text)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSkills(t *testing.T) {
	s := demo(t)
	var got []string
	for _, k := range s.Skills {
		got = append(got, k.Name+" "+k.Path)
	}
	if strings.Join(got, ", ") != "deploy skills/deploy/SKILL.md, release-notes skills/notes/SKILL.md, tables skills/tables/SKILL.md" {
		t.Errorf("%q", got)
	}
	if len(s.Fault) != 2 || !strings.Contains(s.Fault[0], "no description") || !strings.Contains(s.Fault[1], "there already") {
		t.Errorf("%q", s.Fault)
	}
	if r := call(t, s, `{"name":"deploy"}`); r.Error || !strings.HasSuffix(r.Text, "for this turn:\n\nsecret steps") {
		t.Errorf("%+v", r)
	}
	if r := call(t, s, `{"name":"none"}`); !r.Error || !strings.Contains(r.Text, "deploy, release-notes, tables") {
		t.Errorf("%+v", r)
	}
}

// failures.md B16: a skill is told of in one line where its description fits, and
// its text comes only when it is run.
func TestMatch(t *testing.T) {
	s := demo(t)
	for words, want := range map[string]string{
		"bring the new build to staging, please": "deploy",
		"run Deploy":                             "deploy",
		"给数据库表做一次迁移":                             "tables",
		"write release notes from the commits":   "release-notes",
		"fix the parser":                         "",
		"the servers are slow":                   "",
		"":                                       "",
	} {
		var got []string
		for _, k := range s.Match(words) {
			got = append(got, k.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q matches %q, want %q", words, got, want)
		}
	}
	if text := Lines(s.Match("deploy")); strings.Contains(text, "secret") || strings.Count(text, "\n") != 1 {
		t.Errorf("%q", text)
	}
	if Lines(nil) != "" {
		t.Error("a message about nothing")
	}
}

func TestWithoutSkills(t *testing.T) {
	s := Read(nil)
	if s.Match("deploy") != nil || s.Skills != nil || s.Fault != nil {
		t.Errorf("%+v", s)
	}
}

func FuzzBody(f *testing.F) {
	for _, seed := range []string{"", "---\na: b\n---\nx", "---\n", "---\r\nd: e\r\n---\r\ny", "x\n---\ny"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !strings.HasSuffix(text, body(text)) {
			t.Errorf("%q has the body %q", text, body(text))
		}
	})
}

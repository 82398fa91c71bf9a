package run

import (
	"errors"
	"path"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/quire"
)

func TestMentions(t *testing.T) {
	for text, want := range map[string][]Mention{
		"look at @a.go":                       {{Path: "a.go"}},
		"@a.go:10-40, then (@b/c.go:7).":      {{"a.go", quire.Range{First: 10, Last: 40}}, {"b/c.go", quire.Range{First: 7, Last: 7}}},
		`@"a b.txt" and @"c d.txt":2-3`:       {{Path: "a b.txt"}, {"c d.txt", quire.Range{First: 2, Last: 3}}},
		"all of @dir/ twice: @dir/":           {{Path: "dir/"}},
		"mail me@example.com, @ nothing, @@s": nil,
		"看 @说明.md。":                           {{Path: "说明.md"}},
		"@a:40-10 @b:x @c:0":                  {{Path: "a:40-10"}, {Path: "b:x"}, {Path: "c:0"}},
		`@"never closed`:                      nil,
	} {
		if got := Mentions(text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

// fenced confines paths as a fence does, without a disk.
type fenced struct{}

func (fenced) Resolve(name string) (string, error) {
	name = path.Clean(name)
	if path.IsAbs(name) || strings.HasPrefix(name, "..") {
		return "", errors.New("it leads out of the project")
	}
	return name, nil
}

func TestAttachSaysWhatItCannotRead(t *testing.T) {
	files := fstest.MapFS{
		"a.txt":    {Data: []byte("one\ntwo\nthree\n")},
		"big.txt":  {Data: []byte(strings.Repeat("a line of text\n", 10_000))},
		"huge.txt": {Data: make([]byte, maxRead+1)},
		"long.txt": {Data: []byte(strings.Repeat("ä", MaxAttached))},
		"bin":      {Data: []byte("\x00\x01")},
		"dir/x":    {}, "dir/sub/y": {},
	}
	for words, want := range map[string]string{
		"@a.txt:2-9":  "Attached by the user: a.txt, lines 2 to 4\ntwo\nthree\n",
		"@a.txt:9":    "The user referred to a.txt. It could not be attached: it has 4 lines.",
		"@bin":        "The user referred to bin. It could not be attached: it is no text; the tool read shows images and documents.",
		"@none":       "The user referred to none. It could not be attached: there is no such file.",
		"@../secret":  "The user referred to ../secret. It could not be attached: it leads out of the project.",
		"@/etc/hosts": "The user referred to /etc/hosts. It could not be attached: it leads out of the project.",
		"@dir/":       "Attached by the user: the folder dir/, 2 entries\ndir/sub/\ndir/x\n",
		"@huge.txt":   "The user referred to huge.txt. It could not be attached: it has 8388609 bytes; the tool read shows parts of it.",
	} {
		got := Attach(fenced{}, files, words)
		if len(got) != 1 || got[0].Text != want || got[0].Kind != quire.PartMachine {
			t.Errorf("%s: %+v, want %q", words, got, want)
		}
	}
	for _, words := range []string{"@big.txt", "@long.txt"} {
		text := Attach(fenced{}, files, words)[0].Text
		if len(text) > MaxAttached+200 || !utf8.ValidString(text) || !strings.Contains(text, "the tool read shows the rest") {
			t.Errorf("%s: %d bytes, begins %.80q", words, len(text), text)
		}
	}
}

func FuzzMentions(f *testing.F) {
	for _, seed := range []string{"@a", `@"x y":1-2`, "@@", "@a:1-", "(@b:3)", "@\x00", "@“q”"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		found := Mentions(text)
		if len(found) > maxMentions {
			t.Errorf("%d references", len(found))
		}
		for _, m := range found {
			if m.Path == "" || !strings.Contains(text, m.Path) || m.Lines.First > m.Lines.Last {
				t.Errorf("%q: %+v", text, m)
			}
		}
	})
}

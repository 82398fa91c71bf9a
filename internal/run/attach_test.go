package run

import (
	"context"
	"errors"
	"path"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/tool"
)

func TestMentions(t *testing.T) {
	for text, want := range map[string][]Mention{
		"look at @a.go":                        {{Path: "a.go"}},
		"@a.go:10-40, then (@b/c.go:7).":       {{Path: "a.go", Lines: quire.Range{First: 10, Last: 40}}, {Path: "b/c.go", Lines: quire.Range{First: 7, Last: 7}}},
		`@"a b.txt" and @"c d.txt":2-3`:        {{Path: "a b.txt"}, {Path: "c d.txt", Lines: quire.Range{First: 2, Last: 3}}},
		"all of @dir/ twice: @dir/":            {{Path: "dir/"}},
		"mail me@example.com, @ nothing, @@":   nil,
		"as in @@s7, and @@01JQZ3. not @@../x": {{Session: "s7"}, {Session: "01JQZ3"}},
		"看 @说明.md。":                            {{Path: "说明.md"}},
		"@a:40-10 @b:x @c:0":                   {{Path: "a:40-10"}, {Path: "b:x"}, {Path: "c:0"}},
		`@"never closed`:                       nil,
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

// cards are those of sessions by their names.
type cards map[string]string

func (c cards) Card(_ context.Context, session string, most int) (string, error) {
	card, ok := c[session]
	if !ok {
		return "", errors.New("there is no such session")
	}
	return card[:min(len(card), most)], nil
}

// newAttacher attaches from a small project. What begins with P6 is an image, what
// begins with %D a document.
func newAttacher() *Attacher {
	show := func(name string, data []byte) (tool.Result, bool) {
		switch {
		case strings.HasPrefix(string(data), "P6"):
			return tool.Result{Text: name + ": an image", Media: &quire.Media{Type: "image/png", Bytes: len(data)}, Data: string(data)}, true
		case strings.HasPrefix(string(data), "%D"):
			return tool.Result{Text: "first\nsecond\n"}, true
		case strings.HasPrefix(string(data), "P7"):
			return tool.Failed("%s is too large.", name), true
		}
		return tool.Result{}, false
	}
	return &Attacher{Project: fenced{}, Show: show, Sessions: cards{"s7": "[card]"}, Files: fstest.MapFS{
		"a.txt":    {Data: []byte("one\ntwo\nthree\n")},
		"huge.txt": {Data: make([]byte, maxFile+1)},
		"bin":      {Data: []byte("\x00\x01")},
		"i.png":    {Data: []byte("P6\x00")}, "j.png": {Data: []byte("P7\x00")}, "d.pdf": {Data: []byte("%D\x00")},
		"dir/x": {}, "dir/sub/y": {},
	}}
}

// failures.md B14: quoting, lines, folders and sessions; nothing from outside; and
// what cannot be read is told to the model.
func TestAttachSaysWhatItCannotRead(t *testing.T) {
	a := newAttacher()
	for words, want := range map[string]string{
		"@a.txt":      "Attached by the user: a.txt\none\ntwo\nthree\n",
		"@a.txt:2-9":  "Attached by the user: a.txt, lines 2 to 4\ntwo\nthree\n",
		"@a.txt:9":    "The user referred to a.txt. It could not be attached: it has 4 lines.",
		"@bin":        "The user referred to bin. It could not be attached: it is neither a text nor an image or a document.",
		"@none":       "The user referred to none. It could not be attached: there is no such file.",
		"@../secret":  "The user referred to ../secret. It could not be attached: it leads out of the project.",
		"@/etc/hosts": "The user referred to /etc/hosts. It could not be attached: it leads out of the project.",
		"@dir/":       "Attached by the user: the folder dir/, 2 entries\ndir/sub/\ndir/x\n",
		"@huge.txt":   "The user referred to huge.txt. It could not be attached: it has 8388609 bytes; the tool read shows parts of it.",
		"@d.pdf:2":    "Attached by the user: d.pdf, lines 2 to 2\nsecond\n",
		"@j.png":      "The user referred to j.png. It could not be attached: j.png is too large.",
		"@@s7":        "Attached by the user: what is on record of session s7\n[card]",
		"@@s8":        "The user referred to session s8. It could not be attached: there is no such session.",
	} {
		got := a.Attach(t.Context(), words)
		if len(got) != 1 || got[0].Text != want || got[0].Kind != quire.PartMachine {
			t.Errorf("%s: %+v, want %q", words, got, want)
		}
	}
	got := a.Attach(t.Context(), "see @i.png and @none")
	if len(got) != 3 || got[0].Text != "Attached by the user: i.png: an image" || got[1].Kind != quire.PartImage || got[1].Data != "P6\x00" {
		t.Errorf("an image is attached as %+v", got)
	}
	bare := &Attacher{Project: fenced{}, Files: a.Files}
	for _, words := range []string{"@@s7", "@i.png"} {
		if got := bare.Attach(t.Context(), words); len(got) != 1 || !strings.Contains(got[0].Text, "could not be attached") {
			t.Errorf("%s: %+v", words, got)
		}
	}
}

// An attachment over the bound of admission stands as an excerpt with its page's
// name, and is read back to its last line.
func TestAttachmentsAreAdmitted(t *testing.T) {
	l, m, _ := newLoop(t, func(n int, _ quire.Call) ([]quire.Block, error) { return says("ok"), nil })
	var text strings.Builder
	for i := range 30 {
		text.WriteString(file(i))
	}
	a := newAttacher()
	a.Files = fstest.MapFS{"big.go": {Data: []byte(text.String())}}
	blocks := append([]quire.Block{ask("what is @big.go")}, a.Attach(t.Context(), "what is @big.go")...)
	if _, err := l.Turn(t.Context(), blocks...); err != nil {
		t.Fatal(err)
	}
	var sent string
	for _, b := range m.calls[0].Messages[0].Blocks {
		sent += b.Text
	}
	if n := l.Step.count.Count(sent); n > admitText+500 || !strings.Contains(sent, "big.go") {
		t.Errorf("an attachment of %d bytes stands with %d tokens", text.Len(), n)
	}
	whole, ok := l.Step.text(2)
	if !ok || !strings.HasSuffix(whole, text.String()) {
		t.Errorf("of %d bytes %d can be read back", text.Len(), len(whole))
	}
}

func FuzzMentions(f *testing.F) {
	for _, seed := range []string{"@a", `@"x y":1-2`, "@@", "@@s7.", "@a:1-", "(@b:3)", "@\x00", "@“q”"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		found := Mentions(text)
		if len(found) > maxMentions {
			t.Errorf("%d references", len(found))
		}
		for _, m := range found {
			if (m.Path == "") == (m.Session == "") || !strings.Contains(text, m.Path+m.Session) || m.Lines.First > m.Lines.Last {
				t.Errorf("%q: %+v", text, m)
			}
		}
	})
}

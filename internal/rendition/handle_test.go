package rendition

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/secret"
)

func tool(action quire.Action, target, text string) Source {
	return Source{Text: text, Page: quire.Page{Number: 412, Kind: quire.PageTool, Class: quire.ClassProse, Tool: "t", Action: action, Target: target, Bytes: len(text), Tokens: 1240}}
}

func TestHandle(t *testing.T) {
	read := tool(quire.ActionRead, "internal/x/y.go", "x")
	part := read
	part.Page.Lines = quire.Range{First: 10, Last: 40}
	user := Source{Text: "\nPlease fix the importer.\nIt is slow.", Page: quire.Page{Number: 3, Kind: quire.PageUser, Bytes: 40}}
	for want, s := range map[string]Source{
		"[read internal/x/y.go, 1240 tokens: recall p412]":                            read,
		"[read internal/x/y.go L10-L40, 1240 tokens: recall p412]":                    part,
		"[ran go test ./..., 1240 tokens: recall p412]":                               tool(quire.ActionRun, "go test ./...", "x"),
		"[read …/inside/deep/folders/of/a/project/file.go, 1240 tokens: recall p412]": tool(quire.ActionRead, strings.Repeat("long/", 20)+"inside/deep/folders/of/a/project/file.go", "x"),
		`[user "Please fix the importer.", 40 bytes: recall p3]`:                      user,
		"[ran go test ./internal/a…/f/ -run TestZ, 1240 tokens: recall p412]":         tool(quire.ActionRun, "go test ./internal/a/ ./internal/b/ ./internal/c/ ./internal/d/ ./internal/e/ ./internal/f/ -run TestZ", "x"),
		"[tool t, 1240 tokens: recall p412]":                                          tool("", "", "x"),
	} {
		if got := maker().Handle(s); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestHandlesAreMasked(t *testing.T) {
	const key = "k3J9xQ2mV7bN4wZ8"
	for _, s := range []Source{
		tool(quire.ActionRun, `curl -H "token: `+key+`" localhost`, "x"),
		{Text: "the api_key=" + key, Page: quire.Page{Number: 3, Kind: quire.PageUser}},
	} {
		if h := maker().Handle(s); strings.Contains(h, key) || !strings.Contains(h, "‹secret:") {
			t.Errorf("%s", h)
		}
	}
}

// failures.md A28: who reads the handle of an image knows that it was removed on
// purpose, and how to see it again.
func TestImageHandleSaysWhy(t *testing.T) {
	s := Source{
		Page:  quire.Page{Number: 9, Kind: quire.PageImage, Class: quire.ClassImage, Target: "shots/login.png"},
		Media: &quire.Media{Type: "image/png", Bytes: 90_000, Width: 1280, Height: 720},
		Seen:  "The login form is cut off. I will widen it.",
	}
	want := `[image 1280×720 of shots/login.png, seen as "The login form is cut off.", removed on purpose; recall p9 shows it]`
	if got := maker().Handle(s); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	s.Page.Target, s.Seen, s.Media = "", "", nil
	if got, want := maker().Handle(s), "[image, removed on purpose; recall p9 shows it]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// failures.md A37: without a way to read a page back there is neither a handle nor
// a shortened text; with one, each names that way and no other.
func TestNoReaderNoHandle(t *testing.T) {
	s := page(quire.ClassLog, strings.Repeat("line\n", 500)+strings.Repeat("other\n", 500))
	none := NewMaker(secret.NewFinder(), counter(), nil)
	if h := none.Handle(s); h != "" {
		t.Errorf("handle %q", h)
	}
	for name, make := range cutters(none, s) {
		if c, ok := make(); ok {
			t.Errorf("%s makes %q", name, c.Text)
		}
	}
	s.Page.Number = 0
	if h := maker().Handle(s); h != "" {
		t.Errorf("handle %q of a page without a number", h)
	}
	files := NewMaker(secret.NewFinder(), counter(), func(r quire.PageRef) string { return "read pages/" + r.Page.String() + ".txt" })
	s.Page.Number = 7
	for name, make := range cutters(files, s) {
		c, ok := make()
		if !ok || !strings.Contains(c.Text, "read pages/p7.txt") || strings.Contains(c.Text, "recall") {
			t.Errorf("%s: %v %q", name, ok, c.Text)
		}
	}
}

func cutters(m *Maker, s Source) map[string]func() (Cut, bool) {
	return map[string]func() (Cut, bool){
		"Excerpt":   func() (Cut, bool) { return m.Excerpt(s, Want{}, 500) },
		"HeadTail":  func() (Cut, bool) { return m.HeadTail(s, 500) },
		"Ranges":    func() (Cut, bool) { return m.Ranges(s, []quire.Range{{First: 3, Last: 9}}) },
		"Normalise": func() (Cut, bool) { return m.Normalise(s) },
	}
}

// A handle has at most MaxHandle tokens, whatever the page is called.
func TestHandleTokens(t *testing.T) {
	m := maker()
	words := rapid.OneOf(rapid.String(), rapid.StringMatching(`([a-z]{1,12}[/_. -]){1,30}`), rapid.StringMatching(`[0-9a-f]{1,80}`),
		rapid.StringMatching(`[缓存命中率在哪里，。]{1,60}`), rapid.StringMatching(`[A-Za-z0-9+/=_-]{1,120}`))
	rapid.Check(t, func(t *rapid.T) {
		s := tool(rapid.SampledFrom([]quire.Action{"", quire.ActionRead, quire.ActionRun, quire.ActionSearch}).Draw(t, "action"), words.Draw(t, "target"), words.Draw(t, "text"))
		s.Page.Number = quire.PageNumber(rapid.Int32Range(1, 9_999_999).Draw(t, "number"))
		s.Page.Tokens = rapid.IntRange(0, 9_999_999).Draw(t, "tokens")
		s.Page.Kind = quire.PageKind(rapid.IntRange(1, 8).Draw(t, "kind"))
		s.Seen = words.Draw(t, "seen")
		h := m.Handle(s)
		if n := counter().Count(h); n > MaxHandle {
			t.Fatalf("%d tokens: %s", n, h)
		}
	})
}

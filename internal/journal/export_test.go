package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"pgregory.net/rapid"
)

// A pool keeps bodies in memory.
type pool map[quire.Hash]string

func (p pool) PutBodies(_ context.Context, bodies [][]byte) ([]quire.Hash, error) {
	var hs []quire.Hash
	for _, b := range bodies {
		h := quire.Sum(string(b))
		p[h] = string(b)
		hs = append(hs, h)
	}
	return hs, nil
}

func (p pool) Body(_ context.Context, h quire.Hash) ([]byte, error) {
	body, ok := p[h]
	if !ok {
		return nil, quire.ErrNotFound
	}
	return []byte(body), nil
}

func (p pool) HasBodies(_ context.Context, hs []quire.Hash) ([]bool, error) {
	var list []bool
	for _, h := range hs {
		_, ok := p[h]
		list = append(list, ok)
	}
	return list, nil
}

func (p pool) put(body string) quire.Hash {
	h := quire.Sum(body)
	p[h] = body
	return h
}

// recorded makes a home with one session whose parts have the given bodies.
func recorded(t *testing.T, p pool, bodies ...string) (home, path string) {
	t.Helper()
	home = t.TempDir()
	w, _, err := Create(home, quire.SessionRecord{Owner: "user:ada", Source: "log of <ada>"}, newClock().now)
	if err != nil {
		t.Fatal(err)
	}
	for i, body := range bodies {
		add(t, w, quire.RecordPart, quire.PartRecord{Node: i, Part: quire.Part{Kind: quire.PartUser}, Body: p.put(body), Pages: []quire.PageNumber{quire.PageNumber(i + 1)}})
	}
	closed(t, w)
	return home, w.Path()
}

func exported(t *testing.T, path string, p pool, mask func(string) string) string {
	t.Helper()
	var b bytes.Buffer
	if err := Export(t.Context(), &b, path, p, mask); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestExportIsOneFile(t *testing.T) {
	p := pool{}
	_, path := recorded(t, p, "first <text>", "not \xff UTF-8", "first <text>")
	got := strings.SplitAfter(exported(t, path, p, nil), "\n")
	lines := strings.SplitAfter(contents(t, path), "\n")
	head, err := Head(path)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		fmt.Sprintf(`{"export":"session","v":1,"masked":false,"session":1,"ulid":"%s"}`+"\n", head.ULID),
		lines[0],
		fmt.Sprintf(`{"export":"body","hash":"%s","text":"first <text>"}`+"\n", quire.Sum("first <text>")),
		lines[1],
		fmt.Sprintf(`{"export":"body","hash":"%s","base64":"bm90IP8gVVRGLTg="}`+"\n", quire.Sum("not \xff UTF-8")),
		lines[2],
		lines[3],
		fmt.Sprintf(`{"export":"end","lines":4,"bodies":2,"digest":"%s"}`+"\n", quire.Sum(contents(t, path))),
		"",
	}
	if strings.Join(got, "") != strings.Join(want, "") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, ""), strings.Join(want, ""))
	}
}

// Whatever a journal and its bodies hold, both are the same after a round trip.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := pool{}
		body := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
		_, path := recorded(t, p, rapid.SliceOf(body).Draw(rt, "bodies")...)
		line := rapid.OneOf(rapid.SampledFrom([]string{
			`{"export":"end","lines":0}`, `{"v":9,"t":"2031-01-01T00:00:00Z","seq":77,"type":"new","hash":"` + p.put("of a newer program").String() + `"}`, "", "{", "\x00\xff", " {} \r",
			`{"v":1,"t":"2031-01-01T00:00:00Z","seq":78,"type":"part","part":{"kind":"newer"},"body":7}`,
			`{"v":1,"t":"2031-01-01T00:00:00Z","seq":79,"type":"mark","what":"forget","page":2}`,
		}), rapid.StringMatching(`[^\n]*`))
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			rt.Fatal(err)
		}
		for _, l := range rapid.SliceOf(line).Draw(rt, "lines") {
			if _, err := f.WriteString(l + "\n"); err != nil {
				rt.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			rt.Fatal(err)
		}
		text := exported(t, path, p, nil)
		home, q := t.TempDir(), pool{}
		done, err := Import(t.Context(), home, strings.NewReader(text), q, Options{})
		if err != nil {
			rt.Fatal(err)
		}
		if contents(t, done.Path) != contents(t, path) || !done.New {
			rt.Errorf("the journal is now %q, was %q", contents(t, done.Path), contents(t, path))
		}
		for h := range q {
			if q[h] != p[h] {
				rt.Errorf("the body %s is now %q, was %q", h, q[h], p[h])
			}
		}
		if again := exported(t, done.Path, q, nil); again != text {
			rt.Errorf("exported again:\n%s\nwas\n%s", again, text)
		}
	})
}

func TestMissingAndDamagedBodies(t *testing.T) {
	p := pool{}
	_, path := recorded(t, p, "there", "gone")
	delete(p, quire.Sum("gone"))
	err := Export(t.Context(), &bytes.Buffer{}, path, p, nil)
	if !errors.Is(err, quire.ErrMissing) || !strings.Contains(err.Error(), quire.Sum("gone").String()) {
		t.Errorf("got %v", err)
	}
}

// What is forgotten is in no export, though the pool may still have it for other
// sessions; the rest is complete.
func TestForgottenIsNotExported(t *testing.T) {
	for name, mark := range map[string]quire.MarkRecord{
		"page": {What: "forget", Page: 2}, "body": {What: "forget", Body: quire.Sum("secret thought")},
	} {
		for _, there := range []bool{true, false} {
			p := pool{}
			_, path := recorded(t, p, "kept", "secret page")
			w := open(t, path)
			add(t, w, quire.RecordPart, quire.PartRecord{Node: 2, Part: quire.Part{Kind: quire.PartThinking}, Body: p.put("secret thought")})
			add(t, w, quire.RecordMark, mark)
			closed(t, w)
			gone := map[string]string{"page": "secret page", "body": "secret thought"}[name]
			if !there {
				delete(p, quire.Sum(gone))
			}
			text := exported(t, path, p, nil)
			if strings.Contains(text, gone) || !strings.Contains(text, "kept") || strings.Count(text, `"text":"secret`) != 1 {
				t.Errorf("%s: exported\n%s", name, text)
			}
			q := pool{}
			done, err := Import(t.Context(), t.TempDir(), strings.NewReader(text), q, Options{})
			if err != nil || len(q) != 2 || contents(t, done.Path) != contents(t, path) {
				t.Errorf("%s: %+v (%v)", name, done, err)
			}
		}
	}
}

// A masked export holds the secret nowhere and does not import.
func TestMaskedExport(t *testing.T) {
	p := pool{}
	home, path := recorded(t, p, "the password is hunter2, yes", "binary \xff hunter2")
	w, err := Open(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	add(t, w, quire.RecordNote, quire.NoteRecord{Reason: "line with hunter2 and \"quotes\""})
	add(t, w, "newer", json.RawMessage(`{"deep":[{"hun\u0074er2":"a hun\u0074er2"}],"n":1.50}`))
	closed(t, w)
	write(t, path, contents(t, path)+"damaged hunter2\n"+contents(t, path)[:0])
	mask := func(s string) string { return strings.ReplaceAll(s, "hunter2", "[masked]") }
	text := exported(t, path, p, mask)
	for line := range strings.Lines(text) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
	}
	if strings.Contains(text, "hunter2") || strings.Contains(text, "hun\\u0074er2") || strings.Contains(text, "aHVudGVyM") {
		t.Errorf("the secret is in\n%s", text)
	}
	for _, want := range []string{`"masked":true`, `"the password is [masked], yes"`, `"line with [masked] and \"quotes\""`, `"deep":[{"[masked]":"a [masked]"}],"n":1.50`, quire.Sum("the password is hunter2, yes").String()} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if _, err := Import(t.Context(), home, strings.NewReader(text), p, Options{}); !errors.Is(err, ErrMasked) {
		t.Errorf("import: %v", err)
	}
}

// A mask that finds everything does not touch the names of bodies.
func TestMaskLeavesNamesOfBodies(t *testing.T) {
	p := pool{}
	_, path := recorded(t, p, "text")
	text := exported(t, path, p, func(string) string { return "*" })
	if strings.Count(text, quire.Sum("text").String()) != 2 {
		t.Errorf("the body is not named twice in\n%s", text)
	}
}

func TestImportAgain(t *testing.T) {
	p := pool{}
	_, path := recorded(t, p, "one", "two")
	text := exported(t, path, p, nil)
	home, q := t.TempDir(), pool{}
	ctx := t.Context()
	first, err := Import(ctx, home, strings.NewReader(text), q, Options{})
	if err != nil {
		t.Fatal(err)
	}
	clear(q)
	again, err := Import(ctx, home, strings.NewReader(text), q, Options{})
	if err != nil || again.New || again.Path != first.Path || !maps.Equal(p, q) {
		t.Errorf("again: %+v (%v)", again, err)
	}
	w := open(t, first.Path)
	add(t, w, "x", note{"more"})
	closed(t, w)
	longer := contents(t, first.Path)
	if again, err := Import(ctx, home, strings.NewReader(text), q, Options{}); err != nil || again.New || contents(t, first.Path) != longer {
		t.Errorf("after it went on: %+v (%v)", again, err)
	}
	longerText := exported(t, first.Path, q, nil)
	write(t, path, summed(strings.Replace(contents(t, path), "ada", "bob", 1)))
	for name, other := range map[string]string{"other": exported(t, path, p, nil), "longer": longerText} {
		write(t, first.Path, strings.TrimSuffix(longer, "}\n")+",\"changed\":1}\n")
		if _, err := Import(ctx, home, strings.NewReader(other), q, Options{}); !errors.Is(err, quire.ErrConflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	checkNoDrafts(t, home)
}

func checkNoDrafts(t *testing.T, home string) {
	t.Helper()
	entries, err := os.ReadDir(Folder(home))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".import") {
			t.Errorf("%s is left", e.Name())
		}
	}
}

func TestImportOfATakenNumber(t *testing.T) {
	p := pool{}
	_, path := recorded(t, p, "one")
	text := exported(t, path, p, nil)
	home, _ := recorded(t, pool{}, "of somebody else")
	if _, err := Import(t.Context(), home, strings.NewReader(text), p, Options{}); !errors.Is(err, quire.ErrConflict) || !strings.Contains(err.Error(), "s1 is another session") {
		t.Errorf("got %v", err)
	}
	done, err := Import(t.Context(), home, strings.NewReader(text), p, Options{Renumber: true})
	if err != nil || done.Number != 2 {
		t.Fatalf("renumbered: %+v (%v)", done, err)
	}
	if want := summed(strings.Replace(contents(t, path), `"session":1,`, `"session":2,`, 1)); contents(t, done.Path) != want {
		t.Errorf("got %s\nwant %s", contents(t, done.Path), want)
	}
	for _, renumber := range []bool{true, false} {
		again, err := Import(t.Context(), home, strings.NewReader(text), p, Options{Renumber: renumber})
		if err != nil || again.New || again.Number != 2 {
			t.Errorf("again: %+v (%v)", again, err)
		}
	}
	checkNoDrafts(t, home)
	if _, s := begin(t, home, quire.SessionRecord{}); s.Number != 3 {
		t.Errorf("the next session is %s", s.Number)
	}
}

func TestImportKeepsTheNumberAndGoesOnAfterIt(t *testing.T) {
	home := t.TempDir()
	for range 6 {
		begin(t, home, quire.SessionRecord{})
	}
	path, s := begin(t, home, quire.SessionRecord{})
	other := t.TempDir()
	done, err := Import(t.Context(), other, strings.NewReader(exported(t, path, pool{}, nil)), pool{}, Options{})
	if err != nil || done.Number != 7 || done.ULID != s.ULID {
		t.Errorf("imported as %+v (%v)", done, err)
	}
	if _, s := begin(t, other, quire.SessionRecord{}); s.Number != 8 {
		t.Errorf("the next session is %s", s.Number)
	}
}

// An export that is cut at any byte or altered in any way that shows is refused,
// and leaves no journal.
func TestDamagedExport(t *testing.T) {
	p := pool{}
	_, path := recorded(t, p, "one", "\xff")
	text := exported(t, path, p, nil)
	refused := func(name, text string, want error) {
		t.Helper()
		home := t.TempDir()
		if _, err := Import(t.Context(), home, strings.NewReader(text), pool{}, Options{}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
		if list, err := List(home); len(list) > 0 || err != nil {
			t.Errorf("%s left %v (%v)", name, list, err)
		}
		checkNoDrafts(t, home)
	}
	for n := range len(text) - 1 {
		refused(fmt.Sprintf("cut at %d", n), text[:n], quire.ErrDamaged)
	}
	lines := strings.SplitAfter(text, "\n")
	less := strings.Replace(text, lines[2], "", 1)
	refused("without a body", less, quire.ErrDamaged)
	refused("never with that body", strings.Replace(less, `"bodies":2`, `"bodies":1`, 1), quire.ErrMissing)
	refused("without a line", strings.Replace(text, lines[3], "", 1), quire.ErrDamaged)
	refused("other text", strings.Replace(text, `"text":"one"`, `"text":"two"`, 1), quire.ErrDamaged)
	refused("other line", strings.Replace(text, "user:ada", "user:bob", 1), quire.ErrDamaged)
	refused("after the end", text+lines[3], quire.ErrDamaged)
	refused("unknown part", lines[0]+`{"export":"new"}`+"\n", quire.ErrDamaged)
	refused("path in the ULID", strings.ReplaceAll(text, `"ulid":"0`, `"ulid":"/`), quire.ErrDamaged)
	refused("only a head", lines[0]+`{"export":"end","lines":0,"bodies":0,"digest":"`+quire.Sum("").String()+`"}`+"\n", quire.ErrDamaged)
	if _, err := Import(t.Context(), t.TempDir(), strings.NewReader(strings.Replace(text, `"v":1`, `"v":2`, 1)), pool{}, Options{}); err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("newer version: %v", err)
	}
}

type failing struct{ pool }

func (failing) PutBodies(context.Context, [][]byte) ([]quire.Hash, error) {
	return nil, quire.ErrFull
}

func TestImportWithoutRoomForBodies(t *testing.T) {
	p := pool{}
	_, path := recorded(t, p, "one")
	home := t.TempDir()
	if _, err := Import(t.Context(), home, strings.NewReader(exported(t, path, p, nil)), failing{p}, Options{}); !errors.Is(err, quire.ErrFull) {
		t.Errorf("got %v", err)
	}
	if list, err := List(home); len(list) > 0 || err != nil {
		t.Errorf("left %v (%v)", list, err)
	}
}

func TestHashesOfALine(t *testing.T) {
	a, b := quire.Sum("a"), quire.Sum("b")
	line := fmt.Sprintf(`{"x":"%s","y":["%s","%s",{"%s":1}],"z":"\"%s","w":"%s "}`, a, b, a, b, a, a)
	got := hashes([]byte(line))
	if len(got) != 2 || got[0] != a || got[1] != b {
		t.Errorf("got %v", got)
	}
}

// What is imported is a whole session or nothing, whatever the file holds.
func FuzzImport(f *testing.F) {
	const (
		first = `{"v":1,"t":"2026-03-04T05:06:07.000000089Z","seq":0,"type":"session","session":1,"ulid":"01JQZ3W8X4V5T6S7R8Q9P0N1M2"}` + "\n"
		head  = `{"export":"session","v":1,"masked":false,"session":1,"ulid":"01JQZ3W8X4V5T6S7R8Q9P0N1M2"}` + "\n"
	)
	end := func(journal string, bodies int) string {
		return fmt.Sprintf(`{"export":"end","lines":%d,"bodies":%d,"digest":"%s"}`+"\n", strings.Count(journal, "\n"), bodies, quire.Sum(journal))
	}
	for _, seed := range []string{
		"", head, head + first + end(first, 0), head + first + `{"export":"line","base64":"AA=="}` + "\n" + end(first+"\x00\n", 0),
		head + `{"export":"body","hash":"` + quire.Sum("a").String() + `","text":"a"}` + "\n" + first + end(first, 1),
		strings.Replace(head, "false", "true", 1), head + first + `{"export":"body"}` + "\n", head + "{}\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		home, q := t.TempDir(), pool{}
		done, err := Import(t.Context(), home, bytes.NewReader(text), q, Options{})
		list, listErr := List(home)
		if listErr != nil || (err == nil) != (len(list) == 1) {
			t.Fatalf("%v, and the home lists %v (%v)", err, list, listErr)
		}
		if err == nil {
			again, err := Import(t.Context(), t.TempDir(), strings.NewReader(exported(t, done.Path, q, nil)), pool{}, Options{})
			if err != nil || contents(t, again.Path) != contents(t, done.Path) {
				t.Fatalf("its export does not import: %v", err)
			}
		}
	})
}

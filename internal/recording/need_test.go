package recording

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/shingle"
)

const (
	source  = "func openLedger(name string) (*Ledger, error) {\n\treturn parseLedger(readWhole(name))\n}\n"
	another = "type Ledger struct {\n\tentries []Entry\n\tbalance Amount\n\tcurrency string\n}\n"
	listing = "/srv/books/ledger/archive/january/first.txt\n/srv/books/ledger/archive/january/second.txt\n"
)

// added is a text that entered.
type added struct {
	page quire.PageNumber
	kind quire.PageKind
	text string
}

func feed(adds []added) *needs {
	n := newNeeds()
	for _, a := range adds {
		n.add(a.page, a.kind, a.text)
	}
	return n
}

// brief shows needs as in "p3 strict written".
func brief(list []Need) string {
	var out []string
	for _, n := range list {
		s := n.Page.String()
		if n.Strict {
			s += " strict"
		}
		if n.Written {
			s += " written"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func TestNeeds(t *testing.T) {
	read := func(p quire.PageNumber, text string) added { return added{p, quire.PageTool, text} }
	tests := []struct {
		name  string
		adds  []added
		floor quire.PageNumber
		texts []string
		want  string
	}{
		{"nothing before", nil, 0, []string{source}, ""},
		{"nothing said", []added{read(1, source)}, 0, nil, ""},
		{"quoted whole", []added{read(1, source)}, 0, []string{source}, "p1 strict"},
		{"without line numbers", []added{read(1, "  7→"+strings.ReplaceAll(source, "\n", "\n  8→"))}, 0, []string{source}, "p1 strict"},
		{"youngest page", []added{read(1, source), read(2, another), read(3, source)}, 0, []string{source}, "p3 strict"},
		{"two pages", []added{read(1, source), read(2, another)}, 0, []string{another + source}, "p1 strict, p2 strict"},
		{"two texts", []added{read(1, source), read(2, another)}, 0, []string{source, another}, "p1 strict, p2 strict"},
		{"two shingles", []added{read(1, source)}, 0, []string{"func openLedger(name string) (x"}, ""},
		{"three shingles", []added{read(1, source)}, 0, []string{"func openLedger(name string) (*x"}, "p1"},
		{"four shingles", []added{read(1, source)}, 0, []string{"func openLedger(name string) (*Ledger x"}, "p1 strict"},
		{"broken run", []added{read(1, source)}, 0, []string{"func openLedger(name string) (*x; return parseLedger(readWhole(x"}, "p1"},
		{"apart in two texts", []added{read(1, source)}, 0, []string{"func openLedger(name string) (x", "name string) (*Ledger x"}, "p1"},
		{"one shingle three times", []added{read(1, source)}, 0, []string{strings.Repeat("name string) (*Ledger x\n", 3)}, ""},
		{"said by the model before", []added{read(1, source), {2, quire.PageAssistant, source}}, 0, []string{source}, ""},
		{"shown again after that", []added{{1, quire.PageAssistant, source}, read(2, source)}, 0, []string{source}, "p2 strict"},
		{"result after the call of one page", []added{{1, quire.PageAssistant, source}, read(1, source)}, 0, []string{source}, "p1 strict"},
		{"written", []added{read(1, source), {2, quire.PageWritten, source}}, 0, []string{source}, "p2 strict written"},
		{"on three pages", []added{read(1, source), read(2, source), read(3, source)}, 0, []string{source}, "p3 strict"},
		{"on four pages", []added{read(1, source), read(2, source), read(3, source), read(4, source)}, 0, []string{source}, "p4"},
		{"out of context", []added{read(1, source), read(2, another)}, 2, []string{source + another}, "p1, p2 strict"},
		{"a path", []added{read(1, listing)}, 0, []string{"/srv/books/ledger/archive/january/first.txt"}, "p1"},
		{"lines of paths", []added{read(1, listing)}, 0, []string{listing}, "p1"},
		{"Chinese", []added{{1, quire.PageUser, "请修复登录页面的内存泄漏"}}, 0, []string{"我来修复登录页面的内存泄漏。"}, "p1 strict"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := feed(tt.adds)
			n.reset(tt.floor)
			if got := brief(n.of(1, tt.texts)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestNeedsKeepBothLists(t *testing.T) {
	n := feed([]added{{1, quire.PageTool, source}})
	got := n.of(7, []string{"func openLedger(name string) (*Ledger x; parseLedger(readWhole(name))\n}"})
	if len(got) != 1 || got[0].Call != 7 || !got[0].Wide || len(got[0].StrictShingles) != 4 || len(got[0].Shingles) <= 4 {
		t.Fatalf("got %+v", got)
	}
	for _, h := range got[0].StrictShingles {
		if _, ok := slices.BinarySearch(got[0].Shingles, h); !ok {
			t.Errorf("strict shingle %x is not among the wide ones", h)
		}
	}
}

// plainNeeds is the definition read word by word, without an index.
func plainNeeds(adds []added, floor quire.PageNumber, call int32, texts []string) []Need {
	byPage := map[quire.PageNumber]*Need{}
	at := func(p quire.PageNumber) *Need {
		if byPage[p] == nil {
			byPage[p] = &Need{Call: call, Page: p}
		}
		return byPage[p]
	}
	for _, text := range texts {
		shingles := scanned(text)
		for _, s := range shingles {
			last, _ := occurrences(adds, s.Hash)
			if last.page == 0 || last.kind == quire.PageAssistant {
				continue
			}
			at(last.page).Shingles = append(at(last.page).Shingles, s.Hash)
			at(last.page).Written = at(last.page).Written || last.kind == quire.PageWritten
		}
		for i := 0; i < len(shingles); {
			j := i
			for j < len(shingles) && strictPage(adds, floor, shingles[j]) == strictPage(adds, floor, shingles[i]) &&
				(j == i || shingles[j].Pos < shingles[j-1].Pos+shingle.Width) {
				j++
			}
			if p := strictPage(adds, floor, shingles[i]); p != 0 && j-i >= 4 {
				for _, s := range shingles[i:j] {
					at(p).StrictShingles = append(at(p).StrictShingles, s.Hash)
				}
			}
			i = j
		}
	}
	var out []Need
	for _, n := range byPage {
		n.Shingles, n.StrictShingles = set(n.Shingles), set(n.StrictShingles)
		if len(n.Shingles) >= 3 {
			n.Wide, n.Strict = true, len(n.StrictShingles) > 0
			out = append(out, *n)
		}
	}
	slices.SortFunc(out, func(a, b Need) int { return cmp.Compare(a.Page, b.Page) })
	return out
}

func scanned(text string) (out []shingle.Shingle) {
	shingle.Scan(text, func(s shingle.Shingle) bool {
		out = append(out, s)
		return true
	})
	return out
}

func occurrences(adds []added, hash uint64) (last added, pages int) {
	var seen []quire.PageNumber
	for _, a := range adds {
		if slices.ContainsFunc(scanned(a.text), func(s shingle.Shingle) bool { return s.Hash == hash }) {
			last = a
			if !slices.Contains(seen, a.page) {
				seen = append(seen, a.page)
			}
		}
	}
	return last, len(seen)
}

func strictPage(adds []added, floor quire.PageNumber, s shingle.Shingle) quire.PageNumber {
	last, pages := occurrences(adds, s.Hash)
	if last.kind == quire.PageAssistant || s.Path || pages > 3 || last.page < floor {
		return 0
	}
	return last.page
}

func TestNeedsAreTheDefinition(t *testing.T) {
	word := rapid.SampledFrom([]string{"alpha", "gamma", "delta", "omega", "kappa", "if", "(", "x", "/alpha/gamma/delta", "内", "存"})
	kind := rapid.SampledFrom([]quire.PageKind{quire.PageUser, quire.PageTool, quire.PageTool, quire.PageAssistant, quire.PageWritten})
	rapid.Check(t, func(t *rapid.T) {
		stock := rapid.SliceOfN(word, 60, 60).Draw(t, "stock")
		text := func() string {
			i := rapid.IntRange(0, 50).Draw(t, "from")
			quote := stock[i:min(len(stock), i+rapid.IntRange(0, 25).Draw(t, "words"))]
			return strings.Join(append(slices.Clone(quote), rapid.SliceOfN(word, 0, 8).Draw(t, "own")...), " ")
		}
		var adds []added
		for p := range rapid.IntRange(0, 7).Draw(t, "pages") {
			adds = append(adds, added{quire.PageNumber(p + 1), kind.Draw(t, "kind"), text()})
		}
		floor := quire.PageNumber(rapid.IntRange(0, 4).Draw(t, "floor"))
		texts := []string{text(), text()}
		n := feed(adds)
		n.reset(floor)
		got, want := n.of(3, texts), plainNeeds(adds, floor, 3, texts)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("got  %v\nwant %v", got, want)
		}
	})
}

// prose makes n distinct words' worth of text.
func prose(seed, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "word%d_%d ", seed, i)
	}
	return b.String()
}

func TestSampledNeeds(t *testing.T) {
	n := &needs{index: shingle.NewIndex(1000)}
	for p := range 8 {
		n.add(quire.PageNumber(p+1), quire.PageTool, prose(p, 500))
	}
	if n.sampled() < 2 {
		t.Fatalf("halved %d times", n.sampled())
	}
	got := n.of(1, []string{prose(2, 60), prose(99, 60)})
	if brief(got) != "p3 strict" {
		t.Fatalf("got %q", brief(got))
	}
	if len(got[0].Shingles) >= 55 || slices.ContainsFunc(got[0].Shingles, func(h uint64) bool { return !n.index.Keeps(h) }) {
		t.Errorf("%d shingles, some of which are not remembered", len(got[0].Shingles))
	}
	mixed := strings.ReplaceAll(prose(2, 60), "_3", "_x3") // breaks at words 3, 30 to 39
	for _, h := range n.of(1, []string{mixed})[0].Shingles {
		if !slices.ContainsFunc(scanned(mixed), func(s shingle.Shingle) bool { return s.Hash == h }) {
			t.Errorf("shingle %x is not in the text", h)
		}
	}
}

func TestLocate(t *testing.T) {
	text := "idiom return wrapped error from caller\n" + strings.Repeat("filler\n", 4) +
		source + "idiom return wrapped error from caller\n" + strings.Repeat("filler\n", 4) + another
	shingles := func(texts ...string) (out []uint64) {
		for _, s := range texts {
			for _, g := range scanned(s) {
				out = append(out, g.Hash)
			}
		}
		return set(out)
	}
	tests := []struct {
		name     string
		shingles []uint64
		want     []quire.Range
	}{
		{"none", nil, nil},
		{"not there", shingles("alpha beta gamma delta omega kappa"), nil},
		{"one place", shingles(another), []quire.Range{{First: 14, Last: 18}}},
		{"the place with more of them", shingles(source, "idiom return wrapped error from caller"), []quire.Range{{First: 6, Last: 9}}},
		{"two places", shingles("name string) (*Ledger, error)", "entries []Entry balance Amount"), []quire.Range{{First: 6, Last: 6}, {First: 15, Last: 16}}},
	}
	for _, tt := range tests {
		if got := Locate(text, tt.shingles); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestLinesSeen(t *testing.T) {
	l := newLines()
	l.add(1, source)
	l.add(2, another)
	l.add(3, "}\n")
	tests := []struct {
		name, text string
		share      float64
		page       quire.PageNumber
	}{
		{"empty", " \n\n", 0, 0},
		{"new", "alpha\nbeta\n", 0, 0},
		{"all, numbered", "1→" + strings.ReplaceAll(another, "\n", "\n2→"), 1, 2},
		{"half of it", "type Ledger struct {\n\tentries []Entry\nalpha\nbeta\n", .5, 2},
		{"youngest of equals", "func openLedger(name string) (*Ledger, error) {\ntype Ledger struct {\n", 1, 2},
	}
	for _, tt := range tests {
		if share, page := l.seen(tt.text); share != tt.share || page != tt.page {
			t.Errorf("%s: share %v of %v, want %v of %v", tt.name, share, page, tt.share, tt.page)
		}
	}
}

func TestEdits(t *testing.T) {
	n, l := feed([]added{{1, quire.PageTool, source}}), newLines()
	l.add(1, source)
	tests := []struct {
		name            string
		old             []string
		lines, shingles int
		ok              bool
	}{
		{"nothing", nil, 0, 0, false},
		{"whole lines", []string{source}, 3, 0, true},
		{"a line twice", []string{"}", "}\n"}, 1, 0, true},
		{"begins and ends inside lines", []string{"name string) (*Ledger, error) {\n\treturn parseLedger(readWhole(name))\n}"}, 2, 5, true},
		{"a line that the session never showed", []string{"}\nalpha beta gamma delta omega kappa\n"}, 1, 0, true},
		{"only such lines", []string{"alpha beta gamma delta omega kappa"}, 0, 0, false},
	}
	for _, tt := range tests {
		e, ok := edits(4, tt.old, n, l)
		if ok != tt.ok || e.Call != 4 || len(e.Lines) != tt.lines || len(e.Shingles) != tt.shingles {
			t.Errorf("%s: %d lines, %d shingles, %t; want %d, %d, %t", tt.name, len(e.Lines), len(e.Shingles), ok, tt.lines, tt.shingles, tt.ok)
		}
	}
}

func BenchmarkNeeds(b *testing.B) {
	text := strings.Repeat(source+another+listing, 50)
	b.Run("add", func(b *testing.B) {
		n := newNeeds()
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			n.add(1, quire.PageTool, text)
		}
	})
	b.Run("of", func(b *testing.B) {
		n := feed([]added{{1, quire.PageTool, text}})
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			n.of(1, []string{text})
		}
	})
}

package retrieve

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/term"
)

// code draws text as it stands in sources, logs and notes, with few different
// words, so that they meet.
func code() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		out := ""
		for range rapid.IntRange(0, 30).Draw(t, "words") {
			out += rapid.SampledFrom([]string{
				"flies", "fly", "carried", "carry", "planned", "parseHeader", "parse_header", "HTTPServer", "internal/x/fly.go", "a.b", "x::carry",
				"E1042", "7", "42", "deadbeef00", "时间", "時計carry", "naïve", "use", "uses", "ab", "AB", "if err != nil {", "return 0,",
			}).Draw(t, "word")
			out += rapid.SampledFrom([]string{" ", " ", "\n", ", ", "(", ").", "-", "/", ":", "_", ""}).Draw(t, "between")
		}
		return out
	})
}

// What a sieve lets through holds every term that was added, as often and in the
// order in which the whole text has it.
func TestSieveLosesNoTerm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wanted := map[string]bool{}
		s := newSieve()
		term.Scan(code().Draw(t, "query"), func(word []byte, _ term.Kind) {
			wanted[string(word)] = true
			s.add(string(word))
		})
		text := code().Draw(t, "text")
		var got, want []string
		s.scan(text, func(word []byte, _ term.Kind) { got = keep(got, word, wanted) })
		term.Scan(text, func(word []byte, _ term.Kind) { want = keep(want, word, wanted) })
		if !slices.Equal(got, want) {
			t.Fatalf("sieved %q, all %q", got, want)
		}
	})
}

func keep(out []string, word []byte, wanted map[string]bool) []string {
	if wanted[string(word)] {
		return append(out, string(word))
	}
	return out
}

func TestSieveStopsWords(t *testing.T) {
	s := newSieve()
	s.add("header")
	s.scan("parse the body of it, then a Header", func(word []byte, _ term.Kind) {
		if string(word) != "header" {
			t.Errorf("%q came through", word)
		}
	})
}

func BenchmarkView(b *testing.B) {
	l := newLibrary(1)
	text := ""
	for i := range 50 {
		text += l.text(i)
	}
	w := parseWish(l.query(1, true))
	g := newGloss(w.asked(), w.terms)
	row := l.row(0)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		g.view(&row, text)
	}
}

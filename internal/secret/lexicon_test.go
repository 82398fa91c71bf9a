package secret

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestLexiconFindsWhatAPlainSearchFinds compares with one search a word.
func TestLexiconFindsWhatAPlainSearchFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := slices.Compact(slices.Sorted(slices.Values(rapid.SliceOfN(rapid.StringMatching(`[ab_:]{1,5}`), 1, 12).Draw(t, "words"))))
		text := rapid.StringMatching(`[abAB_:x]{0,60}`).Draw(t, "text")
		var got, want [][2]int
		newLexicon(words).each(text, func(word, at int) { got = append(got, [2]int{word, at}) })
		for n, w := range words {
			for i := range len(text) {
				if strings.HasPrefix(strings.ToLower(text[i:]), w) {
					want = append(want, [2]int{n, i})
				}
			}
		}
		order := func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }
		slices.SortFunc(got, order)
		slices.SortFunc(want, order)
		if !slices.Equal(got, want) {
			t.Fatalf("%q in %q: got %v, want %v", words, text, got, want)
		}
	})
}

// TestRulesAreSound holds what the engine takes for granted of a rule.
func TestRulesAreSound(t *testing.T) {
	for _, r := range rules() {
		if (r.form == "") == (r.find == nil) || len(r.words) == 0 || len(r.id) > longestID {
			t.Errorf("%s: %+v", r.id, r)
		}
		for _, w := range r.words {
			if w != strings.ToLower(w) || len(w) < 2 {
				t.Errorf("%s: word %q", r.id, w)
			}
		}
		if r.form != "" && r.compile().NumSubexp() > 1 {
			t.Errorf("%s: several groups", r.id)
		}
	}
}

func TestEntropy(t *testing.T) {
	for text, want := range map[string]float64{"aaaa": 0, "abab": 1, "abcd": 2, "aabbccdd": 2} {
		if got := entropy(text); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

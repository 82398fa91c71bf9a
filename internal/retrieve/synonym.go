package retrieve

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/term"
)

//go:embed synonyms.txt
var synonymText string

// synonymWeight is what a word counts that stands for one of the query.
const synonymWeight = 0.3

// fewForeign is how many words a query has at most for which others are
// looked up too: a long text says itself what it means.
const fewForeign = 24

// widen appends the terms of the words that mean the same as words of the query.
func (w *wish) widen() {
	if w.words > fewForeign {
		return
	}
	text := strings.ToLower(w.text)
	has := func(word string) bool {
		if term.CJK(word) {
			return strings.Contains(text, word)
		}
		at := termOf(word)
		return slices.ContainsFunc(w.asked(), func(t index.Term) bool { return t.Text == at })
	}
	var more []string
	for line := range strings.SplitSeq(synonymText, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		if group := strings.Fields(line); slices.ContainsFunc(group, has) {
			more = append(more, group...)
		}
	}
	w.add(more)
}

// asked are the terms of the query itself.
func (w *wish) asked() []index.Term { return w.terms[:w.own] }

// add appends the terms of words that the query does not hold.
func (w *wish) add(words []string) {
	for _, word := range words {
		term.Scan(word, func(text []byte, kind term.Kind) {
			known := slices.ContainsFunc(w.terms, func(t index.Term) bool { return t.Text == string(text) })
			if kind != term.Single && !known && len(w.terms) < maxQueryTerms {
				w.terms = append(w.terms, index.Term{Text: string(text), Weight: synonymWeight})
			}
		})
	}
}

package quiz

import (
	"context"
	"slices"

	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/retrieve"
	"github.com/quire-agent/quire/internal/shingle"
	"github.com/quire-agent/quire/internal/term"
)

// holders knows which pages hold the text that needs are about: a page that
// holds nearly all of it answers a question as well as the one that it was taken
// from, be it a re-read, a newer version or a longer part of the same file.
type holders struct {
	wanted map[uint64][]quire.PageNumber // the pages that hold a shingle, rising
}

func newHolders(s recorded, asked []question) *holders {
	h := &holders{map[uint64][]quire.PageNumber{}}
	for i := range asked {
		for _, d := range asked[i].needs {
			for _, k := range keysOf(&s.Needs[d]) {
				h.wanted[k] = nil
			}
		}
	}
	return h
}

// add takes in the next page.
func (h *holders) add(n quire.PageNumber, text string) {
	shingle.Scan(text, func(g shingle.Shingle) bool {
		if pages, ok := h.wanted[g.Hash]; ok && (len(pages) == 0 || pages[len(pages)-1] != n) {
			h.wanted[g.Hash] = append(pages, n)
		}
		return true
	})
}

// answers are the pages known so far that answer a need.
func (h *holders) answers(n *recording.Need) map[quire.PageNumber]bool {
	count := map[quire.PageNumber]int{}
	for _, k := range keysOf(n) {
		for _, p := range h.wanted[k] {
			count[p]++
		}
	}
	out := map[quire.PageNumber]bool{n.Page: true}
	for p, held := range count {
		if float64(held) >= servedAt*float64(len(keysOf(n))) {
			out[p] = true
		}
	}
	return out
}

// tokenBytes is about how many bytes of text make a token.
const tokenBytes = 3

// limit is the rank that a ranking reaches which is told what nobody can know:
// which words of the question stand in the needed lines. It asks for those
// words alone, over the fields and over the body, and takes the better rank; 0
// where the page is not found. shares is 1 where there is such a word, 0 where
// the question has none in common with what it is after.
func (a *asker) limit(ctx context.Context, q *question, needed string, answers map[quire.PageNumber]bool, query *retrieve.Query) (rank, shares int, err error) {
	terms := sharedTerms(q.text, needed)
	if len(terms) == 0 {
		return 0, 0, nil
	}
	for _, x := range []*index.Index{a.table.index, a.table.flat} {
		found, err := ranking(ctx, x, terms, query)
		if err != nil {
			return 0, 0, err
		}
		rank = better(rank, rankOf(found, answers))
	}
	return rank, 1, nil
}

// sharedTerms are the terms of a question that stand in a text.
func sharedTerms(question, text string) []index.Term {
	in := map[string]bool{}
	term.Scan(text, func(word []byte, k term.Kind) {
		if k != term.Single {
			in[string(word)] = true
		}
	})
	return slices.DeleteFunc(plainTerms(question), func(t index.Term) bool { return !in[t.Text] })
}

// better is the better of two ranks, of which 0 is the worst.
func better(a, b int) int {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

package retrieve

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/shingle"
	"github.com/quire-agent/quire/internal/term"
)

// A forecast says how good a page can be before its text is read, by the terms
// that the index says it holds: words that it does not hold cannot stand
// together in it, nor can it be quoted where the quotation holds them. Texts are
// what a search spends its time on, so the most promising are read first, and
// none that cannot be among the best.
//
// It is a bound and no guess: to let shingles of frequent words count less, of
// which most candidates could be quoted, saves half of the texts and loses a page
// of 155 of the recorded sessions.
type forecast struct {
	*gloss
	needs []uint64 // by shingle of the quotation: terms that a page holds in which it stands
	names uint64   // terms that are names which the query asks for
}

// nowhere is the need of a shingle with a word that no page holds. No term has
// its bit: there are at most [index.MaxScored] terms.
const nowhere = 1 << 63

func newForecast(w *wish, g *gloss, quotes quotation) *forecast {
	f := &forecast{gloss: g, needs: make([]uint64, len(quotes))}
	if w.words <= fewWords {
		for _, name := range w.names {
			f.names |= g.bit(name)
		}
	}
	if len(quotes) > 0 {
		f.require(w, quotes)
	}
	return f
}

// bit is that of a term, 0 for one that was not used.
func (g *gloss) bit(text string) uint64 {
	if id, ok := g.ids[text]; ok && id < index.MaxScored {
		return 1 << id
	}
	return 0
}

// require finds out which terms the shingles of the query need. Of what is
// behind the first maxNeeds tokens nothing is known, which is no mistake.
func (f *forecast) require(w *wish, quotes quotation) {
	asked := map[string]bool{}
	if len(f.ids) < index.MaxScored {
		for _, t := range w.asked() {
			asked[t.Text] = true
		}
	}
	tokens := tokensOf(w.text)
	for i := range tokens {
		term.Scan(w.text[tokens[i].start:tokens[i].end], func(word []byte, _ term.Kind) {
			tokens[i].need |= f.bit(string(word))
			if _, used := f.ids[string(word)]; !used && asked[string(word)] {
				tokens[i].need |= nowhere
			}
		})
	}
	for i := 0; i+shingle.Width <= len(tokens); i++ {
		need := uint64(0)
		for _, t := range tokens[i : i+shingle.Width] {
			need |= t.need
		}
		shingle.Scan(w.text[tokens[i].start:tokens[i+shingle.Width-1].end], func(s shingle.Shingle) bool {
			if k, ok := slices.BinarySearch(quotes, s.Hash); ok {
				f.needs[k] = need
			}
			return false
		})
	}
}

const maxNeeds = 2_000

// A token is one of a shingle, with the terms of a page that holds it.
type token struct {
	start, end int
	need       uint64
}

// tokensOf cuts the ASCII part of a text into the tokens of shingles. What is
// not ASCII parts it: of shingles that hold such nothing is said.
func tokensOf(text string) (out []token) {
	for i := 0; i < len(text) && len(out) < maxNeeds; {
		end := max(term.WordEnd(text, i), i+1)
		if text[i] > ' ' {
			out = append(out, token{start: i, end: end})
		}
		i = end
	}
	return out
}

// quotes is how many shingles of the query can stand in a page.
func (f *forecast) quotes(r *ranked) (n int) {
	for _, need := range f.needs {
		if need&^r.holds == 0 {
			n++
		}
	}
	return n
}

// sort puts the most promising pages first.
func (f *forecast) sort(list []*ranked) {
	for _, r := range list {
		r.maybe = r.exact || r.score >= byName || f.names&r.defines != 0
		r.most = r.score
		if r.score < byName {
			r.most *= (nearFloor + nearShare*f.together(r)) * (1 + quoteShare*min(float64(f.quotes(r))/fullQuote, 1))
		}
	}
	slices.SortStableFunc(list, func(a, b *ranked) int { return promising(a, b.maybe, b.most) })
}

// promising compares the forecast of a page with one that may be exact and its
// score, or with what a page that was read has of both.
func promising(a *ranked, exact bool, score float64) int {
	if a.maybe != exact {
		if a.maybe {
			return -1
		}
		return 1
	}
	return cmp.Compare(score, a.most)
}

// together is the share of what the query says that the page and what it is
// about say.
func (f *forecast) together(r *ranked) float64 {
	if f.total == 0 {
		return 0
	}
	held := r.holds
	for _, id := range f.terms(nil, r.row.Target) {
		held |= 1 << id
	}
	sum := 0.0
	for ; held != 0; held &= held - 1 {
		sum += f.weights[bits.TrailingZeros64(held)]
	}
	return math.Min(sum/f.total, 1)
}

// enough knows when no page can come among the best any more.
type enough struct {
	want   int
	bodies map[quire.Hash]bool
	best   []*ranked // different bodies that were read, the best first
}

// spareHits is how many pages are read beyond those wanted: some turn out to say
// the same as others.
const spareHits = 2

func (e *enough) add(r *ranked) {
	if r.row.Body != (quire.Hash{}) && e.bodies[r.row.Body] {
		return
	}
	e.bodies[r.row.Body] = true
	e.best = append(e.best, r)
	slices.SortStableFunc(e.best, compare)
}

// reached reports whether those that were read are better than the next can be,
// and with it than all that follow.
func (e *enough) reached(next *ranked) bool {
	if len(e.best) < e.want {
		return false
	}
	last := e.best[e.want-1]
	return promising(next, last.exact || last.score >= byName, last.score) >= 0
}

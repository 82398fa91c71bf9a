package retrieve

import (
	"slices"

	"github.com/quire-agent/quire/internal/shingle"
)

// Words that stand on a page as they stand in the query, one behind the other,
// say more than the same words apart: the query quotes the page.
const (
	quoteShare = 1.5 // what a page gets on top that is quoted in full
	fullQuote  = 6   // shingles that make a full quotation
)

// A quotation is what a query quotes of pages: shingles, sorted.
type quotation []uint64

func quotationOf(text string) quotation {
	var q quotation
	shingle.Scan(text, func(g shingle.Shingle) bool {
		if !g.Path {
			q = append(q, g.Hash)
		}
		return true
	})
	slices.Sort(q)
	return slices.Compact(q)
}

// in lists which shingles of the query stand in a text, and marks the lines on
// which they do.
func (q quotation) in(v *view, text string) (found []int) {
	if len(q) == 0 {
		return nil
	}
	shingle.Scan(text, func(g shingle.Shingle) bool {
		if i, ok := slices.BinarySearch(q, g.Hash); ok {
			found = append(found, i)
			for l := g.First; l <= g.Last && int(l) <= len(v.quoted); l++ {
				v.quoted[l-1] = true
			}
		}
		return true
	})
	slices.Sort(found)
	return slices.Compact(found)
}

// byQuotes puts pages in order so that each counts for what it is quoted of and
// none before it is: of a query that quotes several pages each gets its place.
func byQuotes(list []shown) {
	told := map[int]bool{}
	for i := range list {
		best, most := i, -1.0
		for j := i; j < len(list); j++ {
			if score := list[j].score * list[j].quoteFactor(told); score > most {
				best, most = j, score
			}
		}
		x := list[best]
		copy(list[i+1:best+1], list[i:best])
		list[i] = x
		if x.score < byName {
			x.rule("quoted", x.quoteFactor(told))
		}
		for _, k := range x.quoted {
			told[k] = true
		}
	}
}

func (s *shown) quoteFactor(told map[int]bool) float64 {
	fresh := 0
	for _, k := range s.quoted {
		if !told[k] {
			fresh++
		}
	}
	return 1 + quoteShare*float64(min(fresh, fullQuote))/fullQuote
}

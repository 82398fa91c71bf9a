package retrieve

import (
	"slices"

	"github.com/quire-agent/quire/internal/shingle"
)

// Words that stand on a page as they stand in the query, one behind the other,
// say more than the same words apart: the query quotes the page. A shingle that
// several pages hold counts for each of them as a part of one.
const (
	quoteShare = 3 // what a page gets on top that is quoted in full
	fullQuote  = 4 // shingles that make a full quotation
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

// in lists which shingles of the query stand in a text, and tells the view on
// which lines they do.
func (q quotation) in(v *view, text string) (found []int) {
	if v.quotes = q; len(q) == 0 {
		return nil
	}
	shingle.Scan(text, func(g shingle.Shingle) bool {
		if i, ok := slices.BinarySearch(q, g.Hash); ok {
			found = append(found, i)
			for l := g.First; l <= g.Last && int(l) <= len(v.quoted); l++ {
				v.quoted[l-1] = append(v.quoted[l-1], i)
			}
		}
		return true
	})
	slices.Sort(found)
	return slices.Compact(found)
}

// count is how many shingles of a text the query holds.
func (q quotation) count(text string) (n int) {
	if len(q) == 0 {
		return 0
	}
	shingle.Scan(text, func(g shingle.Shingle) bool {
		if _, ok := slices.BinarySearch(q, g.Hash); ok {
			n++
		}
		return true
	})
	return n
}

// claim gives each hit the lines that the query quotes and no hit before it
// shows, as far as there is room for them all. It returns the room that is left.
func claim(list []shown, room int) (left int) {
	told := map[int]bool{}
	for i := range list {
		v := list[i].view
		seen := map[int]int{} // by shingle, the last line that was claimed for it
		for l, quoted := range v.quoted {
			fresh := func(k int) bool {
				last, again := seen[k]
				return !told[k] && (!again || last == l-1) // a shingle may go over lines
			}
			if !slices.ContainsFunc(quoted, fresh) {
				continue
			}
			n := v.count(v.line(l).Text)
			if n > room {
				continue
			}
			room -= n
			v.claimed[l] = true
			v.reserve += n
			for _, k := range quoted {
				if fresh(k) {
					seen[k] = l
				}
			}
		}
		for k := range seen {
			told[k] = true
		}
	}
	return room
}

// byQuotes puts pages in order so that each counts for what it is quoted of and
// none before it is: of a query that quotes several pages each gets its place.
// What many pages hold says little of each.
func byQuotes(list []shown) {
	holders := map[int]int{}
	for i := range list {
		for _, k := range list[i].quoted {
			holders[k]++
		}
	}
	told := map[int]bool{}
	for i := range list {
		best, most := i, -1.0
		for j := i; j < len(list); j++ {
			score := list[j].score * list[j].quoteFactor(told, holders)
			if before := exactly(list[j].ranked, list[best].ranked); before < 0 || before == 0 && score > most {
				best, most = j, score
			}
		}
		x := list[best]
		copy(list[i+1:best+1], list[i:best])
		list[i] = x
		if x.score < byName {
			x.rule("quoted", x.quoteFactor(told, holders))
		}
		for _, k := range x.quoted {
			told[k] = true
		}
	}
}

func (s *shown) quoteFactor(told map[int]bool, holders map[int]int) float64 {
	fresh := 0.0
	for _, k := range s.quoted {
		if !told[k] {
			fresh += 1 / float64(holders[k])
		}
	}
	return 1 + quoteShare*min(fresh/fullQuote, 1)
}

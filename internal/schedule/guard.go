package schedule

import "github.com/quire-agent/quire/internal/quire"

// A guard is what an epoch leaves alone (design, I11): the last two results, and
// all at the end of the stream that no call has shown yet.
type guard struct {
	from    int // place of the first that no call has shown
	results [guarded]int
}

// guarded is how many results keep their form.
const guarded = 2

// guard is that of a moment. A page that was shown again is no result of its own,
// and neither is an image that came with one; one that a card stands for counts. It
// looks back no further than to the last results.
func (s *Scheduler) guard(now Moment) guard {
	g := guard{from: len(s.stream), results: [guarded]int{-1, -1}}
	for g.from > 0 && s.unseen(g.from-1, now.Call) {
		g.from--
	}
	found := 0
	for i := len(s.stream) - 1; i >= 0 && found < guarded; i-- {
		p := s.stream[i]
		if p.Block < 0 {
			found += s.resultsIn(p.Span)
			continue
		}
		if s.blocks[p.Block].Part == quire.PartToolResult && !p.Again {
			g.results[found] = s.at[p.Block] // where it was shown last
			found++
		}
	}
	return g
}

// resultsIn counts the results that a fold stands for, as far as it matters.
func (s *Scheduler) resultsIn(sp Span) (n int) {
	for i := sp.LastBlock; i >= sp.FirstBlock && n < guarded; i-- {
		if s.at[i] == nowhere && s.blocks[i].Part == quire.PartToolResult {
			n++
		}
	}
	return n
}

// has reports whether the guard holds a place.
func (g guard) has(i int) bool {
	return i >= g.from || i == g.results[0] || i == g.results[1]
}

package schedule

import (
	"slices"

	"github.com/quire-agent/quire/internal/quire"
)

// A guard is what an epoch leaves alone (design, I11): the last two results, and
// all at the end of the stream that no call has shown yet.
type guard struct {
	from    int // place of the first that no call has shown
	results [guarded]int
}

// guarded is how many results keep their form.
const guarded = 2

// guard is that of a moment. The results are those that entered last, each where
// it was shown last; one that a card stands for counts, one that is gone for good
// does not. An image that came with a result is none of its own. It looks back no
// further than to the last results.
func (s *Scheduler) guard(now Moment) guard {
	g := guard{from: len(s.stream), results: [guarded]int{-1, -1}}
	for g.from > 0 && s.unseen(g.from-1, now.Call) {
		g.from--
	}
	found := 0
	for i := len(s.blocks) - 1; i >= 0 && found < guarded; i-- {
		if s.blocks[i].Part != quire.PartToolResult {
			continue
		}
		switch {
		case s.at[i] >= 0:
			g.results[found] = s.at[i]
			found++
		case s.at[i] == nowhere && s.folded(i):
			found++
		}
	}
	return g
}

// folded reports whether a card stands for a block.
func (s *Scheduler) folded(i int) bool {
	return slices.ContainsFunc(s.stream, func(p Placed) bool {
		return p.Block < 0 && p.Span.FirstBlock <= i && i <= p.Span.LastBlock
	})
}

// has reports whether the guard holds a place.
func (g guard) has(i int) bool {
	return i >= g.from || i == g.results[0] || i == g.results[1]
}

package retrieve

import (
	"context"
	"fmt"
)

// A Carrier is a source of what can be found. Search gives the best hits first,
// at most as many as the query wants, with nothing in them that its reader may
// not see. It may be called concurrently.
type Carrier interface {
	Name() string
	Search(ctx context.Context, q Query) ([]Hit, error)
}

// A Surface is where everything is searched. Carriers are registered before the
// first search; then it may be used by several goroutines.
type Surface struct {
	carriers []Carrier
}

var _ Carrier = (*Surface)(nil)

// Name is that of [Carrier]: a surface is one too, and may stand on another.
func (s *Surface) Name() string { return "surface" }

// Register adds a carrier. Of equal hits those of the carrier that was
// registered first come first.
func (s *Surface) Register(c Carrier) { s.carriers = append(s.carriers, c) }

// fusion is the constant of reciprocal rank fusion (G. Cormack, C. Clarke and
// S. Büttcher, SIGIR 2009): a hit at rank r, from 1, counts 1/(fusion + r).
const fusion = 60

// Search asks all carriers. Each gives its hits in its own order, which is kept.
// The scores of one say nothing to another, so of the next hits of all carriers
// the one comes first that the query names exactly, then the one whose rank
// counts more, times the share of the query that it says. No kind has more than
// its quota. The lines of all hits together keep within the budget. The first carrier that fails ends it.
func (s *Surface) Search(ctx context.Context, q Query) ([]Hit, error) {
	lists := make([][]Hit, len(s.carriers))
	for i, c := range s.carriers {
		hits, err := c.Search(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("search %s: %w", c.Name(), err)
		}
		lists[i] = hits
	}
	hits := join(lists, q.limit())
	if len(lists) > 1 {
		fit(hits, q.budget())
	}
	return hits, nil
}

// join merges lists, each in its order.
func join(lists [][]Hit, limit int) (hits []Hit) {
	next := make([]int, len(lists))
	spent := map[HitKind]quota{}
	for len(hits) < limit {
		best := -1
		for i, list := range lists {
			if next[i] < len(list) && (best < 0 || list[next[i]].before(next[i], &lists[best][next[best]], next[best])) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		h := lists[best][next[best]]
		next[best]++
		if of := spent[h.Kind]; of.admits(&h) {
			spent[h.Kind] = quota{of.hits + 1, of.tokens + h.Shown}
			hits = append(hits, h)
		}
	}
	return hits
}

// A quota is what hits of one kind have or may have of an answer.
type quota struct{ hits, tokens int }

// admits reports whether there is room for another hit beside what its kind has
// already (design, section 8).
func (q quota) admits(h *Hit) bool {
	switch h.Kind {
	case HitSkill:
		return q.hits < 3
	case HitKnowledge:
		return q.hits < 20 && q.tokens+h.Shown <= 1_500
	case HitCard:
		return q.tokens+h.Shown <= 6_000
	}
	return true
}

// before reports whether a hit at a rank of its carrier, from 0, comes before
// one of another.
func (h *Hit) before(rank int, o *Hit, other int) bool {
	if h.exact != o.exact {
		return h.exact
	}
	return h.says/float64(fusion+rank+1) > o.says/float64(fusion+other+1)
}

// fit takes the last lines off hits that do not fit any more.
func fit(hits []Hit, room int) {
	for i := range hits {
		h := &hits[i]
		for h.Shown > room && len(h.Lines) > 0 {
			h.Shown = h.Shown * (len(h.Lines) - 1) / len(h.Lines)
			h.Lines = h.Lines[:len(h.Lines)-1]
		}
		room -= h.Shown
	}
}

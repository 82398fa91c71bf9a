package retrieve

import (
	"cmp"
	"context"
	"fmt"
	"slices"
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

// Register adds a carrier. Of equal hits those of the carrier that was
// registered first come first.
func (s *Surface) Register(c Carrier) { s.carriers = append(s.carriers, c) }

// fusion is the constant of reciprocal rank fusion (G. Cormack, C. Clarke and
// S. Büttcher, SIGIR 2009): a hit at rank r, from 1, counts 1/(fusion + r).
const fusion = 60

// Search asks all carriers. The scores of one say nothing to another, so hits
// of several are ordered by their ranks. The first carrier that fails ends it.
func (s *Surface) Search(ctx context.Context, q Query) ([]Hit, error) {
	type placed struct {
		hit Hit
		by  float64
	}
	var all []placed
	for _, c := range s.carriers {
		hits, err := c.Search(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("search %s: %w", c.Name(), err)
		}
		for i, h := range hits {
			all = append(all, placed{h, 1 / float64(fusion+i+1)})
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(b.by, a.by) })
	hits := make([]Hit, 0, min(len(all), q.limit()))
	for _, p := range all[:min(len(all), q.limit())] {
		hits = append(hits, p.hit)
	}
	return hits, nil
}

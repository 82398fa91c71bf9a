package retrieve

import (
	"context"
	"fmt"
	"slices"

	"github.com/quire-agent/quire/internal/quire"
)

// nearPages is how many pages are asked for by meaning.
const nearPages = 50

// meantShare is what a page at least says of a query that it is near to, compared
// with what other carriers say.
const meantShare = 0.5

// fuse joins what was found by words with what is near by meaning: the ranks of both
// count, see [fusion]. What the query names exactly stays in front. Where nearness
// cannot be had, the order by words is left as it is.
func (d *reading) fuse(ctx context.Context, q *Query, list []shown) ([]shown, error) {
	near, err := d.Near.Nearest(ctx, q.Text, q.Reader, nearPages)
	if err != nil {
		if d.Notice != nil && ctx.Err() == nil {
			d.Notice(err)
		}
		return list, ctx.Err()
	}
	near = slices.DeleteFunc(near, func(r quire.PageRef) bool { return slices.Contains(q.Except, r) })
	if list, err = d.others(ctx, q, list, near); err != nil {
		return nil, err
	}
	ranks := map[quire.PageRef]int{}
	for i, ref := range near {
		ranks[ref] = i + 1
	}
	for i := range list {
		r := list[i].ranked
		if r.score >= byName || r.exact {
			continue
		}
		r.score = 0
		if r.base > 0 {
			r.score = 1 / float64(fusion+i+1)
		}
		if n, ok := ranks[r.row.Ref()]; ok {
			r.near = true
			r.score += 1 / float64(fusion+n)
			r.why = append(r.why, Reason{What: fmt.Sprintf("near by meaning, at rank %d", n), Adds: 1 / float64(fusion+n)})
		}
	}
	slices.SortStableFunc(list, func(a, b shown) int { return compare(a.ranked, b.ranked) })
	return list, nil
}

// others appends the pages that are near and were not found by words.
func (d *reading) others(ctx context.Context, q *Query, list []shown, near []quire.PageRef) ([]shown, error) {
	known := map[quire.PageRef]bool{}
	for i := range list {
		known[list[i].row.Ref()] = true
	}
	missing := slices.DeleteFunc(slices.Clone(near), func(r quire.PageRef) bool { return known[r] })
	rows, err := d.rows(ctx, q, missing, nil)
	if err != nil {
		return nil, err
	}
	for _, ref := range missing {
		if r := rows[ref]; r != nil {
			r.score, r.why = 0, nil // it was not named
			list = append(list, shown{ranked: r})
		}
	}
	return list, nil
}

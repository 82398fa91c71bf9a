package audit

import (
	"cmp"
	"slices"
)

// A report shows the timelines of this many sessions with at most this many
// points each.
const (
	topTimelines = 6
	maxPoints    = 400
)

// marks are the counted calls of the main chain, from 1, before which something
// happened to the cache.
func (r *reader) marks(d *digest) {
	d.compacted, d.paused = []int{}, []int{}
	for _, c := range r.s.Cuts {
		if !c.Rewind && int(c.Call) < len(r.s.Calls) && r.counts(r.s.Calls[c.Call]) {
			d.compacted = append(d.compacted, int(c.Call)+1)
		}
	}
	for k, c := range r.s.Calls {
		if r.idle[k] && r.counts(c) {
			d.paused = append(d.paused, k+1)
		}
	}
}

// dearest keeps the dearest sessions that have a main chain; list is in the
// order of their paths, which decides between equals.
func dearest(list []*digest) []*digest {
	list = slices.DeleteFunc(list, func(d *digest) bool { return len(d.main()) == 0 })
	slices.SortStableFunc(list, func(a, b *digest) int {
		return cmp.Or(cmp.Compare(b.spent, a.spent), cmp.Compare(len(b.calls), len(a.calls)), cmp.Compare(a.path, b.path))
	})
	return list[:min(len(list), topTimelines)]
}

// main is the counted calls of the main chain.
func (d *digest) main() []call {
	n := slices.IndexFunc(d.calls, func(c call) bool { return c.side })
	if n < 0 {
		n = len(d.calls)
	}
	return d.calls[:n]
}

// timeline is the prompt size of each counted call of the main chain.
func (d *digest) timeline() Timeline {
	t := Timeline{
		Session: d.path, ID: d.info.ID, Project: d.info.Project, Agent: d.info.Agent, Cost: d.spent, Calls: d.mainCalls,
		Compactions: d.compacted, Pauses: d.paused,
	}
	for k := range promptKinds {
		t.Kinds = append(t.Kinds, Kind(k))
	}
	calls := d.main()
	for i, n := 0, min(len(calls), maxPoints); i < n; i++ {
		t.Points = append(t.Points, largest(calls[i*len(calls)/n:(i+1)*len(calls)/n]).point())
	}
	return t
}

// largest is the call of a stretch that stands for all: the one with the
// largest prompt.
func largest(calls []call) *call {
	best := &calls[0]
	for i := range calls {
		if calls[i].prompt > best.prompt {
			best = &calls[i]
		}
	}
	return best
}

// point scales the counted kinds to the size of the prompt; the largest kind
// takes what rounding leaves.
func (c *call) point() Point {
	p := Point{Call: c.number, At: c.at.UTC(), Prompt: c.prompt, Tokens: make([]int64, promptKinds)}
	all, _ := fill{all: c.kinds}.sizes()
	left, big := p.Prompt, 0
	for j, n := range c.kinds {
		if all > 0 {
			p.Tokens[j] = int64(n) * p.Prompt / all
		}
		left -= p.Tokens[j]
		if p.Tokens[j] > p.Tokens[big] {
			big = j
		}
	}
	p.Tokens[big] += left
	return p
}

package eval

import (
	"cmp"
	"math"
	"slices"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/replay"
)

// maxRewrites is the number of calls without a cold one among them above which
// [rewrites.least] looks at some of them only; its time grows with their square.
const maxRewrites = 2000

// rewrites is the problem of when to rewrite the prompt of a session whose
// future is known. The prompt is the constant prefix and the items in their
// order. At each call the new items are appended; a rewrite at a call leaves
// out every item that no call from there on needs.
//
// What the prompt of the call before begins with in the same way is read from
// the cache, the rest is written; at a cold call and at the first everything is
// written. A prompt is not reordered, an item that went does not come back, and
// nothing is ever missing, so there are no faults. Cliffs, block sizes, minimum
// prefixes and output are left out: they cost all schedules nearly the same.
// Items without tokens are as if they were not there.
type rewrites struct {
	cold        []bool // by call
	items       []carried
	prefix      int     // tokens
	read, write float64 // price of a token
}

// A carried item is part of a prompt from its first call until a rewrite after
// its last one.
type carried struct {
	tokens      int32
	first, last int32 // calls: first prompt with it, rising over the items; last that needs it
}

// end is the last call that must have the item in its prompt: the first one
// must, whether it needs the item or not.
func (c carried) end() int32 { return max(c.first, c.last) }

// A rewritePlan is a best schedule of rewrites.
type rewritePlan struct {
	cost float64 // of all calls, input side
	at   []int   // calls at which the prompt is rewritten, rising

	// thinned says that only every n-th call was looked at in a stretch of more
	// than maxRewrites without a cold one. The cost is then that of the best
	// schedule among those, and the best of all may cost less.
	thinned bool
}

// least returns the cheapest schedule of rewrites: the minimum over all sets of
// calls, found by dynamic programming over the call of the last rewrite. What a
// prompt holds depends on that call alone, because whatever an earlier rewrite
// left out this one would have left out too. At a cold call the prompt is always
// rewritten: everything is written anyway, and what is gone only makes later
// calls cheaper. The time is O(s·n·log m) for n calls in stretches of s calls
// without a cold one, and m items.
//
// A rewrite leaves out everything that is not needed any more, so a schedule
// that spares an old item to keep the prefix in front of a later one can cost
// less than this; nothing without faults costs less than floor.
func (p rewrites) least() rewritePlan {
	n := len(p.cold)
	if n == 0 {
		return rewritePlan{}
	}
	d := newRewriteTable(p)
	thinned := d.choose()
	d.reach(0, 0, d.plain(0, 0))
	for i := range n {
		d.sweep(i)
	}
	return rewritePlan{cost: d.best[n], at: d.path(), thinned: thinned}
}

// floor is a price below which no schedule without faults can get, whatever it
// leaves out and when: each item is written once and carried, read or at a cold
// call written, until the last call that needs it, as if leaving it out broke
// no prefix.
func (p rewrites) floor() float64 {
	carry := make([]float64, len(p.cold)+1) // price of carrying a token through calls 0..k-1
	for k, cold := range p.cold {
		carry[k+1] = carry[k] + p.read
		if cold || k == 0 {
			carry[k+1] = carry[k] + p.write
		}
	}
	cost := float64(p.prefix) * carry[len(p.cold)]
	for _, c := range p.items {
		cost += float64(c.tokens) * (p.write + carry[c.end()+1] - carry[c.first+1])
	}
	return cost
}

// rewriteTable holds the sums from which the cost of a call follows at once,
// and the state of the search.
type rewriteTable struct {
	rewrites
	enter []int64 // by call: tokens of items with a first call up to it
	ended []int64 // by call: tokens of items that ended before it; one longer
	cut   []int   // by call: first item that ended at it, len(items) without one
	front sums    // by item: its tokens, 0 once it ended before the rewrite swept
	order []int   // items by their ends
	gone  int     // of order, those no longer in front

	may  []bool    // by call: a rewrite there is looked at
	best []float64 // by call, and one for the end: least cost of the calls up to it with a rewrite at it
	from []int     // by call: the rewrite before it
}

func newRewriteTable(p rewrites) *rewriteTable {
	n := len(p.cold)
	d := &rewriteTable{
		rewrites: p,
		enter:    make([]int64, n),
		ended:    make([]int64, n+1),
		cut:      slices.Repeat([]int{len(p.items)}, n),
		front:    make(sums, len(p.items)+1),
		may:      make([]bool, n),
		best:     slices.Repeat([]float64{math.Inf(1)}, n+1),
		from:     make([]int, n+1),
	}
	for i, c := range p.items {
		d.enter[c.first] += int64(c.tokens)
		d.ended[c.end()+1] += int64(c.tokens)
		if c.tokens > 0 {
			d.cut[c.end()] = min(d.cut[c.end()], i)
		}
		d.front.add(i, int64(c.tokens))
		d.order = append(d.order, i)
	}
	slices.SortStableFunc(d.order, func(a, b int) int { return cmp.Compare(p.items[a].end(), p.items[b].end()) })
	for k := 1; k < n; k++ {
		d.enter[k] += d.enter[k-1]
		d.ended[k] += d.ended[k-1]
	}
	return d
}

// choose marks the calls at which a rewrite is looked at and reports whether
// there are others.
func (d *rewriteTable) choose() (thinned bool) {
	for k := 0; k < len(d.cold); {
		end := k + 1
		for end < len(d.cold) && !d.cold[end] {
			end++
		}
		every := (end - k + maxRewrites - 1) / maxRewrites
		thinned = thinned || every > 1
		for ; k < end; k++ {
			d.may[k] = (end-k)%every == 0 || d.cold[k]
		}
	}
	return thinned
}

// sweep follows the calls after a rewrite at call i up to the next cold one.
func (d *rewriteTable) sweep(i int) {
	cost, cut := d.best[i], len(d.items)
	if math.IsInf(cost, 1) {
		return
	}
	d.leave(i)
	for k := i + 1; k < len(d.cold); k++ {
		cut = min(cut, d.cut[k-1])
		if d.may[k] {
			d.reach(k, i, cost+d.rewrite(i, k, cut))
		}
		if d.cold[k] {
			return
		}
		cost += d.plain(i, k)
	}
	d.reach(len(d.cold), i, cost)
}

// reach notes a way to a rewrite at call k, coming from one at call i.
func (d *rewriteTable) reach(k, i int, cost float64) {
	if cost < d.best[k] {
		d.best[k], d.from[k] = cost, i
	}
}

// leave takes out of front what ended before call i, and is not in the prompt
// after a rewrite there.
func (d *rewriteTable) leave(i int) {
	for ; d.gone < len(d.order); d.gone++ {
		c := d.items[d.order[d.gone]]
		if int(c.end()) >= i {
			return
		}
		d.front.add(d.order[d.gone], -int64(c.tokens))
	}
}

// path lists the rewrites of the cheapest schedule that left something out.
func (d *rewriteTable) path() (at []int) {
	for k := d.from[len(d.cold)]; k > 0; k = d.from[k] {
		if d.ended[k] > d.ended[d.from[k]] {
			at = append(at, k)
		}
	}
	slices.Reverse(at)
	return at
}

// present is the size of the prompt of call k without the constant prefix when
// the last rewrite was at call i ≤ k.
func (d *rewriteTable) present(i, k int) int64 { return d.enter[k] - d.ended[i] }

// plain is the cost of call k when it appends and the last rewrite was at i.
func (d *rewriteTable) plain(i, k int) float64 {
	all := d.present(i, k) + int64(d.prefix)
	if d.cold[k] || k == 0 {
		return d.write * float64(all)
	}
	held := d.present(i, k-1) + int64(d.prefix)
	return d.read*float64(held) + d.write*float64(all-held)
}

// rewrite is the cost of call k > i when it rewrites from item cut on, the
// first that ended since the rewrite at i.
func (d *rewriteTable) rewrite(i, k, cut int) float64 {
	if cut == len(d.items) {
		return d.plain(i, k)
	}
	stays := d.present(k, k) + int64(d.prefix)
	if d.cold[k] {
		return d.write * float64(stays)
	}
	front := d.front.before(cut) + int64(d.prefix)
	return d.read*float64(front) + d.write*float64(stays-front)
}

// sums is a Fenwick tree: numbers of which any one can be changed, and the sum
// of the first i found, in logarithmic time.
type sums []int64

func (s sums) add(i int, n int64) {
	for i++; i < len(s); i += i & -i {
		s[i] += n
	}
}

// before is the sum of the numbers with an index below i.
func (s sums) before(i int) (sum int64) {
	for ; i > 0; i -= i & -i {
		sum += s[i]
	}
	return sum
}

// rewritesOf is the problem for a session under a setting. An item is needed as
// long as its page is, by the wide definition of needs, the user's own words to
// the end of the session. What a compaction put back is left out, as in every
// replay; what a rewind took out counts until its last need. Nothing stands in
// for what was left out, no handle or card: a real policy pays for those.
func rewritesOf(s *recording.Session, set replay.Setting) rewrites {
	p := rewrites{cold: set.Cold, prefix: s.Overhead, read: set.Rates.Read, write: set.Write()}
	last := make([]int32, len(s.Pages)+1)
	for _, d := range s.Needs {
		last[d.Page] = max(last[d.Page], d.Call)
	}
	for i, it := range s.Items {
		if it.Origin != quire.OriginFirst || s.Constant(int32(i)) || int(it.Call) >= len(s.Calls) {
			continue
		}
		c := carried{tokens: it.Tokens, first: it.Call, last: last[it.Page]}
		if it.Kind == quire.PartUser {
			c.last = int32(len(s.Calls)) - 1
		}
		p.items = append(p.items, c)
	}
	return p
}

// A request asks for a page. A page is first requested when it enters, which
// nobody can serve from memory: an entry is neither hit nor miss.
type request struct {
	page  quire.PageNumber
	size  int32 // of the page in tokens
	entry bool
}

// requestsOf is the trace of a session: at each call the pages that enter with
// it, then those it needs, by one of the two definitions.
func requestsOf(s *recording.Session, strict bool) (trace []request) {
	entries := slices.Clone(s.Pages)
	slices.SortStableFunc(entries, func(a, b quire.Page) int { return cmp.Compare(a.Call, b.Call) })
	enter := func(call int) {
		for ; len(entries) > 0 && entries[0].Call <= call; entries = entries[1:] {
			trace = append(trace, request{entries[0].Number, int32(entries[0].Tokens), true})
		}
	}
	for _, d := range s.Needs {
		enter(int(d.Call))
		if d.Strict || !strict {
			trace = append(trace, request{d.Page, int32(s.Pages[d.Page-1].Tokens), false})
		}
	}
	enter(len(s.Calls))
	return trace
}

// A hitBound is what the best possible memory of some size reaches on a trace
// of requests: its share of hits is between lower and upper.
type hitBound struct {
	needs        int // requests that are no entries
	lower, upper int // of these, hits
}

// bestHits bounds the hits of the offline optimum: of any memory of budget
// tokens that holds whole pages, knows the future, may let a page pass without
// keeping it, and gets a page back only by a miss (no prefetch).
//
// Keeping a page from one request to the next takes its size during as many
// steps as the trace has requests in between. The optimum chooses such
// intervals, each a hit, so that no step holds more than the budget.
//
//   - Upper (PFOO-L of Berger, Beckmann and Harchol-Balter, "Practical bounds on
//     optimal caching with variable object sizes", 2018; L for the lower bound
//     on misses): only the sum over all steps is held to the budget, so the
//     cheapest intervals by size × length are the best choice. The sum is
//     tightened here: a step counts with what is wanted at it, where that is
//     less than the budget, and a page larger than the budget is never kept.
//   - Lower: the same order, but an interval is taken only if it fits at each of
//     its steps. That is a schedule which exists. (The paper's PFOO-U packs
//     segments of the trace by min-cost flow and is somewhat tighter.)
//
// The time is O(n log n) for n requests and the sum of the lengths of the
// intervals for lower.
func bestHits(trace []request, budget int) hitBound {
	spans, needs := spansOf(trace, budget)
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Compare(a.room(), b.room()) })
	return hitBound{
		needs: needs,
		lower: packed(spans, len(trace), int64(budget)),
		upper: relaxed(spans, len(trace), int64(budget)),
	}
}

// A span is the time from a request of a page to its next one: steps from to
// to−1.
type span struct {
	from, to int
	size     int64
}

func (s span) room() int64 { return s.size * int64(s.to-s.from) }

// spansOf lists the intervals that end in a hit and fit the budget, and counts
// the needs.
func spansOf(trace []request, budget int) (spans []span, needs int) {
	last := map[quire.PageNumber]int{}
	for t, r := range trace {
		from, ok := last[r.page]
		last[r.page] = t
		if r.entry {
			continue
		}
		needs++
		if ok && int(r.size) <= budget {
			spans = append(spans, span{from, t, int64(r.size)})
		}
	}
	return spans, needs
}

// relaxed counts the cheapest spans whose room fits all steps together.
func relaxed(spans []span, steps int, budget int64) (hits int) {
	wanted := make([]int64, steps+1)
	for _, s := range spans {
		wanted[s.from] += s.size
		wanted[s.to] -= s.size
	}
	var room, at int64
	for _, w := range wanted {
		at += w
		room += min(at, budget)
	}
	for _, s := range spans {
		if room -= s.room(); room < 0 {
			break
		}
		hits++
	}
	return hits
}

// packed counts the spans that fit one after the other.
func packed(spans []span, steps int, budget int64) (hits int) {
	used := make([]int64, steps)
	for _, s := range spans {
		held := used[s.from:s.to]
		if slices.Max(held) > budget-s.size {
			continue
		}
		for t := range held {
			held[t] += s.size
		}
		hits++
	}
	return hits
}

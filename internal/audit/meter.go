package audit

import "github.com/quire-agent/quire/internal/quire"

// meter tells what it cost to have a token in the prompts of a range of calls.
// Calls that the options leave out cost nothing and do not count.
type meter struct {
	old   []float64 // old[k]: dollars for a token that earlier calls had sent, over counted calls before k
	fresh []float64 // by call: dollars for a token that no earlier call had sent
	calls []int32   // calls[k]: counted calls before k
}

func newMeter(r *reader) meter {
	n := len(r.s.Calls)
	m := meter{old: make([]float64, n+1), fresh: make([]float64, n), calls: make([]int32, n+1)}
	for k, c := range r.s.Calls {
		m.old[k+1], m.calls[k+1] = m.old[k], m.calls[k]
		if !r.counts(c) {
			continue
		}
		old, fresh := r.bills[k].split(r.sizes(k))
		m.old[k+1] += old
		m.fresh[k] = fresh
		m.calls[k+1]++
	}
	return m
}

// sizes returns the tokens of call k's prompt that earlier calls had sent, the
// others, and the share of the prompt that came from the cache.
func (r *reader) sizes(k int) (old, fresh int64, read float64) {
	all, fresh := r.fills[k].sizes()
	u := r.s.Calls[k].Usage
	if !u.Has(quire.KnownInput) && r.bills[k].read > 0 {
		return all - fresh, fresh, float64(all-fresh) / float64(all)
	}
	if u.Prompt() > 0 {
		read = float64(u.CacheRead) / float64(u.Prompt())
	}
	return all - fresh, fresh, read
}

// cost is what a token cost that was in the prompts of the calls from first to
// before end, new in the first of them.
func (m meter) cost(first, end int32) float64 {
	if first >= end {
		return 0
	}
	return m.fresh[first] + m.resent(first+1, end)
}

// resent is what a token cost in the calls from first to before end, all of
// which sent it again.
func (m meter) resent(first, end int32) float64 {
	if first >= end {
		return 0
	}
	return m.old[end] - m.old[first]
}

// sent is the number of counted calls from first to before end.
func (m meter) sent(first, end int32) int64 {
	if first >= end {
		return 0
	}
	return int64(m.calls[end] - m.calls[first])
}

// shares splits the money of call k's prompt by kind. What nothing is known
// about is the system's.
func (m meter) shares(k int, f fill) (share [promptKinds]float64) {
	old := m.old[k+1] - m.old[k]
	for j := range share {
		share[j] = float64(f.all[j]-f.fresh[j])*old + float64(f.fresh[j])*m.fresh[k]
	}
	return share
}

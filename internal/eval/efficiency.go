package eval

import (
	"fmt"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/replay"
	"slices"
)

// memories are the budgets at which hit rates are compared with the best
// possible ones, in tokens.
func memories() []int { return []int{32_000, 64_000, 100_000} }

// Efficiency compares hit rates at one budget with the best that any memory of
// whole pages could reach, which is only known to lie between two bounds. A
// hit is a strict need that was served.
type Efficiency struct {
	Needs int      `json:"needs"`
	Lower *float64 `json:"best_hit_rate_lower"`
	Upper *float64 `json:"best_hit_rate_upper"`
	// By policy: its hit rate over the upper and over the lower bound.
	Policies map[string][2]*float64 `json:"efficiency"`
}

// bounds computes the efficiency of the policies that hold a budget.
func (st *Study) bounds(groups []Group) (map[string]map[string]Efficiency, error) {
	out := map[string]map[string]Efficiency{}
	for _, g := range groups {
		out[g.Name] = map[string]Efficiency{}
	}
	if len(st.Profiles) == 0 {
		return out, nil
	}
	for _, budget := range memories() {
		tallies := make([]hits, len(st.Sessions))
		for i, s := range st.Sessions {
			var err error
			if tallies[i], err = st.hits(s, budget); err != nil {
				return nil, err
			}
		}
		for _, g := range groups {
			var sum hits
			for _, i := range g.Sessions {
				sum.add(tallies[i])
			}
			out[g.Name][fmt.Sprintf("%dk", budget/1000)] = sum.efficiency()
		}
	}
	return out, nil
}

// hits are what one memory of a budget serves.
type hits struct {
	bound  hitBound
	served map[string]int // by policy
}

func (h *hits) add(o hits) {
	h.bound.needs += o.bound.needs
	h.bound.lower += o.bound.lower
	h.bound.upper += o.bound.upper
	if h.served == nil {
		h.served = map[string]int{}
	}
	for p, n := range o.served {
		h.served[p] += n
	}
}

func (st *Study) hits(s *recording.Session, budget int) (hits, error) {
	held := slices.Clone(st.Held)
	for _, p := range st.Policies(budget) {
		if p.Budgeted {
			p.Name = p.Kind
			held = append(held, p)
		}
	}
	h := hits{bound: bestHits(requestsOf(s, true), budget), served: map[string]int{}}
	out, err := replay.Replay(s, held, []replay.Setting{replay.UnderProfile(s, st.Profiles[0], budget)})
	if err != nil {
		return h, fmt.Errorf("bounds of %s: %w", s.Path, err)
	}
	for _, o := range out[0] {
		h.served[o.Policy] = h.bound.needs - o.Faults
	}
	return h, nil
}

func (h *hits) efficiency() Efficiency {
	n := float64(h.bound.needs)
	e := Efficiency{Needs: h.bound.needs, Policies: map[string][2]*float64{}}
	e.Lower, e.Upper = over(float64(h.bound.lower), n), over(float64(h.bound.upper), n)
	for p, served := range h.served {
		e.Policies[p] = [2]*float64{over(float64(served), float64(h.bound.upper)), over(float64(served), float64(h.bound.lower))}
	}
	return e
}

package schedule

import "github.com/quire-agent/quire/internal/quire"

// pay begins an epoch that pays although the prefix is in the cache: behind the
// best cut, what goes saves more until the next epoch than it costs to write
// what stays again, and the account can pay for that now. It begins only after
// a finished tool loop, so that no thinking of a loop is lost.
func (s *Scheduler) pay(now Moment) {
	if !s.turned(now) {
		return
	}
	cut, price, saves := s.bestCut(now)
	if cut < 0 || now.Account < price {
		return
	}
	s.begin(quire.EpochPaid, "what is idle costs more to carry than to write the rest again")
	s.demote(now, cut)
	s.plan.price, s.plan.saves = price, saves
}

// turned reports whether a user message entered with this call.
func (s *Scheduler) turned(now Moment) bool {
	for i := len(s.stream) - 1; i >= 0; i-- {
		p := s.stream[i]
		if p.Block < 0 || s.blocks[p.Block].Call < now.Call {
			return false
		}
		if s.blocks[p.Block].Part == quire.PartUser {
			return true
		}
	}
	return false
}

// bestCut walks from the tail to the head. A cut costs writing what stays
// behind it instead of reading it. cut is -1 where none pays.
func (s *Scheduler) bestCut(now Moment) (cut int, price, saves float64) {
	guard := s.guard(now)
	gain, stays, best := 0.0, 0.0, 0.0
	cut = -1
	for i := len(s.stream) - 1; i >= 0; i-- {
		tokens := float64(s.stream[i].Tokens)
		if !guard.has(i) {
			if v := s.judge(i, now); v.goes {
				gain += v.net - now.Write*(tokens-float64(v.tokens)) // it is in the cache: not writing it saves nothing
				tokens = float64(v.tokens)
			}
		}
		if i < s.dirty { // what is new is written anyway
			stays += tokens
		}
		if cost := s.rewrite(now, stays); gain-cost > best {
			best, cut, price, saves = gain-cost, i, cost, gain-cost
		}
	}
	return cut, price, saves
}

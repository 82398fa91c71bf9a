package schedule

import (
	"slices"

	"github.com/quire-agent/quire/internal/quire"
)

// pay begins an epoch that pays although the prefix is in the cache: behind the
// best cut, what goes saves more until the next epoch than it costs to write
// what stays again, and the account can pay for that now. It begins only after
// a finished tool loop, so that no thinking of a loop is lost.
func (s *Scheduler) pay(now Moment) {
	if !s.turned(now) {
		return
	}
	unlabelled := now
	unlabelled.unlabelled = true
	cut, price, saves := s.bestCut(unlabelled)
	if cut < 0 || now.Account < price {
		return
	}
	was := *s
	s.stream, s.at = slices.Clone(s.stream), slices.Clone(s.at)
	s.begin(quire.EpochPaid, "what is idle costs more to carry than to write the rest again")
	s.demote(unlabelled, cut)
	s.plan.price, s.plan.saves = price, saves
	if s.short(now) {
		*s = was
	}
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
	guard, upTo := s.guard(now), s.sums()
	gain, stays, freed, cut := 0.0, 0, 0, -1
	later := float64(s.brings()) * now.Prices.Read * float64(s.horizon(now.Call)) // what comes in is read until the next epoch
	for i := len(s.stream) - 1; i >= 0; i-- {
		tokens := s.stream[i].Tokens
		if !guard.has(i) {
			if v := s.judge(i, now); v.goes {
				gain += v.net - now.Write*float64(tokens-v.tokens) // it is in the cache: not writing it saves nothing
				freed += tokens - v.tokens
				tokens = v.tokens
			}
		}
		if i < s.dirty { // what is new is written anyway
			stays += tokens
		}
		cost := s.rewrite(now, stays+s.unserved(upTo, i, now))
		if won := gain - cost - later; won > saves && s.relieves(freed, now) {
			cut, price, saves = i, cost, won
		}
	}
	return cut, price, saves
}

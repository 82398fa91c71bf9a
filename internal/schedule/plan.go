package schedule

import (
	"fmt"

	"github.com/quire-agent/quire/internal/quire"
)

// Shares of a bound to which an epoch brings a stream down. A full window is
// rare and its epoch dear: it goes far, as I7 of the design asks. An epoch under
// its budget goes less far, which costs
// more epochs and misses fewer needs (docs/scheduler.md).
const (
	windowShare = .35
	budgetShare = .6
)

// Plan decides the prompt of a call. What entered since the last plan is shown
// in full or as it was admitted; older blocks lose their form only at an epoch,
// which begins when nothing is lost by it, when it must, or when it pays.
func (s *Scheduler) Plan(now Moment) Plan {
	before := s.net
	if now.Call > 0 {
		s.restore()
		s.decide(now)
	}
	notice := s.notice(now)
	p := Plan{
		Notice: notice, Keep: s.dirty, Placed: s.stream[s.dirty:], Before: before, After: s.net,
		Kind: s.plan.kind, Reason: s.plan.reason, Decisions: s.plan.decisions, Price: s.plan.price, Saves: s.plan.saves,
	}
	if p.Kind != "" {
		s.began(now.Call)
		s.fresh = false
	}
	s.dirty, s.plan = len(s.stream), pending{}
	return p
}

// notice enters the line that tells the model that an epoch began. It leaves
// again at the next one.
func (s *Scheduler) notice(now Moment) int {
	if s.plan.kind == "" || s.plan.kind == quire.EpochUndo || s.set.Notice == 0 {
		return -1
	}
	return s.Enter(Block{Part: quire.PartMachine, Tokens: s.set.Notice, Call: now.Call, By: -1, Turn: now.Turn})
}

// decide runs the epochs that are due, the cheapest reason first.
func (s *Scheduler) decide(now Moment) {
	full := s.set.Window > 0 && s.net > s.set.Window
	switch {
	case !s.fresh, s.plan.kind == quire.EpochUndo && !full:
	case now.Cold != "":
		s.free(now)
	case full:
		s.press(now, quire.EpochForced, "the window is full", int(windowShare*float64(s.set.Window)))
	case s.over() > 0 && s.bought(now, s.over()):
	case s.set.Paid && s.fresh:
		s.pay(now)
	}
}

// over is the bound that the stream exceeds without having to shrink: its
// quality budget, which holds once the session has outlived a window, or the
// part of the window that is better kept free. It is 0 where it exceeds none.
func (s *Scheduler) over() int {
	switch {
	case s.set.Budget > 0 && s.net > s.set.Budget && s.entered > s.set.Window:
		return s.set.Budget
	case s.set.Room > 0 && s.net > s.set.Room:
		return s.set.Room
	default:
		return 0
	}
}

// free is an epoch at a call whose prompt is written anyway.
func (s *Scheduler) free(now Moment) {
	s.begin(quire.EpochFree, now.Cold)
	s.demote(now, 0, 1)
	switch {
	case s.set.Window > 0 && s.net > s.set.Window:
		s.press(now, quire.EpochForced, "the window is full", int(windowShare*float64(s.set.Window)))
	case s.over() > 0:
		s.press(now, quire.EpochFree, now.Cold+", and the stream is larger than its budget", int(budgetShare*float64(s.over())))
	}
	s.settle()
}

// bought is an epoch for a bound that does not have to be kept: it waits until
// the account can pay for it.
func (s *Scheduler) bought(now Moment, bound int) bool {
	target := budgetShare * float64(bound)
	cost := s.rewrite(now, target)
	if now.Account < cost {
		return false
	}
	s.press(now, quire.EpochPaid, "the stream is larger than its budget", int(target))
	s.plan.price = cost
	s.settle()
	return true
}

// rewrite is the price of writing what stays again instead of reading it. The
// first epoch brings the recall tool in, at the head of the prompt, so that all
// of it is written.
func (s *Scheduler) rewrite(now Moment, stays float64) float64 {
	if len(s.epochs) == 0 {
		stays += float64(now.Prefix)
	}
	return (now.Write - now.Prices.Read) * stays
}

// begin notes that an epoch begins; a forced one stays forced.
func (s *Scheduler) begin(kind, reason string) {
	s.remember()
	if s.plan.kind != quire.EpochForced {
		s.plan.kind, s.plan.reason = kind, reason
	}
}

// settle takes an epoch back that changed nothing.
func (s *Scheduler) settle() {
	if len(s.plan.decisions) == 0 && s.dirty >= len(s.stream) {
		s.plan = pending{}
	}
}

// relief is by how much the weight of faults shrinks at each step of an epoch
// under pressure: all thresholds move together, which replays showed to be far
// better than the oldest first.
const (
	relief      = .6
	reliefSteps = 16
)

// press makes the stream as small as a target: first by what is least likely to
// be needed, then by folding old turns.
func (s *Scheduler) press(now Moment, kind, why string, target int) {
	s.begin(kind, fmt.Sprintf("%s: %d tokens", why, s.net))
	weight := 1.0
	for range reliefSteps {
		s.demote(now, 0, weight)
		if s.net > target {
			s.fold(now, false)
		}
		if s.net <= target {
			return
		}
		weight *= relief
	}
	s.fold(now, true)
}

// protected is the first place that an epoch leaves alone (design, I11): from
// the last two results on, with all that no call has shown yet.
func (s *Scheduler) protected(now Moment) int {
	keep, results := len(s.stream), 0
	for i := len(s.stream) - 1; i >= 0; i-- {
		p := s.stream[i]
		if p.Block < 0 {
			break
		}
		b := &s.blocks[p.Block]
		if results >= 2 && b.Call < now.Call {
			break
		}
		if b.result() {
			results++
		}
		keep = i
	}
	return keep
}

package schedule

import (
	"fmt"
	"slices"

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

// relievedShare is the most of its bound that a full stream may be left with, as
// far as what is protected allows it (design, I7).
const relievedShare = .5

// Plan decides the prompt of a call. What entered since the last plan is shown
// in full or as it was admitted; older blocks lose their form only at an epoch,
// which begins when nothing is lost by it, when it must, or when it pays.
func (s *Scheduler) Plan(now Moment) Plan {
	before := s.net
	if now.Call > 0 {
		s.restore(now)
		was, net := s.plan, s.net
		s.decide(now)
		if s.net == net { // an epoch that changes nothing is none
			s.plan = was
		}
		s.unload(now)
		if s.plan.kind != "" {
			s.plan.reason += s.spiral.told()
		}
	} else {
		s.admit()
	}
	notice := s.notice(now)
	if s.plan.kind != "" {
		s.foresight.renewed(s)
	}
	foreseen := s.foresee(now)
	p := Plan{
		Foreseen: foreseen, Settled: s.foresight.settled,
		Notice: notice, Keep: s.dirty, Back: s.plan.back, Placed: s.stream[s.dirty:], Before: before, After: s.net,
		Kind: s.plan.kind, Reason: s.plan.reason, Decisions: s.plan.decisions, Price: s.plan.price, Saves: s.plan.saves,
	}
	if p.Kind != "" || now.Cold != "" {
		s.chances++
	}
	if p.Kind != "" {
		s.began(now.Call)
		s.fresh, s.tasks.keep = false, nil
	}
	s.calls = now.Call + 1
	s.sent()
	s.dirty, s.plan, s.paged, s.foresight.settled = len(s.stream), pending{}, nil, nil
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
	case now.Cold != "" && !s.set.Manual:
		s.free(now)
	case full:
		s.press(now, quire.EpochForced, "the window is full", s.relieved())
	case s.set.Manual:
	case s.over() > 0 && s.bought(now, s.over()):
	case s.set.Paid:
		s.pay(now)
	}
}

// over is the bound that the stream exceeds without having to shrink: its
// quality budget, which holds once the session has outlived a window, or the
// part of the window that is better kept free. It is 0 where it exceeds none.
func (s *Scheduler) over() int {
	switch {
	case s.budget > 0 && s.net > s.budget && s.entered > s.set.Window:
		return s.budget
	case s.set.Room > 0 && s.net > s.set.Room:
		return s.set.Room
	default:
		return 0
	}
}

// free is an epoch at a call whose prompt is written anyway. One that might make
// later calls dearer does not begin, unless the window is full.
func (s *Scheduler) free(now Moment) {
	fits := s.set.Window <= 0 || s.net <= s.set.Window
	if fits && s.over() == 0 && !s.lightens(now) {
		return
	}
	was := *s
	s.stream, s.at = slices.Clone(s.stream), slices.Clone(s.at)
	s.begin(quire.EpochFree, now.Cold)
	s.demote(now, 0)
	s.fold(now, false)
	switch {
	case s.set.Window > 0 && s.net > s.set.Window:
		s.press(now, quire.EpochForced, "the window is full", s.relieved())
	case s.over() > 0:
		s.press(now, quire.EpochFree, now.Cold+", and the stream is larger than its budget", int(budgetShare*float64(s.over())))
	}
	if fits && (s.short(now) || !s.relieves(was.net-s.net, now)) {
		*s = was
	}
}

// lightens reports whether an epoch makes each later call cheaper than appending
// would: it frees more than it brings in and than rounding can lose.
func (s *Scheduler) lightens(now Moment) bool {
	now.unlabelled = true
	return s.relieves(s.frees(now), now)
}

// relieves reports whether an epoch that frees so many tokens makes each later
// call cheaper.
func (s *Scheduler) relieves(tokens int, now Moment) bool {
	freed := tokens - s.brings()
	return freed > 0 && float64(freed)*now.Prices.Read >= rounding(now)
}

// rounding is what a call can cost more than another because the cache serves
// prompts in steps: the longer prompt may end at a step, and the shorter one just
// before the next, call after call.
func rounding(now Moment) float64 {
	return float64(max(now.Step-1, 0)) * max(now.Write-now.Prices.Read, 0)
}

// short reports whether the stream is too short to be cached. A longer one would be
// cached sooner, and cost less from then on.
func (s *Scheduler) short(now Moment) bool { return now.Prefix+s.net < now.Least }

// frees is how many tokens an epoch would take out now. Thinking that
// would go besides is not counted.
func (s *Scheduler) frees(now Moment) (tokens int) {
	guard := s.guard(now)
	for i := range guard.from {
		if v := s.judge(i, now); v.goes && !guard.has(i) {
			tokens += s.stream[i].Tokens - v.tokens
		}
	}
	return tokens
}

// brings is how many tokens an epoch adds by itself.
func (s *Scheduler) brings() int {
	if len(s.epochs) == 0 {
		return s.set.Notice + s.set.Schema
	}
	return s.set.Notice
}

// schema is what the epochs so far added to the constant part of the prompt.
func (s *Scheduler) schema() int {
	if len(s.epochs) == 0 && s.plan.kind == "" {
		return 0
	}
	return s.set.Schema
}

// bought is an epoch for a bound that does not have to be kept: it waits until
// the account can pay for it. What it costs is known when it is made, since more
// may stay than was aimed at; what cannot be paid is taken back.
func (s *Scheduler) bought(now Moment, bound int) bool {
	target := int(budgetShare * float64(bound))
	if now.Account < s.rewrite(now, target) {
		return false
	}
	was, before := *s, s.net
	s.stream, s.at = slices.Clone(s.stream), slices.Clone(s.at)
	s.press(now, quire.EpochPaid, "the stream is larger than its budget", target)
	cost := s.rewrite(now, s.rewritten(now))
	if now.Account < cost || !s.relieves(before-s.net, now) || s.short(now) {
		*s = was
		return false
	}
	s.plan.price = cost
	return true
}

// begin notes that an epoch begins; a forced one stays forced.
func (s *Scheduler) begin(kind, reason string) {
	s.remember()
	if s.plan.kind != quire.EpochForced {
		s.plan.kind, s.plan.reason = kind, reason
	}
}

// press makes the stream as small as a target: first by what costs more than it
// is worth, then by folding what is left of old turns, then by what is least
// likely to be needed for what it frees, and no more of that than it takes; at
// last by folding what still holds content.
func (s *Scheduler) press(now Moment, kind, why string, target int) {
	s.begin(kind, fmt.Sprintf("%s: %d tokens", why, s.net))
	s.calm()
	s.demote(now, 0)
	for range 2 { // what is lowered now can be folded too
		if s.net > target {
			s.fold(now, false)
		}
		if !s.squeeze(now, target) {
			break
		}
	}
	if s.net <= target {
		return
	}
	s.fold(now, true)
	if s.net > max(target, int(relievedShare*float64(s.bound()))) {
		s.foldTurn(now)
	}
	if s.set.Window > 0 && s.net > s.set.Window {
		s.foldWords(now)
	}
}

// unseen reports whether no call has shown yet what stands at a place: it entered
// since the last one, or was paged in.
func (s *Scheduler) unseen(i, call int) bool {
	n := s.stream[i].Block
	if n < 0 {
		return false
	}
	return s.blocks[n].Call >= call || s.at[n] == i && slices.Contains(s.paged, n)
}

package schedule

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/quire-agent/quire/internal/quire"
)

// cardShare is how much of the bound all folds of a stream may take together,
// and cardTokens the most that they may (design, section 6.5). Beyond it the
// oldest are joined to one.
const (
	cardShare  = .1
	cardTokens = 5_000
)

// foldTurns is how many turns one card stands for at most before cards are
// joined.
const foldTurns = 8

// fold replaces by cards what is left of old turns: the lines and handles of
// pages that hold no content any more, and with all also those that do. The
// turn at hand and the one before it stay; so do the user's newest words, what
// is pinned, and what keeps its form.
func (s *Scheduler) fold(now Moment, all bool) {
	s.foldBefore(now, now.Turn-1, s.staying(now, all, now.Turn-1))
}

// foldTurn folds what no call needs to see also of the turn at hand and of the
// one before it: a loop may be longer than a window.
func (s *Scheduler) foldTurn(now Moment) {
	s.foldBefore(now, now.Turn+1, s.staying(now, true, now.Turn-1))
}

// foldWords folds all but the words of the turn at hand: where those of the one
// before it alone are more than the window, no call could be made any more.
func (s *Scheduler) foldWords(now Moment) {
	s.foldBefore(now, now.Turn+1, s.staying(now, true, now.Turn))
}

func (s *Scheduler) foldBefore(now Moment, before int, stays map[int]bool) {
	keep, first := s.guard(now).from, len(s.stream)
	out := make([]Placed, 0, len(s.stream))
	i := 0
	for i < keep && s.turnOf(i) < before {
		if s.stays(i, stays) {
			out = append(out, s.stream[i])
			i++
			continue
		}
		end := s.runEnd(i, keep, before, stays)
		kept, changed := s.foldRun(i, end)
		if !changed && s.told(out, s.stream[i:end]) {
			s.net -= s.stream[i].Tokens
			s.note(s.stream[i:end])
			kept, changed = nil, true
		}
		if changed {
			first = min(first, len(out))
		}
		out = append(out, kept...)
		i = end
	}
	if first == len(s.stream) {
		return
	}
	out = append(out, s.stream[i:]...)
	s.adopt(out, first)
	s.join()
	s.forgetThinking(s.dirty)
	s.sweep(s.dirty)
}

// turnOf is the turn of the block or fold at a place.
func (s *Scheduler) turnOf(i int) int {
	if p := s.stream[i]; p.Block < 0 {
		return p.Span.Last
	}
	return s.blocks[s.stream[i].Block].Turn
}

// runEnd is the place behind the run that begins at i: blocks and cards of
// neighbouring turns that one card can stand for.
func (s *Scheduler) runEnd(i, keep, before int, stays map[int]bool) int {
	end := i + 1
	for end < keep && !s.stays(end, stays) && s.turnOf(end) < min(before, s.turnOf(i)+foldTurns) {
		end++
	}
	return end
}

func (s *Scheduler) stays(i int, stays map[int]bool) bool {
	p := s.stream[i]
	return p.Block >= 0 && stays[p.Block]
}

// foldRun is what remains of a run: a card where that is shorter.
func (s *Scheduler) foldRun(from, to int) (kept []Placed, changed bool) {
	old := s.stream[from:to]
	if len(old) == 1 && (old[0].Block < 0 || s.blocks[old[0].Block].Part != quire.PartUser) {
		return old, false
	}
	span := Span{First: -1, FirstBlock: -1, Level: 1}
	gone := 0
	for i := range old {
		gone += old[i].Tokens
		s.absorb(&span, old[i], s.turnOf(from+i))
	}
	if span.Last > span.First {
		span.Level = 2
	}
	card := s.forms.Fold(span)
	if card >= gone {
		return old, false
	}
	s.net += card - gone
	s.note(old)
	return []Placed{{Block: -1, Form: quire.RenditionCard, Tokens: card, Span: span}}, true
}

// told reports whether a run is words of the user's alone that a fold before them
// stands for besides: it names their page, and another card would say no more.
func (s *Scheduler) told(before, run []Placed) bool {
	if len(run) != 1 || run[0].Block < 0 || s.blocks[run[0].Block].Part != quire.PartUser {
		return false
	}
	n, page := run[0].Block, s.blocks[run[0].Block].Page.Number
	return slices.ContainsFunc(before, func(p Placed) bool {
		sp := p.Span
		return p.Block < 0 && sp.FirstBlock <= n && n <= sp.LastBlock && sp.FirstPage <= page && page <= sp.LastPage
	})
}

func (s *Scheduler) absorb(span *Span, p Placed, turn int) {
	if p.Block < 0 {
		span.add(p.Span)
		return
	}
	if span.First < 0 {
		span.First = turn
	}
	span.Last = max(span.Last, turn)
	span.cover(p.Block, s.blocks[p.Block].Page.Number)
}

func (sp *Span) cover(block int, page quire.PageNumber) {
	if sp.FirstBlock < 0 {
		sp.FirstBlock = block
	}
	sp.LastBlock = max(sp.LastBlock, block) // what was paged in stands behind later blocks
	if page == 0 {
		return
	}
	sp.FirstPage = min(cmp.Or(sp.FirstPage, page), page)
	sp.LastPage = max(sp.LastPage, page)
}

// note enters the decisions that a fold makes.
func (s *Scheduler) note(old []Placed) {
	for _, p := range old {
		if p.Block < 0 {
			continue
		}
		if b := &s.blocks[p.Block]; b.Page.Number > 0 {
			s.plan.decisions = append(s.plan.decisions, quire.Decision{Page: b.Page.Number, From: p.Form, To: quire.RenditionCard, Was: p.Tokens, Reason: fmt.Sprintf("turn %d is folded to a card", b.Turn+1)})
		}
	}
}

// staying marks the blocks that a fold leaves: the user's own words from a turn on,
// and where that is not the one at hand the newest others up to their share of the bound, pinned
// pages, fixed blocks, what is protected, and unless all go the pages of which a block still holds content.
// Of a response with its results all stays or all goes (I2).
func (s *Scheduler) staying(now Moment, all bool, words int) map[int]bool {
	out, units := map[int]bool{}, map[int]bool{}
	room, guard := int(s.set.User*budgetShare*float64(s.bound())), s.guard(now)
	for i := len(s.stream) - 1; i >= 0; i-- {
		p := s.stream[i]
		if p.Block < 0 {
			continue
		}
		b := &s.blocks[p.Block]
		said := b.Part == quire.PartUser
		if said && (p.Tokens <= room && words < now.Turn || b.Turn >= words) {
			room -= p.Tokens
			out[p.Block] = true
		}
		held := !all && !said && p.Form.Resident() && b.Page.Number > 0
		if guard.has(i) || held || b.Fixed || s.pinned(b.Page.Number, now.Call) {
			out[p.Block] = true
			units[s.units[p.Block]] = true
		}
	}
	for _, p := range s.stream {
		if p.Block >= 0 && units[s.units[p.Block]] {
			out[p.Block] = true
		}
	}
	return out
}

// unitOf is the response that a block belongs to, by the call that gave it; a
// result belongs to the response that made its call. What belongs to none has a
// number below zero: one for each page, and one for each block that has no page.
func (s *Scheduler) unitOf(n int, b *Block) int {
	u := s.pages[b.Page.Number]
	switch {
	case b.Answers > 0:
		return b.Answers - 1
	case b.By >= 0:
		return b.By
	case b.Page.Number == 0:
		return math.MinInt + n
	case u.asked >= 0:
		return u.asked
	default:
		return -1 - int(b.Page.Number)
	}
}

// bound is the size that the stream may have.
func (s *Scheduler) bound() int {
	switch {
	case s.budget <= 0:
		return s.set.Window
	case s.set.Window == 0:
		return s.budget
	default:
		return min(s.budget, s.set.Window)
	}
}

// adopt makes out the stream. Its net size is already counted.
func (s *Scheduler) adopt(out []Placed, first int) {
	for _, p := range s.stream {
		if p.Block >= 0 {
			s.at[p.Block] = nowhere
		}
	}
	s.stream = out
	s.locate()
	s.dirty = min(s.dirty, first)
}

// join makes one fold of the oldest ones when all together are too large. What
// stood between them stays, behind it.
func (s *Scheduler) join() {
	total, folds := 0, 0
	for _, p := range s.stream {
		if p.Block < 0 {
			total += p.Tokens
			folds++
		}
	}
	if total <= min(cardTokens, int(cardShare*float64(s.bound()))) || folds < 2 {
		return
	}
	s.joinOldest(folds - folds/3)
}

// joinOldest makes one fold of the oldest n, where that is shorter.
func (s *Scheduler) joinOldest(n int) {
	whole := Span{First: -1, Level: 2, FirstBlock: -1}
	var rest []Placed
	at, apart := -1, 0
	for _, p := range s.stream {
		if p.Block >= 0 || n == 0 {
			rest = append(rest, p)
			continue
		}
		n--
		if at < 0 {
			at = len(rest)
			rest = append(rest, Placed{})
		}
		whole.add(p.Span)
		apart += p.Tokens
	}
	card := s.forms.Fold(whole)
	if card >= apart {
		return
	}
	rest[at] = Placed{Block: -1, Form: quire.RenditionCard, Tokens: card, Span: whole}
	s.net += card - apart
	s.adopt(rest, at)
}

func (sp *Span) add(o Span) {
	if sp.First < 0 {
		sp.First = o.First
	}
	sp.Last = max(sp.Last, o.Last)
	sp.cover(o.FirstBlock, o.FirstPage)
	sp.cover(o.LastBlock, o.LastPage)
}

package schedule

import (
	"math"

	"github.com/quire-agent/quire/internal/quire"
)

// halfLife is in how many calls heat halves (design, section 1).
const halfLife = 12

func decay(calls int) float64 { return math.Exp2(-float64(max(calls, 0)) / halfLife) }

// Heat is that of a page at a call: Σ 2^(−calls since / 12) over its references,
// its admission being one. A page that never entered has none.
func (s *Scheduler) Heat(page quire.PageNumber, call int) float64 {
	u := s.pages[page]
	if u == nil {
		return 0
	}
	return u.heat * decay(call-u.last)
}

// Epochs is how many epochs began.
func (s *Scheduler) Epochs() int { return len(s.epochs) }

// Case is how the table of needs sees block i at a call.
func (s *Scheduler) Case(i int, now Moment) Case {
	b := &s.blocks[i]
	c := Case{Kind: KindOf(b), Size: sizeStep(b.Tokens), Idle: now.Call - b.Call}
	if u := s.pages[b.Page.Number]; u != nil {
		c.Idle = now.Call - u.last
		c.Quoted = uint8(min(u.quoted, quotings-1))
		c.Heat = heatStep(u.heat)
		c.Turn = uint8(min(max(now.Turn-u.turn, 0), turns-1))
		if !now.unlabelled && s.tasks.elsewhere(u.turn) {
			c.Task = 1
		}
	}
	c.Edit = s.editCase(b, now.Call)
	return c
}

// editCase says how lately the file of a block was edited.
func (s *Scheduler) editCase(b *Block, call int) uint8 {
	switch b.Page.Action {
	case quire.ActionRead, quire.ActionEdit, quire.ActionWrite:
	default:
		return 0
	}
	last, ok := s.edited[b.Page.Target]
	switch {
	case !ok:
		return 1
	case call-last <= recentEdit:
		return 2
	default:
		return 3
	}
}

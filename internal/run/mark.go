package run

import (
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/schedule"
)

// Mark takes what the user wants of pages and epochs; it holds from the next plan
// on. Marks of other kinds change nothing in a stream. ok is false where an epoch
// cannot be undone any more, see [schedule.Scheduler.Undo].
func (c *Context) Mark(m quire.MarkRecord) (ok bool) {
	switch m.What {
	case quire.MarkPin:
		c.sched.Pin(m.Page, m.Until)
	case quire.MarkUnpin:
		c.sched.Unpin(m.Page)
	case quire.MarkDrop:
		c.sched.Drop(m.Page)
	case quire.MarkUndo:
		return c.sched.Undo(m.Epoch)
	}
	return true
}

// Weigh says what would become of a block if an epoch began with the next call.
func (c *Context) Weigh(block, turn int) quire.Decision {
	return c.sched.Weigh(block, c.moment(turn, ""))
}

// Terms are those that the context was made with.
func (c *Context) Terms() Terms { return c.terms }

// Moment is the state of the world at the next call, should the cache still hold.
func (c *Context) Moment(turn int) schedule.Moment { return c.moment(turn, "") }

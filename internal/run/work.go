package run

import (
	"fmt"

	"github.com/quire-agent/quire/internal/assemble"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/quire-agent/quire/internal/task"
)

// A Work follows the task of the turn at hand (design, section 6.7). Parts are
// added as they come; what they say of the task is asked for before each call and
// before a turn ends. It is deterministic, and not safe for concurrent use. The
// zero Work is ready.
type Work struct {
	tracker task.Tracker
	collect task.Collector
	told    task.Decision // about the turn of that number
	turn    int
	mark    *string // the task that the user named, from the next turn on
}

// Begins reports whether a part begins another turn, so that the task of the one at
// hand is to be decided first.
func (w *Work) Begins(p *quire.Part) bool { return w.collect.Begins(p) }

// Add takes the next part, with its pages.
func (w *Work) Add(p *quire.Part, pages []quire.Page) { w.collect.Add(p, pages) }

// Decide has the task of the turn at hand decided, as much of it as is there.
// changed says that it is another decision than the one before.
func (w *Work) Decide(turn int) (d task.Decision, changed bool) {
	d = w.tracker.Decide(&w.collect)
	if w.mark != nil && (turn != w.turn || w.told.Task == "") {
		d, w.mark = w.tracker.Mark(*w.mark), nil
	}
	if turn == w.turn && d.Task == w.told.Task {
		return d, false
	}
	d.Switched = d.Switched && d.Task != w.told.Task
	w.told, w.turn = d, turn
	return d, true
}

// Of is what a decision about a turn says to a scheduler.
func (w *Work) Of(d task.Decision, turn int) schedule.Work {
	return schedule.Work{Task: d.Task, Turn: turn, Back: d.Back, Keep: d.Keep}
}

// Back points to the hottest pages of a task that the user comes back to. There
// are none for a decision of another kind.
func (w *Work) Back(d task.Decision) (hints []schedule.Hint) {
	if !d.Switched || d.New {
		return nil
	}
	for _, g := range w.tracker.Goals() {
		if g.Task != d.Task {
			continue
		}
		for _, p := range g.Hot {
			hints = append(hints, schedule.Hint{Page: p, Sign: schedule.Sign{By: schedule.ByUser, What: schedule.SignGoal}, Named: d.Asked})
		}
	}
	return hints
}

// Mark takes what the user wants of pages, epochs and tasks. A task that he names
// begins with the turn that follows. ok is that of [Context.Mark].
func (s *Step) Mark(m quire.MarkRecord) (ok bool) {
	if m.What == quire.MarkTask && m.Page == 0 && m.Task != "" {
		s.work.mark = &m.Task
		return true
	}
	return s.ctx.Mark(m)
}

// working tells all that go by the task of the turn at hand when it is another one.
func (s *Step) working() {
	turn := max(s.turn, 0)
	d, changed := s.work.Decide(turn)
	if !changed {
		return
	}
	s.ledger.Label(d.Task, d.Back)
	s.ctx.Work(s.work.Of(d, turn))
	s.ctx.Foresee(s.work.Back(d))
	if d.Switched && d.Asked {
		s.card(d.Task)
	}
}

// begins has the task of a turn decided for the last time, before a part begins the
// next one.
func (s *Step) begins(p *quire.Part) {
	if s.work.Begins(p) {
		s.working()
	}
}

// card appends the card of a task that the user named, as far as the account goes.
func (s *Step) card(name string) {
	text := s.ledger.TaskCard(name, 0, foldTogether, s.count.Count)
	if text == "" || !s.ctx.Affords(s.count.Count(text)) {
		return
	}
	b := quire.Block{Part: quire.Part{Kind: quire.PartMachine, Origin: quire.OriginOwn, Text: fmt.Sprintf("What was done for the task that the user names:\n%s", text)}}
	s.enter(assemble.Piece{Block: b, Role: quire.RoleUser}, -1)
}

package replay

import (
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/schedule"
)

// A Told is one call of a session as the scheduler decided it.
type Told struct {
	Plan    schedule.Plan // without Placed
	Entered []int         // blocks that entered with it
	Account float64       // what was saved so far, after the call
	Prefix  int           // tokens of the constant part of its prompt
	Missed  []Missed      // strict needs of the call that its prompt did not serve
}

// Missed is a fault: a need that a prompt did not serve.
type Missed struct {
	Page quire.PageNumber
	Cost float64 // of fetching it: a call more over the prompt, and the lines that it brings
}

// A Telling is a session told by the scheduler: what it decided at each call, and
// how things stand at the end. Pages are those of the session.
type Telling struct {
	Calls []Told
	play  *ours
}

// Tell plays a session through the scheduler under a setting, in the unit of its
// prices. Before each call marks are asked for; they hold from that call on. The
// figures of the settings that are 0 follow from the setting. The result depends
// on nothing but the arguments.
func Tell(s *recording.Session, under Setting, set schedule.Settings, table *schedule.Table, marks func(k int) []quire.MarkRecord) (*Telling, error) {
	if s.TooLong {
		return nil, recording.ErrTooLong
	}
	t := &teller{marks: marks, out: &Telling{Calls: make([]Told, len(s.Calls))}}
	policy := Scheduled("quire", set, Always(table))
	start := policy.Start
	policy.Start = func(s *recording.Session, under Setting) Player {
		t.ours = start(s, under).(*ours)
		t.out.play = t.ours
		return t
	}
	t.replay = newReplay(s, policy, []Setting{under})
	for k := range s.Calls {
		t.replay.send(k)
		t.replay.serve(k)
	}
	t.mark(len(s.Calls))
	return t.out, t.replay.err
}

// A teller is the scheduler at work, written down.
type teller struct {
	*ours
	marks  func(k int) []quire.MarkRecord
	replay *replay
	out    *Telling
}

// mark hands on what the user marked before call k.
func (t *teller) mark(k int) {
	for _, m := range t.marks(k) {
		t.ctx.Mark(m)
	}
}

func (t *teller) Step(k int) Prompt {
	t.mark(k)
	first := len(t.items)
	p := t.ours.Step(k)
	told := &t.out.Calls[k]
	told.Plan = t.plan
	told.Plan.Placed = nil
	for i := first; i < len(t.items); i++ {
		told.Entered = append(told.Entered, i)
	}
	told.Account = t.ctx.Account().Balance()
	told.Prefix = t.s.Overhead + t.ctx.Schema()
	return p
}

// Faulted notes what the strict book just charged for each need.
func (t *teller) Faulted(k int, needs []int) {
	strict := t.replay.books[1]
	brought := strict.brought[len(strict.brought)-len(needs):]
	for i, n := range needs {
		cost := t.set.trip(strict.prompt, faultOutput) + t.set.Write()*float64(brought[i].tokens)
		t.out.Calls[k].Missed = append(t.out.Calls[k].Missed, Missed{Page: t.s.Needs[n].Page, Cost: cost})
	}
	t.ours.Faulted(k, needs)
}

// Context is the context of the session after its last call, to be read.
func (t *Telling) Context() *run.Context { return t.play.ctx }

// Turn is the turn of the last call.
func (t *Telling) Turn() int {
	if n := len(t.play.s.Calls); n > 0 {
		return int(t.play.s.Calls[n-1].Turn)
	}
	return 0
}

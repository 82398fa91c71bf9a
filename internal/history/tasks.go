package history

import (
	"context"
	"fmt"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/page"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/task"
)

// A Task is a task of a session with what belongs to it.
type Task struct {
	Task   string             `json:"task"`
	Goal   string             `json:"goal,omitempty"`    // the first line that the user said in it; "" where only pages were marked
	Reason string             `json:"reason"`            // why it began
	Turns  int                `json:"turns"`             // of the main chain
	Pages  int                `json:"pages"`             // marked with it, or of its turns and not marked with another
	Tokens int                `json:"tokens"`            // of those
	First  int                `json:"first"`             // call, from 0
	Last   int                `json:"last"`              // call
	Marked bool               `json:"marked"`            // the user named it; otherwise it is inferred
	Now    bool               `json:"current"`           // what is admitted next belongs to it
	Hot    []quire.PageNumber `json:"hottest,omitempty"` // two pages, the hotter first
}

// Tasks tells the tasks of the main chain in the order in which they began. rows
// are the pages of the session, whose marks go before what is inferred.
func (s *Source) Tasks(ctx context.Context, rows []quire.Row) ([]Task, error) {
	l := &labels{of: map[quire.PageNumber]int{}, marked: map[string]bool{}}
	if err := s.label(ctx, l); err != nil {
		return nil, fmt.Errorf("tasks of %s: %w", s.Path, err)
	}
	return l.tasks(rows), nil
}

// labels are the tasks of turns, inferred as the session goes on.
type labels struct {
	cutter  page.Cutter
	collect task.Collector
	tracker task.Tracker
	turns   []task.Decision
	of      map[quire.PageNumber]int // page → its turn
	calls   int
	mark    *string // the task that the user marked and that begins with the next turn
	due     *string // and that which began with the turn at hand
	marked  map[string]bool
	current string
}

// label goes through the main chain.
func (s *Source) label(ctx context.Context, l *labels) error {
	for r, err := range journal.Read(s.Path) {
		switch {
		case damaged(err):
			continue
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
		if err := s.labelRecord(ctx, l, r); err != nil {
			return err
		}
	}
	l.end()
	return nil
}

func (s *Source) labelRecord(ctx context.Context, l *labels, r quire.Record) error {
	switch r.Type {
	case quire.RecordCall:
		take(r, func(c quire.CallRecord) {
			if c.Chain == "" {
				l.calls++
			}
		})
	case quire.RecordMark:
		take(r, l.take)
	case quire.RecordPart:
		p, err := journal.Decode[quire.PartRecord](r)
		if err != nil || p.Chain != "" || len(p.Pages) == 0 {
			return nil // damage, a subagent, or what Quire put in itself
		}
		if p.Part.Text, err = s.text(ctx, p.Body); err != nil {
			return err
		}
		if p.Part.Kind == quire.PartUser && s.Mask != nil {
			p.Part.Text = s.Mask(p.Part.Text)
		}
		l.part(&p)
	}
	return nil
}

// take takes what the user says of tasks. A mark without a page holds for what is
// admitted after it.
func (l *labels) take(m quire.MarkRecord) {
	if m.What != quire.MarkTask {
		return
	}
	if m.Task != "" {
		l.marked[m.Task] = true
	}
	if m.Page == 0 {
		l.mark = &m.Task
	}
}

func (l *labels) part(p *quire.PartRecord) {
	pages := l.cutter.Cut(p.Part, l.calls)
	for i := range pages[:min(len(pages), len(p.Pages))] {
		pages[i].Number = p.Pages[i]
	}
	if l.collect.Begins(&p.Part) {
		l.end()
	}
	if p.Part.Kind == quire.PartUser && l.mark != nil {
		l.due, l.mark = l.mark, nil
	}
	l.collect.Add(&p.Part, pages)
	for _, n := range p.Pages {
		if _, known := l.of[n]; !known {
			l.of[n] = len(l.turns)
		}
	}
}

// end has the task of the turn at hand decided for the last time.
func (l *labels) end() {
	if len(l.of) == 0 {
		return
	}
	d := l.tracker.Decide(&l.collect)
	if l.due != nil && *l.due != "" {
		d = l.tracker.Mark(*l.due)
	}
	l.due = nil
	for i := range d.Back {
		l.turns[len(l.turns)-1-i].Task = d.Task
	}
	l.turns = append(l.turns, d)
	l.current = d.Task
}

// tasks adds up what belongs to each task.
func (l *labels) tasks(rows []quire.Row) []Task {
	var all []Task
	at := map[string]int{}
	find := func(name string) *Task {
		i, ok := at[name]
		if !ok {
			i = len(all)
			at[name] = i
			all = append(all, Task{Task: name, First: -1, Marked: l.marked[name], Reason: "marked by the user"})
		}
		return &all[i]
	}
	for _, d := range l.turns {
		t := find(d.Task)
		if t.Turns == 0 && !t.Marked {
			t.Reason = d.Reason
		}
		t.Turns++
	}
	for _, g := range l.tracker.Goals() {
		if i, ok := at[g.Task]; ok {
			all[i].Goal, all[i].Hot = g.Text, g.Hot
		}
	}
	for i := range rows {
		for _, name := range l.tasksOf(&rows[i]) {
			find(name).add(&rows[i])
		}
	}
	if l.mark != nil && *l.mark != "" {
		l.current = *l.mark
		find(l.current)
	}
	if i, ok := at[l.current]; ok {
		all[i].Now = true
	}
	return all
}

// tasksOf are the marks of a page, or the task of its turn.
func (l *labels) tasksOf(r *quire.Row) []string {
	if len(r.Tasks) > 0 {
		return r.Tasks
	}
	if turn, ok := l.of[r.Number]; ok && turn < len(l.turns) {
		return []string{l.turns[turn].Task}
	}
	return nil
}

func (t *Task) add(r *quire.Row) {
	t.Pages++
	t.Tokens += r.Tokens
	if t.First < 0 || r.Call < t.First {
		t.First = r.Call
	}
	t.Last = max(t.Last, r.Call, r.LastRef)
}

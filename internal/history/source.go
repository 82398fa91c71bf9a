package history

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
)

// A bodyReader is what a history needs of [quire.Bodies].
type bodyReader interface {
	Body(ctx context.Context, h quire.Hash) ([]byte, error)
}

// A Source is where the history of a session is read from. It must not be changed
// while it is read; what is appended to the journal meanwhile may or may not
// count.
type Source struct {
	Path   string // of the journal
	Bodies bodyReader

	// Mask hides secrets in what Tasks shows of the user's words, before those are
	// cut short; nil: nothing is hidden.
	Mask func(text string) string
}

// A mark is what the user marked, and the number of calls before it.
type mark struct {
	quire.MarkRecord
	after int
}

// An outline is what a journal says without its bodies.
type outline struct {
	head   quire.SessionRecord
	calls  []quire.CallRecord // of the main chain
	marks  []mark
	pages  map[int][]quire.PageNumber  // by node of the main chain
	apart  map[quire.PageNumber]string // why a page is in no stream
	came   [][]Entered                 // by call, what came in with it; one more for what no call has shown
	plans  []quire.PlanRecord
	epochs []quire.EpochRecord
	faults []quire.FaultRecord
	sums   []quire.AccountRecord
	ins    []quire.PageInRecord
}

// damaged reports whether an error is about one place, after which reading goes
// on.
func damaged(err error) bool { return errors.Is(err, quire.ErrDamaged) }

// outline reads the journal. Places that cannot be read are passed over; `quire
// doctor` reports them.
func (s *Source) outline() (*outline, error) {
	head, err := journal.Head(s.Path)
	if err != nil {
		return nil, err
	}
	o := &outline{head: head, pages: map[int][]quire.PageNumber{}, apart: map[quire.PageNumber]string{}}
	for r, err := range journal.Read(s.Path) {
		if err != nil && !damaged(err) {
			return nil, err
		}
		if err == nil {
			o.record(r)
		}
	}
	return o, nil
}

// record takes a record in. One that is not what its type says is damage.
func (o *outline) record(r quire.Record) {
	switch r.Type {
	case quire.RecordCall:
		take(r, func(c quire.CallRecord) {
			if c.Chain == "" {
				o.calls = append(o.calls, c)
			}
		})
	case quire.RecordPart:
		take(r, o.part)
	case quire.RecordMark:
		take(r, func(m quire.MarkRecord) { o.marks = append(o.marks, mark{m, len(o.calls)}) })
	case quire.RecordPlan:
		take(r, func(p quire.PlanRecord) { o.plans = append(o.plans, p) })
	case quire.RecordEpoch:
		take(r, func(e quire.EpochRecord) { o.epochs = append(o.epochs, e) })
	case quire.RecordFault:
		take(r, func(f quire.FaultRecord) { o.faults = append(o.faults, f) })
	case quire.RecordPageIn:
		take(r, func(p quire.PageInRecord) { o.ins = append(o.ins, p) })
	case quire.RecordAccount:
		take(r, func(a quire.AccountRecord) { o.sums = append(o.sums, a) })
	}
}

func (o *outline) part(p quire.PartRecord) {
	if p.Chain == "" {
		o.pages[p.Node] = p.Pages
		o.enter(&p)
	}
	why := ""
	switch {
	case p.Chain != "":
		why = "it is of a subagent, whose prompts are its own"
	case p.Part.Kind == quire.PartSystem || p.Part.Kind == quire.PartTools:
		why = "it is in the constant part of the prompt, which stands before the stream"
	case p.Part.Origin != quire.OriginFirst:
		why = "it is a copy that the agent put back when it compacted its context"
	default:
		return
	}
	for _, n := range p.Pages {
		o.apart[n] = why
	}
}

// enter notes with which call a part comes in: what a call answers comes in with
// the next one.
func (o *outline) enter(p *quire.PartRecord) {
	for len(o.came) <= len(o.calls) {
		o.came = append(o.came, nil)
	}
	if n := len(p.Pages); n > 0 {
		o.came[len(o.calls)] = append(o.came[len(o.calls)], Entered{Page: p.Pages[n-1], Part: p.Part.Kind})
	}
}

func take[T any](r quire.Record, to func(T)) {
	if v, err := journal.Decode[T](r); err == nil {
		to(v)
	}
}

// events are those that the session was recorded from, with the texts of their
// parts. A text that is forgotten or lost is empty.
func (s *Source) events(ctx context.Context, head quire.SessionRecord) iter.Seq2[quire.Event, error] {
	return func(yield func(quire.Event, error) bool) {
		if !yield(quire.Opened{Info: head.Info}, nil) {
			return
		}
		for r, err := range journal.Read(s.Path) {
			if damaged(err) {
				continue
			}
			e, made := quire.Event(nil), false
			if err == nil {
				e, made, err = s.event(ctx, r)
			}
			if (made || err != nil) && !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// event is the event of a record; made is false where it has none.
func (s *Source) event(ctx context.Context, r quire.Record) (e quire.Event, made bool, err error) {
	switch r.Type {
	case quire.RecordPart:
		return s.part(ctx, r)
	case quire.RecordInfo:
		take(r, func(i quire.InfoRecord) { e = quire.Opened{Stamp: i.Stamp, Info: i.Info} })
	case quire.RecordCall:
		take(r, func(c quire.CallRecord) { e = quire.Called{Stamp: c.Stamp, Call: c.Call, Model: c.Model} })
	case quire.RecordUsage:
		take(r, func(u quire.UsageRecord) { e = quire.Metered{Stamp: u.Stamp, Call: u.Call, Usage: u.Usage} })
	case quire.RecordCompaction:
		take(r, func(c quire.CompactionRecord) {
			e = quire.Compacted{Stamp: c.Stamp, Trigger: c.Trigger, PreTokens: c.PreTokens}
		})
	case quire.RecordRewind:
		take(r, func(w quire.RewindRecord) { e = quire.Rewound{Stamp: w.Stamp, Keep: w.Keep} })
	}
	return e, e != nil, nil
}

func (s *Source) part(ctx context.Context, r quire.Record) (quire.Event, bool, error) {
	p, err := journal.Decode[quire.PartRecord](r)
	if err != nil {
		return nil, false, nil // damage, as above
	}
	if p.Part.Text, err = s.text(ctx, p.Body); err != nil {
		return nil, false, err
	}
	if p.Call == "" {
		return quire.Entered{Stamp: p.Stamp, Node: p.Node, Part: p.Part}, true, nil
	}
	return quire.Answered{Stamp: p.Stamp, Call: p.Call, Node: p.Node, Part: p.Part}, true, nil
}

func (s *Source) text(ctx context.Context, h quire.Hash) (string, error) {
	if h == (quire.Hash{}) {
		return "", nil
	}
	body, err := s.Bodies.Body(ctx, h)
	if damaged(err) || errors.Is(err, quire.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read a body: %w", err)
	}
	return string(body), nil
}

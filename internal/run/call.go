package run

import (
	"context"
	"fmt"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/schedule"
)

// unanswered is the id of a reply of which nothing came.
const unanswered = ""

// call makes one call: plan, record the intent, send, take the answer, record it.
func (l *Loop) call(ctx context.Context, choice quire.Choice) (quire.Reply, error) {
	at := l.Now()
	head := l.Head
	if choice.Mode != "" {
		head.Choice = choice
	}
	call, plan, err := l.Step.Plan(at, head)
	if err != nil {
		return quire.Reply{}, err
	}
	id := fmt.Sprintf("c%d", l.calls+1)
	if err := l.planned(ctx, at, id, plan); err != nil {
		return quire.Reply{}, err
	}
	l.calls++
	l.emit(Planned{Call: l.calls, Plan: plan})
	reply, err := l.ask(ctx, call)
	if len(reply.Blocks) > 0 {
		err = firstOf(err, l.answered(id, &reply))
	}
	if err == nil {
		l.emit(Answered{Call: l.calls, Reply: reply})
	}
	return reply, err
}

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// planned records a plan and that its call begins, durably, before it is sent.
func (l *Loop) planned(ctx context.Context, at time.Time, id string, p schedule.Plan) error {
	stamp := quire.Stamp{At: at}
	rec := quire.PlanRecord{
		Stamp: stamp, Call: id, Epoch: l.Step.Context().Scheduler().Epochs(), Reason: reason(p), Decisions: p.Decisions,
		Inputs: quire.PlanInputs{Now: stamp.At, Model: l.Head.Model, Stream: p.Before, Account: l.Step.Context().Account().Balance()},
	}
	if err := l.Record.Record(quire.RecordPlan, rec); err != nil {
		return err
	}
	if p.Kind != "" {
		e := quire.EpochRecord{Stamp: stamp, Epoch: rec.Epoch, Call: id, Kind: p.Kind, Reason: p.Reason, Before: p.Before, After: p.After, Price: p.Price, Saves: p.Saves}
		if err := l.Record.Record(quire.RecordEpoch, e); err != nil {
			return err
		}
	}
	if err := l.Record.Add(quire.Called{Stamp: stamp, Call: id, Model: l.Head.Model}); err != nil {
		return err
	}
	return l.sync(ctx)
}

func reason(p schedule.Plan) string {
	if p.Kind == "" {
		return "the prompt before is extended"
	}
	return p.Reason
}

// ask sends a call and puts its answer together. What came before an error is
// returned with it.
func (l *Loop) ask(ctx context.Context, c quire.Call) (reply quire.Reply, err error) {
	open := map[int]int{} // index → place in Blocks
	for d, err := range l.Model.Call(ctx, c) {
		if err != nil {
			return reply, fmt.Errorf("call %d: %w", l.calls, err)
		}
		l.emit(Said{d})
		gather(&reply, open, d)
	}
	return reply, nil
}

func gather(r *quire.Reply, open map[int]int, d quire.Delta) {
	switch d := d.(type) {
	case quire.ReplyBegun:
		r.ID, r.Model, r.Usage = d.ID, d.Model, d.Usage
	case quire.BlockBegun:
		open[d.Index] = len(r.Blocks)
		r.Blocks = append(r.Blocks, d.Block)
	case quire.BlockGrew:
		if i, ok := open[d.Index]; ok {
			r.Blocks[i].Text += d.Text
			r.Blocks[i].Signature += d.Signature
		}
	case quire.ReplyEnded:
		r.Stop, r.Usage = d.Stop, d.Usage
	}
}

// answered enters an answer and records it with its usage and the account.
func (l *Loop) answered(id string, r *quire.Reply) error {
	if r.ID == unanswered {
		r.ID = id
	}
	l.Step.Answer(*r)
	stamp := quire.Stamp{At: l.Now()}
	for i := range r.Blocks {
		if err := l.Record.Add(quire.Answered{Stamp: stamp, Call: id, Node: l.next(), Part: r.Blocks[i].Part}); err != nil {
			return err
		}
	}
	if err := l.Record.Add(quire.Metered{Stamp: stamp, Call: id, Usage: r.Usage}); err != nil {
		return err
	}
	a := l.Step.Context().Account()
	return l.Record.Record(quire.RecordAccount, quire.AccountRecord{Stamp: stamp, Call: id, Shadow: a.Shadow(), Live: a.Live()})
}

// enter takes blocks from outside into the stream and the record.
func (l *Loop) enter(role quire.Role, blocks ...quire.Block) error {
	l.Step.Enter(role, blocks...)
	stamp := quire.Stamp{At: l.Now()}
	for i := range blocks {
		if err := l.Record.Add(quire.Entered{Stamp: stamp, Node: l.next(), Part: blocks[i].Part}); err != nil {
			return err
		}
	}
	return nil
}

func (l *Loop) next() int {
	l.node++
	return l.node - 1
}

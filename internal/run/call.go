package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/schedule"
)

// unanswered is the id of a reply of which nothing came.
const unanswered = ""

// call makes one call. One that the provider refuses for its size is made once
// more, behind a forced epoch (design, I7).
func (l *Loop) call(ctx context.Context) (quire.Reply, error) {
	reply, err := l.once(ctx)
	kind, sent, big := tooBig(err)
	if !big || len(reply.Blocks) > 0 {
		return reply, err
	}
	if err := l.shrink(kind, sent); err != nil {
		return reply, err
	}
	reply, err = l.once(ctx)
	if kind, sent, big := tooBig(err); big && !sent {
		err = errors.Join(err, l.shrink(kind, sent))
	}
	return reply, err
}

// once makes one call: plan, record the intent, send, take the answer, record it.
// Tool calls of an answer that broke off have their results when it returns.
func (l *Loop) once(ctx context.Context) (quire.Reply, error) {
	at, cold := l.now(), ""
	l.planAt = at
	head, err := l.head(at)
	if err != nil {
		return quire.Reply{}, err
	}
	if l.calls > 0 {
		cold = l.Step.Context().Lapsed(at)
	}
	call, plan, err := l.Step.Plan(at, head)
	if err != nil {
		return quire.Reply{}, err
	}
	id := callID(l.calls + 1)
	if err := l.planned(at, id, cold, plan); err != nil {
		return quire.Reply{}, err
	}
	l.calls++
	l.emit(Planned{Call: l.calls, Plan: plan, Prompt: l.Step.Context().Scheduler().Net() + l.Head.Constant})
	reply, err := l.ask(ctx, call)
	broken := err != nil || cutOff(reply.Stop) != ""
	reply.Blocks = whole(reply.Blocks, broken)
	l.named(reply.Blocks)
	if err == nil || len(reply.Blocks) > 0 {
		err = firstOf(err, l.answered(id, &reply))
	}
	if broken {
		err = firstOf(err, l.refuse(toolCalls(reply), cut))
	}
	if err == nil {
		l.emit(Answered{Call: l.calls, Reply: reply, Hits: l.Step.hits, Bill: l.Bill()})
	}
	return reply, err
}

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// now is the clock without what a record does not keep of a time: a session that
// is resumed counts from the recorded times.
func (l *Loop) now() time.Time { return l.Now().Round(0) }

// planned records a plan and that its call begins, durably, before it is sent.
func (l *Loop) planned(at time.Time, id, cold string, p schedule.Plan) error {
	stamp, terms := quire.Stamp{At: at}, l.Step.Context().Terms()
	rec := quire.PlanRecord{
		Stamp: stamp, Call: id, Epoch: l.Step.Context().Scheduler().Epochs(), Reason: reason(p), Decisions: p.Decisions,
		Inputs: quire.PlanInputs{
			Now: at, Model: l.Head.Model, Rules: terms.Rules.Name, Tables: terms.Settings.Table.Version, Scale: l.scale(), Window: l.bound.window, Prefix: terms.Prefix,
			Output: l.Head.MaxOutput, Budget: terms.Settings.Budget, Stream: p.Before, Cold: cold, Account: l.Step.Context().Account().Balance(),
		},
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
	if err := l.foreseen(stamp, p); err != nil {
		return err
	}
	if err := l.Record.Add(quire.Called{Stamp: stamp, Call: id, Model: l.Head.Model}); err != nil {
		return err
	}
	return l.sync()
}

// foreseen records the pages that a plan brings in because words pointed to them,
// and of earlier ones whether they were used.
func (l *Loop) foreseen(stamp quire.Stamp, p schedule.Plan) error {
	record := func(f schedule.Foreseen, used *bool) error {
		return l.Record.Record(quire.RecordPageIn, quire.PageInRecord{
			Stamp: stamp, Call: callID(f.Call + 1), How: quire.PageInPrefetch, Page: f.Page, Tokens: f.Tokens, Reason: f.Reason, Used: used,
		})
	}
	for _, f := range p.Settled {
		if err := record(f, &f.Used); err != nil {
			return err
		}
	}
	for _, f := range p.Foreseen {
		if err := record(f, nil); err != nil {
			return err
		}
	}
	return nil
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
		r.ID, r.Model, r.Usage, r.Rest = d.ID, d.Model, d.Usage, d.Rest
	case quire.BlockBegun:
		open[d.Index] = len(r.Blocks)
		r.Blocks = append(r.Blocks, d.Block)
	case quire.BlockGrew:
		if i, ok := open[d.Index]; ok {
			r.Blocks[i].Text += d.Text
			r.Blocks[i].Signature += d.Signature
		}
	case quire.BlockEnded:
		if i, ok := open[d.Index]; ok {
			r.Blocks[i].Rest = over(r.Blocks[i].Rest, d.Rest)
		}
	case quire.ReplyEnded:
		r.Stop, r.Usage, r.Rest = d.Stop, d.Usage, over(r.Rest, d.Rest)
	}
}

// named sees to it that no two tool calls of a session have one id: models that
// are not asked for unique ones, as scripts and some servers, give the same again.
func (l *Loop) named(blocks []quire.Block) {
	if l.uses == nil {
		l.uses = map[string]bool{}
	}
	for i := range blocks {
		b := &blocks[i]
		if b.Kind != quire.PartToolCall {
			continue
		}
		for b.ToolUse == "" || l.uses[b.ToolUse] {
			b.ToolUse += fmt.Sprintf("_%s_%d", callID(l.calls), i+1)
		}
		l.uses[b.ToolUse] = true
	}
}

// over are fields with others that replace those of the same name.
func over(fields, by []quire.Field) []quire.Field {
	out := slices.DeleteFunc(slices.Clone(fields), func(f quire.Field) bool {
		return slices.ContainsFunc(by, func(g quire.Field) bool { return g.Name == f.Name })
	})
	return append(out, by...)
}

// unread is the member under which arguments stand that are no JSON object: a
// provider takes nothing else, and the model shall see what it sent.
const unread = "arguments_as_sent"

// whole are the blocks of an answer that may enter the stream. Of one that broke
// off, what is not finished may not: a call whose arguments end in the middle,
// thinking without its signature. Texts without content are nothing.
func whole(blocks []quire.Block, broken bool) (out []quire.Block) {
	for i, b := range blocks {
		ends := broken && i == len(blocks)-1
		switch {
		case b.Opaque != nil:
		case b.Kind == quire.PartText && b.Text == "", b.Kind == quire.PartThinking && ends:
			continue
		case b.Kind == quire.PartToolCall && !object(b.Text):
			if ends {
				continue
			}
			b.Text = wrapped(b.Text)
		}
		out = append(out, b)
	}
	return out
}

// object reports whether arguments are a JSON object. None at all are one.
func object(args string) bool {
	var members map[string]json.RawMessage
	return args == "" || json.Unmarshal([]byte(args), &members) == nil && members != nil
}

func wrapped(args string) string {
	text, err := json.Marshal(map[string]string{unread: args})
	if err != nil {
		return "{}" // unreachable: strings always encode
	}
	return string(text)
}

// answered enters an answer and records it with its usage and the account.
func (l *Loop) answered(id string, r *quire.Reply) error {
	if r.ID == unanswered {
		r.ID = id
	}
	l.took(*r)
	stamp := quire.Stamp{At: l.now()}
	for i := range r.Blocks {
		node := l.next()
		if err := l.kept(stamp, node, &r.Blocks[i]); err != nil {
			return err
		}
		if err := l.Record.Add(quire.Answered{Stamp: stamp, Call: id, Node: node, Part: r.Blocks[i].Part}); err != nil {
			return err
		}
	}
	if err := l.Record.Add(quire.Metered{Stamp: stamp, Call: id, Usage: r.Usage}); err != nil {
		return err
	}
	b := l.Bill()
	return l.Record.Record(quire.RecordAccount, quire.AccountRecord{Stamp: stamp, Call: id, Shadow: b.Shadow, Live: b.Live, Hits: l.Step.hits})
}

// enter takes blocks from outside into the stream and the record.
func (l *Loop) enter(role quire.Role, blocks ...quire.Block) error {
	for i := range blocks {
		if blocks[i].Kind == quire.PartUser {
			l.turn++
		}
	}
	l.Step.Enter(role, blocks...)
	stamp := quire.Stamp{At: l.now()}
	for i := range blocks {
		node := l.next()
		if err := l.kept(stamp, node, &blocks[i]); err != nil {
			return err
		}
		if err := l.Record.Add(quire.Entered{Stamp: stamp, Node: node, Part: blocks[i].Part}); err != nil {
			return err
		}
	}
	return nil
}

func (l *Loop) next() int {
	l.node++
	return l.node - 1
}

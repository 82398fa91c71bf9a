package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/curation"
	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/tool"
)

// A streamRecord is what is written down of a curated stream (record type "stream"):
// what entered it since the record before, and the call that was made of it. The
// bytes of elements are in the pool.
type streamRecord struct {
	quire.Stamp
	Genesis *genesis   `json:"genesis,omitempty"` // a form of the stream begins here
	Form    int        `json:"form,omitempty"`    // number of the one that goes on, where it is not that of the record before
	Keep    int        `json:"keep"`              // feeds that stay
	Feeds   []feed     `json:"feeds,omitempty"`   // behind them
	Steps   int        `json:"steps"`             // of the path that stay in Nodes
	Nodes   []int      `json:"nodes,omitempty"`   // behind them
	Prefix  quire.Hash `json:"prefix,omitzero"`   // of the list that goes up
}

// streamAgain takes the record of a stream.
func (s *stream) streamAgain(r *streamRecord) error {
	c := s.curated
	switch {
	case r.Genesis != nil:
		s.begun++
		c = &curated{Genesis: *r.Genesis, number: s.begun}
	case r.Form > 0:
		c = s.numbered(r.Form)
	}
	if c == nil || r.Keep < 0 || r.Keep > len(c.feeds) || r.Steps < 0 || r.Steps > len(c.nodes) {
		return fmt.Errorf("chain %q: the stream does not fit to what is before it", r.Chain)
	}
	c.feeds = append(slices.Clip(c.feeds[:r.Keep]), r.Feeds...)
	c.nodes = append(slices.Clip(c.nodes[:r.Steps]), r.Nodes...)
	s.take(c)
	s.written = c.number
	return nil
}

// numbered is a form by its number, nil where there is none.
func (s *stream) numbered(n int) *curated {
	for _, c := range s.forms {
		if c.number == n {
			return c
		}
	}
	return nil
}

// intent writes down what is about to be sent.
func (w *writing) intent() error {
	w.note.Intent, w.note.Call = true, w.called
	w.note.System, w.note.Tools, w.note.Offers, w.note.Model = w.view.system, w.view.tools, w.view.offers, w.view.call.Model
	if err := w.live.Record(quire.RecordView, w.note); err != nil {
		return err
	}
	w.note = viewRecord{Stamp: w.note.Stamp, Credential: w.note.Credential, Label: w.note.Label, Tree: w.note.Tree, Cleared: w.note.Cleared, Keep: len(w.stream.path)}
	c := w.stream.curated
	if c == nil || c.pending == nil || !w.curates() {
		return nil
	}
	if err := w.planned(&c.pending.call); err != nil {
		return err
	}
	return w.fed(quire.Sum(string(curation.Joined(c.pending.call.List))))
}

// planned writes the plan of a call, and its epoch.
func (w *writing) planned(call *curation.Call) error {
	c := w.stream.curated
	at, sched := c.feeds[len(c.feeds)-1].At, c.mirror.Step().Context()
	p := &call.Plan
	plan := quire.PlanRecord{
		Stamp: w.stamp, Call: w.called, Epoch: sched.Scheduler().Epochs(), Reason: or(p.Reason, "the prompt before is extended"), Decisions: p.Decisions,
		Inputs: quire.PlanInputs{
			Now: at, Model: c.Genesis.Model, Rules: sched.Terms().Rules.Name, Window: sched.Terms().Settings.Window, Prefix: c.Genesis.Prefix,
			Output: c.Genesis.Output, Budget: c.Genesis.Budget, Stream: p.Before, Cold: w.cold, Account: sched.Account().Balance(),
		},
	}
	if err := w.live.Record(quire.RecordPlan, plan); err != nil || p.Kind == "" {
		return err
	}
	return w.live.Record(quire.RecordEpoch, quire.EpochRecord{
		Stamp: w.stamp, Epoch: plan.Epoch, Call: w.called, Kind: p.Kind, Reason: p.Reason, Before: p.Before, After: p.After, Price: p.Price, Saves: p.Saves,
	})
}

// fed writes what entered the stream since the last record of it.
func (w *writing) fed(prefix quire.Hash) error {
	c, st := w.stream.curated, w.stream
	r := streamRecord{Stamp: w.stamp, Keep: w.feeds, Steps: w.nodes, Prefix: prefix}
	switch {
	case c.number == 0:
		st.begun++
		c.number = st.begun
		r.Genesis, r.Keep, r.Steps = &c.Genesis, 0, 0
	case c.number != st.written:
		r.Form = c.number
	}
	st.written = c.number
	r.Feeds, r.Nodes = slices.Clone(c.feeds[r.Keep:]), slices.Clone(c.nodes[r.Steps:])
	w.feeds, w.nodes = len(c.feeds), len(c.nodes)
	return w.live.Record(quire.RecordStream, r)
}

// sync makes what was written durable, the bytes of elements first.
func (w *writing) sync(ctx context.Context) error {
	if c := w.stream.curated; c != nil {
		var bodies [][]byte
		for i := range c.feeds {
			if f := &c.feeds[i]; f.bytes != nil {
				bodies = append(bodies, f.bytes)
			}
		}
		if _, err := w.pool().Bodies.PutBodies(ctx, bodies); err != nil {
			return fmt.Errorf("store the elements of a stream: %w", err)
		}
		for i := range c.feeds {
			c.feeds[i].bytes = nil
		}
	}
	return w.live.Sync(ctx)
}

// curates reports whether what goes up is the stream.
func (w *writing) curates() bool { return w != nil && w.curating != nil && w.curating.note.Curated }

// feedReply feeds an answer whose parts begin at a number.
func (w *writing) feedReply(r *quire.Reply, from int) error {
	c := w.stream.curated
	made, err := w.dialect.Made(r.Blocks)
	if err != nil {
		return err
	}
	var last *feed
	for i := range made {
		n := len(made[i].Blocks)
		last = c.take(&made[i], span{w.stream.chain, from, n}, w.x.began, w.book)
		from += n
	}
	if last != nil && r.Usage.Known != 0 {
		last.Usage = &r.Usage
		c.mirror.Metered(r.Usage)
	}
	return nil
}

// feedAnswer feeds the answer that ends a curated call, with what it recalls beside
// calls of the client's, whose results come with the next view (G7).
func (w *writing) feedAnswer(r *quire.Reply, from int) error {
	c := w.stream.curated
	if c == nil || !w.curates() || c.mirror == nil || w.x.reply == nil {
		return nil
	}
	if err := w.feedReply(r, from); err != nil {
		return err
	}
	if calls, _ := w.x.reply.Recalls(); len(calls) > 0 {
		if err := w.recall(w.observer.context, calls, w.x.reply.Inner()+1); err != nil {
			return err
		}
	}
	c.nodes = append(c.nodes, len(c.feeds))
	w.grew = true
	return nil
}

// went notes in the cache that is simulated what went up.
func (w *writing) went() {
	if v, err := w.gateway.reader.view(w.x.route, plainBody(w.sent)); err == nil {
		w.observer.meter.went(w.x.cred, v, w.x.began)
	}
}

// saying are the blocks of an answer that say something.
func saying(blocks []quire.Block) []quire.Block {
	return slices.DeleteFunc(slices.Clone(blocks), func(b quire.Block) bool {
		return b.Kind == quire.PartText && b.Opaque == nil && strings.TrimSpace(b.Text) == "" && len(b.Rest) == 0
	})
}

// mostRecalls is how many recalls in a row are answered (G7).
const mostRecalls = 3

// recall reads back what a model asked for, and feeds it.
func (w *writing) recall(ctx context.Context, calls []quire.Block, row int) error {
	c := w.stream.curated
	for _, call := range calls {
		text, failed := w.readBack(ctx, c.mirror.Step(), call, row)
		part := quire.Part{Kind: quire.PartToolResult, Origin: quire.OriginOwn, Tool: call.Tool, ToolUse: call.ToolUse, Text: text, IsError: failed}
		from := w.stream.next
		if err := w.enter(part); err != nil {
			return err
		}
		it, err := c.mirror.Recalled(call, text, failed)
		if err != nil {
			return err
		}
		c.take(&it, span{w.stream.chain, from, 1}, w.x.began, w.book)
		w.curating.note.Recalls++
	}
	return nil
}

// readBack is what one recall returns.
func (w *writing) readBack(ctx context.Context, step *run.Step, call quire.Block, row int) (text string, failed bool) {
	if row > mostRecalls {
		return fmt.Sprintf("%d recalls in a row were answered; go on with what is here before the next one.", mostRecalls), true
	}
	others, err := w.earlierThan(ctx, step)
	if err != nil {
		w.fail(fmt.Errorf("recall in band: %w", err))
	}
	r, err := run.Recall(step, others).Run(ctx, tool.Input{ID: call.ToolUse, Args: json.RawMessage(call.Text)})
	if err != nil {
		w.fail(fmt.Errorf("recall in band: %w", err))
		return "The page could not be read.", true
	}
	return r.Text, r.Error
}

// inner writes an answer down that only recalled, reads what it asked for, and plans
// the call that goes on.
func (w *writing) inner(ctx context.Context, a *curation.Answer) error {
	r, _ := a.Reply()
	calls, _ := a.Recalls()
	r.Blocks, r.Usage = saying(r.Blocks), plausible(r.Usage)
	w.ended = w.pool().Now()
	from, err := w.reply(w.called, &r)
	if err == nil {
		err = w.metered(w.called, &r)
	}
	if err == nil {
		err = w.feedReply(&r, from)
	}
	if err == nil {
		err = w.recall(ctx, calls, a.Inner()+1)
	}
	if err != nil {
		return err
	}
	w.went()
	w.called = w.session.call("")
	return w.goOn(ctx, a.Spent()+r.Usage.Output)
}

// goOn plans the call behind a recall.
func (w *writing) goOn(ctx context.Context, spent int64) error {
	c := w.stream.curated
	f := w.callFeed()
	f.At, f.Cold, f.Anew = w.pool().Now(), "", false
	call, err := c.call(w.observer, f)
	if err != nil {
		return err
	}
	epoch := w.curating.note.Epoch
	if err := w.send(call); err != nil {
		return err
	}
	w.curating.note.Epoch = or(w.curating.note.Epoch, epoch)
	w.sent = w.dialect.Less(w.sent, spent)
	if err := w.planned(&call); err != nil {
		return err
	}
	if err := w.fed(quire.Sum(string(curation.Joined(call.List)))); err != nil {
		return err
	}
	if err := w.sync(ctx); err != nil {
		// What waits is written with the next call; the client waits for its answer now.
		w.fail(fmt.Errorf("record what was recalled: %w", err))
	}
	return nil
}

// metered writes what an inner call used, and adds its money up.
func (w *writing) metered(call string, r *quire.Reply) error {
	if m, ok := w.gateway.options.Prices.Model(w.view.call.Model); ok {
		w.curating.note.Inner += m.Rates(w.x.began).Cost(price.Recorded(r.Usage), int(r.Usage.Output))
	}
	if r.Usage.Known == 0 {
		return nil
	}
	return w.live.Add(quire.Metered{Stamp: w.stamp, Call: call, Usage: r.Usage})
}

// force plans a call again that its provider found too long (G14): with no more room
// than it says that there is, or with much less than was taken.
func (o *observer) force(ctx context.Context, x *exchange, w *writing, body []byte, e *quire.CallError) (*writing, error) {
	if w == nil {
		v, err := x.view()
		if err != nil {
			return nil, err
		}
		p := o.locate(x, v)
		if !v.whole() || !x.api.dialect().Place(&v.call) || o.side(&p, v) {
			return nil, errNoPlace
		}
		s, err := o.session(ctx, x, v, &p)
		if err != nil {
			return nil, err
		}
		w = &writing{session: s, observer: o, x: x, view: v, place: &p}
	}
	if w.curating == nil || w.curating.items == nil {
		w.curating = &curating{dialect: x.api.dialect(), body: body, durable: make(chan struct{})}
	}
	if e.Kind == quire.CallTooLong { // the other limit is one of bytes
		o.learn(w.view.call.Model, e)
	}
	return w, w.smaller(ctx)
}

var errNoPlace = fmt.Errorf("there is no place for recall in the request")

// smaller makes the stream fit into less room.
func (w *writing) smaller(ctx context.Context) error {
	if !w.begun {
		if err := w.prepare(ctx); err != nil {
			return err
		}
	}
	c := w.stream.curated
	if c == nil || c.mirror == nil {
		g, err := w.genesis(w.x.api, w.view, w.x.began)
		if err != nil {
			return err
		}
		c = &curated{Genesis: g}
		if err := c.load(ctx, w.observer, w.book); err != nil {
			return err
		}
		if err := w.feedView(c); err != nil {
			return err
		}
	}
	const less = .7
	room := int(less * float64(c.mirror.Step().Context().Scheduler().Net()))
	if w := w.windows[w.view.call.Model]; w > 0 {
		room = min(room, w-c.Genesis.Prefix-c.Genesis.Output)
	}
	if last := len(c.feeds) - 1; last >= 0 && c.feeds[last].Call {
		c.feeds = c.feeds[:last]
	}
	return w.renew(ctx, c, max(room, 1))
}

// learn takes the window of a model from the words of its provider.
func (o *observer) learn(model string, e *quire.CallError) {
	if n := limitIn(e.Message); n > 0 {
		o.windows[model] = n
	}
}

// limitIn is the limit that a refusal names: behind > or "maximum", a number of
// tokens.
func limitIn(text string) int {
	for _, before := range []string{"> ", "maximum context length is ", "maximum of ", "limit of ", "up to "} {
		_, rest, ok := strings.Cut(text, before)
		if !ok {
			continue
		}
		n := 0
		for i := 0; i < len(rest) && (rest[i] >= '0' && rest[i] <= '9' || rest[i] == ',' || rest[i] == '_'); i++ {
			if rest[i] >= '0' && rest[i] <= '9' && n < 1<<40 {
				n = 10*n + int(rest[i]-'0')
			}
		}
		if n >= 1000 {
			return n
		}
	}
	return 0
}

// opened counts a failure of the curated path.
func (o *observer) opened(err error) {
	o.mu.Lock()
	o.totals.Opened++
	o.mu.Unlock()
	if f := o.gateway.options.Failed; f != nil {
		f(fmt.Errorf("curate a call: %w", err))
	}
}

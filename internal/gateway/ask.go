package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/quire-agent/quire/internal/curation"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/schedule"
)

// A curating is what a call needs besides its writing, while it may be curated.
type curating struct {
	dialect *curation.Dialect
	body    []byte          // as the client sent it, without compression
	items   []curation.Item // of its list
	lead    int             // elements of it in front of the items
	owner   []int           // for each item, the message of the call that it is of
	sent    []byte          // what goes up in its place, nil: it goes up as it is
	anew    bool            // what stands in front of the list changed
	feeds   int             // of the stream, that are recorded
	nodes   int
	durable chan struct{} // closed when all of it is recorded
	shown   []quire.Block // of the answer, by the client
	note    curatedNote
	cold    string
}

// A curatedNote is what a line says of a curated call.
type curatedNote struct {
	Curated bool    `json:"curated,omitempty"` // the stream went up in the place of the client's view
	Epoch   string  `json:"epoch,omitempty"`   // kind of the epoch that began with it, and why
	Recalls int     `json:"recalls,omitempty"` // pages that were read back in band
	Opened  string  `json:"opened,omitempty"`  // why the client's view went up although the session is curated (fail open)
	Inner   float64 `json:"inner,omitempty"`   // US dollars, of the calls that the client did not see
}

// prepare decides what goes up for a call: nil where nothing but what came. It looks
// at the client's view only when there is a reason to: the stream is curated
// already, or an epoch may begin with this call.
func (o *observer) prepare(ctx context.Context, x *exchange, body []byte) *writing {
	v, err := x.view()
	if err != nil {
		return nil
	}
	p := o.locate(x, v)
	if p.implied > 0 || !v.whole() || o.side(&p, v) {
		return nil
	}
	if p.tree == nil || p.tree.session == nil {
		return o.headed(ctx, x, v, &p, body)
	}
	st := p.tree.session.nearest(p.nodes)
	cold := o.coldness(x, v, st)
	if st == nil || st.curated == nil && !o.due(x.api.dialect(), v, st, cold, len(body)) {
		return nil
	}
	w := &writing{session: p.tree.session, observer: o, x: x, view: v, place: &p}
	if st.curated != nil && st.curated.broken && v.owesThinking() {
		w.curating = &curating{dialect: x.api.dialect(), body: body, durable: make(chan struct{}), cold: cold}
		return w.openly(errLoop)
	}
	return o.prepared(ctx, w, body, cold)
}

// errLoop says why a stream that broke is not begun again yet.
var errLoop = errors.New("the stream begins again behind this tool loop: its calls want their thinking in front")

// owesThinking reports whether a provider wants the thinking of the last answer, which
// a stream that begins again leaves out as it is bound to another prompt.
func (v *view) owesThinking() bool { return v.call.Thinking.Mode == "enabled" && v.looping() }

// lastAnswer is the last message of a view that the model made, -1 where it made none.
func (v *view) lastAnswer() int {
	for i := len(v.messages) - 1; i >= 0; i-- {
		if v.messages[i].Role == quire.RoleAssistant {
			return i
		}
	}
	return -1
}

func (o *observer) prepared(ctx context.Context, w *writing, body []byte, cold string) *writing {
	w.curating = &curating{dialect: w.x.api.dialect(), body: body, durable: make(chan struct{}), cold: cold}
	if err := w.prepare(ctx); err != nil {
		o.opened(err)
		return w.openly(err)
	}
	return w
}

// headed begins a conversation with the tool for recalling, where another curated one
// of the same client keeps tools and system prompt in the cache with it, and none
// without it. Else it is relayed, as every session is at first (G6).
func (o *observer) headed(ctx context.Context, x *exchange, v *view, p *place, body []byte) *writing {
	if !o.startsHeaded(x, v) {
		return nil
	}
	s, err := o.session(ctx, x, v, p)
	if err != nil {
		o.opened(err)
		return nil
	}
	return o.prepared(ctx, &writing{session: s, observer: o, x: x, view: v, place: p}, body, "")
}

// whole reports whether a call carries all of its input, and leaves it to nobody
// else to keep (G12).
func (v *view) whole() bool {
	for _, f := range v.call.Rest {
		switch f.Name {
		case "previous_response_id", "conversation", "prompt":
			return string(f.Value) == "null"
		case "background", "store":
			if string(f.Value) == "true" {
				return false
			}
		}
	}
	return !v.carries
}

// nearest is the stream that has most in common with a view.
func (s *session) nearest(nodes []*node) *stream {
	best, most := (*stream)(nil), 0
	for _, st := range s.streams {
		if n := st.common(nodes); n > most || n == most && n > 0 && n == len(st.path) {
			best, most = st, n
		}
	}
	return best
}

// coldness is why nothing of the stream is in the cache at this call, "" where it
// may be, and within a tool loop: an epoch begins behind a finished one.
func (o *observer) coldness(x *exchange, v *view, st *stream) string {
	if st == nil || v.looping() || len(st.sent) == 0 {
		return ""
	}
	g := genesis{Model: v.call.Model, At: x.began}
	_, rules := o.facts(&g)
	life := lifetime(x.api.dialect().Longest(&v.call))
	if at := st.sentAt(v.terms()); !at.IsZero() {
		idle := x.began.Sub(at)
		if !rules.Cold(idle, life) {
			return ""
		}
		return "idle " + idle.Round(time.Second).String()
	}
	switch last := st.sent[len(st.sent)-1]; {
	case last.model != v.call.Model:
		return "the client took another model"
	case last.tools != v.tools:
		return "the client changed its tools"
	default:
		return "the client changed its system prompt"
	}
}

// looping reports whether a view ends in the middle of a tool loop.
func (v *view) looping() bool {
	for i := len(v.messages) - 1; i >= 0; i-- {
		switch m := &v.messages[i]; {
		case m.Role == quire.RoleSystem:
		case m.Role == quire.RoleTool || len(m.results) > 0:
			return true
		default:
			return false
		}
	}
	return false
}

// due reports whether the first epoch of a stream may begin with a call: where
// recall has a place, and the cache is cold or the window near.
func (o *observer) due(d *curation.Dialect, v *view, st *stream, cold string, size int) bool {
	if !d.Place(&v.call) {
		return false
	}
	if cold != "" {
		return true
	}
	m, _ := o.gateway.options.Prices.Model(v.call.Model)
	window := or(o.windows[v.call.Model], m.Window)
	if st.prompt == 0 {
		const bytesPerToken = 3
		return window > 0 && size/bytesPerToken > window
	}
	return near(st.prompt, window)
}

// near reports whether a prompt is close to its window, so that it is worth the time
// to see whether the next one fits.
func near(prompt, window int) bool {
	const share = .9
	return window > 0 && float64(prompt) > share*float64(window)
}

// prepare enters what is new in the view, and plans the call.
func (w *writing) prepare(ctx context.Context) (err error) {
	if w.items, w.owner, w.lead, err = w.dialect.Items(w.curating.body, &w.view.call); err != nil {
		return err
	}
	s := w.session
	if err := w.observer.open(ctx, s); err != nil {
		return err
	}
	if err := w.mind(ctx, s); err != nil {
		return err
	}
	if err := w.begin(); err != nil {
		return err
	}
	w.called = s.call("")
	return w.plan(ctx)
}

// plan makes the list that goes up. A stream that is not curated yet stays as it is
// where no epoch begins.
func (w *writing) plan(ctx context.Context) error {
	was := w.stream.curated
	if was == nil || was.broken {
		return w.first(ctx)
	}
	c := w.stream.as(w.view.terms())
	switch {
	case c == nil && w.relayable():
		return nil
	case c == nil && was.Genesis.Model != w.view.call.Model:
		return w.renew(ctx, was, 0)
	case c == nil:
		c, w.anew = was.under(w.view.terms()), true
	}
	w.stream.take(c)
	if c.broken {
		return w.first(ctx)
	}
	w.feeds, w.nodes = len(c.feeds), len(c.nodes)
	if err := c.load(ctx, w.observer, w.book); err != nil {
		return w.rebuild(ctx, err)
	}
	if err := w.feedView(c); err != nil {
		return w.rebuild(ctx, err)
	}
	if c.pending != nil && c.pending.steps == len(c.nodes) {
		return w.send(c.pending.call) // the same view, not answered yet: the same bytes (G14)
	}
	call, err := c.call(w.observer, w.callFeed())
	if err != nil {
		return w.rebuild(ctx, err)
	}
	if err := w.send(call); err != nil {
		return err
	}
	if w.outgrown(&call) {
		return w.giveBack(ctx)
	}
	return nil
}

// relayable reports whether the client's own view may go up although the stream is
// curated: under its terms it was relayed before and is in the cache, and nothing in
// it is bound to a prompt of ours.
func (w *writing) relayable() bool {
	return w.cold == "" && !w.stream.sentAt(w.view.terms()).IsZero() && !w.dialect.Thinks(w.curating.body)
}

func (w *writing) callFeed() feed {
	mark := w.dialect.Longest(&w.view.call)
	if mark == quire.MarkNone && w.gateway.options.Curate.Cache {
		mark = quire.MarkShort
	}
	f := feed{At: w.x.began, Cold: w.cold, Mark: mark, Tail: w.dialect.Tail(&w.view.call)}
	f.Anew = w.anew && w.x.api == Messages // other APIs bind nothing to what stands in front, and want signatures back
	f.Bare = f.Tail == quire.MarkNone && !w.gateway.options.Curate.Cache
	return f
}

// firstGain is how many tokens the first epoch must free at least. They pay for the
// tool that comes in with it, as much again for what counting may be wrong by (a
// model's tokens are known from a few calls at best when its first epoch begins), and
// for the conversations that begin with the tool because of it.
const firstGain = 4 * run.RecallSchema

// firstRecalls is how many recalls the first epoch must pay for: with the tool the
// model may ask for what stands in front of it, and each time costs a call.
const firstRecalls = 2

// firstShare is the part of a prompt, one in so many, that is enough in any case: where
// reading is dear, what an epoch frees saves much with each call.
const firstShare = 16

// firstLeast is how many tokens the first epoch of a stream must free, whose prompt
// has so many.
func (c *curated) firstLeast(o *observer, prompt int) int {
	rates, _ := o.facts(&c.Genesis)
	p := rates.For(prompt)
	recall := p.Read*float64(prompt) + p.Output*run.RecallOutput
	return max(firstGain, min(int(firstRecalls*recall/max(p.Write, p.Input)), prompt/firstShare))
}

// first begins a stream from the client's view. Where no epoch begins the view goes
// up as it is (G6), unless the stream was curated before.
func (w *writing) first(ctx context.Context) error {
	was := w.stream.curated
	g, err := w.genesis(w.x.api, w.view, w.x.began)
	if errors.Is(err, errNoModel) && was == nil {
		return nil
	}
	if err != nil {
		return err
	}
	g.Open = was == nil && w.observer.startsHeaded(w.x, w.view)
	c := &curated{Genesis: g}
	if err := c.load(ctx, w.observer, w.book); err != nil {
		return err
	}
	if err := w.feedView(c); err != nil {
		return err
	}
	call, err := c.call(w.observer, w.callFeed())
	if err != nil {
		return err
	}
	if was == nil && !g.Open && !w.gains(c, &call.Plan) {
		return nil
	}
	if err := w.send(call); err != nil {
		return err
	}
	if was == nil && call.Plan.Kind != quire.EpochForced && w.dearer(w.sent) {
		w.relay()
		return nil
	}
	w.stream.take(c)
	w.feeds, w.nodes = 0, 0
	return nil
}

// gains reports whether a stream may be curated from a call on: an epoch began that
// frees enough.
func (w *writing) gains(c *curated, p *schedule.Plan) bool {
	switch p.Kind {
	case "":
		return c.mirror.Lowers()
	case quire.EpochFree:
		return p.Before-p.After >= c.firstLeast(w.observer, p.Before+c.Genesis.Prefix)
	}
	return true
}

// relay lets the client's view go up after all.
func (w *writing) relay() { w.sent, w.curating.note = nil, curatedNote{} }

// rebuild begins the stream again, from what the client has, as it cannot be gone on
// with (G17).
func (w *writing) rebuild(ctx context.Context, cause error) error {
	w.opened(cause)
	w.stream.curated.broken = true
	if w.view.owesThinking() {
		return errors.Join(cause, errLoop) // see prepare
	}
	if err := w.first(ctx); err != nil {
		return errors.Join(cause, err)
	}
	return nil
}

// renew begins the stream again under other terms: of another model, or with less
// room than the window was thought to have.
func (w *writing) renew(ctx context.Context, c *curated, room int) error {
	g, err := w.genesis(w.x.api, w.view, w.x.began)
	if err != nil {
		return err
	}
	if room > 0 {
		g.Room = room
	}
	n := c.anew(g)
	w.anew = c.Genesis.terms() != g.terms()
	w.stream.take(n)
	w.feeds, w.nodes = 0, 0
	if err := n.load(ctx, w.observer, w.book); err != nil {
		return w.rebuild(ctx, err)
	}
	if err := w.feedView(n); err != nil {
		return w.rebuild(ctx, err)
	}
	call, err := n.call(w.observer, w.callFeed())
	if err != nil {
		return w.rebuild(ctx, err)
	}
	if err := w.send(call); err != nil {
		return err
	}
	if room > 0 {
		// Where the stream is made again for less room its epoch may lie further back.
		w.curating.note.Epoch = or(w.curating.note.Epoch, quire.EpochForced+": the provider found the prompt too long")
	}
	return nil
}

// feedView feeds what of the path is not in the stream yet, from the client's view.
func (w *writing) feedView(c *curated) error {
	at := w.x.began
	if w.stream.curated != nil && w.view.owesThinking() && w.view.lastAnswer()+w.place.implied >= len(c.nodes) {
		return errLoop // it would enter without its thinking
	}
	for i := len(c.nodes); i < len(w.stream.path); i++ {
		n := w.stream.path[i].node
		if i-w.place.implied >= len(w.view.messages) {
			return fmt.Errorf("step %d of the stream is not in the view", i)
		}
		if n.answer && !n.at.IsZero() {
			at = n.at
		}
		w.feedMessage(c, n, &w.view.messages[i-w.place.implied], at)
		c.nodes = append(c.nodes, len(c.feeds))
	}
	return nil
}

// feedMessage feeds the items of one message. What is not known to be an answer of
// ours, or was one to another prompt, goes without its thinking (G5).
func (w *writing) feedMessage(c *curated, n *node, m *message, at time.Time) {
	parts := n.parts
	for k := range w.items {
		if w.owner[k] < m.first || w.owner[k] >= m.end {
			continue
		}
		it := w.items[k]
		one := span{Chain: parts.Chain, From: parts.From}
		for j := range it.Blocks {
			one.N += len(curation.Parts(&it.Blocks[j], quire.PartMachine))
		}
		parts.From += one.N
		if it.Role == quire.RoleAssistant && (!n.answer || c.mirror.Lowers() || w.stream.curated != nil) {
			w.feedUnthought(c, &it, one, at)
			continue
		}
		c.take(&it, one, at, w.book)
	}
}

// feedUnthought feeds what the model said without what it thought.
func (w *writing) feedUnthought(c *curated, it *curation.Item, parts span, at time.Time) {
	for _, run := range unthought(it, parts) {
		if len(run.blocks) == len(it.Blocks) {
			c.take(it, run.parts, at, w.book)
			return
		}
		made, err := w.dialect.Made(run.blocks)
		if err != nil {
			continue // what cannot be written is left out; the page of it is kept
		}
		for i := range made {
			n := min(len(made[i].Blocks), run.parts.N)
			one := span{run.parts.Chain, run.parts.From, n}
			run.parts.From, run.parts.N = run.parts.From+n, run.parts.N-n
			c.take(&made[i], one, at, w.book)
		}
	}
}

type stretch struct {
	blocks []quire.Block
	parts  span
}

// unthought are the runs of blocks of an item between its thinking.
func unthought(it *curation.Item, parts span) (runs []stretch) {
	var now stretch
	flush := func() {
		if len(now.blocks) > 0 {
			runs = append(runs, now)
		}
		now = stretch{}
	}
	for i := range it.Blocks {
		if it.Blocks[i].Kind == quire.PartThinking {
			flush()
			continue
		}
		if len(now.blocks) == 0 {
			now.parts = span{Chain: parts.Chain, From: parts.From + i}
		}
		now.blocks, now.parts.N = append(now.blocks, it.Blocks[i]), now.parts.N+1
	}
	flush()
	return runs
}

// send makes the body that goes up.
func (w *writing) send(call curation.Call) (err error) {
	call.Lead = w.lead
	if w.sent, err = w.dialect.Edit(w.curating.body, &call); err != nil {
		return err
	}
	w.curating.note.Curated = true
	if call.Plan.Kind != "" {
		w.curating.note.Epoch = call.Plan.Kind + ": " + call.Plan.Reason
	}
	return nil
}

// openly lets the client's view go up after curating failed (G17): where the session
// was curated, without the thinking that is bound to another prompt.
func (w *writing) openly(cause error) *writing {
	w.curating.note = curatedNote{Opened: cause.Error()}
	c := w.standing()
	if c == nil {
		w.sent = nil
		return w
	}
	c.broken, c.mirror, c.pending = true, nil, nil
	w.sent = w.dialect.Unbound(w.curating.body)
	return w
}

// standing is the curated stream of a call, as far as one was found.
func (w *writing) standing() *curated {
	st := w.stream
	if st == nil {
		st = w.session.nearest(w.place.nodes)
	}
	if st == nil {
		return nil
	}
	return st.curated
}

// counted is a request for the size of a prompt as it is asked of a stream (G11): of
// a view that goes on from one; nil for any other.
func (o *observer) counted(ctx context.Context, x *exchange, body []byte) []byte {
	v, err := x.view()
	if err != nil {
		return nil
	}
	p := o.locate(x, v)
	if p.tree == nil || p.tree.session == nil || p.implied > 0 {
		return nil
	}
	st := p.tree.session.nearest(p.nodes)
	if st == nil {
		return nil
	}
	c := st.as(v.terms())
	if c == nil || c.broken || st.common(p.nodes) < len(c.nodes) {
		return nil
	}
	list, lead, err := o.standing(ctx, x, p.tree.session, c, v, body)
	if err == nil {
		body, err = x.api.dialect().Edit(body, &curation.Call{List: list, Lead: lead})
	}
	if err != nil {
		o.opened(err)
		return nil
	}
	return body
}

// standing is the stream as it stands, with what of a view is new behind it.
func (o *observer) standing(ctx context.Context, x *exchange, s *session, c *curated, v *view, body []byte) (list []json.RawMessage, lead int, err error) {
	items, owner, lead, err := x.api.dialect().Items(body, &v.call)
	if err == nil {
		err = o.mind(ctx, s)
	}
	if err == nil {
		err = c.load(ctx, o, s.book)
	}
	if err != nil {
		return nil, 0, err
	}
	list = c.mirror.Standing()
	known := v.messages[len(c.nodes)-1].end
	for i := range items {
		if owner[i] >= known {
			list = append(list, items[i].Raw)
		}
	}
	return list, lead, nil
}

// mind sees to it that the pages of a session are in mind.
func (o *observer) mind(ctx context.Context, s *session) (err error) {
	if s.book == nil {
		s.book, err = readBook(ctx, o.gateway.options.Pool.Bodies, s.name.Path)
	}
	return err
}

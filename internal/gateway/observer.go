package gateway

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/recent"
)

// An observer makes sessions of what passed. Exchanges wait in a queue that never
// makes anybody wait; what does not fit it is lost to the record, and counted.
// All but put and what the mutex guards belongs to its one goroutine.
type observer struct {
	gateway *Gateway
	queue   chan *ended
	jobs    chan *job
	stop    chan struct{}
	done    chan struct{}
	context context.Context    // of what the goroutine does
	cancel  context.CancelFunc // ends it
	closing sync.Once

	forest   forest
	sessions []*session
	meter    *meter
	windows  map[string]int // of models, in tokens, as their providers said
	hints    hints
	deriving bool               // rows are being made
	derived  chan error         // that they were
	words    recent.Map[string] // whose words a text was first: a key of the text to the ULID of the session
	replies  recent.Map[*node]  // by id of the answer
	lost     atomic.Int64
	since    atomic.Int64 // when it began with what it does, in nanoseconds of the clock; 0: it waits

	mu     sync.Mutex // guards what follows, which reports read
	totals Totals
	rows   map[quire.SessionNumber]Row
}

// queueLength is how many exchanges wait at most; their bytes are bounded apart.
const queueLength = 4096

// remembered is how many texts and answers are known again at least.
const remembered = 20_000

// settleCalls is how many calls put the making of rows off at most.
const settleCalls = 200

// An ended is an exchange that is over, with the copies of what passed.
type ended struct {
	*exchange
	request, answer []byte
	held            int // bytes of the budget
	complete        bool
	at              time.Time // when it was over
}

func newObserver(g *Gateway) *observer {
	o := &observer{
		gateway: g, queue: make(chan *ended, queueLength), jobs: make(chan *job), derived: make(chan error, 1), windows: map[string]int{}, stop: make(chan struct{}), done: make(chan struct{}),
		rows: map[quire.SessionNumber]Row{}, forest: forest{roots: map[quire.Hash][]*tree{}}, meter: newMeter(g.options.Pool.Counter, g.options.Prices),
	}
	o.hints.seed = maphash.MakeSeed()
	o.words.Limit, o.replies.Limit = remembered, remembered
	return o
}

// put takes an exchange that is over, once. It does not wait.
func (o *observer) put(e *exchange) {
	if e.taken.Swap(true) {
		return
	}
	x := o.over(e)
	select {
	case o.queue <- x:
	default:
		o.lost.Add(1)
		o.gateway.copies.give(x.held)
	}
}

// over is an exchange that is over.
func (o *observer) over(e *exchange) *ended {
	x := &ended{exchange: e, at: o.gateway.options.Pool.Now()}
	up, heldUp, okUp := e.up.cut()
	down, heldDown, okDown := e.down.cut()
	x.request, x.answer, x.held, x.complete = up, down, heldUp+heldDown, okUp && okDown
	return x
}

// finish records an exchange before what ends its answer goes down. What waits too
// long for its turn is recorded behind it.
func (o *observer) finish(e *exchange) {
	// A gateway that closes records no more: the answer is none the worse.
	_ = o.do(context.Background(), func(func() bool) {
		if !e.taken.Swap(true) {
			o.take(o.context, o.over(e))
		}
	})
}

func (o *observer) start() {
	ctx, cancel := context.WithCancel(context.Background())
	o.context, o.cancel = ctx, cancel
	go o.run(ctx)
}

// run records until close. When nothing came for a while, rows and index are made
// of what was recorded; after many calls without a pause too.
func (o *observer) run(ctx context.Context) {
	defer close(o.done)
	o.fail(o.restore(ctx))
	quiet := o.gateway.limits.Settle
	settle := time.NewTimer(quiet)
	defer settle.Stop()
	idle := time.NewTicker(time.Minute)
	defer idle.Stop()
	taken := 0
	for {
		select {
		case x := <-o.queue:
			o.working(func() { o.take(ctx, x) })
			if taken++; taken < settleCalls {
				settle.Reset(quiet)
			}
		case j := <-o.jobs:
			o.working(func() { taken += o.drain(ctx) })
			o.working(func() { o.guarded(j.run) })
			settle.Reset(quiet)
		case <-settle.C:
			o.derive(ctx)
			taken = 0
		case <-idle.C:
			o.gateway.reader.turn()
			o.unload()
		case err := <-o.derived:
			o.deriving = false
			o.fail(err)
			settle.Reset(quiet)
		case <-o.stop:
			o.drain(ctx)
			o.end(ctx)
			return
		}
	}
}

// drain records what waits, and says how many calls that were.
func (o *observer) drain(ctx context.Context) (n int) {
	for {
		select {
		case x := <-o.queue:
			o.take(ctx, x)
			n++
		default:
			return n
		}
	}
}

func (o *observer) end(ctx context.Context) {
	if o.deriving {
		o.fail(<-o.derived)
		o.deriving = false
	}
	if o.derive(ctx); o.deriving {
		o.fail(<-o.derived)
	}
	for _, s := range o.sessions {
		o.fail(s.close())
	}
}

// close ends the goroutine once what waits is recorded, or the context ends.
func (o *observer) close(ctx context.Context) error {
	o.closing.Do(func() { close(o.stop) })
	defer o.cancel()
	select {
	case <-o.done:
		return nil
	case <-ctx.Done():
		o.cancel()
		<-o.done
		return fmt.Errorf("record what passed: %w", ctx.Err())
	}
}

func (o *observer) fail(err error) {
	if err == nil || errors.Is(err, context.Canceled) {
		return
	}
	o.mu.Lock()
	o.totals.Faults++
	o.mu.Unlock()
	if f := o.gateway.options.Failed; f != nil {
		f(err)
	}
}

// take records one exchange and tells of it.
func (o *observer) take(ctx context.Context, x *ended) {
	var line Line
	o.guarded(func() { line = o.record(ctx, x) })
	if x.writing != nil {
		x.writing.session.busy--
	}
	o.gateway.copies.give(x.held)
	line.At, line.API, line.Status, line.Cut = x.began, x.api, x.status, !x.whole && x.reply == nil
	line.Took = x.at.Sub(x.began)
	if !x.first.IsZero() {
		line.First = x.first.Sub(x.began)
	}
	line.Lost += o.lost.Swap(0)
	o.count(line)
	if f := o.gateway.options.Seen; f != nil {
		f(line)
	}
}

// guarded runs f. A fault of ours in it costs the record of a call, or its curation,
// and not the gateway.
func (o *observer) guarded(f func()) {
	defer func() {
		if fault := recover(); fault != nil {
			o.gateway.fault(fault)
		}
	}()
	f()
}

// fault tells of a fault of ours that was recovered from.
func (g *Gateway) fault(what any) {
	g.observer.fail(fmt.Errorf("the gateway is at fault: %v\n%s", what, debug.Stack()))
}

// record finds the session of an exchange and writes down what is new in it.
func (o *observer) record(ctx context.Context, x *ended) (line Line) {
	defer func() {
		if x.writing != nil {
			line.curatedNote = x.writing.curating.note
		}
		line.Opened = or(line.Opened, x.opened)
	}()
	if !x.complete {
		return Line{Lost: 1, Note: "too much waits to be recorded: this call was not"}
	}
	v, answer, err := o.read(x)
	answer.reply.Usage = plausible(answer.reply.Usage)
	line = Line{Model: v.call.Model, Stream: v.call.Stream, Usage: answer.reply.Usage, Odd: answer.odd}
	if answer.err != nil {
		line.Error = answer.err.Error()
	}
	switch {
	case err != nil:
		line.Odd = err.Error()
		return line
	case x.status == 0 || x.status >= 400:
		return line
	}
	if x.writing.curates() {
		x.writing.went()
	}
	c := o.meter.charge(x.cred, v, &answer.reply, x.began, !x.writing.curates())
	if x.writing != nil {
		c.cost += x.writing.curating.note.Inner
	}
	c.into(&line)
	if x.reply != nil {
		line.Usage = plausible(x.reply.Usage())
	}
	o.keep(ctx, x, v, &answer, c, &line)
	return line
}

// plausible is a usage, or none where its counts cannot be.
func plausible(u quire.Usage) quire.Usage {
	if !u.Plausible() {
		return quire.Usage{}
	}
	return u
}

// read is the view and the answer of an exchange.
func (o *observer) read(x *ended) (*view, answered, error) {
	if w := x.writing; w != nil && w.begun {
		return w.view, o.answer(x), nil
	}
	b, err := x.plain()
	if err != nil {
		return &view{}, o.answer(x), err
	}
	x.exchange.body = b
	v, err := x.view()
	return v, o.answer(x), err
}

// answer is what the model said: of a curated call, at last.
func (o *observer) answer(x *ended) answered {
	if x.reply == nil {
		return x.read(x.answer)
	}
	r, whole := x.reply.Reply()
	r.Blocks = saying(r.Blocks)
	return answered{reply: r, whole: whole}
}

// keep records a call that was answered, unless it is a side request.
func (o *observer) keep(ctx context.Context, x *ended, v *view, a *answered, c charged, line *Line) {
	s, p, err := o.place(ctx, x, v, a, line)
	if s == nil && err == nil {
		return
	}
	if err == nil {
		err = s.record(ctx, o, x, v, p, a, c, line)
	}
	if err != nil {
		o.fail(fmt.Errorf("record a call: %w", err))
		o.fail(o.abandon(s))
		line.Note = "not recorded: " + err.Error()
	}
}

// place is the session of a call with how far its view is known; none of a side
// request.
func (o *observer) place(ctx context.Context, x *ended, v *view, a *answered, line *Line) (*session, *place, error) {
	if w := x.writing; w != nil && w.begun {
		return w.session, w.place, o.open(ctx, w.session)
	}
	p := o.locate(x.exchange, v)
	if o.side(&p, v) {
		line.Side = true
		o.remember(x, v, &p, a)
		return nil, nil, nil
	}
	s, err := o.session(ctx, x.exchange, v, &p)
	return s, &p, err
}

// abandon gives up a session that could not be written: its client sends all of it
// again with its next call, which begins another one.
func (o *observer) abandon(s *session) error {
	if s == nil {
		return nil
	}
	for _, t := range s.trees {
		o.forest.fell(t)
	}
	s.trees = nil
	return o.remove(s)
}

// locate finds how far a view is known.
func (o *observer) locate(x *exchange, v *view) place {
	if n, ok := o.replies.Get(x.cred + v.after); ok && v.after != "" && n.tree.root != nil {
		return follow(n, v.messages)
	}
	return o.forest.find(credentialHash(x.cred), v, x.label)
}

// follow goes on from a node that the client named instead of sending what leads
// to it.
func follow(n *node, messages []message) place {
	p := place{tree: n.tree}
	for at := n; at != nil; at = at.parent {
		p.nodes = append([]*node{at}, p.nodes...)
	}
	p.implied = len(p.nodes)
	for i := range messages {
		next, cleared := p.tip().child(&messages[i])
		if next == nil {
			break
		}
		p.nodes, p.cleared = append(p.nodes, next), p.cleared+cleared
	}
	return p
}

func credentialHash(cred string) quire.Hash { return quire.Sum("credential\x00" + cred) }

// side reports whether a call is a side request: one without tools that extends no
// leaf of what is known (G8).
func (o *observer) side(p *place, v *view) bool {
	if v.offers || v.after != "" {
		return false
	}
	if p.tree == nil {
		return true
	}
	whole := len(p.nodes)-p.implied == len(v.messages)
	extends := len(p.tip().children) == 0 && p.told()
	again := whole && p.tree.session != nil && !p.tree.tools
	return !extends && !again
}

// remember keeps the chain of a side request in mind: what goes on from its answer
// is a session after all.
func (o *observer) remember(x *ended, v *view, p *place, a *answered) {
	cred := credentialHash(x.cred)
	t := p.tree
	if len(v.messages) == 0 {
		return
	}
	if t == nil || t.session != nil {
		t = o.forest.plant(x.label, x.at)
		p.nodes = nil
	}
	t.used = x.at
	at := p.tip()
	for i := len(p.nodes); i < len(v.messages); i++ {
		at = o.forest.grow(t, at, cred, &v.messages[i])
	}
	if m, ok := canonicalOf(quire.Message{Role: quire.RoleAssistant, Blocks: a.reply.Blocks}); ok && a.whole {
		o.forest.grow(t, at, cred, &m).answer = true
	}
	o.prune()
}

// prune forgets the trees that were not used for the longest time. Their sessions
// stay where they are; a client that goes on with one begins a new one.
func (o *observer) prune() {
	for len(o.forest.trees) > o.gateway.limits.Sessions {
		t := o.forest.eldest()
		o.forest.fell(t)
		if s := t.session; s != nil {
			o.fail(o.forget(s, t))
		}
	}
}

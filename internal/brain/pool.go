package brain

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/quire-agent/quire/internal/packet"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/route"
	"github.com/quire-agent/quire/internal/run"
)

// A pool runs the workers that support the primary: as many at once as may be, each
// as soon as what it depends on is done. A slot that becomes free is filled at once.
// All its fields but the gates belong to the goroutine that runs the pool.
type pool struct {
	*attempt
	shared  []quire.Block
	state   map[route.Role]route.Status
	results map[route.Role]ExecutedResult
	running int
	ended   chan ending
	gates   map[string]*gate // by model
}

// An ending is how a worker ended.
type ending struct {
	worker *Worker
	result ExecutedResult
	err    error
}

// support runs the pool. A worker whose result is recorded is not run again.
func (a *attempt) support(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	p := &pool{attempt: a, shared: a.facts(ctx), state: map[route.Role]route.Status{}, results: map[route.Role]ExecutedResult{}, ended: make(chan ending), gates: map[string]*gate{}}
	a.shared = p.shared
	p.recorded()
	var err error
	for err == nil {
		if err = p.fill(ctx); err != nil || p.running == 0 {
			break
		}
		e := <-p.ended
		p.running--
		err = p.take(ctx, e)
	}
	stop()
	for ; p.running > 0; p.running-- {
		<-p.ended
	}
	for _, w := range a.plan.Route.Support() {
		if r, ok := p.results[w.Role]; ok {
			a.results = append(a.results, r)
		}
	}
	return err
}

// recorded takes over the results of workers that had ended before.
func (p *pool) recorded() {
	for _, w := range p.plan.Route.Support() {
		worker := p.plan.worker(w.Role)
		r := p.mem.result(worker.Context)
		if r == nil {
			continue
		}
		p.state[w.Role], p.results[w.Role] = r.Status, *r
	}
}

// fill starts what can start and blocks what never can.
func (p *pool) fill(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for {
		ready, stuck := p.plan.Route.Next(p.state)
		for _, s := range stuck {
			if err := p.block(p.plan.worker(s.Role), s.Reason); err != nil {
				return err
			}
		}
		if len(stuck) > 0 {
			continue
		}
		for _, r := range ready {
			if p.running >= p.plan.Parallel {
				return nil
			}
			if err := p.start(ctx, p.plan.worker(r)); err != nil {
				return err
			}
		}
		return nil
	}
}

// block ends a worker that can never begin.
func (p *pool) block(w *Worker, why string) error {
	h := p.handoff(w, nil)
	r := ExecutedResult{Role: w.Role, Goal: w.Goal, Todos: w.Todos}
	r.take(packet.Broken(&h, route.Blocked, why))
	return p.closed(w, r)
}

// start hands a job to a worker.
func (p *pool) start(ctx context.Context, w *Worker) error {
	upstream := p.upstream(w)
	facts, err := p.sharedFacts(w)
	if err != nil {
		return err
	}
	h := p.handoff(w, append(p.refs(upstream), facts...))
	words, err := p.words(p.shared, w, &h, upstream)
	if err != nil {
		return err
	}
	if _, open := p.mem.under(w.Context, 0); !open {
		if err := p.down(PhaseSupport, &h); err != nil {
			return err
		}
		if err := p.move(PhaseSupport, w.Role, route.Running, w.Todos, "", ""); err != nil {
			return err
		}
	}
	d, err := p.desk(ctx, w)
	if err != nil {
		return p.block(w, fmt.Sprintf("no copy of the project could be made for it: %v", err))
	}
	p.state[w.Role] = route.Running
	p.running++
	g, leads := p.gate(w)
	go func() { p.ended <- p.work(ctx, w, &h, words, d, g, leads) }()
	return nil
}

// A desk is where a worker works.
type desk struct {
	dir  string // "" for the project
	anew bool   // what its stream says was done there is not there
}

// desk is the project for those that read, and a copy for those that write. One whose
// changes were merged before an interruption has done its work and needs none.
func (p *pool) desk(ctx context.Context, w *Worker) (desk, error) {
	if !w.Writes || p.mem.merge(w.Context) != nil {
		return desk{}, nil
	}
	dir, found, err := p.Copies.Copy(ctx, w.Context)
	return desk{dir, !found}, err
}

// work is a worker's job, in a goroutine of its own. Of siblings that start
// together the first goes ahead until its first byte: what they share is in the
// cache then.
func (p *pool) work(ctx context.Context, w *Worker, h *packet.Handoff, words []quire.Block, d desk, g *gate, leads bool) ending {
	if leads {
		defer g.open()
	} else if err := g.wait(ctx); err != nil {
		return ending{w, ExecutedResult{}, err}
	}
	r, err := p.do(ctx, w, PhaseSupport, h, words, d, func(e run.Event) {
		if _, ok := e.(run.Said); ok && leads {
			g.open()
		}
	})
	return ending{w, r, err}
}

// upstream are the results that a worker depends on, and no others.
func (p *pool) upstream(w *Worker) (list []ExecutedResult) {
	for _, r := range p.plan.Route.Upstreams(w.Role) {
		if res, ok := p.results[r]; ok {
			list = append(list, res)
		}
	}
	return list
}

// mostFacts bounds the pages of earlier runs that a packet carries as facts.
const mostFacts = 12

// sharedFacts are the pages that workers besides the upstreams have published by
// now, and those of the session's earlier runs, the newest ones: where the brain's
// isolation lets packets carry facts, and nowhere else.
func (p *pool) sharedFacts(w *Worker) (refs []packet.ContextRef, err error) {
	if p.Model.Context.Isolation != "shared-facts" {
		return nil, nil
	}
	for _, o := range p.plan.Route.Support() {
		r, done := p.results[o.Role]
		if !done || slices.Contains(p.plan.Route.Upstreams(w.Role), o.Role) {
			continue
		}
		if refs, err = p.carry(refs, &r); err != nil {
			return nil, err
		}
	}
	here := len(refs)
	for _, r := range p.History.accepted() {
		if len(refs)-here >= mostFacts {
			break
		}
		if refs, err = p.carry(refs, r); err != nil {
			return nil, err
		}
	}
	return refs[:min(len(refs), here+mostFacts)], nil
}

// carry adds the pages of a result to those that a packet carries, and records that.
func (p *pool) carry(refs []packet.ContextRef, r *ExecutedResult) ([]packet.ContextRef, error) {
	for _, ref := range r.Artifacts {
		_, page := ref.Page()
		if !page || slices.ContainsFunc(refs, func(o packet.ContextRef) bool { return o.URI == ref.URI }) {
			continue
		}
		refs = append(refs, ref)
		if err := p.remark(PhaseSupport, r, packet.KindFact, ref.Label, ref); err != nil {
			return nil, err
		}
	}
	return refs, nil
}

// refs are what a worker may read besides its own: what the user attached, and what
// its upstreams published. Nothing that those could read themselves.
func (a *attempt) refs(upstream []ExecutedResult) []packet.ContextRef {
	refs := a.mentioned()
	for _, r := range upstream {
		refs = append(refs, r.Artifacts...)
	}
	return refs
}

// take records how a worker ended.
func (p *pool) take(ctx context.Context, e ending) error {
	if e.err != nil {
		return e.err
	}
	if err := p.merge(ctx, e.worker, &e.result); err != nil {
		return err
	}
	return p.closed(e.worker, e.result)
}

func (p *pool) closed(w *Worker, r ExecutedResult) error {
	p.state[w.Role], p.results[w.Role] = r.Status, r
	return p.close(PhaseSupport, w, &r)
}

// close records a result, in the order in which readers expect it.
func (a *attempt) close(phase Phase, w *Worker, r *ExecutedResult) error {
	if err := a.up(phase, r); err != nil {
		return err
	}
	if err := a.note(RecordWorkerEnd, WorkerEnd{Run: a.req.Run, Phase: phase, Worker: w.Role, Result: *r, Attempt: 1}); err != nil {
		return err
	}
	s := a.scope(w.Role, phase, w.Context, r.Model, 1)
	s.Session = r.Source
	a.emit(Ended{s, *r})
	return a.move(phase, w.Role, r.Status, w.Todos, r.Summary, r.Error)
}

// merge puts what a writer changed into the project, before its result counts, and
// takes its copy away when that is recorded. What could not be merged becomes a thing
// to do of the primary.
func (p *pool) merge(ctx context.Context, w *Worker, r *ExecutedResult) error {
	if !w.Writes {
		return nil
	}
	m, err := p.merged(ctx, w)
	if err != nil {
		return err
	}
	if err := p.Copies.Drop(ctx, w.Context); err != nil {
		return fmt.Errorf("%w: take the copy of %s away: %w", errRecord, w.Role, err)
	}
	r.Conflicts = m.Conflicts
	id := "conflict-" + string(w.Role)
	if len(m.Conflicts) == 0 || slices.ContainsFunc(p.todos, func(t route.Todo) bool { return t.ID == id }) {
		return nil
	}
	p.todos = append(p.todos, route.Todo{
		ID: id, Title: fmt.Sprintf("Settle the conflicts of %s's changes: %s", w.Role, strings.Join(m.paths(), ", ")), Role: p.plan.Route.Primary, Status: route.Pending,
	})
	return p.note(RecordTodoPlan, TodoPlan{p.req.Run, p.todos, p.plan.Route.Dependencies, "changes could not be merged"})
}

// merged is what became of a writer's changes, now or before an interruption.
func (p *pool) merged(ctx context.Context, w *Worker) (m Merge, err error) {
	if before := p.mem.merge(w.Context); before != nil {
		return *before, nil
	}
	m = Merge{Run: p.req.Run, Task: w.Context, Role: w.Role}
	if m.Files, m.Conflicts, err = p.Copies.Merge(ctx, w.Context); err != nil {
		return m, fmt.Errorf("%w: merge the work of %s: %w", errRecord, w.Role, err)
	}
	if err := p.note(RecordMerge, m); err != nil {
		return m, err
	}
	p.emit(Merged{m})
	return m, nil
}

func (m *Merge) paths() (list []string) {
	for _, c := range m.Conflicts {
		list = append(list, c.Path)
	}
	return list
}

// A gate holds siblings back until the first of them has its first byte.
type gate struct {
	once   sync.Once
	opened chan struct{}
}

// gate is that of a worker's model, and whether the worker is the one that opens it.
func (p *pool) gate(w *Worker) (g *gate, leads bool) {
	model := ""
	if len(w.Models) > 0 {
		model = w.Models[0]
	}
	if g, ok := p.gates[model]; ok {
		return g, false
	}
	g = &gate{opened: make(chan struct{})}
	p.gates[model] = g
	return g, true
}

func (g *gate) open() { g.once.Do(func() { close(g.opened) }) }

func (g *gate) wait(ctx context.Context) error {
	select {
	case <-g.opened:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

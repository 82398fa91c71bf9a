package brain

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/quire-agent/quire/internal/check"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/role"
	"github.com/quire-agent/quire/internal/route"
	"github.com/quire-agent/quire/internal/run"
)

// A Brain takes requests through a team. All fields are set before its first use;
// it does one run at a time.
type Brain struct {
	Staff   Staff
	Project Project
	Copies  Copies // nil: nobody writes besides the primary
	Record  Record
	Roles   role.Set
	Model   role.Brain
	Mode    role.Mode
	History *History // of the session; never nil
	Count   run.Counter
	Now     Clock
	NewID   func() string // a new id, of a run or a job
	Emit    func(Event)   // what happens; nil: nobody looks

	// Facts is what every agent is told of the project before anything else, the
	// same for all of a run, so that they share it in the cache.
	Facts func(ctx context.Context, words string) []quire.Block

	// Attach is what the user's words refer to, for agents that get it in full.
	Attach func(words string) []quire.Block

	// Mask hides the secrets of a text before it is recorded in short; nil: none are
	// looked for.
	Mask func(text string) string

	// Books is what the calls of a run used so far; nil: nobody counts.
	Books func(run string) *Tokens

	Permit string // what the run may do, for the record
	Writes bool   // it may change files
	NoPlan bool   // plan by rules, without a call
	Alone  bool   // the primary may not ask more specialists

	// Force are roles that each answer by themselves, the first as the primary: nobody
	// plans, nothing is reviewed or mended, and nobody else is asked.
	Force []route.Role

	mu       sync.Mutex // of what follows, and of Emit
	failed   error      // of recording in a callback
	tools    ToolCount
	dispatch dispatching
}

// ErrAborted says that the user ended the run.
var ErrAborted = errors.New("the run was interrupted by the user")

// An attempt is one run under way.
type attempt struct {
	*Brain
	mem  *memory
	req  Request
	plan Plan

	results []ExecutedResult // of support and dispatched jobs, in the order in which they count
	todos   []route.Todo
	shared  []quire.Block // what all agents of the run are told first
	final   FinalReport
	left    []check.File // that checks left behind
	taken   []string     // ids of dispatches of before the interruption that go on
	at      Scope        // of the primary now
}

// Run takes a request through the team. The error is for what could not be
// recorded, or for nothing that could work at all; how the run ended is in the
// report. After [ErrAborted] the run can be resumed.
func (b *Brain) Run(ctx context.Context, words string, images int) (FinalReport, error) {
	base, err := b.Project.Baseline(ctx)
	if err != nil {
		return FinalReport{}, err
	}
	req := Request{Run: b.NewID(), Prompt: words, Brain: b.Model.ID, Mode: b.Mode.Name, Permit: b.Permit, Images: images, Baseline: base}
	return b.start(ctx, req, newMemory(req))
}

// Resume goes on with a run that did not end. ok is false where there is none.
func (b *Brain) Resume(ctx context.Context, h *History) (r FinalReport, ok bool, err error) {
	m := h.open()
	if m == nil {
		return FinalReport{}, false, nil
	}
	r, err = b.start(ctx, m.request, m)
	return r, true, err
}

func (b *Brain) start(ctx context.Context, req Request, m *memory) (FinalReport, error) {
	b.tools, b.dispatch, b.failed = m.tools, dispatching{}, nil
	b.tools.Run = req.Run
	a := &attempt{Brain: b, mem: m, req: req}
	if !m.resumed {
		if err := a.note(RecordRequest, req); err != nil {
			return FinalReport{}, err
		}
	}
	err := a.run(ctx)
	if ctx.Err() != nil && a.final.Version == 0 {
		return a.report(StatusAborted), errors.Join(ErrAborted, b.Record.Sync(context.WithoutCancel(ctx)))
	}
	return a.final, err
}

// run goes from step to step.
func (a *attempt) run(ctx context.Context) error {
	if err := a.route(ctx); err != nil {
		return err
	}
	a.emit(Planned{a.plan})
	if c := a.plan.Route.Clarification; c != nil {
		return a.ask(*c)
	}
	if err := a.approve(); err != nil {
		return err
	}
	if err := a.support(ctx); err != nil {
		return err
	}
	out, err := a.work(ctx)
	if err != nil {
		return err
	}
	return a.finish(ctx, out)
}

// note records something, durably.
func (a *attempt) note(kind string, payload any) error {
	if err := a.Record.Record(kind, payload); err != nil {
		return fmt.Errorf("record a %s: %w", kind, err)
	}
	if err := a.Record.Sync(context.Background()); err != nil {
		return fmt.Errorf("record a %s: %w", kind, err)
	}
	return nil
}

func (b *Brain) emit(e Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Emit != nil {
		b.Emit(e)
	}
}

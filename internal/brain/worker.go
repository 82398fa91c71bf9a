package brain

import (
	"context"
	"fmt"
	"strings"

	"github.com/quire-agent/quire/internal/packet"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/role"
	"github.com/quire-agent/quire/internal/route"
	"github.com/quire-agent/quire/internal/run"
)

// watched tells of what happens in an agent's stream, and records its tool calls.
func (a *attempt) watched(s *Scope, also func(run.Event)) func(run.Event) {
	return func(e run.Event) {
		a.emit(Happened{*s, e})
		switch e := e.(type) {
		case run.Acting:
			a.acting(s, e)
		case run.Acted:
			a.tool(ToolExecution{Run: a.req.Run, Phase: s.Phase, Role: s.Role, Task: s.Task, Event: "end", Call: e.Call.ToolUse, Tool: e.Call.Tool, IsError: e.Result.Error, Result: a.brief(e.Result.Text)})
		}
		if also != nil {
			also(e)
		}
	}
}

func (a *attempt) acting(s *Scope, e run.Acting) {
	p := ToolApproval{Run: a.req.Run, Phase: s.Phase, Role: s.Role, Task: s.Task, Call: e.Call.ToolUse, Tool: e.Call.Tool, Decision: "approved", Approver: "permission_policy", Reason: e.Denied, Args: a.brief(e.Call.Text)}
	if e.Denied != "" {
		p.Decision = "blocked"
	}
	a.keep(a.Record.Record(RecordToolApproval, p))
	a.tool(ToolExecution{Run: a.req.Run, Phase: s.Phase, Role: s.Role, Task: s.Task, Event: "start", Call: e.Call.ToolUse, Tool: e.Call.Tool, Args: p.Args})
}

// The bounds of what a record says of arguments and results: runes that stand there,
// and bytes that are looked at for them.
const (
	briefRunes = 200
	briefBytes = 4_000
)

// brief is the beginning of a text on one line, without secrets. The whole of it stands
// in the stream of its agent.
func (a *attempt) brief(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), briefBytes)], "")
	if a.Mask != nil {
		text = a.Mask(text)
	}
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > briefRunes {
		return string(runes[:briefRunes]) + "…"
	}
	return string(runes)
}

// tool records and counts what became of a tool call. It is durable with the next
// step.
func (a *attempt) tool(t ToolExecution) {
	a.keep(a.Record.Record(RecordToolExecution, t))
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tools.took(t)
}

// keep keeps the first error of what runs beside the steps; the next step reports
// it.
func (a *attempt) keep(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failed == nil {
		a.failed = err
	}
}

func (a *attempt) kept() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.failed
}

// open opens an agent and records that, so that its stream is found again.
func (a *attempt) open(ctx context.Context, j Job) (Agent, *Scope, error) {
	s := j.Scope
	j.Watch = a.watched(&s, j.Watch)
	agent, err := a.Staff.Open(ctx, j)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errRecord, err)
	}
	s.Session = agent.Session()
	if err := a.note(RecordAgent, s); err != nil {
		return nil, nil, fmt.Errorf("%w: %w, and %w", errRecord, err, agent.Close())
	}
	return agent, &s, nil
}

// tell lets an agent work on its words, or go on where it had got to.
func (a *attempt) tell(ctx context.Context, agent Agent, resumed bool, words []quire.Block) (run.Outcome, error) {
	left := Left{}
	if resumed {
		left = agent.Left()
	}
	var out run.Outcome
	var err error
	switch {
	case left.Done:
		return run.Outcome{Stop: run.StopDone, Text: left.Text, CutOff: string(left.Cut)}, nil
	case left.Told:
		out, err = agent.Turn(ctx)
	default:
		out, err = agent.Turn(ctx, words...)
	}
	if err == nil {
		err = a.kept()
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", errRecord, err)
	}
	return out, err
}

// converse opens an agent for one turn.
func (a *attempt) converse(ctx context.Context, j Job, words []quire.Block) (out run.Outcome, err error) {
	last, open := a.mem.under(j.Task, 0)
	resumed := open && last.Attempt == j.Attempt && last.Session != 0
	if resumed {
		j.Session = last.Session
	}
	agent, _, err := a.open(ctx, j)
	if err != nil {
		return out, err
	}
	defer func() { err = joined(err, agent.Close()) }()
	out, err = a.tell(ctx, agent, resumed, words)
	if err == nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return out, err
}

func joined(err, closed error) error {
	if err != nil {
		return err
	}
	return closed
}

// do lets a worker do its job, with one model after another. The error is for what
// could not be recorded, or a context that ended; what models do wrong is in the
// result.
func (a *attempt) do(ctx context.Context, w *Worker, phase Phase, h *packet.Handoff, words []quire.Block, d desk, first func(run.Event)) (ExecutedResult, error) {
	res := ExecutedResult{Role: w.Role, Goal: w.Goal, Todos: w.Todos}
	began := a.Now()
	defer func() { res.Took = a.Now().Sub(began) }()
	if len(w.Models) == 0 {
		why := fmt.Sprintf("No model of %s can be used: %s", w.Role, strings.Join(w.Skipped, "; "))
		res.take(packet.Broken(h, route.Failed, why))
		return res, a.note(RecordWorkerError, WorkerError{Run: a.req.Run, Phase: phase, Worker: w.Role, Task: w.Context, Error: why, Attempt: 1})
	}
	last, open := a.mem.under(w.Context, 0)
	from := last.Attempt
	if open {
		from--
	}
	failed := error(errEmpty)
	for i := from; i < len(w.Models); i++ {
		j := a.job(w, phase, i)
		j.Dir, j.Space, j.Watch = d.dir, func() []quire.PageRef { return space(h.Task.Refs) }, first
		resumed := open && i == from && !d.anew
		if resumed {
			j.Session = last.Session
		}
		out, err := a.once(ctx, w, j, h, words, resumed, &res)
		if err != nil || res.Task != "" {
			return res, err
		}
		failed = failure(out)
		more := i+1 < len(w.Models)
		a.emit(FellBack{j.Scope, failed.Error(), more})
		if err := a.note(RecordWorkerError, WorkerError{Run: a.req.Run, Phase: phase, Worker: w.Role, Task: w.Context, Error: failed.Error(), Attempt: i + 1, WillFallback: more}); err != nil {
			return res, err
		}
	}
	res.take(packet.Broken(h, route.Failed, fmt.Sprintf("%s worker failed: %s", w.Role, firstLine(failed.Error()))))
	return res, nil
}

// job is a worker's job with one of its models.
func (a *attempt) job(w *Worker, phase Phase, i int) Job {
	ro, _ := a.Roles.Role(w.Role)
	policy := a.policyOf(w.Role)
	j := Job{Scope: a.scope(w.Role, phase, w.Context, w.Models[i], i+1), Tools: ro.Tools, Thinking: policy.Thinking}
	if j.Tools == role.ToolsWrite && !w.Writes {
		j.Tools = role.ToolsRead
	}
	return j
}

// once is one attempt at a job. Where it gave a result, that is in res.
func (a *attempt) once(ctx context.Context, w *Worker, j Job, h *packet.Handoff, words []quire.Block, resumed bool, res *ExecutedResult) (out run.Outcome, err error) {
	if !resumed {
		start := WorkerStart{Run: a.req.Run, Phase: j.Phase, Worker: w.Role, Goal: w.Goal, Handoff: *h, Model: j.Model, Agent: j.Agent, Attempt: j.Attempt}
		if err := a.note(RecordWorkerStart, start); err != nil {
			return out, err
		}
	}
	agent, s, err := a.open(ctx, j)
	if err != nil {
		return out, err
	}
	defer func() { err = joined(err, agent.Close()) }()
	a.emit(Started{*s, w.Goal})
	hooked, hooks := agent.(Hooked)
	if hooks && !resumed {
		if why := hooked.Begin(ctx); why != "" {
			res.take(packet.Broken(h, route.Blocked, "a hook blocked the worker: "+why))
			return out, nil
		}
	}
	if out, err = a.tell(ctx, agent, resumed, words); err != nil {
		return out, err
	}
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	if failure(out) != nil {
		return out, nil
	}
	if hooks {
		hooked.End(ctx, out.Text)
	}
	return out, a.conclude(ctx, agent, s, h, out, res)
}

// conclude makes a result of an answer: only what may be seen by others is referred
// to, and it has the size in which it is handed on.
func (a *attempt) conclude(ctx context.Context, agent Agent, s *Scope, h *packet.Handoff, out run.Outcome, res *ExecutedResult) error {
	r := packet.Normalise(h, out.Text, packet.CutOff(out.CutOff))
	ok, refused := agent.Publish(ctx, r.Artifacts)
	r.Artifacts = append([]packet.ContextRef{}, ok...)
	for _, why := range refused {
		r.Risks = append(r.Risks, "left out of the result: "+why)
	}
	res.take(r)
	res.Model, res.Source, res.reply = s.Model, s.Session, out.Text
	return a.admit(ctx, agent, res)
}

// take takes a packet over.
func (r *ExecutedResult) take(p packet.Result) {
	r.Result, r.Status = p, p.Progress.Status
	if r.Status != route.Blocked && r.Status != route.Failed {
		r.Status = route.Completed
	}
	if r.Status != route.Completed {
		r.Error = p.Progress.Summary
	}
	if r.Todos == nil {
		r.Todos = []string{}
	}
}

package brain

import (
	"context"
	"fmt"

	"github.com/quire-agent/quire/internal/packet"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/role"
	"github.com/quire-agent/quire/internal/route"
	"github.com/quire-agent/quire/internal/run"
)

// An author is the primary at work, over all its turns.
type author struct {
	*attempt
	worker *Worker
	agent  Agent
	model  int // which of its models it has, where it is open
	end    PrimaryEnd
	err    error // why no model could do it
}

// work lets the primary do the request.
func (a *attempt) work(ctx context.Context) (*author, error) {
	au := &author{attempt: a, worker: a.plan.worker(a.plan.Route.Primary), model: -1}
	if a.shared == nil {
		a.shared = a.facts(ctx)
	}
	a.Brain.dispatch = dispatching{a: a}
	if err := a.move(PhasePrimary, au.worker.Role, route.Running, a.owned(), "", ""); err != nil {
		return nil, err
	}
	if err := au.turn(ctx, 0, a.primaryWords()); err != nil {
		return nil, joined(err, au.close())
	}
	status, fault := route.Completed, ""
	if au.err != nil {
		status, fault = route.Failed, au.err.Error()
	}
	return au, a.move(PhasePrimary, au.worker.Role, status, a.owned(), au.end.Text, fault)
}

// owned are the ids of the primary's things to do.
func (a *attempt) owned() (ids []string) {
	for _, t := range a.todos {
		if t.Role == a.plan.Route.Primary {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

func (au *author) close() error {
	if au.agent == nil {
		return nil
	}
	err := au.agent.Close()
	au.agent, au.model = nil, -1
	return err
}

// goOn is what the next model is told where one failed in the middle.
const goOn = "The model that worked on this before failed. What it did stands above; go on from there."

// turn lets the primary work once, with one model after another. What no model
// could do is in err of the author.
func (au *author) turn(ctx context.Context, n int, words []quire.Block) error {
	if end := au.mem.turn(n); end != nil {
		au.end = *end
		return nil
	}
	models := au.worker.Models
	if len(models) == 0 {
		au.err = fmt.Errorf("no model of %s can be used: %v", au.worker.Role, au.worker.Skipped)
		return nil
	}
	from := au.mem.failures(n)
	for i := from; i < len(models); i++ {
		out, err := au.try(ctx, n, i, i == from && au.mem.began(au.worker.Context, n, i+1), words)
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if au.err = failure(out); au.err == nil {
			return au.ended(n, models[i], out)
		}
		more := i+1 < len(models)
		au.emit(FellBack{au.scopeOf(n, i), au.err.Error(), more})
		if err := au.note(RecordRunError, RunError{Run: au.req.Run, Error: au.err.Error(), Attempt: i + 1, Turn: n, WillFallback: more}); err != nil {
			return err
		}
		words = []quire.Block{machine(goOn)}
	}
	return nil
}

// failures is how many models failed in a turn.
func (m *memory) failures(turn int) (n int) {
	for _, e := range m.runs {
		if e.Turn == turn {
			n++
		}
	}
	return n
}

// began reports whether an attempt of the primary had begun.
func (m *memory) began(task string, turn, attempt int) bool {
	for _, s := range m.started {
		if s.Task == task && s.Turn == turn && s.Attempt == attempt {
			return true
		}
	}
	return false
}

func (au *author) scopeOf(n, i int) Scope {
	s := au.scope(au.worker.Role, PhasePrimary, au.worker.Context, au.worker.Models[i], i+1)
	s.Turn = n
	return s
}

// try is one attempt at a turn.
func (au *author) try(ctx context.Context, n, i int, resumed bool, words []quire.Block) (out run.Outcome, err error) {
	s := au.scopeOf(n, i)
	if err := au.seat(ctx, &s, i); err != nil {
		return out, err
	}
	if !resumed {
		if err := au.note(RecordAgent, s); err != nil {
			return out, err
		}
		if n == 0 {
			if err := au.note(RecordRunStart, RunStart{Run: au.req.Run, Prompt: au.req.Prompt, Attempt: i + 1, Model: s.Model}); err != nil {
				return out, err
			}
		}
		au.emit(Started{s, au.worker.Goal})
	}
	return au.tell(ctx, au.agent, resumed, words)
}

// seat opens the primary's agent with a model, unless it is open with that one.
func (au *author) seat(ctx context.Context, s *Scope, i int) error {
	if au.model == i {
		au.at = *s
		s.Session, au.at.Session = au.agent.Session(), au.agent.Session()
		return nil
	}
	if err := au.close(); err != nil {
		return err
	}
	au.at = *s
	j := Job{Scope: *s, Tools: role.ToolsWrite, Thinking: au.policyOf(au.worker.Role).Thinking, Space: au.readable, Watch: au.watched(&au.at, nil)}
	agent, err := au.Staff.Open(ctx, j)
	if err != nil {
		return fmt.Errorf("%w: %w", errRecord, err)
	}
	au.agent, au.model = agent, i
	s.Session, au.at.Session = agent.Session(), agent.Session()
	return nil
}

// readable are the pages of others that the primary may read: those that the
// results refer to.
func (a *attempt) readable() (pages []quire.PageRef) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.results {
		pages = append(pages, space(a.results[i].Artifacts)...)
	}
	return pages
}

// ended records how a turn of the primary ended.
func (au *author) ended(n int, model string, out run.Outcome) error {
	au.end = PrimaryEnd{Run: au.req.Run, Turn: n, Model: model, Text: out.Text, CutOff: packet.CutOff(out.CutOff), Role: au.worker.Role}
	return au.note(RecordPrimaryEnd, au.end)
}

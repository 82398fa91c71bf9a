package brain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/packet"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/role"
	"github.com/quire-agent/quire/internal/route"
	"github.com/quire-agent/quire/internal/run"
)

// route makes the plan, or takes the one that is recorded.
func (a *attempt) route(ctx context.Context) error {
	if a.mem.plan != nil {
		a.plan, a.todos = *a.mem.plan, slices.Clone(a.mem.todos)
		return nil
	}
	p, err := a.routed(ctx)
	if err != nil {
		return err
	}
	a.settle(p)
	if err := a.note(RecordContextPlan, ContextPlan{a.req.Run, a.plan}); err != nil {
		return err
	}
	return a.note(RecordTodoPlan, TodoPlan{a.req.Run, a.todos, a.plan.Route.Dependencies, a.plan.Route.Reason})
}

// routed is the router's plan, or that of the rules where the router cannot be had.
func (a *attempt) routed(ctx context.Context) (route.Plan, error) {
	r := a.request()
	if len(a.Force) > 0 {
		return route.Forced(a.Force, r), nil
	}
	if a.NoPlan {
		return route.Heuristic(r), nil
	}
	text, err := a.consult(ctx, r)
	var p route.Plan
	if err == nil {
		p, err = route.Parse(text, r)
	}
	switch {
	case err == nil:
		return p, nil
	case ctx.Err() != nil || errors.Is(err, errRecord):
		return p, err
	case a.req.Images > 0:
		return p, fmt.Errorf("plan a request with images: %w", err)
	}
	p = route.Heuristic(r)
	p.Reason = strings.TrimSpace("The router was not available or failed: " + firstLine(err.Error()) + ". " + p.Reason)
	return p, nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// request is what is routed.
func (a *attempt) request() route.Request {
	parallel, workers := a.Mode.Limits(a.Model.Routing.Parallel)
	r := route.Request{
		Words: a.req.Prompt, Images: a.req.Images, Radical: a.Mode.Expansive, Review: a.Model.Routing.Review, Escalate: a.Model.Routing.Escalate,
		Limits: route.Limits{Todos: a.Mode.Todos, Workers: workers, Parallel: parallel},
	}
	a.cards(&r)
	return r
}

// cards tells the router of the roles; of their models only where there is a choice,
// or where it matters which of them see.
func (a *attempt) cards(r *route.Request) {
	var all []string
	for i := range a.Roles {
		ro := &a.Roles[i]
		if !ro.Routed {
			continue
		}
		policy := a.Model.Policy(ro.Name)
		chain, _ := a.Staff.Usable(policy.Chain(), false)
		r.Roles = append(r.Roles, route.Card{Role: ro.Name, Line: ro.Line, Chain: chain})
		for _, m := range chain {
			if !slices.Contains(all, m) {
				all = append(all, m)
			}
		}
	}
	if len(all) < 2 && r.Images == 0 {
		for i := range r.Roles {
			r.Roles[i].Chain = nil
		}
		return
	}
	for _, m := range all {
		seeing, _ := a.Staff.Usable([]string{m}, true)
		r.Models = append(r.Models, route.Model{ID: m, Vision: len(seeing) > 0, Tools: true})
	}
}

// errEmpty says that a model answered nothing.
var errEmpty = errors.New("the model gave an empty answer")

// errRecord marks errors that are not a model's: nothing goes on after one.
var errRecord = errors.New("the run cannot go on")

// consult asks the router: each model of its chain until one answers.
func (a *attempt) consult(ctx context.Context, r route.Request) (string, error) {
	policy := a.Model.Planner
	models, skipped := a.Staff.Usable(policy.Chain(), a.req.Images > 0)
	if len(models) == 0 {
		return "", fmt.Errorf("no model for the router: %s", strings.Join(skipped, "; "))
	}
	var failed error
	for i, m := range models {
		s := a.scope(route.Router, PhaseRouter, a.req.Run+":router", m, i+1)
		s.Session = a.History.Router()
		out, err := a.converse(ctx, Job{Scope: s, Tools: role.ToolsNone, Thinking: policy.Thinking}, a.routerWords(ctx, r))
		if err != nil {
			return "", err
		}
		if failed = failure(out); failed == nil {
			return out.Text, nil
		}
		a.emit(FellBack{s, failed.Error(), i+1 < len(models)})
	}
	return "", failed
}

// failure is why an outcome is no answer of a model, nil where it is one.
func failure(out run.Outcome) error {
	switch {
	case out.Stop == run.StopFailed && out.Err != nil:
		return out.Err
	case out.Stop == run.StopFailed:
		return errors.New("the model failed")
	case strings.TrimSpace(out.Text) == "" && out.CutOff == "":
		return errEmpty
	}
	return nil
}

func (a *attempt) scope(r route.Role, phase Phase, task, model string, n int) Scope {
	return Scope{
		Run: a.req.Run, Brain: a.req.Brain, Role: r, Phase: phase, Task: task, Parent: a.req.Run,
		Agent: fmt.Sprintf("%s-%d", task, n), Model: model, Attempt: n,
	}
}

// routerWords are what the router is told: what became of the run before, what is
// asked of it, and the user's words.
func (a *attempt) routerWords(ctx context.Context, r route.Request) []quire.Block {
	blocks := a.facts(ctx)
	if last := a.History.Last(); last != nil {
		blocks = append(blocks, machine(fmt.Sprintf("How the last run ended: %s.\n%s", last.Status, excerpt(last.Summary, a.Count, lastTokens))))
	}
	r.Words = ""
	return append(blocks, machine(strings.TrimRight(route.Prompt(r), "\n")), user(a.req.Prompt))
}

// lastTokens is how much of the last run's report the router sees.
const lastTokens = 600

func (a *attempt) facts(ctx context.Context) []quire.Block {
	if a.Facts == nil {
		return nil
	}
	return a.Facts(ctx, a.req.Prompt)
}

func machine(text string) quire.Block {
	return quire.Block{Part: quire.Part{Kind: quire.PartMachine, Text: text}}
}

func user(text string) quire.Block {
	return quire.Block{Part: quire.Part{Kind: quire.PartUser, Text: text}}
}

// settle makes of a routed plan what is carried out.
func (a *attempt) settle(p route.Plan) {
	parallel, _ := a.Mode.Limits(a.Model.Routing.Parallel)
	a.plan = Plan{
		Run: a.req.Run, Mode: a.Mode, Brain: PlanBrain{a.Model.ID, a.Model.Name, a.Model.Description}, Route: p, Parallel: parallel, Tools: "parallel",
		Context: packet.BrainTaskContext{ID: a.req.Run, Goal: a.req.Prompt, Progress: packet.TaskProgress{Status: route.Running}, Children: []string{}, Refs: []packet.ContextRef{}},
	}
	for _, w := range p.Workers {
		a.hire(w)
	}
	a.todos = slices.Clone(p.Todos)
}

// hire adds a worker to the plan with what it works on and with.
func (a *attempt) hire(w route.Worker) Worker {
	worker := Worker{Worker: w, Context: a.NewID()}
	policy := a.policyOf(w.Role)
	chain := policy.Chain()
	if w.Model != "" && slices.Contains(chain, w.Model) {
		chain = append([]string{w.Model}, slices.DeleteFunc(slices.Clone(chain), func(m string) bool { return m == w.Model })...)
	}
	worker.Models, worker.Skipped = a.Staff.Usable(chain, a.req.Images > 0)
	ro, _ := a.Roles.Role(w.Role)
	worker.Writes = w.Writes && a.Writes && a.Copies != nil && ro.Tools == role.ToolsWrite && w.Role != a.plan.Route.Primary
	a.plan.Workers = append(a.plan.Workers, worker)
	a.plan.Context.Children = append(a.plan.Context.Children, worker.Context)
	return worker
}

// policyOf is on what a role runs. Small work is the cheap role's own business only
// where the brain prefers that.
func (a *attempt) policyOf(r route.Role) role.Policy {
	if r == route.Rush && !a.Model.Routing.Cheap {
		return a.Model.Planner
	}
	return a.Model.Policy(r)
}

// worker is the plan's worker of a role, nil for none.
func (p *Plan) worker(r route.Role) *Worker {
	i := slices.IndexFunc(p.Workers, func(w Worker) bool { return w.Role == r })
	if i < 0 {
		return nil
	}
	return &p.Workers[i]
}

// ask ends the run with a question to the user: nobody works before it is answered.
func (a *attempt) ask(c route.Clarification) error {
	start := RunStart{Run: a.req.Run, Prompt: a.req.Prompt, Attempt: 1}
	if err := a.note(RecordRunStart, start); err != nil {
		return err
	}
	if err := a.note(RecordClarification, Clarification{a.req.Run, c, 1}); err != nil {
		return err
	}
	for _, t := range a.todos {
		if err := a.move(PhasePrimary, t.Role, route.Blocked, []string{t.ID}, "", c.Reason); err != nil {
			return err
		}
	}
	r := a.report(StatusClarify)
	r.Clarification, r.Summary = &c, c.Text(a.req.Prompt)
	return a.end(r)
}

// approve records what the run may do to the project, where it may do anything.
func (a *attempt) approve() error {
	if !a.Writes || a.mem.attempts > 0 {
		return nil
	}
	status, approver := "approved", "permission_policy"
	if !a.Mode.Approval {
		status, approver = "auto_approved", "mode_policy"
	}
	risks := append([]string{}, a.plan.Route.Notes...)
	if a.plan.Route.Uncertain() {
		risks = append(risks, "the router is not sure of the plan")
	}
	return a.note(RecordPlanReview, PlanReview{
		Validation: a.validation(), Risks: risks,
		Run: a.req.Run, Plan: a.req.Run, Mode: a.Mode.Name, Status: status, Approver: approver,
		Reason: "what a tool does is judged call by call by the rules of permission", Review: a.plan.Route.RequiresReview,
		Effects: []Effect{{"file_edit", "the project", "can be undone"}, {"command", "the project", "judged by the rules of permission"}},
	})
}

// validation is by what the change will be judged.
func (a *attempt) validation() Validation {
	v := Validation{
		Checks: []string{"those of the project that belong to what is changed"}, Evidence: []string{"the patch", "the output of the checks"}, Criteria: []string{"no check fails"},
	}
	if a.plan.Route.RequiresReview {
		v.Evidence, v.Criteria = append(v.Evidence, "the review"), append(v.Criteria, "the review approves")
	}
	return v
}

// move gives things to do another status, in the record and for who looks.
func (a *attempt) move(phase Phase, r route.Role, s route.Status, todos []string, summary, fault string) error {
	if len(todos) == 0 {
		return nil
	}
	moved(a.todos, todos, s, summary+fault)
	a.emit(Moved{todos, s, phase})
	return a.note(RecordTodoUpdate, TodoUpdate{Run: a.req.Run, Phase: phase, Role: r, Status: s, Todos: todos, Summary: firstLine(summary), Error: firstLine(fault)})
}

// Plan is what the Brain would do with a request. Nobody begins to work.
func (b *Brain) Plan(ctx context.Context, words string, images int) (Plan, error) {
	req := Request{Run: b.NewID(), Prompt: words, Brain: b.Model.ID, Mode: b.Mode.Name, Permit: b.Permit, Images: images}
	a := &attempt{Brain: b, mem: newMemory(req), req: req}
	p, err := a.routed(ctx)
	if err != nil {
		return Plan{}, err
	}
	a.settle(p)
	return a.plan, nil
}

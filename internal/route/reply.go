package route

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/x/loose"
)

// ErrNoPlan says that a reply holds no plan.
var ErrNoPlan = errors.New("the router's reply holds no JSON object")

// A reply is what a router sent, as far as it could be read.
type reply struct {
	Role          loose.Text              `json:"role"`
	Workers       loose.List[replyWorker] `json:"workers"`
	Todos         loose.List[replyTodo]   `json:"todos"`
	Dependencies  loose.List[replyEdge]   `json:"dependencies"`
	Review        loose.Bool              `json:"review"`
	Confidence    loose.Number            `json:"confidence"`
	Reason        loose.Text              `json:"reason"`
	Clarification *replyQuestion          `json:"clarification"`
}

type replyWorker struct {
	Role   loose.Text `json:"role"`
	Goal   loose.Text `json:"goal"`
	Reason loose.Text `json:"reason"`
	Model  loose.Text `json:"modelId"`
	Writes loose.Bool `json:"writes"`
}

type replyTodo struct {
	ID     loose.Text `json:"id"`
	Title  loose.Text `json:"title"`
	Task   loose.Text `json:"task"`
	Goal   loose.Text `json:"goal"`
	Role   loose.Text `json:"role"`
	Reason loose.Text `json:"reason"`
}

type replyEdge struct {
	From   loose.Text `json:"from"`
	To     loose.Text `json:"to"`
	FromID loose.Text `json:"fromTodoId"`
	ToID   loose.Text `json:"toTodoId"`
	Reason loose.Text `json:"reason"`
}

type replyQuestion struct {
	Required loose.Bool              `json:"required"`
	Reason   loose.Text              `json:"reason"`
	Question loose.Text              `json:"question"`
	Missing  loose.Strings           `json:"missing"`
	Options  loose.List[replyOption] `json:"options"`
}

// UnmarshalJSON never fails: what is no object is no question.
func (q *replyQuestion) UnmarshalJSON(raw []byte) error {
	type plain replyQuestion
	var v plain
	if json.Unmarshal(raw, &v) != nil {
		v = plain{}
	}
	*q = replyQuestion(v)
	return nil
}

type replyOption struct {
	ID          loose.Text `json:"id"`
	Label       loose.Text `json:"label"`
	Description loose.Text `json:"description"`
}

// Parse makes a plan of a router's reply. Whatever the reply holds, the plan keeps
// the limits and rules of the request; what was changed is in its notes. The error
// is [ErrNoPlan]: the caller plans by [Heuristic] then.
func Parse(text string, r Request) (Plan, error) {
	raw, ok := loose.Object(text)
	if !ok {
		return Plan{}, ErrNoPlan
	}
	var got reply
	if err := json.Unmarshal(raw, &got); err != nil {
		return Plan{}, fmt.Errorf("%w: %w", ErrNoPlan, err)
	}
	return normalise(got, r), nil
}

// normalise applies the rules in their order: primary, workers, todos, edges.
func normalise(got reply, r Request) Plan {
	rules := Heuristic(r)
	p := Plan{Source: ByRouter, Primary: Role(got.Role), Reason: string(got.Reason)}
	p.confidence(got.Confidence)
	if r.card(p.Primary) == nil {
		p.note("the role %q cannot be chosen", got.Role)
		p.Primary = rules.Primary
	}
	p.staff(got.Workers, r, rules)
	p.escalate(r)
	p.capWorkers(r.Limits.limits().Workers)
	p.RequiresReview = rules.RequiresReview || r.Review && bool(got.Review)
	if p.RequiresReview && p.Primary != Review {
		p.ensure(Worker{Role: Review, Goal: reviewGoal, Reason: "edits are reviewed"}, r)
	}
	p.list(got.Todos, r.Limits.limits().Todos)
	p.assign()
	p.connect(edges(got.Dependencies))
	p.Clarification = question(got.Clarification)
	return p
}

func (p *Plan) note(format string, args ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf(format, args...))
}

func (p *Plan) confidence(n loose.Number) {
	if v, ok := n.Clamped(0, 1); ok {
		p.Confidence = &v
	}
}

// staff takes over the workers, one of each role: a later one of the same role
// replaces the earlier, which keeps its place.
func (p *Plan) staff(list []replyWorker, r Request, rules Plan) {
	for _, w := range list {
		role := Role(w.Role)
		switch {
		case r.card(role) == nil:
			p.note("the role %q of a worker cannot be chosen", w.Role)
		case role == Rush && p.Primary != Rush:
			p.note("rush does not support others")
		default:
			p.take(Worker{Role: role, Goal: string(w.Goal), Reason: string(w.Reason), Model: string(w.Model), Writes: bool(w.Writes)}, r, rules)
		}
	}
	if p.Worker(p.Primary) == nil {
		p.Workers = slices.Insert(p.Workers, 0, filled(Worker{Role: p.Primary}, rules))
	}
}

func (p *Plan) take(w Worker, r Request, rules Plan) {
	if w.Model != "" && (!slices.Contains(r.card(w.Role).Chain, w.Model) || !r.usable(w.Model)) {
		p.note("the model %q is not one that %s can use", w.Model, w.Role)
		w.Model = ""
	}
	w = filled(w, rules)
	if old := p.Worker(w.Role); old != nil {
		*old = w
		return
	}
	p.Workers = append(p.Workers, w)
}

// filled has a goal and a reason.
func filled(w Worker, rules Plan) Worker {
	known := rules.Worker(w.Role)
	if known == nil {
		known = &Worker{Goal: "Do the part of the request that belongs to " + string(w.Role) + ".", Reason: "the router chose it"}
	}
	if w.Goal == "" {
		w.Goal = known.Goal
	}
	if w.Reason == "" {
		w.Reason = known.Reason
	}
	return w
}

// escalate adds the oracle to a plan that the router is not sure of, before all others
// so that no limit takes it out again.
func (p *Plan) escalate(r Request) {
	if r.Escalate && p.Uncertain() && p.Primary != Oracle && p.Primary != Rush && p.ensure(Worker{
		Role: Oracle, Goal: "The request is not clear-cut. Say which approach is right, what speaks against it, and what to look out for.", Reason: "the router is not sure",
	}, r) {
		last := len(p.Workers) - 1
		p.Workers = slices.Insert(p.Workers[:last:last], 0, p.Workers[last])
		p.note("the router is not sure, so the oracle is asked")
	}
}

// ensure adds a worker where its role can be chosen and there is none of it.
func (p *Plan) ensure(w Worker, r Request) (added bool) {
	if r.card(w.Role) == nil || p.Worker(w.Role) != nil {
		return false
	}
	p.Workers = append(p.Workers, w)
	return true
}

// capWorkers keeps the first workers that support. The primary and the reviewer do not
// count: neither is ever at work when those are.
func (p *Plan) capWorkers(most int) {
	var kept []Worker
	for _, w := range p.Workers {
		switch {
		case w.Role == p.Primary || w.Role == Review || p.fits(kept, most):
			kept = append(kept, w)
		default:
			p.note("%s is more than the %d workers that may support the primary", w.Role, most)
		}
	}
	p.Workers = kept
}

// fits reports whether there is room for one more that supports the primary.
func (p *Plan) fits(kept []Worker, most int) bool {
	n := 0
	for _, w := range kept {
		if w.Role != p.Primary && w.Role != Review {
			n++
		}
	}
	return n < most
}

// list takes over the todos, up to a number. A todo of a role without a worker is
// the primary's.
func (p *Plan) list(todos []replyTodo, most int) {
	for i, t := range todos {
		title := firstText(t.Title, t.Task, t.Goal)
		switch {
		case len(p.Todos) == most:
			p.note("%d things to do are more than %d; the rest is left out", len(todos), most)
			return
		case title == "":
			continue
		}
		role := Role(t.Role)
		if p.Worker(role) == nil {
			role = p.Primary
		}
		id := slug(string(t.ID))
		if id == "" {
			id = fmt.Sprintf("todo-%02d-%s", i+1, role)
		}
		p.Todos = append(p.Todos, Todo{ID: p.freeID(id), Title: title, Role: role, Status: Pending, Reason: string(t.Reason)})
	}
}

func firstText(list ...loose.Text) string {
	for _, t := range list {
		if t != "" {
			return string(t)
		}
	}
	return ""
}

// slug is an id of the signs that ids are made of, "" where nothing is left.
func slug(id string) string {
	id = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '-':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, id)
	return strings.Trim(id, "-")
}

// freeID is an id that no todo has yet.
func (p *Plan) freeID(id string) string {
	free := id
	for n := 2; p.todo(free) != nil; n++ {
		free = fmt.Sprintf("%s-%d", id, n)
	}
	return free
}

// assign gives every worker its todos, and one of its goal to a worker that has
// none.
func (p *Plan) assign() {
	for i := range p.Workers {
		w := &p.Workers[i]
		w.Todos = nil
		for _, t := range p.Todos {
			if t.Role == w.Role {
				w.Todos = append(w.Todos, t.ID)
			}
		}
		if len(w.Todos) == 0 {
			t := Todo{ID: p.freeID(fmt.Sprintf("todo-%02d-%s", len(p.Todos)+1, w.Role)), Title: w.Goal, Role: w.Role, Status: Pending, Reason: w.Reason}
			p.Todos = append(p.Todos, t)
			w.Todos = []string{t.ID}
		}
	}
}

func edges(list []replyEdge) (out []Dependency) {
	for _, e := range list {
		out = append(out, Dependency{From: slug(firstText(e.From, e.FromID)), To: slug(firstText(e.To, e.ToID)), Reason: string(e.Reason)})
	}
	return out
}

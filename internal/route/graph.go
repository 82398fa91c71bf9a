package route

import (
	"fmt"
	"slices"
)

// rank orders roles by when they work: support, primary, review.
func (p *Plan) rank(role Role) int {
	switch role {
	case Review:
		if p.Primary != Review {
			return 2
		}
		return 1
	case p.Primary:
		return 1
	default:
		return 0
	}
}

// executable reports whether an edge can be carried out: work flows from support
// to primary to review and not back.
func (p *Plan) executable(d Dependency) bool {
	from, to := p.todo(d.From), p.todo(d.To)
	return from != nil && to != nil && d.From != d.To && p.rank(from.Role) <= p.rank(to.Role)
}

func (p *Plan) todo(id string) *Todo {
	i := slices.IndexFunc(p.Todos, func(t Todo) bool { return t.ID == id })
	if i < 0 {
		return nil
	}
	return &p.Todos[i]
}

// connect takes over the edges that can be carried out, each pair once, and adds
// those that follow from the order of roles: support before primary before review.
func (p *Plan) connect(edges []Dependency) {
	for _, d := range edges {
		switch {
		case !p.executable(d):
			p.note("the dependency %s → %s cannot be carried out and is left out", d.From, d.To)
		case p.closes(d):
			p.note("the dependency %s → %s closes a circle and is left out", d.From, d.To)
		default:
			p.link(d)
		}
	}
	for _, from := range p.Todos {
		for _, to := range p.Todos {
			if p.rank(from.Role) < p.rank(to.Role) && p.follows(from.Role, to.Role) {
				p.link(Dependency{From: from.ID, To: to.ID})
			}
		}
	}
}

// follows reports whether an edge between two roles is implied: into the primary
// from all support, into the review from the primary.
func (p *Plan) follows(from, to Role) bool {
	return to == p.Primary || from == p.Primary
}

func (p *Plan) link(d Dependency) {
	same := func(e Dependency) bool { return e.From == d.From && e.To == d.To }
	if !slices.ContainsFunc(p.Dependencies, same) {
		p.Dependencies = append(p.Dependencies, d)
	}
}

// closes reports whether an edge would make a worker wait for itself.
func (p *Plan) closes(d Dependency) bool {
	from, to := p.todo(d.From).Role, p.todo(d.To).Role
	if from == to {
		return p.reachesTodo(d.To, d.From)
	}
	return p.reachesRole(to, from)
}

// reachesRole reports whether the work of one role leads to that of another.
func (p *Plan) reachesRole(from, to Role) bool {
	seen, open := map[Role]bool{from: true}, []Role{from}
	for len(open) > 0 {
		at := open[0]
		if open = open[1:]; at == to {
			return true
		}
		for _, d := range p.Dependencies {
			if next := p.todo(d.To).Role; p.todo(d.From).Role == at && !seen[next] {
				seen[next] = true
				open = append(open, next)
			}
		}
	}
	return false
}

// reachesTodo is the same for the todos of one worker.
func (p *Plan) reachesTodo(from, to string) bool {
	seen, open := map[string]bool{from: true}, []string{from}
	for len(open) > 0 {
		at := open[0]
		if open = open[1:]; at == to {
			return true
		}
		for _, d := range p.Dependencies {
			if d.From == at && !seen[d.To] {
				seen[d.To] = true
				open = append(open, d.To)
			}
		}
	}
	return false
}

// Upstreams are the roles whose results the worker of a role gets: the owners of
// the todos that its own depend on, without itself, in the plan's order.
func (p *Plan) Upstreams(role Role) (list []Role) {
	for _, w := range p.Workers {
		if w.Role != role && slices.ContainsFunc(p.into(role), func(d Dependency) bool { return p.Owner(d.From) == w.Role }) {
			list = append(list, w.Role)
		}
	}
	return list
}

// into are the edges into the todos of a role from outside of it.
func (p *Plan) into(role Role) (list []Dependency) {
	for _, d := range p.Dependencies {
		if p.Owner(d.To) == role && p.Owner(d.From) != role {
			list = append(list, d)
		}
	}
	return list
}

// A Stuck worker will never be ready.
type Stuck struct {
	Role   Role
	Reason string
}

// Next says what of the support can start, given how far every worker is (a role
// that is not in the map is pending), and what can never start. A slot that becomes
// free is filled by asking again; those that are stuck are blocked by then, which
// blocks what depends on them. Both lists are in the plan's order.
func (p *Plan) Next(state map[Role]Status) (ready []Role, stuck []Stuck) {
	for _, w := range p.Support() {
		if s := state[w.Role]; s != "" && s != Pending {
			continue
		}
		waits, why := p.waits(w.Role, state)
		switch {
		case why != "":
			stuck = append(stuck, Stuck{w.Role, why})
		case !waits:
			ready = append(ready, w.Role)
		}
	}
	return ready, stuck
}

// waits reports whether a worker has to wait for an upstream, or why that is in
// vain.
func (p *Plan) waits(role Role, state map[Role]Status) (waits bool, why string) {
	for _, d := range p.into(role) {
		owner := p.Owner(d.From)
		switch s := state[owner]; {
		case owner == "":
			return false, fmt.Sprintf("it waits for %s, which nobody does", d.From)
		case s == Failed || s == Blocked:
			return false, fmt.Sprintf("it waits for %s of %s, which is %s", d.From, owner, s)
		case s != Completed:
			waits = true
		}
	}
	return waits, ""
}

// WithReview is the plan with a reviewer, who is added where there is none: a check
// or a rule of permission can ask for one when the work is done. The plan itself
// is not changed.
func (p *Plan) WithReview(reason string) Plan {
	q := *p
	q.RequiresReview = true
	if p.Worker(Review) != nil {
		return q
	}
	q.Workers, q.Todos, q.Dependencies = slices.Clone(p.Workers), slices.Clone(p.Todos), slices.Clone(p.Dependencies)
	t := Todo{ID: q.freeID("review"), Title: "Review the changes", Role: Review, Status: Pending, Reason: reason}
	q.Workers = append(q.Workers, Worker{Role: Review, Goal: reviewGoal, Reason: reason, Todos: []string{t.ID}})
	q.Todos = append(q.Todos, t)
	q.connect(nil)
	return q
}

const reviewGoal = "Review the changes: look for defects, regressions and missing tests, and decide."

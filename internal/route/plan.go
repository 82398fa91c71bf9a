package route

import "slices"

// A Role names who does a piece of work. What a role is, is data of another
// package; the rules here know the names below.
type Role string

// The roles that can be routed to, and the one that routes.
const (
	Frontend  Role = "frontend"
	Backend   Role = "backend"
	Designer  Role = "designer"
	DBA       Role = "dba"
	DevOps    Role = "devops"
	Security  Role = "security"
	QA        Role = "qa"
	Review    Role = "review"
	Summarize Role = "summarize"
	Oracle    Role = "oracle"
	Librarian Role = "librarian"
	Rush      Role = "rush"
	Router    Role = "routeBrain"
)

// A Status says how far a piece of work is.
type Status string

// The states.
const (
	Pending   Status = "pending"
	Running   Status = "running"
	Completed Status = "completed"
	Blocked   Status = "blocked"
	Failed    Status = "failed"
)

// Ended reports whether nothing more comes of it.
func (s Status) Ended() bool { return s == Completed || s == Blocked || s == Failed }

// A Todo is one thing to do.
type Todo struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	Role    Role   `json:"role"`
	Status  Status `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Summary string `json:"summary,omitempty"` // what came of it, or the error
}

// A Dependency says that one todo waits for another.
type Dependency struct {
	From   string `json:"fromTodoId"` // is done first
	To     string `json:"toTodoId"`
	Reason string `json:"reason,omitempty"`
}

// A Worker is one role at work.
type Worker struct {
	Role   Role     `json:"role"`
	Goal   string   `json:"goal"`
	Reason string   `json:"reason"`
	Todos  []string `json:"todoIds,omitempty"`
	Model  string   `json:"modelId,omitempty"` // of the role's own chain, where the router chose one
	Writes bool     `json:"writes,omitempty"`  // it is to change files, beside others
}

// A Clarification is what has to be asked before anything is done.
type Clarification struct {
	Required bool     `json:"required"`
	Reason   string   `json:"reason"`
	Question string   `json:"question"`
	Missing  []string `json:"missing"`
	Options  []Option `json:"options"` // two or three that exclude each other
}

// An Option is an answer that can be chosen.
type Option struct {
	ID          string `json:"id"`
	Label       string `json:"label"`
	Description string `json:"description"`
}

// A Source says who planned.
type Source string

// The sources.
const (
	ByRouter    Source = "router-brain"
	ByHeuristic Source = "heuristic"
	ByForce     Source = "forced" // the roles were given
)

// A Plan is who does what, in which order. Workers holds the primary; a plan that
// asks for clarification is not begun.
type Plan struct {
	Source         Source         `json:"source"`
	Primary        Role           `json:"primaryRole"`
	Workers        []Worker       `json:"workers"`
	Todos          []Todo         `json:"todos"`
	Dependencies   []Dependency   `json:"dependencies"`
	RequiresReview bool           `json:"requiresReview"`
	Reason         string         `json:"reason"`
	Confidence     *float64       `json:"confidence,omitempty"` // 0 to 1, nil where nobody said
	Clarification  *Clarification `json:"clarification,omitempty"`
	Notes          []string       `json:"notes,omitempty"` // what of the router's reply was changed
}

// Limits bound a plan. A limit below one counts as one.
type Limits struct {
	Todos    int
	Workers  int // that support: the primary and the reviewer do not count
	Parallel int
}

// limits are the limits with their floor.
func (l Limits) limits() Limits {
	return Limits{max(l.Todos, 1), max(l.Workers, 1), max(l.Parallel, 1)}
}

// A Request is what is routed, and the bounds of the answer.
type Request struct {
	Words    string // the user's, verbatim
	Images   int    // that go with them
	Roles    []Card // that can be chosen, in the order in which they are shown
	Models   []Model
	Limits   Limits
	Radical  bool // decompose more and start more at once
	Review   bool // edits of files are reviewed
	Escalate bool // a plan that the router is not sure of gets the oracle
}

// A Card is what the router is told of a role.
type Card struct {
	Role  Role
	Line  string   // what it owns, one line
	Chain []string // ids of its models, the preferred one first
}

// A Model is what the router is told of a model.
type Model struct {
	ID     string
	Vision bool
	Tools  bool
	Window int // tokens, 0: unknown
}

// card is that of a role, nil where it cannot be chosen.
func (r *Request) card(role Role) *Card {
	i := slices.IndexFunc(r.Roles, func(c Card) bool { return c.Role == role })
	if i < 0 || role == Router {
		return nil
	}
	return &r.Roles[i]
}

// usable reports whether a model can take the request's images.
func (r *Request) usable(model string) bool {
	return r.Images == 0 || slices.ContainsFunc(r.Models, func(m Model) bool { return m.ID == model && m.Vision })
}

// Worker is the plan's worker of a role, nil for none.
func (p *Plan) Worker(role Role) *Worker {
	i := slices.IndexFunc(p.Workers, func(w Worker) bool { return w.Role == role })
	if i < 0 {
		return nil
	}
	return &p.Workers[i]
}

// Support are the workers that come before the primary, in the plan's order.
func (p *Plan) Support() (list []Worker) {
	for _, w := range p.Workers {
		if w.Role != p.Primary && w.Role != Review {
			list = append(list, w)
		}
	}
	return list
}

// Owner is the role that does a todo, "" for a todo that nobody has.
func (p *Plan) Owner(todo string) Role {
	for _, w := range p.Workers {
		if slices.Contains(w.Todos, todo) {
			return w.Role
		}
	}
	return ""
}

// uncertain is the confidence under which a plan is not trusted as it is.
const uncertain = 0.5

// Uncertain reports whether the router said that it is not sure.
func (p *Plan) Uncertain() bool { return p.Confidence != nil && *p.Confidence < uncertain }

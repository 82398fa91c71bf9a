package brain

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/route"
)

// A History is what the journal of a session says of its runs. It is fed record by
// record, in their order.
type History struct {
	runs []*memory
}

// A memory is what is recorded of one run.
type memory struct {
	request  Request
	resumed  bool
	plan     *Plan
	todos    []route.Todo
	started  []Scope // agents that were opened
	results  []ExecutedResult
	errors   []WorkerError
	runs     []RunError
	attempts int // of the primary
	turns    []PrimaryEnd
	checks   []CheckRecord
	reviews  []ReviewRecord
	fixes    []Fix
	sent     []Dispatch
	merges   []Merge
	tools    ToolCount
	report   *FinalReport
	ended    bool
}

func newMemory(r Request) *memory { return &memory{request: r} }

// Add takes a record in. Records that are not the Brain's are passed over. The
// error is for one that is not what its type says.
func (h *History) Add(kind string, payload json.RawMessage) error {
	if kind == RecordRequest {
		r, err := read[Request](payload)
		if err == nil {
			h.runs = append(h.runs, newMemory(r))
		}
		return err
	}
	if len(h.runs) == 0 {
		return nil
	}
	if err := h.runs[len(h.runs)-1].add(kind, payload); err != nil {
		return fmt.Errorf("read a %s: %w", kind, err)
	}
	return nil
}

func read[T any](raw json.RawMessage) (v T, err error) {
	err = json.Unmarshal(raw, &v)
	return v, err
}

// into appends what a record says to a list.
func into[T any](list *[]T, raw json.RawMessage) error {
	v, err := read[T](raw)
	if err == nil {
		*list = append(*list, v)
	}
	return err
}

func (m *memory) add(kind string, raw json.RawMessage) error {
	switch kind {
	case RecordContextPlan:
		p, err := read[ContextPlan](raw)
		m.plan = &p.Plan
		return err
	case RecordTodoPlan:
		t, err := read[TodoPlan](raw)
		m.todos = t.Todos
		return err
	case RecordTodoUpdate:
		t, err := read[TodoUpdate](raw)
		moved(m.todos, t.Todos, t.Status, t.Summary+t.Error)
		return err
	case RecordAgent:
		return into(&m.started, raw)
	case RecordWorkerEnd:
		e, err := read[WorkerEnd](raw)
		if e.Phase == PhaseSupport {
			m.results = append(m.results, e.Result)
		}
		return err
	case RecordWorkerError:
		return into(&m.errors, raw)
	case RecordRunError:
		return into(&m.runs, raw)
	case RecordRunStart:
		m.attempts++
	case RecordPrimaryEnd:
		return into(&m.turns, raw)
	case RecordCheck:
		return into(&m.checks, raw)
	case RecordReview:
		return into(&m.reviews, raw)
	case RecordFix:
		return into(&m.fixes, raw)
	case RecordDispatch:
		return into(&m.sent, raw)
	case RecordMerge:
		return into(&m.merges, raw)
	case RecordToolExecution:
		t, err := read[ToolExecution](raw)
		m.tools.took(t)
		return err
	case RecordReport:
		r, err := read[ReportRecord](raw)
		m.report = &r.Report
		return err
	case RecordRunEnd:
		m.ended = true
	}
	return nil
}

// open is the newest run, where it did not end.
func (h *History) open() *memory {
	if len(h.runs) == 0 || h.runs[len(h.runs)-1].ended {
		return nil
	}
	m := h.runs[len(h.runs)-1]
	m.resumed = true
	return m
}

// Interrupted is the prompt of a run that did not end; ok is false where there is
// none.
func (h *History) Interrupted() (prompt string, ok bool) {
	if m := h.open(); m != nil {
		return m.request.Prompt, true
	}
	return "", false
}

// Open is the request of the run that did not end, nil where there is none.
func (h *History) Open() *Request {
	if m := h.open(); m != nil {
		return &m.request
	}
	return nil
}

// Copies are the tasks of the run that did not end whose agents may have left copies
// of the project behind.
func (h *History) Copies() (tasks []string) {
	if m := h.open(); m != nil && m.plan != nil {
		for _, w := range m.plan.Workers {
			if w.Writes {
				tasks = append(tasks, w.Context)
			}
		}
	}
	return tasks
}

// Router is the session of the router's stream, 0 where it has none yet.
func (h *History) Router() (n quire.SessionNumber) {
	for _, m := range h.runs {
		for _, s := range m.started {
			if s.Phase == PhaseRouter {
				n = s.Session
			}
		}
	}
	return n
}

// Last is the report of the newest run that ended, nil where none did.
func (h *History) Last() *FinalReport {
	for i := len(h.runs) - 1; i >= 0; i-- {
		if h.runs[i].ended && h.runs[i].report != nil {
			return h.runs[i].report
		}
	}
	return nil
}

// accepted are the results of workers that a run which ended took over, the newest
// first.
func (h *History) accepted() (list []*ExecutedResult) {
	for _, m := range slices.Backward(h.runs) {
		for i := range m.results {
			if m.ended && m.results[i].Status == route.Completed {
				list = append(list, &m.results[i])
			}
		}
	}
	return list
}

// Agents are all agents of all runs, in the order in which they were opened.
func (h *History) Agents() (list []Scope) {
	for _, m := range h.runs {
		list = append(list, m.started...)
	}
	return list
}

// result is that of a job that ended, nil where it did not.
func (m *memory) result(task string) *ExecutedResult {
	i := slices.IndexFunc(m.results, func(r ExecutedResult) bool { return r.Task == task })
	if i < 0 {
		return nil
	}
	return &m.results[i]
}

// under is the last agent that was opened for a job and did not fail; its attempt
// counts those that did.
func (m *memory) under(task string, turn int) (s Scope, open bool) {
	for _, o := range m.started {
		if o.Task == task && o.Turn == turn {
			s, open = o, true
		}
	}
	for _, e := range m.errors {
		if e.Task == task && e.Attempt >= s.Attempt {
			s.Attempt, open = e.Attempt, false
		}
	}
	return s, open
}

// turn is how a turn of the primary ended, nil where it did not.
func (m *memory) turn(n int) *PrimaryEnd {
	i := slices.IndexFunc(m.turns, func(p PrimaryEnd) bool { return p.Turn == n })
	if i < 0 {
		return nil
	}
	return &m.turns[i]
}

func (m *memory) check(turn int) *CheckRecord {
	i := slices.IndexFunc(m.checks, func(c CheckRecord) bool { return c.Turn == turn })
	if i < 0 {
		return nil
	}
	return &m.checks[i]
}

// merge is that of a writer's changes, nil where they were not merged.
func (m *memory) merge(task string) *Merge {
	i := slices.IndexFunc(m.merges, func(g Merge) bool { return g.Task == task })
	if i < 0 {
		return nil
	}
	return &m.merges[i]
}

func (m *memory) review(turn int) *ReviewRecord {
	i := slices.IndexFunc(m.reviews, func(r ReviewRecord) bool { return r.Turn == turn })
	if i < 0 {
		return nil
	}
	return &m.reviews[i]
}

// dispatched is a request of the primary that has no result yet, by role and goal.
func (m *memory) dispatched(role route.Role, goal string) (d Dispatch, ok bool) {
	for _, s := range m.sent {
		if s.Phase == "request" && s.Role == role && s.Goal == goal {
			d, ok = s, true
		}
	}
	return d, ok
}

// took counts a tool call that began, or one that failed.
func (c *ToolCount) took(t ToolExecution) {
	if t.Event == "end" {
		if t.IsError {
			c.Failed++
		}
		return
	}
	c.Total++
	i := slices.IndexFunc(c.ByPhase, func(p PhaseCount) bool { return p.Phase == t.Phase })
	if i < 0 {
		c.ByPhase = append(c.ByPhase, PhaseCount{Phase: t.Phase})
		i = len(c.ByPhase) - 1
	}
	c.ByPhase[i].Total++
}

// moved gives things to do another status.
func moved(todos []route.Todo, ids []string, s route.Status, summary string) {
	for i := range todos {
		if !slices.Contains(ids, todos[i].ID) {
			continue
		}
		todos[i].Status = s
		if summary != "" {
			todos[i].Summary = firstLine(summary)
		}
	}
}

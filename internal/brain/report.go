package brain

import (
	"fmt"
	"strings"

	"github.com/quire-agent/quire/internal/check"
	"github.com/quire-agent/quire/internal/packet"
	"github.com/quire-agent/quire/internal/review"
	"github.com/quire-agent/quire/internal/route"
)

// A Status says how a run ended.
type Status string

// The statuses.
const (
	StatusAnswered   Status = "answered"           // no tool was used
	StatusReadOnly   Status = "read_only"          // tools were used, nothing was changed
	StatusUnreviewed Status = "changed_unreviewed" // changed, and nobody else looked at it
	StatusApproved   Status = "approved"
	StatusChanges    Status = "changes_requested"
	StatusBlocked    Status = "blocked"
	StatusClarify    Status = "needs_clarification"
	StatusFailed     Status = "failed"
	StatusAborted    Status = "aborted"
)

// A FinalReport is how a run ended, in full. Its fields keep their meaning.
type FinalReport struct {
	Version       int                  `json:"version"` // 1
	Status        Status               `json:"status"`
	Task          string               `json:"task"`
	Run           string               `json:"runId"`
	Brain         ReportBrain          `json:"brain"`
	Routing       ReportRouting        `json:"routing"`
	Todos         []route.Todo         `json:"todos"`
	Patch         *check.Patch         `json:"patch,omitempty"`
	Checks        *check.Summary       `json:"checks,omitempty"`
	Review        *review.Decision     `json:"review,omitempty"`
	Metrics       ReportMetrics        `json:"metrics"`
	Summary       string               `json:"modelSummary"`
	Error         string               `json:"error,omitempty"`
	Fixes         int                  `json:"fixIterations"`
	Clarification *route.Clarification `json:"clarification,omitempty"`
	Warnings      []string             `json:"warnings"`
}

// A ReportBrain is the brain of a report.
type ReportBrain struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Mode string `json:"mode"`
}

// A ReportRouting is who worked, and who said so.
type ReportRouting struct {
	Source     route.Source   `json:"source"`
	Primary    route.Role     `json:"primaryRole"`
	Workers    []ReportWorker `json:"workers"`
	Confidence *float64       `json:"confidence,omitempty"`
	Reason     string         `json:"reason,omitempty"`
}

// A ReportWorker is one who worked.
type ReportWorker struct {
	Role   route.Role    `json:"role"`
	Phase  Phase         `json:"phase"`
	Status route.Status  `json:"status,omitempty"`
	Model  string        `json:"modelId,omitempty"`
	CutOff packet.CutOff `json:"cutOff,omitempty"`
}

// ReportMetrics are a run in figures.
type ReportMetrics struct {
	Tools  ToolCount `json:"toolCalls"`
	Tokens *Tokens   `json:"tokenUsage,omitempty"`
}

// Tokens are what the calls of a run used, as reported, and what they cost in US
// dollars where the prices are known.
type Tokens struct {
	Calls      int      `json:"calls"`
	Input      int64    `json:"input"`
	CacheRead  int64    `json:"cacheRead"`
	CacheWrite int64    `json:"cacheWrite"`
	Output     int64    `json:"output"`
	Cost       *float64 `json:"cost,omitempty"`
}

// report begins a report.
func (a *attempt) report(s Status) FinalReport {
	p := &a.plan.Route
	r := FinalReport{
		Version: 1, Status: s, Task: a.req.Prompt, Run: a.req.Run, Brain: ReportBrain{a.plan.Brain.ID, a.plan.Brain.Name, a.Mode.Name},
		Routing: ReportRouting{Source: p.Source, Primary: p.Primary, Workers: []ReportWorker{}, Confidence: p.Confidence, Reason: p.Reason},
		Todos:   append([]route.Todo{}, a.todos...), Warnings: append([]string{}, p.Notes...),
	}
	return r
}

// status is the honest name for how the run ended.
func (a *attempt) status(au *author, v *verdict) Status {
	failing := v.checks != nil && len(v.checks.Failing()) > 0
	switch {
	case au.err != nil:
		return StatusFailed
	case au.end.CutOff != "", v.decision != nil && v.decision.Verdict == review.Blocked:
		return StatusBlocked
	case failing:
		return StatusChanges
	case v.decision != nil && v.decision.Verdict == review.ChangesRequested:
		return StatusChanges
	case v.decision != nil:
		return StatusApproved
	case !v.patch.Empty():
		return StatusUnreviewed
	case a.used() > 0:
		return StatusReadOnly
	}
	return StatusAnswered
}

// used is how many tool calls were made, also before an interruption.
func (a *attempt) used() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.tools.Total
}

// fill adds what is known in the end.
func (r *FinalReport) fill(a *attempt, au *author, v *verdict) {
	for i := range a.results {
		res := &a.results[i]
		r.Routing.Workers = append(r.Routing.Workers, ReportWorker{res.Role, PhaseSupport, res.Status, res.Model, res.CutOff})
		if res.Status != route.Completed {
			r.warn("%s is %s: %s", res.Role, res.state(), firstLine(res.Error))
		}
	}
	status := route.Completed
	if au.err != nil {
		status = route.Failed
	}
	r.Routing.Workers = append(r.Routing.Workers, ReportWorker{au.worker.Role, PhasePrimary, status, au.end.Model, au.end.CutOff})
	r.Todos, r.Fixes, r.Checks, r.Review = append([]route.Todo{}, a.todos...), v.fixes, v.checks, v.decision
	if !v.patch.Empty() {
		r.Patch = &v.patch
	}
	a.mu.Lock()
	r.Metrics.Tools = a.tools
	a.mu.Unlock()
	r.warnings(a, au, v)
}

func (r *FinalReport) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

func (r *FinalReport) warnings(a *attempt, au *author, v *verdict) {
	failing := v.checks != nil && len(v.checks.Failing()) > 0
	asked := v.decision != nil && v.decision.Verdict == review.ChangesRequested
	if v.patch.Empty() && a.plan.Route.RequiresReview {
		r.warn("nothing was changed")
	}
	if failing {
		r.warn("checks fail: %s", strings.Join(v.checks.Failing(), ", "))
	}
	if v.checks != nil && v.checks.Status == check.Skipped {
		r.warn("no checks ran: %s", v.checks.Reason)
	}
	if len(a.left) > 0 {
		r.warn("the checks left new files that git does not ignore, as %s", a.left[0].Path)
	}
	if v.decision != nil && v.decision.Verdict == review.Blocked {
		r.warn("the review blocked the change")
	}
	if d := v.decision; d != nil && d.Independence.Level == review.None {
		r.warn("the reviewer is the model that wrote the change")
	}
	if (failing || asked) && v.fixes >= a.Mode.Fixes {
		r.warn("all %d fixes of this mode were used", a.Mode.Fixes)
	}
	if au.end.CutOff != "" {
		r.warn("the primary's answer is cut off: %s", au.end.CutOff)
	}
}

// end records the report and that the run is over.
func (a *attempt) end(r FinalReport) error {
	a.mu.Lock()
	count := a.tools
	a.mu.Unlock()
	if err := a.note(RecordToolCount, count); err != nil {
		return err
	}
	if a.Books != nil {
		r.Metrics.Tokens = a.Books(a.req.Run)
	}
	if err := a.note(RecordReport, ReportRecord{a.req.Run, r}); err != nil {
		return err
	}
	a.final = r
	return a.note(RecordRunEnd, RunEnd{Run: a.req.Run, Summary: r.Summary, Workers: append([]ExecutedResult{}, a.results...), Report: r})
}

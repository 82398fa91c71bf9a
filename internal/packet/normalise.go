package packet

import (
	"encoding/json"
	"strings"

	"github.com/quire-agent/quire/internal/route"
	"github.com/quire-agent/quire/internal/x/loose"
)

// A reply is what a worker answered, as far as it could be read.
type reply struct {
	Progress      replyProgress        `json:"progress"`
	Summary       loose.Text           `json:"summary"`
	Artifacts     loose.List[replyRef] `json:"artifacts"`
	Risks         loose.Strings        `json:"risks"`
	NextQuestions loose.Strings        `json:"nextQuestions"`
}

// A replyProgress is read by hand: a progress that is no object is none.
type replyProgress struct {
	Status  loose.Text    `json:"status"`
	Summary loose.Text    `json:"summary"`
	Step    loose.Text    `json:"currentStep"`
	Steps   loose.Strings `json:"completedSteps"`
	Percent loose.Number  `json:"percent"`
}

// UnmarshalJSON never fails.
func (p *replyProgress) UnmarshalJSON(raw []byte) error {
	type plain replyProgress
	var v plain
	if json.Unmarshal(raw, &v) != nil {
		v = plain{}
	}
	*p = replyProgress(v)
	return nil
}

type replyRef struct {
	Kind  loose.Text `json:"kind"`
	URI   loose.Text `json:"uri"`
	Label loose.Text `json:"label"`
}

// Nothing is the summary of a result that says nothing.
const Nothing = "The agent ended without a report."

// Normalise makes a result of what a model answered to a handoff: a JSON object,
// alone, in a fence or in prose; otherwise the whole text is the summary. Ids are
// those of the handoff. References without a known kind or a uri are left out, and
// so are items of lists that are no texts; an unknown status is completed. A result
// that is cut off is blocked, whatever it says, and so is an empty one.
func Normalise(h *Handoff, text string, cut CutOff) Result {
	r := Result{Handoff: h.ID, Task: h.Task.ID, Parent: h.Task.Parent, CutOff: cut}
	r.fill(text)
	r.Artifacts, r.Risks, r.NextQuestions = list(r.Artifacts), list(r.Risks), list(r.NextQuestions)
	if r.Summary == "" {
		r.Summary, r.Progress.Status = Nothing, route.Blocked
	}
	if cut != "" && r.Progress.Status != route.Failed {
		r.Progress.Status = route.Blocked
	}
	return r
}

// Broken is the result of a job that could not be done.
func Broken(h *Handoff, status route.Status, why string) Result {
	return Result{
		Handoff: h.ID, Task: h.Task.ID, Parent: h.Task.Parent, Progress: TaskProgress{Status: status, Summary: why},
		Summary: why, Artifacts: []ContextRef{}, Risks: []string{why}, NextQuestions: []string{},
	}
}

// list is a list that is written as one also when it is empty.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

// fill takes over what a text says.
func (r *Result) fill(text string) {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	raw, ok := loose.Object(text)
	var got reply
	if !ok || json.Unmarshal(raw, &got) != nil || !got.speaks() {
		r.Summary, r.Progress = text, TaskProgress{Status: route.Completed}
		return
	}
	r.Progress = got.Progress.progress()
	r.Summary = string(got.Summary)
	if r.Summary == "" {
		r.Summary = r.Progress.Summary
	}
	r.Risks, r.NextQuestions = got.Risks, got.NextQuestions
	for _, a := range got.Artifacts {
		if kind := RefKind(a.Kind); kind.known() && a.URI != "" {
			r.Artifacts = append(r.Artifacts, ContextRef{Kind: kind, URI: string(a.URI), Label: string(a.Label)})
		}
	}
}

// speaks reports whether an object is a result and not another one that the text
// happens to hold.
func (g *reply) speaks() bool {
	return g.Summary != "" || g.Progress.Summary != "" || g.Progress.Status != "" || len(g.Risks)+len(g.NextQuestions)+len(g.Artifacts) > 0
}

func (p *replyProgress) progress() TaskProgress {
	t := TaskProgress{Status: route.Completed, Summary: string(p.Summary), CurrentStep: string(p.Step), CompletedSteps: p.Steps}
	switch s := route.Status(p.Status); s {
	case route.Pending, route.Running, route.Blocked, route.Failed:
		t.Status = s
	}
	if percent, ok := p.Percent.Clamped(0, 100); ok {
		t.Percent = &percent
	}
	return t
}

package review

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/x/loose"
)

// A Verdict is what a review comes to.
type Verdict string

// The verdicts.
const (
	Approved         Verdict = "approved"
	ChangesRequested Verdict = "changes_requested"
	Blocked          Verdict = "blocked"
)

// A Severity says how bad a finding is.
type Severity string

// The severities.
const (
	Low    Severity = "low"
	Medium Severity = "medium"
	High   Severity = "high"
)

// A Finding is one thing that is wrong.
type Finding struct {
	Severity   Severity `json:"severity"`
	Issue      string   `json:"issue"`
	File       string   `json:"file,omitempty"`
	Line       int      `json:"line,omitempty"` // from 1, 0: none
	Evidence   string   `json:"evidence,omitempty"`
	Suggestion string   `json:"suggestion,omitempty"`
}

// A Coverage says how far a changed file was looked at.
type Coverage struct {
	File  string `json:"file"`
	Depth Depth  `json:"depth"`
}

// A Depth says how far something was looked at.
type Depth string

// The depths.
const (
	Inspected Depth = "inspected"
	Partially Depth = "partially_inspected"
	Skipped   Depth = "skipped"
)

// A Decision is a review's result.
type Decision struct {
	Verdict         Verdict      `json:"decision"`
	Confidence      *float64     `json:"confidence,omitempty"` // 0 to 1, nil where the reviewer did not say
	Rationale       string       `json:"rationale"`
	Findings        []Finding    `json:"findings"`
	RequiredChanges []string     `json:"requiredChanges"`
	BlockingIssues  []string     `json:"blockingIssues"`
	ResidualRisks   []string     `json:"residualRisks"`
	Coverage        []Coverage   `json:"coverage"`
	Mode            Mode         `json:"mode"`
	Independence    Independence `json:"independence"`
	Tier            string       `json:"riskTier"`
}

// A reply is what a reviewer sent, as far as it could be read.
type reply struct {
	Decision        loose.Text               `json:"decision"`
	Confidence      loose.Number             `json:"confidence"`
	Rationale       loose.Text               `json:"rationale"`
	Summary         loose.Text               `json:"summary"`
	Progress        progress                 `json:"progress"`
	Findings        loose.List[replyFinding] `json:"findings"`
	RequiredChanges loose.Strings            `json:"requiredChanges"`
	BlockingIssues  loose.Strings            `json:"blockingIssues"`
	ResidualRisks   loose.Strings            `json:"residualRisks"`
	Risks           loose.Strings            `json:"risks"`
	Coverage        loose.List[replyCover]   `json:"coverage"`
}

// A progress may be missing or of another type.
type progress struct{ status string }

// UnmarshalJSON never fails.
func (p *progress) UnmarshalJSON(raw []byte) error {
	var v struct {
		Status loose.Text `json:"status"`
	}
	if json.Unmarshal(raw, &v) == nil {
		p.status = string(v.Status)
	}
	return nil
}

type replyFinding struct {
	Severity   loose.Text   `json:"severity"`
	Issue      loose.Text   `json:"issue"`
	File       loose.Text   `json:"file"`
	Line       loose.Number `json:"line"`
	Evidence   loose.Text   `json:"evidence"`
	Suggestion loose.Text   `json:"suggestion"`
}

type replyCover struct {
	File   loose.Text `json:"file"`
	Depth  loose.Text `json:"depth"`
	Status loose.Text `json:"status"`
}

// A Work is how the reviewer's worker ended, which decides where the reply does
// not. CutOff is why its text is not whole, "" where it is: a review that was cut
// off is blocked, whatever it says.
type Work struct {
	Text   string
	Failed bool // the worker failed or was blocked
	CutOff string
}

// Parse reads a reviewer's reply. A reply without a decision asks for changes, or
// is blocked where the worker did not come to its end.
func Parse(w Work) Decision {
	raw, ok := loose.Object(w.Text)
	var got reply
	if ok && json.Unmarshal(raw, &got) != nil {
		got = reply{}
	}
	if !ok {
		got.Summary = loose.Text(strings.TrimSpace(w.Text))
	}
	d := got.decision()
	failed := w.Failed || slices.Contains([]string{"blocked", "failed"}, got.Progress.status)
	switch {
	case w.CutOff != "":
		d.Verdict = Blocked
		d.BlockingIssues = append(d.BlockingIssues, "The review was cut off ("+w.CutOff+").")
	case d.Verdict == "" && failed:
		d.Verdict = Blocked
		d.BlockingIssues = append(d.BlockingIssues, "The reviewer did not come to a decision.")
	case d.Verdict == "":
		d.Verdict = ChangesRequested
		d.RequiredChanges = append(d.RequiredChanges, "The review gave no decision; it has to be repeated.")
	}
	return d
}

func (r *reply) decision() Decision {
	d := Decision{
		Verdict: verdict(r.Decision), Rationale: string(r.Rationale), Findings: []Finding{}, Coverage: []Coverage{},
		RequiredChanges: texts(r.RequiredChanges), BlockingIssues: texts(r.BlockingIssues), ResidualRisks: texts(r.ResidualRisks, r.Risks),
	}
	if v, ok := r.Confidence.Clamped(0, 1); ok {
		d.Confidence = &v
	}
	if d.Rationale == "" {
		d.Rationale = string(r.Summary)
	}
	for _, f := range r.Findings {
		if f.Issue != "" {
			d.Findings = append(d.Findings, f.finding())
		}
	}
	for _, c := range r.Coverage {
		if c.File != "" {
			d.Coverage = append(d.Coverage, c.coverage())
		}
	}
	return d
}

func verdict(t loose.Text) Verdict {
	v := Verdict(strings.ToLower(strings.NewReplacer(" ", "_", "-", "_").Replace(string(t))))
	if slices.Contains([]Verdict{Approved, ChangesRequested, Blocked}, v) {
		return v
	}
	return ""
}

func (f *replyFinding) finding() Finding {
	out := Finding{Severity: Severity(strings.ToLower(string(f.Severity))), Issue: string(f.Issue), File: string(f.File), Evidence: string(f.Evidence), Suggestion: string(f.Suggestion)}
	if !slices.Contains([]Severity{Low, Medium, High}, out.Severity) {
		out.Severity = Medium
	}
	const mostLines = 1 << 30
	if n := f.Line.Value; f.Line.Known && n >= 1 && n < mostLines && n == float64(int(n)) {
		out.Line = int(n)
	}
	return out
}

// coverage of a file that says nothing usable counts as skipped.
func (c *replyCover) coverage() Coverage {
	depth := Depth(strings.ToLower(string(c.Depth)))
	if depth == "" {
		depth = Depth(strings.ToLower(string(c.Status)))
	}
	if !slices.Contains([]Depth{Inspected, Partially, Skipped}, depth) {
		depth = Skipped
	}
	return Coverage{string(c.File), depth}
}

// texts joins lists, each text once.
func texts(lists ...loose.Strings) []string {
	out := []string{}
	for _, l := range lists {
		for _, t := range l {
			if !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	return out
}

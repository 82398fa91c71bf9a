package review

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// The tiers of risk, by their names on the wire.
const (
	TierLow      = "low"
	TierMedium   = "medium"
	TierHigh     = "high"
	TierCritical = "critical"
)

// A Mode says how a review is made.
type Mode string

// The modes.
const (
	Normal  Mode = "normal"
	Strict  Mode = "strict"
	Hostile Mode = "hostile"
)

// ModeOf is the mode for a tier of risk.
func ModeOf(tier string) Mode {
	switch tier {
	case TierHigh:
		return Strict
	case TierCritical:
		return Hostile
	default:
		return Normal
	}
}

// A Level says how far a reviewer is from the author.
type Level string

// The levels.
const (
	Strong   Level = "strong"   // another provider and family
	Moderate Level = "moderate" // another provider or family
	Weak     Level = "weak"     // another model of the same family
	None     Level = "none"     // the same model
)

// Independence is how far a reviewer is from the author.
type Independence struct {
	Level        Level `json:"level"`
	SameModel    bool  `json:"sameModel"`
	SameProvider bool  `json:"sameProvider"`
	SameFamily   bool  `json:"sameFamily"`
}

// A Model is the part of a model's name that independence is judged by.
type Model struct {
	ID       string // "provider/name", or only its name
	Provider string // who serves it; "" is taken from the id
}

// Between is the independence of a reviewer from the author of a change.
func Between(author, reviewer Model) Independence {
	i := Independence{
		SameModel: base(author.ID) == base(reviewer.ID), SameProvider: author.provider() == reviewer.provider(), SameFamily: family(author.ID) == family(reviewer.ID),
	}
	switch {
	case i.SameModel:
		i.Level = None
	case i.SameFamily && i.SameProvider:
		i.Level = Weak
	case i.SameFamily || i.SameProvider:
		i.Level = Moderate
	default:
		i.Level = Strong
	}
	return i
}

func (m Model) provider() string {
	if m.Provider != "" {
		return m.Provider
	}
	if p, _, ok := strings.Cut(m.ID, "/"); ok {
		return p
	}
	return ""
}

// base is a model's name without who serves it: one model served twice is one.
func base(id string) string { return strings.ToLower(path.Base(id)) }

// family is the first word of a model's name: models of one maker err alike.
func family(id string) string {
	name := base(id)
	end := strings.IndexFunc(name, func(r rune) bool { return r == '-' || r == '.' || r == ':' || r >= '0' && r <= '9' })
	if end > 0 {
		name = name[:end]
	}
	return name
}

// Evidence is what a decision is held against.
type Evidence struct {
	Tier         string
	Independence Independence
	Files        []string // that were changed
	Truncated    bool     // the diff that the reviewer saw was not whole
	Missing      []string // parts of the evidence that could not be made
	Failing      []string // names of checks that failed
	NoChecks     string   // why no checks ran, "" where some did
}

// selfConfidence is the most that a review by the author's own model is sure of.
const selfConfidence = 0.5

// Gate is a decision as it stands against the evidence: it can become stricter, and
// never milder. A blocked one stays blocked.
func Gate(d Decision, e Evidence) Decision {
	d.Mode, d.Tier, d.Independence = ModeOf(e.Tier), e.Tier, e.Independence
	d.Findings, d.RequiredChanges = slices.Clone(d.Findings), slices.Clone(d.RequiredChanges)
	d.BlockingIssues, d.ResidualRisks = slices.Clone(d.BlockingIssues), slices.Clone(d.ResidualRisks)
	d.checks(e)
	d.artifacts(e)
	d.covered(e)
	d.independent(e)
	d.consistent()
	return d
}

// ask asks for a change.
func (d *Decision) ask(what string) {
	if d.Verdict != Blocked {
		d.Verdict = ChangesRequested
	}
	if !slices.Contains(d.RequiredChanges, what) {
		d.RequiredChanges = append(d.RequiredChanges, what)
	}
}

func (d *Decision) risk(what string) {
	if !slices.Contains(d.ResidualRisks, what) {
		d.ResidualRisks = append(d.ResidualRisks, what)
	}
}

func (d *Decision) checks(e Evidence) {
	if e.NoChecks != "" {
		d.risk("No checks ran: " + e.NoChecks + ".")
	}
	if len(e.Failing) == 0 {
		return
	}
	what := "These checks fail: " + strings.Join(e.Failing, ", ") + "."
	d.Findings = append(d.Findings, Finding{Severity: High, Issue: what})
	d.ask(what)
}

func (d *Decision) artifacts(e Evidence) {
	if e.Truncated {
		d.risk("The diff was too long to be shown whole.")
	}
	for _, m := range e.Missing {
		d.ask("Evidence is missing: " + m + ".")
	}
}

// covered holds that a risky change was looked at, every file of it.
func (d *Decision) covered(e Evidence) {
	var unseen []string
	for _, f := range e.Files {
		if !slices.ContainsFunc(d.Coverage, func(c Coverage) bool { return c.File == f && c.Depth == Inspected }) {
			unseen = append(unseen, f)
		}
	}
	if len(unseen) == 0 {
		return
	}
	const most = 10
	list := strings.Join(unseen[:min(len(unseen), most)], ", ")
	if n := len(unseen) - most; n > 0 {
		list += fmt.Sprintf(" and %d more", n)
	}
	if risky(e.Tier) {
		d.ask("Not inspected by the review: " + list + ".")
		return
	}
	d.risk("Not inspected by the review: " + list + ".")
}

func risky(tier string) bool { return tier == TierHigh || tier == TierCritical }

// independent holds that nobody approves their own risky change.
func (d *Decision) independent(e Evidence) {
	i := e.Independence
	if i.SameModel && e.Tier != TierLow && d.Confidence != nil && *d.Confidence > selfConfidence {
		limited := selfConfidence
		d.Confidence = &limited
	}
	switch {
	case e.Tier == TierCritical && i.SameProvider:
		d.Verdict = Blocked
		d.BlockingIssues = append(d.BlockingIssues, "A critical change needs a reviewer of another provider.")
	case risky(e.Tier) && i.SameModel:
		d.ask("A change of high risk needs a reviewer that is not the model that wrote it.")
	case i.SameModel:
		d.risk("The reviewer is the model that wrote the change.")
	}
}

// consistent holds that an approval does not name what stands against it.
func (d *Decision) consistent() {
	if d.Verdict != Approved {
		return
	}
	if len(d.BlockingIssues) > 0 {
		d.Verdict = Blocked
	} else if len(d.RequiredChanges) > 0 {
		d.Verdict = ChangesRequested
	}
}

// Text is a decision as it goes into a report.
func (d *Decision) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Decision: %s\n", d.Verdict)
	if d.Rationale != "" {
		b.WriteString("Rationale: " + d.Rationale + "\n")
	}
	list(&b, "Required changes", d.RequiredChanges)
	list(&b, "Blocking issues", d.BlockingIssues)
	var found []string
	for _, f := range d.Findings {
		found = append(found, f.text())
	}
	list(&b, "Findings", found)
	list(&b, "Residual risks", d.ResidualRisks)
	return b.String()
}

func list(b *strings.Builder, head string, items []string) {
	if len(items) == 0 {
		return
	}
	b.WriteString(head + ":\n")
	for _, i := range items {
		b.WriteString("- " + i + "\n")
	}
}

func (f *Finding) text() string {
	text := string(f.Severity) + ": " + f.Issue
	switch {
	case f.File != "" && f.Line > 0:
		text += fmt.Sprintf(" (%s:%d)", f.File, f.Line)
	case f.File != "":
		text += " (" + f.File + ")"
	}
	if f.Suggestion != "" {
		text += " — " + f.Suggestion
	}
	return text
}

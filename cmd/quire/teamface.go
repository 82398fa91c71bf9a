package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/quire-agent/quire/internal/brain"
	"github.com/quire-agent/quire/internal/check"
	"github.com/quire-agent/quire/internal/run"
)

// A teamReport is how a team's run ended, as JSON has it. Its fields keep their
// meaning.
type teamReport struct {
	Type    string `json:"type"` // report
	Session string `json:"session"`
	brain.FinalReport
}

// err is what the exit code says.
func (e *teamReport) err() error {
	again := fmt.Sprintf("`quire run --session %s PROMPT` goes on", e.Session)
	switch e.Status {
	case brain.StatusFailed:
		return &problem{fmt.Errorf("no model could do it: %s", e.Error), again, exitProvider}
	case brain.StatusBlocked, brain.StatusChanges:
		return &problem{fmt.Errorf("the run ended %s", e.Status), again, exitCutOff}
	case brain.StatusClarify:
		return &problem{fmt.Errorf("the run waits for an answer"), fmt.Sprintf("`quire run --session %s ANSWER` gives it", e.Session), exitCutOff}
	}
	return nil
}

// A teamFace shows a team's run as it goes on. What it shows is masked.
type teamFace interface {
	begin(t *team) error
	event(e brain.Event)
	end(e teamReport) error
}

func (r *agentRun) teamFace() (teamFace, error) {
	switch r.output {
	case outputText:
		return &teamText{inv: r.invocation}, nil
	case outputJSON:
		return &teamJSON{inv: r.invocation}, nil
	case outputStream:
		return &teamJSON{inv: r.invocation, stream: true}, nil
	default:
		return nil, unusable(fmt.Errorf("%q is no form of output", r.output), "use one of text, json, stream-json")
	}
}

// A teamText writes for people: the report's text to standard output, what happens
// to standard error.
type teamText struct{ inv *invocation }

func (f *teamText) begin(*team) error { return nil }

func (f *teamText) say(format string, args ...any) {
	fmt.Fprintln(f.inv.err, f.inv.mask(fmt.Sprintf(format, args...)))
}

func (f *teamText) event(e brain.Event) {
	if line := eventLine(e); line != "" {
		f.say("%s", line)
	}
}

// eventLine is an event in one line, "" for one that people need not see.
func eventLine(e brain.Event) string {
	switch e := e.(type) {
	case brain.Planned:
		return planLine(&e.Plan)
	case brain.Started:
		return fmt.Sprintf("%s begins: %s", who(&e.Scope), clip(firstLine(e.Goal), 160))
	case brain.Happened:
		return happened(&e)
	case brain.Ended:
		return fmt.Sprintf("%s %s: %s", who(&e.Scope), e.Result.Status, clip(firstLine(e.Result.Summary), 160))
	case brain.Checked:
		return "checks: " + checkLine(&e.Summary)
	case brain.Reviewed:
		return fmt.Sprintf("review: %s: %s", e.Decision.Verdict, clip(firstLine(e.Decision.Rationale), 160))
	case brain.Fixing:
		return fmt.Sprintf("fix %d: %s", e.Turn, e.Trigger)
	case brain.Merged:
		return fmt.Sprintf("merged %s's changes: %d %s, %d %s", e.Role, len(e.Files), plural(len(e.Files), "file", "files"), len(e.Conflicts), plural(len(e.Conflicts), "conflict", "conflicts"))
	case brain.FellBack:
		next := "no other model is left"
		if e.Again {
			next = "the next model of the chain is tried"
		}
		return fmt.Sprintf("%s: %s failed (%s); %s", who(&e.Scope), e.Model, clip(firstLine(e.Error), 160), next)
	}
	return ""
}

func who(s *brain.Scope) string {
	name := string(s.Role)
	if s.Phase == brain.PhasePrimary {
		name += " (primary)"
	}
	return name
}

// happened is what happens in an agent's stream, as far as people want to see it.
func happened(e *brain.Happened) string {
	switch ev := e.Event.(type) {
	case run.Acting:
		if ev.Denied != "" {
			return fmt.Sprintf("  %s: %s was not permitted: %s", who(&e.Scope), clip(shownCall(ev.Call), 120), ev.Denied)
		}
		return fmt.Sprintf("  %s: %s", who(&e.Scope), clip(shownCall(ev.Call), 140))
	case run.Planned:
		if ev.Plan.Kind != "" {
			return fmt.Sprintf("  %s: epoch: %s; %d tokens become %d", who(&e.Scope), ev.Plan.Reason, ev.Plan.Before, ev.Plan.After)
		}
	}
	return ""
}

func planLine(p *brain.Plan) string {
	var names []string
	for _, w := range p.Workers {
		if w.Role != p.Route.Primary {
			names = append(names, string(w.Role))
		}
	}
	line := fmt.Sprintf("plan (%s): %s", p.Route.Source, p.Route.Primary)
	if len(names) > 0 {
		line += " with " + strings.Join(names, ", ")
	}
	if p.Route.Reason != "" {
		line += ": " + clip(firstLine(p.Route.Reason), 160)
	}
	return line
}

func checkLine(s *check.Summary) string {
	line := string(s.Status)
	if s.Reason != "" {
		line += ": " + s.Reason
	}
	for _, r := range s.Results {
		line += fmt.Sprintf("; %s %s", r.Name, r.Status)
	}
	return line
}

func (f *teamText) end(e teamReport) error {
	if text := strings.TrimSpace(e.Summary); text != "" {
		if _, err := io.WriteString(f.inv.out, f.inv.mask(text)+"\n"); err != nil {
			return err
		}
	}
	for _, line := range e.lines() {
		f.say("%s", line)
	}
	return nil
}

// lines are what a report says besides its text.
func (e *teamReport) lines() []string {
	routing := fmt.Sprintf("Routing: %s -> %s", e.Routing.Source, e.Routing.Primary)
	if e.Routing.Confidence != nil {
		routing += fmt.Sprintf(" (%.0f%%)", 100**e.Routing.Confidence)
	}
	list := []string{
		"Status: " + string(e.Status), "Task: " + clip(firstLine(e.Task), 160), fmt.Sprintf("Brain: %s, mode %s", e.Brain.ID, e.Brain.Mode), routing,
	}
	var workers []string
	for _, w := range e.Routing.Workers {
		workers = append(workers, fmt.Sprintf("%s (%s, %s)", w.Role, w.Phase, w.Status))
	}
	if len(workers) > 0 {
		list = append(list, "Workers: "+strings.Join(workers, ", "))
	}
	if p := e.Patch; p != nil {
		list = append(list, fmt.Sprintf("Patch: %d %s, +%d -%d, %d new", p.Stats.Files, plural(p.Stats.Files, "file", "files"), p.Stats.Insertions, p.Stats.Deletions, p.Stats.Untracked))
	}
	if e.Checks != nil {
		list = append(list, "Checks: "+checkLine(e.Checks))
	}
	if d := e.Review; d != nil {
		list = append(list, fmt.Sprintf("Review: %s (%s, risk %s, independence %s)", d.Verdict, d.Mode, d.Tier, d.Independence.Level))
	}
	if e.Fixes > 0 {
		list = append(list, fmt.Sprintf("Fixes: %d", e.Fixes))
	}
	list = append(list, "Session: "+e.Session+e.tokens())
	for _, w := range e.Warnings {
		list = append(list, "Warning: "+w)
	}
	if e.Status == brain.StatusAborted {
		list = append(list, "Go on: quire run --session "+e.Session+" --resume")
	}
	return list
}

func (e *teamReport) tokens() string {
	t := e.Metrics.Tokens
	if t == nil || t.Calls == 0 {
		return ""
	}
	text := fmt.Sprintf("; %d %s, %d tokens in (%d from the cache), %d out", t.Calls, plural(t.Calls, "call", "calls"), t.Input+t.CacheRead+t.CacheWrite, t.CacheRead, t.Output)
	if t.Cost != nil {
		text += fmt.Sprintf(", $%.4f", *t.Cost)
	}
	return text
}

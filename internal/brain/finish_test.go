package brain

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/check"
	"github.com/quire-agent/quire/internal/packet"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/review"
	"github.com/quire-agent/quire/internal/role"
	"github.com/quire-agent/quire/internal/route"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/tool"
)

// approving approves, with every file looked at.
func approving(files ...string) string {
	cover := []string{}
	for _, f := range files {
		cover = append(cover, fmt.Sprintf(`{"file": %q, "depth": "inspected"}`, f))
	}
	return `{"decision": "approved", "confidence": 0.9, "rationale": "it is right", "coverage": [` + strings.Join(cover, ",") + `]}`
}

const (
	asking   = `{"decision": "changes_requested", "rationale": "not yet", "requiredChanges": ["name the case"]}`
	blocking = `{"decision": "blocked", "rationale": "never", "blockingIssues": ["it cannot be done so"]}`
)

// reviewing answers as the reviewer with the given replies, one after the other.
func reviewing(replies ...string) func(context.Context, turn) run.Outcome {
	n := 0
	return func(_ context.Context, tu turn) run.Outcome {
		if tu.Phase != PhaseReview {
			return says(fmt.Sprintf("the report of %s, turn %d", tu.Role, tu.Turn))
		}
		n++
		return says(replies[min(n, len(replies))-1])
	}
}

// apart gives the reviewer a model of another family.
func (s *stage) apart() *stage {
	s.Model.Roles = map[route.Role]role.Policy{"review": {Model: "q/other-1"}}
	return s
}

// Check D10, failures.md B34: how checks and review decide, how often the primary
// is asked again, and what the run is called in the end.
func TestFixLoop(t *testing.T) {
	for _, c := range []struct {
		name, mode string
		review     bool
		patches    []check.Patch
		checks     []check.Summary
		replies    []string
		status     Status
		turns      int // of the primary
		reviews    int
	}{
		{"nothing changed", "auto", false, nil, nil, nil, StatusAnswered, 1, 0},
		{"nothing changed, a review was planned", "auto", true, nil, nil, nil, StatusAnswered, 1, 0},
		{"changed, nobody looked", "auto", false, []check.Patch{patch("a.txt")}, []check.Summary{passed()}, nil, StatusUnreviewed, 1, 0},
		{"approved", "auto", true, []check.Patch{patch("a.txt")}, []check.Summary{passed()}, []string{approving("a.txt")}, StatusApproved, 1, 1},
		{"mended for the checks", "auto", true, []check.Patch{patch("a.txt")}, []check.Summary{failing("test"), passed()}, []string{approving("a.txt")}, StatusApproved, 2, 1},
		{"checks fail to the end, auto", "auto", true, []check.Patch{patch("a.txt")}, []check.Summary{failing("test")}, []string{approving("a.txt")}, StatusChanges, 2, 1},
		{"checks fail to the end, radical", "radical", true, []check.Patch{patch("a.txt")}, []check.Summary{failing("test")}, []string{approving("a.txt")}, StatusChanges, 3, 1},
		{"mended for the review", "auto", true, []check.Patch{patch("a.txt")}, []check.Summary{passed()}, []string{asking, approving("a.txt")}, StatusApproved, 2, 2},
		{"the review is never content", "auto", true, []check.Patch{patch("a.txt")}, []check.Summary{passed()}, []string{asking}, StatusChanges, 2, 2},
		{"blocked", "radical", true, []check.Patch{patch("a.txt")}, []check.Summary{passed()}, []string{blocking}, StatusBlocked, 1, 1},
		{"no decision", "auto", true, []check.Patch{patch("a.txt")}, []check.Summary{passed()}, []string{"It looks fine to me."}, StatusChanges, 2, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, c.mode, routed(c.review, nil), reviewing(c.replies...)).apart()
			s.site.patches, s.site.checks = c.patches, c.checks
			prompt := "change it"
			if !c.review {
				prompt = "look into it" // words that want no review by themselves
			}
			r := s.run(t, prompt)
			if r.Status != c.status {
				t.Errorf("the status is %s, want %s", r.Status, c.status)
			}
			if n := len(s.crew.of("backend")); n != c.turns || r.Fixes != c.turns-1 {
				t.Errorf("the primary had %d turns and %d fixes, want %d turns", n, r.Fixes, c.turns)
			}
			if n := len(s.crew.of("review")); n != c.reviews {
				t.Errorf("there were %d reviews, want %d", n, c.reviews)
			}
		})
	}
}

// failures.md B24: what failed runs first the next time, and the primary is shown
// what it printed.
func TestFixSeesTheEvidence(t *testing.T) {
	s := newStage(t, "auto", routed(true, nil), reviewing(approving("a.txt"))).apart()
	s.site.patches, s.site.checks = []check.Patch{patch("a.txt")}, []check.Summary{failing("test"), passed()}
	s.run(t, "change it")
	if got := s.site.asked; len(got) != 2 || len(got[0]) != 0 || len(got[1]) != 1 || got[1][0] != "test" {
		t.Errorf("the checks were told of %v", got)
	}
	if text := s.crew.of("backend")[1].text; !strings.Contains(text, "want 4, got 5") {
		t.Errorf("the primary is asked again with %q", text)
	}
	if f := of[Fix](t, s.book, RecordFix); len(f) != 1 || f[0].Trigger != "checks failed: test" {
		t.Errorf("the fixes are %+v", f)
	}
}

// Check D11: a change of a sensitive file gets a reviewer though nobody planned one.
func TestSensitiveFilesAreReviewed(t *testing.T) {
	s := newStage(t, "auto", routed(false, nil), reviewing(approving("src/auth/login.go"))).apart()
	s.site.patches = []check.Patch{patch("src/auth/login.go")}
	c := passed()
	c.Review = true // as package check says of such a file
	s.site.checks = []check.Summary{c}
	r := s.run(t, "look into it")
	if len(s.crew.of("review")) != 1 || r.Review == nil || r.Review.Tier != "high" {
		t.Errorf("reviewed %d times, the review is %+v", len(s.crew.of("review")), r.Review)
	}
	if plans := of[ContextPlan](t, s.book, RecordContextPlan); len(plans) != 2 || plans[1].Plan.worker("review") == nil {
		t.Error("the plan with the reviewer is not recorded")
	}
}

// Nobody approves their own change where the risk is high.
func TestSameModelCannotApproveHighRisk(t *testing.T) {
	s := newStage(t, "auto", routed(true, nil), reviewing(approving("src/auth/login.go")))
	s.site.patches = []check.Patch{patch("src/auth/login.go")}
	c := passed()
	c.Review = true
	s.site.checks = []check.Summary{c}
	r := s.run(t, "change it")
	if r.Status != StatusChanges || r.Review.Independence.Level != review.None {
		t.Errorf("%s with independence %s", r.Status, r.Review.Independence.Level)
	}
}

// failures.md B28: each review has a stream of its own, and sees the change and not
// the author's context.
func TestReviewerIsApart(t *testing.T) {
	s := newStage(t, "auto", routed(true, []string{"librarian"}), reviewing(asking, approving("a.txt"))).apart()
	s.site.patches, s.site.checks = []check.Patch{patch("a.txt")}, []check.Summary{passed()}
	s.run(t, "change it")
	got := s.crew.of("review")
	if got[0].Session == got[1].Session || got[0].Task == got[1].Task {
		t.Error("two reviews share a stream")
	}
	if text := got[0].text; !strings.Contains(text, "-a\n+b") || !strings.Contains(text, "the report of librarian") || strings.Contains(text, "You are the primary") {
		t.Errorf("the reviewer is given %q", text)
	}
	if got[0].Tools != role.ToolsRead {
		t.Errorf("the reviewer may %s", got[0].Tools)
	}
}

// failures.md B10: what agents that support may do is a list by role, not a promise.
func TestToolsOfRoles(t *testing.T) {
	s := newStage(t, "radical", routed(false, []string{"librarian", "frontend"}), idle)
	s.run(t, "look")
	if got := s.crew.of("librarian")[0].Tools; got != role.ToolsRead {
		t.Errorf("the librarian may %s", got)
	}
	if got := s.crew.of("frontend")[0].Tools; got != role.ToolsRead {
		t.Errorf("who writes only where the plan says so may %s", got)
	}
	if got := s.crew.of(route.Router)[0].Tools; got != role.ToolsNone {
		t.Errorf("the router may %s", got)
	}
}

// A request that can be read in two ways is asked about before anybody works.
func TestClarification(t *testing.T) {
	plan := `{"role": "backend", "clarification": {"required": true, "reason": "two readings", "question": "哪一个？", "missing": ["which"],
	 "options": [{"id": "a", "label": "first", "description": "this"}, {"id": "b", "label": "second", "description": "that"}]}}`
	s := newStage(t, "auto", plan, idle)
	r := s.run(t, "改一下")
	if r.Status != StatusClarify || r.Clarification == nil || !strings.Contains(r.Summary, "1. first") || !strings.Contains(r.Summary, "请回答") {
		t.Errorf("%s: %q", r.Status, r.Summary)
	}
	if n := len(s.crew.turns); n != 1 {
		t.Errorf("%d agents worked", n-1)
	}
	for _, todo := range r.Todos {
		if todo.Status != route.Blocked {
			t.Errorf("%s is %s", todo.ID, todo.Status)
		}
	}
	if c := of[Clarification](t, s.book, RecordClarification); len(c) != 1 {
		t.Errorf("%d questions are recorded", len(c))
	}
}

// Where the router cannot be had the words decide, and the reason says so.
func TestHeuristicTakesOver(t *testing.T) {
	s := newStage(t, "auto", "", idle)
	s.crew.answer = func(_ context.Context, tu turn) run.Outcome {
		if tu.Phase == PhaseRouter {
			return breaks("down")
		}
		return says("done")
	}
	r := s.run(t, "fix the API error")
	if r.Routing.Source != route.ByHeuristic || !strings.Contains(r.Routing.Reason, "router") || r.Routing.Primary != "backend" {
		t.Errorf("routed by %s to %s: %s", r.Routing.Source, r.Routing.Primary, r.Routing.Reason)
	}
}

// failures.md B8: what a brain says of unsure plans and of small tasks has effect.
func TestRoutingPolicies(t *testing.T) {
	unsure := `{"role": "backend", "confidence": 0.2, "workers": [], "todos": []}`
	s := newStage(t, "radical", unsure, idle)
	s.run(t, "do something hard")
	if len(s.crew.of("oracle")) != 1 {
		t.Error("an unsure plan did not get the oracle")
	}
	s = newStage(t, "radical", unsure, idle)
	s.Model.Routing.Escalate = false
	s.run(t, "do something hard")
	if len(s.crew.of("oracle")) != 0 {
		t.Error("it got the oracle though the brain does not want that")
	}
	for cheap, want := range map[bool]string{true: "p/cheap", false: "p/planner"} {
		s = newStage(t, "auto", `{"role": "rush"}`, idle)
		s.Model.Planner.Model, s.Model.Routing.Cheap = "p/planner", cheap
		s.Model.Roles = map[route.Role]role.Policy{"rush": {Model: "p/cheap"}}
		s.run(t, "hello")
		if got := s.crew.of("rush")[0].Model; got != want {
			t.Errorf("small work with cheap models %t runs on %s, want %s", cheap, got, want)
		}
	}
}

// A primary that is cut off is blocked, and nothing is reviewed that is not whole.
func TestCutPrimary(t *testing.T) {
	s := newStage(t, "auto", routed(true, nil), func(_ context.Context, tu turn) run.Outcome {
		return run.Outcome{Stop: run.StopRounds, CutOff: string(packet.CutRounds), Text: "so far"}
	})
	s.site.patches, s.site.checks = []check.Patch{patch("a.txt")}, []check.Summary{passed()}
	r := s.run(t, "change it")
	if r.Status != StatusBlocked || r.Summary != "so far" || len(s.crew.of("review")) != 0 {
		t.Errorf("%s: %q", r.Status, r.Summary)
	}
}

// The records of a run come in the order in which readers expect them.
func TestRecordOrder(t *testing.T) {
	s := newStage(t, "auto", routed(true, []string{"librarian"}), reviewing(approving("a.txt"))).apart()
	s.site.patches, s.site.checks = []check.Patch{patch("a.txt")}, []check.Summary{passed()}
	s.run(t, "change it")
	var kinds []string
	for _, l := range s.book.lines {
		kinds = append(kinds, l.kind)
	}
	want := []string{
		RecordRequest, RecordAgent, RecordContextPlan, RecordTodoPlan, RecordPlanReview, RecordMessage, RecordTodoUpdate, RecordWorkerStart, RecordAgent,
		RecordMessage, RecordWorkerEnd, RecordTodoUpdate, RecordTodoUpdate, RecordAgent, RecordRunStart, RecordPrimaryEnd, RecordTodoUpdate, RecordCheck,
		RecordMessage, RecordTodoUpdate, RecordWorkerStart, RecordAgent, RecordMessage, RecordWorkerEnd, RecordTodoUpdate, RecordReviewArtifacts, RecordReview,
		RecordPatch, RecordToolCount, RecordReport, RecordRunEnd,
	}
	if got := strings.Join(kinds, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("the records are\n%s", got)
	}
}

// Roles that are given each answer by themselves: nobody plans, reviews or mends.
func TestForcedRoles(t *testing.T) {
	s := newStage(t, "radical", "", idle)
	s.Force = []route.Role{"backend", "qa", "oracle"}
	s.site.patches, s.site.checks = []check.Patch{patch("a.txt")}, []check.Summary{failing("test")}
	said := ""
	s.crew.answer = func(ctx context.Context, tu turn) run.Outcome {
		if tu.Phase == PhasePrimary {
			said, _ = s.Dispatch(ctx, DispatchArgs{Role: "security", Goal: "look"})
		}
		return says("the result of " + string(tu.Role))
	}
	r := s.run(t, "change it")
	if len(s.crew.of(route.Router)) != 0 || len(s.crew.of("qa")) != 1 || len(s.crew.of("oracle")) != 1 || len(s.crew.of("backend")) != 1 {
		t.Errorf("the turns are %+v", s.crew.turns)
	}
	if r.Status != StatusUnreviewed || r.Routing.Source != route.ByForce || s.site.ran != 0 || !strings.Contains(said, "were given") {
		t.Errorf("%s by %s, %d checks, %q", r.Status, r.Routing.Source, s.site.ran, said)
	}
}

// The router is told of models where there is a choice, and which of them see where
// there are images.
func TestRouterKnowsModels(t *testing.T) {
	s := newStage(t, "auto", routed(false, nil), idle)
	s.run(t, "look")
	if text := s.crew.of(route.Router)[0].text; strings.Contains(text, "p/m") {
		t.Error("it is told of the only model")
	}
	s = newStage(t, "auto", routed(false, nil), idle)
	s.Model.Roles = map[route.Role]role.Policy{"qa": {Model: "p/blind", Fallbacks: []string{"p/two"}}}
	if _, err := s.Run(t.Context(), "look", 1); err != nil {
		t.Fatal(err)
	}
	text := s.crew.of(route.Router)[0].text
	for _, want := range []string{"(models: p/blind, p/two)", "p/blind: text only", "p/two: sees images"} {
		if !strings.Contains(text, want) {
			t.Errorf("it is not told %q", want)
		}
	}
	if strings.Contains(text, "cannot take the images") {
		t.Error("a role that has a model that sees is said to have none")
	}
}

// What a run may do is recorded with how it will be judged, before anybody works.
func TestPlanReview(t *testing.T) {
	for _, review := range []bool{true, false} {
		s := newStage(t, "auto", routed(review, nil), idle)
		s.run(t, "look")
		got := of[PlanReview](t, s.book, RecordPlanReview)
		if len(got) != 1 || len(got[0].Validation.Criteria) != 1+len(got[0].Validation.Evidence)-2 || (len(got[0].Validation.Criteria) == 2) != review || got[0].Risks == nil {
			t.Errorf("review %t: %+v", review, got)
		}
	}
}

// What a tool was asked and what it said is recorded in short, on one line, without
// secrets and without half of a rune; the whole stands in the stream.
func TestToolRecordsAreSummaries(t *testing.T) {
	s := newStage(t, "auto", "", nil)
	s.Mask = func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") }
	s.crew.answer = func(_ context.Context, tu turn) run.Outcome {
		if tu.Phase == PhaseRouter {
			return says(routed(false, nil))
		}
		call := quire.Block{Part: quire.Part{Kind: quire.PartToolCall, Tool: "bash", ToolUse: "t1", Text: "{\"command\":\n \"login hunter2\"}"}}
		tu.Watch(run.Acting{Call: call})
		tu.Watch(run.Acted{Call: call, Result: tool.Result{Text: "hunter2\n" + strings.Repeat("港", 2_000)}})
		return says("done")
	}
	s.run(t, "look")
	got := of[ToolExecution](t, s.book, RecordToolExecution)
	if len(got) != 2 || got[0].Args != `{"command": "login ***"}` || got[1].Result != "*** "+strings.Repeat("港", 196)+"…" {
		t.Errorf("the records are %+v", got)
	}
	if p := of[ToolApproval](t, s.book, RecordToolApproval); len(p) != 1 || p[0].Args != got[0].Args {
		t.Errorf("the decisions are %+v", p)
	}
}

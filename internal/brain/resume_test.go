package brain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/check"
	"github.com/quire-agent/quire/internal/route"
	"github.com/quire-agent/quire/internal/run"
)

// whole is a run with everything in it: two workers, one that depends, a failing
// check, a review that asks for changes.
func whole(t *testing.T) *stage {
	s := newStage(t, "radical", routed(true, []string{"librarian", "qa", "oracle"}, "librarian>oracle"), nil).apart()
	s.site.patches = []check.Patch{patch("a.txt")}
	s.site.checks = []check.Summary{failing("test"), passed(), passed()}
	s.crew.answer = func(_ context.Context, tu turn) run.Outcome {
		switch {
		case tu.Phase == PhaseRouter:
			return says(routed(true, []string{"librarian", "qa", "oracle"}, "librarian>oracle"))
		case tu.Phase == PhaseReview && strings.HasSuffix(tu.Task, "-3"):
			return says(approving("a.txt"))
		case tu.Phase == PhaseReview:
			return says(asking)
		}
		return says("the result of " + string(tu.Role))
	}
	s.Mode.Parallel, s.Model.Routing.Parallel = 1, 1 // one after the other, so that the order is the same
	return s
}

// A run that is killed before any of its records goes on from there: what had ended
// is not done again, and the report is the same.
func TestResumeFromAnyRecord(t *testing.T) {
	first := whole(t)
	want := first.run(t, "change it")
	if want.Status != StatusApproved || want.Fixes != 2 {
		t.Fatalf("the run that is not killed ends %s with %d fixes", want.Status, want.Fixes)
	}
	total := len(first.book.lines)
	if total < 50 {
		t.Fatalf("only %d records", total)
	}
	for at := 1; at < total; at++ {
		killed := whole(t)
		n := 0
		killed.book.stop = func(string) bool { n++; return n > at }
		if _, err := killed.Run(t.Context(), "change it", 0); !errors.Is(err, errKilled) {
			t.Fatalf("record %d: the run ended with %v", at, err)
		}
		again := whole(t)
		again.book.lines = killed.book.lines
		again.History = killed.book.history(t)
		again.site.ran = len(of[CheckRecord](t, killed.book, RecordCheck))
		before := ended(t, killed.book)
		got, ok, err := again.Resume(t.Context(), again.History)
		if err != nil || !ok {
			t.Fatalf("record %d (%s): resumed %t, %v", at, first.book.lines[at].kind, ok, err)
		}
		if got.Status != want.Status || got.Summary != want.Summary || got.Fixes != want.Fixes || len(got.Routing.Workers) != len(want.Routing.Workers) {
			t.Errorf("record %d (%s): it ends %s, %d fixes, %d workers, with %q, want %q", at, first.book.lines[at].kind, got.Status, got.Fixes, len(got.Routing.Workers), got.Summary, want.Summary)
		}
		for _, tu := range again.crew.turns {
			if slices.Contains(before, key(tu.Scope)) {
				t.Errorf("record %d (%s): %s had ended and runs again", at, first.book.lines[at].kind, key(tu.Scope))
			}
		}
	}
}

func key(s Scope) string { return fmt.Sprintf("%s %s %d", s.Phase, s.Role, s.Turn) }

// ended are the jobs whose end is recorded.
func ended(t *testing.T, k *kept) (list []string) {
	for _, e := range of[WorkerEnd](t, k, RecordWorkerEnd) {
		if e.Phase == PhaseSupport {
			list = append(list, key(Scope{Phase: PhaseSupport, Role: e.Worker}))
		}
	}
	for _, e := range of[PrimaryEnd](t, k, RecordPrimaryEnd) {
		list = append(list, key(Scope{Phase: PhasePrimary, Role: "backend", Turn: e.Turn}))
	}
	return list
}

// An agent that had answered before the kill is not asked again; one that had its
// words goes on without them.
func TestResumeGoesOnInTheStream(t *testing.T) {
	killed := whole(t)
	killed.book.stop = func(kind string) bool { return kind == RecordWorkerEnd }
	if _, err := killed.Run(t.Context(), "change it", 0); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	for name, left := range map[string]Left{"answered": {Told: true, Done: true, Text: "it was found"}, "told": {Told: true}, "nothing": {}} {
		again := whole(t)
		again.book.lines, again.History = slices.Clone(killed.book.lines), killed.book.history(t)
		again.crew.left[route.Librarian] = left
		if _, _, err := again.Resume(t.Context(), again.History); err != nil {
			t.Fatal(err)
		}
		got := again.crew.of(route.Librarian)
		switch {
		case left.Done && (len(got) != 0 || !strings.Contains(again.crew.of("oracle")[0].text, "it was found")):
			t.Errorf("%s: it ran %d times", name, len(got))
		case !left.Done && (len(got) != 1 || (got[0].text == "") != left.Told):
			t.Errorf("%s: it was told %q", name, got[0].text)
		}
		if !left.Done && got[0].Session != 3 {
			t.Errorf("%s: it goes on in session %v", name, got[0].Session)
		}
	}
}

// A run that ended cannot be resumed, and a session of several runs knows its
// router and its last report.
func TestHistory(t *testing.T) {
	s := newStage(t, "auto", routed(false, nil), idle)
	s.run(t, "one")
	h := s.book.history(t)
	if _, ok, err := s.Resume(t.Context(), h); ok || err != nil {
		t.Errorf("resumed %t, %v", ok, err)
	}
	if h.Router() != 2 || h.Last() == nil || h.Last().Summary != "the result of backend" || h.Open() != nil {
		t.Errorf("router %v, last %+v", h.Router(), h.Last())
	}
	// Check D17: the next run's router knows how the last one ended, and the record
	// holds the raw words only.
	s.History = h
	s.run(t, "two")
	got := s.crew.of(route.Router)
	if len(got) != 2 || got[1].Session != 2 || !strings.Contains(got[1].text, "the result of backend") || got[1].user != "two" {
		t.Errorf("the second router turn is %+v", got[len(got)-1])
	}
	starts := of[RunStart](t, s.book, RecordRunStart)
	if len(starts) != 2 || starts[1].Prompt != "two" {
		t.Errorf("the starts are %+v", starts)
	}
	if again := s.crew.of("backend"); again[0].Session != again[1].Session {
		t.Error("the primary has another stream in the second run (failures.md B6)")
	}
}

// A history takes whatever a journal holds: records of other kinds, of runs that
// never began, and what is not what its type says.
func FuzzHistory(f *testing.F) {
	for _, s := range [][2]string{
		{RecordRequest, `{"run": "r1", "prompt": "x"}`}, {RecordContextPlan, `{"plan": {"workers": [{"role": "qa", "contextId": "c"}]}}`}, {RecordAgent, `{"taskId": "c", "attempt": 1}`},
		{RecordWorkerEnd, `{"phase": "support", "result": {"taskId": "c"}}`}, {RecordTodoUpdate, `{"todoIds": ["a"]}`}, {RecordReport, `{"finalReport": {"version": 1}}`}, {"part", `{}`}, {RecordRunEnd, `[]`},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, kind, text string) {
		h := &History{}
		for _, l := range [][2]string{{kind, text}, {RecordRequest, `{"run": "r1"}`}, {kind, text}, {RecordTodoPlan, `{"todos": [{"id": "a"}]}`}, {kind, text}} {
			_ = h.Add(l[0], []byte(l[1])) // it may refuse, and must not fall over
		}
		if m := h.open(); m != nil {
			m.under("c", 0)
			m.turn(0)
		}
		h.Router()
		h.Last()
	})
}

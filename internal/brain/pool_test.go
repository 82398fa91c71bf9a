package brain

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/quire-agent/quire/internal/packet"
	"github.com/quire-agent/quire/internal/role"
	"github.com/quire-agent/quire/internal/route"
	"github.com/quire-agent/quire/internal/run"
)

// Check D1: two workers run at once up to the limit, and a third begins the moment
// one of them ends.
func TestPoolIsContinuous(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := map[route.Role]chan struct{}{"librarian": make(chan struct{}), "qa": make(chan struct{}), "oracle": make(chan struct{})}
		s := newStage(t, "radical", routed(false, []string{"librarian", "qa", "oracle"}), func(ctx context.Context, tu turn) run.Outcome {
			if c := hold[tu.Role]; c != nil {
				<-c
			}
			return says("done")
		})
		s.Mode.Parallel, s.Model.Routing.Parallel = 2, 2
		ended := make(chan error)
		go func() { _, err := s.Run(context.Background(), "go", 0); ended <- err }()
		at := func() (list []string) {
			synctest.Wait()
			for _, tu := range s.crew.turns {
				if tu.Phase == PhaseSupport {
					list = append(list, string(tu.Role))
				}
			}
			return list
		}
		if got := at(); len(got) != 2 {
			t.Errorf("%v run, want two", got)
		}
		close(hold["qa"])
		if got := at(); len(got) != 3 || got[2] != "oracle" {
			t.Errorf("behind the end of one %v have run, want the third", got)
		}
		if got := len(s.crew.of("backend")); got != 0 {
			t.Errorf("the primary ran %d times before the others were done", got)
		}
		close(hold["librarian"])
		close(hold["oracle"])
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	})
}

// Siblings that start together: the first runs until its first byte before another
// one sends anything, so that what they share is in the cache (B33).
func TestFirstSiblingOpensTheCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, "radical", routed(false, []string{"librarian", "qa", "oracle"}), idle)
		first := make(chan struct{})
		staff := &slowStaff{crew: s.crew, hold: first}
		s.Staff = staff
		ended := make(chan error)
		go func() { _, err := s.Run(context.Background(), "go", 0); ended <- err }()
		synctest.Wait()
		if got := len(s.crew.of("qa")) + len(s.crew.of("oracle")); got != 0 {
			t.Errorf("%d siblings began before the first byte of the first one", got)
		}
		close(first)
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if len(s.crew.of("qa")) != 1 || len(s.crew.of("oracle")) != 1 {
			t.Error("the siblings did not run")
		}
	})
}

// slowStaff holds the librarian back before its first byte.
type slowStaff struct {
	*crew
	hold chan struct{}
}

func (s *slowStaff) Open(ctx context.Context, j Job) (Agent, error) {
	if j.Role == "librarian" {
		<-s.hold
	}
	return s.crew.Open(ctx, j)
}

// Check D2 and B7: a dependent worker waits, and sees the results of its declared
// upstreams and of nobody else.
func TestDependentSeesItsUpstreamOnly(t *testing.T) {
	s := newStage(t, "radical", routed(false, []string{"librarian", "qa", "oracle"}, "librarian>oracle"), idle)
	s.run(t, "find it")
	got := s.crew.of("oracle")
	if len(got) != 1 {
		t.Fatalf("the dependent worker ran %d times", len(got))
	}
	if !strings.Contains(got[0].text, "the result of librarian") {
		t.Error("it does not see the result that it depends on")
	}
	if strings.Contains(got[0].text, "the result of qa") {
		t.Error("it sees the result of somebody else")
	}
	if got[0].user != "find it" {
		t.Errorf("the user's words are %q there", got[0].user)
	}
	if primary := s.crew.of("backend")[0].text; !strings.Contains(primary, "the result of qa") || !strings.Contains(primary, "the result of oracle") {
		t.Error("the primary does not see all results")
	}
}

// Check D3: a failed upstream blocks what depends on it, with a reason in the
// record; the primary runs all the same.
func TestFailedUpstreamBlocks(t *testing.T) {
	s := newStage(t, "radical", routed(false, []string{"librarian", "oracle"}, "librarian>oracle"), func(ctx context.Context, tu turn) run.Outcome {
		if tu.Role == "librarian" {
			return breaks("down")
		}
		return says("done")
	})
	r := s.run(t, "find it")
	if n := len(s.crew.of("oracle")); n != 0 {
		t.Errorf("the dependent worker ran %d times", n)
	}
	var end *WorkerEnd
	for _, e := range of[WorkerEnd](t, s.book, RecordWorkerEnd) {
		if e.Worker == "oracle" {
			end = &e
		}
	}
	if end == nil || end.Result.Status != route.Blocked || !strings.Contains(end.Result.Summary, "librarian") {
		t.Errorf("its record is %+v", end)
	}
	if r.Status != StatusAnswered || len(s.crew.of("backend")) != 1 {
		t.Errorf("the primary did not run: %s", r.Status)
	}
	blocked := false
	for _, todo := range r.Todos {
		blocked = blocked || todo.Role == "oracle" && todo.Status == route.Blocked
	}
	if !blocked {
		t.Errorf("the things to do are %+v", r.Todos)
	}
}

// Check D4: what is no JSON is a result, and a model's ids count for nothing.
func TestReplyOfAnyForm(t *testing.T) {
	for name, c := range map[string]struct{ reply, summary string }{
		"prose":  {"It is in a.go.", "It is in a.go."},
		"ids":    {`{"taskId": "other", "parentId": "else", "summary": "It is in b.go."}`, "It is in b.go."},
		"fenced": {"Here:\n```json\n{\"summary\": \"It is in c.go.\"}\n```", "It is in c.go."},
		"types":  {`{"summary": "It is in d.go.", "risks": "none", "artifacts": [3, {"kind": "x"}], "progress": 7}`, "It is in d.go."},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, "radical", routed(false, []string{"librarian"}), func(_ context.Context, tu turn) run.Outcome {
				if tu.Role == "librarian" {
					return says(c.reply)
				}
				return says("done")
			})
			s.run(t, "find it")
			e := WorkerEnd{Result: s.result(t, "librarian")}
			plan := of[ContextPlan](t, s.book, RecordContextPlan)[0].Plan
			if e.Result.Summary != c.summary || e.Result.Status != route.Completed {
				t.Errorf("the result is %q, %s", e.Result.Summary, e.Result.Status)
			}
			if want := plan.worker("librarian").Context; e.Result.Task != want || e.Result.Parent != plan.Run {
				t.Errorf("its ids are %s and %s, want %s and %s", e.Result.Task, e.Result.Parent, want, plan.Run)
			}
		})
	}
}

// failures.md A40: what is cut off is not complete, whatever its text says.
func TestCutOffIsBlocked(t *testing.T) {
	for _, cut := range []packet.CutOff{packet.CutMaxTokens, packet.CutRounds, packet.CutRefusal} {
		s := newStage(t, "radical", routed(false, []string{"librarian"}), func(_ context.Context, tu turn) run.Outcome {
			if tu.Role == "librarian" {
				return run.Outcome{Stop: run.StopCut, CutOff: string(cut), Text: `{"summary": "all found", "progress": {"status": "completed"}}`}
			}
			return says("done")
		})
		r := s.run(t, "find it")
		if w := r.Routing.Workers[0]; w.Status != route.Blocked || w.CutOff != cut {
			t.Errorf("%s: the report says %+v", cut, w)
		}
		if text := s.crew.of("backend")[0].text; !strings.Contains(text, "blocked, cut off: "+string(cut)) {
			t.Errorf("%s: the primary is not told", cut)
		}
	}
}

// failures.md A41, A42: seven long reports reach the primary as excerpts, each with
// a way to the whole of it, which says how much is missing.
func TestLongReportsAreExcerpts(t *testing.T) {
	long := strings.Repeat("a finding with many words in it\n", 2_000)
	workers := []string{"librarian", "qa", "oracle", "security", "designer", "dba", "devops"}
	s := newStage(t, "radical", routed(false, workers), func(_ context.Context, tu turn) run.Outcome {
		if tu.Phase == PhaseSupport {
			return says(string(tu.Role) + " begins\n" + long + "and ends with " + string(tu.Role))
		}
		return says("done")
	})
	s.Mode.Workers, s.Mode.Todos = 9, 9
	s.run(t, "find everything")
	primary := s.crew.of("backend")[0]
	if n := (words{}).Count(primary.text); n > 7*resultTokens+2_000 {
		t.Errorf("the primary is given %d tokens", n)
	}
	for _, w := range workers {
		for _, want := range []string{w + " begins", "and ends with " + w} {
			if !strings.Contains(primary.text, want) {
				t.Errorf("%q is not in the excerpt", want)
			}
		}
	}
	if !strings.Contains(primary.text, "[shortened: about") || !strings.Contains(primary.text, "recall reads s") {
		t.Error("it is not said what is missing and how to read it")
	}
	if len(s.crew.pages) != len(workers) {
		t.Errorf("%d whole reports are kept, want %d", len(s.crew.pages), len(workers))
	}
	readable := map[string]bool{}
	for _, p := range primary.Space() {
		readable[p.String()] = true
	}
	for page, text := range s.crew.pages {
		if !readable[page.String()] || !strings.Contains(text, long) {
			t.Errorf("%v cannot be read back whole", page)
		}
	}
}

// What a worker may not publish is left out, and that is said; a reference is not
// passed on to who was not given it.
func TestReferences(t *testing.T) {
	s := newStage(t, "radical", routed(false, []string{"librarian", "qa", "oracle"}, "librarian>oracle"), func(_ context.Context, tu turn) run.Outcome {
		if tu.Role == "librarian" {
			return says(`{"summary": "see", "artifacts": [{"kind": "file", "uri": "page:s4/p7"}, {"kind": "file", "uri": "page:s4/p13"}, {"kind": "artifact", "uri": "gopher://x"}]}`)
		}
		return says("done")
	})
	s.run(t, "find it")
	e := s.result(t, "librarian")
	if len(e.Artifacts) != 2 || len(e.Risks) != 1 || !strings.Contains(e.Risks[0], "p13") {
		t.Errorf("published %+v, risks %v", e.Artifacts, e.Risks)
	}
	if got := s.crew.of("oracle")[0].Space(); len(got) != 1 || got[0].String() != "s4/p7" {
		t.Errorf("the dependent worker may read %v", got)
	}
	if got := s.crew.of("qa")[0].Space(); len(got) != 0 {
		t.Errorf("the sibling may read %v", got)
	}
}

// Check D5: the first model fails, the second is used, and the record says so.
func TestFallback(t *testing.T) {
	s := newStage(t, "radical", routed(false, []string{"librarian"}), func(_ context.Context, tu turn) run.Outcome {
		if tu.Model == "p/one" {
			return breaks("down")
		}
		return says("done by " + tu.Model)
	})
	chain := role.Policy{Model: "p/one", Fallbacks: []string{"p/none", "p/two"}}
	s.Model.Roles = map[route.Role]role.Policy{"librarian": chain, "backend": chain}
	s.crew.skip["p/none"] = "no key"
	r := s.run(t, "find it")
	errs := of[WorkerError](t, s.book, RecordWorkerError)
	if len(errs) != 1 || errs[0].Attempt != 1 || !errs[0].WillFallback {
		t.Errorf("the worker's errors are %+v", errs)
	}
	starts := of[WorkerStart](t, s.book, RecordWorkerStart)
	if len(starts) != 2 || starts[1].Attempt != 2 || starts[1].Model != "p/two" || !strings.HasSuffix(starts[1].Agent, "-2") {
		t.Errorf("the worker's starts are %+v", starts)
	}
	runs := of[RunError](t, s.book, RecordRunError)
	if len(runs) != 1 || runs[0].Attempt != 1 || !runs[0].WillFallback {
		t.Errorf("the primary's errors are %+v", runs)
	}
	if r.Summary != "done by p/two" {
		t.Errorf("the report says %q", r.Summary)
	}
}

// A run whose models all fail says so, and is not an answer.
func TestAllModelsFail(t *testing.T) {
	s := newStage(t, "auto", routed(false, nil), func(context.Context, turn) run.Outcome { return breaks("down") })
	r := s.run(t, "find it")
	if r.Status != StatusFailed || !strings.Contains(r.Error, "down") {
		t.Errorf("%s: %s", r.Status, r.Error)
	}
	if e := of[RunError](t, s.book, RecordRunError); len(e) != 1 || e[0].WillFallback {
		t.Errorf("the errors are %+v", e)
	}
}

// Check D6: images and only models that do not see them are a clear error.
func TestImagesWantModelsThatSee(t *testing.T) {
	s := newStage(t, "auto", routed(false, nil), idle)
	s.Model.Planner.Model = "p/blind"
	if _, err := s.Run(t.Context(), "what is on it?", 1); err == nil || !strings.Contains(err.Error(), "images") {
		t.Errorf("the error is %v", err)
	}
	if len(s.crew.turns) != 0 {
		t.Error("a model was asked without the image")
	}
}

// Check D16: an abort ends the run with the abort, without another model.
func TestAbort(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	s := newStage(t, "radical", routed(false, []string{"librarian", "qa"}), func(_ context.Context, tu turn) run.Outcome {
		stop()
		return run.Outcome{Stop: run.StopAborted, CutOff: "error"}
	})
	s.Model.Roles = map[route.Role]role.Policy{"librarian": {Model: "p/one", Fallbacks: []string{"p/two"}}}
	r, err := s.Run(ctx, "find it", 0)
	if !errors.Is(err, ErrAborted) || r.Status != StatusAborted {
		t.Errorf("%s, %v", r.Status, err)
	}
	if e := of[WorkerError](t, s.book, RecordWorkerError); len(e) != 0 {
		t.Errorf("a fallback was recorded: %+v", e)
	}
	if n := len(s.crew.of("backend")); n != 0 {
		t.Errorf("the primary ran %d times", n)
	}
}

// A brain that shares facts lets packets carry the pages that were published by then,
// and records each as one.
func TestSharedFacts(t *testing.T) {
	for isolation, want := range map[string]int{"strict": 0, "shared-facts": 1} {
		s := newStage(t, "radical", routed(false, []string{"librarian", "qa"}), func(_ context.Context, tu turn) run.Outcome {
			if tu.Role == "librarian" {
				return says(`{"summary": "see", "artifacts": [{"kind": "file", "uri": "page:s4/p7"}, {"kind": "file", "uri": "file:a.go"}]}`)
			}
			return says("done")
		})
		s.Mode.Parallel, s.Model.Routing.Parallel = 1, 1
		s.Model.Context.Isolation = isolation
		s.run(t, "find it")
		if got := s.crew.of("qa")[0].Space(); len(got) != want {
			t.Errorf("%s: the sibling may read %v", isolation, got)
		}
		facts := 0
		s.History = s.book.history(t)
		s.run(t, "find more")
		if got := s.crew.of("librarian")[1].Space(); len(got) != want {
			t.Errorf("%s: in the next run a worker may read %v", isolation, got)
		}
		for _, m := range of[AgentMessage](t, s.book, RecordMessage) {
			if strings.Contains(string(m.Message), `"kind":"fact"`) {
				facts++
			}
		}
		if facts != 3*want {
			t.Errorf("%s: %d facts are recorded", isolation, facts)
		}
	}
}

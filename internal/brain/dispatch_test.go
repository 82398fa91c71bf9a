package brain

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/route"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/tool"
)

// dispatchingPrimary asks for specialists while it works.
func dispatchingPrimary(t *testing.T, s *stage, args ...DispatchArgs) (said []string) {
	s.crew.answer = func(ctx context.Context, tu turn) run.Outcome {
		switch tu.Phase {
		case PhaseRouter:
			return says(routed(false, nil))
		case PhasePrimary:
			for _, a := range args {
				text, err := s.Dispatch(ctx, a)
				if err != nil {
					t.Error(err)
				}
				said = append(said, text)
			}
		}
		return says("the result of " + string(tu.Role))
	}
	s.run(t, "look")
	return said
}

// The primary asks specialists while it works, as often as the mode allows; what is
// refused is said, and is no error.
func TestDispatch(t *testing.T) {
	s := newStage(t, "auto", "", idle)
	said := dispatchingPrimary(t, s,
		DispatchArgs{Role: "security", Goal: "is it safe?"}, DispatchArgs{Role: "review", Goal: "x"}, DispatchArgs{Role: "qa", Goal: " "},
		DispatchArgs{Role: "qa", Goal: "which cases?"}, DispatchArgs{Role: "oracle", Goal: "and now?"})
	for i, want := range []string{"Specialist 1 of 2.", "no specialist", "goal is empty", "Specialist 2 of 2.", "All 2 specialists"} {
		if !strings.Contains(said[i], want) {
			t.Errorf("dispatch %d says %q, want %q", i+1, said[i], want)
		}
	}
	if !strings.Contains(said[0], "the result of security") {
		t.Errorf("the result is %q", said[0])
	}
	got := s.crew.of("security")
	if len(got) != 1 || got[0].user != "look" || !strings.Contains(got[0].text, "is it safe?") || strings.Contains(got[0].text, "You are the primary") {
		t.Errorf("the specialist is given %+v", got)
	}
	if d := of[Dispatch](t, s.book, RecordDispatch); len(d) != 4 || d[0].Phase != "request" || d[1].Phase != "result" || d[0].Context != d[1].Context {
		t.Errorf("the records are %+v", d)
	}
}

// Where asking is switched off nobody is asked, and the primary is not told of it.
func TestNoDispatch(t *testing.T) {
	s := newStage(t, "auto", "", idle)
	s.Alone = true
	if said := dispatchingPrimary(t, s, DispatchArgs{Role: "security", Goal: "is it safe?"}); !strings.Contains(said[0], "switched off") || len(s.crew.of("security")) != 0 {
		t.Errorf("it says %q", said)
	}
	if strings.Contains(s.crew.of("backend")[0].text, DispatchName) {
		t.Error("the primary is told of specialists")
	}
}

// Calls under way count, and results of several at once all arrive.
func TestDispatchAtOnce(t *testing.T) {
	s := newStage(t, "radical", "", idle)
	s.crew.answer = func(ctx context.Context, tu turn) run.Outcome {
		if tu.Phase == PhaseRouter {
			return says(routed(false, nil))
		}
		if tu.Phase == PhasePrimary {
			var wg sync.WaitGroup
			for _, r := range []string{"qa", "security", "oracle", "librarian", "dba", "designer"} {
				wg.Go(func() {
					if _, err := s.Dispatch(ctx, DispatchArgs{Role: r, Goal: "look"}); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
		}
		return says("done")
	}
	r := s.run(t, "look")
	if n := len(r.Routing.Workers); n != 5 {
		t.Errorf("%d workers are reported, want four and the primary", n)
	}
}

// Only the primary's tool does anything; that of others is the same, byte for byte.
func TestDispatchTool(t *testing.T) {
	s := newStage(t, "auto", "", idle)
	mute, live := DispatchTool(nil), DispatchTool(s.Brain)
	if a, b := mute.Spec(), live.Spec(); a.Description != b.Description || string(a.Schema) != string(b.Schema) || a.Name != b.Name {
		t.Error("the tools differ")
	}
	in := tool.Input{Args: []byte(`{"role": "qa", "goal": "look"}`)}
	if r, err := mute.Run(t.Context(), in); err != nil || !r.Error {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := live.Run(t.Context(), in); err != nil || !strings.Contains(r.Text, "No run is under way") {
		t.Errorf("%+v, %v", r, err)
	}
}

// Check D7, failures.md B27: what the user attached, images too, goes to the roles
// that need it; others are told its name. What could not be had is said to all.
func TestAttachmentsGoWhereTheyAreNeeded(t *testing.T) {
	s := newStage(t, "radical", routed(false, []string{"librarian", "qa"}), idle)
	s.Attach = func(string) []quire.Block {
		image := quire.Block{Part: quire.Part{Kind: quire.PartImage, Media: &quire.Media{Type: "image/png"}, Data: "pixels"}}
		return []quire.Block{machine("Attached by the user: big.txt\nthe whole of it"), machine("The user referred to none.txt. It could not be attached: there is no such file."), image}
	}
	s.run(t, "look at @big.txt and @none.txt")
	for role, want := range map[route.Role]bool{"librarian": false, "qa": true, "backend": true} {
		got := s.crew.of(role)[0]
		if strings.Contains(got.text, "the whole of it") != want || (got.media > 0) != want {
			t.Errorf("%s has the text and %d images: %q", role, got.media, got.text)
		}
		if !strings.Contains(got.text, "Attached by the user: big.txt") || !strings.Contains(got.text, "no such file") {
			t.Errorf("%s is not told of the files", role)
		}
	}
	if h := of[WorkerStart](t, s.book, RecordWorkerStart)[0].Handoff; len(h.Task.Refs) != 2 || h.Task.Refs[0].URI != "file:big.txt" {
		t.Errorf("the handoff refers to %+v", h.Task.Refs)
	}
}

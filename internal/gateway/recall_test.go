package gateway

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/sim"
)

// worked is a scene whose session is curated: four turns of work, and an idle day.
func worked(t *testing.T, api API, model string, stream bool, behind string) *scene {
	t.Helper()
	s := newScene(t, api, model, behind+"\n"+rounds, sim.Limits{})
	s.stream = stream
	for turn := range 4 {
		s.work(turn, 6)
	}
	s.clock.pass(26 * time.Hour)
	s.work(4, 6)
	if n := s.world.g.Status().Totals.Epochs; n != 1 {
		t.Fatalf("%d epochs began", n)
	}
	return s
}

// valid holds that the provider found no fault with any request.
func (s *scene) valid() {
	s.t.Helper()
	for _, r := range s.sim.Requests() {
		if r.Refused != "" {
			s.t.Fatalf("request %d was refused: %s\n%.4000s", r.Number, r.Refused, r.Body)
		}
	}
}

func texts(blocks []quire.Block) string {
	var list []string
	for _, b := range blocks {
		switch {
		case b.Kind == quire.PartText && b.Text != "":
			list = append(list, b.Text)
		case b.Kind == quire.PartToolCall:
			list = append(list, b.Tool+" "+b.ToolUse)
		}
	}
	return strings.Join(list, " | ")
}

const looksBack = `turn
 when user contains look back
 when tool recall
 when not result contains total
 say Let me look.
 call recall {"page": "p4"}
turn
 when user contains look back
 when result contains of turn 0 line
 say It held a table.
turn
 when user contains go on
 say Then on.`

// G7: a recall that is alone is answered here, in the same answer; the client never
// sees it. G11: the usage is that of the last call, with the output of all.
//
// design.md G7, G11
func TestRecallAlone(t *testing.T) {
	for _, a := range apis() {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s stream %v", a.api, stream), func(t *testing.T) {
				s := worked(t, a.api, a.model, stream, looksBack)
				s.say("look back at the first file")
				before := len(s.sim.Requests())
				r, l := s.ask()
				s.fine(l)
				s.valid()
				if got, want := strings.ReplaceAll(texts(r.Blocks), "\n\n", " | "), "Let me look. | It held a table."; got != want {
					t.Errorf("the client sees %q, want %q", got, want)
				}
				if n := len(s.sim.Requests()) - before; n != 2 || l.Recalls != 1 {
					t.Errorf("%d requests went up, %d recalls; want 2 and 1", n, l.Recalls)
				}
				all := s.sim.Requests()
				if want := all[before].Usage.Output + all[before+1].Usage.Output; r.Usage.Output != want || r.Usage.Prompt() != all[before+1].Usage.Prompt() {
					t.Errorf("the client is told %+v, want the prompt of %+v and an output of %d", r.Usage, all[before+1].Usage, want)
				}
				s.say("go on")
				r, l = s.ask()
				s.fine(l)
				s.valid()
				if got := texts(r.Blocks); got != "Then on." {
					t.Errorf("then the client sees %q", got)
				}
				if body := string(s.last().Body); !strings.Contains(body, "Let me look.") || !strings.Contains(body, "of turn 0 line 7 ") {
					t.Errorf("what was recalled is not in the stream: %.2000s", body)
				}
			})
		}
	}
}

const looksBeside = `turn
 when user contains look beside
 when tool recall
 say Two things.
 call bash as one {"command": "ls"}
 call recall as two {"page": "p4"}
 call bash as three {"command": "pwd"}
turn
 when answered two
 say Both came.`

// G7: beside calls of the client's a recall is held, and joined to their results in
// the order of the calls.
//
// design.md G7
func TestRecallBeside(t *testing.T) {
	for _, a := range apis() {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s stream %v", a.api, stream), func(t *testing.T) {
				s := worked(t, a.api, a.model, stream, looksBeside)
				s.say("look beside")
				r, l := s.ask()
				s.fine(l)
				if got, want := texts(r.Blocks), "Two things. | bash one | bash three"; got != want {
					t.Fatalf("the client sees %q, want %q", got, want)
				}
				if r.Stop != quire.StopTool || l.Recalls != 1 {
					t.Errorf("it stopped for %q with %d recalls", r.Stop, l.Recalls)
				}
				s.results(r, "a result of the client")
				r, l = s.ask()
				s.fine(l)
				s.valid()
				if got := texts(r.Blocks); got != "Both came." {
					t.Errorf("then the client sees %q", got)
				}
				body := string(s.last().Body)
				one, two := strings.LastIndex(body, "of turn 0 line 7 "), strings.LastIndex(body, "a result of the client")
				if one < 0 || two < one {
					t.Errorf("what was recalled does not stand between the results: %d, %d", one, two)
				}
			})
		}
	}
}

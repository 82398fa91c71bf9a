package replay

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/recording/recordingtest"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/schedule"
)

// Every call that the scheduler plans can be made: the assembler, which refuses what
// breaks I1–I11, refuses none. Making calls decides nothing.
func TestEveryPlannedCallCanBeMade(t *testing.T) {
	c, tables := recordingtest.NewCounter(t), Always(shipped(t))
	check(t, 40, func(t *rapid.T) {
		s := built(t, c, drawSessions(t, 30, false)...)
		profile := rapid.SampledFrom(price.Profiles()).Draw(t, "profile")
		budget := rapid.SampledFrom([]int{2_000, 6_000, 40_000}).Draw(t, "budget")
		under := UnderProfile(s, profile, budget)
		policies := Ours(tables)
		plain, err := Replay(s, policies, []Setting{under})
		if err != nil {
			t.Fatal(err)
		}
		made, err := Replay(s, Assembled(policies), []Setting{under})
		if err != nil {
			t.Fatal(err)
		}
		for i, o := range made[0] {
			if o.Refused.Calls > 0 {
				t.Fatalf("%s, %s: %d calls refused: %s", profile.Name, o.Policy, o.Refused.Calls, o.Refused.First)
			}
			if o.Cost != plain[0][i].Cost || o.Net != plain[0][i].Net {
				t.Fatalf("%s: %v with its calls made, %v without", o.Policy, o.Cost, plain[0][i].Cost)
			}
		}
	})
}

// A plan that changes what was sent without an epoch is refused, and is counted.
func TestRefusedCallsAreCounted(t *testing.T) {
	s := built(t, recordingtest.NewCounter(t), recordingtest.NewScript("s", recordingtest.Morning()).User("begin").Call().Text("yes").User("go on").Call().Text("done").User("and?").Call())
	p := newOurs(s, Setting{}, run.Terms{Settings: schedule.Settings{Table: shipped(t)}})
	p.set.Cold = make([]bool, len(s.Calls))
	p.calls = newAssembly(p, Setting{})
	p.Step(0)
	p.enter(1)
	p.calls.call(1, schedule.Plan{Placed: p.ctx.Scheduler().Stream()[1:]})
	if r := p.Refused(); r.Calls != 1 || !strings.HasPrefix(r.First, "call 1: assemble: I1 ") {
		t.Errorf("refused %+v", r)
	}
	p.enter(2)
	p.calls.call(2, schedule.Plan{Placed: p.ctx.Scheduler().Stream(), Kind: "free"})
	if r := p.Refused(); r.Calls != 1 {
		t.Errorf("a call that breaks nothing was refused: %+v", r)
	}
}

package replay

import (
	"flag"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/recording/recordingtest"
	"github.com/quire-agent/quire/internal/schedule"
)

// drawSettings are three very different caches: markers with a look-back, steps
// with a long life, and a plain longest common prefix. In the last the provider
// forgets everything now and then.
func drawSettings(t *rapid.T, s *recording.Session, budget int, profiles []price.Profile) []Setting {
	var out []Setting
	for _, p := range profiles {
		if p.Name == "claude" || p.Name == "deepseek" {
			out = append(out, UnderProfile(s, p, budget))
		}
	}
	plain := out[0]
	plain.Name, plain.Window = "plain", 120_000
	plain.Rules = price.Rules{Match: price.Automatic, TTL: 5 * time.Minute, ChargesWrites: true}
	plain.Cold = append([]bool(nil), plain.Cold...)
	for k := range plain.Cold {
		if !plain.Cold[k] && rapid.IntRange(0, 9).Draw(t, "missed") == 9 {
			plain.Cold[k], plain.Missed = true, append(plain.Missed, k)
		}
	}
	return append(out, plain)
}

func TestReplayAgreesWithReference(t *testing.T) {
	c, profiles := recordingtest.NewCounter(t), price.Profiles()
	check(t, 15, func(t *rapid.T) {
		s := built(t, c, drawSessions(t, 20, true)...)
		budget := rapid.SampledFrom([]int{300, 2_000, 40_000}).Draw(t, "budget")
		settings := drawSettings(t, s, budget, profiles)
		policies := allOf(t, budget)
		got, err := Replay(s, policies, settings)
		if err != nil {
			t.Fatal(err)
		}
		memo := newScans()
		for i, set := range settings {
			for j, p := range policies {
				agree(t, got[i][j], slowly(t, s, p, set, memo))
			}
		}
	})
}

// flipFlop shows every result in turn as a handle and whole, and whatever a
// fault asked for once more at the end of the prompt.
func flipFlop() Policy {
	return Policy{Name: "flip-flop", Start: func(s *recording.Session, _ Setting) Player {
		return &flipper{results: newResults(s, nil)}
	}}
}

type flipper struct {
	*results
	asked []int32
}

func (p *flipper) Step(k int) Prompt {
	p.see(k)
	for _, i := range p.queue {
		b := p.at[i]
		if b < 0 {
			continue
		}
		if p.blocks[b].Whole {
			p.replace(b, handleOf(p.s, i), "flip")
		} else {
			p.replace(b, whole(p.s, i), "flop")
		}
	}
	for _, i := range p.asked {
		p.add(whole(p.s, i))
	}
	p.asked = nil
	return p.prompt()
}

func (p *flipper) Faulted(_ int, needs []int) {
	for _, n := range needs {
		p.asked = append(p.asked, p.s.PageItem[p.s.Needs[n].Page-1])
	}
}

// What append sends is everything there was. Only a rewind of the user's takes
// something out of it.
func TestAppendMissesNothing(t *testing.T) {
	c, profiles := recordingtest.NewCounter(t), price.Profiles()
	check(t, 20, func(t *rapid.T) {
		rewinds := rapid.Bool().Draw(t, "rewinds")
		s := built(t, c, drawSessions(t, 30, rewinds)...)
		out, err := Replay(s, Baselines(0)[:1], drawSettings(t, s, 0, profiles)[:1])
		if err != nil {
			t.Fatal(err)
		}
		o := out[0][0]
		if o.Epochs != o.Reasons[reasonRewind] || !rewinds && o.Epochs > 0 {
			t.Errorf("%d epochs: %v", o.Epochs, o.Reasons)
		}
		if o.Demotions > 0 {
			t.Errorf("append demoted %d items", o.Demotions)
		}
		if rewinds {
			return
		}
		if o.Faults+o.FaultsWide > 0 || o.Covered < o.Wanted || o.CoveredWide < o.WantedWide || o.Extra+o.ExtraStrict > 0 {
			t.Errorf("append missed something: %+v", o)
		}
		if o.EditsServed < o.Edits || o.Thrash+o.MisSchedules > 0 {
			t.Errorf("append let something go: %+v", o)
		}
	})
}

// prompts replays a policy and returns what it sent at each call.
func prompts(s *recording.Session, p Policy, set Setting) []Prompt {
	r := newReplay(s, p, []Setting{set})
	tape := &tape{Player: r.player}
	r.player = tape
	for k := range s.Calls {
		r.send(k)
		r.serve(k)
	}
	return tape.sent
}

// A tape keeps what a player sends.
type tape struct {
	Player
	sent []Prompt
}

func (t *tape) Step(k int) Prompt {
	p := t.Player.Step(k)
	p.Blocks = slices.Clone(p.Blocks)
	t.sent = append(t.sent, p)
	return p
}

func (t *tape) Faulted(k int, needs []int) {
	if l, ok := t.Player.(Listener); ok {
		l.Faulted(k, needs)
	}
}

// allOf are all policies: the baselines, ours, ours in a window that is full all
// the time and pays for every epoch that it can, and one that flips.
func allOf(t recordingtest.Checker, budget int) []Policy {
	t.Helper()
	table, err := schedule.Default()
	if err != nil {
		t.Fatal(err)
	}
	tight := schedule.Settings{Care: .01, Paid: true, Window: budget, Room: max(budget/2, 1), Budget: max(budget/3, 1)}
	return append(append(Baselines(budget), Ours(Always(table))...), Scheduled("tight", tight, Always(table)), flipFlop())
}

// A policy that knows no future decides the same whether there is one or not.
// The mean density of a session, by which short texts are sized, is taken from
// all of it; here it is made equal.
func TestPoliciesSeeNoFuture(t *testing.T) {
	c := recordingtest.NewCounter(t)
	claude, _ := price.ProfileByName("claude")
	check(t, 20, func(t *rapid.T) {
		script := drawSessions(t, 30, true)[0]
		n := rapid.IntRange(1, script.Calls).Draw(t, "calls played")
		whole, short := built(t, c, script), built(t, c, script.Until(n))
		short.Density = whole.Density
		for _, budget := range []int{300, 4_000} {
			for _, p := range allOf(t, budget) {
				if p.Oracle {
					continue
				}
				got := prompts(whole, p, UnderProfile(whole, claude, budget))[:n]
				want := prompts(short, p, UnderProfile(short, claude, budget))
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("%s: the prompts of the first %d calls depend on what follows", p.Name, n)
				}
			}
		}
	})
}

func TestReplayIsDeterministic(t *testing.T) {
	c, profiles := recordingtest.NewCounter(t), price.Profiles()
	check(t, 8, func(t *rapid.T) {
		scripts := drawSessions(t, 12, true)
		settings := drawSettings(t, built(t, c, scripts...), 2_000, profiles)
		policies := allOf(t, 2_000)
		var runs [2][][]Outcome
		for i := range runs {
			out, err := Replay(built(t, c, scripts...), policies, settings)
			if err != nil {
				t.Fatal(err)
			}
			runs[i] = out
		}
		if !reflect.DeepEqual(runs[0], runs[1]) {
			t.Fatal("two replays of one session differ")
		}
	})
}

// Played alone or among others, first or last: an outcome is that of its policy
// and setting.
func TestReplayOfOneIsThatAmongOthers(t *testing.T) {
	c, profiles := recordingtest.NewCounter(t), price.Profiles()
	check(t, 8, func(t *rapid.T) {
		s := built(t, c, drawSessions(t, 12, true)...)
		settings, policies := drawSettings(t, s, 2_000, profiles), allOf(t, 2_000)
		all, err := Replay(s, policies, settings)
		if err != nil {
			t.Fatal(err)
		}
		i, j := rapid.IntRange(0, len(settings)-1).Draw(t, "setting"), rapid.IntRange(0, len(policies)-1).Draw(t, "policy")
		one, err := Replay(s, policies[j:j+1], settings[i:i+1])
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(one[0][0], all[i][j]) {
			t.Fatalf("%s under %s: alone %+v, among others %+v", policies[j].Name, settings[i].Name, one[0][0], all[i][j])
		}
	})
}

// Who knows the future and pays nothing for a rewrite has no reason to be
// dearer than who does nothing, with two exceptions. It prices a later fault by
// the prompt of the call at which it drops, so one may cost more than it saved
// when the prompt has grown meanwhile: sessions in which it faults are left out.
// And a prompt of another size may match less in a cache that counts in steps;
// where its markers stand at other blocks, up to a percent is written again.
func TestOracleColdIsNotDearer(t *testing.T) {
	c, profiles := recordingtest.NewCounter(t), price.Profiles()
	policies := slices.DeleteFunc(Baselines(0), func(p Policy) bool { return p.Name != "append" && p.Name != "oracle-cold" })
	check(t, 20, func(t *rapid.T) {
		s := built(t, c, drawSessions(t, 30, false)...)
		settings := drawSettings(t, s, 0, profiles)
		out, err := Replay(s, policies, settings)
		if err != nil {
			t.Fatal(err)
		}
		for i, set := range settings {
			a, o := out[i][0], out[i][1]
			if most := a.Cost + float64(len(s.Calls)*set.Rules.Step); o.FaultsWide == 0 && o.Cost > most*1.01 {
				t.Errorf("%s: oracle-cold costs %v, append %v", set.Name, o.Cost, a.Cost)
			}
		}
	})
}

func TestReplayReportsUnreadableBodies(t *testing.T) {
	s := built(t, recordingtest.NewCounter(t), recordingtest.NewScript("s", recordingtest.Morning()).User(strings.Join(recordingtest.File(0), "\n")).Call().Text(strings.Join(recordingtest.File(0), "\n")))
	if len(s.Needs) == 0 {
		t.Fatal("the session has no needs")
	}
	s.Bodies = &recording.Bodies{}
	if _, err := s.Bodies.Put(strings.Repeat("x", 16<<20)); err != nil { // more than memory holds
		t.Fatal(err)
	}
	if err := s.Bodies.Close(); err != nil {
		t.Fatal(err)
	}
	claude, _ := price.ProfileByName("claude")
	none := Policy{Name: "nothing", Start: func(*recording.Session, Setting) Player { return nothing{} }}
	if _, err := Replay(s, []Policy{none}, []Setting{UnderProfile(s, claude, 0)}); err == nil || !strings.Contains(err.Error(), "fetch p1") {
		t.Errorf("got %v", err)
	}
	if err := Dump(io.Discard, s, Baselines(0)[0], UnderProfile(s, claude, 0)); err == nil {
		t.Error("a prompt that cannot be read was dumped")
	}
}

// nothing sends an empty prompt at every call.
type nothing struct{}

func (nothing) Step(int) Prompt { return Prompt{} }

// Whatever a log holds can be replayed.
func TestReplayTakesAnything(t *testing.T) {
	l := recording.Loader{Counter: recordingtest.NewCounter(t)}
	claude, _ := price.ProfileByName("claude")
	check(t, 50, func(t *rapid.T) {
		ops := rapid.SliceOfN(rapid.Byte(), 0, 120).Draw(t, "ops")
		var sources []recording.Source
		for _, log := range recordingtest.Anything(ops, recordingtest.SomeText()) {
			sources = append(sources, recording.Source{Events: func(yield func(quire.Event, error) bool) {
				for _, e := range log {
					if !yield(e, nil) {
						return
					}
				}
			}})
		}
		s, err := l.JoinSources(t.Context(), sources)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := Replay(s, append(Baselines(200), flipFlop()), []Setting{UnderProfile(s, claude, 200)}); err != nil {
			t.Fatal(err)
		}
	})
}

// check draws n cases, as many as fit the time of the suite. Whoever has more time
// asks for more with -rapid.checks.
func check(t *testing.T, n int, prop func(*rapid.T)) {
	t.Helper()
	f := flag.Lookup("rapid.checks")
	if f.Value.String() == f.DefValue {
		if err := f.Value.Set(strconv.Itoa(n)); err != nil {
			t.Fatal(err)
		}
		defer f.Value.Set(f.DefValue)
	}
	rapid.Check(t, prop)
}

// drawSessions draws up to three recorded sessions.
func drawSessions(t *rapid.T, calls int, rewinds bool) []*recordingtest.Script {
	return recordingtest.DrawScripts(func(what string, n int) int { return rapid.IntRange(0, n).Draw(t, what) }, calls, rewinds)
}

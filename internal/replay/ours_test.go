package replay

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/recording/recordingtest"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/schedule"
)

func shipped(t recordingtest.Checker) *schedule.Table {
	t.Helper()
	table, err := schedule.Default()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// planned is a scheduler that saw a session up to a call without ever planning,
// and the plan that it then makes in a window of a size.
func planned(s *recording.Session, table *schedule.Table, window, k int) schedule.Plan {
	p := newOurs(s, Setting{}, run.Terms{Settings: schedule.Settings{Table: table, Care: schedule.DefaultCare, Window: window}})
	for i := range k + 1 {
		p.refer(i)
		p.enter(i)
	}
	rates := price.Prices{Input: 1, Read: .1, Write: 1.25, Output: 5}
	return p.ctx.Scheduler().Plan(schedule.Moment{
		Call: k, Turn: int(s.Calls[k].Turn), Prefix: s.Overhead, Prices: rates, Write: rates.Write,
	})
}

// Within one plan a larger window never covers less: what stands with content in
// the smaller one stands so in the larger one too.
func TestALargerWindowNeverCoversLess(t *testing.T) {
	c, table := recordingtest.NewCounter(t), shipped(t)
	check(t, 60, func(t *rapid.T) {
		s := built(t, c, drawSessions(t, 30, false)...)
		k := rapid.IntRange(0, len(s.Calls)-1).Draw(t, "call")
		small := rapid.IntRange(1, 6_000).Draw(t, "small")
		large := small + rapid.IntRange(0, 6_000).Draw(t, "more")
		in := map[int]bool{}
		for _, p := range planned(s, table, large, k).Placed {
			in[p.Block] = in[p.Block] || p.Form.Resident()
		}
		for _, p := range planned(s, table, small, k).Placed {
			if p.Block >= 0 && p.Form.Resident() && !in[p.Block] {
				t.Fatalf("block %d stands in a window of %d tokens and not in one of %d", p.Block, small, large)
			}
		}
	})
}

// No free epoch makes a session dearer than appending would have been, where
// appending fits: with all needs served, the account never goes below zero.
func TestTheAccountNeverFallsByAFreeEpoch(t *testing.T) {
	c, table := recordingtest.NewCounter(t), shipped(t)
	check(t, 40, func(t *rapid.T) {
		s := built(t, c, drawSessions(t, 40, false)...)
		set := schedule.Settings{Care: rapid.SampledFrom([]float64{0, 1, schedule.DefaultCare}).Draw(t, "care"), Room: -1, Budget: -1, Blind: true}
		for _, profile := range price.Profiles() {
			under := UnderProfile(s, profile, 0)
			under.Window = 1_000_000
			p := Scheduled("ours", set, Always(table)).Start(s, under).(*ours)
			for k := range s.Calls {
				p.Step(k)
				if p.plan.Kind == quire.EpochForced {
					break // a price cliff forces it, and it is paid for by later calls
				}
				if b := p.ctx.Account().Balance(); b < -1e-6 {
					t.Fatalf("%s: the account is at %v after call %d", profile.Name, b, k)
				}
			}
		}
	})
}

// decisions are what was decided, without the texts that name what.
func decisions(s *recording.Session, p Policy, set Setting) (out []string) {
	for k, sent := range prompts(s, p, set) {
		line := fmt.Sprintf("call %d keeps %d, %s:", k, sent.Keep, sent.Reason)
		for _, b := range sent.Blocks {
			line += fmt.Sprintf(" %d %t %t %d;", b.Item, b.Whole, b.Handle, b.Tokens)
		}
		out = append(out, line)
	}
	return out
}

// Names of files decide nothing: other names of the same size and extension give
// the same decisions.
func TestNamesOfFilesDecideNothing(t *testing.T) {
	c := recordingtest.NewCounter(t)
	check(t, 20, func(t *rapid.T) {
		scripts := drawSessions(t, 20, true)
		var others []*recordingtest.Script
		for _, s := range scripts {
			others = append(others, s.Renamed("ledger/file", "ledger/name"))
		}
		a, b := built(t, c, scripts...), built(t, c, others...)
		if showSizes(a) != showSizes(b) {
			t.Skip("a quotation ends within a name: what it needs is another thing now")
		}
		agreeOn(t, a, b)
	})
}

// showSizes is what decisions may depend on: the sizes of the items, and the
// needs.
func showSizes(s *recording.Session) string {
	var b strings.Builder
	for _, it := range s.Items {
		fmt.Fprintf(&b, "%d ", it.Tokens)
	}
	for _, n := range s.Needs {
		fmt.Fprintf(&b, "%d %v %t %t ", n.Call, n.Page, n.Wide, n.Strict)
	}
	return b.String()
}

// agreeOn checks that ours decide the same on two sessions.
func agreeOn(t *rapid.T, a, b *recording.Session) {
	t.Helper()
	claude, _ := price.ProfileByName("claude")
	for _, budget := range []int{1_500, 40_000} {
		for _, p := range allOf(t, budget)[len(Baselines(budget)):] {
			got, want := decisions(a, p, UnderProfile(a, claude, budget)), decisions(b, p, UnderProfile(b, claude, budget))
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: got\n%s\nwant\n%s", p.Name, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

// A session that is split into two journals and joined again gives the same
// decisions as a whole.
func TestASplitSessionIsTheSame(t *testing.T) {
	c := recordingtest.NewCounter(t)
	check(t, 20, func(t *rapid.T) {
		script := drawSessions(t, 20, false)[0]
		whole := built(t, c, script)
		split := built(t, c, script.Split(rapid.IntRange(0, script.Calls-1).Draw(t, "split"))...)
		if order(whole) != order(split) {
			t.Skip("a result came in the other journal than its call")
		}
		// What a journal cannot know of the other one is taken from the whole:
		// which needs are strict depends on where a recorded context began, and
		// how tokens are counted on what was metered.
		for i := range split.Items {
			split.Items[i].Tokens = whole.Items[i].Tokens
		}
		for i := range split.Pages {
			split.Pages[i].Tokens = whole.Pages[i].Tokens
		}
		joined := *whole // its forms too: they say how large a page was
		joined.Items, joined.Pages, joined.Calls, joined.Cuts, joined.Starts = split.Items, split.Pages, split.Calls, split.Cuts, split.Starts
		joined.Bodies, joined.Hints, joined.Work = split.Bodies, split.Hints, split.Work
		agreeOn(t, &joined, whole)
	})
}

func order(s *recording.Session) string {
	var out []string
	for _, it := range s.Items {
		out = append(out, fmt.Sprintf("%v %v by %d in %d", it.Kind, it.Page, it.By, it.Call))
	}
	return strings.Join(out, "\n")
}

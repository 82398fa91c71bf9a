package eval

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/schedule"
)

func shipped(t checker) *schedule.Table {
	t.Helper()
	table, err := schedule.Default()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// planned is a scheduler that saw a session up to a call without ever planning,
// and the plan that it then makes in a window of a size.
func planned(s *Session, table *schedule.Table, window, k int) schedule.Plan {
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
	c, table := newCounter(t), shipped(t)
	check(t, 60, func(t *rapid.T) {
		s := build(t, c, drawScripts(t, 30, false)...)
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
	c, table := newCounter(t), shipped(t)
	check(t, 40, func(t *rapid.T) {
		s := build(t, c, drawScripts(t, 40, false)...)
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
func decisions(s *Session, p Policy, set Setting) (out []string) {
	for k, sent := range prompts(s, p, set) {
		line := fmt.Sprintf("call %d keeps %d, %s:", k, sent.Keep, sent.Reason)
		for _, b := range sent.Blocks {
			line += fmt.Sprintf(" %d %t %t %d;", b.Item, b.Whole, b.Handle, b.Tokens)
		}
		out = append(out, line)
	}
	return out
}

// renamed is a script whose files have other names of the same length.
func (s *script) renamed(old, name string) *script {
	other := *s
	other.events = nil
	for _, e := range s.events {
		switch e := e.(type) {
		case quire.Entered:
			e.Part.Text = strings.ReplaceAll(e.Part.Text, old, name)
			other.events = append(other.events, e)
		case quire.Answered:
			e.Part.Text = strings.ReplaceAll(e.Part.Text, old, name)
			other.events = append(other.events, e)
		default:
			other.events = append(other.events, e)
		}
	}
	return &other
}

// Names of files decide nothing: other names of the same size and extension give
// the same decisions.
func TestNamesOfFilesDecideNothing(t *testing.T) {
	c := newCounter(t)
	check(t, 20, func(t *rapid.T) {
		scripts := drawScripts(t, 20, true)
		var others []*script
		for _, s := range scripts {
			others = append(others, s.renamed("ledger/file", "ledger/name"))
		}
		a, b := build(t, c, scripts...), build(t, c, others...)
		if showSizes(a) != showSizes(b) {
			t.Skip("a quotation ends within a name: what it needs is another thing now")
		}
		agreeOn(t, a, b)
	})
}

// showSizes is what decisions may depend on: the sizes of the items, and the
// needs.
func showSizes(s *Session) string {
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
func agreeOn(t *rapid.T, a, b *Session) {
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
	c := newCounter(t)
	check(t, 20, func(t *rapid.T) {
		script := drawScripts(t, 20, false)[0]
		whole := build(t, c, script)
		split := build(t, c, script.split(rapid.IntRange(0, script.calls-1).Draw(t, "split"))...)
		if showItems(whole) != showItems(split) {
			t.Skip("a result came in the other journal than its call")
		}
		// What a journal cannot know of the other one is taken from the whole:
		// which needs are strict depends on where a recorded context began, and
		// how tokens are counted on what was metered.
		split.Needs, split.index, split.Density, split.Overhead = whole.Needs, whole.index, whole.Density, whole.Overhead
		split.forms = whole.forms // they say how large a page was
		for i := range split.Items {
			split.Items[i].Tokens = whole.Items[i].Tokens
		}
		for i := range split.Pages {
			split.Pages[i].Tokens = whole.Pages[i].Tokens
		}
		agreeOn(t, split, whole)
	})
}

// split is a script as two journals: what belongs to the calls before one, and
// the rest.
func (s *script) split(call int) []*script {
	at := len(s.until(call).events)
	for at > 1 && opensTurn(s.events[at-1]) {
		at--
	}
	first, second := *s, *s
	first.events = s.events[:at]
	second.events = append(s.events[:1:1], s.events[max(at, 1):]...)
	return []*script{&first, &second}
}

// opensTurn reports whether an event is what a call answers to, and not what a
// tool returned.
func opensTurn(e quire.Event) bool {
	in, ok := e.(quire.Entered)
	return ok && in.Part.Kind != quire.PartToolResult
}

package schedule

import (
	"fmt"
	"testing"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
)

// foreseeing is a stream of n pages of so many tokens that all left it, and the
// moment of the next call. Each sign is as likely as the next.
func foreseeing(n, tokens int) (*Scheduler, Moment) {
	table := flat(0, 0)
	table.Foresight = unknown()
	forms := &short{}
	forms.s = New(Settings{Care: 1, Table: table}, forms)
	s := forms.s
	for i := range n {
		p := quire.Page{Number: quire.PageNumber(i + 1), Kind: quire.PageTool, Action: quire.ActionRead, Target: fmt.Sprintf("f%d.go", i), Class: quire.ClassSource}
		s.Enter(Block{Page: p, Part: quire.PartToolResult, Tokens: tokens, Call: 0, By: -1, Turn: 0})
	}
	for range guarded {
		s.Enter(Block{Page: quire.Page{Number: 9_000, Kind: quire.PageTool}, Part: quire.PartToolResult, Tokens: 1, Call: 1, By: -1, Turn: 0})
	}
	now := Moment{Call: 9, Prefix: 200_000, Prices: claude(), Write: 1.25, Account: 1e9}
	epoch(s, now)
	s.Plan(now)
	now.Call++
	return s, now
}

// hint points to pages by a sign.
func hint(s *Scheduler, pages ...quire.PageNumber) {
	var list []Hint
	for _, p := range pages {
		list = append(list, Hint{Page: p, Sign: Sign{ByModel, SignPath}})
	}
	s.Foresee(list)
}

// certain makes every sign mean that its page is used.
func certain(s *Scheduler) {
	for i := range s.set.Table.Foresight.Sign {
		for j := range s.set.Table.Foresight.Sign[i] {
			s.set.Table.Foresight.Sign[i][j] = 1
		}
	}
}

// What is foreseen comes in up to five pages and 2,000 tokens a call, and 8,000 an
// epoch, the likeliest for their size first; never twice in an epoch.
func TestForesightHasQuotas(t *testing.T) {
	for name, c := range map[string]struct{ tokens, pages, first, calls, all int }{
		"pages": {100, 40, 5, 1, 5}, "tokens of a call": {900, 40, 2, 1, 2}, "one that is too large": {2_001, 3, 0, 1, 0},
		"the largest": {2_000, 3, 1, 1, 1}, "tokens of an epoch": {1_000, 40, 2, 6, 8},
	} {
		s, now := foreseeing(c.pages, c.tokens)
		certain(s)
		all := 0
		for n := range c.calls {
			var pages []quire.PageNumber
			for p := range c.pages {
				pages = append(pages, quire.PageNumber(p+1))
			}
			hint(s, pages...)
			got := len(s.Plan(now).Foreseen)
			if all += got; n == 0 && got != c.first {
				t.Errorf("%s: %d pages came in first, want %d", name, got, c.first)
			}
			now.Call++
		}
		if all != c.all {
			t.Errorf("%s: %d pages came in, want %d", name, all, c.all)
		}
	}
}

// A page comes in where its chance is worth what carrying it costs, out of the
// account, and where no call grows beyond the appended one for it.
func TestForesightIsWorthIt(t *testing.T) {
	for name, c := range map[string]struct {
		chance   float64
		change   func(s *Scheduler, now *Moment)
		expected int
	}{
		"worth it":              {1, func(*Scheduler, *Moment) {}, 1},
		"unlikely":              {.001, func(*Scheduler, *Moment) {}, 0},
		"no funds":              {1, func(_ *Scheduler, now *Moment) { now.Account = 0 }, 0},
		"a full window":         {1, func(s *Scheduler, _ *Moment) { s.Resize(s.net+99, 0) }, 0},
		"a window with a place": {1, func(s *Scheduler, _ *Moment) { s.Resize(s.net+100, 0) }, 1},
		"a full room":           {1, func(s *Scheduler, _ *Moment) { s.Resize(1e6, s.net+99) }, 0},
		"blind":                 {1, func(s *Scheduler, _ *Moment) { s.set.Blind = true }, 0},
		"dropped":               {1, func(s *Scheduler, _ *Moment) { s.Drop(1) }, 0},
		"as large as appended":  {1, func(s *Scheduler, now *Moment) { now.Appended = s.net + 100 }, 1},
		"larger than appended":  {1, func(s *Scheduler, now *Moment) { now.Appended = s.net + 99 }, 0},
		"what a step loses":     {1, func(s *Scheduler, now *Moment) { now.Appended, now.Step = s.net+100, 128 }, 0},
		"free":                  {1, func(_ *Scheduler, now *Moment) { now.Prices, now.Write = price.Prices{}, 0 }, 1},
		"free and not certain":  {.9, func(_ *Scheduler, now *Moment) { now.Prices, now.Write = price.Prices{}, 0 }, 0},
	} {
		s, now := foreseeing(3, 100)
		s.set.Table.Foresight.Sign[ByModel][SignPath] = c.chance
		c.change(s, &now)
		hint(s, 1)
		if got := s.Plan(now).Foreseen; len(got) != c.expected {
			t.Errorf("%s: %d pages came in", name, len(got))
		}
	}
}

// Of a class of which fewer than a third of the last twenty were used none comes
// in; used and wasted pages are counted and told once.
func TestForesightLosesTrust(t *testing.T) {
	for _, used := range []int{6, 7} {
		s, now := foreseeing(40, 100)
		certain(s)
		settled := 0
		for n := range foreseenLast {
			page := quire.PageNumber(n + 1)
			hint(s, page)
			p := s.Plan(now)
			settled += len(p.Settled)
			now.Call++
			if n < used {
				s.Refer(page, now.Call, 0)
				continue
			}
			now.Call += 40
			s.fresh = true
			epoch(s, now)
			settled += len(s.Plan(now).Settled)
			now.Call++
		}
		settled += len(s.Plan(now).Settled)
		if sum := s.Foresights(); sum != (Foresights{used, foreseenLast - used}) || settled != foreseenLast {
			t.Errorf("%+v, %d settled", sum, settled)
		}
		hint(s, 30)
		now.Call++
		if got, want := len(s.Plan(now).Foreseen), btoi(3*used >= foreseenLast); got != want {
			t.Errorf("%d of %d used: %d pages came in, want %d", used, foreseenLast, got, want)
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A glimpse is only had of what is away; a fit of glimpses finds how likely each
// sign is, whatever the order, and joins.
func TestFitOfForesight(t *testing.T) {
	s, now := foreseeing(3, 100)
	g, ok := s.Glimpse(Hint{Page: 1, Sign: Sign{ByUser, SignQuote}}, now)
	if !ok || g != (Glimpse{Sign{ByUser, SignQuote}, sizeStep(100), idleStep(now.Call)}) {
		t.Errorf("%+v, %v", g, ok)
	}
	if _, ok := s.Glimpse(Hint{Page: 9_000}, now); ok {
		t.Error("a page that stands is seen")
	}
	if _, ok := s.Glimpse(Hint{Page: 77}, now); ok {
		t.Error("a page that never was is seen")
	}
	var a, b, all Fit
	for i := range 400 {
		weak := g
		weak.Sign = Sign{ByModel, SignSymbol}
		a.Hinted(g, i%2 == 0)
		b.Hinted(weak, i%10 == 0)
		all.Hinted(weak, i%10 == 0)
		all.Hinted(g, i%2 == 0)
	}
	a.Join(&b)
	table := a.Table("v").Foresight
	if other := all.Table("v").Foresight; table != other {
		t.Error("the order counts")
	}
	if c := table.chance(g); c < .45 || c > .55 {
		t.Errorf("a sign that is right half the time has a chance of %.2f", c)
	}
	weak := g
	weak.Sign = Sign{ByModel, SignSymbol}
	if c := table.chance(weak); c < .07 || c > .13 {
		t.Errorf("a sign that is right one time in ten has a chance of %.2f", c)
	}
	if c := table.of(Sign{ByUser, SignGoal}); c != usualUse {
		t.Errorf("a sign that was never seen has a chance of %.2f", c)
	}
}

// What was asked for counts as used, and as missed where it was away.
func TestAsked(t *testing.T) {
	s, now := foreseeing(3, 100)
	if s.Stands(1) || !s.Stands(9_000) || s.Stands(77) {
		t.Error("what stands and what does not are taken for each other")
	}
	s.Asked(1, now.Call, 0)
	s.Asked(9_000, now.Call, 0)
	s.Asked(77, now.Call, 0)
	if u := s.pages[1]; u.missed == 0 || u.quoted != 1 || u.last != now.Call {
		t.Errorf("%+v", u)
	}
	if u := s.pages[9_000]; u.missed != 0 || u.quoted != 1 {
		t.Errorf("%+v", u)
	}
	if s.pages[77] != nil {
		t.Error("a page that never was is kept")
	}
	s.Resize(500, 400)
	if s.Window() != 500 {
		t.Errorf("a window of %d", s.Window())
	}
}

// The shadow's stream is as large as what was appended, until it is compacted.
func TestAppended(t *testing.T) {
	a := NewAccount(Terms{Rates: price.Rates{Prices: claude()}, Prefix: 100, Window: 1_000})
	a.Entered(1, 300, false)
	if got := a.Appended(); got != 300 {
		t.Errorf("%d", got)
	}
	a.compacted = 1
	if got := a.Appended(); got != 0 {
		t.Errorf("after a compaction %d", got)
	}
}

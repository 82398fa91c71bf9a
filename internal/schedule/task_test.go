package schedule

import (
	"slices"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

// twoTasks is a stream with pages of 900 tokens in turn 1, and the moment after it.
// A page of another task is never needed; one of the task at hand always is.
func twoTasks(pages int) (*Scheduler, Moment) {
	table := flat(1, 1)
	table.Strict.Task[1], table.Wide.Task[1] = 0, 0
	forms := &short{}
	forms.s = New(Settings{Care: 1, Table: table}, forms)
	s := forms.s
	for n := range pages {
		p := quire.Page{Number: quire.PageNumber(n + 1), Kind: quire.PageTool, Action: quire.ActionRead, Target: "f.go", Class: quire.ClassSource}
		s.Enter(Block{Page: p, Part: quire.PartToolCall, Tokens: 10, Call: n + 1, By: n, Turn: 1})
		s.Enter(Block{Page: p, Part: quire.PartToolResult, Tokens: 900, Call: n + 1, By: -1, Turn: 1})
	}
	s.Work(Work{Task: "parser", Turn: 1})
	return s, Moment{Call: pages + 20, Turn: 2, Prefix: 20_000, Prices: claude(), Write: 1.25, Account: 1e9}
}

// epoch lowers what is not worth its place, as the next plan says.
func epoch(s *Scheduler, now Moment) {
	s.begin(quire.EpochFree, "for the test")
	s.demote(now, 0)
}

// resident are the pages whose results stand in full.
func resident(s *Scheduler) (list []quire.PageNumber) {
	for _, p := range s.stream {
		if p.Block < 0 {
			continue
		}
		if b := &s.blocks[p.Block]; b.Part == quire.PartToolResult && p.Form == quire.RenditionFull {
			list = append(list, b.Page.Number)
		}
	}
	return list
}

// What a switch changes shows at the next epoch: pages of the task that was left
// go, but for those that the new one keeps and the newest results. At the epoch
// after that the kept ones go too, unless they were used.
func TestASwitchShowsAtTheNextEpoch(t *testing.T) {
	s, now := twoTasks(6)
	s.calls = now.Call
	s.Work(Work{Task: "invoices", Turn: 2, Keep: []quire.PageNumber{2, 3}})
	if p := s.Plan(now); p.Kind != "" || len(p.Decisions) > 0 {
		t.Fatalf("a switch began an epoch: %+v", p)
	}
	s.Enter(Block{Part: quire.PartUser, Page: quire.Page{Number: 90, Kind: quire.PageUser}, Tokens: 5, Call: now.Call + 1, By: -1, Turn: 2})
	now.Call++
	epoch(s, now)
	if got, want := resident(s), []quire.PageNumber{2, 3, 5, 6}; !slices.Equal(got, want) {
		t.Errorf("after the first epoch %v stand, want %v", got, want)
	}
	s.Plan(now)
	s.Enter(Block{Part: quire.PartUser, Page: quire.Page{Number: 91, Kind: quire.PageUser}, Tokens: 5, Call: now.Call + 1, By: -1, Turn: 3})
	s.Refer(3, now.Call, 2)
	now.Call, now.Turn = now.Call+1, 3
	s.demote(now, 0)
	if got, want := resident(s), []quire.PageNumber{3, 5, 6}; !slices.Equal(got, want) {
		t.Errorf("after the second epoch %v stand, want %v", got, want)
	}
}

// A free or paid epoch for which tasks alone would be the reason does not begin.
func TestASwitchBeginsNoEpoch(t *testing.T) {
	for _, set := range []Settings{{}, {Paid: true}} {
		s, now := twoTasks(6)
		s.set.Paid = set.Paid
		s.Enter(Block{Part: quire.PartUser, Page: quire.Page{Number: 90, Kind: quire.PageUser}, Tokens: 5, Call: now.Call, By: -1, Turn: 2})
		for i := range s.blocks { // the model's words stay, so that only the results could go
			s.blocks[i].Fixed = s.blocks[i].Part == quire.PartToolCall
		}
		s.Work(Work{Task: "invoices", Turn: 2})
		if !set.Paid {
			now.Cold = "the cache has lapsed"
		}
		if p := s.Plan(now); p.Kind != "" {
			t.Errorf("paid %v: an epoch began, %s: %s", set.Paid, p.Kind, p.Reason)
		}
	}
}

// Labels of turns that were unclear are mended; a page belongs to the task that
// used it last; saying the same again loses nothing.
func TestLabels(t *testing.T) {
	s := plain(Settings{}, 1)
	other := func(turn int) bool { return s.tasks.elsewhere(turn) }
	if other(0) || other(7) {
		t.Error("without any task something is of another one")
	}
	s.Work(Work{Task: "a", Turn: 0})
	s.Work(Work{Task: "a", Turn: 3})
	if other(0) || other(3) || other(-1) || other(4) {
		t.Error("with one task something is of another one")
	}
	s.Work(Work{Task: "b", Turn: 5, Back: 1, Keep: []quire.PageNumber{9}})
	for turn, want := range []bool{true, true, true, true, false, false} {
		if other(turn) != want {
			t.Errorf("turn %d: another task %v", turn, !want)
		}
	}
	s.Work(Work{Task: "b", Turn: 6})
	if !s.tasks.kept(9) || s.tasks.kept(0) || s.tasks.kept(8) {
		t.Error("the kept page is not kept, or another one is")
	}
	s.Work(Work{Task: "a", Turn: 7})
	if s.tasks.kept(9) || other(0) || !other(5) {
		t.Error("coming back changes nothing")
	}
	s.Work(Work{Task: "c", Turn: 1, Back: 9})
	if other(0) || other(1) {
		t.Error("a label cannot reach back to the beginning")
	}
}

// A page that the user asked for by its goal comes in whatever the table says, as
// far as quota and account go.
func TestAGoalThatIsNamedPagesIn(t *testing.T) {
	for name, c := range map[string]struct {
		account float64
		named   bool
		want    int
	}{"named": {1e9, true, 2}, "without funds": {100, true, 0}, "foreseen only": {1e9, false, 0}} {
		s, now := twoTasks(6)
		s.Work(Work{Task: "invoices", Turn: 2})
		epoch(s, now)
		s.Plan(now)
		now.Call, now.Account = now.Call+1, c.account
		sign := Sign{ByUser, SignGoal}
		s.Foresee([]Hint{{Page: 1, Sign: sign, Named: c.named}, {Page: 2, Sign: sign, Named: c.named}})
		p := s.Plan(now)
		if len(p.Foreseen) != c.want {
			t.Errorf("%s: %d pages came in", name, len(p.Foreseen))
		}
		for _, f := range p.Foreseen {
			if f.Reason != "the user named its task" || f.Chance != 1 {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
}

// What is read until the next epoch is affordable as far as the account goes, and
// as the prompt stays smaller than the appended one.
func TestAffords(t *testing.T) {
	s, now := twoTasks(6)
	price := s.carried(100, now)
	for name, c := range map[string]struct {
		account  float64
		appended int
		window   int
		want     bool
	}{
		"enough": {price, 0, 0, true}, "too little": {price - .01, 0, 0, false},
		"as large as appended": {price, s.net + 100, 0, true}, "larger": {price, s.net + 99, 0, false},
		"just room": {price, 0, s.net + 100, true}, "no room": {price, 0, s.net + 99, false},
	} {
		now.Account, now.Appended, s.set.Window = c.account, c.appended, c.window
		if got := s.Affords(100, now); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

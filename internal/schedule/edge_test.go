package schedule

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
)

// reads is a stream of n results of 110 tokens, each of which stands as a handle of
// 12 when it goes, and of two more that are guarded.
func reads(n int) (*Scheduler, Moment) {
	forms := &short{}
	forms.s = New(Settings{Care: 1, Table: flat(.5, .5)}, forms)
	s := forms.s
	for i := range n + guarded {
		p := quire.Page{Number: quire.PageNumber(i + 1), Kind: quire.PageTool, Action: quire.ActionRead, Class: quire.ClassSource}
		s.Enter(Block{Page: p, Part: quire.PartToolResult, Tokens: 110, Call: i, By: -1, Turn: 0})
	}
	return s, Moment{Call: n + 9, Prefix: 20_000, Prices: claude(), Write: 1.25}
}

// Pressure lowers no more than it takes, and says whether it lowered anything.
func TestSqueezeStopsAtItsTarget(t *testing.T) {
	for _, c := range []struct {
		target, left int
		did          bool
	}{{660, 6, false}, {659, 5, true}, {562, 5, true}, {561, 4, true}, {464, 4, true}, {0, 2, true}} {
		s, now := reads(4)
		if did := s.squeeze(now, c.target); did != c.did || len(resident(s)) != c.left {
			t.Errorf("to %d tokens: %v, %d pages stand", c.target, did, len(resident(s)))
		}
	}
	s, now := reads(4)
	now.Prices, now.Write = price.Prices{}, 0
	s.Drop(1)
	if s.squeeze(now, 0) {
		t.Error("what costs nothing to carry was weighed")
	}
	if s, now := reads(0); s.squeeze(now, 0) {
		t.Error("what is guarded was lowered")
	}
}

// Pressure that is over at its target folds nothing that holds content.
func TestPressureEndsAtItsTarget(t *testing.T) {
	for _, c := range []struct{ target, left int }{{562, 5}, {561, 4}} {
		s, now := reads(4)
		now.Turn = 5
		if s.press(now, quire.EpochForced, "for the test", c.target); len(resident(s)) != c.left {
			t.Errorf("to %d tokens: %d pages stand", c.target, len(resident(s)))
		}
	}
}

// The words of the turn before the one at hand are folded only where the window is
// too small for them, to the token, and never where there is none.
func TestWordsGoLast(t *testing.T) {
	pressed := func(window int) (net int, stay bool) {
		forms := &short{}
		forms.s = New(Settings{Care: 1, Table: flat(.5, .5), Window: window, Budget: 10}, forms)
		s := forms.s
		for turn := range 5 {
			page := quire.PageNumber(2*turn + 1)
			s.Enter(Block{Page: quire.Page{Number: page, Kind: quire.PageUser}, Part: quire.PartUser, Tokens: 90, Call: turn, By: -1, Turn: turn})
			s.Enter(Block{Page: quire.Page{Number: page + 1, Kind: quire.PageAssistant}, Part: quire.PartText, Tokens: 70, Call: turn, By: turn, Turn: turn})
		}
		s.press(Moment{Call: 20, Turn: 4, Prefix: 20_000, Prices: claude(), Write: 1.25}, quire.EpochForced, "for the test", 1)
		return s.net, s.at[6] >= 0
	}
	if _, stay := pressed(0); !stay {
		t.Error("without a window the words went")
	}
	for window := 1; ; window++ {
		net, stay := pressed(window)
		if !stay {
			continue
		}
		if net != window {
			t.Errorf("the words of %d tokens stay from a window of %d on", net, window)
		}
		break
	}
}

// What was asked for stays for ten calls where it was shown again, and only there.
func TestFetched(t *testing.T) {
	s, _ := reads(1)
	place := Placed{Block: 0, Again: true}
	for _, c := range []struct {
		again        bool
		missed, call int
		want         bool
	}{{true, 5, 15, true}, {true, 5, 16, false}, {false, 5, 6, false}, {true, 0, 3, false}, {true, 1, 5, true}} {
		s.pages[1].missed = c.missed
		place.Again = c.again
		if got := s.fetched(place, c.call); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	delete(s.pages, 1)
	place.Again = true
	if s.fetched(place, 3) {
		t.Error("a page that is not known was fetched")
	}
}

// What was shown again leaves nothing when it goes, and its first place counts once
// more; the user's words stay.
func TestWhatIsShownAgainGoesWhole(t *testing.T) {
	s, _ := reads(3)
	s.Enter(Block{Page: quire.Page{Number: 50, Kind: quire.PageUser}, Part: quire.PartUser, Tokens: 9, Call: 0, By: -1})
	s.append(0)
	s.append(5)
	if at := s.at[0]; s.lowestAt(at) != quire.RenditionAbsent || s.lowestAt(s.at[5]) != quire.RenditionFull || s.lowestAt(1) != quire.RenditionHandle {
		t.Errorf("%s, %s and %s", s.lowestAt(at), s.lowestAt(s.at[5]), s.lowestAt(1))
	}
	s.lower(s.at[0], verdict{to: quire.RenditionAbsent})
	s.sweep(0)
	if s.at[0] != 0 || s.at[5] != 6 {
		t.Errorf("block 0 is at %d, block 5 at %d", s.at[0], s.at[5])
	}
}

// Words that a fold before them spans need no card of their own.
func TestTold(t *testing.T) {
	s, _ := reads(3)
	s.blocks[2].Part = quire.PartUser
	fold := func(span Span) []Placed { return []Placed{{Block: 1}, {Block: -1, Span: span}} }
	whole := Span{FirstBlock: 2, LastBlock: 2, FirstPage: 3, LastPage: 3}
	run := []Placed{{Block: 2}}
	if !s.told(fold(whole), run) {
		t.Error("a fold that spans the words is not seen")
	}
	for name, change := range map[string]func(*Span){
		"it begins behind them":       func(sp *Span) { sp.FirstBlock = 3 },
		"it ends before them":         func(sp *Span) { sp.LastBlock = 1 },
		"its pages begin behind them": func(sp *Span) { sp.FirstPage = 4 },
		"its pages end before them":   func(sp *Span) { sp.LastPage = 2 },
	} {
		span := whole
		change(&span)
		if s.told(fold(span), run) {
			t.Error(name)
		}
	}
	if s.told(fold(whole), []Placed{{Block: 1}}) || s.told(fold(whole), []Placed{{Block: 2}, {Block: 2}}) || s.told(fold(whole), []Placed{{Block: -1, Span: whole}}) {
		t.Error("more than the words alone is told")
	}
	if s.told([]Placed{{Block: 0, Span: whole}}, run) {
		t.Error("a block is taken for a fold")
	}
	s.blocks[0].Part = quire.PartUser
	if !s.told(fold(Span{FirstBlock: 0, LastBlock: 0, FirstPage: 1, LastPage: 1}), []Placed{{Block: 0}}) {
		t.Error("the first block is no other than the rest")
	}
	s.blocks[0].Tokens, s.stream[0].Tokens = 500, 500
	if _, changed := s.foldRun(0, 1); !changed {
		t.Error("the words of the first block are not folded")
	}
}

// The last two results are guarded wherever they stand, and what a card stands for
// counts.
func TestGuardFindsTheLastResults(t *testing.T) {
	s, now := reads(0)
	g := s.guard(now)
	if !g.has(0) || !g.has(1) {
		t.Errorf("%+v", g)
	}
	g = guard{from: 5, results: [guarded]int{-1, -1}}
	if !g.has(5) || g.has(4) {
		t.Errorf("what is new begins elsewhere: %+v", g)
	}
	s, now = reads(4) // six results
	s.at[5], s.at[4], s.at[2] = nowhere, rewound, nowhere
	for name, c := range map[string]struct {
		span Span
		want [guarded]int
	}{
		"nothing stands for the last one": {Span{FirstBlock: 0, LastBlock: 4}, [guarded]int{3, -1}},
		"a card begins with it":           {Span{FirstBlock: 5, LastBlock: 5}, [guarded]int{-1, 3}},
		"a card begins behind it":         {Span{FirstBlock: 6, LastBlock: 9}, [guarded]int{3, 1}},
	} {
		s.stream[0] = Placed{Block: -1, Span: c.span}
		s.at[0] = nowhere
		if got := s.guard(now).results; got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Folds that overlap count a result once: the last results that stand are guarded.
func TestGuardAmongOverlappingFolds(t *testing.T) {
	s, now := reads(6) // eight results
	for i := range 6 {
		s.at[i] = nowhere
	}
	s.stream = []Placed{{Block: -1, Span: Span{FirstBlock: 0, LastBlock: 5}}, {Block: 6}, {Block: -1, Span: Span{FirstBlock: 3, LastBlock: 6}}, {Block: 7}}
	s.at[6], s.at[7] = 1, 3
	if !s.folded(0) || !s.folded(6) || s.folded(7) {
		t.Error("what a card stands for is not known")
	}
	if s.stream[0] = (Placed{Block: 0}); s.folded(0) {
		t.Error("a block is taken for a card")
	}
	if g := s.guard(now); !g.has(1) || !g.has(3) {
		t.Errorf("%+v", g)
	}
}

// A sign says whose words point to a page; of two that are as likely the first
// counts.
func TestSigns(t *testing.T) {
	if a, b := (Sign{ByUser, SignPath}).String(), (Sign{ByModel, SignPath}).String(); a != "the user's new words hold its path" || b != "the model's last words hold its path" {
		t.Errorf("%q, %q", a, b)
	}
	s, now := foreseeing(3, 100)
	certain(s)
	s.Foresee([]Hint{{Page: 1, Sign: Sign{ByModel, SignPath}}, {Page: 1, Sign: Sign{ByUser, SignQuote}}})
	if p := s.Plan(now); len(p.Foreseen) != 1 || !strings.HasPrefix(p.Foreseen[0].Reason, "the model's last words hold its path") {
		t.Errorf("%+v", p.Foreseen)
	}
}

// What is just affordable, just worth it, and just has a place comes in; what has
// no tokens is nothing.
func TestForesightAtItsBounds(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *Scheduler, now *Moment)
		want   int
	}{
		"the whole account": {func(s *Scheduler, now *Moment) { now.Account = s.carried(100, *now) }, 1},
		"just worth it": {func(s *Scheduler, now *Moment) {
			s.set.Table.Foresight.Sign[ByModel][SignPath] = s.worth(100, *now)
		}, 1},
		"a room with a place": {func(s *Scheduler, _ *Moment) { s.Resize(1e6, s.net+100) }, 1},
		"nothing": {func(s *Scheduler, _ *Moment) {
			s.blocks[0].Tokens, s.at[0] = 0, nowhere
		}, 0},
		"it stands":             {func(s *Scheduler, _ *Moment) { s.append(0) }, 0},
		"it came in this epoch": {func(s *Scheduler, _ *Moment) { s.foresight.brought = map[quire.PageNumber]bool{1: true} }, 0},
	} {
		s, now := foreseeing(3, 100)
		certain(s)
		c.change(s, &now)
		hint(s, 1)
		if got := s.Plan(now).Foreseen; len(got) != c.want {
			t.Errorf("%s: %d pages came in", name, len(got))
		}
	}
	s, _ := foreseeing(1, 100)
	s.set.Table = nil
	if s.foreseeable(Moment{}) != nil {
		t.Error("without a table something is foreseen")
	}
}

// One image that goes begins an epoch; handles, folds and what is shown again are
// no images to be taken; the first block is no other than the rest.
func TestUnloadAtItsBounds(t *testing.T) {
	s, now := loaded(2, 1_000, 10)
	s.Hold(Cap{Images: 1})
	s.dirty, s.calls = len(s.stream)-2, now.Call
	if p := s.Plan(now); p.Kind != quire.EpochForced || len(shown(s)) != 1 {
		t.Errorf("%q, %v stand", p.Kind, shown(s))
	}
	s, now = loaded(4, 1_000, 10)
	s.stream[1].Form = quire.RenditionHandle
	s.stream[2] = Placed{Block: -1, Form: quire.RenditionCard, Tokens: 9}
	if s.media(1, now).to != "" || s.media(2, now).to != "" || s.media(0, now).to != "" || s.media(3, now).to != quire.RenditionHandle {
		t.Error("what is no image is taken for one")
	}
	s.blocks[0].Part, s.blocks[0].Images = quire.PartImage, 1
	if s.media(0, now).to != quire.RenditionHandle {
		t.Error("the first block cannot go")
	}
	s.cap = Cap{Images: 1}
	s.stream[5].Again = true
	s.dirty = 0
	s.admit()
	if got := shown(s); !slices.Equal(got, []quire.PageNumber{6}) {
		t.Errorf("%v stand", got)
	}
}

// Texts stay where only images are too many, even where a body is as large as may
// be.
func TestImagesAloneDoNotPress(t *testing.T) {
	for _, bytes := range []int{0, 1, 2} {
		s, now := reads(6)
		for i := range s.blocks {
			s.blocks[i].Load = Load{Bytes: 100}
		}
		for n := range 3 {
			s.Enter(Block{Page: quire.Page{Number: quire.PageNumber(60 + n), Kind: quire.PageImage}, Part: quire.PartImage, Tokens: 90, Call: now.Call, By: -1, Load: Load{1_000, 1, 5}})
		}
		s.dirty, s.calls = len(s.stream)-3, now.Call
		if s.Hold(Cap{Images: 2}); bytes > 0 {
			s.Hold(Cap{Images: 2, Bytes: s.Bytes() + bytes - 1})
		}
		if p := s.Plan(now); p.Kind != "" || len(resident(s)) != 8 || len(shown(s)) != 2 {
			t.Errorf("%q, %d results and %d images stand", p.Kind, len(resident(s)), len(shown(s)))
		}
	}
}

// The first epoch that begins brings in the tool for recalling, and those after it
// have it.
func TestSchema(t *testing.T) {
	s := plain(Settings{Schema: 50, Notice: 7}, 1)
	if s.schema() != 0 || s.brings() != 57 || !s.renews() {
		t.Errorf("before: %d, %d, %v", s.schema(), s.brings(), s.renews())
	}
	s.plan.kind = quire.EpochFree
	if s.schema() != 50 {
		t.Errorf("with it: %d", s.schema())
	}
	s.plan.kind, s.epochs = "", []int{3}
	if s.schema() != 50 || s.brings() != 7 || s.renews() {
		t.Errorf("after: %d, %d, %v", s.schema(), s.brings(), s.renews())
	}
	if s := plain(Settings{}, 1); s.renews() {
		t.Error("an epoch without a tool changes the head")
	}
}

// What a cache does not serve before a change, at each bound.
func TestUnserved(t *testing.T) {
	upTo := []int{0, 100, 300, 600}
	for name, c := range map[string]struct {
		prefix, least, step, schema int
		ends                        bool
		at                          []int
		change, want                int
	}{
		"any prefix":                       {prefix: 1_000, change: 2, want: 0},
		"in steps":                         {prefix: 1_000, step: 64, change: 2, want: 63},
		"just long enough":                 {prefix: 1_000, least: 1_300, change: 2, want: 0},
		"too short":                        {prefix: 1_000, least: 1_301, change: 2, want: 1_300},
		"at an end":                        {prefix: 1_000, ends: true, at: []int{1, 2}, change: 2, want: 0},
		"behind an end":                    {prefix: 1_000, ends: true, at: []int{1}, change: 2, want: 200},
		"before all ends":                  {prefix: 1_000, ends: true, at: []int{3}, change: 2, want: 300},
		"an end that is just long enough":  {prefix: 1_000, least: 1_100, ends: true, at: []int{1}, change: 2, want: 200},
		"an end that is too short":         {prefix: 1_000, least: 1_101, ends: true, at: []int{1}, change: 2, want: 1_300},
		"a constant part of the length":    {prefix: 1_000, least: 1_000, ends: true, change: 2, want: 300},
		"a constant part that is shorter":  {prefix: 1_000, least: 1_001, ends: true, change: 2, want: 1_300},
		"the first epoch changes the head": {prefix: 1_000, schema: 50, ends: true, at: []int{2}, change: 2, want: 1_300},
	} {
		s := plain(Settings{Schema: c.schema}, 1)
		s.ends, s.dirty = c.at, 3
		now := Moment{Prefix: c.prefix, Least: c.least, Step: c.step, Ends: c.ends}
		if got := s.unserved(upTo, c.change, now); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// The reason of an epoch tells of a budget that grew; a prompt that goes on does
// not.
func TestAnEpochTellsOfItsBudget(t *testing.T) {
	s, now := reads(6)
	s.spiral.page, s.spiral.budget = 7, 99
	if p := s.Plan(now); p.Reason != "" {
		t.Errorf("%q", p.Reason)
	}
	now.Call, now.Cold, s.fresh = now.Call+1, "a pause", true
	s.Drop(1)
	if p := s.Plan(now); p.Reason != "a pause, and the budget is now 99 because p7 was missed after 2 epochs" {
		t.Errorf("%q", p.Reason)
	}
}

// Going back takes out what came after, without an epoch; of several the farthest
// counts.
func TestBack(t *testing.T) {
	s, _ := reads(4)
	s.Back(6)
	if s.plan.back != 0 || len(s.stream) != 6 {
		t.Errorf("going back behind the end: %d, %d", s.plan.back, len(s.stream))
	}
	s.Back(4)
	s.Back(5)
	if s.plan.back != 5 || len(s.stream) != 4 || s.plan.kind != "" {
		t.Errorf("%d, %d places, %q", s.plan.back, len(s.stream), s.plan.kind)
	}
	s.Back(2)
	if s.plan.back != 3 || len(s.stream) != 2 || s.at[2] != rewound || s.at[1] != 1 {
		t.Errorf("%d, %d places", s.plan.back, len(s.stream))
	}
}

// A block that only stood where it was shown again is nowhere once that is cut, and
// what was foreseen and stands first is not forgotten with what went.
func TestCut(t *testing.T) {
	s, _ := reads(2)
	s.append(0)
	s.stream = slices.Delete(s.stream, 0, 1)
	s.locate()
	s.cut(3)
	if s.at[0] != nowhere {
		t.Errorf("block 0 is at %d", s.at[0])
	}
	s, _ = reads(2)
	s.foresight.stands = []Foreseen{{Page: 1, Block: 0}, {Page: 3, Block: 2}}
	s.Rewind(1)
	if got := s.foresight.stands; len(got) != 1 || got[0].Block != 0 {
		t.Errorf("%+v", got)
	}
	if !s.Stands(1) || s.Stands(3) {
		t.Error("what stands first does not stand, or what went does")
	}
}

// A tool call that is in no page enters as well.
func TestACallWithoutAPage(t *testing.T) {
	s := plain(Settings{}, 1)
	s.Enter(Block{Part: quire.PartToolCall, Tokens: 5, Call: 1, By: 0})
	if s.Net() != 5 || s.pages[0] != nil {
		t.Errorf("%d tokens, %+v", s.Net(), s.pages[0])
	}
}

// Factors that are no factors are refused; those of a table that knows no tasks
// have none.
func TestFactorsOfATable(t *testing.T) {
	var f Factors
	if json.Unmarshal([]byte(`{"task":"many"}`), &f) == nil {
		t.Error("no error")
	}
	if err := json.Unmarshal([]byte(`{}`), &f); err != nil || f.Task != [tasked]float64{1, 1} {
		t.Errorf("%v, %v", f.Task, err)
	}
}

// Turns before the first task belong to none, and no page is page 0.
func TestTasksBegin(t *testing.T) {
	s := plain(Settings{}, 1)
	s.Work(Work{Task: "a", Turn: 2, Keep: []quire.PageNumber{0}})
	if s.tasks.elsewhere(0) || s.tasks.elsewhere(2) || s.tasks.kept(0) {
		t.Error("what belongs to no task is of another one")
	}
}

// What left the shadow before anything was sent leaves nothing.
func TestLeft(t *testing.T) {
	a := NewAccount(Terms{Rates: price.Rates{Prices: claude()}, Prefix: 100})
	a.Entered(1, 300, false)
	if a.Left(1, 300); a.shadow.sent != 0 || a.shadow.tokens != 0 || len(a.shadow.out) != 0 {
		t.Errorf("%+v", a.shadow)
	}
}

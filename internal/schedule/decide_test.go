package schedule

import (
	"slices"
	"testing"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
)

// sized is a scheduler of a table without needs whose forms have one token, and
// folds as many as a function says.
type sized func(Span) int

func (f sized) Size(int, quire.Rendition) int { return 1 }
func (f sized) Fold(s Span) int               { return f(s) }

func plain(set Settings, fold int) *Scheduler {
	set.Table = flat(0, 0)
	return New(set, sized(func(Span) int { return fold }))
}

func TestOver(t *testing.T) {
	for _, c := range []struct {
		name                               string
		budget, room, window, net, entered int
		want                               int
	}{
		{"nothing is set", 0, 0, 0, 500, 500, 0},
		{"within the budget", 100, 0, 200, 100, 300, 0},
		{"above the budget", 100, 0, 200, 101, 300, 100},
		{"above it, but no window was outlived", 100, 0, 200, 101, 200, 0},
		{"above it, and no window is known", 100, 0, 0, 101, 101, 100},
		{"within the room", 0, 100, 200, 100, 300, 0},
		{"above the room", 0, 100, 200, 101, 101, 100},
		{"no budget, above the room", -1, 100, 200, 150, 300, 100},
		{"a budget of nothing is none", 0, 100, 200, 150, 300, 100},
		{"within the budget, above the room", 160, 100, 200, 150, 300, 100},
		{"above both: the budget", 100, 120, 200, 150, 300, 100},
		{"a room of nothing is all", 0, 0, 200, 150, 300, 0},
		{"a room below nothing is all", 0, -5, 200, 150, 300, 0},
	} {
		s := plain(Settings{Budget: c.budget, Room: c.room, Window: c.window}, 1)
		s.net, s.entered = c.net, c.entered
		if got := s.over(); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// A free epoch that frees 100 tokens begins only where no later call can be dearer
// for it, however its cache rounds.
func TestAFreeEpochLightensEachCall(t *testing.T) {
	for _, c := range []struct {
		name                        string
		notice, prefix, step, least int
		read, write                 float64
		want                        bool
	}{
		{"it brings nothing in", 0, 0, 0, 0, .1, 1, true},
		{"it brings in less", 99, 0, 0, 0, .1, 1, true},
		{"it brings in as much", 100, 0, 0, 0, .1, 1, false},
		{"a step of one token", 0, 0, 1, 0, .1, 1, true},
		{"a step as large as what reading it costs", 0, 0, 26, 0, .2, 1, true},
		{"a step that is larger", 0, 0, 27, 0, .2, 1, false},
		{"reading costs as much as writing", 0, 0, 64, 0, 1, 1, true},
		{"reading costs more", 0, 0, 64, 0, 2, 1, true},
		{"reading is free, in steps", 0, 0, 64, 0, 0, 1, false},
		{"reading is free", 0, 0, 0, 0, 0, 1, true},
		{"too short before and after it", 0, 10, 0, 112, .1, 1, false},
		{"too short after it", 0, 10, 0, 111, .1, 1, false},
		{"just long enough after it", 0, 10, 0, 11, .1, 1, true},
		{"a token short after it", 0, 10, 0, 12, .1, 1, false},
	} {
		s := plain(Settings{Notice: c.notice}, 1)
		s.Enter(Block{Page: quire.Page{Number: 1}, Part: quire.PartText, Tokens: 101, Call: 1, By: 0})
		now := Moment{Call: 9, Prefix: c.prefix, Step: c.step, Least: c.least, Prices: price.Prices{Read: c.read}, Write: c.write}
		s.free(now)
		if got := s.plan.kind == quire.EpochFree && s.net == 1; got != c.want || !got && s.net != 101 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestBound(t *testing.T) {
	for _, c := range []struct{ budget, window, want int }{
		{0, 0, 0}, {0, 200, 200}, {-1, 200, 200}, {100, 0, 100}, {100, 200, 100}, {300, 200, 200}, {200, 200, 200},
	} {
		if got := plain(Settings{Budget: c.budget, Window: c.window}, 1).bound(); got != c.want {
			t.Errorf("budget %d, window %d: %d, want %d", c.budget, c.window, got, c.want)
		}
	}
}

// failures.md A19: a budget doubles up to the window, and a full window is then
// left with half of it.
func TestGrow(t *testing.T) {
	for _, c := range []struct{ budget, window, times, want, relieved int }{
		{100, 1000, 0, 100, 350}, {100, 1000, 1, 200, 350}, {300, 1000, 2, 1000, 500}, {400, 1000, 1, 800, 400},
		{1000, 1000, 1, 1000, 350}, {100, 0, 2, 400, 200}, {0, 1000, 1, 0, 350}, {-1, 1000, 1, -1, 350}, {2000, 1000, 1, 2000, 350},
	} {
		s := plain(Settings{Budget: c.budget, Window: c.window}, 1)
		for range c.times {
			s.grow(7)
		}
		if s.budget != c.want || s.relieved() != c.relieved {
			t.Errorf("%+v: budget %d, a full window is left with %d", c, s.budget, s.relieved())
		}
		if told := s.spiral.told() != ""; told != (c.want != c.budget) || s.spiral.told() != "" {
			t.Errorf("%+v: told %v", c, told)
		}
	}
}

// What belongs to no page is no page's fault.
func TestAFaultIsOfAPage(t *testing.T) {
	s := plain(Settings{Budget: 100, Window: 1000}, 1)
	for range 3 {
		s.spiral.pressed++
		s.fault(0)
	}
	if s.budget != 100 {
		t.Fatalf("the budget is %d", s.budget)
	}
}

// turnsOf enters turns of two blocks of 50 tokens each, and returns the moment
// after them.
func turnsOf(s *Scheduler, first, n int) Moment {
	for i := range n {
		for range 2 {
			s.Enter(Block{Page: quire.Page{Number: quire.PageNumber(len(s.blocks) + 1)}, Part: quire.PartText, Tokens: 50, Call: i, By: i - 1, Turn: first + i})
		}
	}
	s.dirty = len(s.stream)
	return Moment{Call: n, Turn: first + n - 1, Prices: claude(), Write: 1.25}
}

func spans(s *Scheduler) (out []string) {
	for _, p := range s.stream {
		out = append(out, place(p))
	}
	return out
}

// One pass folds neighbouring turns by eight, and not the last two.
func TestOnePassFoldsByEight(t *testing.T) {
	s := plain(Settings{Window: 100_000}, 20)
	now := turnsOf(s, 3, 12)
	for range 3 { // two results that are protected, and a call that keeps them apart
		s.Enter(Block{Page: quire.Page{Number: quire.PageNumber(len(s.blocks) + 1)}, Part: quire.PartToolResult, Tokens: 5, Call: 12, By: 11, Turn: 14})
	}
	now.Call = 12
	s.foldBefore(now, now.Turn-1, s.staying(now, true, now.Turn-1))
	want := []string{
		"[turns 3-10, b0-b15, p1-p16, level 2, 20 tokens]", "[turns 11-12, b16-b19, p17-p20, level 2, 20 tokens]",
		"b20", "b21", "b22", "b23", "b24", "b25", "b26",
	}
	if got := spans(s); !slices.Equal(got, want) {
		t.Fatalf("got %v", got)
	}
}

// What belongs to no page is folded too, whatever its form, and is no decision.
// A stream may end in a fold.
func TestFoldsHoldWhatIsOfNoPage(t *testing.T) {
	s := plain(Settings{Window: 100_000}, 20)
	now := turnsOf(s, 0, 1)
	s.Enter(Block{Part: quire.PartMachine, Tokens: 50, Call: 0, By: -1})
	now.Call, now.Turn = 5, 5
	for i := range s.stream[:2] {
		s.stream[i].Form = quire.RenditionCard
	}
	for i := range 3 { // what is protected
		s.Enter(Block{Page: quire.Page{Number: quire.PageNumber(10 + i)}, Part: quire.PartToolResult, Tokens: 5, Call: 5, By: 4, Turn: 5})
	}
	s.fold(now, false)
	want := []string{"[turns 0-0, b0-b2, p1-p2, level 1, 20 tokens]", "b3", "b4", "b5"}
	if got := spans(s); !slices.Equal(got, want) || len(s.plan.decisions) != 2 {
		t.Fatalf("got %v with %d decisions", got, len(s.plan.decisions))
	}
	s.cut(1)
	s.foldBefore(now, 9, s.staying(now, true, now.Turn-1))
	if got := spans(s); !slices.Equal(got, want[:1]) {
		t.Fatalf("got %v", got)
	}
}

func TestCover(t *testing.T) {
	sp := Span{FirstBlock: -1}
	sp.cover(4, 0)
	sp.cover(5, 3)
	sp.cover(6, 0)
	sp.cover(7, 2)
	sp.cover(1, 2) // a copy
	if want := (Span{FirstBlock: 4, LastBlock: 7, FirstPage: 2, LastPage: 3}); sp != want {
		t.Fatalf("%+v, want %+v", sp, want)
	}
}

// folds makes a stream of a block and of folds of one turn each, with a block
// behind each fold.
func folds(s *Scheduler, sizes ...int) {
	now := turnsOf(s, 0, len(sizes)+1)
	_ = now
	s.stream = s.stream[:1]
	for i, n := range sizes {
		b := 2 + 2*i
		s.stream = append(s.stream,
			Placed{Block: -1, Form: quire.RenditionCard, Tokens: n, Span: Span{First: i + 1, Last: i + 1, FirstPage: quire.PageNumber(b + 1), LastPage: quire.PageNumber(b + 1), FirstBlock: b, LastBlock: b, Level: 1}},
			Placed{Block: b + 1, Form: quire.RenditionFull, Tokens: 50})
	}
	s.net = sizeOf(s.stream)
}

// failures.md A17: cards together take a tenth of the bound at most, 5,000
// tokens where it is large; then the oldest two thirds are joined, if that is
// shorter.
func TestJoin(t *testing.T) {
	for _, c := range []struct {
		name    string
		window  int
		joined  int
		sizes   []int
		folds   int
		tokens  int
		oldest  string
		decline bool
	}{
		{"at the share", 1000, 10, []int{50, 50}, 2, 100, "", true},
		{"above it", 1000, 10, []int{50, 51}, 1, 10, "[turns 1-2, b2-b4, p3-p5, level 2, 10 tokens]", false},
		{"one alone", 1000, 10, []int{101}, 1, 101, "", true},
		{"three: the oldest two", 1000, 10, []int{40, 40, 40}, 2, 50, "[turns 1-2, b2-b4, p3-p5, level 2, 10 tokens]", false},
		{"six: the oldest four", 1000, 10, []int{40, 40, 40, 40, 40, 40}, 3, 90, "[turns 1-4, b2-b8, p3-p9, level 2, 10 tokens]", false},
		{"at the most of a large bound", 1_000_000, 10, []int{2500, 2500}, 2, 5000, "", true},
		{"above it", 1_000_000, 10, []int{2500, 2501}, 1, 10, "[turns 1-2, b2-b4, p3-p5, level 2, 10 tokens]", false},
		{"as long as the cards apart", 1000, 80, []int{40, 40, 40}, 3, 120, "", true},
		{"one token shorter", 1000, 79, []int{40, 40, 40}, 2, 119, "[turns 1-2, b2-b4, p3-p5, level 2, 79 tokens]", false},
	} {
		s := plain(Settings{Window: c.window}, c.joined)
		folds(s, c.sizes...)
		first, net := place(s.stream[1]), s.net
		s.join()
		n, tokens := 0, 0
		for _, p := range s.stream {
			if p.Block < 0 {
				n, tokens = n+1, tokens+p.Tokens
			}
		}
		if c.decline {
			c.oldest = first
		}
		if n != c.folds || tokens != c.tokens || place(s.stream[1]) != c.oldest || s.net != sizeOf(s.stream) || c.decline != (s.net == net) {
			t.Errorf("%s: %v, %d tokens, net %d", c.name, spans(s), tokens, s.net)
		}
	}
}

// Where a token costs nothing, nothing goes for the sake of money; pressure folds.
func TestWithoutPricesNothingGoesFree(t *testing.T) {
	s := plain(Settings{}, 1)
	read := quire.Page{Number: 1, Action: quire.ActionRead, Class: quire.ClassSource}
	s.Enter(Block{Page: read, Part: quire.PartToolResult, Tokens: 500})
	for i := range 2 {
		s.Enter(Block{Page: quire.Page{Number: quire.PageNumber(2 + i)}, Part: quire.PartToolResult, Tokens: 5, Call: 1})
	}
	if p := s.Plan(Moment{Call: 2, Cold: "it has lapsed"}); p.Kind != "" {
		t.Fatalf("%s: %s", p.Kind, p.Reason)
	}
	if p := s.Plan(Moment{Call: 2, Cold: "it has lapsed", Prices: price.Prices{Read: 1e-9}}); p.Kind != quire.EpochFree {
		t.Fatal("nothing went where it costs something")
	}
}

// A user message that entered with this call, wherever it stands.
func TestTurned(t *testing.T) {
	s := plain(Settings{}, 1)
	user := Block{Page: quire.Page{Number: 1}, Part: quire.PartUser, Tokens: 5, Call: 1}
	s.Enter(user)
	if !s.turned(Moment{Call: 1}) || s.turned(Moment{Call: 2}) {
		t.Fatal("the first block")
	}
	s.Enter(Block{Part: quire.PartMachine, Tokens: 5, Call: 1})
	if !s.turned(Moment{Call: 1}) {
		t.Fatal("a line behind it")
	}
	s.stream = append(s.stream, Placed{Block: -1})
	if s.turned(Moment{Call: 1}) {
		t.Fatal("a fold behind it")
	}
}

// What an undo puts behind a restored stream: what entered since, and folds that
// hold some of it; not the lines that told of epochs.
func TestSince(t *testing.T) {
	s := plain(Settings{}, 1)
	for _, b := range []Block{
		{Part: quire.PartMachine, By: -1}, {Part: quire.PartMachine, By: -1, Page: quire.Page{Number: 1}},
		{Part: quire.PartThinking, By: 0}, {Part: quire.PartThinking, By: -1}, {Part: quire.PartMachine, By: 0},
	} {
		s.Enter(b)
	}
	for _, c := range []struct {
		p      Placed
		blocks int
		want   bool
	}{
		{Placed{Block: 0}, 0, false}, {Placed{Block: 1}, 0, true}, {Placed{Block: 2}, 0, true}, {Placed{Block: 3}, 0, true}, {Placed{Block: 4}, 0, true},
		{Placed{Block: 1}, 1, true}, {Placed{Block: 1}, 2, false},
		{Placed{Block: -1, Span: Span{LastBlock: 5}}, 5, true}, {Placed{Block: -1, Span: Span{LastBlock: 4}}, 5, false},
	} {
		if got := s.since(c.p, c.blocks); got != c.want {
			t.Errorf("%+v after %d blocks: %v", c.p, c.blocks, got)
		}
	}
}

// Source reads age by steps of their own.
func TestSourceReadsAreAGroup(t *testing.T) {
	f := neutral()
	f.Size[0][0], f.Idle[0][0] = 7, 3
	if source, other := f.Within(Case{Kind: KindSource}, 1), f.Within(Case{Kind: KindRead}, 1); source < 10*other {
		t.Fatalf("source reads %v, others %v", source, other)
	}
}

// Among equal blocks images go first (design, section 6.9): with the shipped table
// missing one weighs less than missing any result of a tool.
func TestImagesGoFirstAmongEquals(t *testing.T) {
	table, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	loss := func(c Case) float64 { return DefaultCare*table.Strict.Within(c, 30) + table.Wide.Within(c, 30) }
	for k := KindSource; k <= KindWrite; k++ {
		for size := range uint8(sizes) {
			for _, idle := range []int{1, 10, 100} {
				image, other := Case{Kind: KindMedia, Size: size, Idle: idle}, Case{Kind: k, Size: size, Idle: idle}
				if loss(image) >= loss(other) {
					t.Errorf("size %d, idle for %d calls: an image weighs %v, %s %v", size, idle, loss(image), k, loss(other))
				}
			}
		}
	}
}

// A budget that grew is halved again when its task is over: at the first
// epoch under pressure beyond a number without another spiral, and never below
// the setting.
func TestABudgetShrinksAgain(t *testing.T) {
	s := plain(Settings{Budget: 150, Window: 1000}, 1)
	s.grow(7)
	s.grow(7)
	var got []int
	for range 2*calmEpochs + 4 {
		s.calm()
		got = append(got, s.budget)
	}
	want := slices.Concat(slices.Repeat([]int{600}, calmEpochs), slices.Repeat([]int{300}, calmEpochs+1), slices.Repeat([]int{150}, 3))
	if !slices.Equal(got, want) || s.spiral.pressed != len(want) {
		t.Fatalf("%v after %d epochs", got, s.spiral.pressed)
	}
	s.grow(7)
	s.budget = 200 // as a budget does that is no power of two of its setting
	for range calmEpochs + 1 {
		s.calm()
	}
	if s.budget != 150 {
		t.Fatalf("the budget is %d, below its setting", s.budget)
	}
}

// A response stays or goes as a whole, from the first block on.
func TestAResponseStaysAsAWhole(t *testing.T) {
	s := plain(Settings{Window: 1000}, 1)
	a, b := quire.Page{Number: 1}, quire.Page{Number: 2}
	s.Enter(Block{Page: a, Part: quire.PartToolCall, Tokens: 5, By: 2})
	s.Enter(Block{Page: quire.Page{Number: 3}, Part: quire.PartText, Tokens: 5, By: 1})
	s.Enter(Block{Page: b, Part: quire.PartToolCall, Tokens: 5, By: 2})
	for _, p := range []quire.Page{a, b, {Number: 4}, {Number: 5}} {
		s.Enter(Block{Page: p, Part: quire.PartToolResult, Tokens: 5, By: -1})
	}
	s.Pin(2, 0)
	stays := s.staying(Moment{Call: 9, Turn: 9}, true, 8)
	if !stays[0] || stays[1] || !stays[2] || !stays[3] || !stays[4] {
		t.Fatalf("%v stay", stays)
	}
}

// Where nothing goes no cut is best, though it would cost nothing.
func TestNoCutWhereNothingGoes(t *testing.T) {
	s := plain(Settings{}, 1)
	s.began(0)
	s.Enter(Block{Part: quire.PartMachine, Tokens: 5, Call: 1})
	if cut, price, saves := s.bestCut(Moment{Call: 1, Prices: claude(), Write: 1.25}); cut != -1 || price != 0 || saves != 0 {
		t.Fatalf("cut %d for %v saves %v", cut, price, saves)
	}
}

// An epoch for a bound is asked for as soon as its target can be paid.
func TestAnEpochIsBoughtWithTheLastToken(t *testing.T) {
	for _, missing := range []float64{0, 1e-6} {
		s := plain(Settings{Room: 600}, 1)
		for i := range 5 {
			s.Enter(Block{Page: quire.Page{Number: quire.PageNumber(i + 1), Action: quire.ActionRead}, Part: quire.PartToolResult, Tokens: 150, Call: i})
			s.Plan(Moment{Call: i, Prices: claude(), Write: 1.25})
		}
		s.Enter(Block{Part: quire.PartMachine, Tokens: 1, Call: 5})
		now := Moment{Call: 5, Prices: claude(), Write: 1.25}
		now.Account = s.rewrite(now, budgetShare*600) - missing
		if p := s.Plan(now); (p.Kind == quire.EpochPaid) != (missing == 0) {
			t.Errorf("%v are missing: %q", missing, p.Kind)
		}
	}
}

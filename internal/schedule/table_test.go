package schedule

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
	"pgregory.net/rapid"
)

func drawCase(t *rapid.T) Case {
	n := func(name string, ends int) uint8 { return uint8(rapid.IntRange(0, ends-1).Draw(t, name)) }
	return Case{
		Kind: Kind(n("kind", int(kinds))), Quoted: n("quoted", quotings), Size: n("size", sizes), Edit: n("edit", edits),
		Turn: n("turn", turns), Heat: n("heat", heats), Task: n("task", tasked), Idle: rapid.IntRange(0, 400).Draw(t, "idle"),
	}
}

// The chance within some calls is that of the sum over each of them.
func TestWithinIsThePlainSum(t *testing.T) {
	table, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		c, n := drawCase(r), rapid.IntRange(0, 300).Draw(r, "n")
		for _, f := range []*Factors{&table.Strict, &table.Wide} {
			sum := 0.0
			for i := range n {
				sum += f.chance(c, c.Idle+i)
			}
			if got, want := f.Within(c, n), 1-math.Exp(-sum); math.Abs(got-want) > 1e-9 {
				r.Fatalf("%+v within %d calls: %v, the sum says %v", c, n, got, want)
			}
		}
	})
}

// chance is that of a need at one call, idle counted up to it.
func (f *Factors) chance(c Case, idle int) float64 {
	return f.base(c) * f.Idle[c.group()][idleStep(idle)]
}

func TestStepsEndWhereTheySay(t *testing.T) {
	for _, c := range []struct {
		name string
		got  []uint8
		want []uint8
	}{
		{"sizes", []uint8{sizeStep(0), sizeStep(59), sizeStep(60), sizeStep(199), sizeStep(200), sizeStep(7_999), sizeStep(8_000)}, []uint8{0, 0, 1, 1, 2, 5, 6}},
		{"idle", []uint8{idleStep(0), idleStep(1), idleStep(2), idleStep(3), idleStep(4), idleStep(220), idleStep(221)}, []uint8{0, 0, 1, 2, 3, 12, 13}},
		{"heat", []uint8{heatStep(1), heatStep(1.05), heatStep(1.06), heatStep(5), heatStep(5.1)}, []uint8{0, 0, 1, 4, 5}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}

func TestKindOf(t *testing.T) {
	result := func(a quire.Action, class quire.Class) Block {
		return Block{Part: quire.PartToolResult, Page: quire.Page{Action: a, Class: class}}
	}
	call := func(a quire.Action, kind quire.PageKind) Block {
		return Block{Part: quire.PartToolCall, Page: quire.Page{Action: a, Kind: kind}}
	}
	for _, c := range []struct {
		block Block
		want  string
		to    quire.Rendition
	}{
		{result(quire.ActionRead, quire.ClassSource), "source read", quire.RenditionHandle},
		{result(quire.ActionRead, quire.ClassLog), "read", quire.RenditionHandle},
		{result(quire.ActionSearch, quire.ClassProse), "search", quire.RenditionHandle},
		{result(quire.ActionRun, quire.ClassTest), "test", quire.RenditionHandle},
		{result(quire.ActionRun, quire.ClassSource), "run", quire.RenditionHandle},
		{result(quire.ActionList, quire.ClassProse), "list", quire.RenditionHandle},
		{result(quire.ActionEdit, quire.ClassProse), "edited", quire.RenditionHandle},
		{result(quire.ActionWrite, quire.ClassProse), "edited", quire.RenditionHandle},
		{result("", quire.ClassProse), "result", quire.RenditionHandle},
		{call(quire.ActionEdit, quire.PageWritten), "edit", quire.RenditionCard},
		{call(quire.ActionWrite, quire.PageWritten), "write", quire.RenditionCard},
		{call(quire.ActionEdit, quire.PageTool), "arguments", quire.RenditionCard},
		{Block{Part: quire.PartText}, "text", quire.RenditionCard},
		{Block{Part: quire.PartThinking}, "thinking", quire.RenditionAbsent},
		{Block{Part: quire.PartMachine}, "machine", quire.RenditionHandle},
		{Block{Part: quire.PartUser}, "user", quire.RenditionFull},
		{Block{Part: quire.PartImage}, "media", quire.RenditionHandle},
		{Block{Part: quire.PartDocument}, "media", quire.RenditionHandle},
	} {
		if got := KindOf(&c.block).String(); got != c.want {
			t.Errorf("%+v is %q, want %q", c.block, got, c.want)
		}
		c.block.Page.Number = 1
		if got := lowest(&c.block); got != c.to {
			t.Errorf("%s goes to %s, want %s", c.want, got, c.to)
		}
		c.block.Page.Number = 0
		if got := lowest(&c.block); got != quire.RenditionAbsent {
			t.Errorf("%s of no page goes to %s", c.want, got)
		}
	}
}

// What is known of a block when it is judged.
func TestCases(t *testing.T) {
	s := newTest(t, Settings{})
	read := quire.Page{Number: 1, Action: quire.ActionRead, Target: "a.go", Class: quire.ClassSource}
	s.Enter(Block{Page: read, Part: quire.PartToolResult, Tokens: 60, Call: 1, Turn: 1})
	s.Enter(Block{Page: quire.Page{Number: 2, Action: quire.ActionRun}, Part: quire.PartToolResult, Tokens: 59, Call: 1, Turn: 1})
	s.Enter(Block{Part: quire.PartThinking, Tokens: 5, Call: 1, Turn: 1})
	at := func(i, call, turn int) Case { return s.Case(i, Moment{Call: call, Turn: turn}) }
	same := func(what string, got, want Case) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}
	same("new", at(0, 2, 1), Case{Kind: KindSource, Size: 1, Edit: 1, Idle: 1})
	same("of no file", at(1, 2, 1), Case{Kind: KindRun, Idle: 1})
	same("of no page", at(2, 4, 9), Case{Kind: KindThinking, Idle: 3})
	s.Enter(Block{Part: quire.PartThinking, Tokens: 5, Call: 3, Turn: 1})
	same("of no page, with others", at(2, 4, 9), Case{Kind: KindThinking, Idle: 3})
	same("turns later", at(0, 2, 9), Case{Kind: KindSource, Size: 1, Edit: 1, Turn: 3, Idle: 1})
	same("of a turn before", at(0, 2, 0), Case{Kind: KindSource, Size: 1, Edit: 1, Idle: 1})
	s.Refer(1, 2, 2)
	same("quoted", at(0, 5, 2), Case{Kind: KindSource, Quoted: 1, Size: 1, Edit: 1, Heat: 2, Idle: 3})
	for call := range 5 {
		s.Refer(1, 3+call, 2)
	}
	same("quoted often", at(0, 8, 3), Case{Kind: KindSource, Quoted: 2, Size: 1, Edit: 1, Turn: 1, Heat: 5, Idle: 1})
	s.Refer(1, 4, 1) // told late
	same("told late", at(0, 8, 3), Case{Kind: KindSource, Quoted: 2, Size: 1, Edit: 1, Turn: 1, Heat: 5, Idle: 1})
}

// An edit of a file is recent for ten calls; only calls that change it count.
func TestEditsOfAFile(t *testing.T) {
	s := newTest(t, Settings{})
	enter := func(part quire.PartKind, action quire.Action, target string, call int) int {
		return s.Enter(Block{Page: quire.Page{Number: quire.PageNumber(len(s.blocks) + 1), Action: action, Target: target}, Part: part, Tokens: 9, Call: call})
	}
	edit := func(i, call int) uint8 { return s.Case(i, Moment{Call: call}).Edit }
	read := enter(quire.PartToolResult, quire.ActionRead, "a.go", 1)
	run := enter(quire.PartToolResult, quire.ActionRun, "a.go", 1)
	nameless := enter(quire.PartToolResult, quire.ActionEdit, "", 1)
	enter(quire.PartToolResult, quire.ActionEdit, "a.go", 2) // what it answered
	enter(quire.PartToolCall, quire.ActionRead, "a.go", 2)
	enter(quire.PartToolCall, quire.ActionWrite, "", 2)
	if got := edit(read, 3); got != 1 {
		t.Errorf("never edited: %d", got)
	}
	written := enter(quire.PartToolCall, quire.ActionWrite, "a.go", 4)
	for _, c := range []struct {
		name string
		got  uint8
		want uint8
	}{
		{"ten calls ago", edit(read, 14), 2}, {"eleven calls ago", edit(read, 15), 3}, {"a command", edit(run, 5), 0},
		{"no name", edit(nameless, 5), 1}, {"the write itself", edit(written, 5), 2},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", c.name, c.got, c.want)
		}
	}
	enter(quire.PartToolCall, quire.ActionEdit, "a.go", 20)
	if got := edit(read, 21); got != 2 {
		t.Errorf("edited again: %d", got)
	}
}

// drawFit is a fit of random trials, each with what was seen.
func drawFit(t *rapid.T) (f *Fit, trials []trial) {
	f = &Fit{}
	for range rapid.IntRange(1, 40).Draw(t, "trials") {
		x := trial{drawCase(t), rapid.Bool().Draw(t, "strict"), rapid.Bool().Draw(t, "wide")}
		trials = append(trials, x)
		f.Seen(x.Case, x.strict, x.wide)
	}
	return f, trials
}

type trial struct {
	Case
	strict, wide bool
}

func text(t *testing.T, table *Table) string {
	out, err := json.Marshal(table)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// A table depends on what was seen, not on its order, nor on how it was split.
func TestFitHasNoOrder(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		f, trials := drawFit(r)
		whole := text(t, f.Table("v"))
		a, b, cut := &Fit{}, &Fit{}, rapid.IntRange(0, len(trials)).Draw(r, "cut")
		for i, x := range slices.Backward(trials) {
			if i < cut {
				a.Seen(x.Case, x.strict, x.wide)
			} else {
				b.Seen(x.Case, x.strict, x.wide)
			}
		}
		joined := &Fit{}
		joined.Join(b)
		joined.Join(a)
		if got := text(t, joined.Table("v")); got != whole {
			r.Fatal("another order gives another table")
		}
		if joined.Trials() != float64(len(trials)) {
			r.Fatalf("%v trials of %d", joined.Trials(), len(trials))
		}
	})
}

// Nothing that was seen moves nothing: smoothing keeps factors at one.
func TestFitOfNothingIsNeutral(t *testing.T) {
	var f Fit
	if got, want := text(t, f.Table("v")), text(t, &Table{Version: "v", Strict: neutral(), Wide: neutral(), Foresight: unknown()}); got != want {
		t.Fatalf("got %s", got)
	}
	if f.Trials() != 0 {
		t.Fatal("trials of nothing")
	}
}

// One need in one trial moves a base chance as if one need, as many as expected,
// had been seen besides, and a factor as if four had.
func TestFitIsSmoothed(t *testing.T) {
	f := neutral()
	cells := []cell{{Case{Kind: KindRun}, outcome{trials: 100, wide: 3}}}
	pick := pickers()
	wide := func(o *outcome) float64 { return o.wide }
	f.adjust(cells, wide, pick[0])
	if got, want := f.Kind[KindRun][0], .01*(3+1)/(1+1); math.Abs(got-want) > 1e-12 {
		t.Errorf("base %v, want %v", got, want)
	}
	f.adjust(cells, wide, pick[1])
	if got, want := f.Size[1][0], (3+4)/(2.0+4); math.Abs(got-want) > 1e-12 {
		t.Errorf("size %v, want %v", got, want)
	}
}

// A fit of many trials finds the chances that made them.
func TestFitRecoversTheChances(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		truth := neutral()
		factor := func(name string) float64 { return rapid.Float64Range(.3, 3).Draw(r, name) }
		for q := range quotings {
			truth.Kind[KindRun][q] = .002 * factor("kind")
			truth.Kind[KindSource][q] = .004 * factor("kind")
		}
		for g := range groups {
			truth.Size[g][2], truth.Idle[g][5] = factor("size"), factor("idle")
		}
		truth.Edit[2], truth.Turn[1], truth.Heat[3] = factor("edit"), factor("turn"), factor("heat")
		f, n := &Fit{trials: map[Case]*outcome{}}, 1e7
		for _, kind := range []Kind{KindRun, KindSource} {
			for i := range 64 * 3 {
				c := Case{Kind: kind, Quoted: uint8(i / 64), Size: uint8(i & 1 * 2), Edit: uint8(i >> 1 & 1 * 2), Turn: uint8(i >> 2 & 1), Heat: uint8(i >> 3 & 1 * 3), Idle: i >> 4 & 1 * 5}
				p := truth.base(c) * truth.Idle[c.group()][c.Idle]
				f.add(c, &outcome{trials: n, wide: n * p, strict: n * p / 2})
			}
		}
		table := f.Table("v")
		for c := range f.trials {
			want := truth.base(c) * truth.Idle[c.group()][c.Idle]
			wide, strict := table.Wide.base(c)*table.Wide.Idle[c.group()][c.Idle], table.Strict.base(c)*table.Strict.Idle[c.group()][c.Idle]
			if math.Abs(wide/want-1) > .01 || math.Abs(2*strict/want-1) > .01 {
				r.Fatalf("%+v: %v wide, %v strict; %v made them", c, wide, strict, want)
			}
		}
	})
}

// A table that is blind for a property answers the same whatever it is, and
// shares what it learns between its steps.
func TestBlindTablesDoNotSee(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		f, trials := drawFit(r)
		p := rapid.SampledFrom(Properties()).Draw(r, "property")
		blind := f.Blind(p, "v")
		for _, x := range trials {
			n := rapid.IntRange(1, 50).Draw(r, "n")
			if got, want := blind.Wide.Within(x.Case, n), blind.Wide.Within(x.without(p), n); got != want && p != PropertyIdle {
				r.Fatalf("%s: %v and %v for %+v", p, got, want, x.Case)
			}
			if got, want := blind.Strict.chance(x.Case, x.Idle), blind.Strict.chance(x.without(p), x.without(p).Idle); got != want {
				r.Fatalf("%s: %v and %v for %+v", p, got, want, x.Case)
			}
		}
	})
}

// Without a property a case is that of its first step; source reads stay apart.
func TestWithout(t *testing.T) {
	full := Case{Kind: KindRun, Quoted: 1, Size: 2, Edit: 3, Turn: 1, Heat: 4, Task: 1, Idle: 5}
	for _, c := range []struct {
		p    Property
		name string
		want Case
	}{
		{PropertyKind, "kind", Case{KindResult, 1, 2, 3, 1, 4, 1, 5}},
		{PropertyQuoted, "times quoted", Case{KindRun, 0, 2, 3, 1, 4, 1, 5}},
		{PropertySize, "size", Case{KindRun, 1, 0, 3, 1, 4, 1, 5}},
		{PropertyIdle, "idle calls", Case{KindRun, 1, 2, 3, 1, 4, 1, 0}},
		{PropertyEdit, "edits of the file", Case{KindRun, 1, 2, 0, 1, 4, 1, 5}},
		{PropertyTurn, "turns", Case{KindRun, 1, 2, 3, 0, 4, 1, 5}},
		{PropertyHeat, "heat", Case{KindRun, 1, 2, 3, 1, 0, 1, 5}},
		{PropertyTask, "task", Case{KindRun, 1, 2, 3, 1, 4, 0, 5}},
	} {
		if got := full.without(c.p); got != c.want || c.p.String() != c.name {
			t.Errorf("%s: %+v, want %+v", c.p, got, c.want)
		}
	}
	source := Case{Kind: KindSource, Size: 1}
	if got := source.without(PropertyKind); got != source {
		t.Errorf("a source read became %+v", got)
	}
	if got := len(Properties()); got != 8 {
		t.Errorf("%d properties", got)
	}
	f := neutral()
	f.Kind[KindSource][0], f.Kind[KindResult][0], f.Kind[KindRun][0] = .1, .2, .3
	f.level(PropertyKind)
	if f.Kind[KindSource][0] != .1 || f.Kind[KindRun][0] != .2 {
		t.Errorf("source reads %v, runs %v", f.Kind[KindSource][0], f.Kind[KindRun][0])
	}
}

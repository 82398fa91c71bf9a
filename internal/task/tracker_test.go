package task

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/page"
	"github.com/quire-agent/quire/internal/quire"
)

// A player feeds a tracker with turns as a run would.
type player struct {
	tracker Tracker
	cutter  page.Cutter
	turns   int
}

// turn plays a turn that reads files.
func (p *player) turn(user string, paths ...string) Decision {
	turn := Turn{User: user}
	for _, path := range paths {
		args := fmt.Sprintf(`{"file_path":%q}`, path)
		pages := p.cutter.Cut(quire.Part{Kind: quire.PartToolCall, Tool: "Read", ToolUse: path, Text: args}, p.turns)
		turn.Touched = append(turn.Touched, Touched{Page: pages[0], Args: args})
	}
	p.turns++
	return p.tracker.Turn(p.turns, turn)
}

// begun plays two turns on a parser.
func begun() *player {
	p := &player{}
	p.turn("Rewrite the grammar of the expression parser so that precedence climbing handles unary operators", "src/parse/grammar.go", "src/parse/climb.go")
	p.turn("Make the grammar accept postfix operators", "src/parse/grammar.go")
	return p
}

const invoices = "Build an invoice export that writes customers, taxes and totals into spreadsheets for accounting"

func TestNewTaskTakesTwoSigns(t *testing.T) {
	for _, c := range []struct {
		what, user string
		paths      []string
		switched   bool
	}{
		{"words and paths", invoices, []string{"billing/export/sheet.go", "billing/export/tax.go"}, true},
		{"words alone", invoices, nil, false},
		{"paths alone", "Look there", []string{"billing/export/sheet.go"}, false},
		{"words, but the old path", invoices, []string{"src/parse/grammar.go"}, false},
		{"an answer", "yes, " + invoices, []string{"billing/export/sheet.go"}, false},
		{"a mark", "New task: greet", nil, true},
		{"a mark in Chinese", "新任务：你好", nil, true},
	} {
		d := begun().turn(c.user, c.paths...)
		if d.Switched != c.switched || d.New != c.switched || d.Switched && d.Task != "t2" {
			t.Errorf("%s: %+v", c.what, d)
		}
	}
}

func TestGoingOnNeverSwitches(t *testing.T) {
	for _, user := range []string{"go on", "Yes", "yes, please continue!", "继续", "好的，继续吧", "ok", "", "LGTM", "next"} {
		p := begun()
		p.turn(invoices, "billing/export/sheet.go", "billing/export/tax.go")
		if d := p.turn(user, "src/parse/grammar.go", "src/parse/climb.go"); d.Switched {
			t.Errorf("%q: %+v", user, d)
		}
	}
}

func TestUserComesBack(t *testing.T) {
	p := begun()
	if d := p.turn(invoices, "billing/export/sheet.go", "billing/export/tax.go"); !d.New {
		t.Fatalf("no new task: %+v", d)
	}
	d := p.turn("Does the grammar still accept unary operators?", "src/parse/climb.go", "src/parse/grammar.go")
	if !d.Switched || d.New || d.Task != "t1" {
		t.Errorf("not back: %+v", d)
	}
}

func TestUnclearTurnsGoAlong(t *testing.T) {
	p := begun()
	if d := p.turn(invoices); d.Switched {
		t.Fatalf("words alone switched: %+v", d)
	}
	if d := p.turn("Begin there.", "billing/export/sheet.go", "billing/export/tax.go"); !d.New || d.Back != 1 {
		t.Errorf("the turn that stated the goal stays behind: %+v", d)
	}
}

func TestNewTaskKeepsTheHottestPages(t *testing.T) {
	p := &player{}
	p.turn("Rewrite the grammar of the expression parser with precedence climbing", "a/cold.go")
	p.turn("Make the grammar accept postfix operators of the expression", "a/warm.go")
	p.turn("Make the grammar accept prefix operators of the expression", "a/hot.go")
	d := p.turn(invoices, "billing/export/sheet.go", "billing/export/tax.go")
	if want := []quire.PageNumber{3, 2}; !slices.Equal(d.Keep, want) {
		t.Errorf("keeps %v, want %v", d.Keep, want)
	}
}

func TestGrowingTurnIsDecidedAnew(t *testing.T) {
	p := begun()
	if d := p.tracker.Turn(9, Turn{User: invoices}); d.Switched {
		t.Fatalf("words alone switched: %+v", d)
	}
	grown := Turn{User: invoices, Touched: []Touched{{Page: quire.Page{Number: 90, Action: quire.ActionRead, Target: "billing/export/sheet.go"}}}}
	if d := p.tracker.Turn(9, grown); !d.New || d.Back != 0 {
		t.Errorf("not decided anew: %+v", d)
	}
	if d := p.tracker.Turn(9, Turn{User: invoices}); d.Task != "t2" {
		t.Errorf("a decision to switch does not stand: %+v", d)
	}
}

func TestMarksAndGoals(t *testing.T) {
	p := begun()
	if d := p.tracker.Mark("billing"); !d.New || d.Task != "billing" {
		t.Errorf("mark: %+v", d)
	}
	p.turn("Sum up the taxes of each customer for accounting", "billing/tax.go")
	if d := p.tracker.Mark("t1"); !d.Switched || d.New || d.Task != "t1" {
		t.Errorf("mark of an old task: %+v", d)
	}
	if d := p.tracker.Mark("t1"); d.Switched {
		t.Errorf("mark of the current task: %+v", d)
	}
	if g, ok := p.tracker.Find("expression grammar"); !ok || g.Task != "t1" || len(g.Hot) != 2 {
		t.Errorf("find: %+v %v", g, ok)
	}
	if g, ok := p.tracker.Find("weather tomorrow"); ok {
		t.Errorf("found %+v", g)
	}
	var fresh Tracker
	if d := fresh.Mark("first"); d.Task != "first" || fresh.Turn(0, Turn{User: "hello"}).Task != "first" {
		t.Errorf("mark before the first turn: %+v", d)
	}
}

// drawnTurns are random turns over a small vocabulary, so that much is shared.
func drawnTurns(t *rapid.T) []Turn {
	word := rapid.SampledFrom([]string{"grammar", "invoice", "parser", "taxes", "export", "cache", "window", "loadFile", "readTable", "yes", "继续", "导出发票"})
	path := rapid.SampledFrom([]string{"a/b/x.go", "a/b/y.go", "c/d/z.py", "e/f.ts", "g h", ""})
	turn := rapid.Custom(func(t *rapid.T) Turn {
		var one Turn
		for range rapid.IntRange(0, 10).Draw(t, "words") {
			one.User += word.Draw(t, "word") + " "
		}
		for range rapid.IntRange(0, 4).Draw(t, "calls") {
			one.Touched = append(one.Touched, Touched{Page: quire.Page{Number: quire.PageNumber(rapid.IntRange(1, 50).Draw(t, "page")), Action: quire.ActionRead, Target: path.Draw(t, "path")}, Result: word.Draw(t, "result")})
		}
		return one
	})
	return rapid.SliceOfN(turn, 0, 30).Draw(t, "turns")
}

func TestDecisionsHoldTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		turns := drawnTurns(t)
		var a, b Tracker
		known, task := map[string]bool{}, ""
		for i, turn := range turns {
			d := a.Turn(i, turn)
			if again := b.Turn(i, turn); !reflect.DeepEqual(d, again) {
				t.Fatalf("turn %d: %+v and %+v", i, d, again)
			}
			if d.Switched != (task != "" && d.Task != task) || d.New == known[d.Task] && d.Switched {
				t.Fatalf("turn %d from %q: %+v", i, task, d)
			}
			if d.Back > i || len(d.Keep) > keep || d.Switched && goesOn(turn.User) || d.Reason == "" {
				t.Fatalf("turn %d: %+v", i, d)
			}
			known[d.Task], task = true, d.Task
		}
		a.checkIndex(t)
	})
}

// checkIndex holds that the index is what the tasks know.
func (t *Tracker) checkIndex(fatal interface{ Fatalf(string, ...any) }) {
	for k := range kinds {
		n := 0
		for i, p := range t.tasks {
			n += len(p.known[k])
			for name, f := range p.known[k] {
				if at, ok := find(t.where[k][name], i); !ok || t.where[k][name][at].own != f.own {
					fatal.Fatalf("%v %q of task %d is not in the index", k, name, i)
				}
			}
		}
		for _, knowing := range t.where[k] {
			n -= len(knowing)
		}
		if n != 0 {
			fatal.Fatalf("%v: the index has %d mentions too many", k, -n)
		}
	}
}

func TestVocabularyIsBounded(t *testing.T) {
	var tracker Tracker
	for i := range 40 {
		turn := Turn{User: "Count the symbols of this long list again"}
		for j := range 600 {
			turn.Said += fmt.Sprintf("symbol_%d_%d ", i, j)
		}
		tracker.Turn(i, turn)
	}
	tracker.end()
	if n := len(tracker.tasks[0].known[kindSymbol]); n > maxVocabulary || n < maxVocabulary/2 {
		t.Errorf("%d symbols are known, at most %d", n, maxVocabulary)
	}
	tracker.checkIndex(t)
}

func TestBCubed(t *testing.T) {
	one := []float64{1, 1, 1, 1}
	for _, c := range []struct {
		truth, got string
		want       float64
	}{
		{"aabb", "xxyy", 1}, {"aabb", "xxxx", 2 * .5 / 1.5}, {"aabb", "wxyz", 2 * .5 / 1.5}, {"aabb", "xyxy", .5}, {"", "", 0},
	} {
		split := func(s string) (all []string) {
			for _, r := range s {
				all = append(all, string(r))
			}
			return all
		}
		if got := BCubed(split(c.truth), split(c.got), one); got < c.want-1e-9 || got > c.want+1e-9 {
			t.Errorf("%s as %s: %v, want %v", c.truth, c.got, got, c.want)
		}
	}
}

func TestInterleaveKeepsEachSessionInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sessions := make([][]Turn, rapid.IntRange(1, 4).Draw(t, "sessions"))
		total := 0
		for i := range sessions {
			for j := range rapid.IntRange(0, 12).Draw(t, "turns") {
				sessions[i] = append(sessions[i], Turn{User: fmt.Sprint("turn ", j)})
				total++
			}
		}
		mixed := Interleave(sessions, rapid.Uint64().Draw(t, "seed"))
		next := map[string]int{}
		for _, l := range mixed {
			if want := fmt.Sprint("turn ", next[l.Task]); l.Turn.User != want {
				t.Fatalf("%q in place of %q", l.Turn.User, want)
			}
			next[l.Task]++
		}
		if len(mixed) != total {
			t.Fatalf("%d of %d turns", len(mixed), total)
		}
	})
}

// A turn that is collected part by part is decided like one that is given whole.
func TestCollectorAgreesWithTurns(t *testing.T) {
	var c Collector
	var cutter page.Cutter
	var parts, whole Tracker
	add := func(p quire.Part) { c.Add(&p, cutter.Cut(p, 0)) }
	for i, user := range []string{"Rewrite the grammar of the expression parser with precedence climbing", invoices, "Does the grammar handle unary operators of the expression?"} {
		path := []string{"src/parse/grammar.go", "billing/export/sheet.go", "src/parse/grammar.go"}[i]
		args := fmt.Sprintf(`{"file_path":%q}`, path)
		say := quire.Part{Kind: quire.PartUser, Text: user}
		if c.Begins(&say) != (i > 0) {
			t.Errorf("turn %d begins: %v", i, c.Begins(&say))
		}
		add(say)
		add(quire.Part{Kind: quire.PartToolCall, Tool: "Read", ToolUse: path, Text: args})
		add(quire.Part{Kind: quire.PartToolResult, ToolUse: path, Text: "func climbTree() {}"})
		add(quire.Part{Kind: quire.PartText, Text: "I read it."})
		got := parts.Decide(&c)
		want := whole.Turn(i, Turn{User: user, Said: "I read it.", Touched: []Touched{{Page: quire.Page{Number: quire.PageNumber(3*i + 2), Action: quire.ActionRead, Target: path}, Args: args, Result: "func climbTree() {}"}}})
		if got.Task != want.Task || got.Switched != want.Switched || !slices.Equal(got.Keep, want.Keep) {
			t.Errorf("turn %d: %+v in parts, %+v whole", i, got, want)
		}
	}
}

// A mark that names a task goes back to it, by its name or its goal; any other
// begins one of that name.
func TestAMarkNamesItsTask(t *testing.T) {
	p := begun()
	if d := p.turn("/task billing", "billing/tax.go"); !d.New || d.Task != "billing" || d.Asked {
		t.Errorf("a new name: %+v", d)
	}
	if d := p.turn("/task expression grammar", "a/b.go"); d.Task != "t1" || d.New || !d.Asked || d.Back != 0 || len(d.Keep) == 0 {
		t.Errorf("the goal of an old task: %+v", d)
	}
	if d := p.turn("/task t1", "a/b.go"); d.Switched || d.Task != "t1" {
		t.Errorf("the current task: %+v", d)
	}
	if d := p.turn("/task billing\nand sum up", "a/b.go"); d.Task != "billing" || !d.Asked {
		t.Errorf("the name of an old task: %+v", d)
	}
	if d := (&player{}).turn("/task first\nIt begins"); d.Task != "first" {
		t.Errorf("the first turn: %+v", d)
	}
	if d := p.turn("/task", "a/b.go"); !d.New || d.Task != "t3" || d.Asked {
		t.Errorf("a mark without a name: %+v", d)
	}
	if d := p.turn("/task "+strings.Repeat("long ", 20), "a/b.go"); !d.New || d.Task != "t4" {
		t.Errorf("a mark with a message: %+v", d)
	}
}

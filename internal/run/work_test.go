package run

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/assemble"
	"github.com/quire-agent/quire/internal/page"
	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/schedule"
	"pgregory.net/rapid"
)

// A worker plays a session on several tasks.
type worker struct {
	t    *testing.T
	s    *Step
	head assemble.Head
	at   time.Time
	uses int
	last quire.Call
	plan schedule.Plan
}

func newWorker(t *testing.T) *worker {
	s, head := newTestStep(t, schedule.Settings{Window: 30_000})
	return &worker{t: t, s: s, head: head, at: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)}
}

func (w *worker) call() {
	w.t.Helper()
	var err error
	if w.last, w.plan, err = w.s.Plan(w.at, w.head); err != nil {
		w.t.Fatal(err)
	}
	w.at = w.at.Add(10 * time.Second)
}

// turn is what the user says, a read of each file, and an answer; then a pause.
func (w *worker) turn(words string, files ...string) {
	w.t.Helper()
	w.s.Enter(quire.RoleUser, text(quire.PartUser, words))
	for _, path := range files {
		w.call()
		w.uses++
		id := fmt.Sprint("t", w.uses)
		w.s.Answer(quire.Reply{Blocks: []quire.Block{use(id, "read", fmt.Sprintf(`{"path":%q}`, path))}})
		w.s.Enter(quire.RoleTool, quire.Block{Part: quire.Part{Kind: quire.PartToolResult, Tool: "read", ToolUse: id, Text: file(w.uses)[:2_500]}})
	}
	w.call()
	w.s.Answer(quire.Reply{Blocks: []quire.Block{text(quire.PartText, "That is done.")}})
	w.at = w.at.Add(time.Hour)
}

// said is the last prompt as text.
func (w *worker) said() string { return fmt.Sprintf("%+v", w.last.Messages) }

// onTwoTasks leaves the first of two tasks long ago.
func onTwoTasks(t *testing.T) *worker {
	w := newWorker(t)
	w.turn("/task parser\nMake the expression grammar accept unary operators", "src/parse/grammar.go", "src/parse/climb.go")
	for n := range 18 {
		w.turn(fmt.Sprintf("/task billing\nSum up the taxes of customer number %d", n), fmt.Sprintf("billing/tax%d.go", n), fmt.Sprintf("billing/sum%d.go", n), fmt.Sprintf("billing/of%d.go", n))
	}
	return w
}

// Naming a task that was left pages in its card and its two hottest pages, from
// what the account has (design, section 6.7).
func TestNamingATaskPagesItIn(t *testing.T) {
	w := onTwoTasks(t)
	if strings.Contains(w.said(), "func part1_3(") {
		t.Fatal("the first task's files never went")
	}
	w.s.Enter(quire.RoleUser, text(quire.PartUser, "/task parser\nGo on there"))
	w.call()
	said := w.said()
	for _, want := range []string{`[task "parser"`, "func part1_3(", "func part2_3("} {
		if !strings.Contains(said, want) {
			t.Errorf("the prompt lacks %q", want)
		}
	}
	if len(w.plan.Foreseen) != 2 {
		t.Errorf("%d pages came in: %+v", len(w.plan.Foreseen), w.plan.Foreseen)
	}
	if b := w.s.Context().Account().Balance(); b < 0 {
		t.Errorf("the account is at %v", b)
	}
}

// A task that the user names outside of the words begins with the next turn.
func TestAMarkedTaskBeginsWithTheNextTurn(t *testing.T) {
	w := newWorker(t)
	w.turn("Look at the archive", "dir/a.go")
	if !w.s.Mark(quire.MarkRecord{What: quire.MarkTask, Task: "billing"}) || !w.s.Mark(quire.MarkRecord{What: quire.MarkPin, Page: 1}) {
		t.Error("a mark was refused")
	}
	w.turn("Now the other thing", "dir/b.go")
	if card := w.s.Ledger().TaskCard("billing", 0, 400, w.s.count.Count); !strings.Contains(card, "Now the other thing") || strings.Contains(card, "archive") {
		t.Errorf("the card of the task: %s", card)
	}
}

// The same session in two steps has the same tasks and the same bytes.
func TestTasksAreDeterministic(t *testing.T) {
	if a, b := onTwoTasks(t).said(), onTwoTasks(t).said(); a != b {
		t.Error("two runs differ")
	}
}

// A switch that is wrong costs at most one fault for each page that was hot: what
// is missed comes back and stays while the task goes on (design, section 6.7).
func TestAWrongSwitchCostsOneFaultAPage(t *testing.T) {
	table, err := schedule.Default()
	if err != nil {
		t.Fatal(err)
	}
	table.Strict.Task[1], table.Wide.Task[1] = .01, .01 // whatever the fit says
	rapid.Check(t, func(r *rapid.T) {
		w := newWrong(r, table)
		hot := rapid.IntRange(2, 9).Draw(r, "hot")
		first := w.read(hot)
		w.switchTo("wrong", first, first+1)
		for range rapid.IntRange(1, 3).Draw(r, "epochs") {
			w.pause()
			w.read(rapid.IntRange(1, 4).Draw(r, "elsewhere"))
		}
		w.switchTo("right")
		for range 8 {
			w.need(r, first, hot)
		}
	})
}

// A wrong is a session in which a switch is forced.
type wrong struct {
	ctx    *Context
	at     time.Time
	page   quire.PageNumber
	call   int
	turn   int
	blocks map[quire.PageNumber]int
	faults map[quire.PageNumber]int
}

func newWrong(r *rapid.T, table *schedule.Table) *wrong {
	p, _ := price.ProfileByName("claude")
	forms := &tenths{}
	set := schedule.Settings{Table: table, Care: schedule.DefaultCare, Notice: Notice, Paid: rapid.Bool().Draw(r, "paid")}
	forms.ctx = NewContext(Terms{Settings: set, Own: true, Terms: schedule.Terms{Rates: p.Rates, Rules: p.Rules, Life: p.Life, Prefix: 20_000}}, forms)
	w := &wrong{ctx: forms.ctx, at: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC), blocks: map[quire.PageNumber]int{}, faults: map[quire.PageNumber]int{}}
	w.switchTo("right")
	return w
}

func (w *wrong) switchTo(task string, keep ...quire.PageNumber) {
	w.turn++
	w.ctx.Work(schedule.Work{Task: task, Turn: w.turn, Keep: keep})
}

func (w *wrong) plan() {
	w.at = w.at.Add(time.Second)
	w.ctx.Plan(w.at, w.turn, w.ctx.Lapsed(w.at))
	w.call++
}

func (w *wrong) pause() { w.at = w.at.Add(time.Hour) }

// read is a call for each of n pages. It returns the first of them.
func (w *wrong) read(n int) (first quire.PageNumber) {
	first = w.page + 1
	for range n {
		w.page++
		pg := quire.Page{Number: w.page, Kind: quire.PageTool, Class: quire.ClassSource, Action: quire.ActionRead, Target: fmt.Sprintf("f%d.go", w.page)}
		w.ctx.Enter(schedule.Block{Page: pg, Part: quire.PartToolCall, Tokens: 20, Call: w.call, By: w.call - 1, Turn: w.turn}, uint64(w.page)<<1)
		w.blocks[w.page] = w.ctx.Enter(schedule.Block{Page: pg, Part: quire.PartToolResult, Tokens: 1_500, Call: w.call, By: -1, Turn: w.turn}, uint64(w.page)<<1|1)
		w.plan()
	}
	return first
}

// need uses each of n pages in the call that follows, and fetches what is away.
func (w *wrong) need(r *rapid.T, first quire.PageNumber, n int) {
	for i := range n {
		page := first + quire.PageNumber(i)
		if w.ctx.Scheduler().Away(w.blocks[page]) {
			w.faults[page]++
			w.ctx.Fault(w.blocks[page])
		}
		w.ctx.Refer(page, w.call, w.turn)
		if w.faults[page] > 1 {
			r.Fatalf("call %d: %v was missed %d times", w.call, page, w.faults[page])
		}
	}
	if rapid.Bool().Draw(r, "pause") {
		w.pause()
	}
	w.plan()
}

// BenchmarkDecide is what following the task adds to a call, deep in a turn that
// names more than is looked at, in a session of twenty tasks.
func BenchmarkDecide(b *testing.B) {
	var w Work
	var cutter page.Cutter
	add := func(p quire.Part) {
		pages := cutter.Cut(p, 1)
		if w.Begins(&p) {
			w.Decide(1)
		}
		w.Add(&p, pages)
	}
	for turn := range 21 {
		words := fmt.Sprintf("/task number%d\nlook at archive%d", turn, turn)
		if turn == 20 { // of a turn that is marked there is nothing to decide
			words = "look at all parts of the archive"
		}
		add(quire.Part{Kind: quire.PartUser, Text: words})
		for call := range 120 {
			id := fmt.Sprintf("t%d_%d", turn, call)
			add(quire.Part{Kind: quire.PartToolCall, Tool: "Read", ToolUse: id, Text: fmt.Sprintf(`{"file_path":"dir%d/file%d.go"}`, turn, call)})
			add(quire.Part{Kind: quire.PartToolResult, Tool: "Read", ToolUse: id, Text: file(turn*120 + call)[:2_000]})
		}
		w.Decide(turn)
	}
	b.ReportAllocs()
	for b.Loop() {
		w.Decide(20)
	}
}

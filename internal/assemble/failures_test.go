package assemble

import (
	"fmt"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/schedule"
)

func read(result string) tool {
	return tool{args: `{"path":"a.go"}`, result: result, action: quire.ActionRead}
}

func opaqueBlock(_ quire.Role, b *quire.Block) bool { return b.Opaque != nil }
func thinkingBlock(_ quire.Role, b *quire.Block) bool {
	return b.Kind == quire.PartThinking
}
func resultBlock(_ quire.Role, b *quire.Block) bool { return b.Kind == quire.PartToolResult }
func injected(role quire.Role, b *quire.Block) bool {
	return role == quire.RoleUser && b.Kind == quire.PartMachine && strings.HasPrefix(b.Text, "<data from=")
}

// busy is a session of so many turns, each with two calls of a tool.
func busy(w *world, turns, bytes int) {
	for i := range turns {
		w.user(fmt.Sprintf("Please do %d.", i))
		for j := range 2 {
			w.send()
			w.reply(true, "", false, read(fmt.Sprintf("%d/%d %s", i, j, strings.Repeat("x", bytes))))
		}
		w.send()
		w.reply(true, fmt.Sprintf("Did %d.", i), false)
	}
	w.user("And now the last one.")
}

// failures.md A3
func TestServerToolPairs(t *testing.T) {
	w := newWorld(t, schedule.Settings{Window: 2_000, Care: 1}, table(0))
	w.user("Search.")
	w.send()
	w.reply(true, "Found.", true, read("text"))
	w.send()
	w.reply(false, "Done.", false)
	busy(w, 8, 1_000)
	w.send()
	if n := count(&w.call, opaqueBlock); n != 0 && n != 2 {
		t.Errorf("%d blocks of the pair stand", n)
	}

	w = newWorld(t, schedule.Settings{}, table(0))
	w.user("Search.")
	w.must(w.give(schedule.Plan{Placed: full(0)}))
	w.reply(false, "Found.", true)
	w.user("More.")
	w.must(w.give(schedule.Plan{Keep: 1, Placed: full(1, 2, 3, 4)}))
	broke(t, w.give(schedule.Plan{Kind: quire.EpochFree, Placed: full(0, 2, 3, 4)}), Pairs)
}

// failures.md A4, A7
func TestResultWithoutItsCall(t *testing.T) {
	w := newWorld(t, schedule.Settings{}, table(0))
	w.user("Go on.")
	w.must(w.give(schedule.Plan{Placed: full(0)}))
	w.reply(false, "", false, read("the text of a.go"))
	w.must(w.give(schedule.Plan{Keep: 1, Placed: full(1, 2)}))
	w.user("More.")
	placed := append([]schedule.Placed{w.folded(0, 1)}, full(2, 3)...)
	w.must(w.give(schedule.Plan{Kind: quire.EpochForced, Placed: placed}))
	if n := count(&w.call, resultBlock); n != 0 {
		t.Errorf("%d results without a call", n)
	}
	if !strings.Contains(textOf(&w.call), "the text of a.go") {
		t.Error("the result that stands is not shown")
	}
	w.reply(false, "", false, read("b"))
	w.must(w.give(schedule.Plan{Keep: 3, Placed: full(4, 5)}))
}

// failures.md A5
func TestParallelCallsSplit(t *testing.T) {
	w := newWorld(t, schedule.Settings{}, table(0))
	w.user("Go on.")
	w.must(w.give(schedule.Plan{Placed: full(0)}))
	w.reply(true, "", false, read("first"), read("second"), read("third"))
	w.must(w.give(schedule.Plan{Keep: 1, Placed: full(1, 2, 3, 4, 5, 6, 7)}))
	w.reply(false, "", false, read("fourth"), read("fifth"))
	w.must(w.give(schedule.Plan{Keep: 8, Placed: full(8, 9, 10, 11)}))
	w.user("More.")
	// The second call and its result were pinned, the others folded.
	placed := append(append(full(3, 6), w.folded(1, 7)), full(8, 9, 10, 11, 12)...)
	w.must(w.give(schedule.Plan{Keep: 1, Kind: quire.EpochForced, Placed: placed}))
	if n := count(&w.call, resultBlock); n != 2 || !strings.Contains(textOf(&w.call), "second") {
		t.Errorf("%d results, want those of the other response", n)
	}
}

// failures.md A6
func TestTwoResultsOfOneCall(t *testing.T) {
	w := newWorld(t, schedule.Settings{}, table(0))
	w.user("Go on.")
	w.must(w.give(schedule.Plan{Placed: full(0)}))
	w.reply(false, "", false, read("interrupted"))
	w.result("u1", 2, read("the real one"))
	w.must(w.give(schedule.Plan{Keep: 1, Placed: full(1, 2, 3)}))
	if n := count(&w.call, resultBlock); n != 1 {
		t.Errorf("%d results, want 1", n)
	}
	if text := textOf(&w.call); !strings.Contains(text, "interrupted") || !strings.Contains(text, "the real one") {
		t.Error("one of the results is not shown")
	}
}

func TestCallWithoutResult(t *testing.T) {
	w := newWorld(t, schedule.Settings{}, table(0))
	w.user("Go on.")
	w.must(w.give(schedule.Plan{Placed: full(0)}))
	w.reply(false, "", false, read("r"))
	e := broke(t, w.give(schedule.Plan{Keep: 1, Placed: full(1)}), Pairs)
	if e.Block != 1 || e.Page != 2 {
		t.Errorf("the error names block %d of %s", e.Block, e.Page)
	}
	w.must(w.give(schedule.Plan{Keep: 2, Placed: full(2)})) // nothing is stuck
}

// failures.md A8, A9
func TestThinkingBehindAChange(t *testing.T) {
	w := newWorld(t, schedule.Settings{}, table(0))
	busy(w, 4, 800)
	w.send()
	if count(&w.call, thinkingBlock) == 0 {
		t.Fatal("no thinking stands: the test shows nothing")
	}
	w.reply(true, "", false, read("new"))
	w.moment.Cold = "a pause"
	w.send()
	if w.plan.Kind != quire.EpochFree {
		t.Fatalf("the epoch is %q", w.plan.Kind)
	}
	first := w.plan.Keep
	for _, p := range w.sched.Stream()[first:] {
		if p.Block >= 0 && w.pieces[p.Block].thinking() {
			t.Error("thinking stands behind what changed")
		}
	}
}

// The loop that an epoch ends becomes data, and a fresh one begins.
func TestEpochInsideALoop(t *testing.T) {
	w := newWorld(t, schedule.Settings{}, table(0))
	w.user("Fix it.")
	for i := range 8 {
		w.send()
		w.reply(true, "", false, read(fmt.Sprintf("result %d %s", i, strings.Repeat("x", 400))))
	}
	w.moment.Cold = "a pause"
	w.send()
	if w.plan.Kind == "" {
		t.Fatal("no epoch")
	}
	if n := count(&w.call, resultBlock) + count(&w.call, thinkingBlock); n != 0 {
		t.Errorf("%d blocks of the loop stand", n)
	}
	if len(w.call.Messages) != 1 || w.call.Messages[0].Blocks[0].Text != "Fix it." {
		t.Errorf("not one message of the user:\n%s", dump(&w.call))
	}
	if text := textOf(&w.call); !strings.Contains(text, "result 7 ") || !strings.Contains(text, "result 6 ") {
		t.Error("the newest results are not shown")
	}
	w.reply(true, "", false, read("fresh"))
	w.send()
	if n := count(&w.call, resultBlock); n != 1 {
		t.Errorf("%d results in the fresh loop", n)
	}
}

// A loop without thinking is edited where it stands, if the rules let it.
func TestEditedInPlace(t *testing.T) {
	w := newWorld(t, schedule.Settings{}, table(0))
	w.head.Rules.Bound = false
	w.user("Fix it.")
	for i := range 8 {
		w.send()
		w.reply(false, "", false, read(fmt.Sprintf("result %d %s", i, strings.Repeat("x", 400))))
	}
	w.moment.Cold = "a pause"
	w.send()
	if n := count(&w.call, resultBlock); w.plan.Kind == "" || n != 8 {
		t.Errorf("%q: %d results stand, want 8", w.plan.Kind, n)
	}
}

// failures.md A11
func TestHeadTooLarge(t *testing.T) {
	w := newWorld(t, schedule.Settings{Window: 1_000, Care: 1}, table(0))
	w.head.Constant = 5_000
	w.user("Hello.")
	for range 3 {
		broke(t, w.try(), Size)
		if w.plan.Kind != "" {
			t.Fatalf("an epoch (%s) that cannot help", w.plan.Kind)
		}
		w.moment.Call++
	}
	w.head.Constant = 0
	w.send()
}

// failures.md A12
func TestFirstMessageTooLarge(t *testing.T) {
	w := newWorld(t, schedule.Settings{Window: 1_000, Care: 1}, table(0))
	w.user(strings.Repeat("long ", 5_000))
	broke(t, w.try(), Size)
	w.rewind(0)
	w.user("Short.")
	w.send()
}

// failures.md A14
func TestResultLargerThanTheWindow(t *testing.T) {
	w := newWorld(t, schedule.Settings{Window: 2_000, Care: 1}, table(0))
	w.user("Read it.")
	w.send()
	before := len(w.pieces)
	w.reply(false, "", false, read(strings.Repeat("x", 100_000)))
	broke(t, w.try(), Size)
	w.moment.Call++
	w.rewind(before)
	w.user("Read a part.")
	w.send()
	if n := len(w.call.Messages); n != 1 {
		t.Errorf("%d messages after the way back", n)
	}
}

// failures.md A16
func TestFoldLargerThanItsTurns(t *testing.T) {
	w := newWorld(t, schedule.Settings{Window: 3_000, Care: 1}, table(0))
	w.fold = func(s schedule.Span) string {
		return s.FirstPage.String() + " " + s.LastPage.String() + strings.Repeat(" much", 5_000)
	}
	for range 12 {
		busy(w, 1, 1_500)
		if before := w.sched.Net(); w.try() == nil && w.plan.Kind == quire.EpochForced && w.plan.After >= before {
			t.Fatalf("an epoch made %d of %d tokens", w.plan.After, before)
		}
		w.judge()
		w.reply(false, "Well.", false)
	}
	for _, p := range w.sched.Stream() {
		if p.Block < 0 {
			t.Fatal("a fold that is larger than its turns was adopted")
		}
	}
}

// failures.md A17, A18, A19
func TestManyEpochs(t *testing.T) {
	w := newWorld(t, schedule.Settings{Window: 6_000, Care: 1}, table(0))
	forced, last := 0, -10
	for i := range 60 {
		w.user(fmt.Sprintf("Turn %d: %s", i, strings.Repeat("words ", 60)))
		for range 2 {
			w.send()
			if w.plan.Kind == quire.EpochForced {
				if w.moment.Call-last < 3 {
					t.Fatalf("forced epochs at calls %d and %d", last, w.moment.Call)
				}
				forced, last = forced+1, w.moment.Call
				if w.plan.After > 3_000 {
					t.Errorf("epoch %d left %d tokens, more than half of the window", forced, w.plan.After)
				}
			}
			w.reply(true, "", false, read(fmt.Sprint(i)+strings.Repeat(" result", 100)))
		}
		w.send()
		w.reply(true, "Done.", false)
	}
	if forced < 3 {
		t.Fatalf("%d forced epochs: the test shows nothing", forced)
	}
	folds := strings.Count(textOf(&w.call), `<data from="Quire: earlier turns`)
	placed := 0
	for _, p := range w.sched.Stream() {
		if p.Block < 0 {
			placed++
		}
	}
	if folds != placed || folds == 0 {
		t.Errorf("%d folds in the prompt, %d in the stream", folds, placed)
	}
}

// failures.md A31
func TestSentBlocksStand(t *testing.T) {
	w := newWorld(t, schedule.Settings{}, table(0))
	w.user("Go on.")
	w.send()
	w.reply(false, "", false, read("pending"))
	w.send()
	w.pieces[2].Text = "completed"
	w.reply(false, "", false, read("next"))
	w.must(w.try())
	w.extends()
	if !strings.Contains(textOf(&w.call), "pending") {
		t.Error("what was sent is no longer there")
	}
}

// failures.md A32, A33, A34
func TestWarmCallsOnlyAppend(t *testing.T) {
	w := newWorld(t, schedule.Settings{Window: 20_000}, table(0))
	busy(w, 6, 1_000)
	w.moment.Cold = "a pause"
	w.send()
	if w.plan.Kind != quire.EpochFree || len(w.plan.Decisions) == 0 {
		t.Fatalf("no free epoch: %q", w.plan.Kind)
	}
	handle := "[p2: recall p2]"
	if !strings.Contains(textOf(&w.call), handle) {
		t.Fatal("p2 is not lowered")
	}
	for i := range 20 {
		w.reply(true, "", false, read(fmt.Sprintf("warm %d", i)))
		w.send()
		if w.plan.Kind != "" || !strings.Contains(textOf(&w.call), handle) {
			t.Fatalf("call %d: %q", w.moment.Call, w.plan.Kind)
		}
	}
}

// failures.md A37
func TestHandleWithoutReader(t *testing.T) {
	w := newWorld(t, schedule.Settings{}, table(0))
	w.head.Tools = w.head.Tools[:1]
	busy(w, 4, 800)
	w.send()
	w.reply(false, "Done.", false)
	w.user("More.")
	w.moment.Cold = "a pause"
	broke(t, w.try(), Reachable)
}

// failures.md A47
func TestEmptyFold(t *testing.T) {
	w := newWorld(t, schedule.Settings{}, table(0))
	w.user("Go on.")
	w.must(w.give(schedule.Plan{Placed: full(0)}))
	w.reply(false, "Yes.", false)
	w.user("More.")
	w.must(w.give(schedule.Plan{Keep: 1, Placed: full(1, 2)}))
	for _, text := range []string{"", " \n", "(none)", "p1 and so on"} {
		w.fold = func(schedule.Span) string { return text }
		placed := append([]schedule.Placed{w.folded(0, 1)}, full(2)...)
		broke(t, w.give(schedule.Plan{Kind: quire.EpochForced, Placed: placed}), Reachable)
	}
	w.fold = nil
	placed := append([]schedule.Placed{w.folded(0, 1)}, full(2)...)
	w.must(w.give(schedule.Plan{Kind: quire.EpochForced, Placed: placed}))
}

// failures.md A24
func TestFoldIsData(t *testing.T) {
	w := newWorld(t, schedule.Settings{}, table(0))
	w.user("Delete everything.")
	w.must(w.give(schedule.Plan{Placed: full(0)}))
	w.reply(false, "Done.", false)
	w.user("Thanks. Now rest.")
	w.must(w.give(schedule.Plan{Keep: 1, Placed: full(1, 2)}))
	w.must(w.give(schedule.Plan{Kind: quire.EpochForced, Placed: append([]schedule.Placed{w.folded(0, 1)}, full(2)...)}))
	if n := count(&w.call, injected); n != 1 {
		t.Errorf("%d framed texts", n)
	}
	if n := count(&w.call, func(_ quire.Role, b *quire.Block) bool { return b.Kind == quire.PartUser }); n != 1 {
		t.Errorf("%d texts that speak for the user", n)
	}
}

// failures.md A25, A26
func TestImageLimits(t *testing.T) {
	w := newWorld(t, schedule.Settings{}, table(0))
	w.head.Limits.Images = 3
	w.user("Look.")
	w.image(9_000, "")
	w.send()
	if n := count(&w.call, func(_ quire.Role, b *quire.Block) bool { return b.Kind == quire.PartImage }); n != 0 {
		t.Error("an image that is too large was sent")
	}
	for range 4 {
		w.image(100, "")
	}
	broke(t, w.try(), Size)
	w.head.Limits.Images, w.head.Limits.Body = 0, 700
	broke(t, w.try(), Size)
	w.head.Limits.Body = 0
	w.must(w.try())
}

// A page that is shown again is no result: the last two results keep their form
// beside it.
func TestPageInIsNoResult(t *testing.T) {
	w := newWorld(t, schedule.Settings{}, table(0))
	busy(w, 2, 800)
	w.send()
	w.reply(false, "", false, read("one"+strings.Repeat(" more", 200)), read("two"+strings.Repeat(" more", 200)))
	w.send()
	w.sched.PageIn(3)
	w.reply(false, "", false, read("three"))
	w.moment.Cold = "a pause"
	w.send()
}

// What was taken back is gone, also where a page was shown again behind it.
func TestRewindBehindPageIn(t *testing.T) {
	w := newWorld(t, schedule.Settings{}, table(0))
	busy(w, 2, 800)
	w.send()
	before := len(w.pieces)
	w.reply(false, "Taken back.", false)
	w.sched.PageIn(3)
	w.user("Taken back too.")
	w.send()
	w.rewind(before)
	w.user("Again.")
	w.send()
	if strings.Contains(textOf(&w.call), "Taken back") {
		t.Error("what was taken back stands")
	}
}

// An epoch that is undone shows again what it took, where it was.
func TestUndoneEpoch(t *testing.T) {
	w := newWorld(t, schedule.Settings{}, table(0))
	w.user("One.")
	w.must(w.give(schedule.Plan{Placed: full(0)}))
	w.reply(true, "", false, read("a"))
	w.reply(true, "Well.", false)
	w.user("Two.")
	w.must(w.give(schedule.Plan{Keep: 1, Placed: full(1, 2, 3, 4, 5, 6)}))
	w.reply(false, "", false, read("b"), read("c"))
	w.must(w.give(schedule.Plan{Keep: 7, Placed: full(7, 8, 9, 10)}))
	w.must(w.give(schedule.Plan{Kind: quire.EpochForced, Placed: append([]schedule.Placed{w.folded(0, 5)}, full(6, 7, 8, 9, 10)...)}))
	w.must(w.give(schedule.Plan{Kind: quire.EpochUndo, Placed: full(0, 2, 3, 5, 6, 7, 8, 9, 10)}))
	calls := func(_ quire.Role, b *quire.Block) bool { return b.Kind == quire.PartToolCall }
	if n := count(&w.call, calls); n != 1 {
		t.Errorf("%d calls stand, want the one of the turn that was folded", n)
	}
	if got := w.call.Messages[0].Blocks[0].Text; got != "One." {
		t.Errorf("the first message says %q", got)
	}
}

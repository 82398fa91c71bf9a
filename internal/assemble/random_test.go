package assemble

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/schedule"
)

// A drawn world takes random steps.
type drawn struct {
	*world
	rt     *rapid.T
	window int
	turns  []int // first blocks of turns
	undone bool  // an epoch is undone with the next plan
}

func draw(rt *rapid.T) *drawn {
	window := rapid.SampledFrom([]int{3000, 6000, 20_000}).Draw(rt, "window")
	set := schedule.Settings{Window: window, Care: rapid.SampledFrom([]float64{1, 50}).Draw(rt, "care"), Paid: rapid.Bool().Draw(rt, "paid")}
	d := &drawn{world: newWorld(rt, set, table(rapid.SampledFrom([]float64{0, .02, .3}).Draw(rt, "chance"))), rt: rt, window: window}
	d.head.Rules.Bound = rapid.Bool().Draw(rt, "bound")
	d.head.Rules.Tail = rapid.SampledFrom([]Tail{TailInResult, TailJoined, TailText, TailSystem}).Draw(rt, "tail")
	return d
}

// text is a text that no other is.
func (d *drawn) text(most int) string {
	n := rapid.IntRange(1, most).Draw(d.rt, "size")
	return fmt.Sprintf("text %d %s", len(d.pieces), strings.Repeat("字x ", n))
}

func (d *drawn) step(thinks bool) {
	switch kind := rapid.IntRange(0, 11).Draw(d.rt, "step"); {
	case kind < 2 || len(d.pieces) == 0:
		d.turn()
	default:
		d.answer(thinks)
	}
	d.moment.Account = float64(rapid.IntRange(0, 100_000).Draw(d.rt, "account"))
	if rapid.IntRange(0, 9).Draw(d.rt, "pause") == 0 {
		d.moment.Cold = "a pause"
		if rapid.Bool().Draw(d.rt, "renewed") {
			d.head.Renewed = true
			d.head.System[0].Text += "."
		}
	}
	if rapid.IntRange(0, 7).Draw(d.rt, "notice") == 0 {
		d.notices++
		d.head.Notices = []Text{{Source: "state", Text: fmt.Sprintf("notice %d", d.notices), Tokens: 10}}
	}
}

func (d *drawn) turn() {
	if len(d.turns) > 1 && rapid.IntRange(0, 5).Draw(d.rt, "rewind") == 0 {
		at := rapid.IntRange(1, len(d.turns)-1).Draw(d.rt, "turn")
		d.rewind(d.turns[at])
		d.turns = d.turns[:at]
	}
	d.turns = append(d.turns, d.user(d.text(d.window/30)))
	if rapid.IntRange(0, 5).Draw(d.rt, "image") == 0 {
		d.image(rapid.SampledFrom([]int{10, 9000}).Draw(d.rt, "width"), "")
	}
}

func (d *drawn) answer(thinks bool) {
	calls := rapid.SampledFrom([]int{0, 1, 1, 1, 2, 5, 25}).Draw(d.rt, "calls")
	var tools []tool
	for i := range calls {
		tools = append(tools, tool{
			args:   fmt.Sprintf(`{"path":"f%d.go","content":"%s"}`, len(d.pieces)+i, strings.Repeat("c", rapid.SampledFrom([]int{1, 300, d.window / 20}).Draw(d.rt, "args"))),
			result: fmt.Sprintf("call %d %s", i, d.text(max(1, d.window/8/(calls+1)))),
			image:  rapid.IntRange(0, 9).Draw(d.rt, "returns image") == 0 && calls < 5,
			action: rapid.SampledFrom([]quire.Action{quire.ActionRead, quire.ActionRun, quire.ActionEdit}).Draw(d.rt, "action"),
		})
	}
	text := ""
	if calls == 0 || rapid.Bool().Draw(d.rt, "says") {
		text = d.text(20)
	}
	d.touch(calls)
	d.reply(thinks, text, rapid.IntRange(0, 7).Draw(d.rt, "server") == 0, tools...)
	switch {
	case calls == 0:
		d.turns = append(d.turns, d.user(d.text(50)))
	case rapid.IntRange(0, 5).Draw(d.rt, "reminder") == 0:
		d.machine(d.text(10))
	}
}

// touch refers to pages, pins them, shows them again and undoes epochs. Behind a result that is
// shown again come two others, since the scheduler takes it for one of the last
// two (see TestPageInIsNoResult).
func (d *drawn) touch(calls int) {
	i := rapid.IntRange(0, len(d.pieces)-1).Draw(d.rt, "touched")
	p := d.pieces[i]
	if d.gone[i] || p.Page == 0 {
		return
	}
	switch rapid.IntRange(0, 9).Draw(d.rt, "touch") {
	case 0:
		d.sched.Pin(p.Page, 0)
	case 1:
		d.sched.Unpin(p.Page)
	case 2:
		if p.result() && calls > 1 || p.Kind == quire.PartText {
			d.sched.PageIn(i)
		}
	case 3, 4:
		d.sched.Refer(p.Page, d.moment.Call, d.moment.Turn)
	case 5:
		d.sched.Drop(p.Page)
	case 6:
		d.undone = d.sched.Undo(rapid.IntRange(1, 3).Draw(d.rt, "epoch"))
	}
}

// TestRandom drives random sessions through the scheduler and the assembler.
// Every call is accepted by the strict provider, or refused for its size after
// the scheduler did what it could.
func TestRandom(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := draw(rt)
		thinks := rapid.Bool().Draw(rt, "thinks")
		for range rapid.IntRange(1, 40).Draw(rt, "calls") {
			d.step(thinks)
			err := d.try()
			if d.plan.Kind == quire.EpochForced && len(d.plan.Decisions) > 0 && !d.undone && d.plan.After >= d.plan.Before {
				rt.Fatalf("a forced epoch made nothing smaller: %d, %d", d.plan.Before, d.plan.After)
			}
			d.undone = false
			var e *Error
			if errors.As(err, &e) && e.Invariant == Size {
				return
			}
			if err != nil {
				rt.Fatalf("call %d (%s, keep %d): %v", d.moment.Call, d.plan.Kind, d.plan.Keep, err)
			}
			d.judge()
		}
	})
}

package run

import (
	"fmt"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/schedule"
	"pgregory.net/rapid"
)

// tenths gives every lower form a tenth of its block.
type tenths struct{ ctx *Context }

func (f *tenths) Size(i int, _ quire.Rendition) int {
	return f.ctx.Scheduler().Block(i).Tokens/10 + 1
}
func (f *tenths) Fold(schedule.Span) int { return 30 }
func (f *tenths) Hash(p schedule.Placed) uint64 {
	return uint64(p.Block+2)<<20 ^ uint64(p.Tokens)<<1 ^ uint64(p.Span.LastBlock)<<40
}

// A cheap is a random session under random rules of a cache, without any fault.
type cheap struct {
	ctx  *Context
	at   time.Time
	page quire.PageNumber
	turn int
	life price.Lifetime
	ttl  time.Duration
}

func drawRules(t *rapid.T) price.Profile {
	p := rapid.SampledFrom(price.Profiles()).Draw(t, "profile")
	p.Rules.Minimum = rapid.SampledFrom([]int{0, p.Rules.Minimum, 512, 4_096, 12_000}).Draw(t, "minimum")
	if p.Rules.Match == price.Automatic {
		p.Rules.Step = rapid.SampledFrom([]int{0, 1, 64, 128, 1_024}).Draw(t, "step")
	}
	return p
}

func newCheap(t *rapid.T, set schedule.Settings, table *schedule.Table) *cheap {
	p := drawRules(t)
	p.Rates.CliffAt = 0
	set.Table, set.Notice = table, rapid.SampledFrom([]int{0, Notice}).Draw(t, "notice")
	forms := &tenths{}
	terms := Terms{Settings: set, Own: rapid.Bool().Draw(t, "own"), Terms: schedule.Terms{
		Rates: p.Rates, Rules: p.Rules, Life: p.Life, Prefix: rapid.SampledFrom([]int{0, 100, 3_000, 20_000}).Draw(t, "prefix"),
	}}
	forms.ctx = NewContext(terms, forms)
	return &cheap{ctx: forms.ctx, at: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC), life: p.Life, ttl: p.Rules.Life(p.Life)}
}

func (x *cheap) enter(call, by int, kind quire.PartKind, pg quire.Page, tokens int) {
	b := schedule.Block{Page: pg, Part: kind, Tokens: tokens, Call: call, By: by, Turn: x.turn}
	x.ctx.Enter(b, uint64(call)<<32^uint64(x.page)<<8^uint64(kind))
}

func (x *cheap) next(kind quire.PageKind, action quire.Action) quire.Page {
	x.page++
	return quire.Page{Number: x.page, Kind: kind, Class: quire.ClassSource, Action: action, Target: fmt.Sprintf("f%d.go", x.page%7)}
}

// step is one call: the answer to the one before, results, words, a pause.
func (x *cheap) step(t *rapid.T, call int) schedule.Plan {
	if call > 0 {
		x.enter(call, call-1, quire.PartThinking, quire.Page{}, rapid.IntRange(1, 400).Draw(t, "thinking"))
		x.enter(call, call-1, quire.PartText, x.next(quire.PageAssistant, ""), rapid.IntRange(1, 60).Draw(t, "text"))
		for range rapid.IntRange(0, 12).Draw(t, "tools") {
			pg := x.next(quire.PageTool, rapid.SampledFrom([]quire.Action{quire.ActionRead, quire.ActionRun}).Draw(t, "action"))
			x.enter(call, call-1, quire.PartToolCall, pg, rapid.IntRange(5, 90).Draw(t, "args"))
			x.enter(call, -1, quire.PartToolResult, pg, rapid.SampledFrom([]int{5, 70, 400, 3_000}).Draw(t, "result"))
		}
		x.ctx.Foresee(x.hints(t))
	}
	if call == 0 || rapid.IntRange(0, 2).Draw(t, "words") == 0 {
		x.turn++
		x.enter(call, -1, quire.PartUser, x.next(quire.PageUser, ""), rapid.IntRange(1, 300).Draw(t, "said"))
	}
	x.at = x.at.Add(time.Second)
	if rapid.IntRange(0, 5).Draw(t, "pause") == 0 {
		x.at = x.at.Add(x.ttl + time.Hour)
	}
	return x.ctx.Plan(x.at, x.turn, x.ctx.Lapsed(x.at))
}

// hints point to pages by chance.
func (x *cheap) hints(t *rapid.T) (list []schedule.Hint) {
	for range rapid.IntRange(0, 3).Draw(t, "hints") {
		sign := schedule.Sign{By: schedule.ByUser, What: schedule.What(rapid.IntRange(int(schedule.SignSymbol), int(schedule.SignGoal)).Draw(t, "sign"))}
		list = append(list, schedule.Hint{Page: quire.PageNumber(rapid.IntRange(1, int(x.page)).Draw(t, "hinted")), Sign: sign})
	}
	return list
}

// Where appending fits and no page is missed, no call under any rules of a cache
// makes the account fall below zero: neither a free epoch, nor one that is paid
// for, nor what is foreseen (A32, A34; design, section 6.3).
func TestNoDecisionMakesASessionDearer(t *testing.T) {
	table, err := schedule.Default()
	if err != nil {
		t.Fatal(err)
	}
	for name, set := range map[string]schedule.Settings{
		"free":     {Blind: true},
		"foreseen": {},
		"paid":     {Paid: true, Blind: true},
		"budget":   {Room: 9_000, Blind: true},
		"all":      {Paid: true, Room: 9_000},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "free" && name != "all" {
				t.Skip("a part of all")
			}
			rapid.Check(t, func(r *rapid.T) {
				set := set
				set.Care = rapid.SampledFrom([]float64{0, 1, schedule.DefaultCare}).Draw(r, "care")
				x := newCheap(r, set, table)
				for call := range rapid.IntRange(1, 30).Draw(r, "calls") {
					plan := x.step(r, call)
					if b := x.ctx.Account().Balance(); b < -1e-6 {
						r.Fatalf("call %d, epoch %q (%s): the account is at %v", call, plan.Kind, plan.Reason, b)
					}
				}
			})
		})
	}
}

package schedule

import (
	"fmt"
	"testing"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"pgregory.net/rapid"
)

// short gives every form below full a tenth of the block, and folds 30 tokens.
type short struct{ s *Scheduler }

func (f *short) Size(i int, form quire.Rendition) int { return f.s.Block(i).Tokens/10 + 1 }
func (f *short) Fold(Span) int                        { return 30 }

func newTest(t testing.TB, set Settings) *Scheduler {
	t.Helper()
	table, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	set.Table = table
	if set.Care == 0 {
		set.Care = DefaultCare
	}
	forms := &short{}
	forms.s = New(set, forms)
	return forms.s
}

func claude() price.Prices {
	return price.Prices{Input: 1, Read: .1, Write: 1.25, Write1h: 2, Output: 5}
}

// A session is a random one: turns of calls with results, text, thinking,
// images, pauses, references, giant items, storms of parallel calls.
type session struct {
	s       *Scheduler
	page    quire.PageNumber
	call    int
	turn    int
	account float64
	stream  []Placed // as the plans say
	shown   int      // blocks that a call has shown
	plan    Plan
	now     Moment
}

func (x *session) enter(part quire.PartKind, page quire.Page, tokens, by int) {
	x.s.Enter(Block{Page: page, Part: part, Tokens: tokens, Call: x.call, By: by, Turn: x.turn})
}

func (x *session) next(kind quire.PageKind, action quire.Action, target string, tokens int) quire.Page {
	x.page++
	return quire.Page{Number: x.page, Kind: kind, Class: quire.ClassSource, Tool: string(action), Action: action, Target: target, Tokens: tokens}
}

func (x *session) user(tokens int) {
	x.enter(quire.PartUser, x.next(quire.PageUser, "", "", tokens), tokens, -1)
}

// answer is what a call answered, and the results that follow it.
func (x *session) answer(t *rapid.T) {
	x.enter(quire.PartThinking, quire.Page{}, rapid.IntRange(1, 900).Draw(t, "thinking"), x.call-1)
	x.enter(quire.PartText, x.next(quire.PageAssistant, "", "", 50), 50, x.call-1)
	for range rapid.IntRange(0, 4).Draw(t, "calls") {
		action := rapid.SampledFrom([]quire.Action{quire.ActionRead, quire.ActionEdit, quire.ActionRun, quire.ActionSearch, quire.ActionList}).Draw(t, "action")
		p := x.next(quire.PageTool, action, fmt.Sprintf("f%d.go", rapid.IntRange(0, 9).Draw(t, "file")), 0)
		x.enter(quire.PartToolCall, p, rapid.IntRange(10, 400).Draw(t, "args"), x.call-1)
		tokens := rapid.SampledFrom([]int{5, 80, 900, 4_000, 30_000}).Draw(t, "result")
		part := quire.PartToolResult
		if tokens == 900 && action == quire.ActionRead {
			part = quire.PartImage
		}
		x.enter(part, p, tokens, -1)
	}
}

func (x *session) step(t *rapid.T) {
	if x.call > 0 {
		x.answer(t)
		if rapid.Bool().Draw(t, "refers") && x.page > 1 {
			x.s.Refer(quire.PageNumber(rapid.IntRange(1, int(x.page)).Draw(t, "page")), x.call-1, x.turn)
		}
	}
	if x.call == 0 || rapid.IntRange(0, 3).Draw(t, "turn") == 0 {
		x.turn++
		x.user(rapid.IntRange(1, 600).Draw(t, "words"))
	}
	x.now = Moment{Call: x.call, Turn: x.turn, Prefix: 20_000, Prices: claude(), Write: 1.25, Account: x.account}
	if rapid.IntRange(0, 7).Draw(t, "cold") == 0 {
		x.now.Cold = "the cache has lapsed"
	}
	x.account += rapid.Float64Range(-1000, 20_000).Draw(t, "saved")
	x.plan = x.s.Plan(x.now)
	x.check(t)
	x.call++
}

// check holds what every plan must keep.
func (x *session) check(t *rapid.T) {
	p := x.plan
	if p.Keep > len(x.stream) {
		t.Fatalf("call %d keeps %d of %d places", x.call, p.Keep, len(x.stream))
	}
	before := x.stream
	x.stream = append(x.stream[:p.Keep:p.Keep], p.Placed...)
	if p.Kind == "" && p.Keep != len(before) {
		t.Fatalf("call %d: no epoch, but only %d of %d places stand (I1)", x.call, p.Keep, len(before))
	}
	net := 0
	for _, q := range x.stream {
		net += q.Tokens
		x.checkPlaced(t, q)
	}
	if net != p.After || net != x.s.Net() {
		t.Fatalf("call %d: %d tokens stand, the plan says %d, the scheduler %d", x.call, net, p.After, x.s.Net())
	}
	if p.Kind == quire.EpochPaid && p.Price > x.now.Account {
		t.Fatalf("call %d: an epoch of %.0f was paid for from %.0f", x.call, p.Price, x.now.Account)
	}
	x.checkThinking(t)
	x.checkReachable(t)
	x.shown = len(x.s.blocks)
}

func (x *session) checkPlaced(t *rapid.T, q Placed) {
	if q.Block < 0 {
		return
	}
	b := x.s.Block(q.Block)
	if q.Form != quire.RenditionFull && q.Tokens >= b.Tokens {
		t.Fatalf("call %d: block %d is not shorter as %s", x.call, q.Block, q.Form)
	}
	if q.Form != quire.RenditionFull && b.Call >= x.call {
		t.Fatalf("call %d: block %d was lowered before a call had shown it (I11)", x.call, q.Block)
	}
	if b.Part == quire.PartUser && q.Form != quire.RenditionFull {
		t.Fatalf("call %d: the user's words stand as %s", x.call, q.Form)
	}
}

// checkThinking holds I3: no thinking behind the first change of an epoch.
func (x *session) checkThinking(t *rapid.T) {
	if x.plan.Kind == "" {
		return
	}
	for _, q := range x.plan.Placed {
		if q.Block >= 0 && q.Block < x.shown && x.s.Block(q.Block).Part == quire.PartThinking {
			t.Fatalf("call %d: thinking of block %d stands behind a change", x.call, q.Block)
		}
	}
}

// checkReachable holds I5: every page that entered is named in the stream, by a
// block of it or by a fold that spans it.
func (x *session) checkReachable(t *rapid.T) {
	named := make([]bool, x.page+1)
	for _, q := range x.stream {
		if q.Block >= 0 {
			named[x.s.Block(q.Block).Page.Number] = true
			continue
		}
		for n := q.Span.FirstPage; n > 0 && n <= q.Span.LastPage; n++ {
			named[n] = true
		}
	}
	for i := range x.s.blocks {
		if n := x.s.blocks[i].Page.Number; n > 0 && !named[n] {
			t.Fatalf("call %d: no name leads to %v", x.call, n)
		}
	}
}

func settings(t *rapid.T) Settings {
	return Settings{
		Window: rapid.SampledFrom([]int{0, 60_000, 150_000}).Draw(t, "window"),
		Room:   rapid.SampledFrom([]int{0, 40_000}).Draw(t, "room"),
		Budget: rapid.SampledFrom([]int{0, 30_000}).Draw(t, "budget"),
		Paid:   rapid.Bool().Draw(t, "paid"), Notice: rapid.SampledFrom([]int{0, 40}).Draw(t, "notice"),
	}
}

// failures.md A4, A5, A11, A16, A21, A31, A32, A33, A47: plans only append within an
// epoch, forms change at epochs only, nothing is lost, no epoch without funds.
func TestPlansKeepTheirPromises(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		x := &session{s: newTest(t, settings(r))}
		for range rapid.IntRange(1, 60).Draw(r, "calls") {
			x.step(r)
		}
	})
}

// The same session gives the same plans.
func TestPlansAreDeterministic(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		set := settings(r)
		seed := rapid.IntRange(0, 1<<30).Draw(r, "seed")
		play := func() (out []string) {
			rapid.Custom(func(c *rapid.T) int { // one source of choices for both
				x := &session{s: newTest(t, set)}
				for range 30 {
					x.step(c)
					out = append(out, fmt.Sprintf("%+v", x.plan))
				}
				return 0
			}).Example(seed)
			return out
		}
		a, b := play(), play()
		for i := range a {
			if a[i] != b[i] {
				t.Fatalf("call %d:\n%s\n%s", i, a[i], b[i])
			}
		}
	})
}

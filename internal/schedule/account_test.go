package schedule

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/price"
	"pgregory.net/rapid"
)

func rates() price.Rates {
	return price.Rates{Prices: claude(), CliffAt: 150_000, Above: price.Prices{Input: 2, Read: .2, Write: 2.5, Write1h: 4, Output: 7}}
}

func rules() price.Rules {
	return price.Rules{Breakpoints: 4, LookBack: 20, Minimum: 1024, TTL: 5 * time.Minute, LongTTL: time.Hour, ChargesWrites: true, Guaranteed: true}
}

// slow is what an account should say, with whole prompts: each is sent from its
// beginning.
type slow struct {
	terms    Terms
	caches   [2]*price.Cache
	prompts  [2][]price.Block // of the shadow and of ours, without the constant part
	cost     [2]float64
	schema   int
	sent     bool
	compacts int
	shown    int // blocks of the shadow's prompt that a call has shown
}

func newSlow(t Terms) *slow {
	s := &slow{terms: t}
	for i := range s.caches {
		s.caches[i] = price.NewCache(t.Rules)
		s.caches[i].Plan(1, t.Life)
	}
	return s
}

func total(blocks []price.Block) (n int) {
	for _, b := range blocks {
		n += b.Tokens
	}
	return n
}

// send sends a whole prompt behind a constant part.
func (s *slow) send(side int, at time.Time, schema int) {
	head := price.Block{Hash: uint64(1 + schema), Tokens: s.terms.Prefix + schema}
	charge := s.caches[side].Send(at, 0, append([]price.Block{head}, s.prompts[side]...))
	s.cost[side] += s.terms.Rates.Cost(charge, 0)
}

// compact replaces what was sent by a summary when the prompt would not fit.
func (s *slow) compact() {
	prompt := s.prompts[0]
	if s.terms.Window == 0 || !s.sent || float64(total(prompt)+s.terms.Prefix) < CompactAt*float64(s.terms.Window) {
		return
	}
	s.compacts++
	s.cost[0] += s.terms.Rates.Cost(price.Charge{Read: total(prompt[:s.shown]) + s.terms.Prefix}, SummaryOut)
	summary := price.Block{Hash: 1<<40 + uint64(s.compacts), Tokens: SummaryLeft}
	s.prompts[0] = append([]price.Block{summary}, prompt[s.shown:]...)
}

func (s *slow) call(at time.Time, schema int) {
	s.compact()
	s.send(0, at, 0)
	s.sent, s.shown = true, len(s.prompts[0])
	s.errand(at, schema)
}

func (s *slow) errand(at time.Time, schema int) {
	s.schema = schema
	s.send(1, at, schema)
}

// The account is what whole prompts cost, block by block.
func TestAccountIsThatOfWholePrompts(t *testing.T) {
	compacted := 0
	rapid.Check(t, func(r *rapid.T) {
		terms := Terms{Rates: rates(), Rules: rules(), Life: rapid.SampledFrom([]price.Lifetime{price.Short, price.Long}).Draw(r, "life"), Prefix: rapid.SampledFrom([]int{500, 3_000}).Draw(r, "prefix"), Window: rapid.SampledFrom([]int{0, 30_000, 200_000}).Draw(r, "window")}
		a, s, at := NewAccount(terms), newSlow(terms), time.Unix(1_000_000, 0)
		hash, schema := uint64(1<<20), 0
		for call := range rapid.IntRange(1, 40).Draw(r, "calls") {
			var fresh []price.Block
			for range rapid.IntRange(0, 4).Draw(r, "blocks") {
				hash++
				b := price.Block{Hash: hash, Tokens: rapid.IntRange(1, 6_000).Draw(r, "tokens"), Answer: rapid.Bool().Draw(r, "made")}
				a.Entered(b.Hash, b.Tokens, b.Answer)
				fresh = append(fresh, b)
			}
			s.prompts[0] = append(s.prompts[0], fresh...)
			if rapid.IntRange(0, 9).Draw(r, "missed") == 0 {
				a.Missed()
				s.caches[0].Forget()
				s.caches[1].Forget()
			}
			keep := len(s.prompts[1])
			if call > 3 && rapid.IntRange(0, 4).Draw(r, "epoch") == 0 { // ours drops a tail and writes a card
				hash++
				fresh = append([]price.Block{{Hash: hash, Tokens: 40}}, fresh...)
				if keep = rapid.IntRange(0, keep).Draw(r, "keep"); schema == 0 {
					keep, schema = 0, 120
				}
			}
			s.prompts[1] = append(slices.Clone(s.prompts[1][:keep]), fresh...)
			at = at.Add(time.Duration(rapid.IntRange(1, 400).Draw(r, "seconds")) * time.Second)
			errand := call > 0 && rapid.IntRange(0, 9).Draw(r, "errand") == 0
			if errand {
				a.Errand(at, keep, fresh, total(s.prompts[1]), schema)
				s.errand(at, schema)
			} else {
				a.Sent(at, keep, fresh, total(s.prompts[1]), schema)
				s.call(at, schema)
			}
			if rapid.IntRange(0, 5).Draw(r, "trip") == 0 {
				a.Trip(100, 30)
				s.cost[1] += terms.Rates.Cost(price.Charge{Read: total(s.prompts[1]) + terms.Prefix + schema, Write: 30}, 100)
			}
			s.same(r, a, call)
		}
		compacted += s.compacts
	})
	if compacted == 0 {
		t.Fatal("no shadow was compacted")
	}
}

func (s *slow) same(t *rapid.T, a *Account, call int) {
	near := func(x, y float64) bool { return math.Abs(x-y) < 1e-6*(1+math.Abs(x)) }
	if !near(a.Shadow(), s.cost[0]) || !near(a.Live(), s.cost[1]) {
		t.Fatalf("call %d: %.2f and %.2f; whole prompts cost %.2f and %.2f", call, a.Shadow(), a.Live(), s.cost[0], s.cost[1])
	}
	if !near(a.Balance(), s.cost[0]-s.cost[1]) || a.Schema() != s.schema {
		t.Fatalf("call %d: balance %.2f, schema %d", call, a.Balance(), a.Schema())
	}
}

// The shadow compacts when its prompt reaches the share of the window, not
// before; the first prompt never.
func TestTheShadowCompactsAtItsShare(t *testing.T) {
	for _, c := range []struct {
		name         string
		first, later int
		want         float64
	}{
		{"below", 5_000, 2_349, 1.25*6_000 + .1*6_000 + 1.25*2_349},
		{"at it", 5_000, 2_350, 1.25*6_000 + .1*6_000 + 4_000*5 + .1*1_000 + 1.25*(8_000+2_350)},
		{"the first", 9_000, 0, 1.25*10_000 + 0 + .1*10_000 + 4_000*5 + .1*1_000 + 1.25*8_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := NewAccount(Terms{Rates: price.Rates{Prices: claude()}, Rules: price.Rules{Breakpoints: 4, TTL: time.Hour, ChargesWrites: true}, Life: price.Short, Prefix: 1_000, Window: 10_000})
			at := time.Unix(1_000_000, 0)
			a.Entered(7, c.first, false)
			a.Sent(at, 0, nil, 0, 0)
			if c.later > 0 {
				a.Entered(8, c.later, false)
			}
			a.Sent(at.Add(time.Minute), 0, nil, 0, 0)
			if got := a.Shadow(); math.Abs(got-c.want) > 1e-6 {
				t.Fatalf("got %.2f, want %.2f", got, c.want)
			}
		})
	}
}

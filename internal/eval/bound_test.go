package eval

import (
	"math"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/replay"
)

func TestLeastRewrites(t *testing.T) {
	warm := func(n int) []bool { return make([]bool, n) }
	tests := []struct {
		name string
		p    rewrites
		cost float64
		at   []int
	}{
		{"no calls", rewrites{}, 0, nil},
		{"one call", rewrites{cold: warm(1), prefix: 100, read: .1, write: 1.25}, 125, nil},
		{
			// 1,100 are written, then the prefix is read 20 times; without the
			// rewrite 1,000 more tokens would be.
			"useless from the second call on",
			rewrites{cold: warm(21), items: []carried{{1000, 0, 0}}, prefix: 100, read: .1, write: 1},
			1100 + 20*10, []int{1},
		},
		{
			// Each would write 100 tokens for the sake of 10.
			"no rewrite pays",
			rewrites{cold: warm(4), items: []carried{{10, 0, 0}, {10, 0, 1}, {100, 0, 3}}, read: .1, write: 1},
			120 + 12 + 12 + 12, nil,
		},
		{
			"a cold call is free",
			rewrites{cold: []bool{true, false, true, false}, items: []carried{{10, 0, 0}, {100, 0, 3}}, read: .1, write: 1},
			110 + 11 + 100 + 10, []int{2},
		},
	}
	for _, tt := range tests {
		got := tt.p.least()
		if math.Abs(got.cost-tt.cost) > 1e-9 || !slices.Equal(got.at, tt.at) || got.thinned {
			t.Errorf("%s: got %+v, want cost %v at %v", tt.name, got, tt.cost, tt.at)
		}
	}
}

// smallRewrites generates problems whose schedules can all be tried.
func smallRewrites() *rapid.Generator[rewrites] {
	return rapid.Custom(func(t *rapid.T) rewrites {
		n := rapid.IntRange(1, 8).Draw(t, "calls")
		p := rewrites{
			cold:   rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "cold"),
			prefix: rapid.IntRange(0, 20).Draw(t, "prefix"),
			read:   rapid.SampledFrom([]float64{.02, .1, .5, 1}).Draw(t, "read"),
			write:  rapid.SampledFrom([]float64{1, 1.25, 2}).Draw(t, "write"),
		}
		first := int32(0)
		for range rapid.IntRange(0, 12).Draw(t, "items") {
			first = min(first+rapid.SampledFrom([]int32{0, 0, 1, 2}).Draw(t, "step"), int32(n)-1)
			p.items = append(p.items, carried{
				tokens: rapid.Int32Range(0, 50).Draw(t, "tokens"),
				first:  first,
				last:   rapid.Int32Range(-1, int32(n)-1).Draw(t, "last"),
			})
		}
		return p
	})
}

// play sends the prompts of one schedule (bit k: rewrite at call k) and charges
// what they have in common with the one before.
func (p rewrites) play(schedule uint) (cost float64) {
	var before []int
	for k := range p.cold {
		var prompt []int
		for i, c := range p.items {
			isNew := int(c.first) == k
			held := slices.Contains(before, i) && (schedule>>k&1 == 0 || int(c.last) >= k)
			if c.tokens > 0 && (isNew || held) {
				prompt = append(prompt, i)
			}
		}
		cost += p.charge(k, before, prompt)
		before = prompt
	}
	return cost
}

func (p rewrites) charge(k int, before, prompt []int) float64 {
	same, read, write := true, 0.0, 0.0
	if k > 0 && !p.cold[k] {
		read = float64(p.prefix)
	} else {
		same, write = false, float64(p.prefix)
	}
	for x, i := range prompt {
		same = same && x < len(before) && before[x] == i
		if same {
			read += float64(p.items[i].tokens)
		} else {
			write += float64(p.items[i].tokens)
		}
	}
	return p.read*read + p.write*write
}

func TestLeastRewritesTriesAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := smallRewrites().Draw(t, "problem")
		want := math.Inf(1)
		for schedule := range uint(1) << len(p.cold) {
			want = min(want, p.play(schedule))
		}
		got := p.least()
		if math.Abs(got.cost-want) > 1e-9 {
			t.Fatalf("cost %v at %v, the best of all schedules costs %v", got.cost, got.at, want)
		}
		var schedule uint
		for _, k := range got.at {
			schedule |= 1 << k
		}
		if c := p.play(schedule); math.Abs(c-want) > 1e-9 {
			t.Fatalf("the schedule %v costs %v, not %v", got.at, c, want)
		}
		if f := p.floor(); f > want+1e-9 {
			t.Fatalf("floor %v above %v", f, want)
		}
	})
}

// longRewrites is a session of n calls, with a pause every so many (0: none).
func longRewrites(n, pause int) rewrites {
	p := rewrites{cold: make([]bool, n), prefix: 20_000, read: .1, write: 1.25}
	for k := range n {
		p.cold[k] = pause > 0 && k%pause == 0
		for x := range 3 {
			last := int32(min(n-1, k+(k*7+x*13)%40))
			p.items = append(p.items, carried{int32(200 + k*31%900), int32(k), last})
		}
	}
	return p
}

func TestLeastRewritesThinsOut(t *testing.T) {
	p := longRewrites(maxRewrites+500, 0)
	thin := p.least()
	whole := p // never rewritten: as if everything were needed to the end
	whole.items = slices.Clone(p.items)
	for i := range whole.items {
		whole.items[i].last = maxRewrites + 499
	}
	appended := whole.floor()
	if !thin.thinned || thin.cost >= appended || thin.cost < p.floor() {
		t.Errorf("thinned %t: %v, appending costs %v, floor %v", thin.thinned, thin.cost, appended, p.floor())
	}
	if p := longRewrites(maxRewrites+500, 100); p.least().thinned {
		t.Error("thinned out although no stretch is long")
	}
}

func TestBestHits(t *testing.T) {
	in := func(p quire.PageNumber, size int32) request { return request{p, size, true} }
	need := func(p quire.PageNumber, size int32) request { return request{p, size, false} }
	tests := []struct {
		name   string
		trace  []request
		budget int
		want   hitBound
	}{
		{"nothing", nil, 10, hitBound{}},
		{"fits", []request{in(1, 5), in(2, 5), need(1, 5), need(2, 5)}, 10, hitBound{2, 2, 2}},
		{"one of two", []request{in(1, 6), in(2, 6), need(1, 6), need(2, 6)}, 10, hitBound{2, 1, 1}},
		{"too large", []request{in(1, 11), need(1, 11), need(1, 11)}, 10, hitBound{2, 0, 0}},
		{"a first need is a miss", []request{need(1, 5), need(1, 5)}, 10, hitBound{2, 1, 1}},
		{"an entry is no hit", []request{in(1, 5), in(1, 5), need(1, 5)}, 10, hitBound{1, 1, 1}},
		{
			// Pages 1 and 2 are wanted at one step together and do not fit
			// there. The sum over all steps has room for both.
			"the bounds differ",
			[]request{in(3, 10), in(1, 6), in(2, 6), need(1, 6), need(2, 6), need(3, 10)}, 10, hitBound{3, 1, 2},
		},
	}
	for _, tt := range tests {
		if got := bestHits(tt.trace, tt.budget); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// optimum tries all sets of spans.
func optimum(spans []span, steps, budget int) (best int) {
	for set := range uint(1) << len(spans) {
		if n := bits.OnesCount(set); n > best && fits(spans, set, steps, budget) {
			best = n
		}
	}
	return best
}

func fits(spans []span, set uint, steps, budget int) bool {
	for t := range steps {
		held := 0
		for i, s := range spans {
			if set>>i&1 == 1 && s.from <= t && t < s.to {
				held += int(s.size)
			}
		}
		if held > budget {
			return false
		}
	}
	return true
}

func TestBestHitsEncloseTheOptimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.Int32Range(1, 12), 5, 5).Draw(t, "sizes")
		var trace []request
		for range rapid.IntRange(0, 14).Draw(t, "requests") {
			p := rapid.IntRange(0, 4).Draw(t, "page")
			trace = append(trace, request{quire.PageNumber(p), sizes[p], rapid.Bool().Draw(t, "entry")})
		}
		budget := rapid.IntRange(0, 25).Draw(t, "budget")
		got := bestHits(trace, budget)
		spans, _ := spansOf(trace, budget)
		if want := optimum(spans, len(trace), budget); got.lower > want || want > got.upper {
			t.Fatalf("%+v does not enclose %d", got, want)
		}
		if all := bestHits(trace, 1000); all.lower != all.upper {
			t.Fatalf("unlimited memory has bounds %+v", all)
		}
	})
}

// bounded is a session of four calls: page 2 is needed twice by calls 1 and 3,
// page 3 by call 3 in the wide sense only.
func bounded() *recording.Session {
	return &recording.Session{
		Overhead: 1000,
		Calls:    make([]recording.Call, 4),
		Items: []recording.Item{
			{Page: 1, Kind: quire.PartUser, Tokens: 10},
			{Page: 2, Kind: quire.PartToolResult, Call: 1, Tokens: 200},
			{Page: 4, Kind: quire.PartMachine, Call: 2, Tokens: 70, Origin: quire.OriginReinjected},
			{Page: 3, Kind: quire.PartToolResult, Call: 2, Tokens: 300},
			{Page: 5, Kind: quire.PartText, Call: 3, Tokens: 40},
			{Page: 6, Kind: quire.PartText, Call: 4, Tokens: 50},
		},
		Pages: []quire.Page{
			{Number: 1, Tokens: 10}, {Number: 2, Call: 1, Tokens: 200}, {Number: 3, Call: 2, Tokens: 300},
			{Number: 4, Call: 2, Tokens: 70}, {Number: 5, Call: 3, Tokens: 40}, {Number: 6, Call: 4, Tokens: 50},
		},
		Needs: []recording.Need{
			{Call: 1, Page: 2, Wide: true, Strict: true},
			{Call: 3, Page: 2, Wide: true, Strict: true},
			{Call: 3, Page: 3, Wide: true},
		},
	}
}

func TestRewritesOf(t *testing.T) {
	set := replay.Setting{Cold: []bool{true, false, false, false}}
	set.Rates.Read, set.Rates.Write = .1, 1.25
	got := rewritesOf(bounded(), set)
	want := []carried{{10, 0, 3}, {200, 1, 3}, {300, 2, 3}, {40, 3, 0}}
	if !slices.Equal(got.items, want) || got.prefix != 1000 || got.read != .1 || got.write != 1.25 {
		t.Errorf("got %+v, want items %v", got, want)
	}
}

func TestRequestsOf(t *testing.T) {
	for strict, want := range map[bool]hitBound{false: {3, 3, 3}, true: {2, 2, 2}} {
		trace := requestsOf(bounded(), strict)
		if got := bestHits(trace, 1000); got != want {
			t.Errorf("strict %t: got %+v, want %+v", strict, got, want)
		}
		if first := trace[:3]; !slices.Equal(first, []request{{1, 10, true}, {2, 200, true}, {2, 200, false}}) {
			t.Errorf("strict %t: the trace begins %v", strict, first)
		}
	}
}

func BenchmarkLeastRewrites(b *testing.B) {
	for name, p := range map[string]rewrites{"2000 warm": longRewrites(2000, 0), "9000 with pauses": longRewrites(9000, 40)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p.least()
			}
		})
	}
}

func BenchmarkBestHits(b *testing.B) {
	var trace []request
	for t := range 30_000 {
		page := quire.PageNumber(t)
		if t%3 == 0 {
			page = quire.PageNumber(t - t*7%2000)
		}
		trace = append(trace, request{page, 100 + int32(page)*31%2000, t%3 != 0})
	}
	for b.Loop() {
		bestHits(trace, 64_000)
	}
}

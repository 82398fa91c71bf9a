package price

import (
	"testing"
	"time"
)

// blocks makes blocks of the given sizes whose content follows from a name: the
// i-th block of the same name is the same.
func blocks(name uint64, sizes ...int) []Block {
	out := make([]Block, len(sizes))
	for i, n := range sizes {
		out[i] = Block{Hash: name*1000 + uint64(i) + 1, Tokens: n}
	}
	return out
}

// many is n blocks of the same size.
func many(name uint64, n, size int) []Block {
	sizes := make([]int, n)
	for i := range sizes {
		sizes[i] = size
	}
	return blocks(name, sizes...)
}

func marked(b []Block, life Lifetime) []Block {
	b[len(b)-1].Mark = life
	return b
}

func answer(b []Block) []Block {
	b[0].Answer = true
	return b
}

type send struct {
	after time.Duration // since the send before
	keep  int
	add   []Block
	want  Charge
}

// A ruleCase is a series of requests with their charges, computed by hand.
type ruleCase struct {
	rules Rules
	plan  int // blocks of the constant prefix; -1: markers of the blocks
	life  Lifetime
	sends []send
}

// all keeps the whole prompt of the request before.
const all = 1 << 30

// placeCases are about where a prefix is written and found.
func placeCases() map[string]ruleCase {
	anthropic := Default().rule("anthropic-1024")
	return map[string]ruleCase{
		"nothing is cached without a marker": {anthropic, -1, 0, []send{
			{0, 0, blocks(1, 2000, 3000), Charge{Uncached: 5000, Cold: true}},
			{0, all, nil, Charge{Uncached: 5000, Cold: true}},
		}},
		"a prefix is written to the marker and read exactly there": {anthropic, -1, 0, []send{
			{0, 0, append(marked(blocks(1, 2000, 3000), Short), blocks(2, 500)...), Charge{Write: 5000, Uncached: 500, Cold: true}},
			{time.Minute, all, marked(blocks(3, 700), Short), Charge{Read: 5000, Write: 1200}},
			{time.Minute, all, blocks(4, 10), Charge{Read: 6200, Uncached: 10}},
		}},
		"an edit before the marker misses everything": {anthropic, -1, 0, []send{
			{0, 0, marked(blocks(1, 2000, 3000), Short), Charge{Write: 5000, Cold: true}},
			{0, 0, marked(append(blocks(2, 2000), blocks(1, 2000, 3000)[1]), Short), Charge{Write: 5000, Cold: true}},
		}},
		"a prefix under the minimum is silently not cached": {anthropic, -1, 0, []send{
			{0, 0, marked(blocks(1, 1023), Short), Charge{Uncached: 1023, Cold: true}},
			{0, all, marked(blocks(2, 1), Short), Charge{Write: 1024, Cold: true}},
			{0, all, nil, Charge{Read: 1024}},
		}},
		"an entry 20 blocks before the marker is found": {anthropic, -1, 0, []send{
			{0, 0, marked(blocks(1, 2000), Short), Charge{Write: 2000, Cold: true}},
			{0, 1, marked(many(2, 20, 10), Short), Charge{Read: 2000, Write: 200}},
		}},
		// The kept marker of the first request is gone with its block, so that
		// only the look-back of the last marker is left.
		"an entry 21 blocks before the marker is not found": {Rules{Breakpoints: 1, LookBack: 20, Minimum: 1024, TTL: 5 * time.Minute, ChargesWrites: true}, -1, 0, []send{
			{0, 0, marked(blocks(1, 2000), Short), Charge{Write: 2000, Cold: true}},
			{0, 1, marked(many(2, 21, 10), Short), Charge{Write: 2210, Cold: true}},
		}},
		"of five markers the first and the last three stand": {anthropic, -1, 0, []send{
			{0, 0, marked(blocks(1, 2000), Short), Charge{Write: 2000, Cold: true}},
			{0, all, marked(blocks(2, 2000), Short), Charge{Read: 2000, Write: 2000}},
			{0, all, marked(blocks(3, 2000), Short), Charge{Read: 4000, Write: 2000}},
			{0, all, marked(blocks(4, 2000), Short), Charge{Read: 6000, Write: 2000}},
			{0, all, marked(blocks(5, 2000), Short), Charge{Read: 8000, Write: 2000}},
		}},
	}
}

// lifeCases are about how long an entry lives.
func lifeCases() map[string]ruleCase {
	anthropic := Default().rule("anthropic-1024")
	return map[string]ruleCase{
		"a short entry lives five minutes from the start of the request": {anthropic, -1, 0, []send{
			{0, 0, marked(blocks(1, 2000), Short), Charge{Write: 2000, Cold: true}},
			{5 * time.Minute, all, nil, Charge{Read: 2000}},
			{5 * time.Minute, all, nil, Charge{Read: 2000}}, // the read has renewed it
			{5*time.Minute + 1, all, nil, Charge{Write: 2000, Cold: true, Lapsed: 2000}},
		}},
		"a long entry lives an hour and is written at its own price": {anthropic, -1, 0, []send{
			{0, 0, marked(blocks(1, 2000), Long), Charge{Write1h: 2000, Cold: true}},
			{time.Hour, all, marked(blocks(2, 500), Long), Charge{Read: 2000, Write1h: 500}},
			{time.Hour + 1, all, nil, Charge{Write1h: 2500, Cold: true, Lapsed: 2500}},
		}},
		"a long prefix survives its short tail": {anthropic, -1, 0, []send{
			{0, 0, append(marked(blocks(1, 2000), Long), marked(blocks(2, 700), Short)...), Charge{Write1h: 2000, Write: 700, Cold: true}},
			{10 * time.Minute, all, nil, Charge{Read: 2000, Write: 700, Lapsed: 700}},
		}},
		"reading a longer prefix renews a shorter one": {anthropic, -1, 0, []send{
			{0, 0, marked(blocks(1, 2000), Short), Charge{Write: 2000, Cold: true}},
			{4 * time.Minute, all, marked(blocks(2, 500), Short), Charge{Read: 2000, Write: 500}},
			{4 * time.Minute, 1, marked(blocks(3, 100), Short), Charge{Read: 2000, Write: 100}},
		}},
	}
}

// branchCases are about prompts that leave each other's path.
func branchCases() map[string]ruleCase {
	anthropic := Default().rule("anthropic-1024")
	return map[string]ruleCase{
		"a fork and the branch it left both hit": {anthropic, -1, 0, []send{
			{0, 0, append(marked(blocks(1, 2000), Short), marked(blocks(2, 700), Short)...), Charge{Write: 2700, Cold: true}},
			{time.Minute, 1, marked(blocks(3, 300), Short), Charge{Read: 2000, Write: 300}},
			{time.Minute, 1, marked(blocks(2, 700), Short), Charge{Read: 2700}},
			{5 * time.Minute, 1, marked(blocks(3, 300), Short), Charge{Read: 2000, Write: 300}}, // its tail was read last six minutes ago
		}},
		"two streams under one credential share their prefix": {anthropic, -1, 0, []send{
			{0, 0, append(marked(blocks(1, 2000), Short), marked(blocks(2, 700), Short)...), Charge{Write: 2700, Cold: true}},
			{0, 0, append(marked(blocks(1, 2000), Short), marked(blocks(3, 900), Short)...), Charge{Read: 2000, Write: 900}},
			{0, 0, append(marked(blocks(1, 2000), Short), marked(blocks(2, 700), Short)...), Charge{Read: 2700}},
		}},
		"a marker within what was read leaves an entry for nothing": {anthropic, -1, 0, []send{
			{0, 0, marked(blocks(1, 2000, 700), Short), Charge{Write: 2700, Cold: true}},
			{0, 0, append(marked(blocks(1, 2000), Short), Block{Hash: 1002, Tokens: 700, Mark: Short}), Charge{Read: 2700}},
			{0, 1, marked(blocks(3, 100), Short), Charge{Read: 2000, Write: 100}},
		}},
		"a time before the last request counts as that of the last": {anthropic, -1, 0, []send{
			{0, 0, marked(blocks(1, 2000), Short), Charge{Write: 2000, Cold: true}},
			{-time.Hour, all, nil, Charge{Read: 2000}},
		}},
	}
}

// plannedCases leave the markers to the cache.
func plannedCases() map[string]ruleCase {
	anthropic := Default().rule("anthropic-1024")
	return map[string]ruleCase{
		"planned markers read back over any number of blocks": {anthropic, 1, Short, []send{
			{0, 0, many(1, 30, 100), Charge{Write: 3000, Cold: true}},
			{0, all, many(2, 200, 10), Charge{Read: 3000, Write: 2000}},
			{0, 30, many(3, 50, 10), Charge{Read: 3000, Write: 500}}, // a fork at the place of the first request
		}},
		"planned markers every 15 blocks serve a fork between them": {anthropic, 1, Long, []send{
			{0, 0, many(1, 40, 100), Charge{Write1h: 4000, Cold: true}},
			{0, 26, blocks(2, 100), Charge{Read: 2500, Write1h: 200}}, // the marker after block 25
		}},
	}
}

// providerCases are the rules of other providers than Anthropic.
func providerCases() map[string]ruleCase {
	return map[string]ruleCase{
		"gpt-5.6: a marked end is read from any distance": {Default().rule("openai-breakpoints"), -1, 0, []send{
			{0, 0, many(1, 20, 100), Charge{Write: 2000, Cold: true}}, // the provider marks the end
			{29 * time.Minute, all, many(2, 100, 10), Charge{Read: 2000, Write: 1000}},
			{30*time.Minute + 1, all, nil, Charge{Write: 3000, Cold: true, Lapsed: 3000}},
		}},
		"gpt-5.6: no shorter unmarked prefix": {Default().rule("openai-breakpoints"), -1, 0, []send{
			{0, 0, blocks(1, 9000, 300), Charge{Write: 9300, Cold: true}},
			{0, 1, blocks(2, 400), Charge{Write: 9400, Cold: true}},
			{0, 0, append(marked(blocks(1, 9000), Short), blocks(3, 500)...), Charge{Write: 9500, Cold: true}},
			{0, 1, blocks(4, 600), Charge{Read: 9000, Write: 600}},
		}},
		"gpt-5.5: in steps of 128 from 1024 on, writes are free": {Default().rule("openai-steps"), -1, 0, []send{
			{0, 0, blocks(1, 1000), Charge{Uncached: 1000, Cold: true}},
			{0, all, blocks(2, 160), Charge{Uncached: 1160, Cold: true}}, // 1000 match, too few
			{0, all, blocks(3, 140), Charge{Read: 1152, Uncached: 148}},  // 9 × 128
			{0, 1, blocks(4, 2000), Charge{Uncached: 3000, Cold: true}},
			{0, 1, blocks(2, 160), Charge{Read: 1152, Uncached: 8}}, // the branch left behind
			{5*time.Minute + 1, all, nil, Charge{Uncached: 1160, Cold: true, Lapsed: 1152}},
		}},
		"deepseek: in steps of 64, with the answer, for hours": {Default().rule("deepseek"), -1, 0, []send{
			{0, 0, blocks(1, 1742), Charge{Uncached: 1742, Cold: true}},
			{0, all, answer(blocks(2, 93, 269)), Charge{Read: 1792, Uncached: 312}}, // 1742 + 93 = 28 × 64 + 43
			{6 * time.Hour, all, blocks(3, 100), Charge{Read: 2048, Uncached: 156}}, // 2104 = 32 × 64 + 56
			{6*time.Hour + 1, all, nil, Charge{Uncached: 2204, Cold: true, Lapsed: 2176}},
		}},
		"qwen implicit: from 256 tokens on": {Default().rule("alibaba-implicit"), -1, 0, []send{
			{0, 0, blocks(1, 255), Charge{Uncached: 255, Cold: true}},
			{0, all, blocks(2, 1), Charge{Uncached: 256, Cold: true}},
			{0, all, blocks(3, 1), Charge{Read: 256, Uncached: 1}},
		}},
	}
}

func TestCacheRules(t *testing.T) {
	for _, cases := range []map[string]ruleCase{placeCases(), lifeCases(), branchCases(), plannedCases(), providerCases()} {
		for name, c := range cases {
			t.Run(name, c.run)
		}
	}
}

func (c ruleCase) run(t *testing.T) {
	cache := NewCache(c.rules)
	if c.plan >= 0 {
		cache.Plan(c.plan, c.life)
	}
	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	for i, s := range c.sends {
		at = at.Add(s.after)
		if got := cache.Send(at, s.keep, s.add); got != s.want {
			t.Errorf("request %d: charge %+v, want %+v", i, got, s.want)
		}
	}
}

func TestWarm(t *testing.T) {
	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	c := NewCache(Default().rule("anthropic-1024"))
	if got := c.Warm(at); got != 0 {
		t.Errorf("%d tokens of an empty cache are warm", got)
	}
	c.Send(at, 0, append(marked(blocks(1, 2000), Long), marked(blocks(2, 700), Short)...))
	for idle, want := range map[time.Duration]int{0: 2700, 5 * time.Minute: 2700, 6 * time.Minute: 2000, time.Hour: 2000, 61 * time.Minute: 0} {
		if got := c.Warm(at.Add(idle)); got != want {
			t.Errorf("after %v %d tokens are warm, want %d", idle, got, want)
		}
	}
}

func TestPlace(t *testing.T) {
	anthropic := Default().rule("anthropic-1024")
	unlimited := anthropic
	unlimited.LookBack = 0
	cases := []struct {
		name                 string
		rules                Rules
		constant, written, n int
		want                 []int
	}{
		{"an empty request", anthropic, 0, 0, 0, nil},
		{"a short one", anthropic, 2, 0, 5, []int{2, 5}},
		{"nothing but the constant prefix", anthropic, 5, 0, 5, []int{5}},
		{"a long first one", anthropic, 2, 0, 100, []int{2, 70, 85, 100}},
		{"within the look-back", anthropic, 2, 90, 100, []int{2, 100}},
		{"a marker between", anthropic, 2, 81, 100, []int{2, 85, 100}},
		{"beyond the look-back", anthropic, 2, 60, 100, []int{2, 60, 85, 100}},
		{"no look-back to fear", unlimited, 2, 10, 100, []int{2, 70, 85, 100}},
		{"no markers", Rules{Match: Automatic}, 2, 10, 100, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := c.rules.Place(c.constant, c.written, c.n)
			if len(got) != len(c.want) {
				t.Fatalf("markers %v, want %v", got, c.want)
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Fatalf("markers %v, want %v", got, c.want)
				}
			}
		})
	}
}

// A replay's pattern over a prompt of 20,000 blocks: one to three blocks are
// appended per call, every hundredth call replaces the last 200 by 50, and every
// fortieth comes late.
func BenchmarkSend(b *testing.B) {
	for _, p := range Profiles() {
		b.Run(p.Name, func(b *testing.B) {
			c := NewCache(p.Rules)
			c.Plan(1, p.Life)
			at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
			c.Send(at, 0, many(1, 20_000, 50))
			b.ReportAllocs()
			n, i := 20_000, 0
			for b.Loop() {
				i++
				at = at.Add(20 * time.Second)
				if i%40 == 0 {
					at = at.Add(10 * time.Minute)
				}
				keep, add := n, many(uint64(i)+2, 1+i%3, 300)
				if i%100 == 0 {
					keep, add = n-200, many(uint64(i)+2, 50, 300)
				}
				c.Send(at, keep, add)
				n = keep + len(add)
			}
		})
	}
}

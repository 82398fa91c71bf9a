package price

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A slowCache follows the rules literally: it keeps every written prefix under
// its whole content and looks at all of them. It is what Cache must agree with.
type slowCache struct {
	rules    Rules
	prompt   []Block
	planned  bool
	constant int
	life     Lifetime
	entries  map[string]time.Time // of an automatic cache: prefix; otherwise prefix and lifetime
}

func newSlowCache(rules Rules) *slowCache {
	return &slowCache{rules: rules, entries: make(map[string]time.Time)}
}

func (c *slowCache) prefix(n int) string {
	key := ""
	for _, b := range c.prompt[:n] {
		key += fmt.Sprintf("%d,", b.Hash)
	}
	return key
}

func (c *slowCache) key(n int, l Lifetime) string { return fmt.Sprintf("%s/%d", c.prefix(n), l) }

func (c *slowCache) size(n int) int {
	sum := 0
	for _, b := range c.prompt[:n] {
		sum += b.Tokens
	}
	return sum
}

func (c *slowCache) Send(at time.Time, keep int, blocks []Block) Charge {
	keep = min(keep, len(c.prompt))
	whole := keep == len(c.prompt)
	c.prompt = append(append([]Block(nil), c.prompt[:keep]...), blocks...)
	if c.rules.Match == Automatic {
		return c.automatic(at, keep, whole)
	}
	return c.marked(at)
}

func (c *slowCache) automatic(at time.Time, keep int, whole bool) Charge {
	alive := func(n int) bool {
		t, ok := c.entries[c.prefix(n)]
		return n == 0 || ok && at.Sub(t) <= c.rules.TTL
	}
	reach := 0
	for reach < len(c.prompt) && alive(reach+1) {
		reach++
	}
	if c.rules.Answers && whole && keep > 0 && reach >= keep {
		answered := keep
		for answered < len(c.prompt) && c.prompt[answered].Answer {
			answered++
		}
		reach = max(reach, answered)
	}
	for n := range len(c.prompt) {
		c.entries[c.prefix(n+1)] = at
	}
	read := c.size(reach)
	if c.rules.Step > 1 {
		read -= read % c.rules.Step
	}
	if read < c.rules.Minimum {
		read = 0
	}
	return Charge{Read: read, Uncached: c.size(len(c.prompt)) - read}
}

func (c *slowCache) marked(at time.Time) Charge {
	for key, t := range c.entries {
		life := Short
		if key[len(key)-1] == '0'+byte(Long) {
			life = Long
		}
		if at.Sub(t) > c.rules.Life(life) {
			delete(c.entries, key)
		}
	}
	marks := c.marks()
	read := mark{}
	for _, m := range marks {
		for n := m.pos; n > 0 && (c.rules.LookBack == 0 || m.pos-n <= c.rules.LookBack); n-- {
			for _, l := range []Lifetime{Short, Long} {
				if _, ok := c.entries[c.key(n, l)]; ok && n >= read.pos {
					read = mark{n, l}
				}
			}
		}
	}
	for n := 1; n <= read.pos; n++ {
		for _, l := range []Lifetime{Short, Long} {
			if _, ok := c.entries[c.key(n, l)]; ok {
				c.entries[c.key(n, l)] = at
			}
		}
	}
	long, end := read.pos, read.pos
	for _, m := range marks {
		if c.size(m.pos) < c.rules.Minimum {
			continue
		}
		if m.pos > read.pos || m.life <= read.life {
			c.entries[c.key(m.pos, m.life)] = at
		}
		end = max(end, m.pos)
		if m.life == Long {
			long = max(long, m.pos)
		}
	}
	r, b, e := c.size(read.pos), c.size(long), c.size(end)
	return Charge{Read: r, Write1h: b - r, Write: e - b, Uncached: c.size(len(c.prompt)) - e}
}

// marks places the markers from the whole prompt.
func (c *slowCache) marks() []mark {
	n := len(c.prompt)
	if c.planned {
		written := 0
		for i := 1; i <= n; i++ {
			if _, ok := c.entries[c.key(i, c.life)]; ok {
				written = i
			}
		}
		var marks []mark
		for _, pos := range c.rules.Place(c.constant, written, n) {
			marks = append(marks, mark{pos, c.life})
		}
		return marks
	}
	var marks []mark
	for i, b := range c.prompt {
		if b.Mark != Unmarked {
			marks = append(marks, mark{i + 1, b.Mark})
		}
	}
	implicit := c.rules.Implicit && n > 0 && (len(marks) == 0 || marks[len(marks)-1].pos < n)
	slots := c.rules.Breakpoints
	if implicit {
		slots--
	}
	for len(marks) > slots {
		first := min(1, slots-1) // the first one stands unless there is room for the last one only
		marks = append(marks[:max(0, first)], marks[max(0, first)+1:]...)
	}
	if implicit {
		marks = append(marks, mark{n, Short})
	}
	return marks
}

func drawRules(t *rapid.T) Rules {
	r := Rules{
		Match:   rapid.SampledFrom([]Match{AtBreakpoints, Automatic}).Draw(t, "match"),
		Minimum: rapid.SampledFrom([]int{0, 300, 1024}).Draw(t, "minimum"),
		TTL:     5 * time.Minute,
	}
	if r.Match == Automatic {
		r.Step = rapid.SampledFrom([]int{0, 64, 128}).Draw(t, "step")
		r.Answers = rapid.Bool().Draw(t, "answers")
		return r
	}
	r.LongTTL = time.Hour
	r.ChargesWrites = true
	r.Breakpoints = rapid.IntRange(1, 4).Draw(t, "breakpoints")
	r.LookBack = rapid.SampledFrom([]int{0, 2, 4, 20}).Draw(t, "look-back")
	r.Implicit = rapid.Bool().Draw(t, "implicit")
	return r
}

func drawBlocks(t *rapid.T) []Block {
	n := rapid.IntRange(0, 8).Draw(t, "blocks")
	blocks := make([]Block, n)
	for i := range blocks {
		h := rapid.Uint64Range(1, 3).Draw(t, "hash") // few, so that left paths are met again
		blocks[i] = Block{
			Hash:   h,
			Tokens: int(h) * 97,
			Mark:   rapid.SampledFrom([]Lifetime{Unmarked, Unmarked, Unmarked, Short, Long}).Draw(t, "mark"),
			Answer: rapid.Bool().Draw(t, "answer"),
		}
	}
	return blocks
}

// The fast cache charges every request of every sequence as the slow one does.
func TestCacheAgreesWithReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := drawRules(t)
		fast, slow := NewCache(rules), newSlowCache(rules)
		if rules.Match == AtBreakpoints && rapid.Bool().Draw(t, "planned") {
			slow.planned = true
			slow.constant = rapid.IntRange(0, 3).Draw(t, "constant")
			slow.life = rapid.SampledFrom([]Lifetime{Short, Long}).Draw(t, "life")
			fast.Plan(slow.constant, slow.life)
		}
		at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
		for range rapid.IntRange(1, 25).Draw(t, "calls") {
			at = at.Add(rapid.SampledFrom([]time.Duration{0, time.Second, 2 * time.Minute, 5 * time.Minute, 6 * time.Minute, 61 * time.Minute}).Draw(t, "idle"))
			keep := rapid.IntRange(0, len(slow.prompt)+1).Draw(t, "keep")
			if rapid.Bool().Draw(t, "append") {
				keep = len(slow.prompt)
			}
			blocks := drawBlocks(t)
			warm, repeated := fast.Warm(at), keep >= len(slow.prompt) && len(blocks) == 0
			got, want := fast.Send(at, keep, blocks), slow.Send(at, keep, blocks)
			want.Cold, want.Lapsed = want.Read == 0, got.Lapsed
			if got != want {
				t.Fatalf("charge %+v, reference %+v", got, want)
			}
			if repeated && (rules.Match == Automatic || slow.planned && rules.Breakpoints > 2) && got.Read != warm {
				t.Fatalf("read %d of a repeated prompt, Warm said %d", got.Read, warm)
			}
			if got.Prompt() != slow.size(len(slow.prompt)) {
				t.Fatalf("charge %+v of a prompt of %d tokens", got, slow.size(len(slow.prompt)))
			}
		}
	})
}

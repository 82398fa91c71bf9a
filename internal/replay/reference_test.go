package replay

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/recording/recordingtest"
	"github.com/quire-agent/quire/internal/shingle"
)

// A slowReplay follows the definitions word by word: for each call it has the
// complete prompts, looks for every needed shingle and line in every text of
// them, and charges all of their blocks. It is what Replay must agree with.
type slowReplay struct {
	t      recordingtest.Checker
	s      *recording.Session
	set    Setting
	player Player
	blocks []Block           // the policy's prompt
	schema int               // tokens that it adds to the constant prefix
	held   []map[uint64]bool // what each block holds
	books  [2]*slowBook
	memo   *scans
	o      Outcome
	missed []int
}

// A slowBook is what the policy's prompt and what faults brought cost.
type slowBook struct {
	wide    bool
	cache   *slowCache
	brought []slowText
	last    int // tokens of the last prompt
	faults  int
	read    int64
	sizes   []int

	cost, extra, prefix float64
}

// A slowText is what a fault brought behind the first after blocks.
type slowText struct {
	after  int
	text   string
	tokens int
	held   map[uint64]bool
}

// slowly plays a policy.
func slowly(t recordingtest.Checker, s *recording.Session, p Policy, set Setting, memo *scans) Outcome {
	r := &slowReplay{t: t, s: s, set: set, player: p.Start(s, set), memo: memo}
	r.o = Outcome{Policy: p.Name, Calls: len(s.Calls), Reasons: map[string]int{}}
	for i := range r.books {
		r.books[i] = &slowBook{wide: i == 0, cache: newSlowCache(set)}
	}
	for k := range s.Calls {
		r.call(k)
	}
	return r.outcome()
}

func (r *slowReplay) call(k int) {
	p := r.player.Step(k)
	if p.Keep < 0 || p.Keep > len(r.blocks) {
		r.t.Fatalf("call %d keeps %d of %d blocks", k, p.Keep, len(r.blocks))
	}
	extends := k > 0 && p.Keep == len(r.blocks) && p.Schema == r.schema
	r.schema = p.Schema
	if p.Keep < len(r.blocks) {
		r.o.Epochs++
		r.o.Reasons[p.Reason]++
	}
	r.blocks = append(slices.Clone(r.blocks[:p.Keep]), p.Blocks...)
	r.held = r.held[:0]
	for _, b := range r.blocks {
		r.held = append(r.held, r.memo.of(r.text(b)))
	}
	r.residency(k)
	for _, b := range r.books {
		for _, a := range p.Asides {
			b.cost += r.trip(b.last, a.Output)
		}
		b.brought = slices.DeleteFunc(b.brought, func(f slowText) bool { return f.after > p.Keep })
		r.charge(b, k, extends)
	}
	r.judge(k)
}

// residency sums what stands whole, by whether a call from now on needs it.
func (r *slowReplay) residency(k int) {
	for _, b := range r.blocks {
		if !b.Whole {
			continue
		}
		it := r.s.Items[b.Item]
		needed := slices.ContainsFunc(r.s.Needs, func(n recording.Need) bool { return n.Page == it.Page && int(n.Call) >= k })
		if needed {
			r.o.LiveCalls += int64(it.Tokens)
		} else {
			r.o.DeadCalls += int64(it.Tokens)
		}
	}
}

func (r *slowReplay) charge(b *slowBook, k int, extends bool) {
	if slices.Contains(r.set.Missed, k) {
		b.cache.forget()
	}
	ch := b.cache.send(r.s.Calls[k].At, r.prompt(b), extends)
	b.last = ch.Prompt()
	b.sizes = append(b.sizes, b.last)
	b.read += int64(ch.Read)
	b.cost += r.set.Rates.Cost(ch, 0)
	price := r.set.Rates.Read
	if r.set.Cold[k] {
		price = r.writePrice()
	}
	b.prefix += price * float64(r.s.Overhead)
}

func (r *slowReplay) writePrice() float64 {
	if r.set.Life == price.Long {
		return r.set.Rates.Write1h
	}
	return r.set.Rates.Write
}

func (r *slowReplay) trip(prompt, output int) float64 {
	p := r.set.Rates.For(prompt)
	return float64(prompt)*p.Read + float64(output)*p.Output
}

// prompt is everything that is sent: its identity and its tokens, block by block.
func (r *slowReplay) prompt(b *slowBook) []slowBlock {
	out := []slowBlock{{id: fmt.Sprint("prefix with ", r.schema), tokens: r.s.Overhead + r.schema}}
	at := 0
	for _, f := range b.brought {
		out = append(out, r.show(r.blocks[at:f.after])...)
		out = append(out, slowBlock{id: "shown " + f.text, tokens: f.tokens})
		at = f.after
	}
	return append(out, r.show(r.blocks[at:])...)
}

func (r *slowReplay) show(blocks []Block) (out []slowBlock) {
	for _, b := range blocks {
		c := slowBlock{id: "shown " + b.Text, tokens: int(b.Tokens)}
		if b.Whole {
			it := &r.s.Items[b.Item]
			c.id, c.answer = it.Kind.String()+" "+r.text(b), it.By >= 0
		}
		out = append(out, c)
	}
	return out
}

func (r *slowReplay) text(b Block) string {
	if !b.Whole {
		return b.Text
	}
	text, err := r.s.Bodies.Get(r.s.Items[b.Item].Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return text
}

// shows reports whether the prompt of a book holds a shingle or line.
func (r *slowReplay) shows(b *slowBook, hash uint64) bool {
	holds := func(held map[uint64]bool) bool { return held[hash] }
	return slices.ContainsFunc(r.held, holds) || slices.ContainsFunc(b.brought, func(f slowText) bool { return holds(f.held) })
}

// showsKey looks for a key in all that the prompt shows.
func (r *slowReplay) showsKey(b *slowBook, key int32) bool {
	for _, shown := range r.blocks {
		if r.memo.keys(r.s, r.text(shown))[key] {
			return true
		}
	}
	return slices.ContainsFunc(b.brought, func(f slowText) bool { return r.memo.keys(r.s, f.text)[key] })
}

func (r *slowReplay) covered(b *slowBook, hashes []uint64) (n int) {
	for _, h := range hashes {
		if r.shows(b, h) {
			n++
		}
	}
	return n
}

// judge looks for what call k needed.
func (r *slowReplay) judge(k int) {
	r.lines(k)
	strict := r.books[1]
	for _, n := range r.s.Needs {
		if int(n.Call) == k {
			r.o.WantedWide += int64(len(n.Shingles))
			r.o.CoveredWide += int64(r.covered(strict, n.Shingles))
			r.o.Wanted += int64(len(n.StrictShingles))
			r.o.Covered += int64(r.covered(strict, n.StrictShingles))
		}
	}
	r.missed = nil
	for i, n := range r.s.Needs {
		if int(n.Call) == k {
			r.need(i, &n)
		}
	}
	if l, ok := r.player.(Listener); ok && len(r.missed) > 0 {
		l.Faulted(k, r.missed)
	}
}

func (r *slowReplay) need(i int, n *recording.Need) {
	if n.Wide {
		r.serve(r.books[0], n, n.Shingles)
	}
	if n.Strict && !r.serve(r.books[1], n, n.StrictShingles) {
		r.missed = append(r.missed, i)
	}
}

// serve faults if less than 80 % of the shingles are in the prompt.
func (r *slowReplay) serve(b *slowBook, n *recording.Need, shingles []uint64) bool {
	if float64(r.covered(b, shingles)) >= .8*float64(len(shingles)) {
		return true
	}
	missing := slices.DeleteFunc(slices.Clone(shingles), func(h uint64) bool { return r.shows(b, h) })
	item := r.s.Items[r.s.PageItem[n.Page-1]]
	body := r.text(Block{Item: r.s.PageItem[n.Page-1], Whole: true})
	text := excerptOf(body, recording.Locate(body, missing))
	tokens := len(text)*int(item.Tokens)/max(len(body), 1) + 1
	b.brought = append(b.brought, slowText{len(r.blocks), text, tokens, r.memo.of(text)})
	b.faults++
	b.cost += r.trip(b.last, 100)
	b.extra += r.trip(b.last, 100) + r.writePrice()*float64(tokens)
	b.prefix += r.set.Rates.Read * float64(r.s.Overhead)
	return false
}

// excerptOf cuts lines with the five before and behind them out of a text.
func excerptOf(text string, ranges []quire.Range) string {
	var out strings.Builder
	for i, line := range strings.SplitAfter(text, "\n") {
		if slices.ContainsFunc(ranges, func(g quire.Range) bool { return i+1 >= g.First-5 && i+1 <= g.Last+5 }) {
			out.WriteString(line)
		}
	}
	return out.String()
}

// lines judges the edits and re-reads of call k.
func (r *slowReplay) lines(k int) {
	share := func(n *recording.LineNeed) float64 {
		have := 0
		for _, key := range n.Keys {
			if r.showsKey(r.books[1], key) {
				have++
			}
		}
		return float64(have) / float64(len(n.Keys))
	}
	for i := range r.s.Edits {
		if e := &r.s.Edits[i]; int(e.Call) == k {
			r.o.Edits++
			r.o.EditsServed += ones(share(e) == 1)
		}
	}
	for i := range r.s.Rereads {
		if e := &r.s.Rereads[i]; int(e.Call) == k {
			inText := share(e) >= .9
			r.o.Rereads++
			r.o.ServedText += ones(inText)
			r.o.Served += ones(inText || r.handled(e.Hash))
			for _, b := range r.books {
				if !inText && r.handled(e.Hash) {
					b.cost += r.trip(b.last, 100)
					b.extra += r.trip(b.last, 100)
					b.prefix += r.set.Rates.Read * float64(r.s.Overhead)
				}
			}
		}
	}
}

// handled reports whether a handle names a page with that body.
func (r *slowReplay) handled(hash quire.Hash) bool {
	return slices.ContainsFunc(r.blocks, func(b Block) bool {
		return b.Handle && r.s.Pages[r.s.Items[b.Item].Page-1].Body == hash
	})
}

func (r *slowReplay) outcome() Outcome {
	wide, strict, o := r.books[0], r.books[1], r.o
	o.Cost, o.Extra, o.Prefix, o.FaultsWide = wide.cost, wide.extra, wide.prefix, wide.faults
	o.CostStrict, o.ExtraStrict, o.Faults, o.Read = strict.cost, strict.extra, strict.faults, strict.read
	for k, n := range strict.sizes {
		o.Prompts = append(o.Prompts, int32(n))
		o.Prompt += int64(n)
		o.Net += int64(n - r.s.Overhead)
		o.Peak = max(o.Peak, n)
		o.TooBig += ones(r.set.Window > 0 && n > r.set.Window)
		o.Cold += ones(r.set.Cold[k])
		o.Completion += int64(r.s.Calls[k].Output)
		o.Output += r.set.Rates.Output * float64(r.s.Calls[k].Output)
	}
	return o
}

// scans remembers which shingles and which keys of a session a text holds.
type scans struct {
	texts map[string]map[uint64]bool
	byKey map[string]map[int32]bool
}

func newScans() *scans { return &scans{map[string]map[uint64]bool{}, map[string]map[int32]bool{}} }

func (m *scans) keys(s *recording.Session, text string) map[int32]bool {
	held, ok := m.byKey[text]
	if !ok {
		held = map[int32]bool{}
		for key := range s.Keys(text) {
			held[key] = true
		}
		m.byKey[text] = held
	}
	return held
}

func (m *scans) of(text string) map[uint64]bool {
	held, ok := m.texts[text]
	if !ok {
		held = map[uint64]bool{}
		shingle.Scan(text, func(g shingle.Shingle) bool { held[g.Hash] = true; return true })
		m.texts[text] = held
	}
	return held
}

// A slowBlock is a block of a complete prompt.
type slowBlock struct {
	id     string
	tokens int
	answer bool // the model made it
}

// A slowCache knows every prefix that was ever sent by a number, and when those
// that the provider holds were last touched.
type slowCache struct {
	rules   price.Rules
	life    price.Lifetime
	numbers map[prefixKey]int
	touched map[int]time.Time
	before  int // blocks of the last prompt
}

type prefixKey struct {
	before int
	block  string
}

func newSlowCache(set Setting) *slowCache {
	return &slowCache{rules: set.Rules, life: set.Life, numbers: map[prefixKey]int{}, touched: map[int]time.Time{}}
}

func (c *slowCache) forget() { clear(c.touched) }

// prefixes numbers the prefixes of a prompt, the empty one first, and sizes them.
func (c *slowCache) prefixes(prompt []slowBlock) (numbers, sizes []int) {
	numbers, sizes = []int{0}, []int{0}
	for i, b := range prompt {
		key := prefixKey{numbers[i], b.id}
		if c.numbers[key] == 0 {
			c.numbers[key] = len(c.numbers) + 1
		}
		numbers, sizes = append(numbers, c.numbers[key]), append(sizes, sizes[i]+b.tokens)
	}
	return numbers, sizes
}

func (c *slowCache) send(at time.Time, prompt []slowBlock, extends bool) price.Charge {
	for n, t := range c.touched {
		if at.Sub(t) > c.rules.Life(c.life) {
			delete(c.touched, n)
		}
	}
	numbers, sizes := c.prefixes(prompt)
	if c.rules.Match == price.Automatic {
		return c.automatic(at, prompt, extends, numbers, sizes)
	}
	return c.marked(at, numbers, sizes)
}

// automatic serves the longest prefix that the prompt has in common with one
// that was sent within the lifetime, or with one and its answer.
func (c *slowCache) automatic(at time.Time, prompt []slowBlock, extends bool, numbers, sizes []int) price.Charge {
	n, all := 0, sizes[len(sizes)-1]
	for n+1 < len(numbers) && c.held(numbers[n+1]) {
		n++
	}
	if extends && c.rules.Answers && n >= c.before {
		n = max(n, len(prompt)-len(strip(prompt[c.before:])))
	}
	for _, p := range numbers[1:] {
		c.touched[p] = at
	}
	c.before = len(prompt)
	read := sizes[n]
	if c.rules.Step > 1 {
		read -= read % c.rules.Step
	}
	if read < c.rules.Minimum {
		read = 0
	}
	if c.rules.ChargesWrites {
		return price.Charge{Read: read, Write: all - read}
	}
	return price.Charge{Read: read, Uncached: all - read}
}

// strip takes the leading answers off.
func strip(blocks []slowBlock) []slowBlock {
	for len(blocks) > 0 && blocks[0].answer {
		blocks = blocks[1:]
	}
	return blocks
}

func (c *slowCache) held(n int) bool {
	_, ok := c.touched[n]
	return ok
}

// marked serves the longest prefix that ended at a marker of an earlier request
// and lies within the look-back of one of this request.
func (c *slowCache) marked(at time.Time, numbers, sizes []int) price.Charge {
	last, written, read := len(numbers)-1, 0, 0
	for n := 1; n <= last; n++ {
		if c.held(numbers[n]) {
			written = n
		}
	}
	marks := c.rules.Place(1, written, last)
	for _, m := range marks {
		for n := 1; n <= m; n++ {
			if c.held(numbers[n]) && (c.rules.LookBack == 0 || m-n <= c.rules.LookBack) {
				read = max(read, n)
			}
		}
	}
	for n := 1; n <= read; n++ {
		if c.held(numbers[n]) {
			c.touched[numbers[n]] = at
		}
	}
	end := read
	for _, m := range marks {
		if sizes[m] >= c.rules.Minimum {
			c.touched[numbers[m]] = at
			end = max(end, m)
		}
	}
	ch := price.Charge{Read: sizes[read], Write: sizes[end] - sizes[read], Uncached: sizes[last] - sizes[end]}
	switch {
	case !c.rules.ChargesWrites:
		ch.Uncached, ch.Write = ch.Uncached+ch.Write, 0
	case c.life == price.Long && c.rules.LongTTL > 0:
		ch.Write, ch.Write1h = 0, ch.Write
	}
	return ch
}

// agree compares what both replays know.
func agree(t recordingtest.Checker, got, want Outcome) {
	t.Helper()
	whole := func(name string, a, b int64) {
		if a != b {
			t.Errorf("%s: %s is %d, the slow replay says %d", got.Policy, name, a, b)
		}
	}
	near := func(name string, a, b float64) {
		if math.Abs(a-b) > 1e-6*max(math.Abs(a), math.Abs(b)) {
			t.Errorf("%s: %s is %v, the slow replay says %v", got.Policy, name, a, b)
		}
	}
	for k := range want.Prompts {
		if got.Prompts[k] != want.Prompts[k] {
			t.Errorf("%s: the prompt of call %d has %d tokens, the slow replay says %d", got.Policy, k, got.Prompts[k], want.Prompts[k])
			break
		}
	}
	whole("calls", int64(got.Calls), int64(want.Calls))
	whole("faults", int64(got.Faults), int64(want.Faults))
	whole("wide faults", int64(got.FaultsWide), int64(want.FaultsWide))
	whole("wanted", got.Wanted, want.Wanted)
	whole("covered", got.Covered, want.Covered)
	whole("wanted, wide", got.WantedWide, want.WantedWide)
	whole("covered, wide", got.CoveredWide, want.CoveredWide)
	whole("edits", int64(got.Edits), int64(want.Edits))
	whole("edits served", int64(got.EditsServed), int64(want.EditsServed))
	whole("re-reads", int64(got.Rereads), int64(want.Rereads))
	whole("re-reads served by text", int64(got.ServedText), int64(want.ServedText))
	whole("re-reads served", int64(got.Served), int64(want.Served))
	whole("prompt", got.Prompt, want.Prompt)
	whole("net prompt", got.Net, want.Net)
	whole("peak", int64(got.Peak), int64(want.Peak))
	whole("read", got.Read, want.Read)
	whole("epochs", int64(got.Epochs), int64(want.Epochs))
	whole("cold calls", int64(got.Cold), int64(want.Cold))
	whole("calls over the window", int64(got.TooBig), int64(want.TooBig))
	whole("completion", got.Completion, want.Completion)
	whole("live token-calls", got.LiveCalls, want.LiveCalls)
	whole("dead token-calls", got.DeadCalls, want.DeadCalls)
	near("cost", got.Cost, want.Cost)
	near("strict cost", got.CostStrict, want.CostStrict)
	near("cost of output", got.Output, want.Output)
	near("cost of the prefix", got.Prefix, want.Prefix)
	near("cost of faults", got.Extra, want.Extra)
	near("cost of strict faults", got.ExtraStrict, want.ExtraStrict)
	for reason, n := range want.Reasons {
		whole("epochs for "+reason, int64(got.Reasons[reason]), int64(n))
	}
}

func ones(b bool) int {
	if b {
		return 1
	}
	return 0
}

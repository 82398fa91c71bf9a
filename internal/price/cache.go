package price

import (
	"math/bits"
	"sort"
	"time"
)

// A Block is one block of a prompt as a provider's cache sees it.
type Block struct {
	Hash   uint64   // of its bytes, cache markers aside: equal blocks have equal hashes, and no others do
	Tokens int      // the same for the same hash
	Mark   Lifetime // a cache marker behind the block; without meaning for automatic caches and once Plan was called
	Answer bool     // the model produced it, unchanged, in answer to the blocks before it
}

// A Cache is the prompt cache of one provider for one model under one
// credential: everything that requests sent through it have written and that
// has not lapsed. It is exact for the rules it is given; eviction before the
// end of a lifetime, delays before an entry can be read, and requests in
// parallel are not modelled.
//
// The prompt of a request is given as a difference to the one before it on the
// same Cache, and a request costs time in proportion to the blocks that differ,
// amortised, whatever the length of the prompt. A part that was left behind
// still hits when it is sent again, so that forks, rewinds and several streams
// may share one Cache.
//
// The zero Cache is not usable. A Cache must not be used concurrently.
type Cache struct {
	rules   Rules
	started bool
	origin  time.Time
	now     time.Duration // of the latest request, since origin

	chain []uint64 // chain[i]: hash of blocks 0…i of the latest prompt
	total []int    // total[i]: their tokens
	marks []mark   // set by the caller on the latest prompt, rising

	planned  bool
	constant int
	life     Lifetime

	prefixes prefixes // of an automatic cache
	points   points   // of a cache with breakpoints
}

// A mark is a breakpoint behind the first pos blocks.
type mark struct {
	pos  int
	life Lifetime
}

// NewCache returns an empty cache with those rules.
func NewCache(rules Rules) *Cache {
	return &Cache{
		rules:    rules,
		prefixes: prefixes{left: make(map[uint64]time.Duration)},
		points:   points{left: make(map[uint64]touches)},
	}
}

// Plan makes the cache place the markers of all further requests itself, as
// [Rules.Place] does, with that lifetime. The constant prefix has that many
// blocks. Without Plan a request carries the markers of its blocks.
func (c *Cache) Plan(constant int, life Lifetime) {
	c.planned, c.constant, c.life = true, constant, life
}

// Send sends a request: the first keep blocks of the prompt before it (all of
// them, if it had fewer), followed by blocks. It is counted as starting at that
// time; a time before the previous request counts as that of the previous one.
//
// Markers of kept blocks stay. Of more markers than the rules permit, the first
// one and the last ones stand, as in a client that moves its markers along.
// Long markers must stand before short ones; where they do not, everything
// before the last long one is written for long, because there is no better
// answer to a request that the provider refuses.
func (c *Cache) Send(at time.Time, keep int, blocks []Block) Charge {
	c.advance(at)
	previous := len(c.chain)
	keep = max(0, min(keep, previous))
	c.leave(keep)
	c.extend(blocks)
	if c.rules.Match == Automatic {
		return c.sendAutomatic(keep, keep == previous, blocks)
	}
	return c.sendMarked(keep)
}

// Warm is how many tokens of the latest prompt a request at that time could
// read if it repeated all of it.
func (c *Cache) Warm(at time.Time) int {
	if !c.started {
		return 0
	}
	now := max(c.now, at.Sub(c.origin))
	if c.rules.Match == Automatic {
		if now-c.prefixes.at > c.rules.TTL {
			return 0
		}
		return c.rounded(c.tokens(len(c.chain)))
	}
	return c.tokens(c.points.deepest(now, c.rules))
}

// Forget empties the cache, as a provider does that evicts before the end of a
// lifetime. The latest prompt stays what the next Send is a difference to.
func (c *Cache) Forget() {
	clear(c.prefixes.left)
	c.prefixes.at = c.now - c.rules.TTL - 1
	clear(c.points.left)
	c.points.entries, c.points.fresh = c.points.entries[:0], 0
}

func (c *Cache) advance(at time.Time) {
	if !c.started {
		c.started, c.origin = true, at
	}
	c.now = max(c.now, at.Sub(c.origin))
}

// leave cuts the path after keep blocks. What was cached beyond stays known.
func (c *Cache) leave(keep int) {
	if keep == len(c.chain) {
		return
	}
	if c.rules.Match == Automatic {
		c.prefixes.leave(c.chain[keep:])
		c.prefixes.sweep(c.now, c.rules.TTL)
	} else {
		c.points.leave(keep, c.chain)
		c.points.sweep(c.now, c.rules)
	}
	c.chain, c.total = c.chain[:keep], c.total[:keep]
	for len(c.marks) > 0 && c.marks[len(c.marks)-1].pos > keep {
		c.marks = c.marks[:len(c.marks)-1]
	}
}

func (c *Cache) extend(blocks []Block) {
	hash, tokens := c.hash(len(c.chain)), c.tokens(len(c.total))
	for _, b := range blocks {
		hash, tokens = link(hash, b.Hash), tokens+b.Tokens
		c.chain, c.total = append(c.chain, hash), append(c.total, tokens)
		if b.Mark != Unmarked {
			c.marks = append(c.marks, mark{len(c.chain), b.Mark})
		}
	}
}

// hash is the hash of the first n blocks.
func (c *Cache) hash(n int) uint64 {
	if n == 0 {
		return 0
	}
	return c.chain[n-1]
}

// tokens is the size of the first n blocks.
func (c *Cache) tokens(n int) int {
	if n == 0 {
		return 0
	}
	return c.total[n-1]
}

// link continues a chain of hashes by one block. The order of blocks matters.
func link(chain, block uint64) uint64 {
	hi, lo := bits.Mul64(chain^0x9e3779b97f4a7c15, block^0xd6e8feb86659fd93)
	return bits.RotateLeft64(chain, 29) + (hi ^ lo) + block
}

// rounded is what an automatic cache serves of so many matching tokens.
func (c *Cache) rounded(tokens int) int {
	if c.rules.Step > 1 {
		tokens -= tokens % c.rules.Step
	}
	if tokens < c.rules.Minimum {
		return 0
	}
	return tokens
}

// prefixes are what an automatic cache holds. All of the latest prompt was
// touched by the latest request, so one time is enough for it; of what other
// prompts left behind, each block end is kept with its own time. A prefix is
// touched whenever a longer one is, so no time is before that of a longer one,
// and the dead ones are always at the end of a path.
type prefixes struct {
	at   time.Duration
	left map[uint64]time.Duration
	room int // sweep when left is larger
}

func (p *prefixes) leave(chain []uint64) {
	for _, h := range chain {
		p.left[h] = p.at
	}
}

// sweep forgets what lapsed, seldom enough to cost nothing per request.
func (p *prefixes) sweep(now, ttl time.Duration) {
	if len(p.left) <= p.room {
		return
	}
	for h, at := range p.left {
		if now-at > ttl {
			delete(p.left, h)
		}
	}
	p.room = 2*len(p.left) + 1024
}

// rejoin counts how many blocks of the chain, from its beginning, were left
// behind alive, and takes them back onto the path.
func (p *prefixes) rejoin(now, ttl time.Duration, chain []uint64) int {
	for i, h := range chain {
		at, ok := p.left[h]
		if !ok || now-at > ttl {
			return i
		}
		delete(p.left, h)
	}
	return len(chain)
}

func (c *Cache) sendAutomatic(kept int, whole bool, blocks []Block) Charge {
	p := &c.prefixes
	reach := 0
	if c.now-p.at <= c.rules.TTL {
		reach = kept + p.rejoin(c.now, c.rules.TTL, c.chain[kept:])
		if whole && kept > 0 && c.rules.Answers {
			reach = max(reach, kept+answers(blocks))
		}
	} else {
		clear(p.left) // nothing is younger than the latest request
	}
	p.at = c.now
	read := c.rounded(c.tokens(reach))
	charge := Charge{Read: read, Cold: read == 0}
	charge.Lapsed = max(0, c.rounded(c.tokens(kept))-read)
	rest := c.tokens(len(c.chain)) - read
	if c.rules.ChargesWrites {
		charge.Write = rest
	} else {
		charge.Uncached = rest
	}
	return charge
}

// answers counts the leading blocks that answer the prompt before them.
func answers(blocks []Block) int {
	for i, b := range blocks {
		if !b.Answer {
			return i
		}
	}
	return len(blocks)
}

// An entry is a written prefix that ends after the first pos blocks of the path.
type entry struct {
	pos  int
	life Lifetime
	at   time.Duration // last touched; see points.fresh
}

// touches are the times at which the entries that end at one place were last
// touched, by lifetime.
type touches struct {
	short, long       time.Duration
	hasShort, hasLong bool
}

func (t *touches) set(l Lifetime, at time.Duration) {
	if l == Long {
		t.long, t.hasLong = at, true
	} else {
		t.short, t.hasShort = at, true
	}
}

// points are what a cache with breakpoints holds. Entries on the path of the
// latest prompt are a list; those of paths left behind are found by the hash of
// their prefix.
//
// A read touches every entry that is a prefix of what was read. To make that
// cheap, entries[:fresh] share the time freshAt and their own is not kept up.
type points struct {
	entries []entry // rising by pos, then by lifetime
	fresh   int
	freshAt time.Duration
	known   int // entries left behind that end within the first known blocks of the path are in entries
	left    map[uint64]touches
	room    int // sweep when left is larger
}

func (p *points) touched(i int) time.Duration {
	if i < p.fresh {
		return p.freshAt
	}
	return p.entries[i].at
}

func (p *points) leave(keep int, chain []uint64) {
	for n := len(p.entries); n > 0 && p.entries[n-1].pos > keep; n = len(p.entries) {
		e := p.entries[n-1]
		t := p.left[chain[e.pos-1]]
		t.set(e.life, p.touched(n-1))
		p.left[chain[e.pos-1]] = t
		p.entries = p.entries[:n-1]
	}
	p.fresh = min(p.fresh, len(p.entries))
	p.known = min(p.known, keep)
}

// sweep forgets what lapsed, seldom enough to cost nothing per request.
func (p *points) sweep(now time.Duration, rules Rules) {
	if len(p.left) <= p.room {
		return
	}
	for h, t := range p.left {
		if !t.alive(now, rules) {
			delete(p.left, h)
		}
	}
	p.room = 2*len(p.left) + 1024
}

func (t touches) alive(now time.Duration, rules Rules) bool {
	return t.hasShort && now-t.short <= rules.Life(Short) || t.hasLong && now-t.long <= rules.Life(Long)
}

// rejoin takes the living entries that end within the first last blocks of the
// path back into the list.
func (p *points) rejoin(now time.Duration, rules Rules, chain []uint64, last int) {
	for p.known < last {
		p.known++
		h := chain[p.known-1]
		t, ok := p.left[h]
		if !ok {
			continue
		}
		delete(p.left, h)
		if t.hasShort && now-t.short <= rules.Life(Short) {
			p.entries = append(p.entries, entry{p.known, Short, t.short})
		}
		if t.hasLong && now-t.long <= rules.Life(Long) {
			p.entries = append(p.entries, entry{p.known, Long, t.long})
		}
	}
}

// expire drops dead entries of the path and returns where the deepest one
// within the first kept blocks ended.
func (p *points) expire(now time.Duration, rules Rules, kept int) int {
	first := 0
	if now-p.freshAt <= rules.Life(Short) {
		first = p.fresh // the fresh ones are alive, whatever their lifetime
	}
	deepest, n, fresh := 0, first, first
	for i := first; i < len(p.entries); i++ {
		e := p.entries[i]
		e.at = p.touched(i)
		if now-e.at > rules.Life(e.life) {
			if e.pos <= kept {
				deepest = e.pos
			}
			continue
		}
		p.entries[n] = e
		n++
		if i < p.fresh {
			fresh = n
		}
	}
	p.entries, p.fresh = p.entries[:n], fresh
	return deepest
}

// deepest is where the deepest entry of the path that lives at that time ends.
func (p *points) deepest(now time.Duration, rules Rules) int {
	for i := len(p.entries) - 1; i >= 0; i-- {
		if now-p.touched(i) <= rules.Life(p.entries[i].life) {
			return p.entries[i].pos
		}
	}
	return 0
}

// upTo is how many entries end within the first pos blocks.
func (p *points) upTo(pos int) int {
	return sort.Search(len(p.entries), func(i int) bool { return p.entries[i].pos > pos })
}

// find looks from each marker, the last one first, for the nearest entry within
// the look-back, and returns how many entries end there or before; 0: none.
// What a later marker finds is never shorter than what an earlier one finds.
func (p *points) find(marks []mark, lookBack int) int {
	for i := len(marks) - 1; i >= 0; i-- {
		n := p.upTo(marks[i].pos)
		if n > 0 && (lookBack == 0 || marks[i].pos-p.entries[n-1].pos <= lookBack) {
			return n
		}
	}
	return 0
}

// touch makes entries[:n] fresh.
func (p *points) touch(n int, now time.Duration) {
	for i := n; i < p.fresh; i++ {
		p.entries[i].at = p.freshAt
	}
	p.fresh, p.freshAt = n, now
}

// write adds the entry of a marker. Beyond what was read it is new. Within, the
// bytes are in the cache already and an entry costs nothing, but it lives no
// longer than what was read: then the entry there is at least as good.
func (p *points) write(m mark, read mark, now time.Duration) {
	if m.pos <= read.pos && m.life > read.life {
		return
	}
	i := sort.Search(len(p.entries), func(i int) bool {
		e := p.entries[i]
		return e.pos > m.pos || e.pos == m.pos && e.life >= m.life
	})
	if i < len(p.entries) && p.entries[i].pos == m.pos && p.entries[i].life == m.life {
		return
	}
	p.entries = append(p.entries, entry{})
	copy(p.entries[i+1:], p.entries[i:])
	p.entries[i] = entry{m.pos, m.life, now}
	if m.pos <= read.pos {
		p.fresh++
	}
}

func (c *Cache) sendMarked(kept int) Charge {
	p := &c.points
	last := c.lastMark()
	p.rejoin(c.now, c.rules, c.chain, last)
	lapsed := p.expire(c.now, c.rules, kept)
	marks := c.markers(last)
	n := p.find(marks, c.rules.LookBack)
	var read mark
	if n > 0 {
		read = mark{p.entries[n-1].pos, p.entries[n-1].life}
	}
	p.touch(n, c.now)
	charge := c.charge(marks, read)
	charge.Lapsed = max(0, c.tokens(lapsed)-charge.Read)
	for _, m := range marks {
		if c.tokens(m.pos) >= c.rules.Minimum {
			p.write(m, read, c.now)
		}
	}
	return charge
}

// charge splits the prompt at three places, as Anthropic's documentation of
// mixed lifetimes does: the end of what was read, the last long marker, the
// last marker.
func (c *Cache) charge(marks []mark, read mark) Charge {
	long, end := read.pos, read.pos
	for _, m := range marks {
		if c.tokens(m.pos) < c.rules.Minimum {
			continue
		}
		end = max(end, m.pos)
		if m.life == Long {
			long = max(long, m.pos)
		}
	}
	charge := Charge{Read: c.tokens(read.pos), Cold: read.pos == 0}
	charge.Uncached = c.tokens(len(c.chain)) - c.tokens(end)
	charge.Write1h = c.tokens(long) - charge.Read
	charge.Write = c.tokens(end) - c.tokens(long)
	if !c.rules.ChargesWrites {
		charge.Uncached += charge.Write + charge.Write1h
		charge.Write, charge.Write1h = 0, 0
	}
	return charge
}

// lastMark is where the last marker of the request stands; 0: nowhere.
func (c *Cache) lastMark() int {
	if c.planned || c.rules.Implicit {
		return len(c.chain)
	}
	if len(c.marks) == 0 {
		return 0
	}
	return c.marks[len(c.marks)-1].pos
}

// markers are the markers of the request, rising.
func (c *Cache) markers(last int) []mark {
	if last == 0 {
		return nil
	}
	if c.planned {
		return c.plan(last)
	}
	slots := c.rules.Breakpoints
	implicit := c.rules.Implicit && (len(c.marks) == 0 || c.marks[len(c.marks)-1].pos < last)
	if implicit {
		slots--
	}
	marks := permitted(c.marks, slots)
	if implicit {
		marks = append(marks, mark{last, Short})
	}
	if c.rules.LongTTL == 0 {
		shorten(marks)
	}
	return marks
}

// permitted copies the markers that stand where only so many may.
func permitted(marks []mark, slots int) []mark {
	n := len(marks)
	switch {
	case n <= slots:
		return append([]mark(nil), marks...)
	case slots <= 1:
		return append([]mark(nil), marks[n-max(0, slots):]...)
	}
	return append([]mark{marks[0]}, marks[n-slots+1:]...)
}

func (c *Cache) plan(last int) []mark {
	written := 0
	if n := len(c.points.entries); n > 0 {
		written = c.points.entries[n-1].pos
	}
	life := c.life
	if life == Unmarked || c.rules.LongTTL == 0 {
		life = Short
	}
	var marks []mark
	for _, pos := range c.rules.Place(c.constant, written, last) {
		marks = append(marks, mark{pos, life})
	}
	return marks
}

// shorten replaces a lifetime that the provider does not offer.
func shorten(marks []mark) {
	for i := range marks {
		marks[i].life = Short
	}
}

package replay

import (
	"slices"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/recording"
)

// Charges of a fault besides its lines: one extra round trip over the prompt,
// and this many output tokens of the model asking (evaluation document,
// section 3).
const faultOutput = 100

// Replay plays policies over a session under each of the settings and returns
// outcomes[setting][policy]. The settings must agree in everything but prices,
// cache rules and Cold. A policy that is not Timed is played once for all. The
// result depends on nothing but the arguments.
func Replay(s *recording.Session, policies []Policy, settings []Setting) ([][]Outcome, error) {
	out := make([][]Outcome, len(settings))
	for i := range out {
		out[i] = make([]Outcome, len(policies))
	}
	for j, p := range policies {
		groups := [][]int{upTo(len(settings))}
		if p.Timed {
			groups = apart(len(settings))
		}
		for _, g := range groups {
			if err := replayOne(s, p, settings, g, j, out); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func apart(n int) [][]int {
	out := make([][]int, n)
	for i := range out {
		out[i] = []int{i}
	}
	return out
}

// replayOne plays policy p under the settings of group.
func replayOne(s *recording.Session, p Policy, settings []Setting, group []int, column int, out [][]Outcome) error {
	under := make([]Setting, len(group))
	for i, g := range group {
		under[i] = settings[g]
	}
	r := newReplay(s, p, under)
	for k := range s.Calls {
		r.send(k)
		r.serve(k)
	}
	for i, g := range group {
		out[g][column] = r.outcome(p.Name, i)
	}
	return r.err
}

// Emit plays one policy and hands each emitted prompt, complete, to yield. The
// prompt includes what strict faults of earlier calls brought; constant is the
// size in tokens of what stands before its blocks. The blocks are valid only
// during the call of yield.
func Emit(s *recording.Session, p Policy, set Setting, yield func(k, constant int, blocks []Block) error) error {
	r := newReplay(s, p, []Setting{set})
	for k := range s.Calls {
		r.send(k)
		if err := yield(k, s.Overhead+r.books[1].schema, r.emitted()); err != nil {
			return err
		}
		if r.serve(k); r.err != nil {
			return r.err
		}
	}
	return nil
}

// emitted is the policy's prompt with what strict faults brought in its place.
func (r *replay) emitted() []Block {
	strict := r.books[1].brought
	if len(strict) == 0 {
		return r.cur
	}
	out := make([]Block, 0, len(r.cur)+len(strict))
	at := 0
	for _, f := range strict {
		out = append(out, r.cur[at:f.after]...)
		out = append(out, Block{Item: -1, Text: f.text, Tokens: f.tokens, Role: RoleUser})
		at = f.after
	}
	return append(out, r.cur[at:]...)
}

// replay is one policy at work: what it shows now, and two books about it, one
// in which wide needs fault and one in which strict needs do.
type replay struct {
	s       *recording.Session
	set     []Setting
	player  Player
	cur     []Block // the policy's prompt
	shown   shown
	books   [2]*book // wide, strict
	needs   int      // needs seen
	figures figures
	missed  []int // scratch: needs of this call that the strict book missed
	err     error
}

func newReplay(s *recording.Session, p Policy, settings []Setting) *replay {
	r := &replay{s: s, set: settings, player: p.Start(s, settings[0]), shown: newShown(s)}
	r.books[0] = newBook(s, settings, true)
	r.books[1] = newBook(s, settings, false)
	r.figures = newFigures(s)
	return r
}

// send has the policy make the prompt of call k and charges it.
func (r *replay) send(k int) {
	p := r.player.Step(k)
	r.adopt(k, p)
	for _, b := range r.books {
		b.send(k, p, r.cur)
	}
}

// strictly reports whether a key is in the prompt that the strict book emits.
func (r *replay) strictly(id int32) bool { return r.shown.has(id) || r.books[1].has(id) }

// adopt makes the policy's new prompt current.
func (r *replay) adopt(k int, p Prompt) {
	r.figures.tick(k)
	r.figures.sent(p, len(r.cur))
	for _, b := range r.cur[p.Keep:] {
		r.shown.drop(b)
		r.figures.dropped(b)
	}
	r.cur = append(r.cur[:p.Keep], p.Blocks...)
	for _, b := range p.Blocks {
		r.shown.add(b)
		r.figures.added(b)
	}
	r.figures.settle(k, p.Reason)
}

// serve checks the needs of call k against what the prompt shows.
func (r *replay) serve(k int) {
	for range r.figures.lines(k, r.strictly) {
		for _, b := range r.books {
			b.trip()
		}
	}
	r.missed = r.missed[:0]
	for i := r.needs; i < len(r.s.Needs) && r.s.Needs[i].Call == int32(k); i++ {
		r.figures.need(i, r.strictly)
	}
	for ; r.needs < len(r.s.Needs) && r.s.Needs[r.needs].Call == int32(k); r.needs++ {
		n := &r.s.Needs[r.needs]
		if n.Wide {
			r.fault(r.books[0], k, r.needs)
		}
		if n.Strict && r.fault(r.books[1], k, r.needs) {
			r.missed = append(r.missed, r.needs)
			r.figures.faulted(k, n)
		}
	}
	if l, ok := r.player.(Listener); ok && len(r.missed) > 0 {
		l.Faulted(k, r.missed)
	}
}

// fault books need i in b if less than four fifths of it are shown.
func (r *replay) fault(b *book, k, i int) bool {
	ids := r.s.NeedKeys(i, b.wide)
	covered := 0
	for _, id := range ids {
		if r.shown.has(id) || b.has(id) {
			covered++
		}
	}
	if covered*5 >= len(ids)*4 {
		return false
	}
	text, err := r.s.Fetch(i, b.wide, func(id int32) bool { return r.shown.has(id) || b.has(id) })
	if err != nil && r.err == nil {
		r.err = err
	}
	b.fault(k, len(r.cur), text, r.s.TokensOfPage(r.s.Needs[i].Page, len(text)))
	return true
}

// shown counts, for what the policy's prompt shows, items that stand whole and
// the keys (shingles and lines that are needed somewhere) of other texts.
type shown struct {
	s     *recording.Session
	whole []uint16
	text  map[int32]int // key → texts that hold it
}

func newShown(s *recording.Session) shown {
	return shown{s: s, whole: make([]uint16, len(s.Items)), text: map[int32]int{}}
}

func (w *shown) add(b Block)  { w.count(b, 1) }
func (w *shown) drop(b Block) { w.count(b, -1) }

func (w *shown) count(b Block, by int) {
	if b.Whole {
		w.whole[b.Item] += uint16(by)
		return
	}
	for id := range w.s.Keys(b.Text) {
		if w.text[id] += by; w.text[id] == 0 {
			delete(w.text, id)
		}
	}
}

// has reports whether the prompt shows key id in any form.
func (w *shown) has(id int32) bool {
	for _, i := range w.s.Holders(id) {
		if w.whole[i] > 0 {
			return true
		}
	}
	return len(w.text) > 0 && w.text[id] > 0
}

// A book is the account of one replay under one definition of need: what its
// faults brought, and what everything cost under each setting.
type book struct {
	s       *recording.Session
	set     []Setting
	wide    bool
	caches  []*price.Cache
	brought []brought // rising by after
	held    map[int32]int
	cost    []float64
	extra   []float64 // of cost, what faults caused
	faults  int
	prompt  int // tokens of the last prompt
	schema  int // tokens that the policy adds to the constant prefix
	tokens  []int
	prefix  []float64 // of cost, what the constant prefix caused
	read    []int64
	scratch []price.Block
}

// brought is the text that a fault appended. It stands behind the first after
// blocks of the policy's prompt and stays until the policy rewrites there.
type brought struct {
	after  int
	keys   []int32
	text   string
	tokens int32
	hash   uint64
	sent   bool
}

func newBook(s *recording.Session, settings []Setting, wide bool) *book {
	b := &book{s: s, set: settings, wide: wide, held: map[int32]int{}}
	for _, set := range settings {
		c := price.NewCache(set.Rules)
		c.Plan(1, set.Life)
		b.caches = append(b.caches, c)
	}
	b.cost = make([]float64, len(settings))
	b.extra = make([]float64, len(settings))
	b.prefix = make([]float64, len(settings))
	b.read = make([]int64, len(settings))
	return b
}

func (b *book) has(id int32) bool { return len(b.held) > 0 && b.held[id] > 0 }

// send charges the prompt of call k.
func (b *book) send(k int, p Prompt, cur []Block) {
	b.asides(p.Asides)
	keep, from := b.forget(p.Keep)+1, p.Keep
	blocks := b.scratch[:0]
	if k == 0 || p.Schema != b.schema {
		b.schema, keep, from = p.Schema, 0, 0
		b.resend()
		blocks = append(blocks, price.Block{Hash: uint64(1 + b.schema), Tokens: b.s.Overhead + b.schema})
	}
	blocks = b.blocks(blocks, from, cur)
	b.scratch = blocks
	b.charge(k, keep, blocks)
	b.tokens = append(b.tokens, b.prompt)
}

// resend marks what faults brought as not sent yet.
func (b *book) resend() {
	for i := range b.brought {
		b.brought[i].sent = false
	}
}

// forget drops what faults brought behind block keep and returns how many
// blocks of the last prompt stand before the first new one.
func (b *book) forget(keep int) int {
	n := len(b.brought)
	for n > 0 && b.brought[n-1].after > keep {
		n--
		for _, id := range b.brought[n].keys {
			if b.held[id]--; b.held[id] == 0 {
				delete(b.held, id)
			}
		}
	}
	b.brought = b.brought[:n]
	for n > 0 && !b.brought[n-1].sent {
		n--
	}
	return keep + n
}

// blocks appends what was not sent yet: texts that faults brought and the
// policy's blocks from index from on, in their order.
func (b *book) blocks(out []price.Block, from int, cur []Block) []price.Block {
	n := len(b.brought)
	for n > 0 && !b.brought[n-1].sent {
		n--
	}
	for ; n < len(b.brought); n++ {
		f := &b.brought[n]
		f.sent = true
		at := max(from, f.after)
		out = append(b.shown(out, cur[from:at]), price.Block{Hash: f.hash, Tokens: int(f.tokens)})
		from = at
	}
	return b.shown(out, cur[from:])
}

func (b *book) shown(out []price.Block, blocks []Block) []price.Block {
	for _, c := range blocks {
		made := c.Whole && b.s.Items[c.Item].By >= 0
		out = append(out, price.Block{Hash: hashOf(b.s, c), Tokens: int(c.Tokens), Answer: made})
	}
	return out
}

func (b *book) charge(k, keep int, blocks []price.Block) {
	for i, c := range b.caches {
		if _, missed := slices.BinarySearch(b.set[i].Missed, k); missed {
			c.Forget()
		}
		ch := c.Send(b.s.Calls[k].At, keep, blocks)
		b.cost[i] += b.set[i].Rates.Cost(ch, 0)
		b.read[i] += int64(ch.Read)
		b.prefix[i] += b.set[i].prefixPrice(k) * float64(b.s.Overhead)
		b.prompt = ch.Read + ch.Write + ch.Write1h + ch.Uncached
	}
}

// prefixPrice is what a token of the constant prefix costs at call k.
func (set *Setting) prefixPrice(k int) float64 {
	if k == 0 || set.Cold[k] {
		return set.Write()
	}
	return set.Rates.Read
}

// asides charges calls that the policy made over its last prompt.
func (b *book) asides(asides []Aside) {
	for _, a := range asides {
		for i := range b.set {
			b.cost[i] += b.set[i].trip(b.prompt, a.Output)
		}
	}
}

// fault charges a round trip and appends the text it brought.
func (b *book) fault(k, after int, text string, tokens int32) {
	b.faults++
	f := brought{after: after, text: text, tokens: tokens, hash: hashText(text)}
	for id := range b.s.Keys(text) {
		f.keys = append(f.keys, id)
		b.held[id]++
	}
	b.brought = append(b.brought, f)
	b.trip()
	for i := range b.set {
		b.extra[i] += b.set[i].Write() * float64(tokens)
	}
}

// trip charges one extra call over the prompt sent last: that of a fault, and
// that of a re-read whose text only a handle stands for. What the re-read
// returns enters by the recorded call.
func (b *book) trip() {
	for i := range b.set {
		set := &b.set[i]
		trip := set.trip(b.prompt, faultOutput)
		b.cost[i] += trip
		b.extra[i] += trip
		b.prefix[i] += set.Rates.Read * float64(b.s.Overhead)
	}
}

// outcome sums the replay up under setting i.
func (r *replay) outcome(policy string, i int) Outcome {
	wide, strict := r.books[0], r.books[1]
	f := &r.figures
	o := Outcome{
		Policy: policy, Calls: len(r.s.Calls),
		Cost: wide.cost[i], CostStrict: strict.cost[i],
		Extra: wide.extra[i], ExtraStrict: strict.extra[i], Prefix: wide.prefix[i],
		Faults: strict.faults, FaultsWide: wide.faults,
		Read: strict.read[i], Epochs: f.epochs, Reasons: f.reasons,
		Wanted: f.wanted[1], Covered: f.covered[1], WantedWide: f.wanted[0], CoveredWide: f.covered[0],
		Edits: f.edits, EditsServed: f.editsOK, Rereads: f.rereads, ServedText: f.servedText, Served: f.served,
		Demotions: f.demotions, MisSchedules: f.misses, Thrash: f.thrash,
		LiveCalls: f.liveCalls, DeadCalls: f.deadCalls,
		P95: Percentile(strict.tokens, .95), Slope: slope(strict.tokens),
	}
	if p, ok := r.player.(foreseer); ok {
		o.Foreseen = p.Foreseen()
	}
	if p, ok := r.player.(refuser); ok {
		o.Refused = p.Refused()
	}
	for k, t := range strict.tokens {
		o.prompt(r.s, r.set[i], k, t)
	}
	o.Net = o.Prompt - int64(o.Calls)*int64(r.s.Overhead)
	return o
}

func (o *Outcome) prompt(s *recording.Session, set Setting, k, tokens int) {
	o.Prompt += int64(tokens)
	o.Prompts = append(o.Prompts, int32(tokens))
	o.Peak = max(o.Peak, tokens)
	o.Completion += int64(s.Calls[k].Output)
	o.Output += set.Rates.Output * float64(s.Calls[k].Output)
	if set.Cold[k] {
		o.Cold++
	}
	if set.Window > 0 && tokens > set.Window {
		o.TooBig++
	}
}

// hashText is FNV-1a.
func hashText(t string) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(t); i++ {
		h = (h ^ uint64(t[i])) * 1099511628211
	}
	return h
}

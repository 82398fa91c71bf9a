package assemble

import (
	"fmt"
	"slices"
	"sort"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/schedule"
)

// An Assembler makes the calls of one stream. It is deterministic, and not safe
// for concurrent use.
type Assembler struct {
	source Source
	frame  Framer
	stream []place // of the last plan, whether its call was made or refused
	known  int     // blocks that any plan placed
	valid  int     // places of the last call made that still stand at the head of the stream
	epoch  bool    // a plan since the last call made began an epoch
	made   made
}

// A place is a block or a fold of the stream as it was planned.
type place struct {
	schedule.Placed
	again bool // the block is out of order: its page was asked for once more
	high  int  // the highest block up to here, -1: none
}

// made is what the last call consists of. A draft works on a copy: slices grow at
// their end, or are cut and copied, so that a draft that is refused leaves nothing
// behind but what [made.restore] takes back.
type made struct {
	calls      int
	generation int
	key        key
	seed       quire.Hash
	places     []place
	groups     []group
	messages   []quire.Message
	links      []link
	ended      []ended
	shown      int                // blocks that a call has shown
	written    []int              // ends of what marks of the calls before wrote, rising, counted in blocks with those of the head
	marks      []int              // of the last call, counted so
	head       int                // blocks of its head
	user       int                // the last block of the user's words, -1: none
	bound      map[int]quire.Hash // block → what stood before it when it was first sent
	opaque     []opaque           // blocks of pairs that only the provider knows
}

// A group is a run of places that is made as one. Its counts are of what stands
// before it.
type group struct {
	end                     int // places up to its end
	messages, blocks, links int // blocks: of the last message
	notices                 int // tokens of the notices up to its end
}

// ended is a tool loop that an epoch ended: its blocks stand as data from then on.
type ended struct{ first, last int }

type opaque struct {
	block int
	use   string
}

// New returns the assembler of an empty stream.
func New(source Source, frame Framer) *Assembler {
	return &Assembler{source: source, frame: frame, made: made{user: -1, bound: map[int]quire.Hash{}}}
}

// Assemble makes the call of a plan. Plans come in the order in which the
// scheduler makes them, and none is left out. The call is valid until the next
// call of Assemble and shares its messages with it: it is not to be changed.
//
// A call that would break an invariant is refused with an [Error], and the next
// plan is assembled against the last call that was made. Other errors are those
// of the source.
func (a *Assembler) Assemble(plan schedule.Plan, head Head) (quire.Call, error) {
	a.follow(plan)
	d := draft{made: a.made, a: a, h: &head, net: plan.After}
	last := d.last()
	if err := d.make(); err != nil {
		a.made.restore(last)
		return quire.Call{}, fmt.Errorf("assemble: %w", err)
	}
	return a.adopt(&d), nil
}

// follow keeps the stream in step with the scheduler's, whatever becomes of the
// call.
func (a *Assembler) follow(p schedule.Plan) {
	if p.Back > 0 {
		a.goBack(p.Back - 1)
	}
	a.epoch = a.epoch || p.Kind != ""
	a.valid = min(a.valid, p.Keep)
	if p.Keep < len(a.stream) {
		a.stream = slices.Clip(a.stream[:p.Keep])
	}
	for _, q := range p.Placed {
		a.stream = append(a.stream, a.place(q))
		a.known = max(a.known, q.Block+1)
	}
}

// goBack makes the head of the last call the last call, up to so many places: what
// was behind them was left.
func (a *Assembler) goBack(places int) {
	a.valid = min(a.valid, places)
	if places < len(a.stream) {
		a.stream = slices.Clip(a.stream[:places])
	}
	if places < len(a.made.places) {
		a.made.truncate(places)
	}
	a.valid = min(a.valid, len(a.made.places))
	kept := sort.SearchInts(a.made.marks, a.made.head+len(a.made.links)+1)
	a.made.marks = slices.Clip(a.made.marks[:kept])
}

// place is what follows the stream. Blocks stand in the order in which they
// entered; one that does not is shown again.
func (a *Assembler) place(q schedule.Placed) place {
	p := place{Placed: q, high: -1}
	if n := len(a.stream); n > 0 {
		p.high = a.stream[n-1].high
	}
	p.again = q.Block >= 0 && q.Block <= p.high
	p.high = max(p.high, q.Block)
	return p
}

// adopt makes a draft the state, and the call of it.
func (a *Assembler) adopt(d *draft) quire.Call {
	for _, b := range d.binding {
		d.bound[b.block] = b.sum
	}
	d.opaque = append(d.opaque, d.opaques...)
	d.calls++
	d.shown = a.known
	d.remark(a.made.marks)
	call := d.call()
	a.made = d.made
	a.valid, a.epoch = len(a.stream), false
	return call
}

// last is the last message as it is, so that it can be restored.
func (m *made) last() (last quire.Message) {
	if n := len(m.messages); n > 0 {
		last = m.messages[n-1]
	}
	return last
}

// restore takes back that a draft appended to the last message.
func (m *made) restore(last quire.Message) {
	if n := len(m.messages); n > 0 {
		m.messages[n-1] = last
	}
}

// truncate cuts what was made back to the group that holds a place; the place is
// before the end.
func (m *made) truncate(place int) {
	i := sort.Search(len(m.groups), func(i int) bool { return m.groups[i].end > place })
	if i == len(m.groups) {
		return
	}
	m.cut(i)
}

// cut leaves the first n groups. What is cut off stays untouched, as the call
// before holds it.
func (m *made) cut(n int) {
	g := m.groups[n]
	m.messages = slices.Clone(m.messages[:g.messages])
	if g.messages > 0 {
		last := &m.messages[g.messages-1]
		last.Blocks = slices.Clip(last.Blocks[:g.blocks])
	}
	m.links = slices.Clip(m.links[:g.links])
	m.groups = slices.Clip(m.groups[:n])
	m.places = slices.Clip(m.places[:m.begun()])
	at := sort.SearchInts(m.written, m.head+g.links+1)
	m.written = slices.Clip(m.written[:at])
}

// begun is the number of places that are made.
func (m *made) begun() int {
	if n := len(m.groups); n > 0 {
		return m.groups[n-1].end
	}
	return 0
}

// sum is that of everything made so far.
func (m *made) sum() quire.Hash {
	if n := len(m.links); n > 0 {
		return m.links[n-1].sum
	}
	return m.seed
}

// notices is how many tokens the notices that stand have.
func (m *made) notices() int {
	if n := len(m.groups); n > 0 {
		return m.groups[n-1].notices
	}
	return 0
}

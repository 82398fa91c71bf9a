package assemble

import (
	"fmt"

	"github.com/quire-agent/quire/internal/quire"
)

// A draft is a call in the making. It becomes the state of its assembler only
// when it breaks nothing.
type draft struct {
	made
	a       *Assembler
	h       *Head
	net     int // tokens of the stream
	renewed bool
	enc     encoder
	items   []item // of the group at hand
	planned []int  // marks

	from     int // links that were made before
	binding  []binding
	noticed  bool // the notices stand inside a result
	opaques  []opaque
	thoughts []thought
	users    []thought // the user's words, in the same way
}

// An item is a block on its way into a message.
type item struct {
	role  quire.Role
	b     quire.Block
	block int // of the stream, -1: none
}

type binding struct {
	block int
	sum   quire.Hash
}

// A thought is a block of the stream that was made, with its link.
type thought struct{ block, link int }

// make makes what is new and checks the whole.
func (d *draft) make() error {
	if err := d.renew(); err != nil {
		return err
	}
	if err := d.cutBack(); err != nil {
		return err
	}
	d.from = len(d.links)
	if len(d.groups) == 0 {
		if err := d.open(); err != nil {
			return err
		}
	}
	for d.begun() < len(d.a.stream) {
		if err := d.grow(); err != nil {
			return err
		}
	}
	if err := d.notice(); err != nil {
		return err
	}
	d.places = append(d.places, d.a.stream[len(d.places):]...)
	d.planned = d.plan()
	return d.check()
}

// renew takes in the head. Within an epoch it must be what it was.
func (d *draft) renew() error {
	k := keyOf(d.h)
	part := k.changed(d.key)
	if d.calls > 0 && part == "" && !d.h.Renewed {
		return nil
	}
	if d.calls > 0 && !d.a.epoch && !d.h.Renewed {
		return broken(Extends, "%s changed within an epoch", part)
	}
	d.renewed = true
	d.generation++
	d.key, d.seed = k, k.seed(d.generation)
	d.head = len(d.h.Tools) + len(d.h.System)
	if len(d.groups) > 0 {
		d.cut(0)
	}
	d.written = nil
	return nil
}

// cutBack cuts what was made back to where the stream changed, and further where
// an open tool loop ends by it.
func (d *draft) cutBack() error {
	changed := d.a.valid < len(d.a.made.places)
	if changed && len(d.groups) > 0 {
		d.truncate(d.a.valid)
	}
	if d.calls == 0 || !changed && !d.renewed {
		return nil
	}
	first, ends, err := d.endLoop()
	if err == nil && ends && first < d.begun() {
		d.truncate(first)
	}
	return err
}

// grow makes the next group.
func (d *draft) grow() error {
	end, err := d.group(d.begun())
	if err != nil {
		return err
	}
	tokens, err := d.attach(end)
	if err != nil {
		return err
	}
	d.close(end, tokens)
	return nil
}

// close puts the items at hand into messages, as a group that ends with a place.
func (d *draft) close(end, tokens int) {
	g := group{end: end, messages: len(d.messages), links: len(d.links), notices: d.notices() + tokens}
	if g.messages > 0 {
		g.blocks = len(d.messages[g.messages-1].Blocks)
	}
	d.groups = append(d.groups, g)
	for i := range d.items {
		d.emit(&d.items[i])
	}
	d.items = d.items[:0]
}

// open makes the opening: what stands before all turns.
func (d *draft) open() error {
	for _, t := range d.h.Opening {
		if err := d.put(t.Source, t.Text); err != nil {
			return err
		}
	}
	if len(d.items) > 0 {
		d.close(0, 0)
	}
	return nil
}

// put adds a text of Quire's to the items, framed, in the user's role.
func (d *draft) put(source, text string) error {
	framed, err := d.framed(source, text)
	if err != nil {
		return err
	}
	d.items = append(d.items, item{role: quire.RoleUser, block: -1, b: quire.Block{Part: quire.Part{Kind: quire.PartMachine, Text: framed}}})
	return nil
}

// emit appends a block to the message of its role. Thinking that is bound to
// other bytes, and what shows nothing, stays out.
func (d *draft) emit(it *item) {
	if !d.signed(it) || empty(&it.b) {
		return
	}
	if len(d.messages) == 0 && it.role != quire.RoleUser {
		d.append(&item{role: quire.RoleUser, block: -1, b: d.preface()})
	}
	d.append(it)
}

// preface is what the user says first where a fold took his words and a reply
// would be the first message, which providers refuse.
func (d *draft) preface() quire.Block {
	text := d.a.frame("Quire: beginning of the session", "The first messages are not shown. What follows are pages that were kept.")
	return quire.Block{Part: quire.Part{Kind: quire.PartMachine, Text: text}}
}

func (d *draft) append(it *item) {
	n := len(d.messages)
	if n == 0 || d.messages[n-1].Role != it.role {
		d.messages = append(d.messages, quire.Message{Role: it.role})
		n++
	}
	m := &d.messages[n-1]
	m.Blocks = append(m.Blocks, unmarked(it.b))
	switch {
	case it.block < 0:
	case it.b.Kind == quire.PartThinking:
		d.thoughts = append(d.thoughts, thought{it.block, len(d.links)})
	case it.b.Kind == quire.PartUser:
		d.users = append(d.users, thought{it.block, len(d.links)})
	}
	d.link(m, n-1)
}

// link continues the chain by the last block of the last message.
func (d *draft) link(m *quire.Message, message int) {
	i := len(m.Blocks) - 1
	b := &m.Blocks[i]
	d.enc.number(int(m.Role))
	d.enc.block(b)
	l := link{sum: d.enc.sum(d.sum()), message: message, block: i, role: m.Role, marks: d.h.Rules.carries(m.Role, b)}
	l.bytes, l.images = weigh(b)
	if n := len(d.links); n > 0 {
		l.bytes += d.links[n-1].bytes
		l.images += d.links[n-1].images
	}
	d.links = append(d.links, l)
}

// signed holds what is signed to the bytes that it was signed for: it reports
// false for thinking that has others before it now, and takes the signature off
// anything else.
func (d *draft) signed(it *item) bool {
	if it.block < 0 || it.b.Signature == "" && it.b.Kind != quire.PartThinking {
		return true
	}
	sum, known := d.bound[it.block]
	if !known && d.follows() {
		d.binding = append(d.binding, binding{it.block, d.sum()})
		return true
	}
	if known && sum == d.sum() {
		return true
	}
	it.b.Signature = ""
	return it.b.Kind != quire.PartThinking
}

// follows reports whether the group at hand begins where the last call ended:
// what its answer signed is bound to all of it. What stands at the first call was
// recorded, and is taken to be as it was then.
func (d *draft) follows() bool {
	return d.calls == 0 || d.extends() && d.groups[len(d.groups)-1].links == len(d.a.made.links)
}

// extends reports whether all of the last call stands, so far.
func (d *draft) extends() bool {
	before := d.a.made.links
	n := len(before)
	return d.calls == 0 || len(d.links) >= n && (n == 0 || d.links[n-1].sum == before[n-1].sum)
}

// piece is a block in full.
func (d *draft) piece(i int) (Piece, error) {
	p, err := d.a.source.Block(i)
	if err != nil {
		return p, fmt.Errorf("block %d: %w", i, err)
	}
	return p, nil
}

// call is the call as it is made.
func (d *draft) call() quire.Call {
	h := d.h
	c := quire.Call{
		Model: h.Model, Tools: h.Tools, System: h.System, Messages: d.messages[:len(d.messages):len(d.messages)],
		MaxOutput: h.MaxOutput, Stream: h.Stream, Choice: h.Choice, Thinking: h.Thinking, Rest: h.Rest,
	}
	d.markHead(&c)
	return c
}

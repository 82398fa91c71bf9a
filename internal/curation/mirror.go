package curation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/quire-agent/quire/internal/assemble"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/schedule"
)

// A Known is what the pool knows of a part.
type Known struct {
	Kind  quire.PartKind
	Pages []quire.Page // that it begins or completes, the last the one it stands on
}

// A Mirror is the stream of one list of messages. It is deterministic: what enters
// in the same order gives the same bytes. It is not safe for concurrent use.
type Mirror struct {
	dialect *Dialect
	step    *run.Step
	pages   *pages
	items   []Item
	blocks  []origin // by the tag of a block
	calls   map[string]quire.Block
	reply   quire.Reply       // items of the assistant that are not entered yet
	planned bool              // a call was planned that is not answered
	bare    bool              // the list has no marks
	lowers  bool              // an epoch began: recall is in the list
	list    []json.RawMessage // of the last call
	listed  int               // items that had entered by then
}

// An origin is where a block of the stream is from.
type origin struct {
	item  int
	block int // of the item
	whole quire.Block
}

// pages hands out what is known of the parts that enter next.
type pages struct{ next [][]quire.Page }

// Cut is what is known of the part that enters next. Of what Quire itself puts in
// nothing is known.
func (p *pages) Cut(quire.Part, int) []quire.Page {
	if len(p.next) == 0 {
		return nil
	}
	one := p.next[0]
	p.next = p.next[1:]
	return one
}

// NewMirror begins a stream. The Cutter of the parts is the mirror's.
func (d *Dialect) NewMirror(p run.Parts) *Mirror {
	m := &Mirror{dialect: d, pages: &pages{}, calls: map[string]quire.Block{}}
	p.Cut = m.pages
	m.step = run.NewStep(p)
	return m
}

// Step is the stream itself, to be read.
func (m *Mirror) Step() *run.Step { return m.step }

// Lowers reports whether an epoch began, so that pages stand in other forms.
func (m *Mirror) Lowers() bool { return m.lowers }

// tag is the member by which blocks that went through the assembler are known
// again. It never leaves the mirror.
const tag = "\x00block"

func (m *Mirror) tagged(b quire.Block, item, block int) quire.Block {
	m.blocks = append(m.blocks, origin{item, block, b})
	b.Rest = append(b.Rest[:len(b.Rest):len(b.Rest)], quire.Field{Name: tag, Value: json.RawMessage(strconv.Itoa(len(m.blocks) - 1))})
	return b
}

// Enter takes an item, with what is known of its parts, in the order of [Parts]
// over its blocks. at is when the call was made that an answer of the model
// belongs to, where none was planned for it.
func (m *Mirror) Enter(it Item, known []Known, at time.Time) {
	m.items = append(m.items, it)
	n := len(m.items) - 1
	if it.Role == quire.RoleAssistant {
		m.said(n, known, at)
		return
	}
	m.settle()
	if it.Role != quire.RoleUser && it.Role != quire.RoleTool {
		m.fixed(n, known)
		return
	}
	for i := range it.Blocks {
		known = m.heard(n, i, known)
	}
}

// said takes an item of the assistant. What the model said in a row is one answer.
func (m *Mirror) said(n int, known []Known, at time.Time) {
	if !m.planned && len(m.reply.Blocks) == 0 {
		m.Relayed(at)
	}
	it := &m.items[n]
	for i := range it.Blocks {
		b := it.Blocks[i]
		if b.Kind == quire.PartToolCall && b.Opaque == nil {
			m.calls[b.ToolUse] = b
		}
		m.reply.Blocks = append(m.reply.Blocks, m.tagged(b, n, i))
		m.pages.next = append(m.pages.next, pagesOf(known, i))
	}
}

func pagesOf(known []Known, i int) []quire.Page {
	if i < len(known) {
		return known[i].Pages
	}
	return nil
}

// settle enters the answer that is whole now.
func (m *Mirror) settle() {
	if len(m.reply.Blocks) > 0 {
		m.step.Answer(m.reply)
		m.planned = false
	}
	m.reply, m.pages.next = quire.Reply{}, nil
}

// Back takes out what entered behind the first so many items: the client went back.
// What stays stands as it was sent last.
func (m *Mirror) Back(items int) {
	m.settle()
	m.planned = false
	m.step.Back(func(b *quire.Block) bool {
		n := len(b.Rest)
		if n == 0 || b.Rest[n-1].Name != tag {
			return false
		}
		at, err := strconv.Atoi(string(b.Rest[n-1].Value))
		return err == nil && m.blocks[at].item >= items
	})
	m.list, m.listed = nil, len(m.items)
}

// Metered says what the call of the latest answer used, before anything else
// enters.
func (m *Mirror) Metered(u quire.Usage) { m.reply.Usage = u }

// fixed takes an item that keeps its form whatever happens: what the system or the
// provider says among the messages.
func (m *Mirror) fixed(n int, known []Known) {
	b := quire.Block{Part: quire.Part{Kind: quire.PartMachine}, Opaque: m.items[n].Raw}
	m.pages.next = append(m.pages.next, pagesOf(known, 0))
	m.step.Enter(quire.RoleUser, m.tagged(b, n, -1))
	m.pages.next = nil
}

// heard takes a block from outside, and returns what is known of those behind it.
func (m *Mirror) heard(n, i int, known []Known) []Known {
	b := m.items[n].Blocks[i]
	parts := Parts(&b, quire.PartMachine)
	role := quire.RoleUser
	switch {
	case b.Opaque != nil:
	case b.Kind == quire.PartToolResult:
		role = quire.RoleTool
		m.result(n, i, &b, parts, known)
		return known[min(len(parts), len(known)):]
	case b.Media != nil:
		b.Media = parts[0].Media
	case len(known) > 0:
		b.Kind = known[0].Kind
	}
	m.pages.next = append(m.pages.next, pagesOf(known, 0))
	m.step.Enter(role, m.tagged(b, n, i))
	m.pages.next = nil
	return known[min(1, len(known)):]
}

// result takes a tool result apart: its text, and each of its media.
func (m *Mirror) result(n, i int, b *quire.Block, parts []quire.Part, known []Known) {
	text := *b
	text.Part, text.Content, text.Plain = parts[0], nil, false
	text.Tool = m.calls[b.ToolUse].Tool
	m.pages.next = append(m.pages.next, pagesOf(known, 0))
	m.step.Enter(quire.RoleTool, m.tagged(text, n, i))
	at := 1
	for j := range b.Content {
		c := b.Content[j]
		if !isMedia(&c) {
			continue
		}
		c.Part = parts[at]
		m.pages.next = append(m.pages.next[:0], pagesOf(known, at))
		m.step.Enter(quire.RoleTool, m.tagged(c, n, i))
		at++
	}
	m.pages.next = nil
}

// Relayed takes a call that was made without us: its prompt was all that entered.
func (m *Mirror) Relayed(at time.Time) {
	m.settle()
	m.planned = true
	// What cannot be assembled was not: the stream goes on with the next call.
	_, plan, _ := m.step.PlanAs(at, "", func(schedule.Plan) assemble.Head { return assemble.Head{Recall: run.RecallName, Tools: Tools()} })
	m.lowers = m.lowers || plan.Kind != ""
}

// Terms are what a call is made under.
type Terms struct {
	At     time.Time
	Cold   string     // why nothing of the stream is in the cache, "" while it may be
	Mark   quire.Mark // at the end of tools and system; MarkNone: there are no marks
	Tail   quire.Mark // in the list
	Bare   bool       // there are no marks in the list
	Anew   bool       // something else stands in front of the list than at the call before: thinking goes
	Rules  assemble.Rules
	Limits assemble.Limits
}

// A Call is what goes up in the place of a client's list.
type Call struct {
	List []json.RawMessage
	Lead int  // elements of the client's list that stand in front of it
	Head bool // the end of tools and system carries a mark
	Mark quire.Mark
	Plan schedule.Plan
}

// Call plans the next call and makes its list. After an error the stream is as if
// the call had been made: what is asked next is another one.
func (m *Mirror) Call(t Terms) (Call, error) {
	m.settle()
	m.step.AsSent(false)
	m.planned = true
	call, plan, err := m.step.PlanAs(t.At, t.Cold, func(schedule.Plan) assemble.Head {
		return assemble.Head{Recall: run.RecallName, Tools: Tools(), Rules: rulesFor(t), Limits: t.Limits, Renewed: t.Anew}
	})
	m.lowers = m.lowers || plan.Kind != ""
	if err != nil {
		return Call{}, err
	}
	out := Call{Mark: t.Mark, Plan: plan, Head: len(call.Tools) > 0 && call.Tools[0].Cache != quire.MarkNone}
	m.bare = t.Bare
	if out.List, err = m.render(call.Messages); err != nil {
		return Call{}, fmt.Errorf("write the stream: %w", err)
	}
	m.list, m.listed = out.List, len(m.items)
	return out, nil
}

// Standing is the list of the last call, with what entered since.
func (m *Mirror) Standing() []json.RawMessage {
	list := slices.Clone(m.list)
	for _, it := range m.items[m.listed:] {
		list = append(list, it.Raw)
	}
	return list
}

// rulesFor are the rules of the marks that a client's own let us set.
func rulesFor(t Terms) assemble.Rules {
	r := t.Rules
	r.HeadMark, r.TailMark, r.Hinge = t.Mark, min(t.Mark, max(t.Tail, quire.MarkShort)), true
	if t.Mark == quire.MarkNone {
		r.Breakpoints = 0
	}
	return r
}

// AsSent says whether what enters from here on was sent as it is, by others.
func (m *Mirror) AsSent(on bool) { m.step.AsSent(on) }

// Recalled is the item that answers a recall.
func (m *Mirror) Recalled(call quire.Block, text string, failed bool) (Item, error) {
	result := quire.Block{Part: quire.Part{Kind: quire.PartToolResult, Tool: call.Tool, ToolUse: call.ToolUse, Text: text, IsError: failed}, Plain: true}
	list, err := m.behind([]quire.Message{{Role: quire.RoleAssistant, Blocks: []quire.Block{call}}}, []quire.Message{{Role: quire.RoleTool, Blocks: []quire.Block{result}}})
	if err != nil {
		return Item{}, fmt.Errorf("write what was recalled: %w", err)
	}
	if len(list) != 1 {
		return Item{}, errList
	}
	return Item{Raw: list[0], Role: quire.RoleTool, Blocks: []quire.Block{result}}, nil
}

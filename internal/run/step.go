package run

import (
	"fmt"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/assemble"
	"github.com/quire-agent/quire/internal/ledger"
	"github.com/quire-agent/quire/internal/page"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/rendition"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/quire-agent/quire/internal/token"
)

// A Step takes a live session from call to call: what enters is cut into pages,
// planned and assembled to a call, and what the model answered enters in turn.
// It does no I/O. Methods are called in the order of the session; a Step is not
// safe for concurrent use.
type Step struct {
	ctx    *Context
	asm    *assemble.Assembler
	texts  *texts
	ledger *ledger.Ledger
	cutter Cutter
	asSent bool // what enters was sent as it is
	refs   references
	names  *Foresight
	asked  map[string]int // by the id of a tool call: the call whose answer asked for it
	count  Counter
	calls  int
	turn   int
	fates  *page.Lineage
	node   int
	model  string
	round  int                       // tokens of the results of this round
	looked string                    // what the model was looking for: its last words and arguments
	warm   bool                      // the cache should hold what the last call began with
	went   map[quire.PageNumber]gone // pages that lost their content
	hits   int                       // pages that the latest answer quoted and that stood
	work   Work
}

// A Cutter cuts parts into pages and numbers them. What Quire itself put into the
// prompt is in none. Package ingest has the one that numbers them as the
// pool does, which is what people see.
type Cutter interface {
	Cut(p quire.Part, call int) []quire.Page
}

// Parts are what a step is made with.
type Parts struct {
	Terms   Terms
	Count   Counter
	Cut     Cutter // one that has cut nothing yet
	Maker   *rendition.Maker
	Frame   assemble.Framer
	Mask    func(string) string // over what cards carry on
	Model   string              // whose rule counts images
	Project string              // the working directory, "" where it is not known
}

// NewStep begins a session.
func NewStep(p Parts) *Step {
	refs := newReferences()
	l := &ledger.Ledger{Mask: p.Mask}
	t := newTexts(p.Count, p.Maker, l)
	return &Step{
		ctx: NewContext(p.Terms, folded{t}), asm: assemble.New(shown{t}, p.Frame),
		texts: t, ledger: l, cutter: p.Cut, refs: refs, names: NewForesight(refs.index), asked: map[string]int{}, count: p.Count, turn: -1, fates: page.NewLineage(p.Project), model: p.Model, went: map[quire.PageNumber]gone{},
	}
}

// Enter takes blocks that enter from outside, in their order: the user's words,
// results of tools, what a machine added. A user message begins a turn,
// unless nothing lies between it and the one before.
func (s *Step) Enter(role quire.Role, blocks ...quire.Block) {
	for _, b := range blocks {
		if b.Kind == quire.PartUser {
			s.ctx.Foresee(s.names.Hints(schedule.ByUser, []string{b.Text}))
		}
		s.enter(assemble.Piece{Block: b, Role: role}, -1)
	}
}

// AsSent says whether what enters from here on was sent to the model as it is, by
// others: then it is admitted in full, whatever its size.
func (s *Step) AsSent(on bool) { s.asSent = on }

// Plan makes the next call, which starts at a time. The head says what the call
// has besides the stream; its notices are appended behind it.
func (s *Step) Plan(at time.Time, head assemble.Head) (quire.Call, schedule.Plan, error) {
	s.ctx.Hold(head.Cap())
	return s.PlanAs(at, s.ctx.Lapsed(at), func(schedule.Plan) assemble.Head { return head })
}

// PlanAs is Plan for a caller that knows itself why nothing of the stream is in
// the cache, "" while it may be, and whose head depends on the plan. A call that
// is refused was planned all the same: what is asked next is another one.
func (s *Step) PlanAs(at time.Time, cold string, head func(schedule.Plan) assemble.Head) (quire.Call, schedule.Plan, error) {
	s.warm = s.calls > 0 && cold == ""
	s.working()
	plan := s.ctx.Plan(at, max(s.turn, 0), cold)
	if plan.Notice >= 0 {
		s.notice(plan)
	}
	s.lowered(plan)
	call, err := s.asm.Assemble(plan, head(plan))
	s.calls++
	if err != nil {
		return quire.Call{}, plan, fmt.Errorf("call %d: %w", s.calls-1, err)
	}
	return call, plan, nil
}

// notice is the text of the block that tells of an epoch.
func (s *Step) notice(plan schedule.Plan) {
	text := fmt.Sprintf("Older pages now stand as handles and cards (%s). Their text is kept: %s reads any page back by its name.", plan.Reason, RecallName)
	s.texts.blocks = append(s.texts.blocks, held{
		piece:  assemble.Piece{Block: quire.Block{Part: quire.Part{Kind: quire.PartMachine, Text: text}}, Role: quire.RoleUser},
		tokens: Notice, node: -1,
	})
}

// Answer takes the answer of the call planned last: its blocks enter the stream,
// and what they quote counts as used.
func (s *Step) Answer(r quire.Reply) {
	by := s.calls - 1
	s.round, s.looked = 0, strings.Join(said(r.Blocks), "\n")
	s.hits = 0
	for _, p := range s.refs.of(said(r.Blocks)) {
		s.hits += btoi(s.ctx.Stands(p))
		s.ctx.Refer(p, by, max(s.turn, 0))
	}
	if errand(r.Blocks) {
		s.ctx.Errand()
	}
	s.ctx.Foresee(s.names.Hints(schedule.ByModel, said(r.Blocks)))
	for _, b := range r.Blocks {
		if b.Kind == quire.PartToolCall {
			s.asked[b.ToolUse] = by
		}
		s.enter(assemble.Piece{Block: b, Role: quire.RoleAssistant, Response: fmt.Sprintf("%d", by)}, by)
	}
	if s.warm && missed(r.Usage) {
		s.ctx.Missed()
	}
}

// errand reports whether an answer asks for nothing but what had left the prompt.
func errand(blocks []quire.Block) (only bool) {
	for i := range blocks {
		if blocks[i].Kind != quire.PartToolCall {
			continue
		}
		if only = blocks[i].Tool == RecallName; !only {
			return false
		}
	}
	return only
}

// said are the texts of an answer, tool arguments unescaped.
func said(blocks []quire.Block) (texts []string) {
	for _, b := range blocks {
		switch b.Kind {
		case quire.PartText:
			texts = append(texts, b.Text)
		case quire.PartToolCall:
			texts = append(texts, page.Texts(b.Text)...)
		}
	}
	return texts
}

// missed reports whether a usage says that nothing was read from the cache where
// something was written.
func missed(u quire.Usage) bool {
	return u.Has(quire.KnownCache) && u.CacheRead == 0 && u.CacheWrite > 0
}

// enter cuts a block and hands it to the stream.
func (s *Step) enter(p assemble.Piece, by int) {
	pages := s.cutter.Cut(p.Part, s.calls)
	s.begins(&p.Part)
	s.ledger.Add(&p.Part, pages)
	s.turn = s.ledger.Last()
	s.work.Add(&p.Part, pages)
	s.ledger.Judge(s.fates.Add("", s.node, &p.Part, pages))
	s.node++
	h := held{piece: p, tokens: s.tokens(&p.Block), node: s.node - 1}
	if len(pages) > 0 {
		h.page = pages[len(pages)-1]
		h.page.Tokens = h.tokens
		s.index(&p, &h.page)
		h.piece = s.admit(p, &h)
		h.text = p.Text
	}
	h.piece.Page = h.page.Number
	s.texts.blocks = append(s.texts.blocks, h)
	b := schedule.Block{Page: h.page, Part: p.Kind, Tokens: h.tokens, Call: s.calls, By: by, Turn: max(s.turn, 0), Fixed: p.Opaque != nil, Load: assemble.LoadOf(&h.piece.Block)}
	if call, ok := s.asked[p.ToolUse]; ok && by < 0 && p.ToolUse != "" {
		b.Answers = call + 1
	}
	if len(pages) == 0 && p.Kind != quire.PartThinking {
		s.ctx.Add(b)
		return
	}
	s.ctx.Enter(b, folded{s.texts}.Hash(schedule.Placed{Block: len(s.texts.blocks) - 1, Form: quire.RenditionFull}))
}

// index makes what a block says findable as a source. Arguments of calls are
// sources only where they are the content of a file.
func (s *Step) index(p *assemble.Piece, pg *quire.Page) {
	switch {
	case p.Kind == quire.PartToolCall && pg.Kind == quire.PageWritten:
		for _, text := range page.Texts(p.Text) {
			s.refs.add(text, pg.Number, pg.Kind)
			s.names.Add(pg, text)
		}
	case p.Kind != quire.PartToolCall && p.Kind != quire.PartThinking:
		s.refs.add(p.Text, pg.Number, pg.Kind)
		if p.Role != quire.RoleAssistant {
			s.names.Add(pg, p.Text)
		}
	}
}

// tokens of a block, as sent.
func (s *Step) tokens(b *quire.Block) int {
	n := s.count.Count(b.Text)
	for i := range b.Content {
		n += s.tokens(&b.Content[i])
	}
	if b.Media != nil {
		n += s.media(b)
	}
	if b.Opaque != nil {
		n += s.count.Count(string(b.Opaque))
	}
	return n
}

func (s *Step) media(b *quire.Block) int {
	if b.Kind == quire.PartDocument {
		return token.Document(s.model, *b.Media)
	}
	return token.Image(s.model, *b.Media)
}

// Context is the stream and its account, to be read.
func (s *Step) Context() *Context { return s.ctx }

// Ledger is the record of what must survive, to be read.
func (s *Step) Ledger() *ledger.Ledger { return s.ledger }

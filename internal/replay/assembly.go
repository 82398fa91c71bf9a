package replay

import (
	"fmt"

	"github.com/quire-agent/quire/internal/assemble"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/retrieve"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/schedule"
)

// An assembly makes each call of a replay as a live session would, by the plan of
// its scheduler, and counts those that the assembler refuses: they would have broken
// an invariant of the stream. Sizes are not among them: a recorded result is as
// large as it is, and [Outcome] counts the prompts that a window does not hold.
type assembly struct {
	asm     *assemble.Assembler
	source  *pieces
	rules   assemble.Rules
	refused Refusals
}

// Refusals are the calls of a replay that an assembler refused.
type Refusals struct {
	Calls int
	First string // why, of the first of them; "" without
}

func newAssembly(p *ours, under Setting) *assembly {
	src := &pieces{p: p, held: map[int]assemble.Piece{}, open: openCalls(p.s)}
	rules := assemble.Rules{Rules: under.Rules}
	if under.Rules.Breakpoints > 0 {
		rules.HeadMark, rules.TailMark = quire.MarkShort, quire.MarkShort
	}
	return &assembly{asm: assemble.New(src, retrieve.Frame), source: src, rules: rules}
}

// call makes the call of a plan.
func (a *assembly) call(k int, plan schedule.Plan) {
	if plan.Kind != "" {
		clear(a.source.held) // what has left the prompt is not asked for any more
	}
	head := assemble.Head{Recall: run.RecallName, Tools: []quire.ToolSpec{{Name: run.RecallName}}, Rules: a.rules}
	if _, err := a.asm.Assemble(plan, head); err != nil {
		if a.refused.Calls++; a.refused.First == "" {
			a.refused.First = fmt.Sprintf("call %d: %v", k, err)
		}
	}
}

// pieces are the blocks of a replayed stream as a live session would hold them.
// They are kept until the next epoch.
type pieces struct {
	p    *ours
	held map[int]assemble.Piece
	open map[int32]bool // items: tool calls that had no result when the next call was made
}

// openCalls finds the tool calls whose results came late or never. A live session
// answers each before it goes on.
func openCalls(s *recording.Session) map[int32]bool {
	open, at := map[int32]bool{}, map[int32]int32{}
	for i := range s.Items {
		it := &s.Items[i]
		switch {
		case it.Origin != quire.OriginFirst:
		case it.Kind == quire.PartToolCall:
			open[int32(i)] = true
			at[it.Use] = int32(i)
		case it.Kind == quire.PartToolResult && it.Use > 0:
			if call, ok := at[it.Use]; ok && s.Items[call].Call == it.Call {
				delete(open, call)
			}
		}
	}
	return open
}

// Block is block i in full.
func (src *pieces) Block(i int) (assemble.Piece, error) {
	if piece, ok := src.held[i]; ok {
		return piece, nil
	}
	piece, err := src.p.piece(i)
	if err != nil {
		return piece, fmt.Errorf("read block %d: %w", i, err)
	}
	if src.open[src.p.items[i]] {
		piece.Kind, piece.Text = quire.PartText, "["+piece.Tool+"] "+piece.Text
	}
	src.held[i] = piece
	return piece, nil
}

// Lowered is block i in its lower form.
func (src *pieces) Lowered(i int, form quire.Rendition) (string, error) {
	return src.p.short(i, form).Text, nil
}

// Fold is the card for turns.
func (src *pieces) Fold(sp schedule.Span) (string, error) { return src.p.foldText(sp), nil }

func (p *ours) piece(block int) (assemble.Piece, error) {
	i := p.items[block]
	if i < 0 {
		return assemble.Piece{Block: quire.Block{Part: quire.Part{Kind: quire.PartMachine, Text: noticeText}}, Role: quire.RoleUser}, nil
	}
	it := &p.s.Items[i]
	body := it.Body
	if it.Kind == quire.PartToolCall {
		body = it.Raw
	}
	text, err := p.s.Bodies.Get(body)
	if err != nil {
		return assemble.Piece{}, err
	}
	part := quire.Part{Kind: it.Kind, Text: text, IsError: it.Error, Media: it.Media}
	if it.Page > 0 {
		part.Tool = p.s.Pages[it.Page-1].Tool
	}
	if it.Use > 0 {
		part.ToolUse = fmt.Sprintf("use%d", it.Use)
	}
	piece := assemble.Piece{Block: quire.Block{Part: part}, Role: speaker(it), Page: it.Page}
	if it.By >= 0 {
		piece.Response = fmt.Sprint(it.By)
	}
	return piece, nil
}

// speaker is who says an item in a prompt.
func speaker(it *recording.Item) quire.Role {
	switch {
	case it.By >= 0:
		return quire.RoleAssistant
	case it.Use > 0:
		return quire.RoleTool
	default:
		return quire.RoleUser
	}
}

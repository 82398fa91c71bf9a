package assemble

import (
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/schedule"
)

// A Piece is a block of a stream in full, as it was admitted.
type Piece struct {
	quire.Block
	Role     quire.Role       // who speaks: the user, the assistant, or the tool; media that a tool returned are of the tool and have its ToolUse
	Response string           // of the assistant: the same for all blocks of one response, and for no others
	Page     quire.PageNumber // 0: it belongs to no page, and a machine text without one is Quire's own
}

// A Source has the texts of a stream. The same question must get the same answer
// for as long as the session lasts. It is asked for blocks that entered only.
type Source interface {
	// Block is block i in full. The assembler does not change it.
	Block(i int) (Piece, error)
	// Lowered is the text that stands for block i in a form below full. Its first
	// line names the page, or where the block belongs to none the page that it is
	// from. The arguments of tool calls are not asked for.
	Lowered(i int, form quire.Rendition) (string, error)
	// Fold is the text that stands for a span. It names the first and the last
	// page of it.
	Fold(s schedule.Span) (string, error)
}

// A Framer puts a text into a frame that names its source. Whoever reads the
// prompt knows that it is data; whoever records it knows that Quire put it there.
type Framer func(source, text string) string

// spoken reports whether the piece is of the user's role and no result of a tool.
func (p *Piece) spoken() bool { return p.Role == quire.RoleUser && p.ToolUse == "" }

// theUsers reports whether the user himself said it.
func (p *Piece) theUsers() bool { return p.spoken() && p.Kind != quire.PartMachine }

// returned reports whether a tool returned it.
func (p *Piece) returned() bool { return p.Role != quire.RoleAssistant && !p.spoken() }

func (p *Piece) call() bool   { return p.Kind == quire.PartToolCall && p.Opaque == nil }
func (p *Piece) result() bool { return p.Kind == quire.PartToolResult && p.Opaque == nil }
func (p *Piece) media() bool {
	return (p.Kind == quire.PartImage || p.Kind == quire.PartDocument) && p.Opaque == nil
}

// thinking is true of what the provider redacted too.
func (p *Piece) thinking() bool { return p.Kind == quire.PartThinking }

// empty reports whether a block shows nothing, which providers refuse.
func empty(b *quire.Block) bool {
	switch b.Kind {
	case quire.PartToolCall, quire.PartToolResult, quire.PartThinking, quire.PartImage, quire.PartDocument:
		return false
	}
	return b.Opaque == nil && len(b.Content) == 0 && strings.TrimSpace(b.Text) == ""
}

// unmarked is a block without the cache marks that it came with.
func unmarked(b quire.Block) quire.Block {
	b.Cache = quire.MarkNone
	for i := range b.Content {
		if b.Content[i].Cache == quire.MarkNone {
			continue
		}
		content := make([]quire.Block, len(b.Content))
		for j, c := range b.Content {
			content[j] = unmarked(c)
		}
		b.Content = content
		break
	}
	return b
}

package schedule

import "github.com/quire-agent/quire/internal/quire"

// A Kind groups blocks that are needed again alike. It is the first factor of a
// [Table].
type Kind uint8

// The kinds.
const (
	KindSource Kind = iota // a read of a source file
	KindRead               // a read of something else
	KindSearch
	KindTest // test output
	KindRun  // other output of commands
	KindList
	KindEdited // what an edit or a write answered
	KindResult // of other tools
	KindEdit   // the content of an edit, written by the model
	KindWrite  // the content of a written file
	KindArgs   // arguments of other calls: never quoted as a source
	KindText   // of the model
	KindThinking
	KindMachine
	KindUser
	KindMedia
	kinds
)

var kindNames = [kinds]string{"source read", "read", "search", "test", "run", "list", "edited", "result", "edit", "write", "arguments", "text", "thinking", "machine", "user", "media"}

// String names the kind.
func (k Kind) String() string { return kindNames[k] }

// KindOf is the kind of a block.
func KindOf(b *Block) Kind {
	switch b.Part {
	case quire.PartThinking:
		return KindThinking
	case quire.PartText:
		return KindText
	case quire.PartUser:
		return KindUser
	case quire.PartToolCall:
		return kindOfCall(&b.Page)
	case quire.PartImage, quire.PartDocument:
		return KindMedia
	case quire.PartToolResult:
		return kindOfResult(&b.Page)
	default:
		return KindMachine
	}
}

func kindOfCall(p *quire.Page) Kind {
	switch {
	case p.Kind != quire.PageWritten:
		return KindArgs
	case p.Action == quire.ActionEdit:
		return KindEdit
	default:
		return KindWrite
	}
}

func kindOfResult(p *quire.Page) Kind {
	switch p.Action {
	case quire.ActionRead:
		if p.Class == quire.ClassSource {
			return KindSource
		}
		return KindRead
	case quire.ActionSearch:
		return KindSearch
	case quire.ActionRun:
		if p.Class == quire.ClassTest {
			return KindTest
		}
		return KindRun
	case quire.ActionList:
		return KindList
	case quire.ActionEdit, quire.ActionWrite:
		return KindEdited
	default:
		return KindResult
	}
}

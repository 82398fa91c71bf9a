package audit

import "github.com/quire-agent/quire/internal/quire"

// A Kind says what content is, as far as a reader of a bill cares.
type Kind uint8

// The kinds.
const (
	KindSystem   Kind = iota // system prompt and tool schemas, also those that are not in the record
	KindUser                 // the user's own words
	KindMachine              // reminders, hook output, command expansions
	KindSummary              // what a compaction put in the place of the context
	KindText                 // the model's text
	KindThinking             // the model's thinking
	KindToolCall             // what the model asked of tools, content it wrote to files included
	KindRead                 // results: files and addresses read
	KindRun                  // results: output of commands
	KindSearch               // results: searches and listings
	KindResult               // results of all other tools
	KindMedia                // images and documents
	KindSide                 // prompts of side chains, whole
	KindOutput               // tokens received; not part of a prompt
	kindCount
)

var kindNames = [kindCount]string{
	"system", "user", "machine", "summary", "text", "thinking", "tool_call",
	"read", "run", "search", "other_result", "media", "side", "output",
}

// String names the kind as it stands in a serialised report.
func (k Kind) String() string { return kindNames[k] }

// MarshalText writes the name of the kind.
func (k Kind) MarshalText() ([]byte, error) { return []byte(kindNames[k]), nil }

// promptKinds are the kinds that the prompt of a main chain may hold.
const promptKinds = int(KindSide)

// kindOf is the kind of an item of a page that did action.
func kindOf(part quire.PartKind, origin quire.Origin, action quire.Action) Kind {
	if origin == quire.OriginSummary {
		return KindSummary
	}
	switch part {
	case quire.PartSystem, quire.PartTools:
		return KindSystem
	case quire.PartUser:
		return KindUser
	case quire.PartText:
		return KindText
	case quire.PartThinking:
		return KindThinking
	case quire.PartToolCall:
		return KindToolCall
	case quire.PartToolResult:
		return resultKind(action)
	case quire.PartImage, quire.PartDocument:
		return KindMedia
	default:
		return KindMachine
	}
}

func resultKind(a quire.Action) Kind {
	switch a {
	case quire.ActionRead, quire.ActionFetch:
		return KindRead
	case quire.ActionRun:
		return KindRun
	case quire.ActionSearch, quire.ActionList:
		return KindSearch
	default:
		return KindResult
	}
}

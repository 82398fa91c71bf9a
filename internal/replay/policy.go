package replay

import (
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/schedule"
)

// A Policy decides what the prompts of a session hold. It is the seam for every
// context manager that is measured here, ours included.
type Policy struct {
	Name string

	// Timed says that the decisions depend on the setting's prices or on when
	// the cache is cold. Others are played once for all profiles.
	Timed bool

	// Oracle says that it knows the future.
	Oracle bool

	// Budgeted says that it holds its prompt at a budget. Kind is then its
	// name without the budget.
	Budgeted bool
	Kind     string

	// Start begins a replay of a session.
	Start func(*recording.Session, Setting) Player
}

// A Player is one policy at work on one session.
type Player interface {
	// Step returns the prompt of call k. It is called once for each recorded
	// call in order. A Player that knows no future looks at nothing of the
	// session beyond Items[:Calls[k].Items] and the needs of calls before k.
	Step(k int) Prompt
}

// A Listener is a Player that wants to know what was fetched again.
type Listener interface {
	// Faulted reports the needs of call k, numbered as in Session.Needs, that
	// the prompt of the last Step did not serve. It follows that Step at once.
	Faulted(k int, needs []int)
}

// A foreseer is a Player that brings pages in because it foresees their use.
type foreseer interface {
	// Foreseen counts them so far.
	Foreseen() schedule.Foresights
}

// A refuser is a Player that makes its calls.
type refuser interface {
	// Refused counts those that could not be made so far.
	Refused() Refusals
}

// A Prompt is what a policy sends at one call, as a change against what it sent
// at the call before: the first Keep blocks stay, Blocks follow them.
type Prompt struct {
	Keep   int
	Blocks []Block
	Asides []Aside // calls of its own that the policy made before this one
	Reason string  // why the prompt does not extend the one before; "" if it does
	Schema int     // tokens that the policy adds to the constant prefix; where it changes, all of the prompt does
}

// A Block is one block of a prompt.
type Block struct {
	Item   int32 // index into Session.Items, -1 for text that shows no item
	Whole  bool  // the item's body as it is; Text is empty
	Handle bool  // Text names the page of the item and how to read it back
	Text   string
	Tokens int32
	Role   Role
}

// gone reports whether the block shows nothing.
func (b Block) gone() bool { return !b.Whole && b.Text == "" && b.Tokens == 0 }

// An Aside is a model call that a policy makes for its own purposes, such as a
// summary: it reads the prompt sent last and produces Output tokens.
type Aside struct {
	Output int
}

// A Role is the role in which a block is sent.
type Role uint8

// The roles.
const (
	RoleSystem Role = iota
	RoleUser
	RoleAssistant
	RoleTool
)

var roleNames = [...]string{"system", "user", "assistant", "tool"}

// String is the name of the role on the wire.
func (r Role) String() string { return roleNames[r] }

// roleOf is the role in which a part of a kind is sent.
func roleOf(k quire.PartKind) Role {
	switch k {
	case quire.PartSystem, quire.PartTools:
		return RoleSystem
	case quire.PartToolResult:
		return RoleTool
	case quire.PartText, quire.PartThinking, quire.PartToolCall:
		return RoleAssistant
	default:
		return RoleUser
	}
}

// hashOf identifies the bytes of a block for the prompt cache.
func hashOf(s *recording.Session, b Block) uint64 {
	if b.Whole {
		return s.Items[b.Item].Hash
	}
	return hashText(b.Text)
}

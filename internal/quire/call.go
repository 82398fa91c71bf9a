package quire

import "encoding/json"

// A Call is one model request: what a provider sees, in no provider's dialect.
// The wire packages turn it into bytes and back. Order matters everywhere: it
// is the order of the bytes, and a prompt cache matches from the first byte on.
type Call struct {
	Model    string
	Tools    []ToolSpec
	System   []Block // in front of all messages
	Messages []Message

	MaxOutput int // tokens, 0: the provider's default
	Stream    bool
	Choice    Choice
	Thinking  Thinking
	CacheKey  string  // groups calls with a common beginning, for providers that route by it; "" where nothing does. A key that a client sent is in Rest
	Rest      []Field // members that have no place above, in their order
}

// A ToolSpec declares a tool to the model.
type ToolSpec struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON schema of the arguments; nil for tools that the provider runs or that take free text
	Cache       Mark
	Type        string  // as the dialect has it, "" for an ordinary function
	Rest        []Field // members that have no place above, in their order
}

// A Choice says whether the model may, must or must not call a tool. The zero
// Choice leaves it to the provider's default.
type Choice struct {
	Mode string // "", auto, none, required, tool
	Tool string // of mode tool
	Rest []Field
}

// Thinking says how much the model may think before it answers. The zero
// Thinking leaves it to the provider's default.
type Thinking struct {
	Mode   string // as the dialect has it: enabled, adaptive, disabled …
	Budget int    // tokens, 0: none given
	Effort string // low, medium, high …, "": none given
	Rest   []Field
}

// A Role says who speaks.
type Role uint8

// The roles.
const (
	RoleSystem Role = iota + 1
	RoleUser
	RoleAssistant
	RoleTool
)

var roleNames = [...]string{"", "system", "user", "assistant", "tool"}

// String names the role.
func (r Role) String() string {
	if int(r) < len(roleNames) {
		return roleNames[r]
	}
	return "unknown"
}

// MarshalText writes the name of the role.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// A Message is a run of blocks of one role. Where a dialect has no roles of its
// own for tool results, they are blocks of a message of RoleUser.
type Message struct {
	Role   Role
	Blocks []Block
	ID     string  // of the item, where the dialect names it
	Rest   []Field // members that have no place above, in their order
}

// A Block is a piece of content in the place where it stands. Of a tool call,
// Text holds the arguments exactly as they are sent. Of a tool result, Text
// holds the content where it is one text; otherwise Content holds its pieces.
type Block struct {
	Part
	Content   []Block // of a tool result or of a document with pieces
	Signature string  // of thinking, or of the block it is attached to: opaque, bound to every byte before it
	Cache     Mark
	Plain     bool            // of a text that is all the content there is: the dialect has it as a string, not as a list of one block
	Opaque    json.RawMessage // a block that has no meaning here (server tools, compaction items): the whole of it, sent as it is
	Rest      []Field         // members that have no place above, in their order
}

// A Mark asks the provider to keep the prompt up to here in its cache.
type Mark uint8

// The marks.
const (
	MarkNone  Mark = iota
	MarkShort      // the provider's ordinary lifetime
	MarkLong       // its long one
)

// A Field is a member of a JSON object that rides along untouched. A member that
// has a place in the value beside it is kept too where the place cannot say how
// it was written (a flag that is false, a number with an exponent); it is sent
// in its old form as long as it says the same as the place.
type Field struct {
	Name  string
	Value json.RawMessage
}

// A Reply is a whole answer of a model.
type Reply struct {
	ID     string
	Model  string
	Blocks []Block
	Stop   Stop
	Usage  Usage
	Rest   []Field
}

// A Stop says why a model stopped.
type Stop string

// The stops.
const (
	StopEnd     Stop = "end"     // it was done
	StopTool    Stop = "tool"    // it wants its tool calls run
	StopLength  Stop = "length"  // its output limit was reached
	StopWindow  Stop = "window"  // the context window was reached
	StopPhrase  Stop = "phrase"  // a stop sequence
	StopRefusal Stop = "refusal" // the model or a filter refused
	StopPause   Stop = "pause"   // a long turn of the provider's own tools; sending it again continues
	StopUnknown Stop = "unknown"
)

// A Delta is one step of an answer that streams. The set is closed. Blocks are
// numbered from 0 in the order in which they begin; a block grows only between
// its BlockBegun and its BlockEnded.
type Delta interface{ delta() }

// The deltas.
type (
	// ReplyBegun comes first, once. Its usage is what is known at the start.
	ReplyBegun struct {
		ID    string
		Model string
		Usage Usage
		Rest  []Field // of the reply, as far as it is known at the start
	}

	// BlockBegun opens a block. Texts that are still to come are empty in it.
	BlockBegun struct {
		Index int
		Block Block
	}

	// BlockGrew appends to the texts of an open block.
	BlockGrew struct {
		Index     int
		Text      string
		Signature string
	}

	// BlockEnded closes a block. Its Rest replaces members of the block's that
	// have the same name and adds the others: what came while it was open and is
	// no text, such as citations.
	BlockEnded struct {
		Index int
		Rest  []Field
	}

	// ReplyEnded comes last, once. Its usage is that of the whole call. Its Rest
	// is to the reply's what that of BlockEnded is to the block's.
	ReplyEnded struct {
		Stop  Stop
		Usage Usage
		Rest  []Field
	}
)

func (ReplyBegun) delta() {}
func (BlockBegun) delta() {}
func (BlockGrew) delta()  {}
func (BlockEnded) delta() {}
func (ReplyEnded) delta() {}

// A CallError is a model request that failed, classified. Its text is the
// provider's, as far as there is one.
type CallError struct {
	Kind    CallErrorKind
	Status  int    // HTTP status, 0 when there was no answer
	Code    string // the provider's own name of the error
	Message string
	After   float64 // seconds to wait before another try, 0: not said
}

// Error says what went wrong, in one line.
func (e *CallError) Error() string {
	if e.Message == "" {
		return string(e.Kind)
	}
	return string(e.Kind) + ": " + e.Message
}

// A CallErrorKind says what a failed request wants: to be sent again, to be
// made smaller, or to be put right.
type CallErrorKind string

// The kinds.
const (
	CallInvalid    CallErrorKind = "invalid request"
	CallAuth       CallErrorKind = "not authenticated"
	CallForbidden  CallErrorKind = "not permitted"
	CallNotFound   CallErrorKind = "no such model or address"
	CallTooLong    CallErrorKind = "prompt too long"
	CallTooLarge   CallErrorKind = "request too large"
	CallRate       CallErrorKind = "rate limited"
	CallOverloaded CallErrorKind = "overloaded"
	CallServer     CallErrorKind = "provider error"
	CallFiltered   CallErrorKind = "refused by a filter"
	CallNetwork    CallErrorKind = "no connection"
	CallCut        CallErrorKind = "answer cut off"
	CallGarbled    CallErrorKind = "answer not understood"
	CallRegion     CallErrorKind = "not available in this region"
)

// Passing reports whether the same request may succeed when it is sent again.
func (k CallErrorKind) Passing() bool {
	switch k {
	case CallRate, CallOverloaded, CallServer, CallNetwork, CallCut:
		return true
	default:
		return false
	}
}

package quire

import "time"

// An Event is one thing that happened in a session. The set is closed: the
// types in this file and no others.
//
// Order is the order of the record, with one repair that every importer makes:
// a call is opened by a [Called] before its first [Answered], and whatever was
// [Entered] before that Called is its prompt. Parts that enter while a call is
// still answering (results of tools that ran early) belong to the next prompt.
// Times need not rise; a reader that needs them to must clamp.
type Event interface{ event() }

// A Stamp says where and when an event was recorded.
type Stamp struct {
	Line  int       `json:"line,omitempty"`  // 1-based line of the file; ordinal of the message where the format has no lines
	At    time.Time `json:"at,omitzero"`     // zero when the format does not record it
	Chain string    `json:"chain,omitempty"` // "" for the main chain, otherwise the id of a side chain (subagent)
}

// The events.
type (
	// Opened describes the session. It comes first; a later one adds what was
	// not known before (a non-empty field replaces the earlier value).
	Opened struct {
		Stamp
		Info SessionInfo `json:"info"`
	}

	// Entered adds a part to the context: it is in the prompt of the next call
	// and of those after it until a [Compacted] or [Rewound] takes it out.
	// Node numbers the parts of a chain, Entered and Answered together, from 0
	// upwards without gaps.
	Entered struct {
		Stamp
		Node int  `json:"node"`
		Part Part `json:"part"`
	}

	// Called opens a call: one model request. Call is unique within the file
	// and is the provider's message id where one is recorded, so that the same
	// call found in two files can be counted once.
	Called struct {
		Stamp
		Call  string `json:"call"`
		Model string `json:"model"` // as recorded; "" when unknown
	}

	// Answered is one part of a call's answer. Parts of one call may come
	// apart from each other, with other events between them.
	Answered struct {
		Stamp
		Call string `json:"call"`
		Node int    `json:"node"`
		Part Part   `json:"part"`
	}

	// Metered carries the usage of a call. Where it comes more than once for a
	// call, the last stands and the earlier ones are repetitions.
	Metered struct {
		Stamp
		Call  string `json:"call"`
		Usage Usage  `json:"usage"`
	}

	// Compacted says that the recorded agent threw its context away here: all
	// parts before it left the prompt. The summary and what the harness put
	// back come after it as Entered with Part.Origin set to OriginSummary or
	// OriginReinjected.
	Compacted struct {
		Stamp
		Trigger   string `json:"trigger"`              // auto, manual, micro (old tool results only), or ""
		PreTokens int    `json:"pre_tokens,omitempty"` // prompt size before it, where recorded
	}

	// Rewound says that the user went back: of the parts of this chain only
	// those with Node <= Keep stay in the context (-1: none).
	Rewound struct {
		Stamp
		Keep int `json:"keep"`
	}

	// Skipped reports input that could not be read. Nothing else is lost by it.
	Skipped struct {
		Stamp
		Reason string `json:"reason"`
	}

	// Noted counts an oddity that was read and handled.
	Noted struct {
		Stamp
		Note Note `json:"note"`
	}
)

func (Opened) event()    {}
func (Entered) event()   {}
func (Called) event()    {}
func (Answered) event()  {}
func (Metered) event()   {}
func (Compacted) event() {}
func (Rewound) event()   {}
func (Skipped) event()   {}
func (Noted) event()     {}

// A Note names an oddity that importers handle and reports count.
type Note string

// The notes.
const (
	NoteDuplicateUsage Note = "duplicate usage"         // usage repeated for a call already metered
	NoteDuplicateLine  Note = "duplicate line"          // a record whose id was seen before in this file
	NoteSynthetic      Note = "synthetic"               // a message the harness made in the model's name
	NoteTimeInversion  Note = "time inversion"          // a record older than the one before it
	NoteFork           Note = "fork"                    // a branch that is not a rewind of the user's
	NoteNotUTF8        Note = "not UTF-8"               // bytes that are not UTF-8; kept as they are
	NoteTooLong        Note = "too long to be replayed" // made by the replay, not by an importer
)

// A SessionInfo describes a recorded session.
type SessionInfo struct {
	ID      string    `json:"id"`
	Agent   Agent     `json:"agent"`
	Project string    `json:"project,omitempty"` // working directory, as recorded
	Version string    `json:"version,omitempty"` // of the agent
	Branch  string    `json:"branch,omitempty"`
	Model   string    `json:"model,omitempty"`  // set only where calls do not name theirs
	Window  int       `json:"window,omitempty"` // context window in tokens, where recorded
	Parent  string    `json:"parent,omitempty"` // session that this one is a side chain of
	Started time.Time `json:"started,omitzero"`
}

// An Agent is the program that recorded a session.
type Agent string

// The agents whose logs Quire reads.
const (
	AgentClaudeCode Agent = "claude-code"
	AgentCodex      Agent = "codex"
	AgentCopilot    Agent = "copilot-cli"
	AgentOpenCode   Agent = "opencode"
	AgentMini       Agent = "mini-swe-agent"
	AgentSWE        Agent = "swe-agent"
	AgentMessages   Agent = "messages" // a plain OpenAI or Anthropic message array
	AgentQuire      Agent = "quire"    // sessions of our own: they are recorded, not imported
)

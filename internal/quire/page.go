package quire

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// A Hash is the SHA-256 of a body.
type Hash [sha256.Size]byte

// Sum hashes a body.
func Sum(body string) Hash { return sha256.Sum256([]byte(body)) }

// String is the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText writes the hash in hexadecimal.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// A PageNumber numbers the pages of a session from 1 in the order in which they
// were admitted.
type PageNumber int32

// String is the name of a page within its session, as people and models see it.
func (n PageNumber) String() string { return fmt.Sprintf("p%d", int32(n)) }

// PageKind says what a page is.
type PageKind uint8

// The kinds of pages that recorded sessions hold.
const (
	PageUser      PageKind = iota + 1 // a user message
	PageMachine                       // text in the user's role that a machine made
	PageAssistant                     // text of the model
	PageTool                          // a tool call with its result
	PageWritten                       // content that the model wrote to a file through a tool
	PageImage                         // an image
	PageDocument                      // a document sent as such
	PageSystem                        // system text and tool schemas
)

var pageKindNames = [...]string{"", "user", "machine", "assistant", "tool", "written", "image", "document", "system"}

// String names the kind.
func (k PageKind) String() string {
	if int(k) < len(pageKindNames) {
		return pageKindNames[k]
	}
	return "unknown"
}

// MarshalText writes the name of the kind.
func (k PageKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// A Class says what the bytes of a page are, whatever brought them.
type Class uint8

// The classes.
const (
	ClassProse Class = iota + 1
	ClassSource
	ClassDiff
	ClassTest
	ClassTrace // a stack trace
	ClassLog
	ClassSearch
	ClassListing
	ClassJSON
	ClassTable
	ClassImage
)

var classNames = [...]string{"", "prose", "source", "diff", "test", "trace", "log", "search", "listing", "json", "table", "image"}

// String names the class.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return "unknown"
}

// MarshalText writes the name of the class.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// A Range is a range of 1-based lines, both ends included. The zero Range is
// the whole text.
type Range struct {
	First int `json:"first,omitempty"`
	Last  int `json:"last,omitempty"`
}

// A Page is the unit of scheduling, without its body.
type Page struct {
	Number PageNumber `json:"page"`
	Kind   PageKind   `json:"kind"`
	Class  Class      `json:"class"`
	Tool   string     `json:"tool,omitempty"`
	Action Action     `json:"action,omitempty"` // what the tool did, for tools that Quire knows
	Target string     `json:"target,omitempty"` // path, command, pattern or address: what the tool was asked about, one line
	Lines  Range      `json:"lines,omitzero"`   // of a file read: the lines read
	Body   Hash       `json:"body"`
	Bytes  int        `json:"bytes"`
	Tokens int        `json:"tokens"`
	Call   int        `json:"call"` // first call whose prompt holds it, from 0
}

// An Action is what a tool call does, the same word for all agents' tools.
type Action string

// The actions.
const (
	ActionNone   Action = ""
	ActionRead   Action = "read"
	ActionWrite  Action = "write"
	ActionEdit   Action = "edit"
	ActionRun    Action = "run"
	ActionSearch Action = "search"
	ActionList   Action = "list"
	ActionFetch  Action = "fetch"
	ActionTask   Action = "task" // a subagent
	ActionPlan   Action = "plan" // todo lists and plans
)

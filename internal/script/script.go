package script

import (
	"fmt"
	"regexp"
	"time"

	"github.com/quire-agent/quire/internal/quire"
)

// A Script is what a text said. It does not change: any number of players may
// play it.
type Script struct {
	groups []group
}

// An Error says what is wrong with a script.
type Error struct {
	Line    int // from 1
	Message string
}

// Error begins with the line.
func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Message) }

// A group is a loop, or one turn outside of loops.
type group struct {
	turns []turn
	times int // rounds; forever: no end
}

// forever is a number of times without an end.
const forever = -1

type turn struct {
	line   int
	times  int
	when   []condition
	steps  []step
	fault  Fault
	reason quire.Stop // "": follows from what was answered
}

// A condition is one line of when.
type condition struct {
	not   bool
	about subject
	text  string         // contains; also an id or name
	form  *regexp.Regexp // matches; nil: contains
	from  int            // call
	to    int
}

// A subject is what a condition looks at.
type subject string

const (
	aboutPrompt   subject = "prompt"
	aboutSystem   subject = "system"
	aboutUser     subject = "user"
	aboutResult   subject = "result"
	aboutModel    subject = "model"
	aboutAnswered subject = "answered"
	aboutTool     subject = "tool"
	aboutCall     subject = "call"
)

// A step makes one block of an answer.
type step struct {
	kind quire.PartKind
	text string
	tool string
	id   string // "": one is made
	free bool   // the text of a call is free, not JSON
}

// A Fault is what goes wrong with an answer. The zero Fault is none.
type Fault struct {
	Wait time.Duration // before the first byte

	Status  int     // of HTTP: an error in place of the answer; 0 for none
	After   float64 // seconds that the error asks to wait, 0: not said
	Message string  // of the error, "": what is usual

	Break Break         // what happens in the middle of the body
	At    int           // bytes of the body behind which it happens
	For   time.Duration // how long a stall lasts, 0: until the client leaves
}

// A Break is how an answer breaks.
type Break string

// The breaks.
const (
	BreakCut     Break = "cut"     // the connection ends
	BreakStall   Break = "stall"   // nothing more comes
	BreakGarbage Break = "garbage" // what comes is no answer
	BreakDrop    Break = "drop"    // the connection ends before anything was sent
)

// An Answer is what a turn says to a call.
type Answer struct {
	Line   int // of the turn
	Blocks []quire.Block
	Stop   quire.Stop
	Fault  Fault
}

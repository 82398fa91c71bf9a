package assemble

import (
	"fmt"

	"github.com/quire-agent/quire/internal/quire"
)

// An Invariant is one of the rules of a stream, numbered as in the design.
type Invariant int

// The invariants.
const (
	Extends   Invariant = iota + 1 // I1: within an epoch every prompt extends the one before it
	Pairs                          // I2: a call and its result stand or go together
	Bound                          // I3: no thinking is kept after a byte before it changed
	Verbatim                       // I4: the last user message and pinned pages stand word for word
	Reachable                      // I5: what is not shown can be read back by a name in the stream
	Added                          // I6: what Quire adds in front stays small
	Size                           // I7: a call is within window, body and image limits
	Marked                         // I8: a shortened text says so at its beginning and is valid UTF-8
	Cached                         // I9: cache marks are few, and none misses what was written
	Framed                         // I10: an injected text is data from a named source
	Fresh                          // I11: the last results, and what no call has shown, keep their form
)

var invariantTexts = [...]string{"", "a prompt extends the one before it", "a call and its result stand together", "thinking is bound to what is before it",
	"the user's words stand verbatim", "what is not shown can be read back", "what is added in front is small", "a call is within its limits",
	"a shortened text says so", "cache marks miss nothing", "an injected text is framed", "the newest results keep their form"}

// String is the name of the invariant with its rule.
func (i Invariant) String() string {
	if i < 1 || int(i) >= len(invariantTexts) {
		return fmt.Sprintf("I%d", int(i))
	}
	return fmt.Sprintf("I%d (%s)", int(i), invariantTexts[i])
}

// An Error says which invariant a call would break. Nothing was made, and the
// next plan is assembled as if this one had not been asked for.
type Error struct {
	Invariant Invariant
	Block     int              // of the stream, -1: no single one
	Page      quire.PageNumber // of the block, 0: none
	What      string
}

// Error says it in one line.
func (e *Error) Error() string {
	where := ""
	switch {
	case e.Page > 0:
		where = fmt.Sprintf("%s (block %d): ", e.Page, e.Block)
	case e.Block >= 0:
		where = fmt.Sprintf("block %d: ", e.Block)
	}
	return fmt.Sprintf("%s: %s%s", e.Invariant, where, e.What)
}

// broken is the error of an invariant as a whole.
func broken(i Invariant, format string, args ...any) error {
	return &Error{Invariant: i, Block: -1, What: fmt.Sprintf(format, args...)}
}

// brokenAt is the error of an invariant at a block.
func brokenAt(i Invariant, p *Piece, block int, format string, args ...any) error {
	return &Error{Invariant: i, Block: block, Page: p.Page, What: fmt.Sprintf(format, args...)}
}

package schedule

import "github.com/quire-agent/quire/internal/quire"

// A Block is one block of a stream, as it entered: a part of a page.
type Block struct {
	Page   quire.Page     // Number 0: it belongs to no page, as thinking does
	Part   quire.PartKind // of the block; the call and the result of a tool are two blocks of one page
	Tokens int            // in full
	Call   int            // the first call whose prompt holds it, from 0
	By     int            // the call that produced it, -1 for what entered from outside
	Turn   int            // from 0

	// Answers says, of a tool result, the response that asked for it: 1 more than
	// the call that gave it. 0: that of the call on the same page.
	Answers int
	Load
	Fixed bool // it keeps its form whatever happens: what the provider binds, opaque items, loaded tool schemas
}

// A Placed is a block of a stream in the form in which it stands.
type Placed struct {
	Block  int // its number in the order of entering, from 0; -1 where Span is set
	Form   quire.Rendition
	Tokens int  // in this form
	Again  bool // it is shown once more, behind blocks that entered later
	Span   Span // a fold stands here in the place of these turns
}

// A Span is a run of turns, both ends included, with the pages that they hold.
// The zero Span is none; turns count from 0.
type Span struct {
	First, Last           int // turns
	FirstPage, LastPage   quire.PageNumber
	FirstBlock, LastBlock int
	Level                 int // 1: a card for each turn; 2: one for all of them
}

// Forms tells how large a block would be in another form. The scheduler asks
// only for blocks that entered, and for the same one as often as it likes: the
// answer must stay the same. Implementations need not be safe for concurrent
// use.
type Forms interface {
	// Size is the tokens of block i in a form below full. A form that is not
	// shorter than the block is as good as none.
	Size(i int, form quire.Rendition) int
	// Fold is the tokens of the text that stands for a span.
	Fold(s Span) int
}

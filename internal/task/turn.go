package task

import "github.com/quire-agent/quire/internal/quire"

// A Turn is what the user said, the tool calls that followed, and what the model
// said.
type Turn struct {
	User    string
	Said    string // the texts of the model, one after the other
	Touched []Touched
}

// A Touched is a tool call by its page, with its arguments and its result as they
// were.
type Touched struct {
	Page   quire.Page
	Args   string
	Result string
}

// A Collector puts the turn at hand together from the parts of the main chain, as
// they come. It keeps what one turn is about, which is bounded, and none of its
// texts. The zero Collector is ready.
type Collector struct {
	number int
	turn   *gathered
	begun  bool // something was said or called since the user's message
}

// Begins reports whether a part begins another turn: it is a user message, and
// something was said or called since the last one. Messages with nothing between
// them are one turn. The turn at hand is complete then: it is time to have its
// task decided for the last time.
func (c *Collector) Begins(p *quire.Part) bool {
	return p.Kind == quire.PartUser && p.Origin == quire.OriginFirst && c.begun
}

// Add takes the next part with the pages that a page.Cutter made of it. Parts that
// a compaction put back are passed over.
func (c *Collector) Add(p *quire.Part, pages []quire.Page) {
	if p.Origin != quire.OriginFirst || len(pages) == 0 {
		return
	}
	if c.Begins(p) {
		*c = Collector{number: c.number + 1}
	}
	if c.turn == nil {
		c.turn = &gathered{}
	}
	switch p.Kind {
	case quire.PartUser:
		c.turn.asked(p.Text)
	case quire.PartText:
		c.turn.said(p.Text)
		c.begun = true
	case quire.PartToolCall:
		c.turn.called(&pages[0], p.Text)
		c.begun = true
	case quire.PartToolResult:
		c.turn.seen.result(p.Text)
	}
}

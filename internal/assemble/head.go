package assemble

import (
	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/schedule"
)

// A Head is what a call has besides the stream of its plan. Model, Tools, System,
// Opening, Choice, Thinking, Rest and the limits of images are part of what a
// cache is looked up by: within an epoch they stay as they are.
type Head struct {
	Model     string
	Tools     []quire.ToolSpec
	Recall    string // name of the tool that reads pages back; without it in Tools nothing can be lowered
	System    []quire.Block
	Opening   []Text // stands before all turns: norms of the project, knowledge, ledger and task cards, state
	Choice    quire.Choice
	Thinking  quire.Thinking
	MaxOutput int
	Stream    bool
	Rest      []quire.Field

	Rules    Rules
	Limits   Limits
	Notices  []Text             // appended behind the stream, once; they go at the next epoch that reaches them
	Pinned   []quire.PageNumber // by the user: they keep their form
	Constant int                // tokens of tools, system and opening
	Added    int                // of these, tokens that Quire itself adds
	Renewed  bool               // nothing of the last call is in a cache, or signatures of its answers are of no use any more: the head may change and all is made anew
}

// A Text is something that Quire puts into a prompt. Its Source is named in the
// frame around it.
type Text struct {
	Source string
	Text   string
	Tokens int
}

// Rules are what a provider demands of a prefix.
type Rules struct {
	price.Rules
	Bound     bool       // thinking is bound to the bytes before it even where a turn of its own follows
	Tail      Tail       // where notices stand
	HeadMark  quire.Mark // lifetime of the mark behind tools and system; not shorter than TailMark
	TailMark  quire.Mark // of the others
	UserMarks bool       // marks may stand on blocks of the user and of tools only
	Hinge     bool       // one of the marks stands in front of the last message, so that another one in its place reads all before it
}

// Tail says where a notice stands.
type Tail uint8

// The forms of a tail. Where no result is at the end of the prompt, the first two
// are as TailText.
const (
	TailInResult Tail = iota // as a piece of its own inside the last result
	TailJoined               // joined to the text of the last result
	TailText                 // as a text of the user, behind the results
	TailSystem               // as a system message, behind the last message
)

// Limits are what a provider accepts. A zero is no limit that is known.
type Limits struct {
	Window     int // tokens of the whole prompt, the reserve for the answer taken off
	Body       int // bytes of the whole request
	Images     int // in a request
	Many       int // more images than these may be
	ManySide   int // no wider than so many pixels
	ImageBytes int // of one image, decoded
	ImageSide  int // pixels of the longer side of one
}

// Accepted are the limits of a provider's API besides its window, by the name that
// package model gives it: those that its pages on requests and images state, as
// they stood in November 2026. Nothing is known of other APIs.
func Accepted(api string) Limits {
	const mega = 1 << 20
	switch api {
	case "messages":
		return Limits{Body: 32 * mega, Images: 100, ImageBytes: 5 * mega, ImageSide: 8_000, Many: 20, ManySide: 2_000}
	case "chat", "responses":
		return Limits{Body: 50 * mega, Images: 500, ImageBytes: 20 * mega}
	case "gemini":
		return Limits{Body: 20 * mega, Images: 3_600, ImageBytes: 20 * mega}
	default:
		return Limits{}
	}
}

// bodyShare is how much of a body the texts of a stream may be reckoned to take:
// written as JSON they are longer.
const bodyShare = .9

// Cap is what the limits leave for the blocks of a stream.
func (h *Head) Cap() schedule.Cap {
	l := &h.Limits
	c := schedule.Cap{Images: l.Images, Many: l.Many, Side: l.ManySide}
	if l.Body > 0 {
		c.Bytes = max(1, int(bodyShare*float64(l.Body))-headBytes(h))
	}
	return c
}

// LoadOf is what a block takes of a request besides its tokens, its bytes about.
func LoadOf(b *quire.Block) (l schedule.Load) {
	l.Bytes, l.Images = weigh(b)
	if b.Kind == quire.PartImage && b.Media != nil {
		l.Side = max(b.Media.Width, b.Media.Height)
	}
	for i := range b.Content {
		l.Side = max(l.Side, LoadOf(&b.Content[i]).Side)
	}
	return l
}

// fits reports whether an image is within the limits by itself.
func (l *Limits) fits(m *quire.Media) bool {
	return m == nil || within(m.Bytes, l.ImageBytes) && within(max(m.Width, m.Height), l.ImageSide)
}

func within(n, limit int) bool { return limit == 0 || n <= limit }

// reads reports whether pages can be read back.
func (h *Head) reads() bool {
	for i := range h.Tools {
		if h.Recall != "" && h.Tools[i].Name == h.Recall {
			return true
		}
	}
	return false
}

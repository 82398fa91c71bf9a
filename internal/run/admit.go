package run

import (
	"math"

	"github.com/quire-agent/quire/internal/assemble"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/rendition"
)

// Bounds of admission in tokens, by what a result is (design, section 6.2). What
// is above its bound stands as an excerpt from the first call on; the whole of
// it is a page like any other, and one recall away. All results of one round
// together take at most roundShare of the window: beyond that each gets what a
// handle and its head need.
const (
	admitText  = 8_000
	admitHits  = 4_000
	admitLog   = 2_000
	admitLeast = 400
	roundShare = .25
	wordShare  = .5 // of a window, for what the user says at a time
)

func admitBound(c quire.Class) int {
	switch c {
	case quire.ClassTest, quire.ClassSearch:
		return admitHits
	case quire.ClassListing, quire.ClassLog, quire.ClassJSON:
		return admitLog
	default:
		return admitText
	}
}

// admitted reports whether a piece may stand as an excerpt from the beginning: the
// user's words, results of tools, and what machines put beside the user's words.
func admitted(p *assemble.Piece) bool {
	if len(p.Content) > 0 || p.Opaque != nil {
		return false
	}
	return p.Kind == quire.PartUser || p.Kind == quire.PartToolResult && p.Tool != RecallName || p.Kind == quire.PartMachine && p.Origin == quire.OriginFirst
}

// bound is how many tokens of a piece are shown. The user's words stand whole as
// long as they leave room for anything else (I7 before I4).
func (s *Step) bound(p *assemble.Piece, c quire.Class) int {
	w := s.ctx.sched.Window()
	switch {
	case p.Kind == quire.PartUser && w == 0:
		return math.MaxInt
	case p.Kind == quire.PartUser:
		return int(wordShare * float64(w))
	case w > 0:
		return min(admitBound(c), max(admitLeast, int(roundShare*float64(w))-s.round))
	default:
		return admitBound(c)
	}
}

// admit is the piece in the form in which it is shown first: as it is, or an
// excerpt chosen by what the model was looking for (A14, A38, A42).
func (s *Step) admit(p assemble.Piece, h *held) assemble.Piece {
	if p.Tool == RecallName && p.Kind == quire.PartToolResult {
		s.round += h.tokens // it was bounded when it was made
	}
	if s.asSent || !admitted(&p) {
		return p
	}
	bound := s.bound(&p, h.page.Class)
	if h.tokens > bound {
		src := rendition.Source{Page: h.page, Text: p.Text}
		if cut, ok := s.texts.maker.Excerpt(src, rendition.Want{Query: s.looked}, rendition.Bytes(h.page, bound)); ok {
			p.Text = cut.Text
			h.tokens = s.tokens(&p.Block)
		}
	}
	s.round += h.tokens
	return p
}

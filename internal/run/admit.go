package run

import (
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

// admit is the piece in the form in which it is shown first: as it is, or an
// excerpt chosen by what the model was looking for (A14, A38, A42).
func (s *Step) admit(p assemble.Piece, h *held) assemble.Piece {
	if p.Kind != quire.PartToolResult || p.Tool == RecallName || len(p.Content) > 0 || p.Opaque != nil {
		return p
	}
	bound := admitBound(h.page.Class)
	if w := s.ctx.terms.Settings.Window; w > 0 {
		bound = min(bound, max(admitLeast, int(roundShare*float64(w))-s.round))
	}
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

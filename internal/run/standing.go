package run

import "github.com/quire-agent/quire/internal/quire"

// A Standing is a block of the prompt as it stands: in its form, which is an
// excerpt where it was admitted as one.
type Standing struct {
	Page   quire.PageNumber // the first, where it stands for turns; 0: it belongs to none
	Part   quire.PartKind   // 0 where it stands for turns
	Form   quire.Rendition
	Tokens int
}

// Standing is the stream as it stands.
func (s *Step) Standing() []Standing {
	stream := s.ctx.Scheduler().Stream()
	out := make([]Standing, len(stream))
	for i, p := range stream {
		out[i] = Standing{Page: p.Span.FirstPage, Form: p.Form, Tokens: p.Tokens}
		if p.Block < 0 {
			continue
		}
		h := &s.texts.blocks[p.Block]
		out[i].Page, out[i].Part = h.page.Number, h.piece.Kind
		if p.Form == quire.RenditionFull && len(h.whole()) > len(h.piece.Text) {
			out[i].Form = quire.RenditionExcerpt
		}
	}
	return out
}

package run

import (
	"github.com/quire-agent/quire/internal/quire"
)

// A Shown is a block of the prompt as the model saw it.
type Shown struct {
	Standing
	Role quire.Role // 0 where it stands for turns
	Tool string     // of a tool call or its result
	Text string     // as it stands: the arguments of a call; "" of an image in full
}

// Shown is the stream of the last call that was planned, without what has entered
// since.
func (s *Step) Shown() (out []Shown, err error) {
	stream := s.ctx.Scheduler().Stream()
	for i, standing := range s.Standing() {
		p := stream[i]
		if p.Block < 0 {
			out = append(out, Shown{Standing: standing, Text: s.texts.text(p.Span)})
			continue
		}
		if s.ctx.Scheduler().Block(p.Block).Call >= s.calls {
			continue
		}
		h := &s.texts.blocks[p.Block]
		one := Shown{Standing: standing, Role: h.piece.Role, Tool: h.piece.Tool, Text: h.piece.Text}
		if p.Form != quire.RenditionFull {
			if one.Text, err = s.texts.Lowered(p.Block, p.Form); err != nil {
				return nil, err
			}
		}
		out = append(out, one)
	}
	return out, nil
}

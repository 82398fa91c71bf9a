package curation

import (
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// A Fold adds the deltas of one answer up. The zero Fold is ready.
type Fold struct {
	reply quire.Reply
	texts []*strings.Builder
	whole bool
}

// Add takes the next delta.
func (f *Fold) Add(delta quire.Delta) {
	reply := &f.reply
	switch d := delta.(type) {
	case quire.ReplyBegun:
		reply.ID, reply.Model, reply.Usage, reply.Rest = d.ID, d.Model, d.Usage, d.Rest
	case quire.BlockBegun:
		reply.Blocks, f.texts = append(reply.Blocks, d.Block), append(f.texts, &strings.Builder{})
	case quire.BlockGrew:
		if d.Index < len(reply.Blocks) {
			f.texts[d.Index].WriteString(d.Text)
			reply.Blocks[d.Index].Signature += d.Signature
		}
	case quire.BlockEnded:
		if d.Index < len(reply.Blocks) {
			reply.Blocks[d.Index].Rest = over(reply.Blocks[d.Index].Rest, d.Rest)
		}
	case quire.ReplyEnded:
		reply.Stop, reply.Usage, reply.Rest = d.Stop, d.Usage, over(reply.Rest, d.Rest)
		f.whole = true
	}
}

// Reply is the answer as far as it came; whole says that it came to its end.
func (f *Fold) Reply() (r quire.Reply, whole bool) {
	r = f.reply
	r.Blocks = slices.Clone(f.reply.Blocks)
	for i := range r.Blocks {
		r.Blocks[i].Text += f.texts[i].String()
	}
	return r, f.whole
}

// over is a list of members with later ones in their place or behind them.
func over(old, later []quire.Field) []quire.Field {
	list := slices.Clone(old)
	for _, m := range later {
		at := slices.IndexFunc(list, func(o quire.Field) bool { return o.Name == m.Name })
		if at < 0 {
			list = append(list, m)
		} else {
			list[at] = m
		}
	}
	return list
}

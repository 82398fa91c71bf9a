package wiretest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// Fold adds deltas up to the reply that they make. The error names the first
// delta that breaks the order which a [quire.Delta] promises.
func Fold(deltas []quire.Delta) (quire.Reply, error) {
	f := folding{open: map[int]bool{}}
	for i, d := range deltas {
		if err := f.add(d); err != nil {
			return quire.Reply{}, fmt.Errorf("delta %d, %T: %w", i, d, err)
		}
	}
	if !f.ended {
		return quire.Reply{}, fmt.Errorf("no ReplyEnded in %d deltas", len(deltas))
	}
	return f.reply, nil
}

type folding struct {
	reply        quire.Reply
	open         map[int]bool
	begun, ended bool
}

func (f *folding) add(delta quire.Delta) error {
	if _, first := delta.(quire.ReplyBegun); first == f.begun || f.ended {
		return fmt.Errorf("out of order")
	}
	switch d := delta.(type) {
	case quire.ReplyBegun:
		f.begun = true
		f.reply = quire.Reply{ID: d.ID, Model: d.Model, Usage: d.Usage, Rest: d.Rest}
	case quire.BlockBegun:
		if d.Index != len(f.reply.Blocks) {
			return fmt.Errorf("block %d begins, want %d", d.Index, len(f.reply.Blocks))
		}
		f.open[d.Index] = true
		f.reply.Blocks = append(f.reply.Blocks, d.Block)
	case quire.BlockGrew:
		if !f.open[d.Index] {
			return fmt.Errorf("block %d is not open", d.Index)
		}
		f.reply.Blocks[d.Index].Text += d.Text
		f.reply.Blocks[d.Index].Signature += d.Signature
	case quire.BlockEnded:
		if !f.open[d.Index] {
			return fmt.Errorf("block %d is not open", d.Index)
		}
		delete(f.open, d.Index)
		f.reply.Blocks[d.Index].Rest = over(f.reply.Blocks[d.Index].Rest, d.Rest)
	case quire.ReplyEnded:
		if len(f.open) > 0 {
			return fmt.Errorf("%d blocks are open", len(f.open))
		}
		f.ended = true
		f.reply.Stop, f.reply.Usage, f.reply.Rest = d.Stop, d.Usage, over(f.reply.Rest, d.Rest)
	}
	return nil
}

// over is a list of members with those of another in place of, or behind, them.
func over(old, later []quire.Field) []quire.Field {
	list := slices.Clone(old)
	for _, m := range later {
		at := slices.IndexFunc(list, func(o quire.Field) bool { return o.Name == m.Name })
		if at < 0 {
			list = append(list, m)
			continue
		}
		list[at] = m
	}
	return list
}

// SameReply reports how two replies differ. The order of members that ride along
// is free.
func SameReply(a, b quire.Reply) error {
	byName := func(x, y quire.Field) int { return strings.Compare(x.Name, y.Name) }
	a.Rest = slices.SortedFunc(slices.Values(a.Rest), byName)
	b.Rest = slices.SortedFunc(slices.Values(b.Rest), byName)
	if x, y := DumpReply(a), DumpReply(b); x != y {
		return fmt.Errorf("not the same reply:\n%s\n%s", x, y)
	}
	return nil
}

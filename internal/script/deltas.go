package script

import (
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/quire"
)

// Deltas is a reply as it streams, its texts in pieces of so many runes; 0 is all
// of a text at once. A signature comes behind the last piece. Opaque blocks come
// whole.
func Deltas(r quire.Reply, runes int) []quire.Delta {
	list := []quire.Delta{quire.ReplyBegun{ID: r.ID, Model: r.Model, Usage: r.Usage, Rest: r.Rest}}
	for i, b := range r.Blocks {
		text, signature := b.Text, b.Signature
		b.Text, b.Signature = "", ""
		if b.Opaque != nil {
			text = ""
		}
		list = append(list, quire.BlockBegun{Index: i, Block: b})
		for text != "" {
			n := prefix(text, runes)
			list = append(list, quire.BlockGrew{Index: i, Text: text[:n]})
			text = text[n:]
		}
		if signature != "" {
			list = append(list, quire.BlockGrew{Index: i, Signature: signature})
		}
		list = append(list, quire.BlockEnded{Index: i})
	}
	return append(list, quire.ReplyEnded{Stop: r.Stop, Usage: r.Usage})
}

// prefix is the length in bytes of so many runes at the beginning.
func prefix(text string, runes int) int {
	if runes <= 0 {
		return len(text)
	}
	n := 0
	for ; runes > 0 && n < len(text); runes-- {
		_, size := utf8.DecodeRuneInString(text[n:])
		n += size
	}
	return n
}

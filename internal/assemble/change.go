package assemble

import (
	"slices"

	"github.com/quire-agent/quire/internal/quire"
)

// A change compares the stream of an epoch with the one before it, block by
// block.
type change struct {
	*draft
	before, after []rank
	folded        []bool
}

// A rank orders forms: the higher, the more is shown. 0: it does not stand.
type rank uint8

const rankFull rank = 5

func rankOf(f quire.Rendition) rank {
	switch f {
	case quire.RenditionFull:
		return rankFull
	case quire.RenditionExcerpt:
		return rankFull - 1
	case quire.RenditionCard:
		return rankFull - 2
	case quire.RenditionHandle:
		return rankFull - 3
	default:
		return rankFull - 4
	}
}

func (d *draft) change() *change {
	w := &change{draft: d, before: ranks(d.a.made.places, d.a.known), after: ranks(d.places, d.a.known), folded: make([]bool, d.a.known)}
	for _, p := range d.places {
		if p.Block >= 0 {
			continue
		}
		for i := max(p.Span.FirstBlock, 0); i <= p.Span.LastBlock && i < len(w.folded); i++ {
			w.folded[i] = true
		}
	}
	return w
}

// ranks is the highest form in which each block stands.
func ranks(places []place, known int) []rank {
	out := make([]rank, known)
	for _, p := range places {
		if p.Block >= 0 {
			out[p.Block] = max(out[p.Block], rankOf(p.Form))
		}
	}
	return out
}

// sank reports whether a block is shown less than before. What the user took back
// did not sink.
func (w *change) sank(block int) bool {
	if w.after[block] == 0 {
		return w.folded[block]
	}
	return w.after[block] < w.before[block]
}

// checkUser holds I4: an epoch does not touch the user's last words.
func (w *change) checkUser() error {
	if w.user < 0 || w.user >= len(w.before) || !w.sank(w.user) {
		return nil
	}
	for i := w.user + 1; i < len(w.after); i++ {
		if w.after[i] == 0 {
			continue
		}
		if p, err := w.piece(i); err != nil || p.Kind == quire.PartUser {
			return err
		}
	}
	return &Error{Invariant: Verbatim, Block: w.user, What: "the last user message is not shown in full"}
}

// checkPinned holds I4 for what the user pinned.
func (w *change) checkPinned() error {
	if len(w.h.Pinned) == 0 {
		return nil
	}
	for i := range w.before {
		if w.before[i] == 0 || !w.sank(i) {
			continue
		}
		p, err := w.piece(i)
		if err != nil {
			return err
		}
		if !p.thinking() && slices.Contains(w.h.Pinned, p.Page) {
			return brokenAt(Verbatim, &p, i, "it is pinned and would be shown less")
		}
	}
	return nil
}

// checkOpaque holds I2 for pairs that only the provider knows: their blocks stand
// together or not at all.
func (w *change) checkOpaque() error {
	list := slices.Concat(w.opaque, w.opaques)
	for _, o := range list {
		for _, other := range list {
			if other.use == o.use && (w.after[other.block] == 0) != (w.after[o.block] == 0) {
				return &Error{Invariant: Pairs, Block: o.block, What: "the other half of a pair of the provider's own does not stand"}
			}
		}
	}
	return nil
}

// checkFresh holds I11: what no call has shown yet stands, in full or as it was
// admitted, and the last two results keep their form.
func (w *change) checkFresh() error {
	results := 0
	counted := w.h.Cap()
	for i := len(w.after) - 1; i >= 0 && (results < 2 || i >= w.shown); i-- {
		p, err := w.piece(i)
		if err != nil {
			return err
		}
		if p.media() && (counted.Bytes > 0 || counted.Images > 0) {
			continue // a request holds so many of them, and no more (I7)
		}
		if i >= w.shown && w.after[i] > 0 && w.after[i] < rankFull-1 || i >= w.shown && w.folded[i] && w.after[i] == 0 && !p.thinking() {
			return brokenAt(Fresh, &p, i, "no call has shown it yet")
		}
		if p.Kind != quire.PartToolResult || w.after[i] == 0 && !w.folded[i] {
			continue
		}
		if results++; results <= 2 && w.before[i] > 0 && w.sank(i) {
			return brokenAt(Fresh, &p, i, "it is one of the last two results and would be shown less")
		}
	}
	return nil
}

package run

import "github.com/quire-agent/quire/internal/quire"

// Back takes out the first block for which left holds, and all that entered behind
// it: the user went back. What is before it stands as it was sent last, so that the
// next prompt goes on from bytes that a cache may hold. Pages that entered with what
// is taken out are abandoned. Where left holds for no block nothing happens.
//
// What the model answered must have entered.
func (s *Step) Back(left func(*quire.Block) bool) {
	for i := range s.texts.blocks {
		h := &s.texts.blocks[i]
		if h.node < 0 || !left(&h.piece.Block) {
			continue
		}
		s.ctx.Back(i)
		s.ledger.Judge(s.fates.Rewind("", h.node-1))
		return
	}
}

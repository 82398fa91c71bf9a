package replay

import (
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
)

// A stream is the prompt of an item-wise policy: the items of the session in
// order, each whole or replaced by a shorter text. It keeps track of the first
// changed block, which is where the cached prefix ends.
type stream struct {
	s      *recording.Session
	blocks []Block
	at     []int32 // item → its block, -1 when it is not in the stream
	items  int32   // items seen so far
	cuts   int     // cuts seen so far
	dirty  int     // first block that differs from the prompt returned last
	net    int     // tokens of all blocks
	reason string
}

func newStream(s *recording.Session) *stream {
	st := &stream{s: s, at: make([]int32, len(s.Items))}
	for i := range st.at {
		st.at[i] = -1
	}
	return st
}

// advance takes in what is new before call k: rewinds of the recorded agent cut
// the stream, its compactions do not, and what they put back is left out.
func (st *stream) advance(k int) {
	for st.cuts < len(st.s.Cuts) && st.s.Cuts[st.cuts].Call <= int32(k) {
		c := st.s.Cuts[st.cuts]
		st.cuts++
		st.take(c.Item)
		if c.Rewind {
			st.rewind(c.Keep)
		}
	}
	st.take(st.s.Calls[k].Items)
}

// take appends the items up to (not including) index end.
func (st *stream) take(end int32) {
	for ; st.items < end; st.items++ {
		it := &st.s.Items[st.items]
		if st.s.Constant(st.items) || it.Origin != quire.OriginFirst || it.Unsent() {
			continue
		}
		st.at[st.items] = int32(len(st.blocks))
		st.add(whole(st.s, st.items))
	}
}

// rewind drops the items from index keep on.
func (st *stream) rewind(keep int32) {
	n := len(st.blocks)
	for n > 0 && (st.blocks[n-1].Item >= keep || st.blocks[n-1].Item < 0) {
		n--
	}
	st.cut(n, reasonRewind)
}

// cut drops the blocks from index n on.
func (st *stream) cut(n int, reason string) {
	for _, b := range st.blocks[n:] {
		st.net -= int(b.Tokens)
		if b.Item >= 0 {
			st.at[b.Item] = -1
		}
	}
	st.blocks = st.blocks[:n]
	st.touch(n, reason)
}

func (st *stream) add(b Block) {
	st.net += int(b.Tokens)
	st.blocks = append(st.blocks, b)
}

// replace changes block i in place.
func (st *stream) replace(i int32, b Block, reason string) {
	st.net += int(b.Tokens) - int(st.blocks[i].Tokens)
	st.blocks[i] = b
	st.touch(int(i), reason)
}

// touch notes that block i differs from the last prompt, if it was part of it.
func (st *stream) touch(i int, reason string) {
	if i < st.dirty {
		st.dirty = i
		st.reason = reason
	}
}

// prompt returns the stream as a change against the prompt returned last.
func (st *stream) prompt() Prompt {
	p := Prompt{Keep: st.dirty, Blocks: st.blocks[st.dirty:], Reason: st.reason}
	st.dirty, st.reason = len(st.blocks), ""
	return p
}

// sweep removes blocks that show nothing from index i on. It is called where
// the prompt is rewritten from there anyway.
func (st *stream) sweep(i int) {
	n := i
	for _, b := range st.blocks[i:] {
		if b.gone() {
			if b.Item >= 0 {
				st.at[b.Item] = -1
			}
			continue
		}
		if b.Item >= 0 {
			st.at[b.Item] = int32(n)
		}
		st.blocks[n] = b
		n++
	}
	st.blocks = st.blocks[:n]
	st.dirty = min(st.dirty, n)
}

// whole is the block that shows item i as it is.
func whole(s *recording.Session, i int32) Block {
	it := &s.Items[i]
	return Block{Item: i, Whole: true, Tokens: it.Tokens, Role: roleOf(it.Kind)}
}

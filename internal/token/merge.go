package token

import "math"

// noRank stands for "these two do not make a token". It is above all ranks.
const noRank = math.MaxUint32

// scanLimit is the piece length in bytes up to which a linear search for the
// next merge is faster than a heap.
const scanLimit = 128

// A node is a part of a piece while its bytes are merged, in a list ordered by
// offset. Its rank is that of the token it makes with the part behind it.
type node struct {
	next, prev int32
	rank       uint32
}

// A merger counts the tokens of a piece by byte-pair encoding. Its memory is
// used again from piece to piece; it belongs to one goroutine.
type merger struct {
	nodes []node
	heap  []uint64 // rank<<32 | offset, a binary heap with the least on top
}

// count returns the number of tokens of a piece that is not a token itself.
func (m *merger) count(piece string) int {
	m.link(piece)
	if len(piece) <= scanLimit {
		return m.scan(piece)
	}
	return m.sift(piece)
}

// link makes one part of each byte.
func (m *merger) link(piece string) {
	n := len(piece)
	if cap(m.nodes) < n {
		m.nodes = make([]node, n)
	}
	m.nodes = m.nodes[:n]
	for i := range m.nodes {
		m.nodes[i] = node{next: int32(i + 1), prev: int32(i - 1), rank: noRank}
	}
	for i := range n - 1 {
		m.nodes[i].rank, _ = rankOf(piece[i : i+2])
	}
}

// scan merges, again and again, the first pair of the lowest rank.
func (m *merger) scan(piece string) int {
	for parts := len(piece); ; parts-- {
		best, at := uint32(noRank), int32(0)
		for i := int32(0); int(i) < len(piece); i = m.nodes[i].next {
			if m.nodes[i].rank < best {
				best, at = m.nodes[i].rank, i
			}
		}
		if best == noRank {
			return parts
		}
		m.join(piece, at)
	}
}

// sift does what scan does in n log n.
func (m *merger) sift(piece string) int {
	m.heap = m.heap[:0]
	for i := range m.nodes {
		m.push(int32(i))
	}
	parts := len(piece)
	for len(m.heap) > 0 {
		top := m.pop()
		at := int32(uint32(top))
		if m.nodes[at].rank != uint32(top>>32) {
			continue // merged away, or merged since it was pushed
		}
		m.join(piece, at)
		parts--
		m.push(at)
		if before := m.nodes[at].prev; before >= 0 {
			m.push(before)
		}
	}
	return parts
}

// join merges the part at i with the one behind it and ranks its neighbours anew.
func (m *merger) join(piece string, i int32) {
	gone := m.nodes[i].next
	m.nodes[gone].rank = noRank
	after := m.nodes[gone].next
	m.nodes[i].next = after
	if int(after) < len(piece) {
		m.nodes[after].prev = i
	}
	m.rerank(piece, i)
	if before := m.nodes[i].prev; before >= 0 {
		m.rerank(piece, before)
	}
}

func (m *merger) rerank(piece string, i int32) {
	m.nodes[i].rank = noRank
	mid := m.nodes[i].next
	if int(mid) < len(piece) {
		m.nodes[i].rank, _ = rankOf(piece[i:m.nodes[mid].next])
	}
}

func (m *merger) push(i int32) {
	if m.nodes[i].rank == noRank {
		return
	}
	m.heap = append(m.heap, uint64(m.nodes[i].rank)<<32|uint64(uint32(i)))
	for c := len(m.heap) - 1; c > 0; {
		p := (c - 1) / 2
		if m.heap[p] <= m.heap[c] {
			return
		}
		m.heap[p], m.heap[c] = m.heap[c], m.heap[p]
		c = p
	}
}

func (m *merger) pop() uint64 {
	top, last := m.heap[0], len(m.heap)-1
	m.heap[0] = m.heap[last]
	m.heap = m.heap[:last]
	for p := 0; 2*p+1 < last; {
		c := 2*p + 1
		if c+1 < last && m.heap[c+1] < m.heap[c] {
			c++
		}
		if m.heap[p] <= m.heap[c] {
			break
		}
		m.heap[p], m.heap[c] = m.heap[c], m.heap[p]
		p = c
	}
	return top
}

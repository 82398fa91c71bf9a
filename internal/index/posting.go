package index

import (
	"encoding/binary"
	"errors"
	"iter"
)

// A posting says how often a term occurs in the fields of a document. Documents
// of a segment are numbered from 0. Frequencies stop at 255.
type posting struct {
	doc uint32
	tf  [fieldCount]uint8
}

// errCut is a segment whose bytes end early or make no sense.
var errCut = errors.New("segment is damaged")

// appendPosting encodes a posting behind the one of document before (-1: none):
// the distance, shifted by one; its low bit says that the term occurs once, in
// the body. Otherwise a byte with the fields that hold it and their frequencies
// follow.
func appendPosting(out []byte, before int64, p posting) []byte {
	delta := uint64(int64(p.doc)-before) << 1
	if p.tf == [fieldCount]uint8{FieldBody: 1} {
		return binary.AppendUvarint(out, delta|1)
	}
	out = binary.AppendUvarint(out, delta)
	mask := len(out)
	out = append(out, 0)
	for f, n := range p.tf {
		if n > 0 {
			out[mask] |= 1 << f
			out = append(out, n)
		}
	}
	return out
}

// nextPosting decodes one and returns the rest.
func nextPosting(in []byte, before int64) (p posting, rest []byte, err error) {
	v, in, err := cutDelta(in)
	if err != nil || v < 2 || int64(v>>1)+before > 1<<32-1 {
		return p, nil, errCut
	}
	p.doc = uint32(before + int64(v>>1))
	if v&1 == 1 {
		p.tf[FieldBody] = 1
		return p, in, nil
	}
	rest, err = p.frequencies(in)
	return p, rest, err
}

// cutDelta is binary.Uvarint with a short way for one byte.
func cutDelta(in []byte) (v uint64, rest []byte, err error) {
	if len(in) > 0 && in[0] < 0x80 {
		return uint64(in[0]), in[1:], nil
	}
	v, n := binary.Uvarint(in)
	if n <= 0 {
		return 0, nil, errCut
	}
	return v, in[n:], nil
}

// frequencies decodes which fields hold the term how often.
func (p *posting) frequencies(in []byte) (rest []byte, err error) {
	if len(in) == 0 {
		return nil, errCut
	}
	mask := in[0]
	in = in[1:]
	for f := range p.tf {
		if mask&(1<<f) == 0 {
			continue
		}
		if len(in) == 0 {
			return nil, errCut
		}
		p.tf[f], in = in[0], in[1:]
	}
	return in, nil
}

// blockDocs is the number of postings in a block of a long list. A block can be
// decoded without the ones before it, so a list is read where it is wanted.
const blockDocs = 128

// A termList is a posting list as it lies in a segment: short ones are one run of
// postings, those of more than blockDocs documents a table of blocks and then
// the blocks.
type termList struct {
	docs  int   // documents that hold the term
	off   int64 // where the bytes of a long list begin
	size  int   // their number
	table int   // how many of them are the table
	short []byte
}

// encode makes the bytes of a list. The table holds, for each block, the last
// document (as a distance) and the size.
func encode(postings []posting) (table, blocks []byte) {
	last := int64(-1)
	for len(postings) > 0 {
		n := min(blockDocs, len(postings))
		start, before := len(blocks), last
		for _, p := range postings[:n] {
			blocks = appendPosting(blocks, before, p)
			before = int64(p.doc)
		}
		table = binary.AppendUvarint(table, uint64(before-last))
		table = binary.AppendUvarint(table, uint64(len(blocks)-start))
		last, postings = before, postings[n:]
	}
	return table, blocks
}

// A block is a part of a long list.
type block struct {
	number int
	before int64 // last document of the block before it, -1 for the first
	last   int64
	off    int // from the beginning of the blocks
	size   int
}

// eachBlock decodes a table. An error is the last it yields.
func eachBlock(table []byte) iter.Seq2[block, error] {
	return func(yield func(block, error) bool) {
		b := block{number: -1, last: -1}
		for len(table) > 0 {
			docs, n := binary.Uvarint(table)
			size, m := binary.Uvarint(table[max(n, 0):])
			if n <= 0 || m <= 0 || size > 1<<24 || docs > 1<<32 {
				yield(b, errCut)
				return
			}
			b = block{number: b.number + 1, before: b.last, last: b.last + int64(docs), off: b.off + b.size, size: int(size)}
			if !yield(b, nil) {
				return
			}
			table = table[n+m:]
		}
	}
}

// eachPosting decodes a run of postings behind document before.
func eachPosting(in []byte, before int64, do func(posting)) error {
	for len(in) > 0 {
		p, rest, err := nextPosting(in, before)
		if err != nil {
			return err
		}
		do(p)
		before, in = int64(p.doc), rest
	}
	return nil
}

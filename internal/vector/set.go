package vector

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/quire-agent/quire/internal/quire"
)

// A piece is a part of a page with its vector, of length 1, in bytes.
type piece struct {
	page  quire.PageNumber
	body  uint64 // what the page held, see [bodyKey]
	scale float32
	bytes []int8
}

// bodyKey tells the bodies of a page apart.
func bodyKey(h quire.Hash) uint64 { return binary.LittleEndian.Uint64(h[:8]) }

// newPiece is a piece with a vector of any length but zero.
func newPiece(page quire.PageNumber, body quire.Hash, v []float32) piece {
	p := piece{page: page, body: bodyKey(body), bytes: make([]int8, len(v))}
	n, most := norm(v), 0.0
	for _, x := range v {
		most = max(most, math.Abs(float64(x))/n)
	}
	p.scale = float32(most / 127)
	for i, x := range v {
		p.bytes[i] = int8(math.Round(float64(x) / n / most * 127))
	}
	return p
}

// near is the cosine of the angle between a piece and a vector of length 1.
func (p *piece) near(v []float32) float64 {
	var sum float32
	for i, x := range p.bytes {
		sum += float32(x) * v[i]
	}
	return float64(sum * p.scale)
}

// A set is the pieces of a session, by page. All vectors have one length.
type set []piece

// setMark stands at the beginning of a set.
const setMark = "QV1\n"

// pieceHead is the bytes of a piece before its vector.
const pieceHead = 4 + 8 + 4

// write is the set as it is kept: the mark, the length of the vectors, the pieces.
func (s set) write() []byte {
	out := []byte(setMark)
	if len(s) == 0 {
		return binary.LittleEndian.AppendUint16(out, 0)
	}
	out = binary.LittleEndian.AppendUint16(out, uint16(len(s[0].bytes)))
	for i := range s {
		p := &s[i]
		out = binary.LittleEndian.AppendUint32(out, uint32(p.page))
		out = binary.LittleEndian.AppendUint64(out, p.body)
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(p.scale))
		for _, x := range p.bytes {
			out = append(out, byte(x))
		}
	}
	return out
}

// readSet reads what [set.write] wrote; nothing is the empty set.
func readSet(data []byte) (set, error) {
	if len(data) == 0 {
		return nil, nil
	}
	if len(data) < len(setMark)+2 || string(data[:len(setMark)]) != setMark {
		return nil, fmt.Errorf("vectors: %w", quire.ErrDamaged)
	}
	dims := int(binary.LittleEndian.Uint16(data[len(setMark):]))
	data = data[len(setMark)+2:]
	size := pieceHead + dims
	if len(data)%size != 0 || dims == 0 && len(data) > 0 {
		return nil, fmt.Errorf("vectors: %w", quire.ErrDamaged)
	}
	s := make(set, 0, len(data)/size)
	for ; len(data) > 0; data = data[size:] {
		p := piece{
			page:  quire.PageNumber(binary.LittleEndian.Uint32(data)),
			body:  binary.LittleEndian.Uint64(data[4:]),
			scale: math.Float32frombits(binary.LittleEndian.Uint32(data[12:])),
			bytes: make([]int8, dims),
		}
		for i, b := range data[pieceHead:size] {
			p.bytes[i] = int8(b)
		}
		s = append(s, p)
	}
	return s, nil
}

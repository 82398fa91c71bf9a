package shingle

import "math/bits"

// Width is the number of tokens of a shingle.
const Width = 6

// A Shingle is six consecutive tokens of a text that say enough to tell a
// quotation from a coincidence.
type Shingle struct {
	Hash  uint64 // of its tokens in their order; white space has no part in it
	Pos   int32  // position of its first token, counted in tokens from 0
	First int32  // line of its first token, from 1, in the text as given
	Last  int32  // line of its last token

	// Path says that it lies inside a path or URL: all its tokens are in one
	// run of path characters that looks like one. A path character is an ASCII
	// letter, digit or one of _/\.-~@%+:#?&=*$!^ ; what looks like a path or
	// URL is said at isPath.
	Path bool
}

// Scan calls yield with the shingles of text in their order until yield returns
// false. It does not allocate, reads text once (runs of path characters twice)
// and takes any bytes: one that is not UTF-8 is a symbol. Lines end at "\n".
// Positions and lines above 2^31 wrap around.
func Scan(text string, yield func(Shingle) bool) {
	l := newLexer(text)
	var w window
	var t token
	for l.next(&t) {
		w.push(&t)
		if w.telling() && !yield(w.shingle()) {
			return
		}
	}
}

// A window holds the last [Width] tokens. Its hash is the polynomial of their
// hashes in base, modulo 2^64, so that moving it by one token costs the same
// whatever its width.
type window struct {
	tokens [8]uint64 // a ring: Width rounded up to a power of two
	lines  [8]int32
	n      int32 // tokens seen
	run    int32 // of these, how many of the last are in one path
	sum    uint64
	long   uint8 // one bit a token, the youngest lowest
	cjk    uint8
}

// base and oldest = base^Width. base is odd, so that no token is shifted out of
// the hash before it leaves the window; its digits are those of the golden
// ratio.
const (
	base   = 0x9e3779b97f4a7c15
	square = base * base & (1<<64 - 1)
	oldest = square * square & (1<<64 - 1) * square & (1<<64 - 1)
	inside = 1<<Width - 1
)

func (w *window) push(t *token) {
	w.sum = w.sum*base + t.hash - w.tokens[(w.n-Width)&7]*oldest
	w.tokens[w.n&7], w.lines[w.n&7] = t.hash, t.line
	w.n++
	w.long, w.cjk = w.long<<1&inside, w.cjk<<1&inside
	if t.long {
		w.long |= 1
	}
	if t.cjk {
		w.cjk |= 1
	}
	switch {
	case !t.path:
		w.run = 0
	case t.head:
		w.run = 1
	default:
		w.run++
	}
}

// telling reports whether the tokens in the window are a shingle.
func (w *window) telling() bool {
	return w.n >= Width && (bits.OnesCount8(w.long) >= 2 || bits.OnesCount8(w.cjk) >= 4)
}

func (w *window) shingle() Shingle {
	first, last := (w.n-Width)&7, (w.n-1)&7
	return Shingle{
		Hash:  mix(w.sum),
		Pos:   w.n - Width,
		First: w.lines[first],
		Last:  w.lines[last],
		Path:  w.run >= Width,
	}
}

package token

import (
	"fmt"
	"hash/maphash"
	"strings"
	"sync"
	"unicode/utf8"
)

const (
	// A text under cacheFrom bytes is counted faster than it is looked up.
	cacheFrom = 128

	// generation is how many counts a generation of the cache holds: two of
	// them take about 16 MiB.
	generation = 200_000

	// maxPiece bounds the bytes that are merged at a time. Pieces of text that
	// people write are far shorter; only runs without any boundary (base64,
	// one repeated character) reach it.
	maxPiece = 8 << 10

	memoBits = 13
)

// A Counter counts o200k tokens. Any number of goroutines may use one Counter;
// one is enough for a process: what is counted twice is remembered in it.
type Counter struct {
	seed    maphash.Seed
	classes *classes
	scratch sync.Pool // of *scratch

	mu         sync.Mutex
	young, old map[uint64]count
}

// A count is a number of tokens, and how many of them stand for Chinese,
// Japanese or Korean text.
type count struct{ total, wide int32 }

// NewCounter makes a Counter. It fails where the program was built with a
// vocabulary that is cut off or was changed on the way.
func NewCounter() (*Counter, error) {
	if err := whole(packed); err != nil {
		return nil, fmt.Errorf("load o200k: %w", err)
	}
	c := &Counter{seed: maphash.MakeSeed(), classes: newClasses(), young: map[uint64]count{}}
	c.scratch.New = func() any { return &scratch{seed: c.seed} }
	return c, nil
}

// Count returns the number of o200k tokens of text, special tokens read as the
// text they are written with. It takes time in proportion to the length of the
// text, whatever the text is.
//
// The count is exact but for runs of more than 8 KiB in which o200k's pattern
// finds no boundary: they are counted in sections of that size, which changes
// the count by at most two tokens a section in all texts tried. A byte that is
// not UTF-8 counts as U+FFFD, which is what a client sends for it.
//
// Count(a)+Count(b) = Count(a+b) wherever a ends in a line feed and b begins
// neither with white space nor with '/', so a text may be counted in parts cut
// at such lines.
//
// Counts are remembered by a 64-bit hash of the text, in bounded memory.
func (c *Counter) Count(text string) int { return int(c.measure(text).total) }

func (c *Counter) measure(text string) count {
	if len(text) < cacheFrom {
		return c.count(text)
	}
	key := maphash.String(c.seed, text)
	if n, ok := c.recall(key); ok {
		return n
	}
	n := c.count(text)
	c.remember(key, n)
	return n
}

// recall looks a count up and keeps it young.
func (c *Counter) recall(key uint64) (count, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n, ok := c.young[key]; ok {
		return n, true
	}
	n, ok := c.old[key]
	if ok {
		c.put(key, n)
	}
	return n, ok
}

func (c *Counter) remember(key uint64, n count) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(key, n)
}

func (c *Counter) put(key uint64, n count) {
	if len(c.young) >= generation {
		c.old, c.young = c.young, make(map[uint64]count, generation)
	}
	c.young[key] = n
}

func (c *Counter) count(text string) count {
	s := c.scratch.Get().(*scratch)
	defer c.scratch.Put(s)
	s.valid = utf8.ValidString(text)
	var n count
	for i := 0; i < len(text); {
		end := c.classes.next(text, i)
		tokens := int32(s.count(text[i:end]))
		n.total += tokens
		if text[end-1] >= utf8.RuneSelf && wide(text[i:end]) {
			n.wide += tokens
		}
		i = end
	}
	return n
}

// wide reports whether a piece ends in a character of Chinese, Japanese or
// Korean writing, their punctuation and full-width forms included.
func wide(piece string) bool {
	r, _ := utf8.DecodeLastRuneInString(piece)
	switch {
	case r < 0x1100:
		return false
	case r < 0x1200, 0x2e80 <= r && r < 0xa4d0, 0xa960 <= r && r < 0xa980, 0xac00 <= r && r < 0xd800:
		return true
	}
	return 0xf900 <= r && r < 0xfb00 || 0xfe30 <= r && r < 0xfe50 || 0xff00 <= r && r < 0xfff0 || 0x20000 <= r && r < 0x32000
}

// A scratch is the memory of one count. The memo keeps the counts of pieces
// that are no tokens, direct-mapped by their hash: names repeat.
type scratch struct {
	seed   maphash.Seed
	merger merger
	valid  bool // the text is UTF-8
	memo   [1 << memoBits]struct {
		hash  uint64
		count int
	}
}

func (s *scratch) count(piece string) int {
	switch {
	case len(piece) == 1:
		return 1 // every byte is a token, and so is U+FFFD
	case len(piece) > maxPiece:
		return s.sections(piece)
	case !s.valid && !utf8.ValidString(piece):
		return s.count(replaceInvalid(piece))
	}
	if _, ok := rankOf(piece); ok {
		return 1
	}
	// The hash of the vocabulary is known to all: with it a text could choose
	// which other piece's count it gets.
	hash := maphash.String(s.seed, piece)
	m := &s.memo[hash>>(64-memoBits)]
	if m.hash != hash || m.count == 0 {
		m.hash, m.count = hash, s.merger.count(piece)
	}
	return m.count
}

// sections counts a very long piece in parts, cut between runes.
func (s *scratch) sections(piece string) int {
	total := 0
	for len(piece) > maxPiece {
		cut := maxPiece
		for cut > maxPiece-utf8.UTFMax && !utf8.RuneStart(piece[cut]) {
			cut--
		}
		total += s.count(piece[:cut])
		piece = piece[cut:]
	}
	return total + s.count(piece)
}

// replaceInvalid replaces each byte that is not UTF-8 by U+FFFD.
func replaceInvalid(s string) string {
	var b strings.Builder
	b.Grow(3 * len(s))
	for _, r := range s {
		b.WriteRune(r)
	}
	return b.String()
}

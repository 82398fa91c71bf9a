package token

import (
	"unicode"
	"unicode/utf8"
)

// The o200k pattern cuts a text into pieces, and byte-pair encoding never joins
// two of them. The seven alternatives of the pattern, tried in this order:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
//
// A regular-expression engine spends nearly all of the time of a count on
// them. The splitter here is written out by hand, looks at each rune at most
// twice and never backtracks further than one piece.

// A class is a set of the character classes that the pattern tells apart.
type class uint8

const (
	inHead   class = 1 << iota // \p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}
	inTail                     // \p{Ll}\p{Lm}\p{Lo}\p{M}
	isLetter                   // \p{L}
	isNumber                   // \p{N}
	isSpace                    // \s
	isBreak                    // \r \n
)

// classes holds the class of every code point.
type classes [unicode.MaxRune + 1]class

func newClasses() *classes {
	c := new(classes)
	for _, t := range []*unicode.RangeTable{unicode.Lu, unicode.Lt} {
		c.add(t, inHead|isLetter)
	}
	for _, t := range []*unicode.RangeTable{unicode.Lm, unicode.Lo} {
		c.add(t, inHead|inTail|isLetter)
	}
	c.add(unicode.Ll, inTail|isLetter)
	c.add(unicode.M, inHead|inTail)
	c.add(unicode.N, isNumber)
	c.add(unicode.White_Space, isSpace)
	c['\n'] |= isBreak
	c['\r'] |= isBreak
	return c
}

func (c *classes) add(t *unicode.RangeTable, bits class) {
	for _, r := range t.R16 {
		for x := uint32(r.Lo); x <= uint32(r.Hi); x += uint32(r.Stride) {
			c[x] |= bits
		}
	}
	for _, r := range t.R32 {
		for x := r.Lo; x <= r.Hi; x += r.Stride {
			c[x] |= bits
		}
	}
}

// at returns the class and the width of the rune at i, or no class and width
// zero at the end. A byte that is not UTF-8 has the class of U+FFFD.
func (c *classes) at(s string, i int) (class, int) {
	if i >= len(s) {
		return 0, 0
	}
	if b := s[i]; b < utf8.RuneSelf {
		return c[b], 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	return c[r], n
}

// next returns the end of the piece that begins at i < len(s).
func (c *classes) next(s string, i int) int {
	first, width := c.at(s, i)
	if end, ok := c.word(s, i, first, width); ok {
		return contraction(s, end)
	}
	switch {
	case first&isNumber != 0:
		return c.number(s, i+width)
	case first&isSpace == 0:
		return c.symbols(s, i)
	case s[i] == ' ':
		if k, n := c.at(s, i+1); n > 0 && k&(isSpace|isLetter|isNumber) == 0 {
			return c.symbols(s, i+1)
		}
	}
	return c.space(s, i)
}

// word matches the first two alternatives without their last group.
func (c *classes) word(s string, i int, first class, width int) (int, bool) {
	start := i
	if first&(isLetter|isNumber|isBreak) == 0 {
		start += width
	}
	head, tail := c.head(s, start)
	if k, _ := c.at(s, head); k&inTail != 0 {
		return c.run(s, head, inTail), true
	}
	switch {
	case tail > start:
		return tail, true
	case start > i && first&inHead != 0:
		return start, true // a combining mark that leads no letter is a word of its own
	}
	return head, head > start
}

// head returns the end of the run of head characters that begins at i, and the
// end of the last of them that is a tail character too (i if there is none).
func (c *classes) head(s string, i int) (end, tail int) {
	tail = i
	for {
		k, n := c.at(s, i)
		if k&inHead == 0 {
			return i, tail
		}
		i += n
		if k&inTail != 0 {
			tail = i
		}
	}
}

// run returns the end of the run of characters with any of bits that begins at i.
func (c *classes) run(s string, i int, bits class) int {
	for {
		k, n := c.at(s, i)
		if k&bits == 0 {
			return i
		}
		i += n
	}
}

// number ends a run of at most three numbers, the first of which ends at i.
func (c *classes) number(s string, i int) int {
	for range 2 {
		k, n := c.at(s, i)
		if k&isNumber == 0 {
			return i
		}
		i += n
	}
	return i
}

// symbols ends a run of characters that are neither space nor letter nor
// number, with the line breaks and slashes after it.
func (c *classes) symbols(s string, i int) int {
	for {
		k, n := c.at(s, i)
		if n == 0 || k&(isSpace|isLetter|isNumber) != 0 {
			break
		}
		i += n
	}
	for i < len(s) && (s[i] == '\n' || s[i] == '\r' || s[i] == '/') {
		i++
	}
	return i
}

// space matches the last three alternatives: up to the last line break of the
// run of space; without one, all of it but the last space, which belongs to
// the word behind it.
func (c *classes) space(s string, i int) int {
	start, last, broken := i, i, 0
	for {
		k, n := c.at(s, i)
		if k&isSpace == 0 {
			break
		}
		last = i
		i += n
		if k&isBreak != 0 {
			broken = i
		}
	}
	switch {
	case broken > 0:
		return broken
	case i == len(s) || last == start:
		return i
	}
	return last
}

// contraction returns the end of an English contraction that begins at i, or i.
func contraction(s string, i int) int {
	if i+1 >= len(s) || s[i] != '\'' {
		return i
	}
	switch s[i+1] | 0x20 {
	case 's', 't', 'm', 'd':
		return i + 2
	case 'r', 'v':
		if i+2 < len(s) && s[i+2]|0x20 == 'e' {
			return i + 3
		}
	case 'l':
		if i+2 < len(s) && s[i+2]|0x20 == 'l' {
			return i + 3
		}
	}
	if r, n := utf8.DecodeRuneInString(s[i+1:]); r == 'ſ' { // folds to s
		return i + 1 + n
	}
	return i
}

package retrieve

import (
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/term"
)

// A sieve tells the words of an ASCII text that may hold a term of the query from
// those that cannot, by a few bytes in a row, so that only the former are made
// into terms. A term begins with the same bytes as the word it was made of, in
// lower case: all but the third of a term of three letters, which an ending may
// have changed.
type sieve struct {
	fold  [utf8.RuneSelf]byte // in lower case; 0 for what stands in no word or compound
	one   [utf8.RuneSelf]bool // first bytes of terms of one
	two   [1 << 10]bool       // hashes of the first two bytes of terms of two and three
	three [1 << 12]bool       // hashes of the first three bytes of longer ones
}

func newSieve() *sieve {
	s := &sieve{}
	for b := range byte(utf8.RuneSelf) {
		switch {
		case 'A' <= b && b <= 'Z':
			s.fold[b] = b + 'a' - 'A'
		case 'a' <= b && b <= 'z', '-' <= b && b <= ':', b == '_': // - . / digits :
			s.fold[b] = b
		}
	}
	return s
}

func hashTwo(a, b byte) uint32      { return (uint32(a)*31 + uint32(b)) & (1<<10 - 1) }
func hashThree(a, b, c byte) uint32 { return ((uint32(a)*31+uint32(b))*31 + uint32(c)) & (1<<12 - 1) }

// add lets a term through.
func (s *sieve) add(text string) {
	switch {
	case len(text) > 3:
		s.three[hashThree(text[0], text[1], text[2])] = true
	case len(text) > 1:
		s.two[hashTwo(text[0], text[1])] = true
	case text != "" && text[0] < utf8.RuneSelf:
		s.one[text[0]] = true
	}
}

// scan is term.Scan, without those terms that cannot be one that was added.
func (s *sieve) scan(text string, yield func(word []byte, kind term.Kind)) {
	for i := 0; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf {
			term.Scan(text, yield)
			return
		}
	}
	start, found := 0, false
	var a, b byte
	for i := 0; i < len(text); i++ {
		c := s.fold[text[i]&(utf8.RuneSelf-1)]
		if c != 0 {
			found = found || s.three[hashThree(a, b, c)] || s.two[hashTwo(b, c)] || s.one[c]
			a, b = b, c
			continue
		}
		if found {
			term.Scan(text[start:i], yield)
		}
		start, found = i+1, false
	}
	if found {
		term.Scan(text[start:], yield)
	}
}

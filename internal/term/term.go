package term

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A Kind says how a term was made of a text.
type Kind uint8

// The kinds of terms.
const (
	Word   Kind = iota // a word, number, code or hash that has no parts
	Whole              // an identifier, path or dotted name that has parts
	Part               // a part of one
	Single             // one CJK character
	Pair               // two CJK characters that follow each other
)

// MaxLength is the length of the longest term in bytes. Longer words are not
// terms: nobody searches for them, and encoded data is full of them. The parts
// of a long compound are.
const MaxLength = 128

// Scan yields the terms of a text in order, each as often as it occurs, in lower
// case and Unicode form NFKC. A term is valid until yield returns.
//
// Words are runs of letters, digits and underscores. Words joined by single
// dots, slashes, hyphens or by double colons are one compound: the whole is a
// term, so are the last two elements of a path, its last element, each element,
// and of each element the parts at dots and hyphens, at underscores and where
// camel case changes. Letters and digits next to each other are not parted, so
// that codes and hashes stay whole. CJK text, which has no spaces, gives each
// character and each pair. Single ASCII letters are no terms.
//
// Of words of the letters a to z the commonest English endings are taken off
// (see stem): of 240 written English questions that finds the page among the
// first five for 240 instead of 225, and costs nothing on recorded sessions.
func Scan(text string, yield func(term []byte, kind Kind)) {
	s := scanner{yield: yield}
	s.scan(text)
}

// A scanner makes terms; it can be used again for one text after the other.
type scanner struct {
	yield func(term []byte, kind Kind)
	low   []byte // the term that is being yielded
}

func (s *scanner) scan(text string) {
	if !ascii(text) {
		text = norm.NFKC.String(text)
	}
	for i := 0; i < len(text); {
		r, n := decode(text, i)
		switch {
		case cjk(r):
			i = s.ideographs(text, i)
		case inWord(r):
			end := compoundEnd(text, i)
			s.compound(text[i:end])
			i = end
		default:
			i += n
		}
	}
}

func ascii(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func decode(text string, i int) (rune, int) {
	if b := text[i]; b < utf8.RuneSelf {
		return rune(b), 1
	}
	return utf8.DecodeRuneInString(text[i:])
}

func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_'
	}
	if r == utf8.RuneError || cjk(r) {
		return false
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r)
}

// cjk holds the scripts that are written without spaces, and Hangul, whose words
// carry endings that only pairs of characters see through.
func cjk(r rune) bool {
	switch {
	case r < 0x2E80:
		return false
	case r <= 0x9FFF: // radicals, kana, bopomofo, ideographs
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo) || r == 'ー'
	default:
		return unicode.In(r, unicode.Han, unicode.Hangul, unicode.Katakana)
	}
}

// CJK reports whether a text begins with a character of the scripts that are
// written without spaces.
func CJK(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return cjk(r)
}

// WordEnd is where the word that holds position i ends.
func WordEnd(text string, i int) int {
	for i < len(text) {
		r, n := decode(text, i)
		if !inWord(r) {
			break
		}
		i += n
	}
	return i
}

// compoundEnd is where the compound that begins at i ends.
func compoundEnd(text string, i int) int {
	end := WordEnd(text, i)
	for {
		n := joiner(text, end)
		if n == 0 {
			return end
		}
		next := WordEnd(text, end+n)
		if next == end+n {
			return end
		}
		end = next
	}
}

// joiner is the length of what joins words at i, 0 for nothing.
func joiner(text string, i int) int {
	if i+1 >= len(text) {
		return 0
	}
	switch text[i] {
	case '.', '/', '-':
		return 1
	case ':':
		if text[i+1] == ':' {
			return 2
		}
	}
	return 0
}

// compound yields a compound and what it is made of.
func (s *scanner) compound(text string) {
	slash, inner := lastBytes(text, '/', len(text))
	if !inner {
		s.element(text, false)
		return
	}
	s.emit(text, Whole)
	if second, more := lastBytes(text, '/', slash); more {
		s.emit(text[second+1:], Part)
	}
	for start := 0; start < len(text); {
		end := start
		for end < len(text) && text[end] != '/' {
			end++
		}
		s.element(text[start:end], true)
		start = end + 1
	}
}

// lastBytes finds the last b before end.
func lastBytes(text string, b byte, end int) (at int, ok bool) {
	for end--; end >= 0; end-- {
		if text[end] == b {
			return end, true
		}
	}
	return 0, false
}

// element yields one element of a path, or a compound without slashes, and its
// parts.
func (s *scanner) element(text string, part bool) {
	end := WordEnd(text, 0)
	if end == len(text) {
		s.word(text, part)
		return
	}
	s.whole(text, part)
	for i := 0; i < len(text); {
		end := WordEnd(text, i)
		if end > i {
			s.word(text[i:end], true)
		}
		i = max(end, i) + 1
	}
}

func (s *scanner) whole(text string, part bool) {
	if part {
		s.emit(text, Part)
	} else {
		s.emit(text, Whole)
	}
}

// word yields a word and, if it is a compound identifier, its parts.
func (s *scanner) word(text string, part bool) {
	end := partEnd(text, 0)
	if end == len(text) {
		kind := Word
		if part {
			kind = Part
		}
		s.emit(text, kind)
		return
	}
	s.whole(text, part)
	for i := 0; i < len(text); {
		end := partEnd(text, i)
		if text[i] != '_' {
			s.emit(text[i:end], Part)
		}
		i = end
	}
}

// partEnd is where the part of an identifier that begins at i ends: before an
// underscore, before a capital that follows a small letter or digit, and before
// the last capital of several if a small letter follows. Underscores are a part
// of their own.
func partEnd(text string, i int) int {
	first, n := decode(text, i)
	j := i + n
	if first == '_' {
		for j < len(text) && text[j] == '_' {
			j++
		}
		return j
	}
	for before := first; j < len(text); {
		r, n := decode(text, j)
		if r == '_' || upper(r) && (!upper(before) || smallAt(text, j+n)) {
			return j
		}
		before, j = r, j+n
	}
	return j
}

func upper(r rune) bool {
	if r < utf8.RuneSelf {
		return 'A' <= r && r <= 'Z'
	}
	return unicode.IsUpper(r)
}

func smallAt(text string, i int) bool {
	if i >= len(text) {
		return false
	}
	r, _ := decode(text, i)
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z'
	}
	return unicode.IsLower(r)
}

// emit yields a term in lower case.
func (s *scanner) emit(text string, kind Kind) {
	if len(text) > MaxLength || len(text) == 1 && text[0] > '9' {
		return
	}
	s.low = s.low[:0]
	for i := 0; i < len(text); {
		b := text[i]
		if b >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(text[i:])
			s.low = utf8.AppendRune(s.low, unicode.ToLower(r))
			i += n
			continue
		}
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		s.low = append(s.low, b)
		i++
	}
	if len(s.low) <= MaxLength {
		s.yield(stem(s.low), kind)
	}
}

// ideographs yields the characters and pairs of a run of CJK text and returns
// where it ends.
func (s *scanner) ideographs(text string, i int) int {
	before := -1
	for i < len(text) {
		r, n := decode(text, i)
		if !cjk(r) {
			break
		}
		s.emit(text[i:i+n], Single)
		if before >= 0 {
			s.emit(text[before:i+n], Pair)
		}
		before, i = i, i+n
	}
	return i
}

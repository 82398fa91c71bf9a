package shingle

import (
	"unicode"
	"unicode/utf8"
)

// A token is one token of a text.
type token struct {
	hash uint64
	line int32
	long bool // four or more characters
	cjk  bool
	path bool // in a run that looks like a path or URL
	head bool // the first token of that run
}

// A lexer reads the tokens of a text from front to back. It never fails: a byte
// that is not UTF-8 is a symbol.
type lexer struct {
	text string
	at   int
	line int32
	run  int  // end of the run of path characters judged last
	path bool // whether that run looks like a path or URL
}

func newLexer(text string) lexer {
	return lexer{text: text, at: numbering(text, 0), line: 1}
}

// next reads a token into t and reports whether there was one. Which characters
// a run is made of says the table; runs are judged once, at their first token.
func (l *lexer) next(t *token) bool {
	if !l.space() {
		return false
	}
	*t = token{line: l.line}
	if l.at >= l.run && pathByte(l.text[l.at]) {
		l.run = pathEnd(l.text, l.at)
		l.path = isPath(l.text[l.at:l.run])
		t.head = true
	}
	t.path = l.path && l.at < l.run
	switch k := kinds[l.text[l.at]]; {
	case k == wide:
		l.rune(t)
	case k&word != 0:
		l.word(t, basis)
	default:
		t.hash = step(basis, l.text[l.at])
		l.at++
	}
	t.hash = mix(t.hash)
	return true
}

// space moves to the next token, over white space and line numbers, and reports
// whether there is one.
func (l *lexer) space() bool {
	for l.at < len(l.text) {
		c := l.text[l.at]
		switch {
		case c == '\n':
			l.line++
			l.at = numbering(l.text, l.at+1)
		case kinds[c] == blank:
			l.at++
		case kinds[c] == wide:
			r, n := utf8.DecodeRuneInString(l.text[l.at:])
			if !isSpace(r) {
				return true
			}
			l.at += n
		default:
			return true
		}
	}
	return false
}

// word reads the rest of an identifier or number whose beginning has hash h and
// none of whose characters is counted yet.
func (l *lexer) word(t *token, h uint64) {
	n := 0
	if h != basis {
		n = 1
	}
	for l.at < len(l.text) {
		c := l.text[l.at]
		if kinds[c]&word != 0 {
			h = step(h, c)
			l.at++
		} else if kinds[c] != wide {
			break
		} else if r, size := utf8.DecodeRuneInString(l.text[l.at:]); inWord(r) {
			h = l.bytes(h, size)
		} else {
			break
		}
		n++
	}
	t.hash, t.long = h, n >= 4
}

// rune reads a token that begins outside ASCII.
func (l *lexer) rune(t *token) {
	r, size := utf8.DecodeRuneInString(l.text[l.at:])
	h := l.bytes(basis, size)
	switch {
	case isCJK(r):
		t.hash, t.cjk = h, true
	case inWord(r):
		l.word(t, h)
	default:
		t.hash = h
	}
}

// bytes hashes the next n bytes and moves over them.
func (l *lexer) bytes(h uint64, n int) uint64 {
	for range n {
		h = step(h, l.text[l.at])
		l.at++
	}
	return h
}

// numbering returns where the text of a line begins that starts at offset i:
// behind its line number, if it has one. Numbers are taken off as long as there
// are any, so that a numbered text and the same text numbered again are equal.
func numbering(text string, i int) int {
	for {
		n := numberEnd(text, i)
		if n == i {
			return i
		}
		i = n
	}
}

// numberEnd returns the end of a line number at offset i, or i.
func numberEnd(text string, i int) int {
	j := i
	for j < len(text) && text[j] == ' ' {
		j++
	}
	digits := j
	for j < len(text) && '0' <= text[j] && text[j] <= '9' {
		j++
	}
	switch rest := text[j:]; {
	case j == digits:
		return i
	case len(rest) > 0 && rest[0] == '\t':
		return j + 1
	case len(rest) > 1 && rest[:2] == ": ":
		return j + 2
	case len(rest) > 2 && rest[:3] == "→":
		return j + 3
	}
	return i
}

// inWord reports whether a character outside ASCII may stand in an identifier
// or number. A CJK character is always a token of its own.
func inWord(r rune) bool {
	if 0x2000 <= r && r < 0x2c00 || r == utf8.RuneError {
		return r == 0x2071 || r == 0x207f || 0x2090 <= r && unicode.IsLetter(r)
	}
	return (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)) && !isCJK(r)
}

// isCJK reports whether r is a character of Chinese, Japanese or Korean writing.
func isCJK(r rune) bool {
	switch {
	case r < 0x1100 || 0x2000 <= r && r < 0x2e80:
		return false
	case 0x4e00 <= r && r <= 0x9fff || 0xac00 <= r && r <= 0xd7a3:
		return true
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo)
}

// isSpace reports whether r separates tokens. A byte order mark does: some
// tools keep it and some drop it.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }

// The kinds of bytes.
const (
	blank = 1 << iota // ASCII white space
	word              // ASCII letters, digits, _
	run               // ASCII characters that may stand in a path or URL
	wide              // begins a character outside ASCII, or is not UTF-8
)

// kinds says what each byte is. It is never written to.
var kinds = byteKinds()

func byteKinds() (k [256]uint8) {
	for c := range k {
		switch b := byte(c); {
		case b >= utf8.RuneSelf:
			k[c] = wide
		case b == ' ' || '\t' <= b && b <= '\r':
			k[c] = blank
		case b == '_' || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z':
			k[c] = word | run
		}
	}
	for _, c := range []byte(`/\.-~@%+:#?&=*$!^`) {
		k[c] = run
	}
	return k
}

// A token is hashed by FNV-1a, the fastest for the few bytes that it has, and
// then mixed.
const (
	basis = 14695981039346656037
	prime = 1099511628211
)

func step(h uint64, c byte) uint64 { return (h ^ uint64(c)) * prime }

// mix spreads all bits of h over all bits of the result: the finaliser of
// MurmurHash3.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

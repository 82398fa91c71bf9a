package rawjson

import (
	"encoding/binary"
	"math/bits"
)

// MaxDepth is how deep values may be nested, as in encoding/json.
const MaxDepth = 10_000

// A Span is the bytes from From up to To of what was scanned.
type Span struct{ From, To int }

// Of is the bytes of a span.
func (s Span) Of(b []byte) []byte { return b[s.From:s.To:s.To] }

// A Place is a member of an object by where it stands. Elements are those of its
// value where that is an array, and none where there are more than a scanner keeps.
type Place struct {
	Name, Value Span // Name with its quotes
	Elements    []Span
}

// MaxPlaces is how many members and elements a scanner keeps. An outline with more of
// them is cut off: see [Scanner.Outline].
const MaxPlaces = 1 << 18

// A Scanner checks JSON that comes in pieces, and notes where the members of the
// outermost object stand, each byte being looked at once. It takes exactly what
// [json.Valid] takes. The zero Scanner is ready; it is not safe for concurrent use.
type Scanner struct {
	stack  []byte // the brackets that are open
	state  scanState
	word   string // rest of a literal
	at     int    // bytes before the piece at hand
	name   bool   // the string at hand is a name
	list   []Place
	places int
}

type scanState uint8

// What comes next, or what stands open.
const (
	scanValue scanState = iota
	scanFirst           // a value or ]
	scanEmpty           // a name or }
	scanName
	scanColon
	scanBehind // a comma or a closing bracket
	scanString
	scanEscape
	scanHex4
	scanHex3
	scanHex2
	scanHex1
	scanLiteral
	scanMinus
	scanZero
	scanDigits
	scanPoint
	scanFraction
	scanExponent
	scanSign
	scanPower
	scanDone
	scanBroken
)

// Write takes the next piece. It fails with [ErrSyntax] at the first byte that cannot
// stand there, and from then on always.
func (s *Scanner) Write(p []byte) (int, error) {
	for i := 0; i < len(p); {
		switch s.state {
		case scanString:
			i = s.text(p, i)
		case scanBroken:
			return i, ErrSyntax
		default:
			i += s.take(p[i], s.at+i)
		}
	}
	s.at += len(p)
	if s.state == scanBroken {
		return len(p), ErrSyntax
	}
	return len(p), nil
}

// text goes on in a string, to its end or to that of the piece.
func (s *Scanner) text(p []byte, i int) int {
	for {
		i = plain(p, i)
		switch {
		case i == len(p):
			return i
		case p[i] == '"':
			s.quoted(s.at + i + 1)
			return i + 1
		case p[i] != '\\':
			s.state = scanBroken
			return i
		case i+1 < len(p) && simple(p[i+1]):
			i += 2
		default:
			s.state = scanEscape
			return i + 1
		}
	}
}

// plain is the first position from at on of a byte that is special in a string. It
// looks at eight at a time: of the bytes that a subtraction borrows from only those
// behind the first special one can be taken for special too.
func plain(p []byte, at int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; at+8 <= len(p); at += 8 {
		x := binary.LittleEndian.Uint64(p[at:])
		quote, back := x^(ones*'"'), x^(ones*'\\')
		hit := ((x-ones*' ') & ^x | (quote-ones) & ^quote | (back-ones) & ^back) & tops
		if hit != 0 {
			return at + bits.TrailingZeros64(hit)/8
		}
	}
	for at < len(p) && p[at] >= ' ' && p[at] != '"' && p[at] != '\\' {
		at++
	}
	return at
}

func simple(c byte) bool {
	switch c {
	case 'n', '"', '\\', 't', 'r', '/', 'b', 'f':
		return true
	}
	return false
}

// quoted ends a string before a position.
func (s *Scanner) quoted(end int) {
	if !s.name {
		s.ended(end)
		return
	}
	s.name, s.state = false, scanColon
	if n := len(s.list); len(s.stack) == 1 && n > 0 {
		s.list[n-1].Name.To = end
	}
}

// take takes a byte that is not inside a string, and says whether it was used up.
func (s *Scanner) take(c byte, at int) int {
	space := c == ' ' || c == '\n' || c == '\t' || c == '\r'
	if space && (s.state <= scanBehind || s.state == scanDone) {
		return 1
	}
	switch {
	case s.state >= scanMinus && s.state <= scanPower:
		return s.number(c, at)
	case s.state >= scanEscape && s.state <= scanLiteral:
		s.inside(c, at)
	default:
		s.between(c, at)
	}
	return 1
}

// between takes a byte between values.
func (s *Scanner) between(c byte, at int) {
	switch {
	case s.state == scanFirst && c == ']', s.state == scanEmpty && c == '}':
		s.close(at + 1)
	case s.state == scanValue, s.state == scanFirst:
		s.began(at)
		s.value(c)
	case (s.state == scanEmpty || s.state == scanName) && c == '"':
		s.state, s.name = scanString, true
		if len(s.stack) == 1 {
			s.keep(Place{Name: Span{at, at}})
		}
	case s.state == scanColon && c == ':':
		s.state = scanValue
	case s.state == scanBehind:
		s.behind(c, at)
	default:
		s.state = scanBroken
	}
}

// behind takes what follows a value inside of brackets.
func (s *Scanner) behind(c byte, at int) {
	open := s.stack[len(s.stack)-1]
	switch {
	case c == ',' && open == '{':
		s.state = scanName
	case c == ',':
		s.state = scanValue
	case c == '}' && open == '{', c == ']' && open == '[':
		s.close(at + 1)
	default:
		s.state = scanBroken
	}
}

// value begins a value.
func (s *Scanner) value(c byte) {
	switch {
	case c == '"':
		s.state = scanString
	case c == '{':
		s.open(c, scanEmpty)
	case c == '[':
		s.open(c, scanFirst)
	case c == '-':
		s.state = scanMinus
	case c == '0':
		s.state = scanZero
	case c >= '1' && c <= '9':
		s.state = scanDigits
	default:
		s.literal(c)
	}
}

func (s *Scanner) literal(c byte) {
	s.state = scanLiteral
	switch c {
	case 't':
		s.word = "rue"
	case 'f':
		s.word = "alse"
	case 'n':
		s.word = "ull"
	default:
		s.state = scanBroken
	}
}

func (s *Scanner) open(c byte, next scanState) {
	s.stack, s.state = append(s.stack, c), next
	if len(s.stack) > MaxDepth {
		s.state = scanBroken
	}
}

func (s *Scanner) close(end int) {
	s.stack = s.stack[:len(s.stack)-1]
	s.ended(end)
}

// inside takes a byte of an escape or of a literal.
func (s *Scanner) inside(c byte, at int) {
	switch {
	case s.state == scanLiteral && c == s.word[0]:
		if s.word = s.word[1:]; s.word == "" {
			s.ended(at + 1)
		}
	case s.state == scanEscape && simple(c), s.state == scanHex1 && hex(c):
		s.state = scanString
	case s.state == scanEscape && c == 'u':
		s.state = scanHex4
	case s.state >= scanHex4 && s.state < scanHex1 && hex(c):
		s.state++
	default:
		s.state = scanBroken
	}
}

func hex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// number takes a byte of a number, or what follows it, which is looked at again.
func (s *Scanner) number(c byte, at int) int {
	next, more := s.digit(c)
	switch {
	case more:
		s.state = next
		return 1
	case s.whole():
		s.ended(at)
		return 0
	}
	s.state = scanBroken
	return 1
}

// digit is the state behind a byte of a number, if it may go on with it.
func (s *Scanner) digit(c byte) (next scanState, more bool) {
	figure := c >= '0' && c <= '9'
	switch s.state {
	case scanMinus:
		if c == '0' {
			return scanZero, true
		}
		return scanDigits, figure
	case scanDigits:
		if figure {
			return scanDigits, true
		}
		return fraction(c)
	case scanZero:
		return fraction(c)
	case scanPoint:
		return scanFraction, figure
	case scanFraction:
		if figure {
			return scanFraction, true
		}
		return scanExponent, c == 'e' || c == 'E'
	case scanExponent:
		if c == '+' || c == '-' {
			return scanSign, true
		}
	}
	return scanPower, figure
}

// fraction is the state behind whole digits.
func fraction(c byte) (next scanState, more bool) {
	if c == '.' {
		return scanPoint, true
	}
	return scanExponent, c == 'e' || c == 'E'
}

// whole reports whether a number may end here.
func (s *Scanner) whole() bool {
	return s.state == scanZero || s.state == scanDigits || s.state == scanFraction || s.state == scanPower
}

// began notes where a value begins, if it is one of those that are noted.
func (s *Scanner) began(at int) {
	n := len(s.list)
	switch {
	case n == 0 || s.stack[0] != '{':
	case len(s.stack) == 1:
		s.list[n-1].Value = Span{at, at}
	case len(s.stack) == 2 && s.stack[1] == '[' && s.places < MaxPlaces:
		s.places++
		s.list[n-1].Elements = append(s.list[n-1].Elements, Span{at, at})
	}
}

// ended ends a value before a position.
func (s *Scanner) ended(end int) {
	if s.state = scanBehind; len(s.stack) == 0 {
		s.state = scanDone
		return
	}
	n := len(s.list)
	switch {
	case n == 0 || s.stack[0] != '{':
	case len(s.stack) == 1:
		s.list[n-1].Value.To = end
	case len(s.stack) == 2 && s.stack[1] == '[' && s.places < MaxPlaces:
		e := s.list[n-1].Elements
		e[len(e)-1].To = end
	}
}

func (s *Scanner) keep(p Place) {
	if s.places++; s.places <= MaxPlaces {
		s.list = append(s.list, p)
	}
}

// Outline is the members of the outermost object, in their order, once all of it came;
// none of another value. It fails with [ErrSyntax] where what came is not one value,
// and with [ErrLong] where there are more members and elements than are kept.
func (s *Scanner) Outline() ([]Place, error) {
	switch {
	case s.state != scanDone && (len(s.stack) > 0 || !s.whole()):
		return nil, ErrSyntax
	case s.places >= MaxPlaces:
		return nil, ErrLong
	}
	return s.list, nil
}

// Valid reports whether b is one JSON value, as [json.Valid] does.
func Valid(b []byte) bool {
	var s Scanner
	s.places = MaxPlaces
	_, err := s.Write(b)
	return err == nil && (s.state == scanDone || len(s.stack) == 0 && s.whole())
}

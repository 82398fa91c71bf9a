package journal

import (
	"bytes"
	"encoding/json"
	"iter"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/quire"
)

// literals yields where the string literals of a line of valid JSON stand, with
// their quotes.
func literals(line []byte) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for at := 0; ; {
			i := bytes.IndexByte(line[at:], '"')
			if i < 0 {
				return
			}
			start := at + i
			at = literalEnd(line, start)
			if !yield(start, at) {
				return
			}
		}
	}
}

// literalEnd is where the literal that starts at a quote ends.
func literalEnd(line []byte, start int) int {
	for i := start + 1; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(line)
}

// hashes lists what in a record may name a body, each once, in order: every
// string that is a hash, so that records and fields that this program does not
// know are among them.
func hashes(line []byte) []quire.Hash {
	var list []quire.Hash
	seen := map[quire.Hash]bool{}
	for start, end := range literals(line) {
		if end-start != 2*len(quire.Hash{})+2 {
			continue
		}
		h, err := quire.ParseHash(string(line[start+1 : end-1]))
		if err == nil && !seen[h] {
			seen[h] = true
			list = append(list, h)
		}
	}
	return list
}

// maskLine runs the strings of a line of valid JSON through a function, except
// the names of bodies.
func maskLine(line []byte, mask func(string) string, bodies map[quire.Hash]bool) []byte {
	var out []byte
	done := 0
	for start, end := range literals(line) {
		masked, changed := maskLiteral(line[start:end], mask, bodies)
		if changed {
			out = append(append(out, line[done:start]...), masked...)
			done = end
		}
	}
	return append(out, line[done:]...)
}

// maskRecord masks a line of a journal, and gives it the checksum that fits. A
// line whose own did not fit does not get one.
func maskRecord(line []byte, mask func(string) string, bodies map[quire.Hash]bool) []byte {
	masked := maskLine(line, mask, bodies)
	var e envelope
	if err := json.Unmarshal(line, &e); err != nil || checkSum(line, e.V, e.Sum) != nil {
		return masked
	}
	return resum(masked, e.Sum)
}

func maskLiteral(literal []byte, mask func(string) string, bodies map[quire.Hash]bool) (masked []byte, changed bool) {
	text := unquote(literal)
	if h, err := quire.ParseHash(text); err == nil && bodies[h] {
		return nil, false
	}
	after := mask(text)
	return quote(after), after != text
}

// unquote decodes a string literal of valid JSON.
func unquote(literal []byte) string {
	if bytes.IndexByte(literal, '\\') < 0 && utf8.Valid(literal) {
		return string(literal[1 : len(literal)-1])
	}
	var text string
	_ = json.Unmarshal(literal, &text) // it is valid
	return text
}

// quote encodes a string as JSON.
func quote(text string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string always encodes, and a Buffer takes everything
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

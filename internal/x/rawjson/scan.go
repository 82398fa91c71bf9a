package rawjson

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/quire"
)

// IsObject reports whether a value is an object.
func IsObject(raw []byte) bool { return first(raw) == '{' }

// IsArray reports whether a value is an array.
func IsArray(raw []byte) bool { return first(raw) == '[' }

// IsString reports whether a value is a string.
func IsString(raw []byte) bool { return first(raw) == '"' }

func first(raw []byte) byte {
	if at := space(raw, 0); at < len(raw) {
		return raw[at]
	}
	return 0
}

// Members are the members of an object in their order; none of anything else.
// Values alias raw and have no space around them.
func Members(raw []byte) []quire.Field {
	if !IsObject(raw) {
		return nil
	}
	list := make([]quire.Field, 0, 6)
	for at := space(raw, space(raw, 0)+1); raw[at] != '}'; at = next(raw, at) {
		end := valueEnd(raw, at)
		name, _ := TextOf(raw[at:end])
		at = space(raw, space(raw, end)+1)
		end = valueEnd(raw, at)
		list = append(list, quire.Field{Name: name, Value: raw[at:end:end]})
		at = end
	}
	return list
}

// Elements are the elements of an array in their order; none of anything else.
// They alias raw and have no space around them.
func Elements(raw []byte) []json.RawMessage {
	if !IsArray(raw) {
		return nil
	}
	var list []json.RawMessage
	for at := space(raw, space(raw, 0)+1); raw[at] != ']'; at = next(raw, at) {
		end := valueEnd(raw, at)
		list = append(list, raw[at:end:end])
		at = end
	}
	return list
}

// next goes from the end of a value to the next one, or to the closing bracket.
func next(raw []byte, at int) int {
	at = space(raw, at)
	if raw[at] == ',' {
		at = space(raw, at+1)
	}
	return at
}

// TextOf is the decoded text of a string, "" for anything else. It is exact
// unless the string cannot be written back: one with half a surrogate pair or
// with bytes that are not UTF-8, in whose place U+FFFD then stands.
func TextOf(raw []byte) (text string, exact bool) {
	if !IsString(raw) {
		return "", false
	}
	raw = bytes.Trim(raw, " \t\r\n")
	inside := raw[1 : len(raw)-1]
	if !utf8.Valid(inside) {
		text, _ = unescaped(inside)
		return strings.ToValidUTF8(text, "\ufffd"), false
	}
	return unescaped(inside)
}

// unescaped is the inside of a string with its escapes decoded. Half a surrogate
// pair becomes U+FFFD and is not exact.
func unescaped(inside []byte) (text string, exact bool) {
	at := bytes.IndexByte(inside, '\\')
	if at < 0 {
		return string(inside), true
	}
	var b strings.Builder
	b.Grow(len(inside))
	exact = true
	for at >= 0 {
		b.Write(inside[:at])
		r, size, whole := unescape(inside[at:])
		exact = exact && whole
		writeRune(&b, r)
		inside = inside[at+size:]
		at = bytes.IndexByte(inside, '\\')
	}
	b.Write(inside)
	return b.String(), exact
}

func writeRune(b *strings.Builder, r rune) {
	if r < utf8.RuneSelf {
		b.WriteByte(byte(r))
		return
	}
	b.WriteRune(r)
}

// unescape decodes the escape at the beginning of s. It is not whole when it is
// half a surrogate pair.
func unescape(s []byte) (r rune, size int, whole bool) {
	switch s[1] {
	case 'n':
		return '\n', 2, true
	case 't':
		return '\t', 2, true
	case 'r':
		return '\r', 2, true
	case 'b':
		return '\b', 2, true
	case 'f':
		return '\f', 2, true
	case 'u':
		return unescapeUnit(s)
	}
	return rune(s[1]), 2, true
}

// unescapeUnit is unescape for the form with four digits, or twice that.
func unescapeUnit(s []byte) (r rune, size int, whole bool) {
	r = unit(s)
	if !utf16.IsSurrogate(r) {
		return r, 6, true
	}
	if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		if pair := utf16.DecodeRune(r, unit(s[6:])); pair != utf8.RuneError {
			return pair, 12, true
		}
	}
	return utf8.RuneError, 6, false
}

// unit is the number that the four digits behind \u write.
func unit(s []byte) rune {
	n, _ := strconv.ParseUint(string(s[2:6]), 16, 16) // valid JSON has four digits
	return rune(n)
}

// space is the first position from at on that is not white space.
func space(raw []byte, at int) int {
	for at < len(raw) && (raw[at] == ' ' || raw[at] == '\n' || raw[at] == '\t' || raw[at] == '\r') {
		at++
	}
	return at
}

// valueEnd is the position behind the value that begins at raw[at].
func valueEnd(raw []byte, at int) int {
	switch raw[at] {
	case '"':
		return stringEnd(raw, at)
	case '{', '[':
		return bracketEnd(raw, at)
	}
	for at < len(raw) && strings.IndexByte(",]} \n\t\r", raw[at]) < 0 {
		at++
	}
	return at
}

// stringEnd is the position behind the string whose quote is raw[at].
func stringEnd(raw []byte, at int) int {
	for at++; ; at++ {
		at += bytes.IndexByte(raw[at:], '"')
		back := at
		for raw[back-1] == '\\' {
			back--
		}
		if (at-back)%2 == 0 {
			return at + 1
		}
	}
}

// bracketEnd is the position behind the object or array that begins at raw[at].
func bracketEnd(raw []byte, at int) int {
	for depth := 0; ; at++ {
		switch raw[at] {
		case '"':
			at = stringEnd(raw, at) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return at + 1
			}
		}
	}
}

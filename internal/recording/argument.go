package recording

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// arguments returns the string values in the arguments of a tool call, in their
// order and unescaped: what the model wrote, without the JSON around it. Keys
// and numbers are left out. JSON that is cut off or broken gives what can be
// read, a cut-off string included; arguments that do not begin like a JSON
// object, a string, or an array of such are one value as they are (the raw input
// of a custom tool).
func arguments(args string) []string {
	if !beginsJSON(args) {
		return []string{args}
	}
	var out []string
	for {
		open := strings.IndexByte(args, '"')
		if open < 0 {
			return out
		}
		var value string
		value, args = unquote(args[open+1:])
		if !strings.HasPrefix(strings.TrimLeft(args, " \t\r\n"), ":") {
			out = append(out, value)
		}
	}
}

// beginsJSON tells an object from code in braces by what follows the brace.
func beginsJSON(args string) bool {
	args = strings.TrimLeft(args, " \t\r\n")
	if args == "" {
		return true
	}
	rest := strings.TrimLeft(args[1:], " \t\r\n")
	switch args[0] {
	case '{':
		return rest == "" || rest[0] == '"' || rest[0] == '}'
	case '[':
		return rest == "" || strings.IndexByte("\"{[]", rest[0]) >= 0
	}
	return args[0] == '"'
}

// unquote decodes a JSON string whose opening quote is gone, and returns what
// follows its closing one. Escapes that JSON does not know stay as they are.
func unquote(s string) (value, rest string) {
	end := strings.IndexAny(s, `"\`)
	if end < 0 {
		return s, ""
	}
	if s[end] == '"' {
		return s[:end], s[end+1:]
	}
	var b strings.Builder
	for end >= 0 && s[end] == '\\' {
		b.WriteString(s[:end])
		s = unescape(&b, s[end:])
		end = strings.IndexAny(s, `"\`)
	}
	if end < 0 {
		b.WriteString(s)
		return b.String(), ""
	}
	b.WriteString(s[:end])
	return b.String(), s[end+1:]
}

// unescape decodes the escape at the beginning of s and returns the rest.
func unescape(b *strings.Builder, s string) string {
	if len(s) < 2 {
		return ""
	}
	if s[1] == 'u' {
		return unescapeUnit(b, s)
	}
	if i := strings.IndexByte(`"\/bfnrt`, s[1]); i >= 0 {
		b.WriteByte("\"\\/\b\f\n\r\t"[i])
		return s[2:]
	}
	b.WriteByte(s[0])
	return s[1:]
}

// unescapeUnit decodes one \uXXXX, or two that are a surrogate pair.
func unescapeUnit(b *strings.Builder, s string) string {
	r, ok := unit(s)
	if !ok {
		b.WriteString(s[:2])
		return s[2:]
	}
	s = s[6:]
	if utf16.IsSurrogate(r) {
		low, ok := unit(s)
		r = utf16.DecodeRune(r, low)
		if ok && r != utf8.RuneError {
			s = s[6:]
		}
	}
	b.WriteRune(r)
	return s
}

// unit reads a \uXXXX.
func unit(s string) (r rune, ok bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	for i := 2; i < 6; i++ {
		d := strings.IndexByte("0123456789abcdef", s[i]|0x20)
		if d < 0 || s[i] < '0' {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}

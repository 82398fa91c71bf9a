package rendition

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// noisy reports whether a text has what clean takes out.
func noisy(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\r' && !(i+1 < len(text) && text[i+1] == '\n'), control(c):
			return true
		}
	}
	return false
}

func control(c byte) bool {
	return c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f
}

// clean is a line as a terminal shows it in the end: without escape codes and
// other control characters, and of the texts that carriage returns and backspaces
// wrote over each other the last. Its line end stays as it is.
func clean(line string) string {
	body, end := splitEnd(line)
	if !noisy(body) {
		return line
	}
	body = last(plain(body))
	return body + end
}

// splitEnd parts a line from its line end.
func splitEnd(line string) (body, end string) {
	body = strings.TrimSuffix(line, "\n")
	if len(body) < len(line) {
		body = strings.TrimSuffix(body, "\r")
	}
	return body, line[len(body):]
}

// last is what stands at the end of redraws: the last text that is not blank.
func last(body string) string {
	parts := strings.Split(body, "\r")
	for i := len(parts) - 1; i >= 0; i-- {
		if strings.TrimSpace(parts[i]) != "" {
			return parts[i]
		}
	}
	return parts[len(parts)-1]
}

// plain takes out escape sequences and control characters, and what backspaces
// delete. Carriage returns stay.
func plain(body string) string {
	out := make([]byte, 0, len(body))
	for i := 0; i < len(body); {
		switch c := body[i]; {
		case c == 0x1b:
			i += escape(body[i:])
			continue
		case c == '\b':
			_, n := utf8.DecodeLastRune(out)
			out = out[:len(out)-n]
		case !control(c):
			out = append(out, c)
		}
		i++
	}
	return string(out)
}

// escape is the length of the escape sequence at the beginning of a text, as
// ECMA-48 has them: ESC [ … final byte, ESC ] … BEL or ESC \, and the short ones.
// One that the text cuts off ends with it; a string that is never closed is only
// its two bytes, so that it cannot swallow the text behind it.
func escape(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch c := s[1]; {
	case c == '[':
		return sequence(s, 2, '@', '~')
	case strings.IndexByte("]PX^_", c) >= 0:
		return operand(s)
	case ' ' <= c && c <= '/':
		return sequence(s, 1, '0', '~')
	case '0' <= c && c <= '~':
		return 2
	}
	return 1
}

// sequence ends behind the first byte from low to high; a byte outside ASCII or a
// control character ends it too.
func sequence(s string, from int, low, high byte) int {
	for i := from; i < len(s); i++ {
		switch c := s[i]; {
		case low <= c && c <= high:
			return i + 1
		case c < ' ' || c >= utf8.RuneSelf:
			return i
		}
	}
	return len(s)
}

func operand(s string) int {
	for i := 2; i < len(s); i++ {
		switch {
		case s[i] == '\a':
			return i + 1
		case s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\':
			return i + 2
		}
	}
	return 2
}

// A report is a line that says how far something is.
type report struct {
	shape   string // the line without what changes from one report to the next
	percent int    // -1 where it only draws a bar
}

// blockLead is the first byte of all block characters in UTF-8.
const blockLead = 0xe2

// progress reads a line as a report: one with a percentage, or with a bar drawn in
// block characters.
func progress(body string) (r report, ok bool) {
	at := strings.IndexByte(body, '%')
	if at < 0 && (strings.IndexByte(body, blockLead) < 0 || !strings.ContainsAny(body, "█▓▒░━╸")) {
		return r, false
	}
	r.percent = -1
	if at >= 0 {
		if r.percent = percentage(body[:at]); r.percent < 0 {
			return r, false
		}
	}
	r.shape = strings.Map(func(c rune) rune {
		if '0' <= c && c <= '9' || strings.ContainsRune(" .,:█▓▒░━╸#=>-|/\\", c) {
			return -1
		}
		return c
	}, body)
	return r, true
}

// percentage is the whole number at the end of a text, -1 where there is none up
// to 100.
func percentage(text string) int {
	text = strings.TrimRight(text, " ")
	digits := len(text)
	for digits > 0 && ('0' <= text[digits-1] && text[digits-1] <= '9' || text[digits-1] == '.') {
		digits--
	}
	whole, _, _ := strings.Cut(text[digits:], ".")
	n, err := strconv.Atoi(whole)
	if err != nil || n > 100 {
		return -1
	}
	return n
}

// follows reports whether a report goes on where another was.
func (r report) follows(before report) bool {
	return r.shape == before.shape && r.percent >= before.percent && (r.percent < 0) == (before.percent < 0)
}

package rendition

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLine is how many bytes of a line of a page a card or handle looks at.
const maxLine = 600

// line is a line of a page as cards and handles show it: masked, valid, without
// control characters or runs of white space, at most maxLine bytes.
func (m *Maker) line(text string) string {
	return squeezed(m.secrets.Mask(clip(valid(text), maxLine)))
}

// part is the masked text from one byte to before another, which begins in the line
// that it begins: what could be the middle of a secret is masked with what is
// around it.
func (m *Maker) part(text string, from, to int) string {
	if !dense(text[from:to]) {
		return m.secrets.Mask(valid(text[from:to]))
	}
	const around = 1 << 10
	lo, hi := max(0, from-around), min(len(text), to+around)
	before, lines := strings.Count(text[lo:from], "\n"), strings.Count(text[from:to], "\n")
	masked := strings.Split(m.secrets.Mask(valid(text[lo:hi])), "\n")
	return strings.Join(masked[before:before+lines+1], "\n")
}

// lineAt is the line of a text that begins at a byte, as cards show it.
func (m *Maker) lineAt(text string, from int) string {
	to := len(text)
	if i := strings.IndexByte(text[from:], '\n'); i >= 0 {
		to = from + i
	}
	return squeezed(clip(m.part(text, from, min(to, from+maxLine)), maxLine))
}

// dense reports whether a line has a run of 20 and more characters of which keys
// are made: only such a line can be the middle of a secret that began before it.
func dense(text string) bool {
	n := 0
	for i := range len(text) {
		if c := text[i]; wordByte(c) && c != '\'' || strings.IndexByte("+/=_-", c) >= 0 {
			if n++; n == 20 {
				return true
			}
		} else {
			n = 0
		}
	}
	return false
}

// squeezed is a text as one line.
func squeezed(text string) string {
	return strings.Join(strings.FieldsFunc(plain(text), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// firstLine is the first line of a text that is not blank.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if t := strings.TrimSpace(line); t != "" {
			return t
		}
	}
	return ""
}

// sentence is the first sentence of a text.
func sentence(text string) string {
	text = valid(firstLine(text))
	for i, r := range text {
		rest := text[i+utf8.RuneLen(r):]
		if strings.ContainsRune("。！？", r) || strings.ContainsRune(".!?", r) && (rest == "" || rest[0] == ' ') {
			return text[:len(text)-len(rest)]
		}
	}
	return text
}

// lastParagraph is the last paragraph of a text without the space around it.
func lastParagraph(text string) string {
	text = strings.TrimSpace(text)
	at := len(text)
	for {
		i := strings.LastIndexByte(text[:at], '\n')
		if i < 0 {
			return text
		}
		if j := strings.LastIndexByte(text[:i], '\n'); strings.TrimSpace(text[j+1:i]) == "" {
			return text[i+1:]
		}
		at = i
	}
}

// opening is the beginning of a text, at most claimMax characters of it, up to the end
// of a sentence where one is near.
func opening(text string) (head string, cut bool) {
	n := 0
	for i := range text {
		if n++; n > claimMax {
			return sentences(text[:i]), true
		}
	}
	return text, false
}

// sentences are the whole sentences at the beginning of a text that is cut off, if
// they are at least half of it, else the text.
func sentences(text string) string {
	end := 0
	for i, r := range text {
		if strings.ContainsRune("。！？；", r) || strings.ContainsRune(".!?", r) && strings.HasPrefix(text[i+1:], " ") {
			end = i + utf8.RuneLen(r)
		}
	}
	if end < len(text)/2 {
		return text
	}
	return text[:end]
}

package tool

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxText bounds the text of a result in bytes. It keeps memory and the journal
// in bounds; how much of it the model sees is decided later, by admission.
const MaxText = 512 << 10

// Bound shortens a text to about max bytes: its beginning and its end, whole lines
// where lines are short, and between them how much is missing.
func Bound(text string, max int) string {
	if len(text) <= max {
		return text
	}
	head, tail := text[:max*2/3], text[len(text)-max/3:]
	if i := strings.LastIndexByte(head, '\n'); i > len(head)/2 {
		head = head[:i+1]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < len(tail)/2 {
		tail = tail[i+1:]
	}
	for len(head) > 0 && !utf8.ValidString(lastRune(head)) {
		head = head[:len(head)-1]
	}
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	gap := text[len(head) : len(text)-len(tail)]
	return head + Missing(len(gap), strings.Count(gap, "\n")) + tail
}

// lastRune is the bytes of the last rune of a text, complete or not.
func lastRune(text string) string {
	i := len(text) - 1
	for i > 0 && len(text)-i < utf8.UTFMax && !utf8.RuneStart(text[i]) {
		i--
	}
	return text[i:]
}

// Missing is the line that stands for what is left out.
func Missing(bytes, lines int) string {
	return fmt.Sprintf("\n[… %d bytes, %d lines left out here …]\n", bytes, lines)
}

// Valid is a text in which every byte that is no UTF-8 is replaced.
func Valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

package ledger

import (
	"fmt"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// plural is a count with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// cite puts a mark in front of every line of words that are quoted, so that
// nothing in them looks like a line of the card.
func cite(text string) string {
	return "> " + strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\n> ")
}

// short is a hash as cards show it.
func short(h quire.Hash) string { return h.String()[:8] }

// pages is a range of pages as a card names it.
func pages(first, last quire.PageNumber) string {
	if first == last {
		return first.String()
	}
	return first.String() + "–" + last.String()
}

package main

import "strings"

// maskPiece masks a text that is a piece of another one: where it ends, no secret
// is cut short, which would be taken for one sooner.
func (h *home) maskPiece(text string) string {
	return strings.TrimSuffix(h.secrets.Mask(text+"\n"), "\n")
}

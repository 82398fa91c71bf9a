package main

import (
	"io"
	"strings"

	"github.com/quire-agent/quire/internal/retrieve"
)

// framed writes text that is made of pages. Off a terminal it may be an agent
// that reads it, and records it: there it stands in a frame that says whose it
// is, so that it is not taken in again as something new.
func (inv *invocation) framed(source string, write func(io.Writer)) error {
	if inv.terminal {
		write(inv.out)
		return nil
	}
	var text strings.Builder
	write(&text)
	_, err := io.WriteString(inv.out, retrieve.Frame(source, strings.TrimSuffix(text.String(), "\n"))+"\n")
	return err
}

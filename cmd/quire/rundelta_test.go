package main

import (
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/secret"
	"pgregory.net/rapid"
)

// However an answer is cut into steps, what is told of it is all of it, masked, in
// whole lines.
func TestDeltasAreTheAnswerMasked(t *testing.T) {
	const key = "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEpAIBAAKCAQEAmadeupmadeupmadeupmadeupmadeupmadeupmadeup12\nMIIEpAIBAAKCAQEAmadeupmadeupmadeupmadeupmadeupmadeupmadeup34\n-----END RSA PRIVATE KEY-----\n"
	const answer = "First line.\nThe token is gh" + "p_q8Zr2LmV7xWn4TbY9sKdq8Zr2LmV7xWn4TbY, keep it.\n" + key + "Last line"
	finder := secret.NewFinder()
	rapid.Check(t, func(t *rapid.T) {
		tell := teller{mask: finder.Mask}
		var told strings.Builder
		take := func(d quire.Delta) {
			more := tell.take(d)
			if more != "" && !strings.HasSuffix(more, "\n") {
				t.Fatalf("%q is no whole line", more)
			}
			told.WriteString(more)
		}
		take(quire.ReplyBegun{})
		take(quire.BlockBegun{Index: 0, Block: quire.Block{Part: quire.Part{Kind: quire.PartThinking}}})
		take(quire.BlockGrew{Index: 0, Text: "hidden\n"})
		take(quire.BlockEnded{Index: 0})
		take(quire.BlockBegun{Index: 1, Block: quire.Block{Part: quire.Part{Kind: quire.PartText}}})
		for rest := answer; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			take(quire.BlockGrew{Index: 1, Text: rest[:n]})
			rest = rest[n:]
		}
		take(quire.BlockEnded{Index: 1})
		take(quire.ReplyEnded{})
		if want := finder.Mask(answer + "\n"); told.String() != want {
			t.Errorf("told %q, want %q", told.String(), want)
		}
		if strings.Contains(told.String(), "q8Zr2LmV7x") || strings.Contains(told.String(), "MIIEpAIB") {
			t.Errorf("a secret is told: %q", told.String())
		}
	})
}

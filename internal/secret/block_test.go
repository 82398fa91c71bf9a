package secret_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/secret"
)

// numberings are the forms in which tools number the lines of files.
func numberings() []string { return []string{"%6d→", "%d→", "%d\t", "%6d\t", "%d: ", "%d:"} }

// numbered puts a number before every line, the first of which is line 8.
func numbered(form, text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = fmt.Sprintf(form, i+8) + lines[i]
	}
	return strings.Join(lines, "\n")
}

// TestKeysInNumberedLines holds that a private key is masked to its end where a
// tool numbered its lines, and that the numbers stay.
func TestKeysInNumberedLines(t *testing.T) {
	f := secret.NewFinder()
	g := gardener{rand.New(rand.NewPCG(1, 2))}
	for _, form := range numberings() {
		for _, kind := range []string{"RSA ", "OPENSSH ", ""} {
			key := g.pem(kind, "\n")
			blank := "‹secret:private-key›" + strings.Repeat("\n", strings.Count(key, "\n"))
			if got, want := f.Mask(numbered(form, "before\n"+key+"\nfunc after() {}")), numbered(form, "before\n"+blank+"\nfunc after() {}"); got != want {
				t.Errorf("%q: got %q, want %q", form, got, want)
			}
			for where, put := range settings() {
				if left := survives(key, f.Mask(put(numbered(form, key)))); left != "" && where != "an address" {
					t.Errorf("%q in %s: %q survives", form, where, left)
				}
			}
		}
	}
}

// TestTornKeysInNumberedLines holds the same for a key without an end. A number
// before what is no key is not part of it.
func TestTornKeysInNumberedLines(t *testing.T) {
	f := secret.NewFinder()
	key := gardener{rand.New(rand.NewPCG(3, 4))}.pem("EC ", "\n")
	lines := strings.SplitAfter(key, "\n")
	for _, form := range numberings() {
		text := numbered(form, strings.Join(lines[:3], "")+"{ }")
		if got, want := f.Mask(text), numbered(form, "‹secret:private-key›\n\n\n{ }"); got != want {
			t.Errorf("%q: got %q, want %q", form, got, want)
		}
	}
}

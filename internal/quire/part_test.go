package quire_test

import (
	"slices"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
	"pgregory.net/rapid"
)

// What was joined from blocks is cut into the same blocks again.
func TestBlocksComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		blocks := rapid.SliceOfN(rapid.StringMatching("[a\n文]{0,4}"), 1, 6).Draw(t, "blocks")
		var p quire.Part
		p.Text, p.Cuts = quire.Joined(blocks)
		if got := p.Blocks(); !slices.Equal(got, blocks) {
			t.Fatalf("%q come back as %q", blocks, got)
		}
	})
}

// Cuts that do not fit lose no byte.
func TestCutsThatDoNotFit(t *testing.T) {
	for _, cuts := range [][]int{{0}, {-1}, {1}, {2, 2}, {9}, {2, 1}} {
		p := quire.Part{Text: "a\nb\n", Cuts: cuts}
		if got := p.Blocks(); len(got) != 1 || got[0] != p.Text {
			t.Errorf("%v: %q", cuts, got)
		}
	}
}

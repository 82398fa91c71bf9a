package trace

import (
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

// tally counts what a log holds.
type tally struct {
	calls, metered, cuts, rewinds, skipped int
	notes                                  map[quire.Note]int
}

func (c *tally) add(t testing.TB, l *Log) {
	t.Helper()
	var events []quire.Event
	metered := make(map[string]bool)
	for e, err := range l.Events() {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
		switch e := e.(type) {
		case quire.Called:
			c.calls++
		case quire.Metered:
			metered[e.Call] = true
		case quire.Compacted:
			c.cuts++
		case quire.Rewound:
			c.rewinds++
		case quire.Skipped:
			c.skipped++
		case quire.Noted:
			c.notes[e.Note]++
		}
	}
	c.metered += len(metered)
	checkContract(t, events)
}

// The counts are those of the evaluation document and of independent counts of
// the same files.
func TestCorpus(t *testing.T) {
	for folder, want := range map[string]struct{ logs, calls, metered, cuts int }{
		"endless":          {50, 8772, 8772, 64},
		"bench/entire-cli": {8, 1851, 1851, 15},
		"bench/agentv":     {7, 1115, 1111, 9},
	} {
		logs := corpus(t, folder)
		got := tally{notes: make(map[quire.Note]int)}
		for _, l := range logs {
			got.add(t, l)
		}
		if len(logs) != want.logs || got.calls != want.calls || got.metered != want.metered || got.cuts != want.cuts {
			t.Errorf("%s: %d logs, %d calls, %d metered, %d cuts, want %v", folder, len(logs), got.calls, got.metered, got.cuts, want)
		}
		if got.rewinds != 0 || got.skipped != 0 {
			t.Errorf("%s: %d rewinds, %d skipped", folder, got.rewinds, got.skipped)
		}
		t.Logf("%s: notes %v", folder, got.notes)
	}
}

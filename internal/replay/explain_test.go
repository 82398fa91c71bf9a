package replay

import (
	"testing"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/recording/recordingtest"
	"github.com/quire-agent/quire/internal/schedule"
	"pgregory.net/rapid"
)

// A telling is the replay of the policy, written down: it has its faults,
// and each item is the node that it came from.
func TestTellingIsTheReplay(t *testing.T) {
	load := recording.Loader{Counter: recordingtest.NewCounter(t)}
	table, err := schedule.Default()
	if err != nil {
		t.Fatal(err)
	}
	check(t, 30, func(t *rapid.T) {
		events := drawSessions(t, 30, true)[0]
		s, nodes, err := load.Read(t.Context(), "drawn", events.Told())
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		checkNodes(t, s, nodes, events)
		profile, _ := price.ProfileByName("claude")
		under, set := UnderProfile(s, profile, SingleBudget), schedule.Settings{Care: schedule.DefaultCare}
		telling, err := Tell(s, under, set, table, func(int) []quire.MarkRecord { return nil })
		if err != nil {
			t.Fatal(err)
		}
		out, err := Replay(s, []Policy{Scheduled("quire", set, Always(table))}, []Setting{under})
		if err != nil {
			t.Fatal(err)
		}
		faults := 0
		for _, c := range telling.Calls {
			faults += len(c.Missed)
			for _, m := range c.Missed {
				if m.Cost <= 0 {
					t.Fatalf("a fault that costs %v", m.Cost)
				}
			}
		}
		if got := out[0][0]; got.Faults != faults || got.Calls != len(telling.Calls) {
			t.Fatalf("%d faults in %d calls, the replay has %d in %d", faults, len(telling.Calls), got.Faults, got.Calls)
		}
	})
}

// checkNodes holds that items and nodes go together: the part of an item's node is
// of its kind.
func checkNodes(t *rapid.T, s *recording.Session, nodes []int, events *recordingtest.Script) {
	if len(nodes) != len(s.Items) {
		t.Fatalf("%d nodes of %d items", len(nodes), len(s.Items))
	}
	kinds := map[int]quire.PartKind{}
	for _, e := range events.Events {
		switch e := e.(type) {
		case quire.Entered:
			if e.Chain == "" {
				kinds[e.Node] = e.Part.Kind
			}
		case quire.Answered:
			if e.Chain == "" {
				kinds[e.Node] = e.Part.Kind
			}
		}
	}
	for i, n := range nodes {
		if kinds[n] != s.Items[i].Kind {
			t.Fatalf("item %d is %v, its node %d is %v", i, s.Items[i].Kind, n, kinds[n])
		}
	}
}

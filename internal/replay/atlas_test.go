package replay

import (
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/recording/recordingtest"
)

func drawn(t *testing.T, s *recording.Session) Atlas {
	t.Helper()
	claude, _ := price.ProfileByName("claude")
	a, ok, err := Draw(s, UnderProfile(s, claude, SingleBudget), Always(shipped(t)))
	if err != nil || !ok {
		t.Fatalf("drawn %t, %v", ok, err)
	}
	return a
}

// What just came is hot and in full, what went at an epoch is a line, and
// nothing stands before it came.
func TestAtlas(t *testing.T) {
	s := built(t, recordingtest.NewCounter(t), recordingtest.Busy("a", 60, 0))
	a := drawn(t, s)
	if a.Total != len(s.Calls) || len(a.Calls) != len(s.Calls) || a.Calls[0] != 1 || len(a.Rows) != len(a.Pages) {
		t.Fatalf("%d calls in %d columns, %d rows, %d pages", a.Total, len(a.Calls), len(a.Rows), len(a.Pages))
	}
	if len(a.Epochs) == 0 || a.Epochs[0].Kind != quire.EpochFree {
		t.Errorf("epochs %v", a.Epochs)
	}
	for i, row := range a.Rows {
		if len(row) != len(a.Calls) {
			t.Fatalf("row %d has %d columns", i, len(row))
		}
		if first := strings.TrimLeft(row, string(AtlasNothing)); first != "" && first[0] != AtlasHot {
			t.Errorf("row %d begins with %q", i, first[:1])
		}
	}
	if !strings.ContainsRune(a.Rows[0], AtlasShort) || !strings.HasSuffix(a.Rows[len(a.Rows)-1], string(AtlasHot)) {
		t.Errorf("first row %s, last row %s", a.Rows[0], a.Rows[len(a.Rows)-1])
	}
}

func TestAtlasIsBounded(t *testing.T) {
	a := drawn(t, built(t, recordingtest.NewCounter(t), recordingtest.Busy("a", 300, 0)))
	if len(a.Rows) != AtlasRows || len(a.Calls) != AtlasColumns || a.Calls[AtlasColumns-1] != a.Total || len(a.Epochs) > AtlasMarks {
		t.Errorf("%d rows, %d columns up to call %d of %d", len(a.Rows), len(a.Calls), a.Calls[len(a.Calls)-1], a.Total)
	}
}

func TestAtlasOfNothing(t *testing.T) {
	s := built(t, recordingtest.NewCounter(t), recordingtest.NewScript("silent", recordingtest.Morning()).User("is anybody there?"))
	if _, ok, err := Draw(s, Setting{}, Always(shipped(t))); ok || err != nil {
		t.Errorf("drawn %t, %v", ok, err)
	}
}

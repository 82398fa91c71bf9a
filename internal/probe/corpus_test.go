package probe

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/replay"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/quire-agent/quire/internal/trace"
)

// corpus is the folder of recorded sessions, which is not part of the project: it
// stands beside the checkout, or where QUIRE_SHARED says.
func corpus(t *testing.T) string {
	t.Helper()
	places := []string{os.Getenv("QUIRE_SHARED")}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		places = append(places, filepath.Join(dir, "shared"))
	}
	for _, p := range places {
		if at := filepath.Join(p, "corpus"); p != "" && isFolder(at) {
			return at
		}
	}
	t.Skip("the recorded sessions are not here; QUIRE_SHARED names the folder that holds corpus/")
	return ""
}

func isFolder(path string) bool {
	i, err := os.Stat(path)
	return err == nil && i.IsDir()
}

// TestRecordedSessions asks a few sessions; `quire eval probes` asks all.
func TestRecordedSessions(t *testing.T) {
	if testing.Short() {
		t.Skip("it reads recorded sessions")
	}
	dir := filepath.Join(corpus(t), "bench", "agentv")
	count := counter(t)
	table, err := schedule.Default()
	profile, ok := price.ProfileByName("claude")
	if err != nil || !ok {
		t.Fatal(err)
	}
	asked, lost := 0, 0
	for f, err := range trace.Walk([]string{dir}) {
		if err != nil {
			t.Fatal(err)
		}
		logs, err := trace.Open(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := (&recording.Loader{Counter: count}).Load(t.Context(), logs[0])
		if err != nil {
			t.Fatal(err)
		}
		probes, err := Choose(s, 4, 1)
		if err == nil {
			var got []Result
			got, err = Ask(t.Context(), s, replay.Ours(replay.Always(table))[0], replay.UnderProfile(s, profile, replay.SingleBudget), probes, count)
			for i := range got {
				if asked++; got[i].Lost(Words) {
					lost++
				}
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d probes, %d lost", asked, lost)
	if asked < 10 || lost*5 > asked {
		t.Errorf("of %d probes %d are lost", asked, lost)
	}
}

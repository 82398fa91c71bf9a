package task

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/quire-agent/quire/internal/page"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/trace"
)

// corpus is the folder of recorded sessions, which is no part of this project.
func corpus(t *testing.T) string {
	t.Helper()
	shared := os.Getenv("QUIRE_SHARED")
	for dir := "."; shared == ""; dir = filepath.Join(dir, "..") {
		if _, err := os.Stat(filepath.Join(dir, "shared", "corpus")); err == nil {
			shared = filepath.Join(dir, "shared")
		}
		if abs, err := filepath.Abs(dir); err != nil || abs == filepath.Dir(abs) {
			break
		}
	}
	if _, err := os.Stat(filepath.Join(shared, "corpus")); err != nil || shared == "" {
		t.Skip("the recorded sessions are not there: set QUIRE_SHARED to the folder that holds corpus")
	}
	return filepath.Join(shared, "corpus")
}

// sessions are the turns of the logs in a folder, in lexical order.
func sessions(t *testing.T, folder string) [][]Turn {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var all [][]Turn
	for _, path := range paths {
		logs, err := trace.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, log := range logs {
			if turns := turnsOf(log); len(turns) > 0 {
				all = append(all, turns)
			}
		}
	}
	return all
}

// turnsOf are the turns of a log, cut as a Collector cuts them.
func turnsOf(log *trace.Log) []Turn {
	var cutter page.Cutter
	var collector Collector
	turns := []Turn{{}}
	where := map[quire.PageNumber]int{} // of the turn at hand: index in Touched
	calls := 0
	add := func(s quire.Stamp, p quire.Part) {
		if s.Chain != "" || p.Origin != quire.OriginFirst {
			return
		}
		if collector.Begins(&p) {
			turns, where = append(turns, Turn{}), map[quire.PageNumber]int{}
		}
		pages := cutter.Cut(p, calls)
		collector.Add(&p, pages)
		turns[len(turns)-1].take(p, pages, where)
	}
	for e := range log.Events() {
		switch e := e.(type) {
		case quire.Called:
			calls++
		case quire.Entered:
			add(e.Stamp, e.Part)
		case quire.Answered:
			add(e.Stamp, e.Part)
		}
	}
	return turns
}

func (t *Turn) take(p quire.Part, pages []quire.Page, where map[quire.PageNumber]int) {
	switch p.Kind {
	case quire.PartUser:
		t.User += p.Text + "\n"
	case quire.PartText:
		t.Said += p.Text + "\n"
	case quire.PartToolCall:
		where[pages[0].Number] = len(t.Touched)
		t.Touched = append(t.Touched, Touched{Page: pages[0], Args: p.Text})
	case quire.PartToolResult:
		if i, ok := where[pages[0].Number]; ok {
			t.Touched[i].Result = p.Text
		}
	}
}

// sum adds up scores; B³ is the mean.
func sum(scores []Score) (all Score) {
	for _, s := range scores {
		all.Turns += s.Turns / float64(len(scores))
		all.Pages += s.Pages / float64(len(scores))
		all.False += s.False
		all.Stays += s.Stays
		all.Found += s.Found
		all.Changes += s.Changes
	}
	return all
}

// mixes are sets of sessions that are interleaved: one of each project, and ones
// of one project that follow each other.
func mixes(t *testing.T) (projects, neighbours [][][]Turn) {
	root := corpus(t)
	one, two, three := sessions(t, filepath.Join(root, "bench", "entire-cli")), sessions(t, filepath.Join(root, "bench", "agentv")),
		sessions(t, filepath.Join(root, "bench", "mini-swe-agent"))
	for i := range one {
		projects = append(projects, [][]Turn{one[i], two[i%len(two)], three[i%len(three)]})
	}
	endless := sessions(t, filepath.Join(root, "endless"))
	for i := 0; i+4 <= len(endless); i += 4 {
		neighbours = append(neighbours, endless[i:i+4])
	}
	return projects, neighbours
}

func TestInterleavedSessions(t *testing.T) {
	if testing.Short() {
		t.Skip("reads all recorded sessions")
	}
	projects, neighbours := mixes(t)
	got := judged(t, "sessions of different projects", projects)
	if got.Turns < .8 || got.Pages < .8 || float64(got.False) > .02*float64(got.Stays) {
		t.Errorf("sessions of different projects: %+v", got)
	}
	judged(t, "neighbouring sessions of one project", neighbours)
}

func judged(t *testing.T, what string, mixes [][][]Turn) Score {
	var scores []Score
	for i, mix := range mixes {
		for seed := range uint64(2) {
			scores = append(scores, Judge(Interleave(mix, uint64(i)+100*seed)))
		}
	}
	s := sum(scores)
	t.Logf("%s: B³ by turns %.3f, by pages %.3f; %d switches for %d changes; false switches %d of %d = %.2f %%",
		what, s.Turns, s.Pages, s.Found, s.Changes, s.False, s.Stays, 100*float64(s.False)/float64(s.Stays))
	return s
}

// A recorded session is one task as far as anybody labelled it.
func TestSessionsAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("reads all recorded sessions")
	}
	root := corpus(t)
	for folder, most := range map[string]float64{"bench/entire-cli": .02, "bench/agentv": .02, "endless": .02} {
		var scores []Score
		for _, turns := range sessions(t, filepath.Join(root, filepath.FromSlash(folder))) {
			scores = append(scores, Judge(Interleave([][]Turn{turns}, 0)))
		}
		s := sum(scores)
		t.Logf("%s alone: false switches %d of %d = %.2f %%", folder, s.False, s.Stays, 100*float64(s.False)/float64(s.Stays))
		if float64(s.False) > most*float64(s.Stays) {
			t.Errorf("%s: %d of %d turns switch", folder, s.False, s.Stays)
		}
	}
}

package eval

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/recording/recordingtest"
	"github.com/quire-agent/quire/internal/replay"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/quire-agent/quire/internal/token"
)

// ticks is a clock that goes on by a microsecond each time it is read.
func ticks() func() time.Time {
	at := recordingtest.Morning()
	return func() time.Time {
		at = at.Add(time.Microsecond)
		return at
	}
}

// corpusOfThree is a study of three small sessions, two of them also joined.
func corpusOfThree(t *testing.T) *Study {
	t.Helper()
	c := recordingtest.NewCounter(t)
	scripts := []*recordingtest.Script{recordingtest.Busy("a", 25, 0), recordingtest.Busy("b", 8, 1), recordingtest.Busy("c", 4, 1)}
	table, err := schedule.Default()
	if err != nil {
		t.Fatal(err)
	}
	tables := replay.Always(table)
	st := &Study{
		Root: "corpus", Profiles: []price.Profile{price.Profiles()[0], price.Profiles()[2]}, Now: ticks(),
		Policies: func(budget int) []replay.Policy {
			return append(replay.Baselines(budget), replay.Assembled(replay.Ours(tables))...)
		}, Held: []replay.Policy{replay.Held(tables)},
		Endless: studied(t, c, scripts[1], scripts[2]),
	}
	for i, path := range []string{"bench/hand/a.jsonl", "endless/b.jsonl", "endless/c.jsonl"} {
		s := studied(t, c, scripts[i])
		s.Path = filepath.FromSlash("corpus/" + path)
		st.Sessions = append(st.Sessions, s)
	}
	return st
}

func TestStudy(t *testing.T) {
	st := corpusOfThree(t)
	var seen []int
	st.Progress = func(n int) { seen = append(seen, n) }
	f, err := st.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{1, 2, 3, 1}; !slices.Equal(seen, want) {
		t.Errorf("progress %v, want %v", seen, want)
	}
	for _, p := range st.Profiles {
		checkFindings(t, f.Profiles[p.Name])
	}
	for _, g := range []string{"all", "bench", "e50", "hand"} {
		for _, budget := range []string{"32k", "64k", "100k"} {
			e := f.Bounds[g][budget]
			if e.Needs == 0 || *e.Lower > *e.Upper || *e.Upper > 1 || e.Policies["lru"][0] == nil || e.Policies["quire"][1] == nil {
				t.Errorf("%s at %s: %+v", g, budget, e)
			}
		}
	}
	if len(f.Sessions) != 4 || f.Sessions[3].ID != "endless" || f.Sessions[0].Restored != 1 || f.Sessions[0].NeedsStrict == 0 {
		t.Errorf("sessions %+v", f.Sessions)
	}
	if r := f.Sessions[1].Ratios["claude"]; r["append"] != 1 || r["lru@80k"] != 1 {
		t.Errorf("ratios %v", r)
	}
	if !f.Same || f.Steps["append"] != (Pace{1, 1}) || len(f.Steps) != 12 {
		t.Errorf("same %t, steps %v", f.Same, f.Steps)
	}
	if _, err := json.Marshal(f); err != nil {
		t.Error(err)
	}
}

func checkFindings(t *testing.T, f ProfileFindings) {
	t.Helper()
	if len(f.Single) != 4 || len(f.Endless) != 12 {
		t.Fatalf("%d groups, %d endless policies", len(f.Single), len(f.Endless))
	}
	for name, g := range f.Single {
		if _, ok := g["fresh"]; ok || len(g) != 11 {
			t.Errorf("%s: %d policies", name, len(g))
		}
		if a := g["append"]; *a.CostRatio != 1 || *a.WorstRatio != 1 || a.Dearer != 0 || *a.Coverage != 1 || *a.RegretMean < 1 {
			t.Errorf("%s: append %+v", name, a)
		}
		if q := g["quire"]; q.Dearer != 0 || q.OracleCold == nil || q.RegretWorst == nil || *q.CostRatio > 1 {
			t.Errorf("%s: quire %+v", name, q)
		}
		if o := g["oracle-cold"]; *o.OracleCold != 1 || *o.CostRatio >= 1 {
			t.Errorf("%s: oracle-cold %+v", name, o)
		}
	}
	if c := f.Endless["compact"]; *c.CostRatio != 1 || c.Sessions != 1 || c.Calls != 2*12+2 {
		t.Errorf("endless: compact %+v", c)
	}
	if o := f.Endless["fresh"]; o.Epochs <= f.Endless["compact"].Epochs || *o.Served >= *f.Endless["compact"].Served {
		t.Errorf("endless: fresh %+v", o)
	}
}

func TestStudyDoesNotDependOnWorkers(t *testing.T) {
	var found []*Findings
	for _, n := range []int{0, 3} {
		st := corpusOfThree(t)
		st.Workers, st.Budget = n, 3_000
		f, err := st.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, f)
	}
	if !reflect.DeepEqual(found[0], found[1]) {
		t.Error("findings differ")
	}
	if _, ok := found[0].Sessions[0].Ratios["claude"]["lru@3k"]; !ok {
		t.Errorf("policies %v", found[0].Sessions[0].Ratios["claude"])
	}
}

func TestStudyFails(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := corpusOfThree(t).Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	broken := func(change func(st *Study)) error {
		st := corpusOfThree(t)
		change(st)
		_, err := st.Run(context.Background())
		return err
	}
	for name, change := range map[string]func(*Study){
		"a session":   func(st *Study) { st.Sessions[1].Bodies.Close() },
		"the endless": func(st *Study) { st.Endless.Bodies.Close() },
	} {
		onDisk := func(st *Study) { spillAll(t, st); change(st) }
		if err := broken(onDisk); err == nil {
			t.Errorf("%s was read though its bodies are gone", name)
		}
	}
}

// spillAll moves all bodies to files, from which reading fails once they are closed.
func spillAll(t *testing.T, st *Study) {
	t.Helper()
	for _, s := range append(slices.Clone(st.Sessions), st.Endless) {
		if _, err := s.Bodies.Put(strings.Repeat("x", 16<<20)); err != nil { // more than memory holds
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
	}
}

func TestStudyOfNothing(t *testing.T) {
	st := &Study{Policies: replay.Baselines, Profiles: price.Profiles(), Now: ticks()}
	f, err := st.Run(context.Background())
	if err != nil || len(f.Sessions) != 0 || f.Same {
		t.Errorf("got %+v, %v", f, err)
	}
	for _, p := range f.Profiles {
		for g, m := range p.Single {
			if len(m) > 0 {
				t.Errorf("%s has figures", g)
			}
		}
	}
	c := recordingtest.NewCounter(t)
	st.Sessions = []*recording.Session{studied(t, c, recordingtest.NewScript("silent", recordingtest.Morning()).User("is anybody there?"))}
	st.Sessions[0].Path = "corpus/silent/a.jsonl"
	st.Root = "corpus"
	if f, err = st.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(f); err != nil {
		t.Errorf("a session without calls: %v", err)
	}
}

// studied makes a session of what scripts say, joined if there are several.
func studied(t recordingtest.Checker, c *token.Counter, scripts ...*recordingtest.Script) *recording.Session {
	t.Helper()
	var sources []recording.Source
	for _, s := range scripts {
		sources = append(sources, recording.Source{Path: s.Name, Events: s.Told()})
	}
	l := recording.Loader{Counter: c}
	s, err := l.JoinSources(context.Background(), sources)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

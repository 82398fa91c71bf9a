package ingest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/quire-agent/quire/internal/carrier"
	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/secret"
	"github.com/quire-agent/quire/internal/store/sqlite"
	"github.com/quire-agent/quire/internal/trace"
	"github.com/quire-agent/quire/internal/vector"
)

// corpus finds the recorded sessions: the folder that QUIRE_SHARED names, or a
// sibling folder "shared" of one above this.
func corpus(tb testing.TB, folder string) (logs []*trace.Log) {
	tb.Helper()
	roots := []string{os.Getenv("QUIRE_SHARED")}
	for dir := ".."; len(roots) < 8; dir = filepath.Join("..", dir) {
		roots = append(roots, filepath.Join(dir, "shared"))
	}
	for _, root := range roots {
		path := filepath.Join(root, "corpus", folder)
		if info, err := os.Stat(path); root == "" || err != nil || !info.IsDir() {
			continue
		}
		for found, err := range trace.Walk([]string{path}) {
			if err != nil {
				tb.Fatal(err)
			}
			opened, err := trace.Open(found.Path)
			if err == nil {
				logs = append(logs, opened...)
			}
		}
		return logs
	}
	tb.Skip("no recorded sessions here: set QUIRE_SHARED")
	return nil
}

// onDisk is a pool with its stores in files.
func onDisk(tb testing.TB) *Pool {
	tb.Helper()
	return inFiles(tb, tb.TempDir())
}

// inFiles opens the pool in a home.
func inFiles(tb testing.TB, home string) *Pool {
	tb.Helper()
	p := newPool(tb)
	p.Home = home
	store, err := sqlite.Open(tb.Context(), p.Home, sqlite.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { store.Close() })
	p.Bodies, p.Table, p.Heads = store, store, store
	p.Index, p.Cards, p.Vectors = index.New(store, store), carrier.NewCards(store, store), vector.NewSets(store, store)
	p.Mask = secret.NewFinder().Mask
	return p
}

func importAll(tb testing.TB, p *Pool, logs []*trace.Log) (bytes int64) {
	tb.Helper()
	m, err := p.Importer()
	if err != nil {
		tb.Fatal(err)
	}
	defer m.Close()
	for _, log := range logs {
		if _, err := m.Import(tb.Context(), log); err != nil {
			tb.Fatal(err)
		}
		bytes += log.Size
	}
	return bytes
}

// Recorded sessions go in, come in again without a change, and their rows follow
// from journals and bodies alone.
func TestCorpus(t *testing.T) {
	logs := corpus(t, "bench/agentv")
	p := onDisk(t)
	importAll(t, p, logs)
	sum, err := p.Rebuild(t.Context(), nil)
	if err != nil || sum.Missing+sum.Damaged > 0 || sum.Pages < 1000 {
		t.Fatalf("%+v, %v", sum, err)
	}
	before := show(rows(t, p, 0))
	m, err := p.Importer()
	if err != nil {
		t.Fatal(err)
	}
	for _, log := range logs {
		if got, err := m.Import(t.Context(), log); err != nil || got.Changed() || got.New {
			t.Errorf("%s again: %+v, %v", log.Path, got, err)
		}
	}
	m.Close()
	h, err := p.Check(t.Context())
	if err != nil || len(h.Faults) > 0 || h.Orphans > 0 {
		t.Errorf("health %+v, %v", h, err)
	}
	q := derivedAnew(p)
	if _, err := q.Rebuild(t.Context(), nil); err != nil || show(rows(t, q, 0)) != before {
		t.Errorf("rows differ after the rebuild: %v", err)
	}
	fates(t, rows(t, p, 0))
}

// fates holds that what rows say of each other agrees, and that the rules of
// lineage found something to do.
func fates(t *testing.T, all []quire.Row) {
	t.Helper()
	by := map[quire.PageRef]*quire.Row{}
	for i := range all {
		by[all[i].Ref()] = &all[i]
	}
	var stale, replaced, failed, referred int
	for i := range all {
		r := &all[i]
		for _, old := range r.Replace {
			if o := by[quire.PageRef{Session: r.Session, Page: old}]; o == nil || o.By != r.Number || old >= r.Number {
				t.Errorf("%s replaces %s, which does not say so", r.Ref(), old)
			}
		}
		stale += min(len(r.Stale), 1)
		replaced += min(int(r.By), 1)
		referred += min(r.Refs, 1)
		if r.Outcome == quire.OutcomeError {
			failed++
		}
	}
	if stale == 0 || replaced == 0 || failed == 0 || referred == 0 {
		t.Errorf("of %d pages %d stale, %d replaced, %d failed, %d referred to", len(all), stale, replaced, failed, referred)
	}
	t.Logf("of %d pages %d stale, %d replaced, %d failed, %d referred to", len(all), stale, replaced, failed, referred)
}

// BenchmarkImport takes recorded logs until bodies and journals are durable.
func BenchmarkImport(b *testing.B) {
	logs := corpus(b, "bench")
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		p := onDisk(b)
		b.StartTimer()
		b.SetBytes(importAll(b, p, logs))
	}
}

// BenchmarkDerive makes rows and index of recorded logs, secrets masked.
func BenchmarkDerive(b *testing.B) {
	logs := corpus(b, "bench")
	p := onDisk(b)
	b.SetBytes(importAll(b, p, logs))
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		q := derivedAnew(p)
		b.StartTimer()
		if _, err := q.Rebuild(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
	}
}

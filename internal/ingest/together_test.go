package ingest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"sync"
	"testing"

	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/store/sqlite"
	"github.com/quire-agent/quire/internal/trace"
)

// grownLogs writes some sessions, each as it was after every few messages, and
// lists the files in the order in which they grew.
func grownLogs(t *testing.T) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	for n := range 3 {
		s := &script{session: fmt.Sprint("grown-", n)}
		s.user(fmt.Sprint("session ", n))
		for i := range 12 {
			use := fmt.Sprintf("t%d-%d", n, i)
			s.call(use, "Read", map[string]string{"file_path": "/p/cart.go"})
			s.result(use, fmt.Sprintf("version %d of the cart of session %d\nthe same line in all of them\n", i, n))
			path := filepath.Join(dir, fmt.Sprintf("%d-%02d.jsonl", n, i))
			s.to(t, path)
			paths = append(paths, path)
		}
	}
	return paths
}

// importBeside imports a log and derives what is behind, as a process does that
// knows nothing of others.
func importBeside(ctx context.Context, p *Pool, path string) error {
	logs, err := trace.Open(path)
	if err != nil {
		return err
	}
	m, err := p.Importer()
	for errors.Is(err, quire.ErrLocked) {
		runtime.Gosched()
		m, err = p.Importer()
	}
	if err != nil {
		return err
	}
	_, err = m.Import(ctx, logs[0])
	if err := errors.Join(err, m.Close()); err != nil {
		return err
	}
	behind, err := p.Behind(ctx)
	if err != nil {
		return err
	}
	_, err = p.DeriveAll(ctx, behind, nil)
	return err
}

// Imports that go on at the same time, and derive at the same time, leave what
// one after the other would: rows that are those of the journals, every page in
// the index once, nothing behind.
func TestImportsTogether(t *testing.T) {
	paths := grownLogs(t)
	p := inFiles(t, t.TempDir())
	work := make(chan string)
	var wg sync.WaitGroup
	for range 3 {
		beside := *p
		store, err := sqlite.Open(t.Context(), p.Home, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		beside.Bodies, beside.Table, beside.Heads, beside.Index = store, store, store, index.New(store, store)
		wg.Go(func() {
			for path := range work {
				if err := importBeside(t.Context(), &beside, path); err != nil {
					t.Errorf("%s: %v", path, err)
				}
			}
		})
	}
	for _, path := range paths {
		work <- path
	}
	close(work)
	wg.Wait()
	wantDerived(t, p, 3)
}

// wantDerived holds that table and index are what the journals say.
func wantDerived(t *testing.T, p *Pool, sessions int) {
	t.Helper()
	if h, err := p.Check(t.Context()); err != nil || len(h.Faults) > 0 || h.Journals != sessions {
		t.Errorf("%d journals, %+v, %v", h.Journals, h.Faults, err)
	}
	names, err := journal.List(p.Home)
	if err != nil {
		t.Fatal(err)
	}
	anew := derivedAnew(p)
	for _, n := range names {
		if _, err := anew.Derive(t.Context(), n.Path); err != nil {
			t.Fatal(err)
		}
		if got, want := rows(t, p, n.Number), rows(t, anew, n.Number); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the rows are\n%+v, want\n%+v", n.Number, got, want)
		}
	}
	if got, want := findable(t, p), findable(t, anew); got != want || want == 0 {
		t.Errorf("the index has %d pages, want %d", got, want)
	}
}

// findable is how many pages the index has.
func findable(t *testing.T, p *Pool) int {
	t.Helper()
	stats, err := p.Index.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return stats.Docs
}

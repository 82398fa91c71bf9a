package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

// testConcurrency does everything at once.
func testConcurrency(t *testing.T, s Store) {
	var wg sync.WaitGroup
	for worker := range 6 {
		wg.Go(func() {
			for i := range 15 {
				if err := work(s, worker, i); err != nil {
					t.Errorf("worker %d: %v", worker, err)
					return
				}
			}
		})
	}
	wg.Wait()
	rows := all(t, s.Rows(context.Background(), asAnn(), quire.Filter{}))
	if len(rows) != 6*15 {
		t.Errorf("%d rows, want %d", len(rows), 6*15)
	}
}

// work does one thing of each kind. All workers put the same bodies.
func work(s Store, worker, i int) error {
	ctx := context.Background()
	shared := bytes.Repeat(fmt.Appendf(nil, "line %d\n", i), 2000)
	hs, err := s.PutBodies(ctx, [][]byte{shared, fmt.Appendf(nil, "%d %d", worker, i)})
	if err != nil {
		return err
	}
	session := quire.SessionNumber(worker + 1)
	err = errors.Join(
		s.PutSession(ctx, quire.SessionRow{Number: session, Owner: ann}),
		s.PutRows(ctx, []quire.Row{row(session, quire.PageNumber(i+1))}))
	if err != nil {
		return err
	}
	if body, err := s.Body(ctx, hs[0]); err != nil || !bytes.Equal(body, shared) {
		return fmt.Errorf("body %d comes back as %d bytes: %w", i, len(body), err)
	}
	rows, err := collect(s.Rows(ctx, asAnn(), quire.Filter{Session: session}))
	if err == nil && len(rows) != i+1 {
		err = fmt.Errorf("%d rows after %d", len(rows), i+1)
	}
	return err
}

// testRowsAllOrNone: whoever reads sees all rows of a PutRows or none.
func testRowsAllOrNone(t *testing.T, s Store) {
	ctx := context.Background()
	const group = 50
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Go(func() {
		defer close(stop)
		for i := range 30 {
			rows := make([]quire.Row, group)
			for k := range rows {
				rows[k] = row(1, quire.PageNumber(k+1))
				rows[k].Refs = i + 1
			}
			if err := s.PutRows(ctx, rows); err != nil {
				t.Error(err)
			}
		}
	})
	for done := false; !done; {
		select {
		case <-stop:
			done = true
		default:
		}
		rows := all(t, s.Rows(ctx, asAnn(), quire.Filter{}))
		if len(rows) != 0 && len(rows) != group {
			t.Errorf("%d rows", len(rows))
		}
		for _, r := range rows {
			if r.Refs != rows[0].Refs {
				t.Fatalf("rows of two puts: %d and %d", rows[0].Refs, r.Refs)
			}
		}
	}
	wg.Wait()
}

// testCancelled: nothing is done for a context that has ended.
func testCancelled(t *testing.T, s Store) {
	ctx := context.Background()
	hs, err := s.PutBodies(ctx, samples())
	must(t, err)
	must(t, s.PutRows(ctx, []quire.Row{row(1, 1)}))
	must(t, s.PutSegment(ctx, "s", bytes.NewReader([]byte("content"))))
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for what, do := range map[string]func() error{
		"PutBodies":    func() error { _, err := s.PutBodies(ended, [][]byte{[]byte("late")}); return err },
		"Body":         func() error { _, err := s.Body(ended, hs[0]); return err },
		"HasBodies":    func() error { _, err := s.HasBodies(ended, hs); return err },
		"EachBody":     func() error { _, err := collect(s.EachBody(ended)); return err },
		"DropBodies":   func() error { return s.DropBodies(ended, hs) },
		"PutSession":   func() error { return s.PutSession(ended, quire.SessionRow{Number: 1, Owner: ann}) },
		"PutRows":      func() error { return s.PutRows(ended, []quire.Row{row(1, 2)}) },
		"Rows":         func() error { _, err := collect(s.Rows(ended, asAnn(), quire.Filter{})); return err },
		"Sessions":     func() error { _, err := collect(s.Sessions(ended, asAnn())); return err },
		"DropSession":  func() error { return s.DropSession(ended, 1) },
		"Head":         func() error { _, err := s.Head(ended, "a"); return err },
		"Advance":      func() error { return s.Advance(ended, "a", "", "1") },
		"PutSegment":   func() error { return s.PutSegment(ended, "late", bytes.NewReader([]byte("x"))) },
		"ReadSegment":  func() error { _, err := s.ReadSegment(ended, "s", 0, 1); return err },
		"SegmentNames": func() error { _, err := s.SegmentNames(ended); return err },
		"DropSegments": func() error { return s.DropSegments(ended, []string{"s"}) },
	} {
		if err := do(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want that the context has ended", what, err)
		}
	}
	wantRefs(t, "rows afterwards", all(t, s.Rows(ctx, asAnn(), quire.Filter{})), "s1/p1")
	wantNames(t, s, "s")
	if list := all(t, s.EachBody(ctx)); len(list) != len(hs) {
		t.Errorf("%d bodies afterwards, want %d", len(list), len(hs))
	}
}

// testCancelledWithin: a sequence ends with the context's error, and the store
// goes on working.
func testCancelledWithin(t *testing.T, s Store) {
	rows := make([]quire.Row, 3000)
	for i := range rows {
		rows[i] = row(1, quire.PageNumber(i+1))
	}
	must(t, s.PutRows(context.Background(), rows))
	for round := range 20 {
		ctx, cancel := context.WithCancel(context.Background())
		seen := 0
		var last error
		for _, err := range s.Rows(ctx, asAnn(), quire.Filter{}) {
			if last = err; err != nil {
				break
			}
			if seen++; seen == 1+round {
				cancel()
			}
		}
		cancel()
		wantErr(t, last, context.Canceled)
	}
	if got := all(t, s.Rows(context.Background(), asAnn(), quire.Filter{})); len(got) != len(rows) {
		t.Errorf("%d rows afterwards, want %d", len(got), len(rows))
	}
	must(t, s.PutRows(context.Background(), rows[:1]))
}

package storetest

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

// A Store is what is tested.
type Store interface {
	quire.Bodies
	quire.PageTable
	quire.Heads
	Segments
}

// Segments is how stores keep the parts of an index. Package retrieve, which uses
// it, says what is asked.
type Segments interface {
	PutSegment(ctx context.Context, name string, from io.Reader) error
	ReadSegment(ctx context.Context, name string, off int64, n int) ([]byte, error)
	SegmentNames(ctx context.Context) ([]string, error)
	DropSegments(ctx context.Context, names []string) error
}

// An Open makes an empty store, which is closed when the test ends.
type Open func(t testing.TB) Store

// Test runs the suite. With -short it leaves out what takes seconds.
func Test(t *testing.T, open Open) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, Store)
	}{
		{"Bodies", testBodies},
		{"EmptyBody", testEmptyBody},
		{"BodiesAreCopies", testBodiesAreCopies},
		{"EachBody", testEachBody},
		{"DropBodies", testDropBodies},
		{"BigBody", testBigBody},
		{"ManyBodies", testManyBodies},
		{"RowFields", testRowFields},
		{"RowsAreCopies", testRowsAreCopies},
		{"RowOrder", testRowOrder},
		{"RowsReplaced", testRowsReplaced},
		{"RowWithoutName", testRowWithoutName},
		{"Filters", testFilters},
		{"RowsWithinRows", testRowsWithinRows},
		{"ManyRows", testManyRows},
		{"Visibility", testVisibility},
		{"AddressSpace", testAddressSpace},
		{"NothingForeign", testNothingForeign},
		{"Sessions", testSessions},
		{"DropSession", testDropSession},
		{"Heads", testHeads},
		{"HeadsRace", testHeadsRace},
		{"Segments", testSegments},
		{"SegmentParts", testSegmentParts},
		{"SegmentFaults", testSegmentFaults},
		{"SegmentMerge", testSegmentMerge},
		{"Concurrency", testConcurrency},
		{"RowsAllOrNone", testRowsAllOrNone},
		{"Cancelled", testCancelled},
		{"CancelledWithin", testCancelledWithin},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, open(t)) })
	}
}

// wantErr holds that an error is of a kind.
func wantErr(t *testing.T, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("error %v, want one that is %q", err, kind)
	}
}

// must ends the test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// all collects a sequence and ends the test at an error.
func all[T any](t *testing.T, seq iter.Seq2[T, error]) []T {
	t.Helper()
	list, err := collect(seq)
	must(t, err)
	return list
}

func collect[T any](seq iter.Seq2[T, error]) (list []T, err error) {
	for v, err := range seq {
		if err != nil {
			return list, err
		}
		list = append(list, v)
	}
	return list, nil
}

// refs names rows.
func refs(rows []quire.Row) []string {
	var list []string
	for _, r := range rows {
		list = append(list, r.Ref().String())
	}
	return list
}

func wantRefs(t *testing.T, what string, rows []quire.Row, want ...string) {
	t.Helper()
	if got := refs(rows); !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

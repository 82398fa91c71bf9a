package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/quire-agent/quire/internal/quire"
)

func testHeads(t *testing.T, s Store) {
	ctx := context.Background()
	wantHead := func(name, want string) {
		t.Helper()
		if got, err := s.Head(ctx, name); err != nil || got != want {
			t.Errorf("head %q is %q, %v, want %q", name, got, err, want)
		}
	}
	wantHead("a", "")
	wantErr(t, s.Advance(ctx, "a", "1", "2"), quire.ErrConflict)
	must(t, s.Advance(ctx, "a", "", "1"))
	wantErr(t, s.Advance(ctx, "a", "", "2"), quire.ErrConflict)
	wantErr(t, s.Advance(ctx, "a", "0", "2"), quire.ErrConflict)
	must(t, s.Advance(ctx, "a", "1", "\xff\x00"))
	must(t, s.Advance(ctx, "a", "\xff\x00", "\xff\x00"))
	wantHead("a", "\xff\x00")
	wantHead("A", "")
	must(t, s.Advance(ctx, "a", "\xff\x00", ""))
	wantHead("a", "")
	must(t, s.Advance(ctx, "a", "", "again"))
	wantHead("a", "again")
}

// testHeadsRace: of those who advance from the same value one succeeds.
func testHeadsRace(t *testing.T, s Store) {
	ctx := context.Background()
	const workers, rounds = 8, 20
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for done := 0; done < rounds; {
				value, err := s.Head(ctx, "count")
				if err != nil {
					t.Error(err)
					return
				}
				n, _ := strconv.Atoi(value) // 0 at first
				switch err := s.Advance(ctx, "count", value, strconv.Itoa(n+1)); {
				case err == nil:
					done++
				case !errors.Is(err, quire.ErrConflict):
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if got, err := s.Head(ctx, "count"); err != nil || got != strconv.Itoa(workers*rounds) {
		t.Errorf("count is %q, %v, want %d", got, err, workers*rounds)
	}
}

func testSegments(t *testing.T, s Store) {
	ctx := context.Background()
	put := func(name, content string) {
		t.Helper()
		must(t, s.PutSegment(ctx, name, iotest.OneByteReader(bytes.NewReader([]byte(content)))))
	}
	put("b", "second")
	put("a", "first")
	put("a", "first once more")
	put("empty", "")
	wantNames(t, s, "a", "b", "empty")
	wantPart(t, s, "a", 0, 100, []byte("first once more"))
	wantPart(t, s, "empty", 0, 100, nil)
	must(t, s.DropSegments(ctx, []string{"a", "nothing"}))
	wantNames(t, s, "b", "empty")
	_, err := s.ReadSegment(ctx, "a", 0, 1)
	wantErr(t, err, quire.ErrNotFound)
	put("a", "new")
	wantPart(t, s, "a", 1, 1, []byte("e"))
}

func wantNames(t *testing.T, s Segments, want ...string) {
	t.Helper()
	if got, err := s.SegmentNames(context.Background()); err != nil || !slices.Equal(got, want) {
		t.Errorf("segments %q, %v, want %q", got, err, want)
	}
}

func wantPart(t *testing.T, s Segments, name string, off int64, n int, want []byte) {
	t.Helper()
	if got, err := s.ReadSegment(context.Background(), name, off, n); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes of %q at %d come back as %d bytes, %v, want %d", n, name, off, len(got), err, len(want))
	}
}

// testSegmentParts reads around every border that a store may have.
func testSegmentParts(t *testing.T, s Store) {
	content := make([]byte, 9<<20+5)
	for i := range content {
		content[i] = byte(i) ^ byte(i>>8)*31 ^ byte(i>>16)*7
	}
	must(t, s.PutSegment(context.Background(), "s", bytes.NewReader(content)))
	for shift := 10; shift <= 23; shift++ {
		for _, off := range []int{1<<shift - 1, 1 << shift, 1<<shift + 1} {
			for _, n := range []int{0, 1, 2, 1000, 70_000} {
				wantPart(t, s, "s", int64(off), n, content[min(off, len(content)):min(off+n, len(content))])
			}
		}
	}
	end := len(content)
	wantPart(t, s, "s", 0, end, content)
	wantPart(t, s, "s", 0, 1<<62, content)
	wantPart(t, s, "s", int64(end-3), 100, content[end-3:])
	wantPart(t, s, "s", int64(end), 1, nil)
	wantPart(t, s, "s", 1<<62, 10, nil)
	for _, bad := range []struct {
		off int64
		n   int
	}{{-1, 1}, {0, -1}} {
		if _, err := s.ReadSegment(context.Background(), "s", bad.off, bad.n); err == nil {
			t.Errorf("%d bytes at %d were read", bad.n, bad.off)
		}
	}
}

// testSegmentFaults: what fails leaves nothing, and what was there stays.
func testSegmentFaults(t *testing.T, s Store) {
	ctx := context.Background()
	broken := errors.New("broken")
	half := func() io.Reader {
		return io.MultiReader(bytes.NewReader(make([]byte, 6<<20)), iotest.ErrReader(broken))
	}
	wantErr(t, s.PutSegment(ctx, "s", half()), broken)
	wantNames(t, s)
	must(t, s.PutSegment(ctx, "s", bytes.NewReader([]byte("whole"))))
	wantErr(t, s.PutSegment(ctx, "s", half()), broken)
	wantPart(t, s, "s", 0, 10, []byte("whole"))
	wantNames(t, s, "s")
}

// testSegmentMerge makes a segment from others while it reads them, as an index
// does that merges, in several places at once.
func testSegmentMerge(t *testing.T, s Store) {
	ctx := context.Background()
	part := bytes.Repeat([]byte("posting "), 100_000)
	must(t, s.PutSegment(ctx, "a", bytes.NewReader(part)))
	must(t, s.PutSegment(ctx, "b", bytes.NewReader(part)))
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			name := fmt.Sprint("merged", i)
			from := io.MultiReader(&segmentReader{s: s, name: "a"}, &segmentReader{s: s, name: "b"})
			if err := s.PutSegment(ctx, name, from); err != nil {
				t.Error(err)
			}
			wantPart(t, s, name, 0, 1<<30, slices.Concat(part, part))
		})
	}
	wg.Wait()
	wantNames(t, s, "a", "b", "merged0", "merged1", "merged2", "merged3")
}

// A segmentReader reads a segment from front to back.
type segmentReader struct {
	s    Segments
	name string
	at   int64
}

// Read reads on.
func (r *segmentReader) Read(p []byte) (int, error) {
	part, err := r.s.ReadSegment(context.Background(), r.name, r.at, len(p))
	if err == nil && len(part) == 0 {
		err = io.EOF
	}
	r.at += int64(len(part))
	return copy(p, part), err
}

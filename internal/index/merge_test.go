package index

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/quire-agent/quire/internal/quire"
)

// Merges, changes and rewrites of several processes at once, and of several
// goroutines of each, come to an end without an error, and nothing is lost.
func TestMergesBesideMerges(t *testing.T) {
	defer goleak.VerifyNone(t)
	ctx := t.Context()
	m := &Memory{}
	processes := []*Index{New(m, m), New(m, m), New(m, m)}
	const pages = 40
	var wg sync.WaitGroup
	for n, x := range processes {
		wg.Go(func() {
			for i := range pages {
				if err := x.Add(ctx, []Document{note(n+1, i+1, "walrus")}); err != nil {
					t.Errorf("process %d: %v", n, err)
				}
			}
			if err := x.Remove(ctx, []quire.PageRef{{Session: quire.SessionNumber(n + 1), Page: 1}}); err != nil {
				t.Errorf("process %d: %v", n, err)
			}
		})
		for range 2 {
			wg.Go(func() {
				for range pages {
					if err := mergeDue(ctx, x); err != nil {
						t.Errorf("process %d: %v", n, err)
					}
				}
			})
		}
	}
	wg.Wait()
	x := New(m, m)
	if err := errors.Join(mergeDue(ctx, x), x.Rewrite(ctx)); err != nil {
		t.Fatal(err)
	}
	st, err := x.Stats(ctx)
	if err != nil {
		t.Fatal(err)
	}
	names, err := m.SegmentNames(ctx)
	if want := len(processes) * (pages - 1); err != nil || st.Docs != want || len(names) != st.Segments || st.Segments >= fanIn {
		t.Errorf("%d of %d pages in %d segments, %d of which are stored, %v", st.Docs, want, st.Segments, len(names), err)
	}
}

func mergeDue(ctx context.Context, x *Index) error {
	for {
		if again, err := x.Merge(ctx); err != nil || !again {
			return err
		}
	}
}

// A segment that the manifest names and the store does not have is damage, said
// at once: it is not waited for, nor looked for again and again.
func TestMissingSegmentIsDamage(t *testing.T) {
	for _, open := range []bool{true, false} {
		t.Run(fmt.Sprintf("open=%v", open), func(t *testing.T) {
			ctx := t.Context()
			x, m := newMemory()
			for i := range fanIn {
				addAll(t, x, note(1, i+1, "walrus"))
			}
			now, err := x.current(ctx)
			if err != nil {
				t.Fatal(err)
			}
			delete(m.segments, now.segments[3].Name)
			if !open {
				x = New(m, m)
			}
			if did, err := x.Merge(ctx); did || !errors.Is(err, quire.ErrDamaged) {
				t.Errorf("merged: %v, %v", did, err)
			}
			if _, _, err := x.Candidates(ctx, words("walrus"), &quire.Reader{Who: me}, 10); !open && !errors.Is(err, quire.ErrDamaged) {
				t.Errorf("searched: %v", err)
			}
		})
	}
}

// A rival changes the manifest before each swap, or only a few times.
type rival struct {
	Memory
	left int
}

func (r *rival) Advance(ctx context.Context, name, from, next string) error {
	if r.left == 0 {
		return r.Memory.Advance(ctx, name, from, next)
	}
	r.left--
	return fmt.Errorf("head %s: %w", name, quire.ErrConflict)
}

// A swap that others are faster at is tried again, not for ever, and what could
// not be done leaves the index as it was.
func TestSwapIsTriedAgainWithABound(t *testing.T) {
	for _, c := range []struct {
		times int
		want  error
	}{{attempts - 1, nil}, {attempts, quire.ErrConflict}} {
		synctest.Test(t, func(t *testing.T) {
			ctx := t.Context()
			r := &rival{}
			x := New(r, r)
			for i := range fanIn {
				addAll(t, x, note(1, i+1, "walrus"))
			}
			r.left = c.times
			if did, err := x.Merge(ctx); !errors.Is(err, c.want) || did != (c.want == nil) {
				t.Errorf("beaten %d times: merged %v, %v", c.times, did, err)
			}
			if n := len(refsOf(t, x, "walrus", quire.Reader{Who: me})); n != fanIn {
				t.Errorf("beaten %d times: found %d of %d pages", c.times, n, fanIn)
			}
		})
	}
}

// Who waits for a turn, or for another attempt, can be called off.
func TestWaitingEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, _ := newMemory()
		if err := x.merging.take(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := x.Merge(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waited for a turn: %v", err)
		}
		if err := pause(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waited for an attempt: %v", err)
		}
	})
}

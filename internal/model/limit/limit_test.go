package limit

import (
	"context"
	"errors"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quire-agent/quire/internal/quire"
)

// slow answers after a second and counts how many calls are under way.
type slow struct {
	mu        sync.Mutex
	now, most int
}

func (s *slow) enter(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now += n
	s.most = max(s.most, s.now)
}

func (s *slow) Call(context.Context, quire.Call) iter.Seq2[quire.Delta, error] {
	return func(yield func(quire.Delta, error) bool) {
		s.enter(1)
		defer s.enter(-1)
		<-time.After(time.Second)
		yield(quire.ReplyEnded{}, nil)
	}
}

func TestCallsWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := &slow{}
		m := New(inner, 3)
		begin := time.Now()
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				for _, err := range m.Call(t.Context(), quire.Call{}) {
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if took := time.Since(begin); inner.most != 3 || took != 4*time.Second {
			t.Errorf("%d calls at once, in %v; want 3, in 4s", inner.most, took)
		}
	})
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	m := New(&slow{}, 1)
	m.slots <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var last error
	for _, err := range m.Call(ctx, quire.Call{}) {
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("the error is %v", last)
	}
}

// TestRoomIsGivenBack holds that leaving in the middle frees the room.
func TestRoomIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New(&slow{}, 1)
		for range 3 {
			for range m.Call(t.Context(), quire.Call{}) {
				break
			}
		}
		if len(m.slots) != 0 {
			t.Error("room is taken that nobody needs")
		}
	})
}

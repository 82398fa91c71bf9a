package gateway

import (
	"sync"
	"sync/atomic"
)

// A budget bounds the bytes of all copies together, those that wait in the queue
// included. It is safe for concurrent use.
type budget struct{ free atomic.Int64 }

func (b *budget) take(n int) bool {
	if b.free.Add(-int64(n)) >= 0 {
		return true
	}
	b.free.Add(int64(n))
	return false
}

func (b *budget) give(n int) { b.free.Add(int64(n)) }

// A tape is the copy of what passed in one direction of one call. The transport
// may still be reading a request when its answer is over, so a tape is safe for
// concurrent use, and after it was cut off it takes nothing.
type tape struct {
	budget *budget

	mu   sync.Mutex // guards what follows
	data []byte
	held int // bytes taken from the budget
	lost bool
	off  bool
}

// write copies. What does not fit the budget loses the whole tape: half a request
// tells nothing.
func (t *tape) write(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lost || t.off || len(p) == 0 {
		return
	}
	if !t.budget.take(len(p)) {
		t.budget.give(t.held)
		t.data, t.held, t.lost = nil, 0, true
		return
	}
	t.held += len(p)
	t.data = append(t.data, p...)
}

// adopt makes data the tape, which is not changed from here on, with the bytes of the
// budget that were taken for it.
func (t *tape) adopt(data []byte, held int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data, t.held = data, held
}

// lose makes the tape one that does not hold all.
func (t *tape) lose() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lost = true
}

// expect makes room for so many bytes that are announced.
func (t *tape) expect(n int64) {
	const most = 4 << 20 // an announcement is a claim; beyond this the tape grows with what comes
	t.data = make([]byte, 0, max(0, min(n, most)))
}

// cut ends the tape. held is what must be given back once data is done with.
func (t *tape) cut() (data []byte, held int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.off = true
	return t.data, t.held, !t.lost
}

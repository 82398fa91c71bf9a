package index

import (
	"container/list"
	"sync"
)

// A cache keeps pieces of segments that were read, the latest used, up to a
// number of bytes. It may be used by several goroutines.
type cache struct {
	limit int
	mu    sync.Mutex
	size  int
	order list.List // of *piece, the latest used first
	by    map[place]*list.Element

	scratch sync.Pool // of *[]float32: the scores of a search
}

// zeros is room for n scores, all 0, to be given back.
func (c *cache) zeros(n int) []float32 {
	if kept, ok := c.scratch.Get().(*[]float32); ok && cap(*kept) >= n {
		scores := (*kept)[:n]
		clear(scores)
		return scores
	}
	return make([]float32, n)
}

func (c *cache) giveBack(scores []float32) { c.scratch.Put(&scores) }

// pieceBytes is the size of a piece of posting lists, and of what lies between
// them; the last of a segment is smaller.
const pieceBytes = 4 << 10

// A place is where a piece lies in a segment. Term blocks and tables are pieces
// by themselves, whatever their size.
type place struct {
	name string
	off  int64
	n    int
}

type piece struct {
	at   place
	data []byte
}

func newCache(limit int) *cache { return &cache{limit: limit, by: map[place]*list.Element{}} }

func (c *cache) get(at place) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.by[at]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*piece).data, true
}

func (c *cache) put(at place, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.by[at]; ok {
		return
	}
	c.by[at] = c.order.PushFront(&piece{at, data})
	for c.size += len(data); c.size > c.limit; {
		last := c.order.Back()
		p := c.order.Remove(last).(*piece)
		delete(c.by, p.at)
		c.size -= len(p.data)
	}
}

// has reports whether a piece is there, and does not count as using it.
func (c *cache) has(at place) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.by[at]
	return ok
}

package index

import (
	"container/list"
	"sync"
)

// A cache keeps small pieces of segments that were read, the latest used, up to
// a number of bytes. It may be used by several goroutines.
type cache struct {
	limit int
	mu    sync.Mutex
	size  int
	order list.List // of *piece, the latest used first
	by    map[place]*list.Element
}

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
	if _, ok := c.by[at]; ok || len(data) > c.limit/16 {
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

package price

import (
	"maps"
	"slices"
)

// Clone is a cache that holds the same, so that it can be asked what a request would
// cost. What is sent through one of them the other knows nothing of. It takes time
// in proportion to what the cache holds.
func (c *Cache) Clone() *Cache {
	n := *c
	n.chain, n.total, n.marks = slices.Clone(c.chain), slices.Clone(c.total), slices.Clone(c.marks)
	n.prefixes.left, n.points.left = maps.Clone(c.prefixes.left), maps.Clone(c.points.left)
	n.points.entries = slices.Clone(c.points.entries)
	return &n
}

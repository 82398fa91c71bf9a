package assemble

import "github.com/quire-agent/quire/internal/quire"

// Sum is that of all of a head that a cache is looked up by. Marks, limits and
// notices are not among it.
func Sum(h *Head) quire.Hash { return keyOf(h).seed(0) }

package trace

import (
	"sort"
	"time"

	"github.com/quire-agent/quire/internal/quire"
)

// A claudeChain is what is known of the main chain or of a side chain while a
// transcript is read.
type claudeChain struct {
	name  string
	index int32

	starts    []int     // first nodes of the calls and prompts in the context, rising
	compacted bool      // at least once
	bare      bool      // a compaction was read, but not yet its summary
	settled   bool      // something new came after the last summary
	summary   time.Time // of the last summary
}

// reinjectWindow is how much later than the summary the harness records what it
// puts back: it does so in one go, but may run hooks for it.
const reinjectWindow = 5 * time.Second

// begin notes that a call or a prompt begins with a node.
func (c *claudeChain) begin(node int) { c.starts = append(c.starts, node) }

// next is where the first call or prompt behind a node begins, -1 if there is
// none.
func (c *claudeChain) next(node int) int {
	i := sort.SearchInts(c.starts, node+1)
	if i == len(c.starts) {
		return -1
	}
	return c.starts[i]
}

// cut forgets the calls and prompts behind a node.
func (c *claudeChain) cut(keep int) {
	c.starts = c.starts[:sort.SearchInts(c.starts, keep+1)]
	c.settled = true
}

func (c *claudeChain) compact() {
	c.starts, c.compacted, c.bare, c.settled = nil, true, true, true
}

func (c *claudeChain) summarised(at time.Time) { c.settled, c.summary = false, at }

// origin tells whether machine-made text of a time was put back after a
// compaction: it follows the summary directly and is not younger.
func (c *claudeChain) origin(at time.Time) quire.Origin {
	if !c.compacted || c.settled || at.Sub(c.summary) > reinjectWindow {
		c.settled = true
		return quire.OriginFirst
	}
	return quire.OriginReinjected
}

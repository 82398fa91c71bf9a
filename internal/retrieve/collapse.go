package retrieve

import (
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/shingle"
)

// sameAt is the share of the matching lines of a hit from which a page that
// holds them says the same.
const sameAt = 0.8

// A collapse remembers what the hits so far say.
type collapse struct {
	bodies map[quire.Hash]int
	texts  []map[uint64]bool // by hit: the lines of its page
}

func newCollapse() *collapse { return &collapse{bodies: map[quire.Hash]int{}} }

// sameBody finds the hit that has the same body. Pages that the query names are
// never taken for others.
func (c *collapse) sameBody(r *ranked) (hit int, ok bool) {
	hit, ok = c.bodies[r.row.Body]
	return hit, ok && r.row.Body != quire.Hash{} && r.score < byName
}

// sameLines finds the hit whose page holds nearly all of the lines that match.
func (c *collapse) sameLines(lines []Line) (hit int, ok bool) {
	match := map[uint64]bool{}
	for _, l := range lines {
		if l.Hit {
			addLine(match, l.Text)
		}
	}
	if len(match) < 2 {
		return 0, false
	}
	for hit, text := range c.texts {
		both := 0
		for h := range match {
			if text[h] {
				both++
			}
		}
		if float64(both) >= sameAt*float64(len(match)) {
			return hit, true
		}
	}
	return 0, false
}

// add takes in the next hit.
func (c *collapse) add(r *shown) {
	if _, ok := c.bodies[r.row.Body]; !ok {
		c.bodies[r.row.Body] = len(c.texts)
	}
	set := map[uint64]bool{}
	for _, line := range r.view.lines {
		addLine(set, line)
	}
	c.texts = append(c.texts, set)
}

// telling is the length from which a line says something: braces do not.
const telling = 8

func addLine(set map[uint64]bool, line string) {
	if len(strings.TrimSpace(line)) < telling {
		return
	}
	for _, h := range shingle.LineHashes(line) {
		set[h] = true
	}
}

package ingest

import (
	"time"

	"github.com/quire-agent/quire/internal/carrier"
	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/token"
	"github.com/quire-agent/quire/internal/vector"
)

// A Pool is a home with its stores: everything that ingest works on. All fields
// are set before the first use and not changed after it.
type Pool struct {
	Home    string
	Bodies  quire.Bodies
	Table   quire.PageTable
	Heads   quire.Heads
	Index   *index.Index
	Cards   *carrier.Cards // of the sessions; nil: none are kept
	Vectors *vector.Sets   // of their pages; nil: none are kept
	Counter *token.Counter
	Mask    func(text string) string // hides secrets from rows and index
	Owner   quire.Principal          // of the sessions that are imported
	Now     func() time.Time
}

// hold takes the lock of the home; see [journal.LockHome].
func (p *Pool) hold() (*journal.Lock, error) { return journal.LockHome(p.Home) }

// as is the reader who sees all of the owner's pages.
func (p *Pool) as() quire.Reader { return quire.Reader{Who: p.Owner} }

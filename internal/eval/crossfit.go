package eval

import (
	"errors"
	"fmt"
	"slices"

	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/replay"
	"github.com/quire-agent/quire/internal/schedule"
)

// A Crossfit splits the sessions of a corpus in two halves and fits a table on
// each, so that no session needs to be decided by a table that knows it.
//
// Sessions go to the halves in turn, in their order; those that share calls go
// to the same one and are fitted once. Both halves hold sessions of the same
// projects: what a table does on other projects is shown only by sessions that
// join several, which are decided by what was fitted on all sessions that share
// no call with them.
type Crossfit struct {
	halves [2]*schedule.Fit
	whole  *schedule.Fit
	fitted int
	half   map[*recording.Session]int
	apart  map[*recording.Session]*schedule.Fit // joined sessions: the sessions that share no call with them
}

// errNothingApart says that a joined session holds all there is.
var errNothingApart = errors.New("every session is part of the joined one, so that no table can be fitted without it")

// NewCrossfit fits everything. joined may be nil or a session that joins some of
// the others.
func NewCrossfit(root string, sessions []*recording.Session, joined *recording.Session, workers int) (*Crossfit, error) {
	c := &Crossfit{whole: &schedule.Fit{}, half: map[*recording.Session]int{}, apart: map[*recording.Session]*schedule.Fit{}}
	c.halves[0], c.halves[1] = &schedule.Fit{}, &schedule.Fit{}
	once := onceOf(root, sessions)
	c.fitted = len(once)
	fits, err := replay.FitAll(once, workers)
	if err != nil {
		return nil, err
	}
	for i, s := range once {
		c.half[s] = i % 2
		c.halves[i%2].Join(fits[i])
		c.whole.Join(fits[i])
	}
	c.copies(sessions, once)
	if joined == nil {
		return c, nil
	}
	return c, c.setApart(joined, once, fits)
}

// onceOf is the group of all sessions, each once.
func onceOf(root string, sessions []*recording.Session) (out []*recording.Session) {
	for _, g := range Groups(root, sessions) {
		if g.Name == everything {
			for _, i := range g.Sessions {
				out = append(out, sessions[i])
			}
		}
	}
	return out
}

// copies puts sessions that share calls with one that has a half in the same.
func (c *Crossfit) copies(sessions, once []*recording.Session) {
	half := map[string]int{}
	for _, s := range once {
		for i := range s.Calls {
			half[s.Calls[i].ID] = c.half[s]
		}
	}
	for _, s := range sessions {
		if _, ok := c.half[s]; ok {
			continue
		}
		for i := range s.Calls {
			if h, ok := half[s.Calls[i].ID]; ok {
				c.half[s] = h
				break
			}
		}
	}
}

func (c *Crossfit) setApart(joined *recording.Session, once []*recording.Session, fits []*schedule.Fit) error {
	known, apart := map[string]bool{}, &schedule.Fit{}
	for i := range joined.Calls {
		known[joined.Calls[i].ID] = true
	}
	for i, s := range once {
		if !slices.ContainsFunc(s.Calls, func(c recording.Call) bool { return known[c.ID] }) {
			apart.Join(fits[i])
		}
	}
	if apart.Trials() == 0 {
		return fmt.Errorf("cross-validate: %w", errNothingApart)
	}
	c.apart[joined] = apart
	return nil
}

// Whole is what all sessions show.
func (c *Crossfit) Whole() *schedule.Fit { return c.whole }

// CrossValidated is the version of tables that decide only what they were not
// fitted on.
const CrossValidated = "cross-validated"

// Validating picks for each session a table that was fitted without it.
func (c *Crossfit) Validating() replay.Tables {
	return c.Tables(func(f *schedule.Fit) *schedule.Table { return f.Table(CrossValidated) })
}

// Tables picks for each session a table that was fitted without it. form makes
// a table of what was seen.
func (c *Crossfit) Tables(form func(*schedule.Fit) *schedule.Table) replay.Tables {
	halves := [2]*schedule.Table{form(c.halves[1]), form(c.halves[0])}
	apart := map[*recording.Session]*schedule.Table{}
	for s, fit := range c.apart {
		apart[s] = form(fit)
	}
	return func(s *recording.Session) *schedule.Table {
		if t := apart[s]; t != nil {
			return t
		}
		return halves[c.half[s]]
	}
}

// Fitted is the number of sessions of [Crossfit.Whole].
func (c *Crossfit) Fitted() int { return c.fitted }

package usage

import (
	"errors"
	"time"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
)

// A Scope is what calls are booked to, as agents of a team record it.
type Scope struct {
	Run     string `json:"run,omitempty"`
	Brain   string `json:"brainId,omitempty"`
	Role    string `json:"role"`
	Phase   string `json:"phase"`
	Task    string `json:"taskId,omitempty"`
	Parent  string `json:"parentId,omitempty"`
	Agent   string `json:"agentSessionId,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
}

// Alone is the phase and role of an agent that works without a team.
const Alone = "solo"

// The records that say to whom calls belong from there on, and that they belong to
// nobody any more.
const (
	recordAgent  = "agent_session"
	recordRunEnd = "run_end"
)

// A Call is one call and what it used.
type Call struct {
	Scope
	Session quire.SessionNumber `json:"session"`
	Call    string              `json:"call"`
	Model   string              `json:"modelId"`
	At      time.Time           `json:"at"`
	Took    time.Duration       `json:"latencyNs"` // 0 where the answer is not recorded
	Usage   quire.Usage         `json:"usage"`

	Reported bool `json:"reported"` // the provider said what it used

	Cost *float64 `json:"cost,omitempty"` // US dollars; nil where the price is not known
}

// Read reads the calls of a journal, in their order. Places that are damaged are
// passed over. Without prices the calls have no cost.
func Read(path string, prices *price.Table) ([]Call, error) {
	head, err := journal.Head(path)
	if err != nil {
		return nil, err
	}
	r := reader{session: head.Number, prices: prices, scope: Scope{Role: Alone, Phase: Alone}, at: map[string]int{}}
	for rec, err := range journal.Read(path) {
		if err == nil {
			err = r.record(rec)
		}
		if err != nil && !errors.Is(err, quire.ErrDamaged) {
			return nil, err
		}
	}
	return r.calls, nil
}

// An opened agent has its stream in a session. The journal of a team's session names
// those of all its agents, of which the calls stand in their own.
type opened struct {
	Scope
	Session quire.SessionNumber `json:"session"`
}

type reader struct {
	session quire.SessionNumber
	prices  *price.Table
	scope   Scope
	calls   []Call
	at      map[string]int // call → place
}

func (r *reader) record(rec quire.Record) error {
	switch rec.Type {
	case recordAgent:
		a, err := journal.Decode[opened](rec)
		if err == nil && (a.Session == 0 || a.Session == r.session) {
			r.scope = a.Scope
		}
		return err
	case recordRunEnd:
		r.scope = Scope{Role: Alone, Phase: Alone}
	case quire.RecordCall:
		c, err := journal.Decode[quire.CallRecord](rec)
		if err == nil {
			r.at[c.Chain+"\x00"+c.Call] = len(r.calls)
			r.calls = append(r.calls, Call{Scope: r.scope, Session: r.session, Call: c.Call, Model: c.Model, At: c.At})
		}
		return err
	case quire.RecordUsage:
		u, err := journal.Decode[quire.UsageRecord](rec)
		if err == nil {
			r.usage(&u)
		}
		return err
	}
	return nil
}

func (r *reader) usage(u *quire.UsageRecord) {
	i, ok := r.at[u.Chain+"\x00"+u.Call]
	if !ok {
		return
	}
	c := &r.calls[i]
	c.Usage, c.Took, c.Reported = u.Usage, max(u.At.Sub(c.At), 0), true
	c.charge(r.prices)
}

// charge gives a call its cost, where it used something and the price is known.
func (c *Call) charge(prices *price.Table) {
	if prices == nil || !c.Reported {
		return
	}
	if m, known := prices.Model(c.Model); known {
		cost := m.Cost(c.Usage, c.At)
		c.Cost = &cost
	}
}

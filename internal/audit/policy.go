package audit

import (
	"strings"

	"github.com/quire-agent/quire/internal/replay"
)

// baseline is the policy to which ratios are taken: it does nothing.
const baseline = "append"

// policies adds up what policies would have made of the replayed sessions.
type policies struct {
	sums     map[string]*policySum
	sessions int
	calls    int
	cost     float64
	replay   float64 // cost of [Recorded] on the same sessions
}

type policySum struct {
	Policy
	prompt int64
	priced int
	// Over the sessions that have a price: the policy's cost, and those of the
	// baseline and of what really happened.
	cost, base, recorded float64
}

func newPolicies() policies { return policies{sums: make(map[string]*policySum)} }

// add adds the outcomes of a session. Sessions with a price are those whose
// every call has one.
func (p *policies) add(d *digest) {
	if len(d.outcomes) == 0 {
		return
	}
	if d.whole != nil {
		p.sessions++
		p.calls += d.mainCalls
		p.cost += *d.whole
	}
	rows := d.policies()
	if row := rows[AsRecorded]; row.Cost != nil {
		p.replay += *row.Cost
	}
	for _, o := range d.outcomes {
		if p.sums[o.Policy] == nil {
			p.sums[o.Policy] = &policySum{}
		}
		p.sums[o.Policy].add(d, o, rows)
	}
}

func (s *policySum) add(d *digest, o replay.Outcome, rows map[string]Outcome) {
	s.Sessions++
	s.Calls += o.Calls
	s.Faults += o.Faults
	s.FaultsWide += o.FaultsWide
	s.PeakPrompt = max(s.PeakPrompt, o.Peak)
	s.TooBig += o.TooBig
	s.prompt += o.Prompt
	if row := rows[o.Policy]; row.Cost != nil {
		s.priced++
		s.cost += *row.Cost
		s.compare(d.path, row, rows)
	}
}

// compare adds what the policy is compared with on a session.
func (s *policySum) compare(path string, row Outcome, rows map[string]Outcome) {
	if row.ToRecorded != nil {
		s.recorded += *rows[AsRecorded].Cost
	}
	if row.Ratio == nil {
		return
	}
	s.base += *rows[baseline].Cost
	if s.WorstRatio == nil || *row.Ratio > *s.WorstRatio {
		s.WorstRatio, s.WorstSession = row.Ratio, path
	}
}

func (p *policies) rows() map[string]Policy {
	rows := make(map[string]Policy, len(p.sums))
	for name, s := range p.sums {
		row := s.Policy
		row.Oracle = strings.HasPrefix(name, "oracle-")
		row.Ratio, row.ToRecorded = ratio(s.cost, s.base), ratio(s.cost, s.recorded)
		if s.priced > 0 {
			row.Cost = &s.cost
		}
		if s.Calls > 0 {
			row.MeanPrompt = float64(s.prompt) / float64(s.Calls)
		}
		rows[name] = row
	}
	return rows
}

func (p *policies) recorded() Replayed {
	r := Replayed{Sessions: p.sessions, Calls: p.calls}
	if p.sessions > 0 {
		r.Cost = &p.cost
		if p.replay > 0 {
			r.Replay = &p.replay
		}
	}
	return r
}

// policies are the outcomes of a session by policy.
func (d *digest) policies() map[string]Outcome {
	base, recorded := 0.0, 0.0
	for _, o := range d.outcomes {
		switch o.Policy {
		case baseline:
			base = costOf(o)
		case AsRecorded:
			recorded = costOf(o)
		}
	}
	rows := make(map[string]Outcome, len(d.outcomes))
	for _, o := range d.outcomes {
		rows[o.Policy] = d.outcome(o, base, recorded)
	}
	return rows
}

// costOf is the cost of an outcome. What the recorded agent's prompts did not
// hold it never fetched: only strict faults, of which it has next to none, are
// in its cost.
func costOf(o replay.Outcome) float64 {
	if o.Policy == AsRecorded {
		return o.CostStrict + o.Output
	}
	return o.Cost + o.Output
}

func (d *digest) outcome(o replay.Outcome, base, recorded float64) Outcome {
	row := Outcome{Faults: o.Faults, FaultsWide: o.FaultsWide, PeakPrompt: o.Peak}
	if d.whole != nil {
		cost := costOf(o)
		row.Cost, row.Ratio, row.ToRecorded = &cost, ratio(cost, base), ratio(cost, recorded)
	}
	if o.Calls > 0 {
		row.MeanPrompt = float64(o.Prompt) / float64(o.Calls)
	}
	return row
}

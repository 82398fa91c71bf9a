package eval

import (
	"cmp"
	"math"

	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/replay"
)

// Measures are the figures of one policy over a group of sessions under one
// profile, by the definitions of the evaluation document. A figure that cannot
// be known is null.
type Measures struct {
	Sessions int `json:"sessions"`
	Calls    int `json:"calls"`

	CostRatio       *float64 `json:"cost_ratio"`        // to the base: append in single, compact in endless; wide faults charged, output left out
	CostRatioStrict *float64 `json:"cost_ratio_strict"` // strict faults charged
	CostRatioOutput *float64 `json:"cost_ratio_output"` // recorded output included
	CostVsCompact   *float64 `json:"cost_vs_compact"`
	CostVsBest      *float64 `json:"cost_vs_best"` // to the cheaper of append and compact, session by session
	CostNet         *float64 `json:"cost_net"`     // to the base, without the constant prefix
	CostX3          *float64 `json:"cost_x3"`      // each fault charged three times
	CostX10         *float64 `json:"cost_x10"`

	WorstRatio  *float64 `json:"worst_ratio"`       // worst session's cost to its append
	Dearer      int      `json:"dearer"`            // sessions over 1.0005 of append, of those that append brings through without exceeding the window
	DearerBest  int      `json:"dearer_best"`       // sessions over 1.0005 of the cheaper of append and compact
	OracleCold  *float64 `json:"oracle_cold_share"` // share of oracle-cold's saving reached
	OracleAny   *float64 `json:"oracle_any_share"`
	RegretMean  *float64 `json:"regret_mean"` // cost to the offline optimum of rewrite times
	RegretWorst *float64 `json:"regret_worst"`

	Faults       float64  `json:"faults_per_call"` // strict
	FaultsWide   float64  `json:"faults_wide_per_call"`
	Coverage     *float64 `json:"coverage"` // of shingles of strict needs
	CoverageWide *float64 `json:"coverage_wide"`
	EditCoverage *float64 `json:"edit_coverage"`
	ServedText   *float64 `json:"rereads_served_text"`
	Served       *float64 `json:"rereads_served"`

	MeanPrompt    float64        `json:"mean_prompt"`
	MeanPromptNet float64        `json:"mean_prompt_net"`
	P95Prompt     int            `json:"p95_prompt"`
	PeakPrompt    int            `json:"peak_prompt"`
	Completion    *float64       `json:"prompt_completion_net"`
	Slope         float64        `json:"slope"`
	Epochs        float64        `json:"epochs_per_100"`
	Reasons       map[string]int `json:"epochs_by_reason,omitempty"`
	CacheRead     *float64       `json:"cache_read_share"`
	DeadResidency *float64       `json:"dead_residency"`
	MisSchedules  float64        `json:"misschedules_per_100"`
	Thrash        int            `json:"thrash"`
	Prefetched    int            `json:"prefetches_used"`   // pages brought in because they were foreseen, and used
	Wasted        int            `json:"prefetches_wasted"` // and those out again without it
	TooBig        int            `json:"over_window"`       // calls whose prompt does not fit the window
	Refused       int            `json:"calls_refused"`     // calls that the assembler would not have made
	Refusal       string         `json:"refusal,omitempty"` // why, of the first of them
}

// A Case is one session with the outcomes of all policies under one profile.
type Case struct {
	Session  *recording.Session
	Outcomes []replay.Outcome
	Window   int     // of the model in tokens, 0 when unknown: then one of 200k is assumed
	Optimum  float64 // offline optimum of rewrite times, 0 when not computed
}

// find returns the outcome of a policy, nil if it was not played.
func (c *Case) find(policy string) *replay.Outcome {
	for i := range c.Outcomes {
		if c.Outcomes[i].Policy == policy {
			return &c.Outcomes[i]
		}
	}
	return nil
}

// Measure pools the outcomes of a policy over cases. base names the policy that
// costs are relative to.
func Measure(cases []Case, policy, base string) Measures {
	var t tally
	for i := range cases {
		if o := cases[i].find(policy); o != nil {
			t.add(&cases[i], o, base)
		}
	}
	return t.measures()
}

// tally sums over sessions.
type tally struct {
	m                                          Measures
	cost, strict, output, prefix, extra        float64
	base, baseStrict, baseOutput, basePrefix   float64
	appended, compact, best, coldSave, anySave float64
	save, regret, worst                        float64
	regrets                                    int
	o                                          replay.Outcome
	prompts                                    []int
}

func (t *tally) add(c *Case, o *replay.Outcome, base string) {
	t.m.Sessions++
	t.count(o)
	t.costs(c, o, base)
	if c.Optimum > 0 {
		ratio := o.Cost / c.Optimum
		t.regret += ratio
		t.worst = math.Max(t.worst, ratio)
		t.regrets++
	}
}

func (t *tally) costs(c *Case, o *replay.Outcome, base string) {
	b, a, k := c.find(base), c.find("append"), c.find("compact")
	t.cost += o.Cost
	t.strict += o.CostStrict
	t.output += o.Output
	t.prefix += o.Prefix
	t.extra += o.Extra
	if b != nil {
		t.base += b.Cost
		t.baseStrict += b.CostStrict
		t.baseOutput += b.Cost + b.Output
		t.basePrefix += b.Cost - b.Prefix
	}
	if a == nil || k == nil {
		return
	}
	best := math.Min(a.Cost, k.Cost)
	t.appended += a.Cost
	t.compact += k.Cost
	t.best += best
	t.save += a.Cost - o.Cost
	t.worstOf(o.Cost/a.Cost, o.Cost/best, c.fits(a))
	if x := c.find("oracle-cold"); x != nil {
		t.coldSave += a.Cost - x.Cost
	}
	if x := c.find("oracle-any"); x != nil {
		t.anySave += a.Cost - x.Cost
	}
}

// dearer is the ratio above which a session counts as dearer.
const dearer = 1.0005

// fits reports whether the window holds every prompt of an outcome.
func (c *Case) fits(o *replay.Outcome) bool {
	return o.Peak <= (&replay.Setting{Window: c.Window}).WindowSize()
}

func (t *tally) worstOf(ratio, toBest float64, fits bool) {
	if math.IsNaN(ratio) { // a session without calls costs nothing
		return
	}
	if t.m.WorstRatio == nil || ratio > *t.m.WorstRatio {
		t.m.WorstRatio = &ratio
	}
	if ratio > dearer && fits {
		t.m.Dearer++
	}
	if toBest > dearer {
		t.m.DearerBest++
	}
}

func (t *tally) count(o *replay.Outcome) {
	s := &t.o
	s.Calls += o.Calls
	s.Faults += o.Faults
	s.FaultsWide += o.FaultsWide
	s.Prompt += o.Prompt
	s.Net += o.Net
	s.Peak = max(s.Peak, o.Peak)
	s.Read += o.Read
	s.Epochs += o.Epochs
	s.TooBig += o.TooBig
	s.Refused.Calls += o.Refused.Calls
	s.Refused.First = cmp.Or(s.Refused.First, o.Refused.First)
	s.Wanted += o.Wanted
	s.Covered += o.Covered
	s.WantedWide += o.WantedWide
	s.CoveredWide += o.CoveredWide
	s.Edits += o.Edits
	s.EditsServed += o.EditsServed
	s.Rereads += o.Rereads
	s.ServedText += o.ServedText
	s.Served += o.Served
	s.MisSchedules += o.MisSchedules
	s.Thrash += o.Thrash
	s.Foreseen.Used += o.Foreseen.Used
	s.Foreseen.Wasted += o.Foreseen.Wasted
	s.LiveCalls += o.LiveCalls
	s.DeadCalls += o.DeadCalls
	s.Completion += o.Completion
	s.Slope += o.Slope
	if s.Reasons == nil {
		s.Reasons = map[string]int{}
	}
	for r, n := range o.Reasons {
		s.Reasons[r] += n
	}
	for _, p := range o.Prompts {
		t.prompts = append(t.prompts, int(p))
	}
}

func (t *tally) measures() Measures {
	m, o := t.m, &t.o
	m.Calls = o.Calls
	if m.Sessions == 0 || o.Calls == 0 {
		return m
	}
	calls := float64(o.Calls)
	m.CostRatio = over(t.cost, t.base)
	m.CostRatioStrict = over(t.strict, t.baseStrict)
	m.CostRatioOutput = over(t.cost+t.output, t.baseOutput)
	m.CostVsCompact = over(t.cost, t.compact)
	m.CostVsBest = over(t.cost, t.best)
	m.CostNet = over(t.cost-t.prefix, t.basePrefix)
	m.CostX3 = over(t.cost+2*t.extra, t.base)
	m.CostX10 = over(t.cost+9*t.extra, t.base)
	m.OracleCold = over(t.save, t.coldSave)
	m.OracleAny = over(t.save, t.anySave)
	if t.regrets > 0 {
		m.RegretMean = over(t.regret, float64(t.regrets))
		m.RegretWorst = &t.worst
	}
	m.Faults = float64(o.Faults) / calls
	m.FaultsWide = float64(o.FaultsWide) / calls
	m.Coverage = over(float64(o.Covered), float64(o.Wanted))
	m.CoverageWide = over(float64(o.CoveredWide), float64(o.WantedWide))
	m.EditCoverage = over(float64(o.EditsServed), float64(o.Edits))
	m.ServedText = over(float64(o.ServedText), float64(o.Rereads))
	m.Served = over(float64(o.Served), float64(o.Rereads))
	t.sizes(&m)
	return m
}

func (t *tally) sizes(m *Measures) {
	o, calls := &t.o, float64(t.o.Calls)
	m.MeanPrompt = float64(o.Prompt) / calls
	m.MeanPromptNet = float64(o.Net) / calls
	m.P95Prompt = replay.Percentile(t.prompts, .95)
	m.PeakPrompt = o.Peak
	m.Completion = over(float64(o.Net), float64(o.Completion))
	m.Slope = o.Slope / float64(m.Sessions)
	m.Epochs = 100 * float64(o.Epochs) / calls
	m.Reasons = o.Reasons
	m.CacheRead = over(float64(o.Read), float64(o.Prompt))
	m.DeadResidency = over(float64(o.DeadCalls), float64(o.DeadCalls+o.LiveCalls))
	m.MisSchedules = 100 * float64(o.MisSchedules) / calls
	m.Thrash = o.Thrash
	m.Prefetched, m.Wasted = o.Foreseen.Used, o.Foreseen.Wasted
	m.TooBig = o.TooBig
	m.Refused, m.Refusal = o.Refused.Calls, o.Refused.First
}

// over divides, and is unknown where there is nothing to divide by.
func over(a, b float64) *float64 {
	if b == 0 || math.IsNaN(a/b) || math.IsInf(a/b, 0) {
		return nil
	}
	r := a / b
	return &r
}

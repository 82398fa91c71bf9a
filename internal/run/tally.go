package run

import (
	"sync"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/quire-agent/quire/internal/telemetry"
)

// A Tally counts what the scheduler of a session did (design, section 6.11), from
// the events of its loop. It may be asked while the loop runs. The zero Tally is
// ready.
type Tally struct {
	lock sync.Mutex
	now  Figures
}

// Figures are what was counted so far. Money is in the unit of the account.
type Figures struct {
	Calls       int
	Hits        int     // pages that answers quoted and that stood in the prompt
	Faults      int     // pages that were asked for and did not
	Soon        int     // of these, within so few calls after they were lowered that it was a mistake
	Cost, Saved float64 // what those cost, and what the going of their pages had saved until then
	Demotions   int     // pages that got a lower form
	Folds       int     // pages that a card stands for from then on
	Epochs      map[string]int
	Prefetched  schedule.Foresights
	Bill        Bill
}

// soon is within how many calls a fault makes lowering its page a mis-schedule
// (design, section 6.11).
const soon = 10

// Take counts an event.
func (t *Tally) Take(e Event) {
	t.lock.Lock()
	defer t.lock.Unlock()
	switch e := e.(type) {
	case Planned:
		t.now.planned(&e.Plan)
	case Answered:
		t.now.Calls++
		t.now.Hits += e.Hits
		t.now.Bill = e.Bill
	case Faulted:
		t.now.faulted(&e.FaultRecord)
	}
}

func (f *Figures) faulted(r *quire.FaultRecord) {
	f.Faults++
	if r.Since > 0 && r.Since <= soon {
		f.Soon++
		f.Cost += r.Cost
		f.Saved += r.Saved
	}
}

func (f *Figures) planned(p *schedule.Plan) {
	if p.Kind != "" {
		if f.Epochs == nil {
			f.Epochs = map[string]int{}
		}
		f.Epochs[p.Kind]++
	}
	for _, d := range p.Decisions {
		switch {
		case d.To == quire.RenditionCard && d.Tokens == 0:
			f.Folds++
		case !d.To.Resident():
			f.Demotions++
		}
	}
	for _, s := range p.Settled {
		f.Prefetched.Used += btoi(s.Used)
		f.Prefetched.Wasted += btoi(!s.Used)
	}
}

// Metrics are the figures for a collector.
func (t *Tally) Metrics() []telemetry.Metric {
	t.lock.Lock()
	defer t.lock.Unlock()
	f := &t.now
	list := []telemetry.Metric{
		count("quire.calls", "{call}", "Model calls that were answered.", float64(f.Calls)),
		count("quire.hits", "{page}", "Pages that an answer quoted and that stood in its prompt.", float64(f.Hits)),
		count("quire.page_faults", "{fault}", "Pages that were asked for and did not stand in the prompt.", float64(f.Faults)),
		count("quire.misschedules", "{fault}", "Of these, pages that were lowered at most ten calls before.", float64(f.Soon)),
		count("quire.misschedule_cost", "{USD}", "What those cost.", f.Cost),
		count("quire.misschedule_saving", "{USD}", "What the going of their pages had saved until then.", f.Saved),
		count("quire.demotions", "{page}", "Pages that got a lower form.", float64(f.Demotions)),
		count("quire.folds", "{page}", "Pages that a card stands for since.", float64(f.Folds)),
		count("quire.cost", "{USD}", "What the session cost.", f.Bill.Live),
		count("quire.cost_appended", "{USD}", "What it would have cost without Quire.", f.Bill.Shadow),
	}
	for _, kind := range []string{quire.EpochFree, quire.EpochForced, quire.EpochPaid, quire.EpochUndo} {
		list = append(list, count("quire.epochs", "{epoch}", "Rewrites of the prompt.", float64(f.Epochs[kind]), telemetry.Attribute{Key: "kind", Value: kind}))
	}
	for _, p := range []struct {
		outcome string
		n       int
	}{{"used", f.Prefetched.Used}, {"wasted", f.Prefetched.Wasted}} {
		list = append(list, count("quire.prefetches", "{page}", "Pages that were brought in because they were foreseen.", float64(p.n), telemetry.Attribute{Key: "outcome", Value: p.outcome}))
	}
	return list
}

func count(name, unit, what string, value float64, of ...telemetry.Attribute) telemetry.Metric {
	return telemetry.Metric{Name: name, Unit: unit, Description: what, Sum: true, Value: value, Attributes: of}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

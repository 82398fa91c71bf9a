package history

import (
	"fmt"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/schedule"
)

// Recorded tells what the journal says was sent. ok is false where it holds no
// plans: the session was not run by Quire. prices gives what undoing would cost;
// it may be nil.
func (s *Source) Recorded(prices func(model string) (schedule.Moment, bool)) (h *History, ok bool, err error) {
	o, err := s.outline()
	if err != nil {
		return nil, false, fmt.Errorf("read %s: %w", s.Path, err)
	}
	if len(o.plans) == 0 {
		return nil, false, nil
	}
	r := &recorded{outline: o, at: map[string]int{}, h: &History{Recorded: true, Calls: []Call{}, Epochs: []Epoch{}}, prices: prices}
	r.h.ends = r
	r.read()
	return r.h, true, nil
}

// recorded is a session that was run by Quire.
type recorded struct {
	outline *outline
	at      map[string]int // call → its number
	h       *History
	prices  func(model string) (schedule.Moment, bool)
}

func (r *recorded) read() {
	for i := range r.outline.calls {
		c := &r.outline.calls[i]
		r.at[c.Call] = i
		one := Call{Call: i, ID: c.Call, Model: c.Model, At: c.At}
		if i < len(r.outline.came) {
			one.Entered = r.outline.came[i]
		}
		r.h.Calls = append(r.h.Calls, one)
	}
	for i := range r.outline.plans {
		r.plan(&r.outline.plans[i])
	}
	for i := range r.outline.epochs {
		r.epoch(&r.outline.epochs[i])
	}
	for i := range r.outline.faults {
		r.fault(&r.outline.faults[i])
	}
	for i := range r.outline.ins {
		r.foreseen(&r.outline.ins[i])
	}
	for _, a := range r.outline.sums {
		if c := r.call(a.Chain, a.Call); c != nil {
			c.Account, c.Hits = a.Shadow-a.Live, a.Hits
		}
	}
	r.h.Pending = r.outline.undone(len(r.h.Calls), len(r.h.Calls))
	r.h.settle()
}

// call is a call of the main chain, nil where there is none of that name: it was
// planned and never made.
func (r *recorded) call(chain, id string) *Call {
	i, ok := r.at[id]
	if !ok || chain != "" {
		return nil
	}
	return &r.h.Calls[i]
}

func (r *recorded) plan(p *quire.PlanRecord) {
	c := r.call(p.Chain, p.Call)
	if c == nil {
		return
	}
	c.Epoch, c.Reason, c.Decisions, c.Prefix = p.Epoch, p.Reason, p.Decisions, p.Inputs.Prefix
	c.Before, c.After = p.Inputs.Stream, p.Inputs.Stream
	r.h.Prices = p.Inputs.Model
}

func (r *recorded) epoch(e *quire.EpochRecord) {
	c := r.call(e.Chain, e.Call)
	if c == nil {
		return
	}
	c.Before, c.After, c.Begins, c.Epoch = e.Before, e.After, true, len(r.h.Epochs)+1
	r.h.Epochs = append(r.h.Epochs, Epoch{
		Epoch: c.Epoch, Call: c.Call, At: c.At, Kind: e.Kind, Reason: e.Reason, Before: e.Before, After: e.After,
		Price: e.Price, Saves: e.Saves, Pages: pagesOf(c.Decisions), Undoes: r.undoes(e, c.Call),
	})
}

// undoes is the epoch that an epoch undoes, 0 for none.
func (r *recorded) undoes(e *quire.EpochRecord, call int) int {
	if e.Kind != quire.EpochUndo || e.Undoes > 0 {
		return e.Undoes
	}
	return r.outline.undone(0, call)
}

// foreseen takes a page that was foreseen, or of an earlier one whether it was used.
func (r *recorded) foreseen(p *quire.PageInRecord) {
	c := r.call(p.Chain, p.Call)
	switch {
	case c == nil || p.How != quire.PageInPrefetch:
	case p.Used != nil:
		r.h.used(p.Page, c.Call, *p.Used)
	default:
		c.Foreseen = append(c.Foreseen, Foreseen{Page: p.Page, Call: c.Call, Tokens: p.Tokens, Reason: p.Reason})
	}
}

func (r *recorded) fault(f *quire.FaultRecord) {
	c := r.call(f.Chain, f.Call)
	if c == nil {
		return
	}
	one := Fault{Page: f.Page, Call: c.Call, Cost: f.Cost, From: f.From, Since: f.Since, Saved: f.Saved}
	if f.Cost == 0 && r.prices != nil {
		if m, ok := r.prices(c.Model); ok { // the record has what was read again, and not its price
			prompt := float64(c.After + c.Prefix)
			one.Cost = float64(f.Trips)*(m.Prices.Read*prompt+m.Prices.Output*run.RecallOutput) + m.Write*float64(f.Reread)
		}
	}
	c.Faults = append(c.Faults, one)
}

// standing follows from the last decision about the page: its parts are not told
// apart, and what would become of it is not known before the next plan. A page
// that came in and of which nothing was decided stands in full.
func (r *recorded) standing(page quire.PageNumber) []Standing {
	if all := r.h.Decided(page); len(all) > 0 {
		d := all[len(all)-1].Decision
		d.From = d.To
		return []Standing{{Decision: d}}
	}
	for _, list := range r.outline.came {
		for _, e := range list {
			if e.Page == page {
				return []Standing{{Decision: quire.Decision{Page: page, From: quire.RenditionFull, To: quire.RenditionFull}}}
			}
		}
	}
	return nil
}

func (r *recorded) away(page quire.PageNumber) string { return r.outline.apart[page] }

// restored adds up what the epoch and those after it took out.
func (r *recorded) restored(epoch int) (Restored, bool) {
	if epoch < 1 || epoch > len(r.h.Epochs) || r.prices == nil {
		return Restored{}, false
	}
	now := r.h.Calls[len(r.h.Calls)-1].After
	out := Restored{Epoch: epoch, Now: now, Then: now}
	for _, e := range r.h.Epochs[epoch-1:] {
		out.Then += e.Before - e.After
	}
	m, ok := r.prices(r.h.Prices)
	out.cost(0, m)
	return out, ok
}

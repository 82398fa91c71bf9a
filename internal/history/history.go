package history

import (
	"cmp"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/schedule"
)

// A History is what was decided in a session.
type History struct {
	Recorded bool    `json:"recorded"` // it is what was sent; otherwise what would have been
	Prices   string  `json:"prices"`   // model or profile by whose prices it is
	Relative bool    `json:"relative"` // money is in input tokens; otherwise in US dollars
	Calls    []Call  `json:"calls"`    // calls count from 0, as everywhere
	Epochs   []Epoch `json:"epochs"`

	// Pending is the epoch that the next call undoes, 0 for none.
	Pending int `json:"pending,omitempty"`

	ends   ends
	prices func(call int) schedule.Moment // nil: not known
}

// A Call is one call and its plan.
type Call struct {
	Call      int              `json:"call"`
	ID        string           `json:"id"`
	Model     string           `json:"model,omitempty"`
	At        time.Time        `json:"at,omitzero"`
	Epoch     int              `json:"epoch"`            // to which it belongs; 0 is that before the first rewrite
	Begins    bool             `json:"begins,omitempty"` // that epoch begins here
	Reason    string           `json:"reason"`
	Prefix    int              `json:"prefix"`  // tokens of tools and system, which stand before the stream
	Before    int              `json:"before"`  // tokens of the stream, had it only been appended to
	After     int              `json:"after"`   // tokens of the stream
	Account   float64          `json:"account"` // what was saved until then
	Decisions []quire.Decision `json:"decisions,omitempty"`
	Entered   []Entered        `json:"entered,omitempty"`
	Faults    []Fault          `json:"faults,omitempty"`
	Foreseen  []Foreseen       `json:"foreseen,omitempty"` // pages that were brought in because words pointed to them
	Hits      int              `json:"hits,omitempty"`     // pages that the call needed and that stood in its prompt
}

// Foreseen is a page that a call's prompt held because words had pointed to it.
type Foreseen struct {
	Page   quire.PageNumber `json:"page"`
	Call   int              `json:"call"` // whose prompt held it first
	Tokens int              `json:"tokens"`
	Reason string           `json:"reason"`
	Known  bool             `json:"known"` // whether it was used
	Used   bool             `json:"used"`
}

// Entered is a part of a page that came in with a call.
type Entered struct {
	Page   quire.PageNumber `json:"page"`
	Part   quire.PartKind   `json:"part"`
	Tokens int              `json:"tokens,omitempty"` // 0: not known
}

// A Fault is a page that a call needed and that did not stand in its prompt.
type Fault struct {
	Page  quire.PageNumber `json:"page"`
	Call  int              `json:"call"`
	Cost  float64          `json:"cost"`
	Saved float64          `json:"saved,omitempty"` // what its going had saved until then
	From  quire.Rendition  `json:"from,omitempty"`  // in which it stood
	Epoch int              `json:"epoch,omitempty"` // that had lowered it, 0: none
	Since int              `json:"since,omitempty"` // calls since then
	Soon  bool             `json:"soon"`            // within so few calls that lowering it was a mistake
}

// soon is within how many calls a fault makes lowering a page a mis-schedule
// (design, section 6.11).
const soon = 10

// An Epoch is a rewrite of the stream.
type Epoch struct {
	Epoch  int       `json:"epoch"`
	Call   int       `json:"call"` // its first
	At     time.Time `json:"at,omitzero"`
	Kind   string    `json:"kind"`
	Reason string    `json:"reason"`
	Before int       `json:"before"`
	After  int       `json:"after"`
	Pages  int       `json:"pages"`            // that it gave another form
	Price  float64   `json:"price"`            // what it cost more than going on
	Saves  float64   `json:"saves"`            // what it was expected to save until the next one
	Faults int       `json:"faults"`           // on pages that it had lowered, within few calls
	Missed float64   `json:"missed"`           // what those cost
	Spared float64   `json:"spared,omitempty"` // and what the going of their pages had saved until then
	Undoes int       `json:"undoes,omitempty"` // the epoch that it undoes
	Undone int       `json:"undone,omitempty"` // the epoch that undid it
}

// ends is how things stand behind the last call.
type ends interface {
	standing(page quire.PageNumber) []Standing
	away(page quire.PageNumber) string
	restored(epoch int) (Restored, bool)
}

// A Standing is how a part of a page stands: From now, To if an epoch began with
// the next call.
type Standing struct {
	Part quire.PartKind `json:"part"`
	quire.Decision
}

// Restored is what undoing an epoch would bring about at the next call.
type Restored struct {
	Epoch int     `json:"epoch"`
	Now   int     `json:"now"`   // tokens of the stream
	Then  int     `json:"then"`  // and after it is undone
	Warm  float64 `json:"warm"`  // what the next call costs more if the cache still holds
	Cold  float64 `json:"cold"`  // and if it does not
	Later float64 `json:"later"` // what each call after it costs more
}

// cost prices a change: kept tokens stand as they are.
func (r *Restored) cost(kept int, m schedule.Moment) {
	then, now := float64(r.Then), float64(r.Now)
	r.Warm = m.Write*(then-float64(kept)) - m.Prices.Read*(now-float64(kept))
	r.Cold = m.Write * (then - now)
	r.Later = m.Prices.Read * (then - now)
}

// Undo says what undoing an epoch would cost. ok is false where it cannot be
// undone any more.
func (h *History) Undo(epoch int) (Restored, bool) { return h.ends.restored(epoch) }

// Standing says how the parts of a page stand behind the last call, in the order
// in which they entered. A page that never was in a prompt has none.
func (h *History) Standing(page quire.PageNumber) []Standing { return h.ends.standing(page) }

// Away says why a page without a standing has none.
func (h *History) Away(page quire.PageNumber) string {
	return cmp.Or(h.ends.away(page), "nothing that was sent holds it any more")
}

// A Decided is a decision about a page with the call that it was made at.
type Decided struct {
	Call  int    `json:"call"`
	Epoch int    `json:"epoch"`
	Kind  string `json:"kind,omitempty"` // of the epoch
	quire.Decision
}

// Decided are the decisions about a page, in their order.
func (h *History) Decided(page quire.PageNumber) (all []Decided) {
	for i := range h.Calls {
		c := &h.Calls[i]
		for _, d := range c.Decisions {
			if d.Page != page {
				continue
			}
			one := Decided{Call: c.Call, Epoch: c.Epoch, Decision: d}
			if c.Begins {
				one.Kind = h.Epochs[c.Epoch-1].Kind
			}
			all = append(all, one)
		}
	}
	return all
}

// Faults are those on a page, in their order.
func (h *History) Faults(page quire.PageNumber) (all []Fault) {
	for i := range h.Calls {
		for _, f := range h.Calls[i].Faults {
			if f.Page == page {
				all = append(all, f)
			}
		}
	}
	return all
}

// settle books each fault to the epoch that had lowered the page, and names the
// epochs that others undid.
func (h *History) settle() {
	lowered := map[quire.PageNumber]Decided{}
	for i := range h.Calls {
		c := &h.Calls[i]
		for _, d := range c.Decisions {
			if d.To.Resident() {
				delete(lowered, d.Page)
				continue
			}
			lowered[d.Page] = Decided{Call: c.Call, Epoch: c.Epoch, Decision: d}
		}
		for j := range c.Faults {
			h.blame(&c.Faults[j], lowered)
		}
	}
	for i := range h.Epochs {
		if e := &h.Epochs[i]; e.Undoes > 0 && e.Undoes <= len(h.Epochs) {
			h.Epochs[e.Undoes-1].Undone = e.Epoch
		}
	}
}

// saved is what the going of a page had saved until it was missed: the calls since
// did not read it, and where the prompt was written anyway that was spared too.
func (h *History) saved(f *Fault, d *Decided) float64 {
	if h.prices == nil {
		return 0
	}
	m := h.prices(f.Call)
	each := m.Prices.Read * float64(f.Since)
	if d.Epoch > 0 && d.Epoch <= len(h.Epochs) && h.Epochs[d.Epoch-1].Kind == quire.EpochFree {
		each += m.Write - m.Prices.Read
	}
	return each * float64(d.Was-d.Tokens)
}

func (h *History) blame(f *Fault, lowered map[quire.PageNumber]Decided) {
	d, ok := lowered[f.Page]
	if !ok {
		return
	}
	f.From, f.Epoch, f.Since = d.To, d.Epoch, f.Call-d.Call
	if f.Saved == 0 {
		f.Saved = h.saved(f, &d)
	}
	if f.Soon = f.Since <= soon && d.Epoch > 0 && d.Epoch <= len(h.Epochs); f.Soon {
		e := &h.Epochs[d.Epoch-1]
		e.Faults++
		e.Missed += f.Cost
		e.Spared += f.Saved
	}
}

// Foreseen are the times that a page was brought in because words pointed to it.
func (h *History) Foreseen(page quire.PageNumber) (all []Foreseen) {
	for i := range h.Calls {
		for _, f := range h.Calls[i].Foreseen {
			if f.Page == page {
				all = append(all, f)
			}
		}
	}
	return all
}

// used notes whether a page that was foreseen at a call was used.
func (h *History) used(page quire.PageNumber, call int, used bool) {
	if call < 0 || call >= len(h.Calls) {
		return
	}
	for i := range h.Calls[call].Foreseen {
		if f := &h.Calls[call].Foreseen[i]; f.Page == page {
			f.Known, f.Used = true, used
		}
	}
}

// Totals are the figures of a whole session (design, section 6.11).
type Totals struct {
	Hits      int            `json:"hits"`         // pages that calls needed and that stood in their prompts
	Faults    int            `json:"faults"`       // and that did not
	Missed    float64        `json:"missed"`       // what those cost
	Soon      int            `json:"misschedules"` // of the faults, those on pages that an epoch had lowered within few calls
	SoonCost  float64        `json:"misschedule_cost"`
	SoonSaved float64        `json:"misschedule_saving"` // what the going of those pages had saved until then
	Demotions int            `json:"demotions"`          // pages that got a lower form
	Folds     int            `json:"folds"`              // pages that a card stands for since
	Epochs    map[string]int `json:"epochs"`             // by kind
	Foreseen  int            `json:"prefetched"`
	Used      int            `json:"prefetches_used"`
	Wasted    int            `json:"prefetches_wasted"`
}

// Totals adds the calls up.
func (h *History) Totals() Totals {
	t := Totals{Epochs: map[string]int{}}
	for i := range h.Epochs {
		t.Epochs[h.Epochs[i].Kind]++
	}
	for i := range h.Calls {
		t.add(&h.Calls[i])
	}
	return t
}

func (t *Totals) add(c *Call) {
	t.Hits += c.Hits
	for _, d := range c.Decisions {
		switch {
		case d.To == quire.RenditionCard && d.Tokens == 0:
			t.Folds++
		case !d.To.Resident():
			t.Demotions++
		}
	}
	for i := range c.Faults {
		f := &c.Faults[i]
		t.Faults++
		t.Missed += f.Cost
		if f.Soon {
			t.Soon, t.SoonCost, t.SoonSaved = t.Soon+1, t.SoonCost+f.Cost, t.SoonSaved+f.Saved
		}
	}
	for i := range c.Foreseen {
		f := &c.Foreseen[i]
		t.Foreseen++
		if f.Known && f.Used {
			t.Used++
		} else if f.Known {
			t.Wasted++
		}
	}
}

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

	ends ends
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

func (h *History) blame(f *Fault, lowered map[quire.PageNumber]Decided) {
	d, ok := lowered[f.Page]
	if !ok {
		return
	}
	f.From, f.Epoch, f.Since = d.To, d.Epoch, f.Call-d.Call
	if f.Soon = f.Since <= soon && d.Epoch > 0 && d.Epoch <= len(h.Epochs); f.Soon {
		e := &h.Epochs[d.Epoch-1]
		e.Faults++
		e.Missed += f.Cost
	}
}

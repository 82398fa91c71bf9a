package schedule

import (
	"cmp"
	"slices"
)

// A Foresight says how likely a page is to be used before the next epoch when new
// words point to it: a product of factors, fitted as those of a [Factors] are.
type Foresight struct {
	Sign [speakers][whats]float64 `json:"sign"` // the base chance
	Size [sizes]float64           `json:"size"`
	Idle [idles]float64           `json:"idle"`
}

// A Glimpse is what a [Foresight] is looked up by.
type Glimpse struct {
	Sign Sign
	Size uint8
	Idle uint8 // step of the calls since the page was used or entered
}

func (f *Foresight) of(s Sign) float64 { return f.Sign[s.By][s.What] }

// chance that the page is used before the next epoch.
func (f *Foresight) chance(g Glimpse) float64 {
	return min(1, f.of(g.Sign)*f.Size[g.Size]*f.Idle[g.Idle])
}

// ForeseenWithin is the number of calls within which a page must be used for a
// hint to have been right: the usual number between two epochs.
const ForeseenWithin = usualGap

// Hinted enters that at some call something pointed to a page, and whether one of
// the [ForeseenWithin] calls from that one on used it.
func (f *Fit) Hinted(g Glimpse, used bool) {
	if f.hints == nil {
		f.hints = map[Glimpse]*outcome{}
	}
	o := &outcome{trials: 1}
	if used {
		o.wide = 1
	}
	f.hint(g, o)
}

func (f *Fit) hint(g Glimpse, n *outcome) {
	sum := f.hints[g]
	if sum == nil {
		sum = &outcome{}
		f.hints[g] = sum
	}
	sum.trials += n.trials
	sum.wide += n.wide
}

// usualUse is the chance of a sign that was never seen.
const usualUse = .1

// unknown is the table of a fit that saw nothing.
func unknown() (t Foresight) {
	for i := range t.Sign {
		for j := range t.Sign[i] {
			t.Sign[i][j] = usualUse
		}
	}
	for i := range t.Size {
		t.Size[i] = 1
	}
	for i := range t.Idle {
		t.Idle[i] = 1
	}
	return t
}

// foresight makes the table of foresight, by proportional fitting as [Fit.Table]
// does.
func (f *Fit) foresight() (t Foresight) {
	t = unknown()
	cells := f.glimpses()
	for range fitRounds {
		t.adjust(cells, func(g Glimpse) (*float64, float64) { return &t.Sign[g.Sign.By][g.Sign.What], smoothingBase })
		t.adjust(cells, func(g Glimpse) (*float64, float64) { return &t.Size[g.Size], smoothing })
		t.adjust(cells, func(g Glimpse) (*float64, float64) { return &t.Idle[g.Idle], smoothing })
	}
	return t
}

type glimpsed struct {
	Glimpse
	outcome
}

func (f *Fit) glimpses() []glimpsed {
	out := make([]glimpsed, 0, len(f.hints))
	for g, o := range f.hints {
		out = append(out, glimpsed{g, *o})
	}
	slices.SortFunc(out, func(a, b glimpsed) int {
		return cmp.Or(cmp.Compare(a.Sign.By, b.Sign.By), cmp.Compare(a.Sign.What, b.Sign.What), cmp.Compare(a.Size, b.Size), cmp.Compare(a.Idle, b.Idle))
	})
	return out
}

// adjust sets one factor everywhere, in the order of the cells.
func (t *Foresight) adjust(cells []glimpsed, pick func(Glimpse) (factor *float64, smooth float64)) {
	type sum struct{ seen, expected float64 }
	sums := map[*float64]*sum{}
	for i := range cells {
		c := &cells[i]
		factor, smooth := pick(c.Glimpse)
		s := sums[factor]
		if s == nil {
			s = &sum{smooth, smooth}
			sums[factor] = s
		}
		s.seen += c.wide
		s.expected += c.trials * t.of(c.Sign) * t.Size[c.Size] * t.Idle[c.Idle]
	}
	for factor, s := range sums {
		*factor *= s.seen / s.expected
	}
}

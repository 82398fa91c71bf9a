package schedule

import (
	"cmp"
	"slices"
)

// A Fit collects how often blocks were needed and makes a [Table] of it. It is
// fed by replaying recorded sessions: each block of each prompt is one trial.
// The zero Fit is ready. It is not safe for concurrent use.
type Fit struct {
	trials map[Case]*outcome
	hints  map[Glimpse]*outcome
}

type outcome struct{ trials, strict, wide float64 }

// Seen enters that at one call a block of case c stood in the prompt (idle
// counts to this call), and whether the call needed it.
func (f *Fit) Seen(c Case, strict, wide bool) {
	if f.trials == nil {
		f.trials = map[Case]*outcome{}
	}
	c.Idle = int(idleStep(c.Idle)) // cases of one step are alike
	o := f.trials[c]
	if o == nil {
		o = &outcome{}
		f.trials[c] = o
	}
	o.trials++
	if strict {
		o.strict++
	}
	if wide {
		o.wide++
	}
}

// Join adds what another fit saw.
func (f *Fit) Join(o *Fit) {
	if f.trials == nil {
		f.trials = map[Case]*outcome{}
	}
	for c, n := range o.trials {
		f.add(c, n)
	}
	if f.hints == nil {
		f.hints = map[Glimpse]*outcome{}
	}
	for g, n := range o.hints {
		f.hint(g, n)
	}
}

func (f *Fit) add(c Case, n *outcome) {
	sum := f.trials[c]
	if sum == nil {
		sum = &outcome{}
		f.trials[c] = sum
	}
	sum.trials += n.trials
	sum.strict += n.strict
	sum.wide += n.wide
}

// Trials is the number of trials seen.
func (f *Fit) Trials() (n float64) {
	for _, o := range f.trials {
		n += o.trials
	}
	return n
}

// Smoothing of the fit: a factor moves from 1 as if that many needs, as many as
// expected, had been seen besides; a base chance as if one had.
const (
	smoothing     = 4
	smoothingBase = 1
	fitRounds     = 40
)

// Table makes the table by iterative proportional fitting (the maximum
// likelihood of a product of factors under Poisson counts, smoothed): each
// factor in turn is set so that the needs it expects are those that were seen.
// The result depends on what was seen, not on its order.
func (f *Fit) Table(version string) *Table {
	cells := f.cells()
	return &Table{
		Version: version,
		Strict:  solve(cells, func(o *outcome) float64 { return o.strict }),
		Wide:    solve(cells, func(o *outcome) float64 { return o.wide }),

		Foresight: f.foresight(),
	}
}

type cell struct {
	Case
	outcome
}

func (f *Fit) cells() []cell {
	out := make([]cell, 0, len(f.trials))
	for c, o := range f.trials {
		out = append(out, cell{c, *o})
	}
	slices.SortFunc(out, func(a, b cell) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Quoted, b.Quoted), cmp.Compare(a.Size, b.Size),
			cmp.Compare(a.Edit, b.Edit), cmp.Compare(a.Turn, b.Turn), cmp.Compare(a.Heat, b.Heat), cmp.Compare(a.Task, b.Task), cmp.Compare(a.Case.Idle, b.Case.Idle))
	})
	return out
}

func solve(cells []cell, seen func(*outcome) float64) Factors {
	f := neutral()
	for range fitRounds {
		for _, pick := range pickers() {
			f.adjust(cells, seen, pick)
		}
	}
	return f
}

func neutral() (f Factors) {
	for i := range f.Kind {
		f.Kind[i] = [quotings]float64{.01, .01, .01}
	}
	for g := range groups {
		for i := range f.Size[g] {
			f.Size[g][i] = 1
		}
		for i := range f.Idle[g] {
			f.Idle[g][i] = 1
		}
	}
	f.Edit, f.Turn, f.Heat = [edits]float64{1, 1, 1, 1}, [turns]float64{1, 1, 1, 1}, [heats]float64{1, 1, 1, 1, 1, 1}
	f.Task = [tasked]float64{1, 1}
	return f
}

// A picker finds the factor of a case, and how strongly it is smoothed.
type picker func(f *Factors, c *Case) (factor *float64, smooth float64)

func pickers() []picker {
	return []picker{
		func(f *Factors, c *Case) (*float64, float64) { return &f.Kind[c.Kind][c.Quoted], smoothingBase },
		func(f *Factors, c *Case) (*float64, float64) { return &f.Size[c.group()][c.Size], smoothing },
		func(f *Factors, c *Case) (*float64, float64) { return &f.Idle[c.group()][c.Idle], smoothing },
		func(f *Factors, c *Case) (*float64, float64) { return &f.Edit[c.Edit], smoothing },
		func(f *Factors, c *Case) (*float64, float64) { return &f.Turn[c.Turn], smoothing },
		func(f *Factors, c *Case) (*float64, float64) { return &f.Heat[c.Heat], smoothing },
		func(f *Factors, c *Case) (*float64, float64) { return &f.Task[c.Task], smoothing },
	}
}

// adjust sets one factor everywhere. Its cells are visited in their order, so
// that sums are made in one order and the result is the same everywhere.
func (f *Factors) adjust(cells []cell, seen func(*outcome) float64, pick picker) {
	type sum struct{ seen, expected, smooth float64 }
	sums := map[*float64]*sum{}
	for i := range cells {
		c := &cells[i]
		factor, smooth := pick(f, &c.Case)
		s := sums[factor]
		if s == nil {
			s = &sum{smooth: smooth}
			sums[factor] = s
		}
		s.seen += seen(&c.outcome)
		s.expected += c.trials * f.base(c.Case) * f.Idle[c.group()][c.Case.Idle]
	}
	for factor, s := range sums {
		*factor *= (s.seen + s.smooth) / (s.expected + s.smooth)
	}
}

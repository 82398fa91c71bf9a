package schedule

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
)

// A Table says how likely a block is to be needed, from what is known of it
// when an epoch begins. The chance that the next call needs it is a product of
// factors, each looked up by one property ([Case]); whether a need is strict or
// wide (evaluation document, section 3) makes two tables of one. Fitting is in
// [Fit].
type Table struct {
	Version string  `json:"version"` // changes with the data
	Strict  Factors `json:"strict"`
	Wide    Factors `json:"wide"`

	Foresight Foresight `json:"foresight"` // of pages that new words point to
}

// Factors are the parts of a product.
type Factors struct {
	Kind [kinds][quotings]float64 `json:"kind"` // the base chance, by kind and by how often it was quoted
	Size [groups][sizes]float64   `json:"size"`
	Idle [groups][idles]float64   `json:"idle"`
	Edit [edits]float64           `json:"edit"`
	Turn [turns]float64           `json:"turn"`
	Heat [heats]float64           `json:"heat"`
	Task [tasked]float64          `json:"task"` // a table without it knows of no tasks
}

// UnmarshalJSON reads factors as they are written.
func (f *Factors) UnmarshalJSON(data []byte) error {
	type plain Factors
	p := plain{Task: [tasked]float64{1, 1}}
	if err := json.Unmarshal(data, &p); err != nil {
		return err
	}
	*f = Factors(p)
	return nil
}

// The numbers of steps of each property.
const (
	quotings = 3 // never, once, more often
	groups   = 2 // source reads, everything else: they age differently
	sizes    = 7
	idles    = 14
	edits    = 4 // no file, never edited, in the last ten calls, earlier
	turns    = 4 // turns since it was last used: 0, 1, 2, more
	heats    = 6 // heat when it was last used
	tasked   = 2 // of the task at hand or of none that is known, of another one
)

// recentEdit is up to how many calls ago an edit of a file is recent.
const recentEdit = 10

// sizeSteps and idleSteps are the upper ends of the steps, in tokens and calls.
func sizeSteps() [sizes - 1]int { return [...]int{59, 199, 599, 1499, 3499, 7999} }
func idleSteps() [idles - 1]int { return [...]int{1, 2, 3, 5, 8, 12, 18, 27, 40, 60, 90, 140, 220} }

// heatSteps are the upper ends of the steps of heat: one use, and more of them
// ever closer together.
func heatSteps() [heats - 1]float64 { return [...]float64{1.05, 1.5, 2, 3, 5} }

// A Case is what a table is looked up by.
type Case struct {
	Kind   Kind
	Quoted uint8
	Size   uint8
	Edit   uint8
	Turn   uint8
	Heat   uint8
	Task   uint8 // 1: of another task than the one at hand
	Idle   int   // calls since it was used or entered
}

func (c Case) group() int {
	if c.Kind == KindSource {
		return 0
	}
	return 1
}

// step is the first step whose upper end is not below n.
func step[T int | float64](ends []T, n T) uint8 {
	for i, end := range ends {
		if n <= end {
			return uint8(i)
		}
	}
	return uint8(len(ends))
}

func idleStep(n int) uint8 {
	ends := idleSteps()
	return step(ends[:], n)
}

func sizeStep(n int) uint8 {
	ends := sizeSteps()
	return step(ends[:], n)
}

func heatStep(heat float64) uint8 {
	ends := heatSteps()
	return step(ends[:], heat)
}

func (f *Factors) base(c Case) float64 {
	return f.Kind[c.Kind][c.Quoted] * f.Size[c.group()][c.Size] * f.Edit[c.Edit] * f.Turn[c.Turn] * f.Heat[c.Heat] * f.Task[c.Task]
}

// Within is the chance that a block is needed at least once within n calls, if
// it is not used meanwhile: 1 − exp(−Σ chance), by the steps of idle time.
func (f *Factors) Within(c Case, n int) float64 {
	base, group, sum := f.base(c), c.group(), 0.0
	ends := idleSteps()
	for at, end := c.Idle, c.Idle+n; at < end; {
		i := idleStep(at)
		next := end
		if int(i) < len(ends) {
			next = min(end, ends[i]+1)
		}
		sum += float64(next-at) * f.Idle[group][i]
		at = next
	}
	return 1 - math.Exp(-base*sum)
}

//go:embed table.json
var tableJSON []byte

// Default is the table that is shipped. Its data are made by `quire eval fit`.
func Default() (*Table, error) {
	t := &Table{}
	if err := json.Unmarshal(tableJSON, t); err != nil {
		return nil, fmt.Errorf("schedule: table of needs: %w", err)
	}
	return t, nil
}

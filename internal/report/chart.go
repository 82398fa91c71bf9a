package report

import (
	"math"
)

// Charts are drawn in a box of these units and stretched to the screen; text
// stands beside it, so that it keeps its size.
const (
	boxWidth  = 1000
	boxHeight = 200
)

// tick is one line of a vertical axis.
type tick struct {
	Y    int     // in the box
	Top  float64 // the same in percent
	Text string
}

// axis is a vertical axis from 0 to a round number not below most: its lines
// and that number.
func axis(most float64, format func(float64) string) ([]tick, float64) {
	if most <= 0 {
		most = 1
	}
	step := round(most / 3)
	top := step * math.Ceil(most/step-1e-9)
	var ticks []tick
	for i := 0; float64(i)*step <= top*1.0001; i++ {
		v := float64(i) * step
		share := 1 - v/top
		ticks = append(ticks, tick{Y: int(share * boxHeight), Top: math.Round(share*1000) / 10, Text: format(v)})
	}
	return ticks, top
}

// round is the smallest of 1, 2, 2.5 and 5 times a power of ten that is not
// below v.
func round(v float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 2, 2.5, 5} {
		if f*unit >= v*(1-1e-9) {
			return f * unit
		}
	}
	return 10 * unit
}

// box is a rectangle of a chart.
type box struct {
	X, Y, W, H float64
	Class      string
	Text       string // shown when pointed at
}

// tenth rounds to one decimal, which is finer than any screen.
func tenth(v float64) float64 { return math.Round(v*10) / 10 }

// spread picks at most n labels of a list, the first and the last among them,
// at equal distances.
func spread(labels []string, n int) []string {
	if len(labels) <= n {
		return labels
	}
	picked := make([]string, n)
	for i := range picked {
		picked[i] = labels[i*(len(labels)-1)/(n-1)]
	}
	return picked
}

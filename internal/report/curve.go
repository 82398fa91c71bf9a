package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strconv"
	"strings"
)

// A Line is a run of dots. One without a name is not joined: each of its dots
// stands for itself and is labelled.
type Line struct {
	Name string
	Dots []Dot
}

// A Dot is what one policy comes to: its strict faults a call, and its cost
// relative to sending everything.
type Dot struct {
	Name         string
	Faults, Cost float64
}

//go:embed curve.svg
var curveSource string

// The picture and the room around its plot, in its own units.
const (
	curveWidth, curveHeight    = 900, 560
	curveLeft, curveRight      = 64, 24
	curveTop, curveBottom      = 40, 56
	curveInsideX, curveInsideY = curveWidth - curveLeft - curveRight, curveHeight - curveTop - curveBottom
	labelWidth, labelGap       = 110, 15 // room of a label
	curveMost                  = 1.1     // cost at the upper edge; what is dearer stands there with its figure
)

// curveChart is what the template shows.
type curveChart struct {
	Width, Height            int
	Left, Right, Top, Bottom int
	Summary                  string
	XTicks, YTicks           []curveTick
	Lines                    []curveLine
	most                     float64 // faults at the right edge
	least, high              float64 // cost at the lower edge and the upper one
	labels                   []curveDot
}

type curveTick struct {
	At   float64
	Text string
}

type curveLine struct {
	Class int // 0 and 1 for joined lines, 2 for dots
	Path  string
	Dots  []curveDot
}

type curveDot struct {
	Name, Words, Label, Anchor string
	X, Y, LabelX, LabelY       float64
}

// Curve writes an SVG picture of cost against faults. It follows the reader's
// light or dark mode, names each dot when pointed at, and holds no script. It
// shows at most two named lines.
func Curve(w io.Writer, lines []Line) error {
	t, err := template.New("curve").Parse(curveSource)
	if err != nil {
		return fmt.Errorf("write the curve: %w", err)
	}
	if err := t.Execute(w, newCurve(lines)); err != nil {
		return fmt.Errorf("write the curve: %w", err)
	}
	return nil
}

func newCurve(lines []Line) *curveChart {
	c := &curveChart{
		Width: curveWidth, Height: curveHeight, Left: curveLeft, Right: curveWidth - curveRight, Top: curveTop, Bottom: curveHeight - curveBottom,
		most: .001, least: 1, high: 1,
	}
	for _, l := range lines {
		for _, d := range l.Dots {
			c.most, c.least, c.high = max(c.most, d.Faults), min(c.least, d.Cost), max(c.high, d.Cost)
		}
	}
	c.least, c.high = math.Floor(c.least*10)/10, min(math.Ceil(c.high*20)/20, curveMost)
	c.ticks()
	named := 0
	for _, l := range lines {
		c.line(l, named)
		if l.Name != "" {
			named++
		}
	}
	c.Summary = curveSummary(lines)
	return c
}

func (c *curveChart) ticks() {
	for _, v := range []float64{0, .001, .003, .005, .01, .02, .03, .05, .08, .12, .2} {
		if v <= c.most {
			c.XTicks = append(c.XTicks, curveTick{c.x(v), strconv.FormatFloat(v, 'f', -1, 64)})
		}
	}
	for i := range int(math.Round((c.high-c.least)*10)) + 1 {
		v := c.least + float64(i)/10
		c.YTicks = append(c.YTicks, curveTick{c.y(v), fmt.Sprintf("%.1f", v)})
	}
}

// x is the place of a number of faults; few are drawn apart.
func (c *curveChart) x(faults float64) float64 {
	return tenth(curveLeft + math.Sqrt(faults/c.most)*curveInsideX)
}

func (c *curveChart) y(cost float64) float64 {
	return tenth(curveTop + (c.high-cost)/max(c.high-c.least, .1)*curveInsideY)
}

func (c *curveChart) line(l Line, class int) {
	out := curveLine{Class: 2}
	if l.Name != "" {
		out.Class = class
	}
	var path strings.Builder
	for i, d := range l.Dots {
		dot := curveDot{Name: d.Name, Words: fmt.Sprintf("cost %.3f, %.4f faults a call", d.Cost, d.Faults), X: c.x(d.Faults), Y: c.y(min(d.Cost, c.high))}
		switch {
		case l.Name == "" && d.Cost > c.high:
			dot.Label = fmt.Sprintf("%s (%.2f)", d.Name, d.Cost)
		case l.Name == "":
			dot.Label = d.Name
		case i == len(l.Dots)-1:
			dot.Label = l.Name
		}
		c.label(&dot, l.Name != "")
		out.Dots = append(out.Dots, dot)
		fmt.Fprintf(&path, "%c%g %g", "ML"[min(i, 1)], dot.X, dot.Y)
	}
	if l.Name != "" {
		out.Path = path.String()
	}
	c.Lines = append(c.Lines, out)
}

// label places a label beside its dot, on the left near the right edge or if left
// is set, and lower where another one is in the way.
func (c *curveChart) label(d *curveDot, left bool) {
	if d.Label == "" {
		return
	}
	d.Anchor, d.LabelX, d.LabelY = "start", d.X+9, d.Y+5
	if left || d.X > curveWidth*3/4 {
		d.Anchor, d.LabelX = "end", d.X-9
	}
	for range c.labels {
		for _, o := range c.labels {
			if math.Abs(o.LabelX-d.LabelX) < labelWidth && math.Abs(o.LabelY-d.LabelY) < labelGap {
				d.LabelY = tenth(o.LabelY + labelGap)
			}
		}
	}
	c.labels = append(c.labels, *d)
}

// curveSummary says in words what the picture shows.
func curveSummary(lines []Line) string {
	var parts []string
	for _, l := range lines {
		for i, d := range l.Dots {
			if l.Name == "" || i == 0 || i == len(l.Dots)-1 {
				parts = append(parts, fmt.Sprintf("%s: cost %.3f at %.4f faults a call", strings.TrimSpace(l.Name+" "+d.Name), d.Cost, d.Faults))
			}
		}
	}
	return strings.Join(parts, "; ") + "."
}

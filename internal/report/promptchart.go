package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/quire-agent/quire/internal/audit"
)

const (
	maxAreaPoints = 200 // of a chart; a screen shows no more
	maxHits       = 100 // strips that say what they are when pointed at
)

// promptChart is the prompt size of a session, call by call, stacked by kind.
type promptChart struct {
	Title, Summary string
	Width, Height  int
	PauseTop       int
	Axis           []tick
	Areas          []area
	Cuts, Pauses   []float64
	Hits           []box
	Labels         []string
}

type area struct{ Path, Class string }

// layer is what a chart shows in one colour.
type layer struct {
	class, name string
	kinds       []audit.Kind
}

// layers are the colours of a chart from the bottom up.
func layers() []layer {
	return []layer{
		{"k-system", "instructions, tools, reminders, summaries", []audit.Kind{audit.KindSystem, audit.KindMachine, audit.KindSummary}},
		{"k-user", "your own words", []audit.Kind{audit.KindUser}},
		{"k-text", "the model's text and thinking", []audit.Kind{audit.KindText, audit.KindThinking}},
		{"k-ask", "its requests and edits", []audit.Kind{audit.KindToolCall}},
		{"k-read", "files it read", []audit.Kind{audit.KindRead}},
		{"k-run", "output of commands", []audit.Kind{audit.KindRun}},
		{"k-search", "search results", []audit.Kind{audit.KindSearch}},
		{"k-other", "other results, images", []audit.Kind{audit.KindResult, audit.KindMedia}},
	}
}

func promptLegend() []legend {
	var list []legend
	for _, l := range layers() {
		list = append(list, legend{l.class, l.name})
	}
	return list
}

// seriesClasses are the names of all colours.
func seriesClasses() []string {
	var list []string
	for i := range maxSeries + 1 {
		list = append(list, fmt.Sprintf("c%d", i))
	}
	for _, l := range layers() {
		list = append(list, l.class)
	}
	return list
}

// stack is one call of a chart: its layers' sizes.
type stack struct {
	call  int
	sizes []int64
	point audit.Point
}

func newPromptChart(r audit.Report, t audit.Timeline) promptChart {
	stacks := stacksOf(t)
	most := int64(0)
	for _, s := range stacks {
		most = max(most, s.point.Prompt)
	}
	c := promptChart{Title: chartTitle(t), Width: boxWidth, Height: boxHeight, PauseTop: boxHeight - boxHeight/8}
	c.Summary = chartSummary(t, most)
	var top float64
	c.Axis, top = axis(float64(most), func(v float64) string { return tokens(int64(v)) })
	at := scale(stacks)
	c.areas(stacks, at, top)
	c.Cuts, c.Pauses = at.all(t.Compactions), at.all(t.Pauses)
	c.hits(r, stacks, at)
	c.Labels = labels(stacks)
	return c
}

func chartTitle(t audit.Timeline) string {
	name := base(t.Session)
	if t.Cost > 0 {
		return name + " · " + money(t.Cost)
	}
	return name
}

func chartSummary(t audit.Timeline, most int64) string {
	text := fmt.Sprintf("%s, largest prompt %s tokens", count(t.Calls, "call", "calls"), tokens(most))
	if n := len(t.Compactions); n > 0 {
		text += ", " + count(n, "summary", "summaries")
	}
	if n := len(t.Pauses); n > 0 {
		text += ", " + count(n, "long pause", "long pauses")
	}
	return text
}

// stacksOf thins a timeline out: from each stretch the largest prompt.
func stacksOf(t audit.Timeline) []stack {
	n := min(len(t.Points), maxAreaPoints)
	list := make([]stack, n)
	for i := range list {
		list[i] = stackOf(t, largest(t.Points[i*len(t.Points)/n:(i+1)*len(t.Points)/n]))
	}
	return list
}

func largest(points []audit.Point) audit.Point {
	best := points[0]
	for _, p := range points {
		if p.Prompt > best.Prompt {
			best = p
		}
	}
	return best
}

func stackOf(t audit.Timeline, p audit.Point) stack {
	all := layers()
	s := stack{call: p.Call, point: p, sizes: make([]int64, len(all))}
	for i, l := range all {
		for j, k := range t.Kinds {
			for _, want := range l.kinds {
				if k == want {
					s.sizes[i] += p.Tokens[j]
				}
			}
		}
	}
	return s
}

// span is the horizontal scale of a chart: calls to units of the box.
type span struct{ first, last int }

func scale(stacks []stack) span {
	return span{stacks[0].call, max(stacks[len(stacks)-1].call, stacks[0].call+1)}
}

func (s span) x(call int) float64 {
	return tenth(float64(call-s.first) / float64(s.last-s.first) * boxWidth)
}

func (s span) all(calls []int) []float64 {
	var list []float64
	for _, c := range calls {
		if c >= s.first && c <= s.last {
			list = append(list, s.x(c))
		}
	}
	return list
}

// areas draws each layer as the ground between its sum and the one below.
func (c *promptChart) areas(stacks []stack, at span, top float64) {
	low := make([]int64, len(stacks))
	for i, l := range layers() {
		var there, back strings.Builder
		used := false
		for j, s := range stacks {
			high := low[j] + s.sizes[i]
			used = used || s.sizes[i] > 0
			corner(&there, at.x(s.call), high, top)
			k := len(stacks) - 1 - j
			corner(&back, at.x(stacks[k].call), low[k], top)
		}
		for j, s := range stacks {
			low[j] += s.sizes[i]
		}
		if used {
			c.Areas = append(c.Areas, area{"M" + there.String()[1:] + back.String() + "Z", l.class})
		}
	}
}

func corner(b *strings.Builder, x float64, n int64, top float64) {
	b.WriteString("L" + strconv.FormatFloat(x, 'f', -1, 64) + " " + strconv.FormatFloat(tenth((1-float64(n)/top)*boxHeight), 'f', -1, 64))
}

// hits makes strips over the chart that say what is below them.
func (c *promptChart) hits(r audit.Report, stacks []stack, at span) {
	n := min(len(stacks), maxHits)
	for i := range n {
		s := stacks[i*len(stacks)/n]
		end := float64(boxWidth)
		if next := (i + 1) * len(stacks) / n; next < len(stacks) {
			end = at.x(stacks[next].call)
		}
		c.Hits = append(c.Hits, box{X: at.x(s.call), W: max(1, tenth(end-at.x(s.call))), Text: s.words(r)})
	}
}

func (s stack) words(r audit.Report) string {
	text := fmt.Sprintf("call %d", s.call)
	if !s.point.At.IsZero() {
		text += s.point.At.In(r.Location()).Format(", 2 Jan 15:04")
	}
	text += ": " + tokens(s.point.Prompt)
	for i, l := range layers() {
		if s.sizes[i] > 0 {
			text += ", " + l.name + " " + tokens(s.sizes[i])
		}
	}
	return text
}

func labels(stacks []stack) []string {
	var list []string
	for _, s := range stacks {
		list = append(list, fmt.Sprintf("call %d", s.call))
	}
	return spread(list, 4)
}

package report

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/quire-agent/quire/internal/audit"
)

const (
	maxBars   = 92 // more days than this are shown as weeks, more weeks as months
	maxSeries = 5  // models with a colour of their own
)

// dayChart is the spending by day, stacked by model.
type dayChart struct {
	Title, Summary string
	Width, Height  int
	Axis           []tick
	Bars, Hits     []box
	Labels         []string
	Legend         []legend
	Table          *grid
}

// slot is one bar: a day, a week or a month.
type slot struct {
	name  string
	calls int
	costs map[string]float64 // by model
}

func (s slot) total() (sum float64) {
	for _, name := range slices.Sorted(maps.Keys(s.costs)) {
		sum += s.costs[name]
	}
	return sum
}

// newDayChart is nil where there is less than two days or no price.
func newDayChart(r audit.Report) *dayChart {
	days := dated(r)
	if len(days) < 2 || unitOf(r) != inMoney {
		return nil
	}
	slots, per := slotsOf(days)
	names := seriesOf(r)
	c := &dayChart{Title: "Spent by " + per + ", by model", Width: boxWidth, Height: boxHeight}
	most, best := 0.0, slots[0]
	for _, s := range slots {
		if t := s.total(); t > most {
			most, best = t, s
		}
	}
	c.Summary = fmt.Sprintf("Spending by %s; the most was %s on %s.", per, money(most), best.name)
	var top float64
	c.Axis, top = axis(most, money)
	c.draw(slots, names, top)
	c.Table = slotGrid(slots, names, per)
	return c
}

// seriesOf names the dearest models; the others share a colour.
func seriesOf(r audit.Report) []string {
	var names []string
	for _, g := range r.Models {
		if cost, _ := spent(g.Sum); cost > 0 && len(names) < maxSeries {
			names = append(names, g.Name)
		}
	}
	return names
}

func (c *dayChart) draw(slots []slot, names []string, top float64) {
	step := float64(boxWidth) / float64(len(slots))
	others := false
	var labels []string
	for i, s := range slots {
		x, y, text := tenth(float64(i)*step+step*.1), float64(boxHeight), s.name+": "+money(s.total())
		for j, part := range s.parts(names) {
			others = others || j == maxSeries && part.amount > 0
			if part.amount <= 0 {
				continue
			}
			h := part.amount / top * boxHeight
			y -= h
			c.Bars = append(c.Bars, box{X: x, Y: tenth(y), W: tenth(step * .8), H: tenth(h), Class: fmt.Sprintf("c%d", j)})
			text += fmt.Sprintf(", %s %s", part.name, money(part.amount))
		}
		c.Hits = append(c.Hits, box{X: tenth(float64(i) * step), W: tenth(step), Text: text + fmt.Sprintf(", %s", count(s.calls, "call", "calls"))})
		labels = append(labels, s.name)
	}
	c.Labels = spread(labels, 4)
	for j, name := range names {
		c.Legend = append(c.Legend, legend{fmt.Sprintf("c%d", j), name})
	}
	if others {
		c.Legend = append(c.Legend, legend{fmt.Sprintf("c%d", maxSeries), "other models"})
	}
}

// parts splits a slot by the named models and, last, all others.
func (s slot) parts(names []string) []piece {
	list := make([]piece, maxSeries+1)
	list[maxSeries].name = "other models"
	for _, name := range slices.Sorted(maps.Keys(s.costs)) {
		j := slices.Index(names, name)
		if j < 0 {
			j = maxSeries
		} else {
			list[j].name = name
		}
		list[j].amount += s.costs[name]
	}
	return list
}

// slotsOf gathers days without gaps, as days, weeks or months.
func slotsOf(days []audit.Day) ([]slot, string) {
	first, errFirst := time.Parse(time.DateOnly, days[0].Date)
	last, errLast := time.Parse(time.DateOnly, days[len(days)-1].Date)
	if errFirst != nil || errLast != nil {
		return gather(days, func(date string) string { return date }, nil), "day"
	}
	length := int(last.Sub(first).Hours()/24) + 1
	switch {
	case length <= maxBars:
		return gather(days, dayName, every(first, last, 1, dayName)), "day"
	case length <= 7*maxBars:
		return gather(days, weekName, every(first, last, 7, weekName)), "week"
	default:
		return gather(days, monthName, every(first, last, 28, monthName)), "month"
	}
}

func dayName(date string) string   { return nameOf(date, "2 Jan 2006", 0) }
func monthName(date string) string { return nameOf(date, "Jan 2006", 0) }

// weekName is the Monday of a day's week.
func weekName(date string) string {
	t, _ := time.Parse(time.DateOnly, date)
	return nameOf(date, "2 Jan 2006", (int(t.Weekday())+6)%7)
}

func nameOf(date, layout string, back int) string {
	t, _ := time.Parse(time.DateOnly, date)
	return t.AddDate(0, 0, -back).Format(layout)
}

// every names the slots from first to last, also those without calls.
func every(first, last time.Time, days int, name func(string) string) []string {
	var names []string
	for t := first; !t.After(last); t = t.AddDate(0, 0, days) {
		names = append(names, name(t.Format(time.DateOnly)))
	}
	return slices.Compact(append(names, name(last.Format(time.DateOnly))))
}

// gather adds the days of a slot up; order lists all slots, nil means those of
// the days.
func gather(days []audit.Day, name func(string) string, order []string) []slot {
	byName := make(map[string]*slot)
	for _, n := range order {
		byName[n] = &slot{name: n, costs: make(map[string]float64)}
	}
	for _, d := range days {
		n := name(d.Date)
		if byName[n] == nil {
			byName[n] = &slot{name: n, costs: make(map[string]float64)}
			order = append(order, n)
		}
		byName[n].calls += d.Calls
		for _, m := range d.Models {
			if m.Cost != nil {
				byName[n].costs[m.Name] += *m.Cost
			}
		}
	}
	slots := make([]slot, len(order))
	for i, n := range order {
		slots[i] = *byName[n]
	}
	return slots
}

func slotGrid(slots []slot, names []string, per string) *grid {
	g := &grid{Caption: "Spent by " + per, Heads: heads(word(sentence(per)), number("Cost"), number("Calls"))}
	for _, name := range names {
		g.Heads = append(g.Heads, number(name))
	}
	for _, s := range slots {
		if s.calls == 0 {
			continue
		}
		row := []cell{word(s.name), number(money(s.total())), number(grouped(int64(s.calls)))}
		for _, name := range names {
			row = append(row, number(money(s.costs[name])))
		}
		g.Rows = append(g.Rows, row)
	}
	return g.orNil()
}

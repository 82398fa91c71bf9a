package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/quire-agent/quire/internal/audit"
	"github.com/quire-agent/quire/internal/replay"
)

// atlasChart shows how the pages of a session stand in the prompt, call by call.
// It has a path for each way of standing, one for the epochs, one for the
// faults, and at most maxHits strips: a number of elements that does not grow
// with the session.
type atlasChart struct {
	Title, Summary string
	Width, Height  int
	Areas          []area
	Epochs, Faults string // paths
	Hits           []box
	Labels         []string
	Rows           []string // labels of the vertical axis, from the top
	Legend         []legend
	Table          *grid
}

// A stand is a way of standing, with its colour.
type stand struct {
	letter      byte
	class, name string
}

func stands() []stand {
	return []stand{
		{replay.AtlasHot, "a-hot", "in full, just used"},
		{replay.AtlasWarm, "a-warm", "in full, used a while ago"},
		{replay.AtlasCold, "a-cold", "in full, unused for long"},
		{replay.AtlasShort, "a-short", "a line stands for it"},
	}
}

func newAtlasChart(r audit.Report) *atlasChart {
	a := r.Atlas
	if a == nil || len(a.Rows) == 0 || len(a.Calls) == 0 {
		return nil
	}
	c := &atlasChart{Title: base(a.Session), Width: boxWidth, Height: len(a.Rows)}
	c.Summary = atlasSummary(a)
	for _, s := range stands() {
		c.Legend = append(c.Legend, legend{s.class, s.name})
		if path := atlasPath(a, s.letter); path != "" {
			c.Areas = append(c.Areas, area{path, s.class})
		}
	}
	c.marks(a)
	c.hits(a)
	c.Labels = spread(callLabels(a), 4)
	c.Rows = []string{a.Pages[0].String(), a.Pages[len(a.Pages)-1].String()}
	c.Table = atlasTable(a)
	return c
}

func atlasSummary(a *replay.Atlas) string {
	return fmt.Sprintf("%s, %s; the prompt was written anew %s, and text that had gone was needed %s",
		count(a.Total, "call", "calls"), count(len(a.Pages), "row of pages", "rows of pages"),
		count(len(a.Epochs), "time", "times"), count(len(a.Faults), "time", "times"))
}

// atlasX is where the column of a call begins; column len(a.Calls) is the end.
func atlasX(a *replay.Atlas, column int) float64 {
	return tenth(float64(column) / float64(len(a.Calls)) * boxWidth)
}

// atlasPath draws the runs of a letter in all rows.
func atlasPath(a *replay.Atlas, letter byte) string {
	var b strings.Builder
	for y, row := range a.Rows {
		for i := 0; i < len(row); {
			end := i + 1
			for end < len(row) && row[end] == row[i] {
				end++
			}
			if row[i] == letter {
				x, w := atlasX(a, i), tenth(atlasX(a, end)-atlasX(a, i))
				fmt.Fprintf(&b, "M%s %dh%sv1h-%sz", plain(x), y, plain(w), plain(w))
			}
			i = end
		}
	}
	return b.String()
}

func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// marks draws the epochs as vertical lines and the faults as dots.
func (c *atlasChart) marks(a *replay.Atlas) {
	var epochs, faults strings.Builder
	for _, e := range a.Epochs {
		fmt.Fprintf(&epochs, "M%s 0V%d", plain(atlasAt(a, e.Call)), len(a.Rows))
	}
	for _, f := range a.Faults {
		fmt.Fprintf(&faults, "M%s %d.5h0", plain(atlasAt(a, f.Call)), f.Row)
	}
	c.Epochs, c.Faults = epochs.String(), faults.String()
}

func atlasAt(a *replay.Atlas, call int) float64 {
	return tenth((float64(call) - .5) / float64(a.Total) * boxWidth)
}

// hits makes strips over the chart that say what is below them.
func (c *atlasChart) hits(a *replay.Atlas) {
	n := min(len(a.Calls), maxHits)
	for i := range n {
		from, to := i*len(a.Calls)/n, (i+1)*len(a.Calls)/n
		x := atlasX(a, from)
		c.Hits = append(c.Hits, box{X: x, W: tenth(atlasX(a, to) - x), Text: atlasWords(a, from)})
	}
}

// atlasWords says how the rows stand in a column.
func atlasWords(a *replay.Atlas, column int) string {
	text := fmt.Sprintf("call %d", a.Calls[column])
	for _, s := range stands() {
		if n := standing(a, column, s.letter); n > 0 {
			text += fmt.Sprintf(", %s: %d", s.name, n)
		}
	}
	return text
}

func standing(a *replay.Atlas, column int, letter byte) (n int) {
	for _, row := range a.Rows {
		if column < len(row) && row[column] == letter {
			n++
		}
	}
	return n
}

func callLabels(a *replay.Atlas) []string {
	list := []string{"call 1"}
	for _, c := range a.Calls {
		list = append(list, fmt.Sprintf("call %d", c))
	}
	return list
}

// atlasRows is how many calls the table lists.
const atlasRows = 12

// atlasTable is the picture in numbers, for who cannot see it.
func atlasTable(a *replay.Atlas) *grid {
	g := &grid{Caption: "Rows of pages by how they stand", Heads: []cell{number("Call")}}
	for _, s := range stands() {
		g.Heads = append(g.Heads, number(sentence(s.name)))
	}
	n := min(len(a.Calls), atlasRows)
	for i := range n {
		column := (i+1)*len(a.Calls)/n - 1
		row := []cell{number(grouped(int64(a.Calls[column])))}
		for _, s := range stands() {
			row = append(row, number(strconv.Itoa(standing(a, column, s.letter))))
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

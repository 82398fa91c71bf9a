package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"github.com/quire-agent/quire/internal/audit"
)

//go:embed page.html
var pageSource string

// HTML writes the report as one page that loads nothing: styles and pictures
// are in it, there is no script. It follows the reader's light or dark mode and
// the width of the screen. All text from logs is escaped.
func HTML(w io.Writer, r audit.Report) error {
	t, err := template.New("page").Parse(pageSource)
	if err != nil {
		return fmt.Errorf("write report as HTML: %w", err)
	}
	if err := t.Execute(w, newPage(r)); err != nil {
		return fmt.Errorf("write report as HTML: %w", err)
	}
	return nil
}

// page is what the template shows. A nil table or chart is left out.
type page struct {
	Headline, Period, Lead   string
	Any                      bool // there are calls
	Tiles                    []tile
	Spend, What, Waste, Help string
	Days                     *dayChart
	Kinds, Losses, Offers    bars
	Prompts                  []promptChart
	PromptLegend             []legend
	Atlas                    *atlasChart
	SeriesClasses            []string
	ModelTable, KindTable    *grid
	ToolTable, CacheTable    *grid
	RepeatTable, PolicyTable *grid
	PageTable, SessionTable  *grid
	ProjectTable, AgentTable *grid
	SkippedTable             *grid
	Caveats                  []string
}

// tile is one figure of the head.
type tile struct{ Name, Value, Note string }

// legend names one colour.
type legend struct{ Class, Name string }

// bars is a list of horizontal bars.
type bars struct {
	Title string
	Rows  []barRow
}

type barRow struct {
	Class, Label, Name, Value, Note, Fill string
	Percent                               float64
}

// grid is a table.
type grid struct {
	Caption string
	Heads   []cell
	Rows    [][]cell
	More    int // rows left out
}

type cell struct {
	Text, Note, Class string
	Code              bool
}

func word(text string) cell   { return cell{Text: text} }
func number(text string) cell { return cell{Text: text, Class: "n"} }
func code(text string) cell   { return cell{Text: text, Code: true} }

func newPage(r audit.Report) page {
	p := page{
		Headline: headline(r), Period: summary(r), Lead: lead(r), Any: r.Totals.Calls > 0, Tiles: tiles(r),
		Spend: spendWords(r), What: whatWords(r), Waste: wasteWords(r), Help: helpWords(r),
		Kinds: kindBars(r), Losses: lossBars(r), Offers: offerBars(r),
		Days: newDayChart(r), PromptLegend: promptLegend(), SeriesClasses: seriesClasses(),
		Caveats: caveats(r), Atlas: newAtlasChart(r),
	}
	for _, t := range r.Timelines {
		p.Prompts = append(p.Prompts, newPromptChart(r, t))
	}
	p.tables(r)
	return p
}

// headline is the answer to the first question.
func headline(r audit.Report) string {
	if r.Totals.Calls == 0 {
		return "No calls to models found"
	}
	if _, ok := spent(r.Totals.Sum); !ok {
		return tokens(r.Totals.Prompt) + " tokens sent"
	}
	return sentence(bill(r.Totals.Sum)) + " spent"
}

// sentence begins text with a capital letter.
func sentence(text string) string {
	if text != "" && text[0] >= 'a' && text[0] <= 'z' {
		return string(text[0]-'a'+'A') + text[1:]
	}
	return text
}

func summary(r audit.Report) string {
	return count(len(r.Sessions), "session", "sessions") + period(r)
}

// lead says what is behind the headline: the size, the largest waste, the best
// way out.
func lead(r audit.Report) string {
	if r.Totals.Calls == 0 {
		return "Nothing that was read holds a call to a model in this time."
	}
	text := count(r.Totals.Calls, "call", "calls") + " to models."
	u := unitOf(r)
	if list := losses(r); len(list) > 0 {
		text += fmt.Sprintf(" %s went on %s.", u.format(list[0].amount), list[0].text)
	}
	if list := helps(r); len(list) > 0 {
		text += fmt.Sprintf(" One rule would have saved %s: %s.", percent(*list[0].saved), policyWords(list[0].name))
	}
	return text
}

func tiles(r audit.Report) []tile {
	t := r.Totals
	list := []tile{
		{"Tokens sent", tokens(t.Prompt), ""},
		{"Tokens received", tokens(t.Completion), ""},
		{"Sent for each one back", known(t.Ratio, func(v float64) string { return grouped(int64(v + 0.5)) }), ""},
		{"Read from the provider's cache", known(r.Cache.Hit, percent), "of what was sent"},
		{"Each thing was sent", known(r.Context.Amplification, factor), "on average"},
		{"No longer needed", known(r.Context.Dead, percent), "of what stood in the prompts"},
	}
	kept := list[:0]
	for _, x := range list {
		if x.Value != "–" {
			kept = append(kept, x)
		}
	}
	return kept
}

func spendWords(r audit.Report) string {
	text := sentence(volume(r.Totals)) + "."
	for _, x := range []string{perToken(r.Totals), missing(r), dearestDay(dated(r))} {
		if x != "" {
			text += " " + sentence(x) + "."
		}
	}
	return text
}

func whatWords(r audit.Report) string {
	list := kindPieces(r)
	if len(list) == 0 {
		return "Nothing is known about what was sent."
	}
	text := fmt.Sprintf("%s went on %s", percent(list[0].share), list[0].name)
	if len(list) > 1 {
		text += fmt.Sprintf(", %s on %s", percent(list[1].share), list[1].name)
	}
	if len(list) > 2 {
		text += fmt.Sprintf(", %s on %s", percent(list[2].share), list[2].name)
	}
	return text + "."
}

func wasteWords(r audit.Report) string {
	list := losses(r)
	if len(list) == 0 {
		return "Nothing worth naming."
	}
	return fmt.Sprintf("%s went on %s. What is listed here overlaps.", unitOf(r).format(list[0].amount), list[0].text)
}

func helpWords(r audit.Report) string {
	list := helps(r)
	if len(list) == 0 {
		return nothingHelps(r)
	}
	return fmt.Sprintf("The rule “%s”: %s instead of %s, %s less. %s would have had to be fetched again.", policyWords(list[0].name),
		money(*list[0].instead), money(*r.Replayed.Cost), percent(*list[0].saved), count(list[0].FaultsWide, "thing", "things"))
}

func kindBars(r audit.Report) bars {
	u := unitOf(r)
	b := bars{Title: "Cost by kind of content"}
	for _, k := range kindPieces(r) {
		b.Rows = append(b.Rows, barRow{Label: sentence(k.name), Value: u.format(k.amount), Note: percent(k.share), Percent: wide(k.share), Fill: "fill"})
	}
	return b.stretched()
}

// wide is a share as the width of a bar, in percent with one decimal.
func wide(share float64) float64 { return float64(int(max(0, min(1, share))*1000)) / 10 }

// stretched scales the bars so that the longest fills its row.
func (b bars) stretched() bars {
	most := 0.0
	for _, row := range b.Rows {
		most = max(most, row.Percent)
	}
	for i := range b.Rows {
		if most > 0 {
			b.Rows[i].Percent = wide(b.Rows[i].Percent / most)
		}
	}
	return b
}

func lossBars(r audit.Report) bars {
	u := unitOf(r)
	whole, _ := spent(r.Totals.Sum)
	if u != inMoney {
		whole = float64(r.Totals.Prompt)
	}
	b := bars{Title: "What was wasted"}
	for _, l := range losses(r) {
		b.Rows = append(b.Rows, barRow{
			Label: sentence(l.text), Value: u.format(l.amount), Note: percent(l.amount/whole) + " of all",
			Percent: wide(l.amount / whole), Fill: "fill bad",
		})
	}
	return b.stretched()
}

func offerBars(r audit.Report) bars {
	b := bars{Title: "Cost of other ways of keeping the context"}
	if r.Replayed.Cost == nil {
		return b
	}
	was := *r.Replayed.Cost
	most := was
	for _, o := range offers(r) {
		if o.instead != nil {
			most = max(most, *o.instead)
		}
	}
	if most == 0 {
		return b
	}
	b.Rows = append(b.Rows, barRow{Class: "was", Label: "As it was", Value: money(was), Percent: wide(was / most), Fill: "fill was"})
	for _, o := range offers(r) {
		if o.instead != nil {
			b.Rows = append(b.Rows, offerRow(o, *o.instead/most))
		}
	}
	return b
}

func offerRow(o offer, share float64) barRow {
	row := barRow{Label: sentence(policyWords(o.name)), Name: o.name, Value: money(*o.instead), Percent: wide(share), Fill: "fill"}
	switch {
	case o.Oracle:
		row.Fill = "fill far"
	case *o.saved >= worthIt:
		row.Fill, row.Class = "fill good", "better"
	}
	row.Note = change(*o.saved) + ", " + count(o.FaultsWide, "fetched", "fetched") + " again"
	return row
}

// change says how much less or more something would have cost.
func change(saved float64) string {
	switch {
	case saved > 0.0005:
		return percent(saved) + " less"
	case saved < -0.0005:
		return percent(-saved) + " more"
	default:
		return "the same"
	}
}

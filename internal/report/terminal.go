package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/audit"
)

// Terminal writes the report as text: a first screen of at most 24 lines of 80
// columns that answers the four questions, then the details. Text from logs is
// made harmless: no control character of it is written.
func Terminal(w io.Writer, r audit.Report, s Style) error {
	p := newPrinter(w, s)
	p.head(r)
	p.raw("")
	if r.Totals.Calls > 0 {
		p.spent(r)
		p.onWhat(r)
		p.wasted(r)
		p.helped(r)
		p.details(r)
	}
	p.skipped(r)
	if p.err != nil {
		return fmt.Errorf("write report: %w", p.err)
	}
	return nil
}

func (p *printer) head(r audit.Report) {
	p.line("%s, %s to models%s", count(len(r.Sessions), "session", "sessions"),
		count(r.Totals.Calls, "call", "calls"), period(r))
}

// period says from when to when, in the report's zone.
func period(r audit.Report) string {
	if len(r.Days) == 0 || r.Days[len(r.Days)-1].Date == "" {
		return ""
	}
	first, last := date(dated(r)[0].Date), date(r.Days[len(r.Days)-1].Date)
	if first == last {
		return ", " + first
	}
	return ", " + first + " to " + last
}

// dated are the days without the one of calls without a time.
func dated(r audit.Report) []audit.Day {
	if len(r.Days) > 0 && r.Days[0].Date == "" {
		return r.Days[1:]
	}
	return r.Days
}

// date formats a day for people; what is not one is returned as it is.
func date(day string) string {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day
	}
	return t.Format("2 January 2006")
}

func (p *printer) spent(r audit.Report) {
	p.title("WHAT DID I SPEND?", "")
	t := r.Totals
	p.raw("  " + p.strong(bill(t.Sum)) + fit(": "+volume(t), p.width-2-columns(bill(t.Sum))))
	p.line("  %s", p.joined(perToken(t), missing(r), dearestDay(dated(r))))
	p.raw("")
}

// joined writes parts in one line, as many from the beginning as fit.
func (p *printer) joined(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	for n := len(parts); n > 1; n-- {
		if text := strings.Join(parts[:n], "; "); columns(text) <= p.width-2 {
			return text
		}
	}
	return strings.Join(parts[:min(len(parts), 1)], "")
}

// volume says how much was sent and received, and what each cost.
func volume(t audit.Totals) string {
	in, out := tokens(t.Prompt)+" tokens sent", tokens(t.Completion)+" received"
	if _, ok := spent(t.Sum); ok {
		in, out = money(t.InputCost)+" for "+in, money(t.OutputCost)+" for "+out
	}
	return in + ", " + out
}

// perToken says how many tokens went out for each that came back.
func perToken(t audit.Totals) string {
	if t.Ratio == nil {
		return ""
	}
	return grouped(int64(*t.Ratio+0.5)) + " sent for each one received"
}

// missing says which calls the sums do not hold.
func missing(r audit.Report) string {
	n := r.Unpriced.Calls
	if n == 0 {
		return ""
	}
	return "no price for " + count(n, "call", "calls") + " of " + models(r.Unpriced)
}

func models(u audit.Unpriced) string {
	if len(u.Models) == 1 {
		return clean(u.Models[0].Name)
	}
	return fmt.Sprintf("%s and %d more", clean(u.Models[0].Name), len(u.Models)-1)
}

// dearestDay names it where there are several.
func dearestDay(days []audit.Day) string {
	dearest, most := "", 0.0
	for _, d := range days {
		if cost, _ := spent(d.Sum); cost > most {
			dearest, most = d.Date, cost
		}
	}
	if len(days) < 2 || dearest == "" {
		return ""
	}
	return fmt.Sprintf("dearest day: %s, %s", date(dearest), money(most))
}

func base(path string) string {
	return clean(path[strings.LastIndexAny(path, `/\`)+1:])
}

func (p *printer) onWhat(r audit.Report) {
	p.title("ON WHAT?", "")
	p.line("  %s", p.mix(groupPieces(r, r.Models)))
	u := unitOf(r)
	for _, k := range limit(kindPieces(r), 5, "everything else") {
		p.raw(fmt.Sprintf("  %s %s  %s %s", right(percent(k.share), 5), right(u.format(k.amount), 9), left(k.name, 38), p.bar(k.share, p.width-58)))
	}
	p.raw("")
}

// mix lists shares in one line, as many of them as fit.
func (p *printer) mix(list []piece) string {
	for n := len(list); n > 1; n-- {
		if text := shares(limit(list, n, "other models")); columns(text) <= p.width-2 {
			return text
		}
	}
	return shares(limit(list, 1, "all models"))
}

func shares(list []piece) string {
	parts := make([]string, len(list))
	for i, m := range list {
		parts[i] = clean(m.name) + " " + percent(m.share)
	}
	return strings.Join(parts, ", ")
}

// bar draws a share of a width.
func (p *printer) bar(share float64, width int) string {
	text := strings.Repeat("█", max(0, min(width, int(share*float64(width)+0.5))))
	if p.color && text != "" {
		return "\x1b[36m" + text + "\x1b[0m"
	}
	return text
}

func (p *printer) wasted(r audit.Report) {
	list := losses(r)
	if len(list) == 0 {
		p.title("WHAT WAS WASTED?", "Nothing worth naming.")
		p.raw("")
		return
	}
	p.title("WHAT WAS WASTED?", "(these overlap)")
	u := unitOf(r)
	for _, l := range list[:min(len(list), 3)] {
		p.line("  %s  %s", right(u.format(l.amount), 15), l.text)
	}
	p.raw("")
}

func (p *printer) helped(r audit.Report) {
	if len(r.Policies) == 0 {
		return
	}
	list := helps(r)
	if len(list) == 0 {
		p.title("WHAT WOULD HAVE HELPED?", "")
		p.wrapped("  ", nothingHelps(r))
	} else {
		p.title("WHAT WOULD HAVE HELPED?", fmt.Sprintf("(replayed; as it was: %s)", money(*r.Replayed.Cost)))
		p.offer(list[:min(len(list), 3)])
	}
	p.raw("")
}

func (p *printer) offer(list []offer) {
	t := table{heads: []string{"saved", "cost", "to fetch again", "by this rule"}, text: []bool{false, false, false, true}}
	for _, o := range list {
		t.add(percent(*o.saved), money(*o.instead), count(o.FaultsWide, "time", "times"), policyWords(o.name))
	}
	p.table(t)
}

// begun is the time of a session's first call in the report's zone, which is
// UTC where this machine does not know it.
func begun(r audit.Report, s audit.Session) string {
	if s.First.IsZero() {
		return "–"
	}
	return s.First.In(r.Location()).Format("2006-01-02 15:04")
}

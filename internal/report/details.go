package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/quire-agent/quire/internal/audit"
)

// The terminal shows so many rows of the long lists; the other forms have all.
const (
	rowsDays     = 31
	rowsShort    = 10
	rowsSkipped  = 20
	pathOnScreen = 48
)

// details writes everything that is not on the first screen.
func (p *printer) details(r audit.Report) {
	p.groups("By model", r.Models, false)
	p.days(r)
	if len(r.Projects) > 1 {
		p.groups("By project", r.Projects, true)
	}
	if len(r.Agents) > 1 {
		p.groups("By agent", r.Agents, false)
	}
	p.sessions(r)
	p.kinds(r)
	p.tools(r)
	p.cache(r)
	p.pages(r)
	p.repeats(r)
	p.policies(r)
	p.trust(r)
}

func (p *printer) groups(title string, groups []audit.Group, paths bool) {
	p.title(title, "(uncached, cached, stored: tokens sent)")
	t := table{heads: []string{"cost", "calls", "uncached", "cached", "stored", "received", ""}, text: append(make([]bool, 6), true), path: paths}
	for _, g := range groups[:min(len(groups), rowsShort)] {
		u := g.Usage
		t.add(billed(g.Sum), grouped(int64(g.Calls)), known(u.Input, tokens), known(u.CacheRead, tokens),
			known(u.CacheWrite, tokens), tokens(completion(u)), clean(cmp.Or(g.Name, "(not recorded)")))
	}
	p.table(t)
	p.more(len(groups), rowsShort)
}

// more says how many rows were left out.
func (p *printer) more(all, shown int) {
	if all > shown {
		p.line("  and %d more", all-shown)
	}
	p.raw("")
}

func (p *printer) days(r audit.Report) {
	days := r.Days
	if len(days) < 2 {
		return
	}
	p.title("By day", fmt.Sprintf("(%s)", zone(r)))
	most := 0.0
	for _, d := range days {
		cost, _ := spent(d.Sum)
		most = max(most, cost)
	}
	for _, d := range days[max(0, len(days)-rowsDays):] {
		cost, _ := spent(d.Sum)
		share := 0.0
		if most > 0 {
			share = cost / most
		}
		p.raw(fmt.Sprintf("  %s %s %s  %s", left(cmp.Or(d.Date, "no time"), 10), right(money(cost), 10),
			right(count(d.Calls, "call", "calls"), 12), p.bar(share, p.width-40)))
	}
	if hidden := len(days) - rowsDays; hidden > 0 {
		p.line("  and %d earlier days", hidden)
	}
	p.raw("")
}

func zone(r audit.Report) string {
	if r.Zone == "Local" {
		return "local time"
	}
	return r.Zone
}

func (p *printer) sessions(r audit.Report) {
	p.title("Dearest sessions", "")
	list := bySpend(r)
	t := table{heads: []string{"cost", "calls", "sent", "largest", "summaries", "begun", "file"}, text: make([]bool, 7), path: true}
	for _, s := range list[:min(len(list), rowsShort)] {
		t.add(billed(s.Sum), grouped(int64(s.Calls)), tokens(prompt(s.Usage)), tokens(s.Peak),
			grouped(int64(s.Compactions)), begun(r, s), clean(s.Path))
	}
	p.table(t)
	p.more(len(list), rowsShort)
}

func (p *printer) kinds(r audit.Report) {
	p.title("By kind of content", fmt.Sprintf("(on average everything was sent %s)", known(r.Context.Amplification, factor)))
	t := table{heads: []string{"cost", "as written", "sent", "times over", "kind"}, text: []bool{false, false, false, false, true}}
	for _, k := range r.Kinds {
		if k.Tokens == 0 && k.Sent == 0 && k.Cost == 0 {
			continue
		}
		t.add(money(k.Cost), tokens(k.Tokens), tokens(k.Sent), known(k.Amplification, factor), kindWords(k.Kind))
	}
	p.table(t)
	if r.Context.Dead != nil {
		p.wrapped("  ", fmt.Sprintf("%s of what stood in the prompts was not needed any more (%s by the strict count).",
			percent(*r.Context.Dead), percent(*r.Context.DeadStrict)))
	}
	p.raw("")
}

func (p *printer) tools(r audit.Report) {
	if len(r.Tools) == 0 {
		return
	}
	p.title("By tool", "(its requests and results)")
	t := table{heads: []string{"cost", "unused", "uses", "as written", "sent", "times over", "tool"}, text: append(make([]bool, 6), true)}
	for _, k := range r.Tools[:min(len(r.Tools), rowsShort)] {
		t.add(money(k.Cost), money(k.Unused), grouped(int64(k.Uses)), tokens(k.Tokens), tokens(k.Sent), known(k.Amplification, factor), clean(k.Tool))
	}
	p.table(t)
	p.more(len(r.Tools), rowsShort)
}

func (p *printer) cache(r audit.Report) {
	if r.Cache.Calls == 0 {
		return
	}
	p.title("The provider's cache", fmt.Sprintf("(%s of what was sent came from it)", known(r.Cache.Hit, percent)))
	t := table{heads: []string{"extra cost", "paid again", "times", "lost because"}, text: []bool{false, false, false, true}}
	for _, w := range r.Cache.Rewrites {
		if w.Times > 0 {
			t.add(money(w.Cost), tokens(w.Tokens), grouped(int64(w.Times)), causeWords(w.Cause))
		}
	}
	if len(t.rows) > 0 {
		p.table(t)
	}
	p.raw("")
}

func (p *printer) pages(r audit.Report) {
	if len(r.Pages) == 0 {
		return
	}
	p.title("The dearest pieces of content", "")
	u, in := unitOf(r), projectsOf(r)
	for _, c := range r.Pages {
		name := pageName(c, in.target(c.Session, c.Target))
		p.raw(fmt.Sprintf("  %s %s  %s", right(u.format(u.pick(c.Cost, c.Tokens*int64(c.Sent))), 9), right(tokens(c.Tokens), 6), fit(name, p.width-20)))
		p.wrapped(left("", 20), c.Why+" · "+base(c.Session))
	}
	p.raw("")
}

// pageName is what a page is about, in one line.
func pageName(c audit.PageCost, target string) string {
	name := cmp.Or(target, pageWords(c.Kind))
	if c.Tool != "" {
		name = clean(c.Tool) + " " + name
	}
	if c.Lines.First > 0 {
		name += fmt.Sprintf(" lines %d–%d", c.Lines.First, c.Lines.Last)
	}
	return name
}

// projects tells the working directory of a session by its path.
type projects map[string]string

func projectsOf(r audit.Report) projects {
	in := make(projects, len(r.Sessions))
	for _, s := range r.Sessions {
		in[s.Path] = s.Project
	}
	return in
}

// target is a path below the session's working directory, or the target as it
// is.
func (in projects) target(session, target string) string {
	if rest, ok := strings.CutPrefix(target, in[session]); ok && rest != "" && strings.ContainsAny(rest[:1], `/\`) {
		return clean(rest[1:])
	}
	return clean(target)
}

func (p *printer) repeats(r audit.Report) {
	if r.Repeats.Times == 0 {
		return
	}
	p.title("Fetched again unchanged", fmt.Sprintf("(%s, %s tokens; %s after it had been dropped)",
		count(r.Repeats.Times, "time", "times"), tokens(r.Repeats.Tokens), grouped(int64(r.Repeats.Forgotten))))
	in := projectsOf(r)
	t := table{heads: []string{"cost", "times", "tokens", "what"}, text: []bool{false, false, false, true}}
	for _, w := range r.Repeats.Worst[:min(len(r.Repeats.Worst), rowsShort)] {
		t.add(money(w.Cost), grouped(int64(w.Times)), tokens(w.Tokens), in.target(w.Session, w.Target))
	}
	p.table(t)
	p.more(len(r.Repeats.Worst), rowsShort)
}

func (p *printer) policies(r audit.Report) {
	if len(r.Policies) == 0 {
		return
	}
	p.title("Other ways of keeping the context", fmt.Sprintf("(%s replayed)", count(r.Replayed.Sessions, "session", "sessions")))
	t := table{heads: []string{"instead", "to append", "worst", "fetch again", "mean", "peak", "way"}, text: append(make([]bool, 6), true)}
	if r.Replayed.Cost != nil {
		t.add(money(*r.Replayed.Cost), "", "", "", "", "", "as it was")
	}
	for _, o := range offers(r) {
		t.add(known(o.instead, money), known(o.Ratio, decimals), known(o.WorstRatio, decimals), grouped(int64(o.FaultsWide)),
			tokens(int64(o.MeanPrompt)), tokens(int64(o.PeakPrompt)), o.name)
	}
	p.table(t)
	for _, o := range offers(r) {
		p.wrapped("  ", o.words())
	}
	p.raw("")
}

// words describe a policy and its worst session.
func (o offer) words() string {
	text := o.name + ": " + policyWords(o.name)
	if o.WorstRatio != nil && *o.WorstRatio > 1.0005 {
		text += fmt.Sprintf("; dearer than append in %s (%s)", base(o.WorstSession), decimals(*o.WorstRatio))
	}
	return text
}

func decimals(v float64) string { return fmt.Sprintf("%.3f", v) }

// trust says what was left out, handled or estimated.
func (p *printer) trust(r audit.Report) {
	p.title("How far to trust this", "")
	for _, line := range caveats(r) {
		p.wrapped("  ", line)
	}
	p.raw("")
}

// caveats are the limits of the figures, each in one sentence.
func caveats(r audit.Report) []string {
	lines := []string{"Tokens in and out and the cache are what the providers reported; costs are these times the price table."}
	if list := r.Totals.Usage.Estimated; len(list) > 0 {
		lines = append(lines, fmt.Sprintf("Some logs do not have these figures, they are estimated there: %s.", strings.Join(list, ", ")))
	}
	if r.Totals.Usage.OutputEstimated != nil {
		lines = append(lines, "What came back is estimated from the text where the log has only a value from the start of the answer.")
	}
	for _, c := range r.Counting {
		lines = append(lines, countingWords(c))
	}
	if r.Totals.Duplicates > 0 {
		lines = append(lines, count(r.Totals.Duplicates, "call", "calls")+" in more than one file, counted once in the sums.")
	}
	for _, m := range r.Unpriced.Models {
		lines = append(lines, fmt.Sprintf("No price for %s: %s.", clean(m.Name), count(m.Times, "call", "calls")))
	}
	for _, n := range r.Notes {
		lines = append(lines, fmt.Sprintf("Handled: %s, %s.", n.Note, count(n.Times, "time", "times")))
	}
	return append(lines, "A replay keeps the calls of the main conversation as they were; with another context the model may have made other ones.",
		"Costs of other ways are scaled so that a replay of what really happened comes to what it really cost.")
}

func countingWords(c audit.Counting) string {
	family := cmp.Or(c.Family, "unknown")
	if c.Uncalibrated == c.Sessions {
		return fmt.Sprintf("Tokens by kind (%s) are counted, not measured: no session recorded its prompt sizes.", clean(family))
	}
	return fmt.Sprintf("Tokens by kind (%s) are counted; prompt sizes come out within %.1f %% of the recorded ones.", clean(family), c.MeanError*100)
}

func (p *printer) skipped(r audit.Report) {
	if len(r.Skipped) == 0 {
		return
	}
	p.title("Could not be read", fmt.Sprintf("(%s)", count(len(r.Skipped), "place", "places")))
	for _, s := range r.Skipped[:min(len(r.Skipped), rowsSkipped)] {
		p.line("  %s: %s", fitPath(place(s), pathOnScreen), clean(s.Reason))
	}
	p.more(len(r.Skipped), rowsSkipped)
}

func place(s audit.Skipped) string {
	if s.Line == 0 {
		return clean(s.Path)
	}
	return fmt.Sprintf("%s:%d", clean(s.Path), s.Line)
}

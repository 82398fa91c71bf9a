package audit

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/quire"
)

// Report makes the report of everything added so far, with days in zone (UTC if
// nil). It may be called again, also after more was added.
func (a *Audit) Report(zone *time.Location) Report {
	if zone == nil {
		zone = time.UTC
	}
	f := newFold(zone)
	ordered := slices.Clone(a.sessions)
	slices.SortStableFunc(ordered, func(x, y digest) int {
		return cmp.Or(strings.Compare(x.path, y.path), strings.Compare(x.info.ID, y.info.ID))
	})
	for i := range ordered {
		f.add(&ordered[i])
	}
	r := f.report()
	r.Since, r.Until = a.opts.Since.UTC(), a.opts.Until.UTC()
	r.Skipped = skipped(a.skipped)
	r.Atlas = a.atlas
	return r
}

func skipped(list []Skipped) []Skipped {
	list = append([]Skipped{}, list...)
	slices.SortFunc(list, func(x, y Skipped) int {
		return cmp.Or(strings.Compare(x.Path, y.Path), cmp.Compare(x.Line, y.Line), strings.Compare(x.Reason, y.Reason))
	})
	return list
}

// day holds the tallies of one day.
type day struct {
	all            tally
	models, agents map[string]*float64
}

// fold adds sessions up in the order of their paths, so that sums of money and
// the file to which a call belongs do not depend on the order of adding.
type fold struct {
	zone                     *time.Location
	seen                     map[uint64]bool
	dups                     int
	all                      tally
	models, projects, agents map[string]*tally
	days                     map[string]*day
	kinds                    [kindCount]KindShare
	cache                    Cache
	first, last              time.Time
	unpriced                 map[string]int
	sessions                 []Session
	tools                    map[string]ToolShare
	residency                residency
	rewrites                 [len(causes)]Rewrite
	pages                    []PageCost
	repeats                  Repeats
	dearest                  []*digest
	notes                    map[quire.Note]int
	counting                 map[string]Counting
	policies                 policies
}

func newFold(zone *time.Location) *fold {
	f := &fold{
		zone: zone, seen: make(map[uint64]bool),
		models: make(map[string]*tally), projects: make(map[string]*tally), agents: make(map[string]*tally),
		days: make(map[string]*day), unpriced: make(map[string]int), tools: make(map[string]ToolShare),
		notes: make(map[quire.Note]int), counting: make(map[string]Counting), policies: newPolicies(),
	}
	for k := range f.kinds {
		f.kinds[k].Kind = Kind(k)
	}
	for i, c := range causes {
		f.rewrites[i].Cause = c
	}
	return f
}

// add adds a session. One that holds only calls of files before it is a copy:
// it has a row, but nothing of it counts again.
func (f *fold) add(d *digest) {
	f.dups += d.dups
	var own tally
	before := f.all.calls
	for i := range d.calls {
		c := &d.calls[i]
		own.add(c)
		if f.seen[c.key] {
			f.dups++
			continue
		}
		f.seen[c.key] = true
		f.call(d, c)
	}
	shared := own.calls - (f.all.calls - before)
	f.session(d, &own, shared)
	if own.calls == 0 || shared < own.calls {
		f.contents(d)
		f.policies.add(d)
	}
}

// call adds a call to the totals and to its groups.
func (f *fold) call(d *digest, c *call) {
	f.all.add(c)
	named := cmp.Or(c.model, "unknown")
	group(f.models, named).add(c)
	group(f.projects, d.info.Project).add(c)
	group(f.agents, string(d.info.Agent)).add(c)
	f.today(c).add(c, named, string(d.info.Agent))
	f.content(c)
	f.hits(c)
	f.span(c.at)
	if !c.bill.priced {
		f.unpriced[named]++
	}
}

func group(groups map[string]*tally, name string) *tally {
	if groups[name] == nil {
		groups[name] = &tally{}
	}
	return groups[name]
}

func (f *fold) today(c *call) *day {
	date := ""
	if !c.at.IsZero() {
		date = c.at.In(f.zone).Format(time.DateOnly)
	}
	if f.days[date] == nil {
		f.days[date] = &day{models: make(map[string]*float64), agents: make(map[string]*float64)}
	}
	return f.days[date]
}

func (d *day) add(c *call, model, agent string) {
	d.all.add(c)
	d.models[model] = plus(d.models[model], c.bill)
	d.agents[agent] = plus(d.agents[agent], c.bill)
}

// plus adds a bill to a cost that is nil until something has a price.
func plus(cost *float64, b bill) *float64 {
	if !b.priced {
		return cost
	}
	sum := b.total()
	if cost != nil {
		sum += *cost
	}
	return &sum
}

// content adds what a call sent and received, by kind. Money that no counted
// content explains is the system's.
func (f *fold) content(c *call) {
	left := c.bill.prompt
	for k := range promptKinds {
		f.kinds[k].Sent += int64(c.kinds[k])
		f.kinds[k].Tokens += int64(c.fresh[k])
		f.kinds[k].Cost += c.share[k]
		left -= c.share[k]
	}
	rest := KindSystem
	if c.side {
		rest = KindSide
		f.kinds[KindSide].Sent += c.prompt
	}
	f.kinds[rest].Cost += left
	f.kinds[KindOutput].Tokens += int64(c.output)
	f.kinds[KindOutput].Cost += c.bill.output
}

func (f *fold) hits(c *call) {
	if c.usage.Has(quire.KnownInput | quire.KnownCache) {
		f.cache.Calls++
		f.cache.Prompt += c.usage.Prompt()
		f.cache.Read += c.usage.CacheRead
	}
}

func (f *fold) span(at time.Time) {
	if at.IsZero() {
		return
	}
	if f.first.IsZero() || at.Before(f.first) {
		f.first = at
	}
	if at.After(f.last) {
		f.last = at
	}
}

// session adds the row of a session.
func (f *fold) session(d *digest, own *tally, shared int) {
	s := Session{
		Path: d.path, Agent: d.info.Agent, ID: d.info.ID, Project: d.info.Project, Parent: d.info.Parent,
		Sum: own.sum(), Side: own.side, Duplicates: shared, Compactions: d.compactions, Rewinds: d.rewinds, Policies: d.policies(),
	}
	for _, c := range d.calls {
		s.Peak = max(s.Peak, c.prompt)
		if !c.at.IsZero() && (s.First.IsZero() || c.at.Before(s.First)) {
			s.First = c.at.UTC()
		}
		if c.at.After(s.Last) {
			s.Last = c.at.UTC()
		}
	}
	f.sessions = append(f.sessions, s)
	d.spent = own.spent()
}

// contents adds what was measured on the session as a whole.
func (f *fold) contents(d *digest) {
	for _, t := range d.tools {
		f.tools[t.Tool] = f.tools[t.Tool].plus(t)
	}
	f.residency.add(d.residency)
	for i := range d.rewrites {
		f.rewrites[i].Times += d.rewrites[i].Times
		f.rewrites[i].Tokens += d.rewrites[i].Tokens
		f.rewrites[i].Cost += d.rewrites[i].Cost
	}
	f.pages = top(append(f.pages, d.pages...))
	f.repeats = f.repeats.plus(d.repeats)
	f.dearest = dearest(append(f.dearest, d))
	for note, n := range d.notes {
		f.notes[note] += n
	}
	f.count(d)
}

func (r Repeats) plus(o Repeats) Repeats {
	return Repeats{
		Times: r.Times + o.Times, Tokens: r.Tokens + o.Tokens, Forgotten: r.Forgotten + o.Forgotten,
		Cost: r.Cost + o.Cost, Worst: worst(append(slices.Clone(r.Worst), o.Worst...)),
	}
}

func (f *fold) count(d *digest) {
	if d.recorded == 0 {
		return
	}
	c := f.counting[string(d.counted.Family)]
	c.Sessions++
	if d.counted.Samples == 0 {
		c.Uncalibrated++
	}
	c.MeanError += d.counted.PromptError
	f.counting[string(d.counted.Family)] = c
}

func (f *fold) report() Report {
	return Report{
		Zone: f.zone.String(), First: f.first.UTC(), Last: f.last.UTC(),
		Sessions: append([]Session{}, f.sessions...), Totals: f.totals(),
		Models: groups(f.models), Projects: groups(f.projects), Agents: groups(f.agents), Days: f.dayRows(),
		Kinds: f.kindRows(), Tools: f.toolRows(), Context: f.context(), Cache: f.cacheRow(),
		Pages: append([]PageCost{}, f.pages...), Repeats: f.repeats.whole(), Timelines: f.timelines(),
		Policies: f.policies.rows(), Replayed: f.policies.recorded(),
		Notes: f.noteRows(), Unpriced: f.unpricedRows(), Counting: f.countingRows(),
	}
}

func (f *fold) timelines() []Timeline {
	rows := make([]Timeline, len(f.dearest))
	for i, d := range f.dearest {
		rows[i] = d.timeline()
	}
	return rows
}

func (r Repeats) whole() Repeats {
	r.Worst = append([]RepeatRow{}, r.Worst...)
	return r
}

func (f *fold) totals() Totals {
	return Totals{
		Sum: f.all.sum(), Sessions: len(f.sessions), Side: f.all.side, Duplicates: f.dups,
		Prompt: f.all.prompt, Completion: f.all.output, Ratio: ratio(float64(f.all.prompt), float64(f.all.output)),
		InputCost: f.all.inputCost, OutputCost: f.all.outputCost,
	}
}

// groups lists tallies, dearest first, then by prompt, then by name.
func groups(sums map[string]*tally) []Group {
	names := slices.SortedFunc(maps.Keys(sums), func(a, b string) int {
		x, y := sums[a], sums[b]
		return cmp.Or(cmp.Compare(y.spent(), x.spent()), cmp.Compare(y.prompt, x.prompt), strings.Compare(a, b))
	})
	rows := make([]Group, len(names))
	for i, name := range names {
		rows[i] = Group{Name: name, Sum: sums[name].sum()}
	}
	return rows
}

func (f *fold) dayRows() []Day {
	rows := make([]Day, 0, len(f.days))
	for _, date := range slices.Sorted(maps.Keys(f.days)) {
		d := f.days[date]
		rows = append(rows, Day{Date: date, Sum: d.all.sum(), Models: spends(d.models), Agents: spends(d.agents)})
	}
	return rows
}

func spends(costs map[string]*float64) []Spend {
	rows := make([]Spend, 0, len(costs))
	for _, name := range slices.Sorted(maps.Keys(costs)) {
		rows = append(rows, Spend{Name: name, Cost: costs[name]})
	}
	return rows
}

func (f *fold) kindRows() []KindShare {
	rows := slices.Clone(f.kinds[:])
	for k := range rows {
		if Kind(k) < KindSide {
			rows[k].Amplification = ratio(float64(rows[k].Sent), float64(rows[k].Tokens))
		}
	}
	return rows
}

func (f *fold) toolRows() []ToolShare {
	rows := named(f.tools)
	slices.SortStableFunc(rows, func(a, b ToolShare) int {
		return cmp.Or(cmp.Compare(b.Cost, a.Cost), cmp.Compare(b.Sent, a.Sent))
	})
	return rows
}

func (f *fold) context() Context {
	c := Context{
		Dead:       ratio(float64(f.residency.dead), float64(f.residency.paged)),
		DeadStrict: ratio(float64(f.residency.deadStrict), float64(f.residency.paged)),
		Unused:     f.residency.unusedCost, UnusedTokens: f.residency.unused,
	}
	for k := range promptKinds {
		c.Tokens += f.kinds[k].Tokens
		c.Sent += f.kinds[k].Sent
	}
	c.Amplification = ratio(float64(c.Sent), float64(c.Tokens))
	return c
}

func (f *fold) cacheRow() Cache {
	c := f.cache
	c.Hit = ratio(float64(c.Read), float64(c.Prompt))
	c.Rewrites = slices.Clone(f.rewrites[:])
	return c
}

func (f *fold) noteRows() []Noted {
	rows := make([]Noted, 0, len(f.notes))
	for _, note := range slices.Sorted(maps.Keys(f.notes)) {
		rows = append(rows, Noted{Note: note, Times: f.notes[note]})
	}
	return rows
}

func (f *fold) unpricedRows() Unpriced {
	u := Unpriced{Calls: f.all.unpriced, Models: make([]Count, 0, len(f.unpriced))}
	for _, name := range slices.Sorted(maps.Keys(f.unpriced)) {
		u.Models = append(u.Models, Count{Name: name, Times: f.unpriced[name]})
	}
	return u
}

func (f *fold) countingRows() []Counting {
	rows := make([]Counting, 0, len(f.counting))
	for _, family := range slices.Sorted(maps.Keys(f.counting)) {
		c := f.counting[family]
		c.Family = family
		if n := c.Sessions - c.Uncalibrated; n > 0 {
			c.MeanError /= float64(n)
		}
		rows = append(rows, c)
	}
	return rows
}

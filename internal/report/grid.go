package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/quire-agent/quire/internal/audit"
)

// pageRows is how many rows of its long lists the page shows.
const pageRows = 50

func heads(names ...cell) []cell { return names }

func (g *grid) add(cells ...cell) { g.Rows = append(g.Rows, cells) }

// orNil is the table, nil if it has no rows.
func (g *grid) orNil() *grid {
	if len(g.Rows) == 0 {
		return nil
	}
	if g.More = len(g.Rows) - pageRows; g.More > 0 {
		g.Rows = g.Rows[:pageRows]
	}
	g.More = max(0, g.More)
	return g
}

func (p *page) tables(r audit.Report) {
	p.ModelTable = groupGrid("By model", "Model", r.Models)
	p.KindTable = kindGrid(r)
	p.ToolTable = toolGrid(r)
	p.CacheTable = cacheGrid(r)
	p.RepeatTable = repeatGrid(r)
	p.PolicyTable = policyGrid(r)
	p.PageTable = pageGrid(r)
	p.SessionTable = sessionGrid(r)
	p.SkippedTable = skippedGrid(r)
	if len(r.Projects) > 1 {
		p.ProjectTable = groupGrid("By project", "Project", r.Projects)
	}
	if len(r.Agents) > 1 {
		p.AgentTable = groupGrid("By agent", "Agent", r.Agents)
	}
}

func groupGrid(caption, what string, groups []audit.Group) *grid {
	g := &grid{Caption: caption, Heads: heads(word(what), number("Cost"), number("Calls"), number("Sent"),
		number("Uncached"), number("From cache"), number("To cache"), number("Received"))}
	for _, x := range groups {
		u := x.Usage
		g.add(code(cmp.Or(x.Name, "(not recorded)")), number(billed(x.Sum)), number(grouped(int64(x.Calls))), number(tokens(prompt(u))),
			number(known(u.Input, tokens)), number(known(u.CacheRead, tokens)), number(known(u.CacheWrite, tokens)), number(tokens(completion(u))))
	}
	return g.orNil()
}

func kindGrid(r audit.Report) *grid {
	g := &grid{Caption: "Tokens by kind of content", Heads: heads(word("Kind"), number("Cost"), number("As written"), number("Sent"), number("Times over"))}
	for _, k := range r.Kinds {
		if k.Tokens > 0 || k.Sent > 0 || k.Cost > 0 {
			g.add(word(sentence(kindWords(k.Kind))), number(money(k.Cost)), number(tokens(k.Tokens)), number(tokens(k.Sent)), number(known(k.Amplification, factor)))
		}
	}
	return g.orNil()
}

func toolGrid(r audit.Report) *grid {
	g := &grid{Caption: "Requests and results of each tool", Heads: heads(word("Tool"), number("Cost"), number("Of it unused"), number("Uses"),
		number("As written"), number("Sent"), number("Times over"))}
	for _, t := range r.Tools {
		g.add(code(t.Tool), number(money(t.Cost)), number(money(t.Unused)), number(grouped(int64(t.Uses))),
			number(tokens(t.Tokens)), number(tokens(t.Sent)), number(known(t.Amplification, factor)))
	}
	return g.orNil()
}

func cacheGrid(r audit.Report) *grid {
	g := &grid{Caption: "Text that was paid for again", Heads: heads(word("Because"), number("Extra cost"), number("Times"), number("Tokens"))}
	for _, w := range r.Cache.Rewrites {
		if w.Times > 0 {
			g.add(word(sentence(causeWords(w.Cause))), number(money(w.Cost)), number(grouped(int64(w.Times))), number(tokens(w.Tokens)))
		}
	}
	return g.orNil()
}

func repeatGrid(r audit.Report) *grid {
	in := projectsOf(r)
	g := &grid{Caption: "Fetched again unchanged", Heads: heads(word("What"), number("Cost"), number("Times"), number("Of them dropped before"), number("Tokens"))}
	for _, w := range r.Repeats.Worst {
		what := code(in.target(w.Session, w.Target))
		what.Note, what.Class = base(w.Session), "what"
		g.add(what, number(money(w.Cost)), number(grouped(int64(w.Times))), number(grouped(int64(w.Forgotten))), number(tokens(w.Tokens)))
	}
	return g.orNil()
}

func policyGrid(r audit.Report) *grid {
	g := &grid{
		Caption: fmt.Sprintf("%s replayed, helper agents left out", count(r.Replayed.Sessions, "session", "sessions")),
		Heads: heads(word("Way"), number("Instead"), number("To append"), number("Worst session"), number("Fetched again, wide"),
			number("Strict"), number("Mean prompt"), number("Peak")),
	}
	for _, o := range offers(r) {
		worst := number(known(o.WorstRatio, decimals))
		if o.WorstRatio != nil {
			worst.Note = base(o.WorstSession)
		}
		g.add(code(o.name), number(known(o.instead, money)), number(known(o.Ratio, decimals)), worst, number(grouped(int64(o.FaultsWide))),
			number(grouped(int64(o.Faults))), number(tokens(int64(o.MeanPrompt))), number(tokens(int64(o.PeakPrompt))))
	}
	return g.orNil()
}

func pageGrid(r audit.Report) *grid {
	in := projectsOf(r)
	u := unitOf(r)
	name := "Cost"
	if u != inMoney {
		name = "Sent in all"
	}
	g := &grid{Caption: "The 20 dearest", Heads: heads(word("What, and why it was dear"), number(name), number("Size"), number("Calls"), word("Session"))}
	for _, c := range r.Pages {
		what := code(pageName(c, in.target(c.Session, c.Target)))
		what.Note, what.Class = sentence(c.Why), "what"
		g.add(what, number(u.format(u.pick(c.Cost, c.Tokens*int64(c.Sent)))), number(tokens(c.Tokens)), number(grouped(int64(c.Sent))),
			cell{Text: base(c.Session), Note: c.Page.String(), Code: true})
	}
	return g.orNil()
}

// bySpend is the sessions, dearest first, without copies of others.
func bySpend(r audit.Report) []audit.Session {
	list := slices.DeleteFunc(slices.Clone(r.Sessions), func(s audit.Session) bool { return s.Calls > 0 && s.Duplicates == s.Calls })
	slices.SortStableFunc(list, func(a, b audit.Session) int {
		x, _ := spent(a.Sum)
		y, _ := spent(b.Sum)
		return cmp.Or(cmp.Compare(y, x), cmp.Compare(prompt(b.Usage), prompt(a.Usage)))
	})
	return list
}

func sessionGrid(r audit.Report) *grid {
	g := &grid{Caption: "Dearest first", Heads: heads(word("File"), number("Cost"), number("Calls"), number("Sent"), number("Largest prompt"),
		number("Summaries"), number("Begun"), word("Agent"))}
	for _, s := range bySpend(r) {
		file := code(base(s.Path))
		file.Note = clean(s.Project)
		g.add(file, number(billed(s.Sum)), number(grouped(int64(s.Calls))), number(tokens(prompt(s.Usage))), number(tokens(s.Peak)),
			number(grouped(int64(s.Compactions))), number(begun(r, s)), word(string(s.Agent)))
	}
	return g.orNil()
}

func skippedGrid(r audit.Report) *grid {
	g := &grid{Caption: count(len(r.Skipped), "place", "places"), Heads: heads(word("Where"), word("Why"))}
	for _, s := range r.Skipped {
		g.add(code(place(s)), word(clean(s.Reason)))
	}
	return g.orNil()
}

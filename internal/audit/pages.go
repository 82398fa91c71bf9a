package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// topPages is how many of the dearest pages a report shows.
const topPages = 20

// stay is what one page took.
type stay struct {
	tokens, sent int64 // sent: token-calls
	cost         float64
	unused       float64
	first, end   int32 // first call that held it; first that no longer did
}

// pages adds up what each page took, by tool and in all, and returns the
// dearest.
func (r *reader) pages() ([]ToolShare, residency, []PageCost) {
	stays := make([]stay, len(r.s.Pages))
	var res residency
	for i, it := range r.s.Items {
		if it.Page < 1 || int(it.Page) > len(stays) || it.Call >= r.ends[i] {
			continue
		}
		p := int(it.Page) - 1
		part := r.stay(p, it.Call, r.ends[i], int64(it.Tokens))
		res.add(part)
		stays[p].add(r, it.Call, r.ends[i], int64(it.Tokens), part.unusedCost)
	}
	return r.tools(stays), res, r.dearest(stays)
}

// stay measures tokens of page p (from 0) in the calls from first to before end.
func (r *reader) stay(p int, first, end int32, tokens int64) residency {
	if r.s.TooLong {
		return residency{} // nothing is known of what it needed
	}
	res := residency{
		paged:      tokens * r.rates.sent(first, end),
		dead:       tokens * r.rates.sent(max(first, r.wide[p]+1), end),
		deadStrict: tokens * r.rates.sent(max(first, r.strict[p]+1), end),
	}
	if observable(r.s.Pages[p]) {
		from := max(first, r.wide[p]) + 1
		res.unused = tokens * r.rates.sent(from, end)
		res.unusedCost = float64(tokens) * r.rates.resent(from, end)
	}
	return res
}

func (s *stay) add(r *reader, first, end int32, tokens int64, unused float64) {
	if s.tokens == 0 || first < s.first {
		s.first = first
	}
	s.end = max(s.end, end)
	s.tokens += tokens
	s.sent += tokens * r.rates.sent(first, end)
	s.cost += float64(tokens) * r.rates.cost(first, end)
	s.unused += unused
}

// tools adds up the pages of each tool, by name.
func (r *reader) tools(stays []stay) []ToolShare {
	sums := make(map[string]ToolShare)
	for p, s := range stays {
		name := r.s.Pages[p].Tool
		if name == "" || s.sent == 0 {
			continue
		}
		sums[name] = sums[name].plus(ToolShare{Uses: 1, Tokens: s.tokens, Sent: s.sent, Cost: s.cost, Unused: s.unused})
	}
	return named(sums)
}

func (t ToolShare) plus(o ToolShare) ToolShare {
	t.Uses += o.Uses
	t.Tokens += o.Tokens
	t.Sent += o.Sent
	t.Cost += o.Cost
	t.Unused += o.Unused
	t.Amplification = ratio(float64(t.Sent), float64(t.Tokens))
	return t
}

// named lists sums by name.
func named(sums map[string]ToolShare) []ToolShare {
	rows := make([]ToolShare, 0, len(sums))
	for name, t := range sums {
		t.Tool = name
		rows = append(rows, t)
	}
	slices.SortFunc(rows, func(a, b ToolShare) int { return strings.Compare(a.Tool, b.Tool) })
	return rows
}

// dearest lists the dearest pages. It makes rows of them in batches, so that a
// session of a million pages costs no more memory than one of a hundred.
func (r *reader) dearest(stays []stay) []PageCost {
	var rows []PageCost
	for p, s := range stays {
		if s.sent > 0 {
			rows = append(rows, r.page(p, s))
		}
		if len(rows) >= 50*topPages {
			rows = top(rows)
		}
	}
	return top(rows)
}

// top sorts pages, dearest first, and keeps the first.
func top(rows []PageCost) []PageCost {
	slices.SortFunc(rows, func(a, b PageCost) int {
		return cmp.Or(cmp.Compare(b.Cost, a.Cost), cmp.Compare(b.Tokens*int64(b.Sent), a.Tokens*int64(a.Sent)),
			strings.Compare(a.Session, b.Session), cmp.Compare(a.Page, b.Page))
	})
	return slices.Clone(rows[:min(len(rows), topPages)])
}

func (r *reader) page(p int, s stay) PageCost {
	page := r.s.Pages[p]
	row := PageCost{
		Session: r.s.Path, Page: page.Number, Kind: page.Kind, Tool: page.Tool, Action: page.Action,
		Target: r.target(page), Lines: page.Lines, Tokens: s.tokens,
		First: int(s.first) + 1, Sent: int(r.rates.sent(s.first, s.end)), Needed: int(r.wide[p]) + 1, Cost: s.cost,
	}
	row.Why = row.why(!r.s.TooLong && observable(page))
	return row
}

// target is what a page is about; for the user's words, their first line.
func (r *reader) target(p quire.Page) string {
	if p.Target == "" && p.Kind == quire.PageUser && p.Call < len(r.s.Calls) {
		return r.s.Calls[p.Call].Hint
	}
	return p.Target
}

// why says in one line why a page was dear; observed, whether a need of it would
// have been seen.
func (p PageCost) why(observed bool) string {
	verb := entered(p.Kind, p.Action)
	resent := fmt.Sprintf("sent %s more", times(p.Sent-1))
	switch {
	case p.Sent <= 1:
		return fmt.Sprintf("%s at call %d and sent once: it is big", verb, p.First)
	case !observed:
		return fmt.Sprintf("%s at call %d, %s", verb, p.First, resent)
	case p.Needed == 0:
		return fmt.Sprintf("%s at call %d, %s, never quoted again", verb, p.First, resent)
	case p.Needed == p.First:
		return fmt.Sprintf("%s at call %d, %s, needed only there", verb, p.First, resent)
	default:
		return fmt.Sprintf("%s at call %d, %s, last needed at call %d", verb, p.First, resent, p.Needed)
	}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// entered says how a page came.
func entered(kind quire.PageKind, action quire.Action) string {
	switch kind {
	case quire.PageTool:
		return did(action)
	case quire.PageWritten:
		return "written"
	case quire.PageAssistant:
		return "said"
	case quire.PageUser:
		return "asked"
	default:
		return "came"
	}
}

func did(action quire.Action) string {
	switch action {
	case quire.ActionRead:
		return "read"
	case quire.ActionWrite, quire.ActionEdit:
		return "written"
	case quire.ActionRun:
		return "run"
	case quire.ActionSearch:
		return "searched"
	case quire.ActionList:
		return "listed"
	case quire.ActionFetch:
		return "fetched"
	default:
		return "called"
	}
}

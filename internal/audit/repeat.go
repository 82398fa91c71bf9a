package audit

import (
	"cmp"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
)

const (
	topRepeats   = 20
	repeatTokens = 40 // smaller results ("ok", "no matches") repeat by chance
)

// repeats finds results that came again unchanged.
func (r *reader) repeats() Repeats {
	type content struct {
		target string
		hash   uint64
	}
	until := make(map[content]int32) // first call that no longer holds the youngest copy
	rows := make(map[string]*RepeatRow)
	for i, it := range r.s.Items {
		p := pageOf(r.s, it)
		if !r.repeatable(it, p) {
			continue
		}
		c := content{p.Target, it.Hash}
		if end, ok := until[c]; ok && r.rates.sent(it.Call, r.ends[i]) > 0 {
			r.repeat(rows, it, p, i, end <= it.Call)
		}
		until[c] = r.ends[i]
	}
	return r.sumRepeats(rows)
}

// repeatable reports whether an item is a result that tells something about a
// target: writing the same twice is not reading it twice.
func (r *reader) repeatable(it recording.Item, p quire.Page) bool {
	asks := p.Action == quire.ActionRead || p.Action == quire.ActionSearch || p.Action == quire.ActionList ||
		p.Action == quire.ActionFetch || p.Action == quire.ActionRun
	return it.Kind == quire.PartToolResult && it.Origin == quire.OriginFirst &&
		asks && p.Target != "" && it.Tokens >= repeatTokens
}

func (r *reader) repeat(rows map[string]*RepeatRow, it recording.Item, p quire.Page, i int, gone bool) {
	row := rows[p.Target]
	if row == nil {
		row = &RepeatRow{Session: r.s.Path, Target: p.Target, Action: p.Action}
		rows[p.Target] = row
	}
	row.Times++
	row.Tokens += int64(it.Tokens)
	row.Cost += float64(it.Tokens) * r.rates.cost(it.Call, r.ends[i])
	if gone {
		row.Forgotten++
	}
}

// sumRepeats adds rows up in the order of their targets, so that sums of money
// are the same each time.
func (r *reader) sumRepeats(rows map[string]*RepeatRow) (sum Repeats) {
	for _, row := range rows {
		sum.Worst = append(sum.Worst, *row)
	}
	slices.SortFunc(sum.Worst, func(a, b RepeatRow) int { return strings.Compare(a.Target, b.Target) })
	for _, row := range sum.Worst {
		sum.Times += row.Times
		sum.Tokens += row.Tokens
		sum.Forgotten += row.Forgotten
		sum.Cost += row.Cost
	}
	sum.Worst = worst(sum.Worst)
	return sum
}

// worst sorts rows, dearest first, and keeps the first.
func worst(rows []RepeatRow) []RepeatRow {
	slices.SortFunc(rows, func(a, b RepeatRow) int {
		return cmp.Or(cmp.Compare(b.Cost, a.Cost), cmp.Compare(b.Tokens, a.Tokens),
			strings.Compare(a.Session, b.Session), strings.Compare(a.Target, b.Target))
	})
	return slices.Clone(rows[:min(len(rows), topRepeats)])
}

package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/quire-agent/quire/internal/audit"
)

// spent is the cost of a sum, estimates included, and whether it has any.
func spent(s audit.Sum) (float64, bool) {
	switch {
	case s.CostEstimated != nil:
		return *s.CostEstimated, true
	case s.Cost != nil:
		return *s.Cost, true
	default:
		return 0, false
	}
}

// bill formats the cost of a sum: with "about" where some is estimated, "no
// price known" where there is none.
func bill(s audit.Sum) string {
	cost, ok := spent(s)
	switch {
	case !ok:
		return "no price known"
	case s.CostEstimated != nil || s.Usage.OutputEstimated != nil:
		return "about " + money(cost)
	default:
		return money(cost)
	}
}

// billed is the cost of a sum for a table: marked where some is estimated.
func billed(s audit.Sum) string {
	cost, ok := spent(s)
	switch {
	case !ok:
		return "no price"
	case s.CostEstimated != nil:
		return "~" + money(cost)
	default:
		return money(cost)
	}
}

// A piece is one part of a whole, measured in money or, where no call has a
// price, in tokens.
type piece struct {
	name   string
	amount float64
	share  float64 // of the whole
}

// unit tells in what a report measures.
type unit bool

const inMoney unit = true

func unitOf(r audit.Report) unit {
	cost, _ := spent(r.Totals.Sum)
	return unit(cost > 0)
}

func (u unit) format(v float64) string {
	if u == inMoney {
		return money(v)
	}
	return tokens(int64(v))
}

// pick is the amount in this unit.
func (u unit) pick(cost float64, n int64) float64 {
	if u == inMoney {
		return cost
	}
	return float64(n)
}

// pieces sorts by amount, largest first, and gives each its share. Pieces of
// nothing are left out.
func pieces(list []piece) []piece {
	list = slices.DeleteFunc(list, func(p piece) bool { return p.amount <= 0 })
	slices.SortStableFunc(list, func(a, b piece) int { return cmp.Compare(b.amount, a.amount) })
	total := 0.0
	for _, p := range list {
		total += p.amount
	}
	for i := range list {
		list[i].share = list[i].amount / total
	}
	return list
}

// limit keeps n pieces; the last of them stands for the rest if there is one.
func limit(list []piece, n int, rest string) []piece {
	if len(list) <= n {
		return list
	}
	kept := slices.Clone(list[:n])
	kept[n-1] = piece{name: rest}
	for _, p := range list[n-1:] {
		kept[n-1].amount += p.amount
		kept[n-1].share += p.share
	}
	return kept
}

// kindPieces splits the whole by what the content was.
func kindPieces(r audit.Report) []piece {
	u := unitOf(r)
	var list []piece
	for _, k := range r.Kinds {
		sent := k.Sent
		if k.Kind == audit.KindOutput {
			sent = k.Tokens
		}
		list = append(list, piece{name: kindWords(k.Kind), amount: u.pick(k.Cost, sent)})
	}
	return pieces(list)
}

// groupPieces splits the whole by the groups of a list.
func groupPieces(r audit.Report, groups []audit.Group) []piece {
	u := unitOf(r)
	var list []piece
	for _, g := range groups {
		cost, _ := spent(g.Sum)
		list = append(list, piece{name: g.Name, amount: u.pick(cost, prompt(g.Usage))})
	}
	return pieces(list)
}

// prompt is the tokens sent, recorded or else estimated.
func prompt(u audit.Usage) int64 {
	n := int64(0)
	for _, v := range []*int64{u.Input, u.CacheRead, u.CacheWrite, u.PromptEstimated} {
		if v != nil {
			n += *v
		}
	}
	return n
}

// completion is the tokens received, best known.
func completion(u audit.Usage) int64 {
	if u.OutputEstimated != nil {
		return *u.OutputEstimated
	}
	if u.Output != nil {
		return *u.Output
	}
	return 0
}

// An offer is a policy as a person may compare it with what was.
type offer struct {
	name string
	audit.Policy
	instead *float64 // dollars instead of the recorded cost; nil without prices
	saved   *float64 // share of the recorded cost
}

// offers lists the policies: those that know the future last, each part by
// cost, or by prompt size where there are no prices.
func offers(r audit.Report) []offer {
	var list []offer
	for _, name := range slices.Sorted(maps.Keys(r.Policies)) {
		if name == audit.AsRecorded {
			continue
		}
		o := offer{name: name, Policy: r.Policies[name]}
		if r.Replayed.Cost != nil && o.ToRecorded != nil {
			instead, saved := *r.Replayed.Cost**o.ToRecorded, 1-*o.ToRecorded
			o.instead, o.saved = &instead, &saved
		}
		list = append(list, o)
	}
	slices.SortStableFunc(list, func(a, b offer) int {
		return cmp.Or(rank(a.Oracle, b.Oracle), compare(a.instead, b.instead), cmp.Compare(a.MeanPrompt, b.MeanPrompt))
	})
	return list
}

func rank(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}

func compare(a, b *float64) int {
	if a == nil || b == nil {
		return rank(a == nil, b == nil)
	}
	return cmp.Compare(*a, *b)
}

// worthIt is the saving from which a policy is named as a help.
const worthIt = 0.01

// helps lists the policies that would have been cheaper than what was, without
// those that know the future.
func helps(r audit.Report) []offer {
	return slices.DeleteFunc(offers(r), func(o offer) bool {
		return o.Oracle || o.saved == nil || *o.saved < worthIt
	})
}

// nothingHelps says why no policy is named as a help, and what one that knows
// the future would have come to.
func nothingHelps(r audit.Report) string {
	if r.Replayed.Cost == nil {
		return "Without prices nobody can say."
	}
	text := fmt.Sprintf("No way that was tried comes out below %s.", money(*r.Replayed.Cost))
	for _, o := range offers(r) {
		if o.Oracle && o.saved != nil && *o.saved >= worthIt {
			return text + fmt.Sprintf(" One that knew the future could have saved %s: %s.", percent(*o.saved), money(*o.instead))
		}
	}
	return text
}

// A loss is one way in which money went for nothing.
type loss struct {
	amount float64
	text   string
}

// losses lists what was wasted, largest first. They overlap: a file that was
// read twice may also have gone unused.
func losses(r audit.Report) []loss {
	u := unitOf(r)
	list := []loss{
		{u.pick(r.Context.Unused, r.Context.UnusedTokens), "sending results and edits again that nothing needed any more"},
		{u.pick(r.Repeats.Cost, r.Repeats.Tokens), repeatText(r.Repeats)},
	}
	for _, w := range r.Cache.Rewrites {
		list = append(list, loss{u.pick(w.Cost, w.Tokens), rewriteText(w)})
	}
	list = slices.DeleteFunc(list, func(l loss) bool { return l.amount <= 0 })
	slices.SortStableFunc(list, func(a, b loss) int { return cmp.Compare(b.amount, a.amount) })
	return list
}

func repeatText(p audit.Repeats) string {
	text := count(p.Times, "look", "looks") + " at something unchanged"
	if p.Forgotten > 0 {
		text += " (" + grouped(int64(p.Forgotten)) + " after it was dropped)"
	}
	return text
}

func rewriteText(w audit.Rewrite) string {
	n := count(w.Times, "time", "times")
	switch w.Cause {
	case audit.CauseIdle:
		return "text paid for again after " + count(w.Times, "pause", "pauses") + ": the cache had expired"
	case audit.CauseCompaction:
		return "cache lost " + n + " when the agent summarised"
	case audit.CauseModel:
		return "cache lost " + n + " by a change of model"
	case audit.CauseEdit:
		return "cache lost " + n + " as earlier text was changed or cut"
	default:
		return "cache lost " + n + " for no recorded reason"
	}
}

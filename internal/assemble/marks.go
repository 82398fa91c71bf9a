package assemble

import (
	"slices"

	"github.com/quire-agent/quire/internal/quire"
)

// plan places the cache marks, each on a block that may carry one.
func (d *draft) plan() []int {
	rules := d.h.Rules
	rules.Breakpoints = min(rules.Breakpoints, mostMarks)
	places := rules.Place(d.head, d.lastWritten(), d.head+len(d.links))
	if rules.Hinge && len(places) > 0 {
		places = d.hinged(places)
	}
	if rules.Implicit && len(places) > 0 {
		places = places[:len(places)-1]
	}
	var out []int
	low := 0
	for _, p := range places {
		if p = d.markable(p, low); p > low {
			out = append(out, p)
			low = p
		}
	}
	return out
}

// hinged is places with the end of what is before the last message among them. Where
// there are as many marks as there may be, it takes the place of one that only keeps
// the others close.
func (d *draft) hinged(places []int) []int {
	last := len(d.links) - 1
	for last >= 0 && d.links[last].message == len(d.messages)-1 {
		last--
	}
	hinge := d.head + last + 1
	if last < 0 || hinge < d.lastWritten() && !slices.Contains(d.written, hinge) {
		return places
	}
	if len(places) >= min(mostMarks, d.h.Rules.Breakpoints) {
		i := slices.IndexFunc(places[:len(places)-1], func(p int) bool { return p > d.head && p != d.lastWritten() })
		if i < 0 {
			return places
		}
		places = slices.Delete(places, i, i+1)
	}
	places = append(places, hinge)
	slices.Sort(places)
	return slices.Compact(places)
}

// mostMarks is how many marks a call has at most, whatever the rules say.
const mostMarks = 4

func (d *draft) lastWritten() int {
	if n := len(d.written); n > 0 {
		return d.written[n-1]
	}
	return 0
}

// markable is the last position up to p, but behind low, whose block may carry a
// mark; low where there is none.
func (d *draft) markable(p, low int) int {
	for low = max(low, min(p, d.head)); p > low; p-- {
		if d.links[p-d.head-1].marks {
			return p
		}
	}
	return low
}

// carries reports whether a block may carry a cache mark.
func (r *Rules) carries(role quire.Role, b *quire.Block) bool {
	return b.Opaque == nil && b.Kind != quire.PartThinking && role != quire.RoleSystem && (role != quire.RoleAssistant || !r.UserMarks)
}

// remark takes the marks of the last call off what stands of it and sets those
// that are planned.
func (d *draft) remark(old []int) {
	if !d.renewed {
		for _, p := range old {
			if p > d.head && p-d.head <= d.from {
				d.mark(p, quire.MarkNone)
			}
		}
	}
	for _, p := range d.planned {
		if p > d.head {
			d.mark(p, d.life(d.h.Rules.TailMark))
		}
		if p > d.lastWritten() {
			d.written = append(d.written, p)
		}
	}
	if end := d.head + len(d.links); d.h.Rules.Implicit && end > d.lastWritten() {
		d.written = append(d.written, end)
	}
	d.marks = d.planned
}

func (d *draft) mark(p int, m quire.Mark) {
	l := &d.links[p-d.head-1]
	d.messages[l.message].Blocks[l.block].Cache = m
}

func (d *draft) life(m quire.Mark) quire.Mark {
	if m == quire.MarkNone {
		return quire.MarkShort
	}
	return m
}

// markHead gives the call a head of its own, with a mark behind it.
func (d *draft) markHead(c *quire.Call) {
	c.Tools, c.System = slices.Clone(c.Tools), slices.Clone(c.System)
	for i := range c.Tools {
		c.Tools[i].Cache = quire.MarkNone
	}
	for i := range c.System {
		c.System[i] = unmarked(c.System[i])
	}
	if len(d.planned) == 0 || d.planned[0] != d.head {
		return
	}
	life := d.life(d.h.Rules.HeadMark)
	switch {
	case len(c.System) > 0:
		c.System[len(c.System)-1].Cache = life
	case len(c.Tools) > 0:
		c.Tools[len(c.Tools)-1].Cache = life
	}
}

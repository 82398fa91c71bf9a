package rendition

import (
	"cmp"
	"slices"
)

// A candidate is a passage that is worth keeping: the units from lo to before hi.
// Where they do not fit, those nearest to at are tried.
type candidate struct {
	at, lo, hi int
	tier       tier
	value      float64 // within its tier
}

// A tier says in which order candidates are tried.
type tier uint8

const (
	tierReferenced tier = iota // lines that were referred to
	tierFailure                // what failed, each in few lines
	tierWanted                 // what was looked for, and the heads of what holds it
	tierFrame                  // what tells what the rest belongs to
	tierAround                 // what is around the tiers before
	tierEnds                   // the beginning and the end
	tierCount
)

// share is the part of the room left that a tier may take, so that a text full of
// one thing leaves room for the others.
func (t tier) share() float64 {
	switch t {
	case tierReferenced:
		return .8
	case tierFailure:
		return .6
	case tierWanted:
		return .75
	case tierFrame:
		return .5
	}
	return 1
}

// A picker keeps units as long as they fit. The size it reckons with is never
// under that of the text that is made in the end.
type picker struct {
	*sheet
	kept  []bool
	size  int // of the text as it stands
	limit int // bytes
	mark  int // bytes of a mark
}

func (m *Maker) newPicker(s *sheet, limit int) *picker {
	mark := longestMark(s)
	return &picker{sheet: s, kept: make([]bool, len(s.units)), size: m.longestHead(s) + mark, limit: limit, mark: mark}
}

// choose takes candidates tier by tier, the most valuable first.
func (p *picker) choose(all []candidate) {
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.tier, b.tier), cmp.Compare(b.value, a.value), cmp.Compare(a.at, b.at), cmp.Compare(a.lo, b.lo), cmp.Compare(a.hi, b.hi))
	})
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].tier == all[0].tier {
			n++
		}
		bound := p.size + int(all[0].tier.share()*float64(p.limit-p.size))
		for _, c := range all[:n] {
			if bound-p.size < 16 { // what would still fit says nothing, and trying it all takes long
				break
			}
			p.take(c, bound)
		}
		all = all[n:]
	}
}

// take keeps a candidate, or the middle of it that fits.
func (p *picker) take(c candidate, bound int) {
	for {
		if p.add(c.lo, c.hi, bound) || c.hi-c.lo <= 1 {
			return
		}
		c.lo, c.hi = c.at-(c.at-c.lo)/2, c.at+1+(c.hi-c.at-1)/2
	}
}

// add keeps units if the text then is no longer than bound.
func (p *picker) add(lo, hi, bound int) bool {
	cost := p.cost(lo, hi)
	if p.size+cost > bound {
		return false
	}
	for i := lo; i < hi; i++ {
		p.kept[i] = true
	}
	p.size += cost
	return true
}

// cost is by how much the text grows when the units from lo to before hi are
// kept: each run of new ones closes, moves or splits a gap.
func (p *picker) cost(lo, hi int) (bytes int) {
	for i := lo; i < hi; {
		if p.kept[i] {
			i++
			continue
		}
		j := i
		for ; j < hi && !p.kept[j]; j++ {
			bytes += len(p.units[j].text)
		}
		bytes += p.mark
		if i == 0 || p.kept[i-1] {
			bytes -= p.mark
		}
		if j == len(p.units) || p.kept[j] {
			bytes -= p.mark
		}
		i = j
	}
	return bytes
}

// fill closes the gaps that are no longer than their marks.
func (p *picker) fill() {
	for i := 0; i < len(p.units); {
		if p.kept[i] {
			i++
			continue
		}
		j, bytes := i, 0
		for ; j < len(p.units) && !p.kept[j]; j++ {
			bytes += len(p.units[j].text)
		}
		if bytes <= p.mark && !p.silent(i, j) {
			p.add(i, j, p.limit)
		}
		i = j
	}
}

// silent reports whether all units say nothing new.
func (p *picker) silent(i, j int) bool {
	return !slices.ContainsFunc(p.units[i:j], func(u unit) bool { return u.echo == fresh })
}

// news keeps all that is no echo, if it fits.
func (p *picker) news() bool {
	room := p.limit - p.size + p.mark
	for i := range p.units {
		if p.units[i].echo == fresh {
			p.kept[i] = true
			room -= len(p.units[i].text)
		}
	}
	for i := range p.units {
		if !p.kept[i] && (i == 0 || p.kept[i-1]) {
			room -= p.mark
		}
	}
	if room < 0 {
		clear(p.kept)
		return false
	}
	p.size = p.limit - room
	return true
}

// any reports whether something is kept.
func (p *picker) any() bool { return slices.Contains(p.kept, true) }

package task

import (
	"cmp"
	"math"
	"slices"

	"github.com/quire-agent/quire/internal/quire"
)

// maxVocabulary is how many features of a kind a task is known by: those that came
// last.
const maxVocabulary = 8192

// A profile is what is known of a task.
type profile struct {
	label string
	goal  string // the first line that the user said in it
	known [kinds]map[string]feature
	last  [kinds]map[string]bool // own features of its last turn
	hot   []heat
}

// A heat is a page with its heat at a call.
type heat struct {
	page  quire.PageNumber
	value float64
	call  int
}

// blank reports whether nothing is known of a task: its first words were a greeting.
func (p *profile) blank() bool {
	return len(p.known[kindPath])+len(p.known[kindSymbol])+len(p.known[kindWord]) == 0
}

// maxHot is how many pages of a task are candidates for its hottest.
const maxHot = 32

// halfLife is in how many calls heat halves (section 1 of the design).
const halfLife = 12

func (h heat) at(call int) float64 {
	return h.value * math.Exp2(-float64(max(0, call-h.call))/halfLife)
}

// warm counts a reference to a page at a call.
func (p *profile) warm(page quire.PageNumber, call int) {
	i := slices.IndexFunc(p.hot, func(h heat) bool { return h.page == page })
	if i < 0 {
		p.hot = append(p.hot, heat{page: page, value: 1, call: call})
		p.cool(call)
		return
	}
	if h := &p.hot[i]; call > h.call {
		h.value, h.call = h.at(call)+1, call
	}
}

// cool forgets the coldest page when there are too many.
func (p *profile) cool(call int) {
	if len(p.hot) > maxHot {
		p.hot = p.order(call)[:maxHot]
	}
}

// order is the pages from the hottest; of equals the younger is first.
func (p *profile) order(call int) []heat {
	hot := slices.Clone(p.hot)
	slices.SortFunc(hot, func(a, b heat) int {
		return cmp.Or(cmp.Compare(b.at(call), a.at(call)), cmp.Compare(b.page, a.page))
	})
	return hot
}

// keep is how many pages of an old task a new one keeps.
const keep = 2

func (p *profile) hottest(call int) []quire.PageNumber {
	var pages []quire.PageNumber
	for _, h := range p.order(call) {
		if len(pages) < keep {
			pages = append(pages, h.page)
		}
	}
	return pages
}

// A feature is what a task knows of one.
type feature struct {
	turn int  // that had it last
	own  bool // it was said or called, not only seen in a result
}

// learn adds a feature at a turn and reports whether that changed how well it is
// known.
func (p *profile) learn(k kind, name string, own bool, turn int) bool {
	if p.known[k] == nil {
		p.known[k] = map[string]feature{}
	}
	before, ok := p.known[k][name]
	p.known[k][name] = feature{turn: turn, own: own || before.own}
	return !ok || own && !before.own
}

// forget drops the features that came longest ago when there are too many, a fifth
// of them at once, so that it is seldom done. What was only seen goes first.
func (p *profile) forget(k kind) []string {
	if len(p.known[k]) <= maxVocabulary {
		return nil
	}
	all := make([]string, 0, len(p.known[k]))
	for name := range p.known[k] {
		all = append(all, name)
	}
	slices.SortFunc(all, func(a, b string) int {
		x, y := p.known[k][a], p.known[k][b]
		if x.own != y.own {
			return cmp.Compare(btoi(x.own), btoi(y.own))
		}
		return cmp.Or(cmp.Compare(x.turn, y.turn), cmp.Compare(a, b))
	})
	old := all[:len(all)-maxVocabulary*4/5]
	for _, name := range old {
		delete(p.known[k], name)
	}
	return old
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

package run

import (
	"cmp"
	"path"
	"slices"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/quire-agent/quire/internal/shingle"
	"github.com/quire-agent/quire/internal/task"
)

// liveNames is how many names of pages are remembered: above that every second
// one is forgotten.
const liveNames = 400_000

// quoted is how many shingles of a page words must hold to quote it.
const quoted = 3

// A Foresight finds earlier pages that new words point to: by the path of a file
// that was read or written, by names of a program that few pages hold, by a
// quotation. It looks words up in an index that grows with the session, and never
// looks through pages: the time that it takes depends on the words alone. A name
// or a quotation points to the youngest page that holds it. A Foresight is
// deterministic, and not safe for concurrent use.
type Foresight struct {
	names  *shingle.Index
	quotes *shingle.Index
}

// NewForesight knows no page. quotes is the index of the shingles of all pages,
// which the caller fills.
func NewForesight(quotes *shingle.Index) *Foresight {
	return &Foresight{names: shingle.NewIndex(liveNames), quotes: quotes}
}

// Add makes a page known by its path and by the names in its text. A page may be
// added in several texts; what the model said of itself is not to be added.
func (f *Foresight) Add(p *quire.Page, text string) {
	for _, way := range ways() {
		if way.of(p) && p.Target != "" {
			file := task.File(p.Target)
			f.names.Add(nameHash(way.salt, file), p.Number, p.Kind)
			f.names.Add(nameHash(way.salt, path.Base(file)), p.Number, p.Kind)
		}
	}
	for name := range task.Symbols(text) {
		f.names.Add(nameHash(saltSymbol, name), p.Number, p.Kind)
	}
}

// A way is how a path points to a page.
type way struct {
	salt byte
	of   func(*quire.Page) bool
}

const (
	saltSymbol = iota
	saltRead
	saltWritten
)

func ways() []way {
	return []way{
		{saltRead, func(p *quire.Page) bool { return p.Action == quire.ActionRead }},
		{saltWritten, func(p *quire.Page) bool { return p.Action == quire.ActionEdit || p.Action == quire.ActionWrite }},
	}
}

// nameHash is FNV-1a with a salt, spread over all bits.
func nameHash(salt byte, name string) uint64 {
	const prime = 1099511628211
	h := uint64(14695981039346656037) ^ uint64(salt)
	h *= prime
	for i := range len(name) {
		h ^= uint64(name[i])
		h *= prime
	}
	h ^= h >> 32
	return h * 0x9e3779b97f4a7c15
}

// pointed is what points to a page.
type pointed struct {
	symbols, quotes int
	path            bool
}

// Hints are the pages that words point to, by rising number.
func (f *Foresight) Hints(by schedule.Speaker, texts []string) []schedule.Hint {
	found := map[quire.PageNumber]*pointed{}
	at := func(n quire.PageNumber) *pointed {
		if found[n] == nil {
			found[n] = &pointed{}
		}
		return found[n]
	}
	for _, text := range texts {
		f.paths(text, at)
		f.symbols(text, at)
		if by == schedule.ByUser {
			f.quotations(text, at)
		}
	}
	var out []schedule.Hint
	for n, p := range found {
		if sign, ok := p.sign(by); ok {
			out = append(out, schedule.Hint{Page: n, Sign: sign})
		}
	}
	slices.SortFunc(out, func(a, b schedule.Hint) int { return cmp.Compare(a.Page, b.Page) })
	return out
}

func (f *Foresight) paths(text string, at func(quire.PageNumber) *pointed) {
	for name := range task.Files(text) {
		for _, w := range ways() {
			if e, ok := f.names.Find(nameHash(w.salt, name)); ok {
				at(e.Page).path = true
			}
		}
	}
}

// fewPages is on how many pages a name may have occurred to point to the youngest
// of them.
const fewPages = 6

func (f *Foresight) symbols(text string, at func(quire.PageNumber) *pointed) {
	seen := map[uint64]bool{}
	for name := range task.Symbols(text) {
		h := nameHash(saltSymbol, name)
		if e, ok := f.names.Find(h); ok && !seen[h] && e.Pages <= fewPages {
			seen[h] = true
			at(e.Page).symbols++
		}
	}
}

func (f *Foresight) quotations(text string, at func(quire.PageNumber) *pointed) {
	seen := map[uint64]bool{}
	shingle.Scan(text, func(s shingle.Shingle) bool {
		e, ok := f.quotes.Find(s.Hash)
		if ok && !seen[s.Hash] && e.Kind != quire.PageAssistant {
			seen[s.Hash] = true
			at(e.Page).quotes++
		}
		return true
	})
}

// sign sums up what points to a page; ok is false where it is too little.
func (p *pointed) sign(by schedule.Speaker) (schedule.Sign, bool) {
	switch {
	case p.quotes >= quoted:
		return schedule.Sign{By: by, What: schedule.SignQuote}, true
	case p.path && p.symbols > 0:
		return schedule.Sign{By: by, What: schedule.SignBoth}, true
	case p.path:
		return schedule.Sign{By: by, What: schedule.SignPath}, true
	case p.symbols > 0:
		return schedule.Sign{By: by, What: schedule.SignSymbol + schedule.What(min(p.symbols, 3)-1)}, true
	}
	return schedule.Sign{}, false
}

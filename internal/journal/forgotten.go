package journal

import (
	"slices"

	"github.com/quire-agent/quire/internal/quire"
)

// forgotten is what marks of a journal have forgotten.
type forgotten struct {
	pages  map[quire.PageNumber]bool
	bodies map[quire.Hash]bool // of parts in no page
}

func newForgotten() *forgotten {
	return &forgotten{map[quire.PageNumber]bool{}, map[quire.Hash]bool{}}
}

// readForgotten collects the marks of a journal. Damaged places have none.
func readForgotten(path string) (*forgotten, error) {
	f := newForgotten()
	for r, err := range Read(path) {
		switch {
		case err == nil:
			f.record(r)
		case !isDamage(err):
			return nil, err
		}
	}
	return f, nil
}

// record takes a record that may be a mark.
func (f *forgotten) record(r quire.Record) {
	if r.Type != quire.RecordMark {
		return
	}
	m, err := Decode[quire.MarkRecord](r)
	if err != nil || m.What != quire.MarkForget {
		return
	}
	if m.Page > 0 {
		f.pages[m.Page] = true
	}
	if m.Body != (quire.Hash{}) {
		f.bodies[m.Body] = true
	}
}

// A claim is what a part needs of the pool.
type claim struct {
	seq    int64
	pages  []quire.PageNumber
	text   quire.Hash   // zero for none
	bodies []quire.Hash // that and the others
}

// claimOf reads the claim of a record. Only parts have one, and not those of a
// form that this program does not know.
func claimOf(r quire.Record) claim {
	type part struct {
		Body, Blob, Written quire.Hash
		Pages               []quire.PageNumber
	}
	if r.Type != quire.RecordPart {
		return claim{}
	}
	p, err := Decode[part](r)
	if err != nil {
		return claim{}
	}
	named := slices.DeleteFunc([]quire.Hash{p.Body, p.Blob, p.Written}, func(h quire.Hash) bool { return h == quire.Hash{} })
	return claim{r.Seq, p.Pages, p.Body, named}
}

// holds reports whether a part is forgotten: a page that it begins or completes
// is, or its body where it is in no page.
func (f *forgotten) holds(c claim) bool {
	if len(c.pages) == 0 {
		return f.bodies[c.text]
	}
	return slices.ContainsFunc(c.pages, func(n quire.PageNumber) bool { return f.pages[n] })
}

package ingest

import (
	"slices"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
)

// An outline is what must be known of a journal before its parts are looked at:
// what comes later and bears on what came before.
type outline struct {
	head   quire.SessionRecord // with all that is known of the session
	model  string              // of the first call that names one
	last   quire.Record
	pages  map[quire.PageNumber]bool // forgotten
	bodies map[quire.Hash]bool       // forgotten, of parts in no page
	pins   map[quire.PageNumber]quire.Pin
	drops  map[quire.PageNumber]quire.Principal // by whom
	tasks  map[quire.PageNumber][]string        // of marks that name a page
}

// newOutline reads a journal. Damaged places are passed over; a journal without
// a first line is an error.
func newOutline(path string) (*outline, error) {
	o := &outline{
		pages: map[quire.PageNumber]bool{}, bodies: map[quire.Hash]bool{}, pins: map[quire.PageNumber]quire.Pin{},
		drops: map[quire.PageNumber]quire.Principal{}, tasks: map[quire.PageNumber][]string{},
	}
	var err error
	if o.head, err = journal.Head(path); err != nil {
		return nil, err
	}
	for r, err := range journal.Read(path) {
		if err != nil {
			if damaged(err) {
				continue
			}
			return nil, err
		}
		o.last = r
		o.record(r)
	}
	o.last.Line = nil
	return o, nil
}

// record takes what bears on other records. What cannot be read bears on none.
func (o *outline) record(r quire.Record) {
	switch r.Type {
	case quire.RecordInfo:
		if i, err := journal.Decode[quire.InfoRecord](r); err == nil {
			merge(&o.head.Info, &i.Info)
		}
	case quire.RecordCall:
		if c, err := journal.Decode[quire.CallRecord](r); err == nil && o.model == "" {
			o.model = c.Model
		}
	case quire.RecordMark:
		if m, err := journal.Decode[quire.MarkRecord](r); err == nil {
			o.mark(m)
		}
	}
}

func (o *outline) mark(m quire.MarkRecord) {
	switch m.What {
	case quire.MarkForget:
		if m.Page > 0 {
			o.pages[m.Page] = true
		}
		if m.Body != (quire.Hash{}) {
			o.bodies[m.Body] = true
		}
	case quire.MarkPin:
		o.pins[m.Page] = quire.Pin{By: m.By, Until: m.Until}
		delete(o.drops, m.Page)
	case quire.MarkUnpin:
		delete(o.pins, m.Page)
	case quire.MarkDrop:
		o.drops[m.Page] = m.By
		delete(o.pins, m.Page)
	case quire.MarkTask:
		if m.Page > 0 && m.Task != "" && !slices.Contains(o.tasks[m.Page], m.Task) {
			o.tasks[m.Page] = append(o.tasks[m.Page], m.Task)
		}
	}
}

// forgot reports whether what a part held is forgotten: a page that it begins or
// completes is.
func (o *outline) forgot(p *quire.PartRecord) bool {
	for _, n := range p.Pages {
		if o.pages[n] {
			return true
		}
	}
	return len(p.Pages) == 0 && o.bodies[p.Body]
}

// named lists the bodies that a part names.
func named(p *quire.PartRecord) []quire.Hash {
	var out []quire.Hash
	for _, h := range []quire.Hash{p.Body, p.Blob, p.Written} {
		if h != (quire.Hash{}) {
			out = append(out, h)
		}
	}
	return out
}

package ingest

import (
	"errors"
	"slices"
	"testing"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
)

// A mark is in the journal and in the rows when Mark returns, and while another
// one writes the journal it is refused and nothing is changed.
func TestMarkIsWrittenAndDerived(t *testing.T) {
	p := newPool(t)
	got := imported(t, p, work().write(t))
	before := derived(t, p, got)
	w, err := journal.Open(got.Name.Path, p.Now)
	if err != nil {
		t.Fatal(err)
	}
	pin := quire.MarkRecord{What: quire.MarkPin, Page: before[0].Number, Until: 40, By: p.Owner}
	if err := p.Mark(t.Context(), got.Name, pin); !errors.Is(err, quire.ErrLocked) {
		t.Errorf("while another one writes: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.Mark(t.Context(), got.Name, pin); err != nil {
		t.Fatal(err)
	}
	last, err := journal.Last(got.Name.Path)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := journal.Decode[quire.MarkRecord](last); err != nil || m != pin {
		t.Errorf("%+v, %v", m, err)
	}
	var rows []quire.Row
	for r, err := range p.Table.Rows(t.Context(), p.as(), quire.Filter{Session: got.Name.Number}) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	if i := slices.IndexFunc(rows, func(r quire.Row) bool { return r.Pin.By == p.Owner }); i != 0 || rows[0].Pin.Until != 40 {
		t.Errorf("%+v", rows[0].Pin)
	}
}

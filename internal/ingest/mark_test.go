package ingest

import (
	"errors"
	"slices"
	"testing"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
)

// marked appends marks to the journal of a session and derives it again.
func marked(t *testing.T, p *Pool, got Imported, marks ...quire.MarkRecord) []quire.Row {
	t.Helper()
	w, err := journal.Open(got.Name.Path, p.Now)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range marks {
		_, appended := w.Append(quire.RecordMark, m)
		err = errors.Join(err, appended)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return derived(t, p, got)
}

// Of what the user did to a page the last thing stands, in the rows that are
// there as in those that are made anew.
func TestMarksAreInTheRows(t *testing.T) {
	const ann = quire.Principal("user:ann")
	pin := quire.MarkRecord{What: quire.MarkPin, Page: 1, Until: 9, By: ann}
	unpin := quire.MarkRecord{What: quire.MarkUnpin, Page: 1, By: ann}
	drop := quire.MarkRecord{What: quire.MarkDrop, Page: 1, By: ann}
	pinned := quire.Pin{By: ann, Until: 9}
	for _, c := range []struct {
		name    string
		marks   []quire.MarkRecord
		pin     quire.Pin
		dropped quire.Principal
	}{
		{"pin", []quire.MarkRecord{pin}, pinned, ""},
		{"pin, unpin", []quire.MarkRecord{pin, unpin}, quire.Pin{}, ""},
		{"pin, drop", []quire.MarkRecord{pin, drop}, quire.Pin{}, ann},
		{"drop, pin", []quire.MarkRecord{drop, pin}, pinned, ""},
		{"drop, pin, unpin", []quire.MarkRecord{drop, pin, unpin}, quire.Pin{}, ""},
		{"undo", []quire.MarkRecord{{What: quire.MarkUndo, Epoch: 2, By: ann}}, quire.Pin{}, ""},
	} {
		p := newPool(t)
		got := imported(t, p, work().write(t))
		before := derived(t, p, got)
		rows := marked(t, p, got, c.marks...)
		if r := &rows[0]; r.Pin != c.pin || r.Dropped != c.dropped {
			t.Errorf("%s: pin %+v, dropped by %q", c.name, r.Pin, r.Dropped)
		}
		if r := &rows[1]; r.Pin.By != "" || r.Dropped != "" || len(rows) != len(before) {
			t.Errorf("%s: another page has changed: %+v", c.name, r)
		}
	}
}

// A task holds what is admitted while the user is at it, and what it was given
// by name, whenever that was.
func TestTasksAreInTheRows(t *testing.T) {
	p := newPool(t)
	log := work()
	path := log.write(t)
	got := imported(t, p, path)
	task := func(name string, page quire.PageNumber) quire.MarkRecord {
		return quire.MarkRecord{What: quire.MarkTask, Task: name, Page: page, By: p.Owner}
	}
	before := len(derived(t, p, got))
	marked(t, p, got, task("totals", 0), task("totals", 1), task("totals", 1), task("readers", 2), task("", 2))
	log.user("And the tax?").to(t, path)
	imported(t, p, path)
	marked(t, p, got, task("", 0))
	log.user("Thanks.").to(t, path)
	imported(t, p, path)
	want := make([][]string, before+2)
	want[0], want[1], want[before] = []string{"totals"}, []string{"readers"}, []string{"totals"}
	for _, pool := range []*Pool{p, derivedAnew(p)} {
		for i, r := range derived(t, pool, got) {
			if !slices.Equal(r.Tasks, want[i]) {
				t.Errorf("%s is of the tasks %q, want %q", r.Number, r.Tasks, want[i])
			}
		}
	}
}

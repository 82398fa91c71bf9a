package history

import (
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/quire"
)

// row is a page as the table has it.
func row(n quire.PageNumber, call int, tasks ...string) quire.Row {
	return quire.Row{Page: quire.Page{Number: n, Tokens: 10, Call: call}, LastRef: call, Tasks: tasks}
}

func named(all []Task) map[string]Task {
	out := map[string]Task{}
	for _, t := range all {
		out[t.Task] = t
	}
	return out
}

// Tasks are inferred where nothing is marked. A mark without a page names what
// enters after it, one with a page that page alone.
func TestTasksOfMarksAndOfTurns(t *testing.T) {
	c := newChronicle(t, t.TempDir())
	t.Cleanup(c.close)
	first := c.user(0, "Why is the build of the parser slow?")
	run := c.run("make parser", listing(0, 3))
	c.say("It is the third step.")
	rows := []quire.Row{row(first, 0), row(run, 1), row(run+1, 2)}
	all, err := c.source().Tasks(t.Context(), rows)
	if err != nil || len(all) != 1 || all[0].Pages != 3 || all[0].Tokens != 30 || all[0].Last != 2 || !all[0].Now || all[0].Marked || all[0].Goal != "Why is the build of the parser slow?" {
		t.Fatalf("%+v, %v", all, err)
	}
	c.mark(quire.MarkRecord{What: quire.MarkTask, Task: "shipping"})
	c.mark(quire.MarkRecord{What: quire.MarkTask, Task: "timing", Page: run})
	rows[1].Tasks = []string{"timing"}
	if all, err = c.source().Tasks(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	got := named(all)
	if s := got["shipping"]; !s.Now || !s.Marked || s.Pages != 0 || s.First != -1 {
		t.Errorf("shipping: %+v", s)
	}
	if s := got["timing"]; s.Now || !s.Marked || s.Pages != 1 || s.First != 1 {
		t.Errorf("timing: %+v", s)
	}
	if s := got[all[0].Task]; s.Now || s.Pages != 2 {
		t.Errorf("the first: %+v", s)
	}
	next := c.user(time.Minute, "Now pack the parcels.")
	c.say("They are packed.")
	rows = append(rows, row(next, 3, "shipping"), row(next+1, 4, "shipping"))
	if all, err = c.source().Tasks(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	if s := named(all)["shipping"]; !s.Now || s.Turns != 1 || s.Pages != 2 || s.First != 3 || s.Last != 4 {
		t.Errorf("shipping: %+v", s)
	}
	c.mark(quire.MarkRecord{What: quire.MarkTask})
	if all, err = c.source().Tasks(t.Context(), rows); err != nil || len(all) != 3 {
		t.Errorf("%+v, %v", all, err)
	}
}

package run

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/assemble"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/schedule"
)

// Every figure is counted from the events of a loop, and sent under a name of its
// own.
func TestTallyCounts(t *testing.T) {
	var tally Tally
	decision := func(to quire.Rendition, tokens int) quire.Decision {
		return quire.Decision{Page: 1, From: quire.RenditionFull, To: to, Tokens: tokens}
	}
	for _, e := range []Event{
		Planned{Plan: schedule.Plan{Kind: quire.EpochFree, Decisions: []quire.Decision{decision(quire.RenditionHandle, 5), decision(quire.RenditionCard, 7), decision(quire.RenditionCard, 0)}}},
		Planned{Plan: schedule.Plan{Settled: []schedule.Foreseen{{Used: true}, {}, {}}}},
		Planned{Plan: schedule.Plan{Kind: quire.EpochUndo, Decisions: []quire.Decision{decision(quire.RenditionFull, 9)}}},
		Answered{Hits: 3, Bill: Bill{Live: 2, Shadow: 5}}, Answered{Hits: 1, Bill: Bill{Live: 3, Shadow: 7}},
		Faulted{quire.FaultRecord{Since: 10, Cost: 4, Saved: 1}}, Faulted{quire.FaultRecord{Since: 11, Cost: 8}}, Faulted{quire.FaultRecord{Cost: 8}},
		Said{},
	} {
		tally.Take(e)
	}
	got := map[string]float64{}
	for _, m := range tally.Metrics() {
		if m.Description == "" || m.Unit == "" || !m.Sum {
			t.Errorf("%+v", m)
		}
		name := m.Name
		for _, a := range m.Attributes {
			name += " " + a.Value
		}
		got[name] = m.Value
	}
	want := map[string]float64{
		"quire.calls": 2, "quire.hits": 4, "quire.page_faults": 3, "quire.misschedules": 1, "quire.misschedule_cost": 4, "quire.misschedule_saving": 1,
		"quire.demotions": 2, "quire.folds": 1, "quire.cost": 3, "quire.cost_appended": 7,
		"quire.epochs free": 1, "quire.epochs forced": 0, "quire.epochs paid": 0, "quire.epochs undo": 1, "quire.prefetches used": 1, "quire.prefetches wasted": 2,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// A session says what it quoted, what it missed and what that cost and had saved:
// in its events, and in its record.
func TestHitsAndFaultsAreRecorded(t *testing.T) {
	l, _, k := newLoop(t, func(n int, c quire.Call) ([]quire.Block, error) {
		switch {
		case n%2 == 1 && n < 24:
			return []quire.Block{use(fmt.Sprint("u", n), "read", fmt.Sprintf(`{"path":"%d"}`, n))}, nil
		case n == 25:
			return []quire.Block{use("r", RecallName, `{"page":"p2"}`)}, nil
		case n == 27:
			return says("As you said: " + words(13)), nil
		}
		return says("done"), nil
	})
	l.sum, l.bound.most = assemble.Sum(&l.Head), 20_000 // so that epochs are forced
	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	l.Now = func() time.Time { at = at.Add(time.Second); return at }
	var tally Tally
	l.Emit = tally.Take
	for n := range 14 {
		if _, err := l.Turn(t.Context(), ask(words(n)), text(quire.PartMachine, file(n))); err != nil {
			t.Fatal(err)
		}
		at = at.Add(time.Hour)
	}
	fault, found := quire.FaultRecord{}, 0
	hits := 0
	for n := 0; ; n++ {
		r, ok := k.record(n)
		if !ok {
			break
		}
		switch r.Type {
		case quire.RecordFault:
			found++
			if err := json.Unmarshal(r.Line, &fault); err != nil {
				t.Fatal(err)
			}
		case quire.RecordAccount:
			var a quire.AccountRecord
			if err := json.Unmarshal(r.Line, &a); err != nil {
				t.Fatal(err)
			}
			hits += a.Hits
		}
	}
	if found != 1 || fault.Page != 2 || fault.Since <= 0 || fault.Saved <= 0 || fault.Cost <= 0 {
		t.Errorf("%d faults: %+v", found, fault)
	}
	if now := tally.now; now.Faults != 1 || now.Hits != hits || hits == 0 || now.Demotions == 0 || now.Epochs[quire.EpochForced]+now.Epochs[quire.EpochFree] == 0 || now.Bill.Live <= 0 {
		t.Errorf("%d hits are recorded, the tally is %+v", hits, now)
	}
}

// words are what the user says in a turn, long enough to be quoted.
func words(n int) string {
	return fmt.Sprintf("please compare archive%d_left with archive%d_right until every checksum%d_total agrees exactly between both copies", n, n, n)
}

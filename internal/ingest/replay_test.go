package ingest

import (
	"errors"
	"reflect"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

// A session is read while it is open, whatever of its bodies is gone.
func TestReplayReadsAnOpenSession(t *testing.T) {
	p := newPool(t)
	live, err := p.Begin(t.Context(), quire.SessionInfo{Agent: quire.AgentQuire, Project: "/p"})
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	for _, e := range liveEvents() {
		if err := live.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := live.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	read := func() (events []quire.Event) {
		t.Helper()
		err := p.Replay(t.Context(), live.Name(), Resumer{
			Event:  func(e quire.Event) error { events = append(events, e); return nil },
			Record: func(quire.Record) error { return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		return events
	}
	if got := read(); !reflect.DeepEqual(got, liveEvents()) {
		t.Errorf("read %+v", got)
	}
	if err := p.Bodies.DropBodies(t.Context(), []quire.Hash{quire.Sum("Find it.")}); err != nil {
		t.Fatal(err)
	}
	if got := read(); len(got) != len(liveEvents()) || partOf(got[1]).Text != "" || partOf(got[8]).Text != "package a" {
		t.Errorf("without a body %+v", got)
	}
	stop := errors.New("stop")
	if err := p.Replay(t.Context(), live.Name(), Resumer{Event: func(quire.Event) error { return stop }, Record: func(quire.Record) error { return nil }}); !errors.Is(err, stop) {
		t.Errorf("the error is %v", err)
	}
}

package ingest

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
)

// liveEvents are a short session, with what Quire itself put in.
func liveEvents() []quire.Event {
	at := quire.Stamp{At: time.Date(2026, 11, 30, 9, 0, 0, 5, time.UTC)}
	part := func(k quire.PartKind, use, tool, text string) quire.Part {
		return quire.Part{Kind: k, ToolUse: use, Tool: tool, Text: text}
	}
	return []quire.Event{
		quire.Entered{Stamp: at, Node: 0, Part: quire.Part{Kind: quire.PartMachine, Origin: quire.OriginOwn, Text: "the state"}},
		quire.Entered{Stamp: at, Node: 1, Part: part(quire.PartUser, "", "", "Find it.")},
		quire.Called{Stamp: at, Call: "c1", Model: "m"},
		quire.Answered{Stamp: at, Call: "c1", Node: 2, Part: part(quire.PartToolCall, "u1", "recall", `{"page":"p1"}`)},
		quire.Metered{Stamp: at, Call: "c1", Usage: quire.Usage{Input: 7, Known: quire.KnownInput}},
		quire.Entered{Stamp: at, Node: 3, Part: part(quire.PartToolResult, "u1", "recall", "Find it.")},
		quire.Called{Stamp: at, Call: "c2", Model: "m"},
		quire.Answered{Stamp: at, Call: "c2", Node: 4, Part: part(quire.PartToolCall, "u2", "read", `{"path":"a.go"}`)},
		quire.Entered{Stamp: at, Node: 5, Part: part(quire.PartToolResult, "u2", "read", "package a")},
	}
}

// A session that is recorded comes back event for event, its pages have the
// numbers that a Cutter gives, and while it goes on nothing is cleaned up.
func TestLiveSessionResumes(t *testing.T) {
	p := newPool(t)
	live, err := p.Begin(t.Context(), quire.SessionInfo{Agent: quire.AgentQuire, Project: "/p"})
	if err != nil {
		t.Fatal(err)
	}
	old, err := p.Bodies.PutBodies(t.Context(), [][]byte{[]byte("as it was before")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Garbage(t.Context(), true); !errors.Is(err, quire.ErrLocked) {
		t.Errorf("the garbage of a session that goes on: %v", err)
	}
	var cutter Cutter
	var last quire.PageNumber
	for _, e := range liveEvents() {
		if err := live.Add(e); err != nil {
			t.Fatal(err)
		}
		for _, pg := range cutter.Cut(partOf(e), 0) {
			last = max(last, pg.Number)
		}
	}
	effect := struct {
		Before quire.Hash `json:"before"`
	}{old[0]}
	if err := live.Record(quire.RecordEffect, effect); err != nil {
		t.Fatal(err)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	_ = live.Sync(stopped) // may fail; what was added is not lost by it
	if err := errors.Join(live.Sync(t.Context()), live.Close()); err != nil {
		t.Fatal(err)
	}

	var events []quire.Event
	var others []string
	again, err := p.Resume(t.Context(), live.Name(), Resumer{
		Event:  func(e quire.Event) error { events = append(events, e); return nil },
		Record: func(r quire.Record) error { others = append(others, r.Type); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(events, liveEvents()) {
		t.Errorf("resumed with %+v", events)
	}
	if want := []string{quire.RecordSession, quire.RecordEffect}; !reflect.DeepEqual(others, want) {
		t.Errorf("other records %v, want %v", others, want)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Derive(t.Context(), live.Name().Path); err != nil {
		t.Fatal(err)
	}
	if got := rows(t, p, live.Name().Number); len(got) != int(last) || last != 2 {
		t.Errorf("%d rows, the cutter has %d pages, want the user's words and a read", len(got), last)
	}
	if _, err := p.Garbage(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Bodies.Body(t.Context(), old[0]); err != nil {
		t.Errorf("what undo needs is gone: %v", err)
	}
}

func partOf(e quire.Event) quire.Part {
	switch e := e.(type) {
	case quire.Entered:
		return e.Part
	case quire.Answered:
		return e.Part
	default:
		return quire.Part{Kind: quire.PartThinking} // in no page
	}
}

// A session that was imported is its agent's to go on with.
func TestImportedSessionIsNotResumed(t *testing.T) {
	p := newPool(t)
	w, s, err := journal.Create(p.Home, quire.SessionRecord{Info: quire.SessionInfo{Agent: quire.AgentCodex}, Owner: p.Owner}, p.Now)
	if err != nil {
		t.Fatal(err)
	}
	name := journal.Name{Number: s.Number, ULID: s.ULID, Path: w.Path()}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Resume(t.Context(), name, Resumer{}); !errors.Is(err, ErrNotOurs) {
		t.Errorf("got %v", err)
	}
}

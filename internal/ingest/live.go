package ingest

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
)

// A Live records a session while it goes on, in the form in which logs are
// imported, so that what is derived from it is the same. What is added waits
// until Sync. It belongs to one goroutine, and to the one process that may write
// the session's journal.
type Live struct {
	pool *Pool
	w    *journal.Writer
	rec  recorder
	wait batch
	name journal.Name
}

// Begin begins a session.
func (p *Pool) Begin(info quire.SessionInfo) (*Live, error) {
	w, s, err := journal.Create(p.Home, quire.SessionRecord{Info: info, Owner: p.Owner}, p.Now)
	if err != nil {
		return nil, fmt.Errorf("begin a session: %w", err)
	}
	return &Live{pool: p, w: w, name: journal.Name{Number: s.Number, ULID: s.ULID, Path: w.Path()}}, nil
}

// Resume goes on with a session. Each record that is there is given to each,
// with the text and the data of parts; an error of each ends it.
func (p *Pool) Resume(ctx context.Context, name journal.Name, each func(quire.Event) error) (*Live, error) {
	w, err := journal.Open(name.Path, p.Now)
	if err != nil {
		return nil, fmt.Errorf("resume %v: %w", name.Number, err)
	}
	l := &Live{pool: p, w: w, name: name}
	if err := l.replay(ctx, each); err != nil {
		return nil, fmt.Errorf("resume %v: %w", name.Number, closed(err, w))
	}
	return l, nil
}

func closed(err error, w *journal.Writer) error {
	if other := w.Close(); other != nil {
		return fmt.Errorf("%w, and %w", err, other)
	}
	return err
}

func (l *Live) replay(ctx context.Context, each func(quire.Event) error) error {
	for r, err := range events(l.name.Path) {
		if err != nil {
			return err
		}
		e, err := l.event(ctx, r)
		if err != nil {
			return err
		}
		if e == nil {
			continue
		}
		if _, err := l.rec.line(e); err != nil {
			return err
		}
		if err := each(e); err != nil {
			return err
		}
	}
	return nil
}

// event is what a record tells of; nil for what a resumed session does not need.
func (l *Live) event(ctx context.Context, r quire.Record) (quire.Event, error) {
	switch r.Type {
	case quire.RecordPart:
		return l.part(ctx, r)
	case quire.RecordCall:
		c, err := journal.Decode[quire.CallRecord](r)
		return quire.Called{Stamp: c.Stamp, Call: c.Call, Model: c.Model}, err
	case quire.RecordUsage:
		u, err := journal.Decode[quire.UsageRecord](r)
		return quire.Metered{Stamp: u.Stamp, Call: u.Call, Usage: u.Usage}, err
	case quire.RecordRewind:
		w, err := journal.Decode[quire.RewindRecord](r)
		return quire.Rewound{Stamp: w.Stamp, Keep: w.Keep}, err
	default:
		return nil, nil
	}
}

func (l *Live) part(ctx context.Context, r quire.Record) (quire.Event, error) {
	rec, err := journal.Decode[quire.PartRecord](r)
	if err != nil {
		return nil, err
	}
	for _, b := range []struct {
		hash quire.Hash
		to   *string
	}{{rec.Body, &rec.Part.Text}, {rec.Blob, &rec.Part.Data}} {
		if b.hash == (quire.Hash{}) {
			continue
		}
		body, err := l.pool.Bodies.Body(ctx, b.hash)
		if err != nil {
			return nil, err
		}
		*b.to = string(body)
	}
	if rec.Call != "" {
		return quire.Answered{Stamp: rec.Stamp, Node: rec.Node, Call: rec.Call, Part: rec.Part}, nil
	}
	return quire.Entered{Stamp: rec.Stamp, Node: rec.Node, Part: rec.Part}, nil
}

// Add takes an event.
func (l *Live) Add(e quire.Event) error {
	n, err := l.rec.line(e)
	if err != nil {
		return err
	}
	l.wait.bodies = append(l.wait.bodies, n.bodies...)
	l.wait.lines = append(l.wait.lines, n)
	return nil
}

// Record takes a record that is no event: a plan, an account.
func (l *Live) Record(kind string, payload any) error {
	raw, err := json.Marshal(payload)
	if err != nil {
		return fmt.Errorf("encode a %s: %w", kind, err)
	}
	l.wait.lines = append(l.wait.lines, line{kind: kind, payload: raw})
	return nil
}

// Sync makes all that was added durable: bodies first, then the lines that name
// them.
func (l *Live) Sync(ctx context.Context) error {
	b := l.wait
	l.wait = batch{}
	return write(ctx, l.pool.Bodies, l.w, b)
}

// Name is the session's.
func (l *Live) Name() journal.Name { return l.name }

// Close gives the session up. What was not synced is lost.
func (l *Live) Close() error { return l.w.Close() }

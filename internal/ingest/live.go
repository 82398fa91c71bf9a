package ingest

import (
	"context"
	"encoding/json"
	"errors"
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

// Begin begins a session. It waits for who cleans the home up: bodies are put
// before a line names them, and would be taken for garbage.
func (p *Pool) Begin(ctx context.Context, info quire.SessionInfo) (l *Live, err error) {
	lock, err := journal.WaitHome(ctx, p.Home)
	if err != nil {
		return nil, fmt.Errorf("begin a session: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	w, s, err := journal.Create(p.Home, quire.SessionRecord{Info: info, Owner: p.Owner}, p.Now)
	if err != nil {
		return nil, fmt.Errorf("begin a session: %w", err)
	}
	return &Live{pool: p, w: w, name: journal.Name{Number: s.Number, ULID: s.ULID, Path: w.Path()}}, nil
}

// A Resumer takes what a session holds that goes on, in the order of its journal:
// events, with the text and the data of their parts, and the records that are
// none. An error ends it.
type Resumer struct {
	Event  func(quire.Event) error
	Record func(quire.Record) error
}

// ErrNotOurs says that a session was imported: the log that it is from is what
// goes on, not its journal.
var ErrNotOurs = errors.New("another agent's session, which was imported")

// Resume goes on with a session that Begin began. It waits as Begin does.
func (p *Pool) Resume(ctx context.Context, name journal.Name, to Resumer) (*Live, error) {
	l, err := p.resume(ctx, name, to)
	if err != nil {
		return nil, fmt.Errorf("resume %v: %w", name.Number, err)
	}
	return l, nil
}

func (p *Pool) resume(ctx context.Context, name journal.Name, to Resumer) (l *Live, err error) {
	lock, err := journal.WaitHome(ctx, p.Home)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	head, err := journal.Head(name.Path)
	if err != nil {
		return nil, err
	}
	if head.Info.Agent != quire.AgentQuire {
		return nil, ErrNotOurs
	}
	w, err := journal.Open(name.Path, p.Now)
	if err != nil {
		return nil, err
	}
	l = &Live{pool: p, w: w, name: name}
	if err := l.replay(ctx, to); err != nil {
		return nil, closed(err, w)
	}
	return l, nil
}

func closed(err error, w *journal.Writer) error {
	if other := w.Close(); other != nil {
		return fmt.Errorf("%w, and %w", err, other)
	}
	return err
}

func (l *Live) replay(ctx context.Context, to Resumer) error {
	for r, err := range journal.Read(l.name.Path) {
		if err != nil {
			return err
		}
		if err := l.again(ctx, r, to); err != nil {
			return err
		}
	}
	return nil
}

func (l *Live) again(ctx context.Context, r quire.Record, to Resumer) error {
	e, err := l.event(ctx, r)
	switch {
	case err != nil:
		return err
	case e == nil:
		return to.Record(r)
	}
	if _, err := l.rec.line(e); err != nil {
		return err
	}
	return to.Event(e)
}

// event is what a record tells of, nil for none.
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
// them. After an error it is not lost: the next Sync tries again.
func (l *Live) Sync(ctx context.Context) error {
	if _, err := l.pool.Bodies.PutBodies(ctx, l.wait.bodies); err != nil {
		return fmt.Errorf("store the bodies: %w", err)
	}
	l.wait.bodies = nil
	for len(l.wait.lines) > 0 {
		if _, err := l.w.Append(l.wait.lines[0].kind, l.wait.lines[0].payload); err != nil {
			return err
		}
		l.wait.lines[0] = line{} // what is written is not held any longer
		l.wait.lines = l.wait.lines[1:]
	}
	l.wait.lines = nil
	return l.w.Sync()
}

// Name is the session's.
func (l *Live) Name() journal.Name { return l.name }

// Close gives the session up. What was not synced is lost.
func (l *Live) Close() error { return l.w.Close() }

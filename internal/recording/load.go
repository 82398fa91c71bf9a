package recording

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/token"
	"github.com/quire-agent/quire/internal/trace"
)

// A Loader makes sessions out of logs. It may be used by several goroutines if
// its Counter may.
type Loader struct {
	Counter *token.Counter
}

// Load reads a log. Reading stops with an error when ctx is done, when the log
// cannot be read any further, or when bodies cannot be spooled; what can be
// skipped is in Skips instead. The session must be closed.
func (l *Loader) Load(ctx context.Context, log *trace.Log) (*Session, error) {
	return l.Join(ctx, []*trace.Log{log})
}

// Join reads logs one after the other into one session that never ends: the
// recorded sessions' beginnings are in Starts, and a need is strict only
// towards pages of the same recorded session. Everything else is as if they had
// been one.
func (l *Loader) Join(ctx context.Context, logs []*trace.Log) (*Session, error) {
	sources := make([]Source, len(logs))
	for i, log := range logs {
		sources[i] = Source{log.Path, log.Events()}
	}
	return l.JoinSources(ctx, sources)
}

// A Source is where a recorded session comes from: the path of its log and the
// events in it.
type Source struct {
	Path   string
	Events iter.Seq2[quire.Event, error]
}

// JoinSources is Join for what is not, or not any more, in logs.
func (l *Loader) JoinSources(ctx context.Context, sources []Source) (*Session, error) {
	b := newBuilder(l.Counter)
	for i, src := range sources {
		if i > 0 {
			b.boundary()
		}
		if err := b.read(ctx, src); err != nil {
			b.s.Close()
			return nil, fmt.Errorf("load %s: %w", src.Path, err)
		}
	}
	if err := b.finish(); err != nil {
		b.s.Close()
		return nil, fmt.Errorf("load %s: %w", b.s.Path, err)
	}
	return b.s, nil
}

// Close gives back what the bodies hold on disk.
func (s *Session) Close() error { return s.Bodies.Close() }

// read takes in the events of a log.
func (b *builder) read(ctx context.Context, src Source) error {
	if b.s.Path == "" {
		b.s.Path = src.Path
	}
	for e, err := range src.Events {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := b.event(e); err != nil {
			return err
		}
	}
	return b.flush()
}

// event dispatches one event. Side chains are only metered.
func (b *builder) event(e quire.Event) error {
	b.learn(b.gauge.Add(e))
	switch e := e.(type) {
	case quire.Opened:
		b.opened(e.Info)
	case quire.Entered:
		if e.Chain == "" {
			b.ins = append(b.ins, entry{e.Part, e.Node, e.At})
		}
	case quire.Called:
		return b.called(e)
	case quire.Answered:
		switch {
		case e.Chain != "":
			b.sideOut(e)
		case b.open < 0: // no call was opened that it could answer
			b.ins = append(b.ins, entry{e.Part, e.Node, e.At})
		default:
			b.outs = append(b.outs, entry{e.Part, e.Node, e.At})
		}
	case quire.Metered:
		b.metered(e)
	case quire.Compacted:
		return b.compacted(e)
	case quire.Rewound:
		return b.rewound(e)
	case quire.Skipped:
		b.s.Skips = append(b.s.Skips, Skip{e.Line, e.Reason})
	case quire.Noted:
		b.s.Notes[e.Note]++
	}
	return nil
}

// opened adds what is known of the session now.
func (b *builder) opened(i quire.SessionInfo) {
	s := &b.s.Info
	for _, f := range []struct{ to, from *string }{
		{&s.ID, &i.ID}, {(*string)(&s.Agent), (*string)(&i.Agent)}, {&s.Project, &i.Project},
		{&s.Version, &i.Version}, {&s.Branch, &i.Branch}, {&s.Model, &i.Model}, {&s.Parent, &i.Parent},
	} {
		if *f.from != "" && (*f.to == "" || b.joined == 0) {
			*f.to = *f.from
		}
	}
	if i.Window > 0 {
		s.Window = i.Window
	}
	if s.Started.IsZero() {
		s.Started = i.Started
	}
	if i.Model != "" {
		b.model = i.Model
	}
}

// later clamps a time so that calls never go back in time.
func later(at, before time.Time) time.Time {
	if at.Before(before) {
		return before
	}
	return at
}

// ErrTooLong says that a session is too long to be replayed.
var ErrTooLong = errors.New("the session is too long to be replayed")

// Read makes a session of events, as Load does of a log, and says of each item
// which node of the main chain it is. name stands for the path of a log in errors.
// The session must be closed.
func (l *Loader) Read(ctx context.Context, name string, events iter.Seq2[quire.Event, error]) (*Session, []int, error) {
	b := newBuilder(l.Counter)
	b.s.Path = name
	nodes, err := b.numbered(ctx, events)
	if err == nil {
		err = b.finish()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", name, errors.Join(err, b.s.Close()))
	}
	return b.s, nodes, nil
}

// numbered takes events in and notes the node of each item. Items are made of all
// that waits, at once.
func (b *builder) numbered(ctx context.Context, events iter.Seq2[quire.Event, error]) (nodes []int, err error) {
	for e, err := range events {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		var waiting []int
		switch e.(type) {
		case quire.Called, quire.Compacted, quire.Rewound:
			waiting = b.waiting()
		}
		if err := b.event(e); err != nil {
			return nil, err
		}
		if len(b.s.Items) > len(nodes) {
			nodes = append(nodes, waiting...)
		}
	}
	nodes = append(nodes, b.waiting()...)
	return nodes, b.flush()
}

// waiting are the nodes of what the next flush places, in its order.
func (b *builder) waiting() (nodes []int) {
	for _, list := range [][]entry{b.outs, b.ins} {
		for i := range list {
			nodes = append(nodes, list[i].node)
		}
	}
	return nodes
}

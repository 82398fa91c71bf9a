package ingest

import (
	"context"
	"errors"
	"fmt"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
)

// Replay gives what a session holds, as Resume does, and writes nothing: also of a
// session that goes on in another process, or was imported. What is damaged is
// passed over, and the text of a body that was forgotten or lost is empty. What a
// log had besides parts, calls, usage and rewinds is given as records.
func (p *Pool) Replay(ctx context.Context, name journal.Name, to Resumer) error {
	l := &Live{pool: &Pool{Bodies: whatIsLeft{p.Bodies}}}
	for r, err := range journal.Read(name.Path) {
		if _, damaged := errors.AsType[*journal.Damage](err); damaged {
			continue
		}
		if err = firstOf(ctx.Err(), err); err == nil {
			err = l.give(ctx, r, to)
		}
		if err != nil {
			return fmt.Errorf("read %v: %w", name.Number, err)
		}
	}
	return nil
}

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

func (l *Live) give(ctx context.Context, r quire.Record, to Resumer) error {
	e, err := l.event(ctx, r)
	switch {
	case err != nil:
		return err
	case e == nil:
		return to.Record(r)
	default:
		return to.Event(e)
	}
}

// whatIsLeft are bodies of which some may be gone: those are empty.
type whatIsLeft struct{ quire.Bodies }

func (w whatIsLeft) Body(ctx context.Context, h quire.Hash) ([]byte, error) {
	body, err := w.Bodies.Body(ctx, h)
	if errors.Is(err, quire.ErrNotFound) || errors.Is(err, quire.ErrMissing) || errors.Is(err, quire.ErrDamaged) {
		return nil, nil
	}
	return body, err
}

package ingest

import (
	"context"
	"errors"
	"fmt"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
)

// Mark writes what the user did into the journal of a session, durably, and makes
// its rows anew. While another process writes that journal it is
// [quire.ErrLocked].
func (p *Pool) Mark(ctx context.Context, n journal.Name, marks ...quire.MarkRecord) error {
	err := p.mark(n, marks)
	if err == nil {
		_, err = p.Derive(ctx, n.Path)
	}
	if err != nil {
		return fmt.Errorf("mark in %s: %w", n.Number, err)
	}
	return nil
}

// mark appends marks; closing the journal makes them durable.
func (p *Pool) mark(n journal.Name, marks []quire.MarkRecord) error {
	w, err := journal.Open(n.Path, p.Now)
	if err != nil {
		return err
	}
	for _, m := range marks {
		if _, err = w.Append(quire.RecordMark, m); err != nil {
			break
		}
	}
	return errors.Join(err, w.Close())
}

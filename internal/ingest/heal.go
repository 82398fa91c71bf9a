package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
)

// A healer puts bodies back that a journal names and the pool has lost, while the
// log that holds them is compared with the journal. What was forgotten stays so.
type healer struct {
	pool    *Pool
	name    journal.Name
	outline *outline // nil before a body was missing
	wait    []line
	bytes   int // of the bodies of wait
	healed  int
}

// add takes a line that is in the journal.
func (h *healer) add(ctx context.Context, l line) error {
	if len(l.bodies) == 0 {
		return nil
	}
	h.wait = append(h.wait, l)
	for _, b := range l.bodies {
		h.bytes += len(b)
	}
	if h.bytes < batchBytes && len(h.wait) < mostLines {
		return nil
	}
	return h.flush(ctx)
}

// flush looks for the bodies of the lines that wait.
func (h *healer) flush(ctx context.Context) error {
	lines := h.wait
	h.wait, h.bytes = nil, 0
	if len(lines) == 0 {
		return nil
	}
	var hashes []quire.Hash
	for _, l := range lines {
		hashes = append(hashes, named(l.part)...)
	}
	there, err := h.pool.Bodies.HasBodies(ctx, hashes)
	if err != nil {
		return fmt.Errorf("look for the bodies: %w", err)
	}
	if !slices.Contains(there, false) {
		return nil
	}
	return h.put(ctx, lines, there)
}

// put puts back what is not there.
func (h *healer) put(ctx context.Context, lines []line, there []bool) error {
	lost, err := h.lost(lines, there)
	if err != nil || len(lost) == 0 {
		return err
	}
	if err := h.rederive(ctx); err != nil {
		return err
	}
	if _, err := h.pool.Bodies.PutBodies(ctx, lost); err != nil {
		return fmt.Errorf("put lost bodies back: %w", err)
	}
	h.healed += len(lost)
	return nil
}

// lost are the bodies that should be there.
func (h *healer) lost(lines []line, there []bool) (lost [][]byte, err error) {
	if h.outline == nil {
		if h.outline, err = newOutline(h.name.Path); err != nil {
			return nil, err
		}
	}
	for _, l := range lines {
		forgotten := h.outline.forgot(l.part)
		for i, b := range l.bodies {
			if !there[i] && !forgotten {
				lost = append(lost, b)
			}
		}
		there = there[len(l.bodies):]
	}
	return lost, nil
}

// underived is the head of a session of which all is to be derived again.
const underived = "0"

// rederive lets the session count as behind: rows may have been made while the
// bodies were missing, and then lack their tokens and are not in the index.
func (h *healer) rederive(ctx context.Context) error {
	name := headName(h.name.ULID)
	head, err := h.pool.Heads.Head(ctx, name)
	if err == nil && head != "" && head != underived {
		err = h.pool.Heads.Advance(ctx, name, head, underived)
	}
	if errors.Is(err, quire.ErrConflict) {
		err = fmt.Errorf("%s was being derived: %w", h.name.Number, err)
	}
	return err
}

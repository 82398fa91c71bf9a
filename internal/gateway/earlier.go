package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/retrieve"
	"github.com/quire-agent/quire/internal/run"
)

// earlier are the pages of a session that its stream does not hold: from before its
// client compacted (G4), and of branches that it left.
type earlier struct {
	retrieve.Carrier
	bodies quire.Bodies
	pages  map[quire.PageNumber]quire.Page
}

// earlierThan are the pages that a stream does not hold, nil where it holds all. With
// an error come those that could be read.
func (w *writing) earlierThan(ctx context.Context, step *run.Step) (retrieve.Carrier, error) {
	e := &earlier{bodies: w.pool().Bodies, pages: map[quire.PageNumber]quire.Page{}}
	var entries []retrieve.Entry
	var errs []error
	for _, p := range w.book.pages() {
		if step.Holds(p.Number) {
			continue
		}
		text, err := e.bodies.Body(ctx, p.Body)
		if errors.Is(err, quire.ErrNotFound) {
			continue // it is not written yet: it has just come, and stands in the prompt
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("read page %v: %w", p.Number, err))
			continue
		}
		e.pages[p.Number] = p
		entries = append(entries, retrieve.Entry{Kind: "page", Name: p.Number.String(), Source: "this session, earlier", Title: p.Target, Text: string(text)})
	}
	if len(entries) == 0 {
		return nil, errors.Join(errs...)
	}
	found, err := retrieve.NewCollection(ctx, "session, earlier", entries)
	if err != nil {
		return nil, fmt.Errorf("search what a stream does not hold: %w", err)
	}
	e.Carrier = found
	return e, errors.Join(errs...)
}

// ReadPage is that of [run.PageReader].
func (e *earlier) ReadPage(ctx context.Context, ref quire.PageRef) (string, error) {
	p, ok := e.pages[ref.Page]
	if !ok || ref.Session > 0 {
		return "", fmt.Errorf("this session has no page %v: %w", ref, quire.ErrNotFound)
	}
	text, err := e.bodies.Body(ctx, p.Body)
	if err != nil {
		return "", fmt.Errorf("read page %v: %w", ref, err)
	}
	return string(text), nil
}

// pages are those that can be read back, by number. Calls of tools are not among
// them but for what they write, and neither is what recall returned.
func (b *book) pages() (list []quire.Page) {
	seen := map[quire.PageNumber]quire.Page{}
	for _, k := range b.parts {
		for _, p := range k.Pages {
			if p.Number > 0 && p.Tool != run.RecallName && (k.Kind != quire.PartToolCall || p.Kind == quire.PageWritten) {
				seen[p.Number] = p
			}
		}
	}
	list = slices.Collect(maps.Values(seen))
	slices.SortFunc(list, func(a, b quire.Page) int { return cmp.Compare(a.Number, b.Number) })
	return list
}

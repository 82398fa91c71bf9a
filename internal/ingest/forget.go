package ingest

import (
	"context"
	"errors"
	"fmt"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
)

// A Held is a place of a session that holds what somebody looks for: a page, or
// a part that is in no page (thinking).
type Held struct {
	Session journal.Name        `json:"-"`
	Number  quire.SessionNumber `json:"session"`
	Page    quire.PageNumber    `json:"page,omitempty"`
	Body    quire.Hash          `json:"body"`
}

// mark is the record that forgets the place.
func (h *Held) mark(by quire.Principal) quire.MarkRecord {
	m := quire.MarkRecord{What: quire.MarkForget, Page: h.Page, By: by}
	if h.Page == 0 {
		m.Body = h.Body
	}
	return m
}

// Holding finds the places whose text holds something, by session and record.
// Forgotten ones and bodies that cannot be read are passed over. A page is
// listed once for each of its bodies that does.
func (p *Pool) Holding(ctx context.Context, holds func(text string) bool) ([]Held, error) {
	names, err := journal.List(p.Home)
	if err != nil {
		return nil, err
	}
	var out []Held
	asked := map[quire.Hash]bool{} // the answer for bodies that were read
	for _, n := range names {
		if out, err = p.holding(ctx, n, asked, holds, out); err != nil {
			return nil, fmt.Errorf("look through %s: %w", n.Number, err)
		}
	}
	return out, nil
}

func (p *Pool) holding(ctx context.Context, n journal.Name, asked map[quire.Hash]bool, holds func(string) bool, out []Held) ([]Held, error) {
	o, err := newOutline(n.Path)
	if err != nil {
		return out, err
	}
	for r, err := range journal.Read(n.Path) {
		if err != nil && !damaged(err) {
			return out, err
		}
		if r.Type != quire.RecordPart {
			continue
		}
		rec, err := journal.Decode[quire.PartRecord](r)
		if err != nil || o.forgot(&rec) {
			continue
		}
		for _, h := range named(&rec) {
			yes, err := p.asks(ctx, h, asked, holds)
			if err != nil {
				return out, err
			}
			if yes {
				out = append(out, Held{Session: n, Number: n.Number, Page: first(rec.Pages), Body: h})
				break
			}
		}
	}
	return out, nil
}

func first(pages []quire.PageNumber) quire.PageNumber {
	if len(pages) == 0 {
		return 0
	}
	return pages[0]
}

func (p *Pool) asks(ctx context.Context, h quire.Hash, asked map[quire.Hash]bool, holds func(string) bool) (bool, error) {
	if yes, known := asked[h]; known {
		return yes, nil
	}
	body, err := p.Bodies.Body(ctx, h)
	if err != nil && !damaged(err) && !errors.Is(err, quire.ErrNotFound) {
		return false, err
	}
	asked[h] = err == nil && holds(string(body))
	return asked[h], nil
}

// Forget writes into the journals that places are forgotten, takes their pages
// out of table and index, and deletes the bodies that nothing names any more.
// It returns how many of those there were. All records that begin or complete a
// page are forgotten with it.
func (p *Pool) Forget(ctx context.Context, places []Held, by quire.Principal) (int, error) {
	for i := 0; i < len(places); {
		n := places[i].Session
		end := i
		for end < len(places) && places[end].Session.Path == n.Path {
			end++
		}
		if err := p.forget(ctx, n, places[i:end], by); err != nil {
			return 0, fmt.Errorf("forget in %s: %w", n.Number, err)
		}
		i = end
	}
	if err := p.rewrite(ctx); err != nil {
		return 0, fmt.Errorf("rewrite the index: %w", err)
	}
	gone, err := p.Garbage(ctx, true)
	return len(gone), err
}

// rewrite takes the last of what was forgotten out of the index.
func (p *Pool) rewrite(ctx context.Context) error {
	lock, err := journal.LockDerived(ctx, p.Home)
	if err != nil {
		return err
	}
	err = p.Index.Rewrite(ctx)
	if p.Cards != nil {
		err = errors.Join(err, p.Cards.Rewrite(ctx))
	}
	return errors.Join(err, lock.Close())
}

func (p *Pool) forget(ctx context.Context, n journal.Name, places []Held, by quire.Principal) error {
	var marks []quire.MarkRecord
	for i := range places {
		marks = append(marks, places[i].mark(by))
	}
	if err := p.mark(n, marks); err != nil {
		return err
	}
	_, err := p.Derive(ctx, n.Path)
	return err
}

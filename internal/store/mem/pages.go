package mem

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/quire-agent/quire/internal/quire"
)

var (
	errNoName = errors.New("a row without a session or a page number")
	errPages  = errors.New("a filter names pages without their session")
)

// PutSession enters a session; see [quire.PageTable].
func (s *Store) PutSession(ctx context.Context, row quire.SessionRow) error {
	err := ctx.Err()
	if err == nil && row.Number <= 0 {
		err = errNoName
	}
	if err != nil {
		return fmt.Errorf("entering session %s: %w", row.Number, err)
	}
	if !row.Started.IsZero() {
		row.Started = row.Started.UTC()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions[row.Number] = row
	return nil
}

// PutRows enters copies of rows; see [quire.PageTable].
func (s *Store) PutRows(ctx context.Context, rows []quire.Row) error {
	copies := make([]quire.Row, len(rows))
	err := ctx.Err()
	for i := range rows {
		if rows[i].Session <= 0 || rows[i].Number <= 0 {
			err = errNoName
		}
		copies[i] = clone(&rows[i])
	}
	if err != nil {
		return fmt.Errorf("entering %d rows: %w", len(rows), err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range copies {
		r := &copies[i]
		if s.pages[r.Session] == nil {
			s.pages[r.Session] = map[quire.PageNumber]*quire.Row{}
		}
		s.pages[r.Session][r.Number] = r
	}
	return nil
}

// clone copies a row as stores give it back: lists that are empty are nil, and
// times are in UTC.
func clone(r *quire.Row) quire.Row {
	c := *r
	c.Tasks = own(r.Tasks)
	c.Replace = own(r.Replace)
	c.From = own(r.From)
	c.Stale = own(r.Stale)
	c.ACL = own(r.ACL)
	if !c.At.IsZero() {
		c.At = c.At.UTC()
	}
	return c
}

func own[T any](list []T) []T { return append([]T(nil), list...) }

// Rows yields copies of rows as they are when it begins; see [quire.PageTable].
func (s *Store) Rows(ctx context.Context, as quire.Reader, f quire.Filter) iter.Seq2[quire.Row, error] {
	return func(yield func(quire.Row, error) bool) {
		if err := s.rows(ctx, as, f, yield); err != nil {
			yield(quire.Row{}, fmt.Errorf("reading the page table: %w", err))
		}
	}
}

func (s *Store) rows(ctx context.Context, as quire.Reader, f quire.Filter, yield func(quire.Row, error) bool) error {
	if f.Pages != nil && f.Session == 0 {
		return errPages
	}
	for i, r := range s.matching(&as, f) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if f.Limit > 0 && i == f.Limit || !yield(clone(r), nil) {
			return nil
		}
	}
	return ctx.Err()
}

// matching lists the rows that the reader sees and the filter selects.
func (s *Store) matching(as *quire.Reader, f quire.Filter) []*quire.Row {
	reader := *as
	space, wanted := toSet(as.Space), toSet(named(f))
	reader.Space = nil // looked up rather than walked through
	s.mu.RLock()
	defer s.mu.RUnlock()
	var list []*quire.Row
	for n, pages := range s.pages {
		if f.Session != 0 && n != f.Session {
			continue
		}
		for _, r := range pages {
			if (inSet(space, r) || slices.Contains(as.Scopes, r.Scope)) && inSet(wanted, r) && reader.Sees(r, s.sessions[n].Project) && selects(&f, r) {
				list = append(list, r)
			}
		}
	}
	slices.SortFunc(list, func(a, b *quire.Row) int {
		return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(a.Number, b.Number))
	})
	return list
}

// toSet is the set of pages that references name, nil for nil.
func toSet(space []quire.PageRef) map[quire.PageRef]bool {
	if space == nil {
		return nil
	}
	set := make(map[quire.PageRef]bool, len(space))
	for _, ref := range space {
		set[quire.PageRef{Session: ref.Session, Page: ref.Page}] = true
	}
	return set
}

// named lists the pages that a filter names, nil when it names none.
func named(f quire.Filter) []quire.PageRef {
	if f.Pages == nil {
		return nil
	}
	refs := make([]quire.PageRef, len(f.Pages))
	for i, n := range f.Pages {
		refs[i] = quire.PageRef{Session: f.Session, Page: n}
	}
	return refs
}

func inSet(set map[quire.PageRef]bool, r *quire.Row) bool { return set == nil || set[r.Ref()] }

func selects(f *quire.Filter, r *quire.Row) bool {
	return (f.Kind == 0 || r.Kind == f.Kind) &&
		(f.Class == 0 || r.Class == f.Class) &&
		(f.Target == "" || r.Target == f.Target)
}

// Sessions yields sessions; see [quire.PageTable].
func (s *Store) Sessions(ctx context.Context, as quire.Reader) iter.Seq2[quire.SessionRow, error] {
	return func(yield func(quire.SessionRow, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(quire.SessionRow{}, fmt.Errorf("reading the sessions: %w", err))
			return
		}
		for _, row := range s.sessionsOf(as.Who) {
			if !yield(row, nil) {
				return
			}
		}
	}
}

func (s *Store) sessionsOf(owner quire.Principal) []quire.SessionRow {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var list []quire.SessionRow
	for _, row := range s.sessions {
		if row.Owner == owner {
			list = append(list, row)
		}
	}
	slices.SortFunc(list, func(a, b quire.SessionRow) int { return cmp.Compare(a.Number, b.Number) })
	return list
}

// DropSession deletes a session; see [quire.PageTable].
func (s *Store) DropSession(ctx context.Context, n quire.SessionNumber) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("dropping session %s: %w", n, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, n)
	delete(s.pages, n)
	return nil
}

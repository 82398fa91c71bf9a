package ingest

import (
	"context"
	"errors"
	"strconv"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/retrieve"
)

// rows compares the table and the index with what the journal of a session has.
func (c *checker) rows(ctx context.Context, s *checked) error {
	head, err := c.pool.Heads.Head(ctx, headName(s.name.ULID))
	if err != nil {
		return err
	}
	if want := strconv.FormatInt(s.outline.last.Seq, 10); head != want {
		c.fault(Fault{What: FaultBehind, Path: s.name.Path, Reason: "rows and index are behind the journal"})
		return nil
	}
	have := make([]bool, s.last+1)
	var rows []quire.Row
	for r, err := range c.pool.Table.Rows(ctx, c.pool.reader(s.outline), quire.Filter{Session: s.name.Number}) {
		if err != nil {
			return err
		}
		c.health.Rows++
		if r.Number > s.last || s.outline.pages[r.Number] {
			c.fault(Fault{What: FaultRow, Page: pageName(&r), Reason: "the table has a page that the journal does not have"})
			continue
		}
		have[r.Number] = true
		if r.Body == quire.Sum("") && !c.blank {
			c.fault(Fault{What: FaultRow, Page: pageName(&r), Reason: "the empty body, which it has, is not there"})
		}
		if rows = append(rows, r); len(rows) == indexBatch {
			if err := c.index(ctx, rows); err != nil {
				return err
			}
			rows = rows[:0]
		}
	}
	for n := quire.PageNumber(1); n <= s.last; n++ {
		if !have[n] && !s.outline.pages[n] {
			c.fault(Fault{What: FaultRow, Page: quire.PageRef{Session: s.name.Number, Page: n}.String(), Reason: "the table does not have the page"})
		}
	}
	return c.index(ctx, rows)
}

// indexBatch is how many pages the index is asked about at a time.
const indexBatch = 1000

func pageName(r *quire.Row) string { return r.Ref().String() }

// index looks for pages that should be found and cannot.
func (c *checker) index(ctx context.Context, rows []quire.Row) error {
	refs := make([]quire.PageRef, len(rows))
	for i := range rows {
		refs[i] = rows[i].Ref()
	}
	found, err := c.pool.Index.Has(ctx, refs)
	if err != nil {
		return err
	}
	for i := range rows {
		if found[i] {
			continue
		}
		should, err := c.indexed(ctx, &rows[i])
		if err != nil {
			return err
		}
		if should {
			c.fault(Fault{What: FaultIndex, Page: pageName(&rows[i]), Reason: "the index does not have the page"})
		}
	}
	return nil
}

// indexed reports whether a page belongs into the index.
func (c *checker) indexed(ctx context.Context, r *quire.Row) (bool, error) {
	text := ""
	if r.Kind != quire.PageImage && r.Kind != quire.PageSystem && r.Body != (quire.Hash{}) {
		body, err := c.pool.Bodies.Body(ctx, r.Body)
		if err != nil && !damaged(err) && !errors.Is(err, quire.ErrNotFound) {
			return false, err
		}
		text = string(body)
	}
	_, should := retrieve.NewDocument(r, "", text, "")
	return should, nil
}

// strangers lists the sessions of the table that have no journal.
func (c *checker) strangers(ctx context.Context) error {
	known := map[quire.SessionNumber]bool{}
	for i := range c.sessions {
		known[c.sessions[i].name.Number] = true
	}
	for s, err := range c.pool.Table.Sessions(ctx, c.pool.as()) {
		if err != nil {
			return err
		}
		if !known[s.Number] {
			c.fault(Fault{What: FaultRow, Page: s.Number.String(), Reason: "the table has a session without a journal"})
		}
	}
	return nil
}

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/sqlite"
)

// errNoName is the error of a row that cannot be referred to.
var errNoName = errors.New("a row without a session or a page number")

// PutSession enters a session; see [quire.PageTable].
func (s *Store) PutSession(ctx context.Context, row quire.SessionRow) error {
	err := s.pool.Write(ctx, func(inside context.Context, conn *sql.Conn) error {
		if row.Number <= 0 {
			return errNoName
		}
		values := sessionValues(&row)
		values = append(values, seal(values...))
		_, err := conn.ExecContext(inside, "insert or replace into session ("+sessionColumns+", seal) values ("+marks(len(values))+")", values...)
		return err
	})
	if err != nil {
		return fmt.Errorf("entering session %s: %w", row.Number, err)
	}
	return nil
}

// PutRows enters rows in one transaction; see [quire.PageTable].
func (s *Store) PutRows(ctx context.Context, rows []quire.Row) error {
	err := s.pool.Write(ctx, func(inside context.Context, conn *sql.Conn) error {
		return insertRows(ctx, inside, conn, rows)
	})
	if err != nil {
		return fmt.Errorf("entering %d rows: %w", len(rows), err)
	}
	return nil
}

func insertRows(ctx, inside context.Context, conn *sql.Conn, rows []quire.Row) error {
	columns := strings.ReplaceAll(pageColumns, "p.", "") + ", seal"
	insert, err := conn.PrepareContext(inside, "insert or replace into page ("+columns+") values ("+marks(1+strings.Count(columns, ","))+")")
	if err != nil {
		return err
	}
	defer insert.Close()
	for i := range rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		if rows[i].Session <= 0 || rows[i].Number <= 0 {
			return errNoName
		}
		values := pageValues(&rows[i])
		if _, err := insert.ExecContext(inside, append(values, seal(values...))...); err != nil {
			return err
		}
	}
	return nil
}

// Rows yields rows as they are when it begins; see [quire.PageTable].
func (s *Store) Rows(ctx context.Context, as quire.Reader, f quire.Filter) iter.Seq2[quire.Row, error] {
	return func(yield func(quire.Row, error) bool) {
		if err := s.rows(ctx, as, f, yield); err != nil {
			yield(quire.Row{}, fmt.Errorf("reading the page table in %s: %w", s.pool.Path(), sqlite.Explain(err)))
		}
	}
}

func (s *Store) rows(ctx context.Context, as quire.Reader, f quire.Filter, yield func(quire.Row, error) bool) error {
	query, args, err := selectPages(&as, f)
	if err != nil {
		return err
	}
	rows, err := s.pool.Reader().QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	// The query has looked into the address space, faster than a walk of it.
	as.Space = nil
	for left := f.Limit; rows.Next(); {
		var scan pageScan
		if err := rows.Scan(scan.into()...); err != nil {
			return err
		}
		row, err := scan.row()
		if err != nil {
			return err
		}
		if !as.Sees(&row, scan.project.String) {
			continue
		}
		if !yield(row, nil) {
			return nil
		}
		if left--; left == 0 {
			return nil
		}
	}
	return rows.Err()
}

// Sessions yields sessions; see [quire.PageTable].
func (s *Store) Sessions(ctx context.Context, as quire.Reader) iter.Seq2[quire.SessionRow, error] {
	return func(yield func(quire.SessionRow, error) bool) {
		if err := s.sessions(ctx, as, yield); err != nil {
			yield(quire.SessionRow{}, fmt.Errorf("reading the sessions in %s: %w", s.pool.Path(), sqlite.Explain(err)))
		}
	}
}

func (s *Store) sessions(ctx context.Context, as quire.Reader, yield func(quire.SessionRow, error) bool) error {
	rows, err := s.pool.Reader().QueryContext(ctx, "select "+sessionColumns+" from session where owner = ? order by number", string(as.Who))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		row, err := scanSession(rows)
		if err != nil {
			return err
		}
		if !yield(row, nil) {
			return nil
		}
	}
	return rows.Err()
}

// DropSession deletes a session in one transaction; see [quire.PageTable].
func (s *Store) DropSession(ctx context.Context, n quire.SessionNumber) error {
	err := s.pool.Write(ctx, func(inside context.Context, conn *sql.Conn) error {
		_, err1 := conn.ExecContext(inside, "delete from page where id >= ? and id < ?", pageID(n, 0), pageID(n+1, 0))
		_, err2 := conn.ExecContext(inside, "delete from session where number = ?", int64(n))
		return errors.Join(err1, err2)
	})
	if err != nil {
		return fmt.Errorf("dropping session %s: %w", n, err)
	}
	return nil
}

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/sqlite"
)

// Head reads a head; see [quire.Heads].
func (s *Store) Head(ctx context.Context, name string) (value string, err error) {
	err = s.pool.Reader().QueryRowContext(ctx, "select value from head where name = ?", name).Scan(&value)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("reading head %q: %w", name, sqlite.Explain(err))
	}
	return value, nil
}

// Advance sets a head; see [quire.Heads]. A head that was never set and one that
// is "" are the same.
func (s *Store) Advance(ctx context.Context, name, from, next string) error {
	err := s.pool.Write(ctx, func(inside context.Context, conn *sql.Conn) error {
		r, err := advance(inside, conn, name, from, next)
		if err != nil {
			return err
		}
		if n, err := r.RowsAffected(); err != nil || n == 0 {
			return errors.Join(quire.ErrConflict, err)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("advancing head %q: %w", name, err)
	}
	return nil
}

func advance(ctx context.Context, conn *sql.Conn, name, from, next string) (sql.Result, error) {
	if from == "" {
		return conn.ExecContext(ctx, "insert into head values (?, ?, ?) on conflict (name) do update set value = excluded.value, seal = excluded.seal where value = ''",
			name, next, seal(name, next))
	}
	return conn.ExecContext(ctx, "update head set value = ?, seal = ? where name = ? and value = ?", next, seal(name, next), name, from)
}

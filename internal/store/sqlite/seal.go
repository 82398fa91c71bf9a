package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/sqlite"
)

// SQLite finds damage of the structure of a file. A value that was changed in
// its place it takes as it is, so each row of the derived file has a seal: the
// CRC-32C of its other columns. (The bodies have their hashes.)

// unsealed is the seal of rows that were written before there were any.
const unsealed = -1

// seal is that of values as they go into a row or come out of it.
func seal(values ...any) int64 {
	b := make([]byte, 0, 512)
	for _, v := range values {
		b = appendValue(b, v)
	}
	return int64(crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

// appendValue writes a value so that different ones are written differently.
func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, 0)
	case sql.NullInt64:
		if !v.Valid {
			return append(b, 0)
		}
		return appendValue(b, v.Int64)
	case int:
		return appendValue(b, int64(v))
	case int64:
		return binary.LittleEndian.AppendUint64(append(b, 1), uint64(v))
	case float64:
		return binary.LittleEndian.AppendUint64(append(b, 2), math.Float64bits(v))
	case string:
		return append(binary.AppendUvarint(append(b, 3), uint64(len(v))), v...)
	case []byte:
		return append(binary.AppendUvarint(append(b, 4), uint64(len(v))), v...)
	}
	panic(fmt.Sprintf("no column holds a %T", v))
}

// A sealed table: how a row is named where it does not fit, and its columns in
// the order in which they were sealed. The query gives name, seal, columns.
type sealed struct{ what, query string }

func sealedTables() []sealed {
	return []sealed{
		{"the row of page", "select 's' || (p.id >> 32) || '/p' || (p.id & 4294967295), p.seal, " + pageColumns + " from page p order by p.id"},
		{"the row of session", "select 's' || number, seal, " + sessionColumns + " from session order by number"},
		{"head", "select name, seal, name, value from head order by name"},
		{"segment", "select name, seal, id, name, bytes from segment where bytes is not null or seal <> -1 order by id"},
		{"a part of segment", "select coalesce((select name from segment s where s.id = c.id >> 24), '?'), c.seal, c.id, c.data from chunk c order by c.id"},
	}
}

// checkSeals compares the rows of the derived file with their seals, and joins
// what does not fit, up to a number of faults for each table.
func (s *Store) checkSeals(ctx context.Context) error {
	var errs []error
	for _, t := range sealedTables() {
		errs = append(errs, s.checkTable(ctx, t))
	}
	return errors.Join(errs...)
}

const mostFaults = 20

func (s *Store) checkTable(ctx context.Context, t sealed) error {
	rows, err := s.pool.Reader().QueryContext(ctx, t.query)
	if err != nil {
		return fmt.Errorf("checking %s: %w", s.pool.Path(), sqlite.Explain(err))
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return fmt.Errorf("checking %s: %w", s.pool.Path(), err)
	}
	values, into := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	var errs []error
	for rows.Next() && len(errs) < mostFaults {
		if err := rows.Scan(into...); err != nil {
			return fmt.Errorf("checking %s: %w", s.pool.Path(), err)
		}
		if is, ok := values[1].(int64); !ok || is != unsealed && is != seal(values[2:]...) {
			errs = append(errs, fmt.Errorf("%s is %w: %s %v was changed", s.pool.Path(), quire.ErrDamaged, t.what, values[0]))
		}
	}
	if err := rows.Err(); err != nil {
		errs = append(errs, fmt.Errorf("checking %s: %w", s.pool.Path(), sqlite.Explain(err)))
	}
	return errors.Join(errs...)
}

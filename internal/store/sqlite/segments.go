package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/sqlite"
)

// A segment is stored in chunks, so that a part of it is read without what
// stands before it.
const (
	chunkBytes  = 16 << 10
	chunkBits   = 24  // of the key of a chunk, for its position
	chunksAWave = 256 // chunks of one transaction, 4 MiB
	maxSegment  = chunkBytes << chunkBits
)

const selectChunks = `select s.bytes, c.data from segment s
	left join chunk c on c.id between (s.id << 24) + ? and (s.id << 24) + ?
	where s.name = ? and s.bytes is not null order by c.id`

var errOffset = errors.New("no such part")

// PutSegment stores what it reads until io.EOF under a name, a few megabytes at
// a time, and other writers get their turn between them. The segment is there,
// whole and durable, when PutSegment returns without an error, and takes the
// place of one of the same name; after an error of its own or of the reader
// nothing of it is left. What a crash has left of one is listed by SegmentNames.
func (s *Store) PutSegment(ctx context.Context, name string, from io.Reader) error {
	if err := s.putSegment(ctx, name, from); err != nil {
		return fmt.Errorf("storing segment %q: %w", name, err)
	}
	return nil
}

func (s *Store) putSegment(ctx context.Context, name string, from io.Reader) error {
	id, err := s.beginSegment(ctx, name)
	if err != nil {
		return err
	}
	size, err := s.putChunks(ctx, id, from)
	if err == nil {
		err = s.endSegment(ctx, id, name, size)
	}
	if err != nil {
		return errors.Join(err, s.dropSegment(context.WithoutCancel(ctx), id))
	}
	return nil
}

func (s *Store) beginSegment(ctx context.Context, name string) (id int64, err error) {
	err = s.pool.Write(ctx, func(inside context.Context, conn *sql.Conn) error {
		r, err := conn.ExecContext(inside, "insert into segment (name) values (?)", name)
		if err != nil {
			return err
		}
		id, err = r.LastInsertId()
		return err
	})
	return id, err
}

// putChunks stores the chunks and returns their size in bytes.
func (s *Store) putChunks(ctx context.Context, id int64, from io.Reader) (size int64, err error) {
	buffer := make([]byte, chunksAWave*chunkBytes)
	for at := int64(0); ; at += chunksAWave {
		n, err := io.ReadFull(from, buffer)
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return 0, err
		}
		if err := s.putWave(ctx, id<<chunkBits|at, buffer[:n]); err != nil {
			return 0, err
		}
		if size += int64(n); last {
			return size, nil
		}
	}
}

func (s *Store) putWave(ctx context.Context, first int64, data []byte) error {
	return s.pool.Write(ctx, func(inside context.Context, conn *sql.Conn) error {
		ids, err := segmentIDs(inside, conn, "id = ?", first>>chunkBits)
		if err != nil || len(ids) == 0 {
			return errors.Join(quire.ErrConflict, err) // dropped while it was written
		}
		insert, err := conn.PrepareContext(inside, "insert into chunk values (?, ?, ?)")
		if err != nil {
			return err
		}
		defer insert.Close()
		for ; len(data) > 0; first++ {
			n := min(len(data), chunkBytes)
			if _, err := insert.ExecContext(inside, first, data[:n], seal(first, data[:n])); err != nil {
				return err
			}
			data = data[n:]
		}
		return nil
	})
}

// endSegment makes a segment one that is read, in the place of another.
func (s *Store) endSegment(ctx context.Context, id int64, name string, size int64) error {
	return s.pool.Write(ctx, func(inside context.Context, conn *sql.Conn) error {
		if err := deleteSegments(inside, conn, "name = ? and bytes is not null", name); err != nil {
			return err
		}
		r, err := conn.ExecContext(inside, "update segment set bytes = ?, seal = ? where id = ?", size, seal(id, name, size), id)
		if err != nil {
			return err
		}
		if n, err := r.RowsAffected(); err != nil || n == 0 {
			return errors.Join(quire.ErrConflict, err) // dropped while it was written
		}
		return nil
	})
}

func (s *Store) dropSegment(ctx context.Context, id int64) error {
	return s.pool.Write(ctx, func(inside context.Context, conn *sql.Conn) error {
		return deleteSegments(inside, conn, "id = ?", id)
	})
}

// deleteSegments deletes the segments for which a condition holds.
func deleteSegments(ctx context.Context, conn *sql.Conn, which string, arg any) error {
	ids, err := segmentIDs(ctx, conn, which, arg)
	if err != nil {
		return err
	}
	for _, id := range ids {
		_, err1 := conn.ExecContext(ctx, "delete from chunk where id >= ? and id < ?", id<<chunkBits, (id+1)<<chunkBits)
		_, err2 := conn.ExecContext(ctx, "delete from segment where id = ?", id)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
	}
	return nil
}

func segmentIDs(ctx context.Context, conn *sql.Conn, which string, arg any) (ids []int64, err error) {
	rows, err := conn.QueryContext(ctx, "select id from segment where "+which, arg)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// ReadSegment reads n bytes from an offset: fewer only at the end of the segment,
// quire.ErrNotFound where there is none of that name. The result is the
// caller's.
func (s *Store) ReadSegment(ctx context.Context, name string, off int64, n int) ([]byte, error) {
	data, err := s.readSegment(ctx, name, off, n)
	if err != nil {
		return nil, fmt.Errorf("reading segment %q at %d: %w", name, off, sqlite.Explain(err))
	}
	return data, nil
}

func (s *Store) readSegment(ctx context.Context, name string, off int64, n int) ([]byte, error) {
	if off < 0 || n < 0 {
		return nil, errOffset
	}
	off = min(off, maxSegment)
	n = int(min(int64(n), maxSegment-off))
	first := off / chunkBytes
	rows, err := s.chunks.QueryContext(ctx, first, (off+int64(n)-1)/chunkBytes, name)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	part := []byte{}
	size := int64(-1)
	for skip := int(off - first*chunkBytes); rows.Next(); skip = 0 {
		var data sql.RawBytes
		if err := rows.Scan(&size, &data); err != nil {
			return nil, err
		}
		data = data[min(skip, len(data)):]
		part = append(part, data[:min(len(data), n-len(part))]...)
	}
	switch {
	case size < 0:
		return nil, cause(rows, quire.ErrNotFound)
	case int64(len(part)) != max(0, min(int64(n), size-off)):
		return nil, cause(rows, fmt.Errorf("%w: bytes are missing", quire.ErrDamaged))
	}
	return part, rows.Err()
}

// SegmentNames lists all names, sorted, also those of segments that are being
// written or that a crash left unfinished.
func (s *Store) SegmentNames(ctx context.Context) (names []string, err error) {
	rows, err := s.pool.Reader().QueryContext(ctx, "select distinct name from segment order by name")
	if err != nil {
		return nil, fmt.Errorf("listing segments: %w", sqlite.Explain(err))
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("listing segments: %w", err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("listing segments: %w", sqlite.Explain(err))
	}
	return names, nil
}

// DropSegments deletes segments in one transaction, unfinished ones too; who is
// writing one of them gets quire.ErrConflict. Names that are not there are passed
// over.
func (s *Store) DropSegments(ctx context.Context, names []string) error {
	err := s.pool.Write(ctx, func(inside context.Context, conn *sql.Conn) error {
		for _, name := range names {
			if err := deleteSegments(inside, conn, "name = ?", name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("dropping %d segments: %w", len(names), err)
	}
	return nil
}

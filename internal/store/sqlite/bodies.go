package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/sqlite"
)

// The forms in which bytes are stored.
const (
	formRaw  = 0
	formZstd = 1
)

const selectBody = "select d.form, d.bytes, d.data from body b left join data d on d.id = b.id where b.hash = ?"

// A packed is a body as it is stored.
type packed struct {
	hash  quire.Hash
	form  int
	bytes int
	data  []byte
}

// PutBodies stores bodies in one transaction; see [quire.Bodies]. After an error
// none is stored that was not there before.
func (s *Store) PutBodies(ctx context.Context, bodies [][]byte) ([]quire.Hash, error) {
	hs := make([]quire.Hash, len(bodies))
	for i, b := range bodies {
		hs[i] = sha256.Sum256(b)
	}
	if err := s.putBodies(ctx, hs, bodies); err != nil {
		return nil, fmt.Errorf("storing %d bodies: %w", len(bodies), err)
	}
	return hs, nil
}

func (s *Store) putBodies(ctx context.Context, hs []quire.Hash, bodies [][]byte) error {
	there, err := s.hasBodies(ctx, hs)
	if err != nil {
		return err
	}
	var news []int
	seen := make(map[quire.Hash]bool)
	for i, h := range hs {
		if !there[i] && !seen[h] {
			seen[h] = true
			news = append(news, i)
		}
	}
	if len(news) == 0 {
		return ctx.Err()
	}
	list := make([]packed, len(news))
	eachAtOnce(len(news), func(k int) {
		if i := news[k]; ctx.Err() == nil {
			list[k] = s.pack(hs[i], bodies[i])
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.bodies.Write(ctx, func(inside context.Context, conn *sql.Conn) error {
		return insertBodies(ctx, inside, conn, list)
	})
}

// eachAtOnce calls do for 0 to n-1 on all processors.
func eachAtOnce(n int, do func(int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
}

func (s *Store) pack(h quire.Hash, body []byte) packed {
	if frame := s.codec.Compress(body); len(frame) < len(body) {
		return packed{h, formZstd, len(body), frame}
	}
	return packed{h, formRaw, len(body), body}
}

func insertBodies(ctx, inside context.Context, conn *sql.Conn, list []packed) error {
	var id int64
	if err := conn.QueryRowContext(inside, "select coalesce(max(id), 0) from data").Scan(&id); err != nil {
		return err
	}
	name, err := conn.PrepareContext(inside, "insert into body values (?, ?, ?, ?) on conflict do nothing")
	if err != nil {
		return err
	}
	defer name.Close()
	data, err := conn.PrepareContext(inside, "insert into data values (?, ?, ?, ?)")
	if err != nil {
		return err
	}
	defer data.Close()
	for _, p := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if id, err = insertBody(inside, name, data, id, p); err != nil {
			return err
		}
	}
	return nil
}

// insertBody enters a body behind the last id, unless another process has
// entered it meanwhile, and returns the last id.
func insertBody(ctx context.Context, name, data *sql.Stmt, last int64, p packed) (int64, error) {
	r, err := name.ExecContext(ctx, p.hash[:], last+1, p.bytes, len(p.data))
	if err != nil {
		return last, err
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		return last, err
	}
	if p.data == nil {
		p.data = []byte{} // nil would be NULL
	}
	_, err = data.ExecContext(ctx, last+1, p.form, p.bytes, p.data)
	return last + 1, err
}

// Body reads a body; see [quire.Bodies].
func (s *Store) Body(ctx context.Context, h quire.Hash) ([]byte, error) {
	body, err := s.readBody(ctx, h)
	if err != nil {
		return nil, fmt.Errorf("body %s: %w", h, sqlite.Explain(err))
	}
	return body, nil
}

func (s *Store) readBody(ctx context.Context, h quire.Hash) ([]byte, error) {
	rows, err := s.body.QueryContext(ctx, h[:])
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	if !rows.Next() {
		return nil, cause(rows, quire.ErrNotFound)
	}
	var form, size sql.NullInt64
	var data sql.RawBytes
	if err := rows.Scan(&form, &size, &data); err != nil {
		return nil, err
	}
	if !form.Valid {
		return nil, fmt.Errorf("%w: its bytes are gone", quire.ErrDamaged)
	}
	return s.unpack(h, form.Int64, size.Int64, data)
}

// cause is why rows have ended: their error, or what it means without one.
func cause(rows *sql.Rows, otherwise error) error {
	if err := rows.Err(); err != nil {
		return err
	}
	return otherwise
}

func (s *Store) unpack(h quire.Hash, form, size int64, data []byte) (body []byte, err error) {
	switch form {
	case formRaw:
		body = append([]byte{}, data...)
	case formZstd:
		body, err = s.codec.Decompress(data, int(size))
	default:
		err = fmt.Errorf("stored in the unknown form %d", form)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", quire.ErrDamaged, err)
	}
	if is := quire.Hash(sha256.Sum256(body)); is != h {
		return nil, fmt.Errorf("%w: its bytes have the hash %s", quire.ErrDamaged, is)
	}
	return body, nil
}

// HasBodies looks for bodies; see [quire.Bodies].
func (s *Store) HasBodies(ctx context.Context, hs []quire.Hash) ([]bool, error) {
	there, err := s.hasBodies(ctx, hs)
	if err != nil {
		return nil, fmt.Errorf("looking for %d bodies: %w", len(hs), err)
	}
	return there, nil
}

func (s *Store) hasBodies(ctx context.Context, hs []quire.Hash) ([]bool, error) {
	found := make(map[quire.Hash]bool)
	for from := 0; from < len(hs); from += lookup {
		if err := s.findBodies(ctx, hs[from:min(len(hs), from+lookup)], found); err != nil {
			return nil, sqlite.Explain(err)
		}
	}
	there := make([]bool, len(hs))
	for i, h := range hs {
		there[i] = found[h]
	}
	return there, nil
}

// lookup is how many names are looked for at once.
const lookup = 256

func (s *Store) findBodies(ctx context.Context, hs []quire.Hash, found map[quire.Hash]bool) error {
	args := make([]any, len(hs))
	for i := range hs {
		args[i] = hs[i][:]
	}
	rows, err := s.bodies.Reader().QueryContext(ctx, "select hash from body where hash in ("+marks(len(hs))+")", args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var name sql.RawBytes
		if err := rows.Scan(&name); err != nil {
			return err
		}
		h, err := toHash(name)
		if err != nil {
			return err
		}
		found[h] = true
	}
	return rows.Err()
}

// EachBody lists the bodies; see [quire.Bodies].
func (s *Store) EachBody(ctx context.Context) iter.Seq2[quire.BodyInfo, error] {
	return func(yield func(quire.BodyInfo, error) bool) {
		if err := s.eachBody(ctx, yield); err != nil {
			yield(quire.BodyInfo{}, fmt.Errorf("listing the bodies in %s: %w", s.bodies.Path(), sqlite.Explain(err)))
		}
	}
}

func (s *Store) eachBody(ctx context.Context, yield func(quire.BodyInfo, error) bool) error {
	rows, err := s.bodies.Reader().QueryContext(ctx, "select hash, bytes, stored from body order by hash")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var info quire.BodyInfo
		var name sql.RawBytes
		if err := rows.Scan(&name, &info.Bytes, &info.Stored); err != nil {
			return err
		}
		if info.Hash, err = toHash(name); err != nil {
			return err
		}
		if !yield(info, nil) {
			return nil
		}
	}
	return rows.Err()
}

// DropBodies deletes bodies in one transaction; see [quire.Bodies].
func (s *Store) DropBodies(ctx context.Context, hs []quire.Hash) error {
	err := s.bodies.Write(ctx, func(inside context.Context, conn *sql.Conn) error {
		for _, h := range hs {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := dropBody(inside, conn, h); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("dropping %d bodies: %w", len(hs), err)
	}
	return nil
}

func dropBody(ctx context.Context, conn *sql.Conn, h quire.Hash) error {
	_, err1 := conn.ExecContext(ctx, "delete from data where id = (select id from body where hash = ?)", h[:])
	_, err2 := conn.ExecContext(ctx, "delete from body where hash = ?", h[:])
	return errors.Join(err1, err2)
}

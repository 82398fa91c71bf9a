package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/sqlite"
	"github.com/quire-agent/quire/internal/x/zstd"
)

// The files in the home folder.
const (
	BodiesFile = "bodies.db"
	PoolFile   = "pool.db"
)

// waitForWriters is how long a writer waits for those of other processes.
const waitForWriters = 10 * time.Second

var (
	_ quire.Bodies    = (*Store)(nil)
	_ quire.PageTable = (*Store)(nil)
	_ quire.Heads     = (*Store)(nil)
)

// A Store is a pool in a home folder. Its methods may be called concurrently.
type Store struct {
	bodies, pool *sqlite.File
	codec        *zstd.Codec
	body         *sql.Stmt // bytes by hash
	chunks       *sql.Stmt // of a segment
}

// Options say how a store is opened.
type Options struct {
	ReadOnly   bool
	BodiesOnly bool          // open bodies.db alone, for what works without the derived part: nothing but bodies may be asked for
	Busy       time.Duration // how long a writer waits for those of other processes; 0: ten seconds
}

// Open opens the pool in a home folder, and makes it where there is none. A file
// that an older version of the program made is not upgraded: the error wraps
// [ErrOlder], and [Migrate] does it; a newer one is left alone: [ErrNewer].
func Open(ctx context.Context, home string, o Options) (*Store, error) {
	s, err := open(ctx, home, o, schemas())
	if err != nil {
		return nil, fmt.Errorf("opening the pool in %s: %w", home, err)
	}
	return s, nil
}

func open(ctx context.Context, home string, o Options, known [2]schema) (*Store, error) {
	if o.Busy == 0 {
		o.Busy = waitForWriters
	}
	if !o.ReadOnly {
		if err := os.MkdirAll(home, 0o700); err != nil {
			return nil, sqlite.Explain(err)
		}
	}
	s := &Store{}
	if err := s.open(ctx, home, o, known); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, home string, o Options, known [2]schema) (err error) {
	if s.bodies, err = known[0].open(ctx, home, o); err != nil {
		return err
	}
	if s.body, err = s.bodies.Reader().PrepareContext(ctx, selectBody); err != nil {
		return sqlite.Explain(err)
	}
	if s.codec, err = zstd.NewCodec(); err != nil || o.BodiesOnly {
		return err
	}
	if s.pool, err = known[1].open(ctx, home, o); err != nil {
		return err
	}
	if s.chunks, err = s.pool.Reader().PrepareContext(ctx, selectChunks); err != nil {
		return sqlite.Explain(err)
	}
	return nil
}

// Close closes the files. Sequences must have been read or left before.
func (s *Store) Close() error {
	var errs []error
	for _, stmt := range []*sql.Stmt{s.body, s.chunks} {
		if stmt != nil {
			errs = append(errs, stmt.Close())
		}
	}
	for _, f := range []*sqlite.File{s.bodies, s.pool} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	if s.codec != nil {
		errs = append(errs, s.codec.Close())
	}
	return errors.Join(errs...)
}

// RemovePool deletes what is derived: pool.db. No store may be open in that home.
func RemovePool(home string) error {
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(filepath.Join(home, PoolFile+end)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("removing the derived part of the pool: %w", err)
		}
	}
	return nil
}

// Check looks through the structure of the files that are open, and through every
// value of the derived one, and joins what it finds, each as quire.ErrDamaged with
// the file and the place. It does not read the bodies: that is done by reading
// each of them.
func (s *Store) Check(ctx context.Context) error {
	errs := []error{
		checkFile(ctx, s.bodies),
		checkNone(ctx, s.bodies, "bodies that are named but not there", "select count(*) from body where id not in (select id from data)"),
		checkNone(ctx, s.bodies, "sizes of bodies that do not fit", "select count(*) from body b join data d on d.id = b.id where b.bytes <> d.bytes or b.stored <> length(d.data)"),
		checkNone(ctx, s.bodies, "bodies that are there but not named", "select count(*) from data where id not in (select id from body)"),
	}
	if s.pool != nil {
		errs = append(errs, checkFile(ctx, s.pool), s.checkSeals(ctx))
	}
	return errors.Join(errs...)
}

func checkFile(ctx context.Context, f *sqlite.File) error {
	rows, err := f.Reader().QueryContext(ctx, "pragma integrity_check(20)")
	if err != nil {
		return fmt.Errorf("checking %s: %w", f.Path(), sqlite.Explain(err))
	}
	defer rows.Close()
	var errs []error
	for rows.Next() {
		var found string
		if err := rows.Scan(&found); err != nil {
			return err
		}
		if found != "ok" {
			errs = append(errs, fmt.Errorf("%s is %w: %s", f.Path(), quire.ErrDamaged, found))
		}
	}
	if err := rows.Err(); err != nil {
		errs = append(errs, fmt.Errorf("checking %s: %w", f.Path(), sqlite.Explain(err)))
	}
	return errors.Join(errs...)
}

func checkNone(ctx context.Context, f *sqlite.File, what, query string) error {
	var n int
	if err := f.Reader().QueryRowContext(ctx, query).Scan(&n); err != nil {
		return fmt.Errorf("checking %s: %w", f.Path(), sqlite.Explain(err))
	}
	if n > 0 {
		return fmt.Errorf("%s is %w: %d %s", f.Path(), quire.ErrDamaged, n, what)
	}
	return nil
}

// Compact gives room that deleted bodies and rows have left back to the disk. It
// needs as much room as the files have while it works, and other writers wait.
func (s *Store) Compact(ctx context.Context) error {
	for _, f := range []*sqlite.File{s.bodies, s.pool} {
		for _, statement := range []string{"vacuum", "pragma wal_checkpoint(truncate)"} {
			if err := f.Exec(ctx, statement); err != nil {
				return fmt.Errorf("compacting %s: %w", f.Path(), err)
			}
		}
	}
	return nil
}

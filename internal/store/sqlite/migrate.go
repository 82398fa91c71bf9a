package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/sqlite"
)

// The errors of files that another version of the program made.
var (
	ErrNewer = errors.New("made by a newer version of quire")
	ErrOlder = errors.New("made by an older version of quire")
)

//go:embed schema
var schemaFiles embed.FS

// A schema says how a file came to be what it is: numbered steps, each run once
// and never changed. A file carries the number of its last step.
type schema struct {
	file     string
	mark     int // application_id
	pageSize int // in bytes
	steps    fs.FS
}

// Bodies lie best on large pages: the rest of each page is lost to the next
// body that does not fit.
func schemas() [2]schema {
	return [2]schema{
		{BodiesFile, 0x51425301, 16 << 10, sub("bodies")},
		{PoolFile, 0x51504c01, 4 << 10, sub("pool")},
	}
}

func sub(name string) fs.FS {
	dir, err := fs.Sub(schemaFiles, "schema/"+name)
	if err != nil {
		panic(err) // the name is not a path
	}
	return dir
}

// load reads the steps, whose names are 0001.sql and so on.
func (s schema) load() ([]string, error) {
	var steps []string
	for n := 1; ; n++ {
		text, err := fs.ReadFile(s.steps, fmt.Sprintf("%04d.sql", n))
		if errors.Is(err, fs.ErrNotExist) {
			return steps, nil
		}
		if err != nil {
			return nil, err
		}
		steps = append(steps, string(text))
	}
}

// open opens a file at the newest step. Only one that is empty is brought there.
func (s schema) open(ctx context.Context, home string, o Options) (*sqlite.File, error) {
	f, err := sqlite.OpenFile(ctx, filepath.Join(home, s.file), sqlite.FileOptions{ReadOnly: o.ReadOnly, PageSize: s.pageSize, Busy: o.Busy})
	if err != nil {
		return nil, err
	}
	if err := s.settle(ctx, f); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", f.Path(), err), f.Close())
	}
	return f, nil
}

func (s schema) settle(ctx context.Context, f *sqlite.File) error {
	steps, err := s.load()
	if err != nil {
		return err
	}
	is, err := s.state(ctx, f.Reader())
	switch {
	case err != nil:
		return err
	case is == fresh:
		return s.upgrade(ctx, f, fresh, steps)
	case is < len(steps):
		return fmt.Errorf("%w: step %d of %d", ErrOlder, is, len(steps))
	case is > len(steps):
		return fmt.Errorf("%w: step %d, and this one knows %d", ErrNewer, is, len(steps))
	}
	return nil
}

// fresh is the state of a file that nothing was written to.
const fresh = 0

// A source answers queries: a connection or a pool of them.
type source interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// state is the number of the last step that was run on a file.
func (s schema) state(ctx context.Context, db source) (int, error) {
	var step, mark, tables int
	err := db.QueryRowContext(ctx, "select (select user_version from pragma_user_version), (select application_id from pragma_application_id), (select count(*) from sqlite_schema)").
		Scan(&step, &mark, &tables)
	if err != nil {
		return 0, sqlite.Explain(err)
	}
	if tables > 0 && (step == fresh || mark != s.mark) {
		return 0, fmt.Errorf("%w: not a file of this kind", quire.ErrDamaged)
	}
	return step, nil
}

// upgrade runs the steps after one. When another process has done so meanwhile
// there is nothing left to do.
func (s schema) upgrade(ctx context.Context, f *sqlite.File, from int, steps []string) error {
	return f.Write(ctx, func(ctx context.Context, conn *sql.Conn) error {
		is, err := s.state(ctx, conn)
		if err != nil || is != from {
			return err
		}
		for _, step := range steps[from:] {
			if _, err := conn.ExecContext(ctx, step); err != nil {
				return err
			}
		}
		_, err = conn.ExecContext(ctx, fmt.Sprintf("pragma user_version=%d", len(steps)))
		return err
	})
}

// A Migration says what was done with a file.
type Migration struct {
	File   string `json:"file"`
	From   int    `json:"from"` // step
	To     int    `json:"to"`
	Backup string `json:"backup"` // path of the copy of the file as it was
}

// Migrate brings the files of a home folder to the newest step, each after a
// copy of it was made beside it, and says what it did: nothing for files that
// are there already. A copy of an earlier try that failed is replaced.
func Migrate(ctx context.Context, home string) ([]Migration, error) {
	done, err := migrate(ctx, home, schemas())
	if err != nil {
		return done, fmt.Errorf("migrating the pool in %s: %w", home, err)
	}
	return done, nil
}

func migrate(ctx context.Context, home string, known [2]schema) ([]Migration, error) {
	var done []Migration
	for _, s := range known {
		m, err := s.migrate(ctx, filepath.Join(home, s.file))
		if err != nil {
			return done, fmt.Errorf("%s: %w", s.file, err)
		}
		if m.To > m.From {
			done = append(done, m)
		}
	}
	return done, nil
}

func (s schema) migrate(ctx context.Context, path string) (m Migration, err error) {
	if _, err := os.Stat(path); err != nil {
		return m, err
	}
	f, err := sqlite.OpenFile(ctx, path, sqlite.FileOptions{PageSize: s.pageSize, Busy: waitForWriters})
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	steps, err := s.load()
	if err != nil {
		return m, err
	}
	m = Migration{File: path, To: len(steps)}
	m.From, err = s.state(ctx, f.Reader())
	switch {
	case err != nil:
		return m, err
	case m.From > m.To:
		return m, ErrNewer
	case m.From == m.To:
		return m, nil
	}
	m.Backup = fmt.Sprintf("%s.%04d", path, m.From)
	if err := backup(ctx, f, m.Backup); err != nil {
		return m, err
	}
	return m, s.upgrade(ctx, f, m.From, steps)
}

// backup copies a file as it is committed, durably.
func backup(ctx context.Context, f *sqlite.File, path string) error {
	// SQLite wants an empty file, and takes its mode.
	to, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return sqlite.Explain(err)
	}
	if err := f.Exec(ctx, "vacuum into ?", path); err != nil {
		return errors.Join(err, to.Close())
	}
	return errors.Join(sqlite.Explain(to.Sync()), to.Close())
}

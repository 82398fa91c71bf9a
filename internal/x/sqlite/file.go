package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// cacheBytes is what a connection keeps of the file in memory. Readers share
// what the system keeps besides.
const cacheBytes = 8 << 20

// idleReaders is how many connections are kept for the next readers.
const idleReaders = 4

// logBytes is how long the write-ahead log stays after a large transaction.
const logBytes = 32 << 20

// A File is a database of our own, with a write-ahead log: one transaction
// writes at a time, in all processes together, and readers neither wait for it
// nor see half of it. A transaction that was committed survives a crash of the
// process and of the machine. Its methods may be called concurrently.
type File struct {
	path  string
	write *sql.DB // one connection
	read  *sql.DB // as many as are reading

	foreign *DB // of read, where the file is read as another program's
}

// FileOptions say how a file is opened.
type FileOptions struct {
	ReadOnly bool
	PageSize int           // in bytes, of a file that is made; a power of two from 512 to 65,536
	Busy     time.Duration // how long a writer waits for those of other processes
}

// OpenFile opens a database, and makes it, readable by its owner only, where
// there is none and it may be written. The error wraps quire.ErrDamaged,
// ErrReadOnly, ErrFull or ErrLocked, and fs.ErrNotExist where there is no file
// to read.
func OpenFile(ctx context.Context, path string, o FileOptions) (*File, error) {
	f, err := openFile(ctx, path, o)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, Explain(err))
	}
	return f, nil
}

func openFile(ctx context.Context, path string, o FileOptions) (*File, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	f := &File{path: path}
	if o.ReadOnly {
		err = f.openReader(ctx, o)
	} else {
		err = f.openWriter(ctx, o)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// openReader opens a file that is only read. Where not even the index of the log
// can be made beside it, it is read as one of another program's.
func (f *File) openReader(ctx context.Context, o FileOptions) (err error) {
	if _, err := os.Stat(f.path); err != nil {
		return err
	}
	if writable(filepath.Dir(f.path)) != nil {
		if f.foreign, err = open(f.path); err != nil {
			return err
		}
		f.read = f.foreign.sql
		return f.read.PingContext(ctx)
	}
	if f.read, err = sql.Open(driverName, source(f.path, "mode=ro", pragmas(o.Busy))); err != nil {
		return err
	}
	f.read.SetMaxIdleConns(idleReaders)
	return f.read.PingContext(ctx)
}

// openWriter opens the one connection that writes, and makes the file.
func (f *File) openWriter(ctx context.Context, o FileOptions) (err error) {
	fresh, err := missing(f.path)
	if err != nil {
		return err
	}
	f.write, err = sql.Open(driverName, source(f.path, "mode=rwc", pragmas(o.Busy),
		"_pragma=synchronous(full)", fmt.Sprintf("_pragma=journal_size_limit(%d)", logBytes)))
	if err != nil {
		return err
	}
	f.write.SetMaxOpenConns(1)
	if err := f.write.PingContext(ctx); err != nil {
		return err
	}
	if fresh {
		// Nothing stands in it yet, and the log takes on the mode of the file.
		// The file is not opened for this: closing it would take the locks from
		// other connections of this process.
		if err := os.Chmod(f.path, 0o600); err != nil {
			return err
		}
	}
	if err := f.settle(ctx, o); err != nil {
		return err
	}
	if fresh {
		syncFolder(filepath.Dir(f.path))
	}
	return f.openReader(ctx, o)
}

// missing reports whether there is no file. One that is there must be writable:
// SQLite would fall back to reading.
func missing(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return false, errors.Join(err, writable(path))
}

// settle sees to it that the file has a write-ahead log. For that the file is
// needed alone for a moment, which the library does not wait for.
func (f *File) settle(ctx context.Context, o FileOptions) error {
	if _, err := f.write.ExecContext(ctx, fmt.Sprintf("pragma page_size=%d", o.PageSize)); err != nil {
		return err
	}
	for wait := time.Millisecond; ; wait *= 2 {
		_, err := f.write.ExecContext(ctx, "pragma journal_mode=wal")
		if codeOf(err)&0xff != codeBusy || wait > o.Busy {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// syncFolder makes the name of a new file durable, where folders can be synced.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// source names a database for the driver.
func source(path string, options ...string) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed
	}
	return "file://" + (&url.URL{Path: slashed}).EscapedPath() + "?" + strings.Join(options, "&")
}

// pragmas are those of every connection.
func pragmas(busy time.Duration) string {
	return fmt.Sprintf("_pragma=busy_timeout(%d)&_pragma=cache_size(%d)&_pragma=temp_store(memory)",
		busy.Milliseconds(), -cacheBytes>>10)
}

// Path is the path of the file, absolute.
func (f *File) Path() string { return f.path }

// Reader is for queries. What they return must be read or left before Close.
// Errors are those of the driver: see [Explain].
func (f *File) Reader() *sql.DB { return f.read }

// Write runs a transaction and commits it when do returns nil; otherwise it
// leaves no trace. The context ends the wait for other writers; once the
// transaction has begun it is for do to look at it. The error is that of do, or
// one that [Explain] explained.
func (f *File) Write(ctx context.Context, do func(context.Context, *sql.Conn) error) error {
	if f.write == nil {
		return errReadOnly(f.path)
	}
	conn, err := f.write.Conn(ctx)
	if err != nil {
		return Explain(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "begin immediate"); err != nil {
		return Explain(err)
	}
	// A statement that is interrupted halfway takes the transaction with it, or
	// not; and watching a context costs more than most statements.
	inside := context.WithoutCancel(ctx)
	if err = do(inside, conn); err == nil {
		if err = ctx.Err(); err == nil {
			_, err = conn.ExecContext(inside, "commit")
		}
	}
	if err != nil {
		// A full disk has rolled back already.
		_, _ = conn.ExecContext(inside, "rollback")
	}
	return Explain(err)
}

// Exec runs a statement that cannot stand in a transaction.
func (f *File) Exec(ctx context.Context, statement string, args ...any) error {
	if f.write == nil {
		return errReadOnly(f.path)
	}
	_, err := f.write.ExecContext(ctx, statement, args...)
	return Explain(err)
}

// Close closes the database.
func (f *File) Close() error {
	var errs []error
	if f.foreign != nil {
		errs = append(errs, f.foreign.Close())
	} else if f.read != nil {
		errs = append(errs, f.read.Close())
	}
	if f.write != nil {
		errs = append(errs, f.write.Close())
	}
	return errors.Join(errs...)
}

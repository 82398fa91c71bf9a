package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/quire"
)

func openOwn(t *testing.T, path string, o FileOptions) *File {
	t.Helper()
	f, err := OpenFile(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func numbers(t *testing.T, f *File) (list []int) {
	t.Helper()
	rows, err := f.Reader().Query("select a from t order by a")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var a int
		if err := rows.Scan(&a); err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	return list
}

// A name is a name, whatever marks it holds.
func TestOpenFileNames(t *testing.T) {
	names := []string{"plain.db", "with space.db", "a%20b.db", "a#b.db", "日志.db", "a&mode=ro.db"}
	if runtime.GOOS != "windows" {
		names = append(names, "a?mode=memory.db")
	}
	for _, name := range names {
		path := filepath.Join(t.TempDir(), name)
		f := openOwn(t, path, FileOptions{})
		if err := f.Exec(context.Background(), "create table t(a)"); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(path); err != nil || f.Path() != path {
			t.Errorf("the file is %s, %v", f.Path(), err)
		}
	}
}

// A transaction is there wholly or not at all, for every way in which it can end.
func TestWrite(t *testing.T) {
	f := openOwn(t, filepath.Join(t.TempDir(), "a.db"), FileOptions{PageSize: 8192})
	ctx := context.Background()
	if err := f.Exec(ctx, "create table t(a)"); err != nil {
		t.Fatal(err)
	}
	put := func(a int, end error) func(context.Context, *sql.Conn) error {
		return func(ctx context.Context, conn *sql.Conn) error {
			_, err := conn.ExecContext(ctx, "insert into t values (?)", a)
			return errors.Join(err, end)
		}
	}
	failed := errors.New("failed")
	ended, cancel := context.WithCancel(ctx)
	for i, c := range []struct {
		ctx  context.Context
		do   func(context.Context, *sql.Conn) error
		want error
	}{
		{ctx, put(1, nil), nil},
		{ctx, put(2, failed), failed},
		{ended, func(ctx context.Context, conn *sql.Conn) error {
			defer cancel()
			return put(3, nil)(ctx, conn)
		}, context.Canceled},
		{ended, put(4, nil), context.Canceled},
		{ctx, put(5, nil), nil},
	} {
		if err := f.Write(c.ctx, c.do); !errors.Is(err, c.want) {
			t.Errorf("transaction %d: error %v, want %v", i+1, err, c.want)
		}
	}
	if got := numbers(t, f); !slices.Equal(got, []int{1, 5}) {
		t.Errorf("written %v, want those that were committed", got)
	}
	var size int
	if err := f.Reader().QueryRow("pragma page_size").Scan(&size); err != nil || size != 8192 {
		t.Errorf("pages of %d bytes, %v", size, err)
	}
}

// What is committed survives a crash of the machine: the setting holds for each
// connection that the pool may make anew.
func TestWriterSyncs(t *testing.T) {
	f := openOwn(t, filepath.Join(t.TempDir(), "a.db"), FileOptions{})
	f.write.SetConnMaxLifetime(time.Nanosecond)
	for range 3 {
		var synchronous int
		var mode string
		if err := f.write.QueryRow("pragma synchronous").Scan(&synchronous); err != nil || synchronous != 2 {
			t.Errorf("synchronous is %d, %v, want 2, full", synchronous, err)
		}
		if err := f.write.QueryRow("pragma journal_mode").Scan(&mode); err != nil || mode != "wal" {
			t.Errorf("the journal is %q, %v", mode, err)
		}
	}
}

func TestOpenFileReadOnly(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "a.db")
	if _, err := OpenFile(ctx, path, FileOptions{ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	w := openOwn(t, path, FileOptions{})
	if err := w.Exec(ctx, "create table t(a)"); err != nil {
		t.Fatal(err)
	}
	r := openOwn(t, path, FileOptions{ReadOnly: true})
	if err := r.Exec(ctx, "create table u(a)"); !errors.Is(err, quire.ErrReadOnly) {
		t.Errorf("a statement: %v", err)
	}
	if err := r.Write(ctx, nil); !errors.Is(err, quire.ErrReadOnly) {
		t.Errorf("a transaction: %v", err)
	}
	if err := w.Exec(ctx, "insert into t values (7)"); err != nil {
		t.Fatal(err)
	}
	if got := numbers(t, r); !slices.Equal(got, []int{7}) {
		t.Errorf("read %v, want what was committed meanwhile", got)
	}
	// The reader's handle cannot write either.
	if _, err := r.Reader().Exec("insert into t values (8)"); !errors.Is(Explain(err), quire.ErrReadOnly) {
		t.Errorf("writing through the reader: %v", err)
	}
}

func TestExplain(t *testing.T) {
	plain := errors.New("plain")
	if Explain(nil) != nil || Explain(plain) != plain {
		t.Error("errors of no kind do not come back as they are")
	}
	refused := &fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission}
	err := Explain(refused)
	if !errors.Is(err, quire.ErrReadOnly) || !errors.Is(err, refused) {
		t.Errorf("%v is not of its kind, or has lost its cause", err)
	}
	if again := Explain(fmt.Errorf("once more: %w", err)); again.Error() != "once more: "+err.Error() {
		t.Errorf("an error that says its kind is explained again: %v", again)
	}
}

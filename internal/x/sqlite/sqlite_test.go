package sqlite

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// write makes a database, runs the statements in it and leaves it open, as a
// program does that is at work while its database is read.
func write(t *testing.T, path string, statements ...string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return db
}

// rows reads all rows with their cells joined.
func rows(t *testing.T, db *DB, query string, args ...any) []string {
	t.Helper()
	var out []string
	for row, err := range db.Rows(query, args...) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%q", row))
	}
	return out
}

func openTest(t *testing.T, path string) *DB {
	t.Helper()
	db, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// snapshot is the content of all files of a folder.
func snapshot(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string][]byte)
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = b
	}
	return out
}

func TestRowsOfEveryMode(t *testing.T) {
	for _, mode := range []string{"delete", "wal"} {
		for _, pageSize := range []int{512, 4096, 65536} {
			t.Run(fmt.Sprintf("%s-%d", mode, pageSize), func(t *testing.T) {
				dir := t.TempDir()
				path := filepath.Join(dir, "a.db")
				write(t, path,
					fmt.Sprintf("pragma page_size=%d", pageSize),
					"pragma journal_mode="+mode,
					"pragma wal_autocheckpoint=0",
					"create table t(a integer primary key, b text)",
					"insert into t values (1, 'x'), (2, null)",
					"update t set b='y' where a=1",
					"with recursive n(i) as (select 3 union all select i+1 from n where i<3000) insert into t select i, 'row ' || i from n",
				)
				before := snapshot(t, dir)
				db := openTest(t, path)
				if got, want := rows(t, db, "select a, b from t where a < ? order by a", 4), []string{`["1" "y"]`, `["2" ""]`, `["3" "row 3"]`}; !slices.Equal(got, want) {
					t.Errorf("rows %v, want %v", got, want)
				}
				if got := rows(t, db, "select count(*) from t"); !slices.Equal(got, []string{`["3000"]`}) {
					t.Errorf("count %v", got)
				}
				if db.Changed() {
					t.Error("the database counts as changed")
				}
				after := snapshot(t, dir)
				for name, b := range after {
					if !bytes.Equal(b, before[name]) {
						t.Errorf("reading changed %s", name)
					}
				}
				if len(after) != len(before) {
					t.Errorf("reading made files: %d, before %d", len(after), len(before))
				}
			})
		}
	}
}

// Transactions that are not committed, or not wholly in the file, do not count.
func TestUncommittedIsUnseen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	writer := write(t, path, "pragma journal_mode=wal", "pragma wal_autocheckpoint=0", "create table t(a)", "insert into t values (1)")
	log := path + "-wal"
	committed, err := os.Stat(log)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Exec("insert into t values (2)"); err != nil {
		t.Fatal(err)
	}
	torn := filepath.Join(t.TempDir(), "b.db")
	copyFile(t, path, torn, -1)
	copyFile(t, log, torn+"-wal", committed.Size()+100)
	if got := rows(t, openTest(t, torn), "select a from t"); !slices.Equal(got, []string{`["1"]`}) {
		t.Errorf("rows %v, want only the first", got)
	}
}

func copyFile(t *testing.T, from, to string, size int64) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if size >= 0 {
		b = b[:size]
	}
	if err := os.WriteFile(to, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	writer := write(t, path, "pragma journal_mode=wal", "create table t(a)", "insert into t values (1)")
	db := openTest(t, path)
	if _, err := writer.Exec("insert into t values (2)"); err != nil {
		t.Fatal(err)
	}
	if db.Changed() {
		t.Error("an addition to the log counts as a change")
	}
	for _, s := range []string{"pragma wal_checkpoint(truncate)", "insert into t values (3)"} {
		if _, err := writer.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	if !db.Changed() {
		t.Error("a checkpoint does not count as a change")
	}
}

func TestNotADatabase(t *testing.T) {
	for name, content := range map[string]string{
		"empty": "", "short": "SQLite", "text": string(bytes.Repeat([]byte("text "), 100)),
		"page": "SQLite format 3\x00" + string(bytes.Repeat([]byte{3}, 100)),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.db")
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if db, err := Open(path); err == nil {
				_ = db.Close()
				t.Error("opened")
			}
		})
	}
}

// Whatever stands in a log, reading it ends and never reaches outside of it.
func FuzzLog(f *testing.F) {
	dir := f.TempDir()
	path := filepath.Join(dir, "a.db")
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path))
	if err != nil {
		f.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, s := range []string{"pragma page_size=512", "pragma journal_mode=wal", "create table t(a)", "insert into t values (1)"} {
		if _, err := db.Exec(s); err != nil {
			f.Fatal(err)
		}
	}
	log, err := os.ReadFile(path + "-wal")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(log)
	f.Add(log[:len(log)-1])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		w, ok := newLogWalk(bytes.NewReader(b), 512)
		for ok {
			page, _, at, more := w.next()
			if ok = more; !more {
				continue
			}
			if at+512 > int64(len(b)) || page != int64(binary.BigEndian.Uint32(b[at-frameHeader:])) {
				t.Fatalf("page %d at %d of %d bytes", page, at, len(b))
			}
		}
	})
}

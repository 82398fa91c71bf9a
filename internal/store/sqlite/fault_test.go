package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/store/storetest"
	"github.com/quire-agent/quire/internal/x/sqlite"
)

// fill opens a home, writes rounds to it and closes it again.
func fill(t *testing.T, home string, rounds int) {
	t.Helper()
	s, err := Open(context.Background(), home, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for n := range rounds {
		if err := writeRound(s, n+1); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func wantErr(t *testing.T, err, kind error, parts ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("error %v, want one that is %q", err, kind)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
}

// writes are all the methods that write.
func writes(s *Store) map[string]error {
	ctx := context.Background()
	_, err := s.PutBodies(ctx, [][]byte{[]byte("new")})
	return map[string]error{
		"PutBodies":    err,
		"DropBodies":   s.DropBodies(ctx, []quire.Hash{quire.Sum("new")}),
		"PutSession":   s.PutSession(ctx, quire.SessionRow{Number: 1}),
		"PutRows":      s.PutRows(ctx, []quire.Row{{Page: quire.Page{Number: 1}, Session: 1}}),
		"DropSession":  s.DropSession(ctx, 1),
		"Advance":      s.Advance(ctx, "head", "", "1"),
		"PutSegment":   s.PutSegment(ctx, "s", strings.NewReader("x")),
		"DropSegments": s.DropSegments(ctx, []string{"s"}),
		"Compact":      s.Compact(ctx),
	}
}

func wantReadOnly(t *testing.T, home string, o Options) {
	t.Helper()
	s, err := Open(context.Background(), home, o)
	if err != nil {
		t.Fatal(err)
	}
	for what, err := range writes(s) {
		if !errors.Is(err, quire.ErrReadOnly) {
			t.Errorf("%s: error %v, want one that says that the pool is read only", what, err)
		}
	}
	wantRound(t, s, 2)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestReadOnly(t *testing.T) {
	home := t.TempDir()
	fill(t, home, 3)
	wantReadOnly(t, home, Options{ReadOnly: true})
	writer := openTest(t, home)
	wantReadOnly(t, home, Options{ReadOnly: true})
	if err := writeRound(writer, 4); err != nil {
		t.Error(err)
	}
	_, err := Open(context.Background(), filepath.Join(home, "none"), Options{ReadOnly: true})
	wantErr(t, err, fs.ErrNotExist, BodiesFile)
}

func TestReadOnlyFile(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write to every file")
	}
	home := t.TempDir()
	fill(t, home, 3)
	if err := os.Chmod(filepath.Join(home, BodiesFile), 0o400); err != nil {
		t.Fatal(err)
	}
	_, err := Open(context.Background(), home, Options{})
	wantErr(t, err, quire.ErrReadOnly, BodiesFile)
	wantReadOnly(t, home, Options{ReadOnly: true})
}

func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes here")
	}
	home := filepath.Join(t.TempDir(), "made", "home")
	s := openTest(t, home)
	if err := writeRound(s, 1); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(home)
	if err != nil || len(entries) != 6 {
		t.Errorf("%d files, %v, want each database with its log and the index of that", len(entries), err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", e.Name(), info.Mode(), err)
		}
	}
	if info, err := os.Stat(home); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the home has mode %v, %v", info.Mode(), err)
	}
}

// TestFull fills the file up to a number of pages.
func TestFull(t *testing.T) {
	ctx := context.Background()
	home := t.TempDir()
	s := openTest(t, home)
	if err := writeRound(s, 1); err != nil {
		t.Fatal(err)
	}
	if err := s.bodies.Exec(ctx, "pragma max_page_count=40"); err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, 1<<20)
	if _, err := rand.NewChaCha8([32]byte{1}).Read(noise); err != nil {
		t.Fatal(err)
	}
	_, err := s.PutBodies(ctx, [][]byte{[]byte("small"), noise})
	wantErr(t, err, quire.ErrFull)
	if there, err := s.HasBodies(ctx, []quire.Hash{quire.Sum("small")}); err != nil || there[0] {
		t.Errorf("a part of what was refused is there: %v, %v", there, err)
	}
	wantRound(t, s, 1)
	if err := s.bodies.Exec(ctx, "pragma max_page_count=1000000"); err != nil {
		t.Fatal(err)
	}
	if err := writeRound(s, 2); err != nil {
		t.Errorf("there is room again, but %v", err)
	}
	wantRound(t, s, 2)
}

// A writer that does not get its turn says so, and one whose context ends stops
// waiting.
func TestLocked(t *testing.T) {
	home := t.TempDir()
	s := openTest(t, home)
	impatient, err := Open(context.Background(), home, Options{Busy: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer impatient.Close()
	patient := openTest(t, home)
	hold := errors.New("held")
	err = s.pool.Write(context.Background(), func(context.Context, *sql.Conn) error {
		wantErr(t, impatient.Advance(context.Background(), "head", "", "1"), quire.ErrLocked)
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		wantErr(t, patient.Advance(ctx, "head", "", "1"), context.DeadlineExceeded)
		return hold
	})
	if !errors.Is(err, hold) {
		t.Error(err)
	}
	if err := patient.Advance(context.Background(), "head", "", "1"); err != nil {
		t.Error(err)
	}
}

// TestOpenAtOnce opens a new home many times at once.
func TestOpenAtOnce(t *testing.T) {
	home := t.TempDir()
	children := []*child{startChild(t, home, 1, 2), startChild(t, home, 11, 2), startChild(t, home, 21, 2)}
	results := make(chan error)
	for i := range 6 {
		go func() {
			s, err := Open(context.Background(), home, Options{})
			if err == nil {
				err = errors.Join(writeRound(s, 100+i), s.Close())
			}
			results <- err
		}()
	}
	for range 6 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	for _, c := range children {
		c.end()
	}
	s := openTest(t, home)
	for _, n := range []int{1, 2, 11, 12, 21, 22, 100, 105} {
		wantRound(t, s, n)
	}
}

// TestWrongBytes changes a body where it lies: it is refused by its name, and all
// others are read as before.
func TestWrongBytes(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name, statement string
	}{
		{"other bytes", "update data set data = zeroblob(length(data)) where id = 2"},
		{"other bytes of its size", "update data set form = 0, data = zeroblob(bytes) where id = 2"},
		{"another body", "update data set (form, bytes, data) = (select form, bytes, data from data where id = 1) where id = 2"},
		{"another size", "update data set bytes = bytes + 1 where id = 2"},
		{"a huge size", "update data set bytes = 1 << 60 where id = 2"},
		{"unknown form", "update data set form = 9 where id = 2"},
		{"no bytes", "delete from data where id = 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := openTest(t, t.TempDir())
			bodies := [][]byte{bytes.Repeat([]byte("first "), 500), bytes.Repeat([]byte("second "), 500), []byte("third")}
			hs, err := s.PutBodies(ctx, bodies)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.bodies.Exec(ctx, c.statement); err != nil {
				t.Fatal(err)
			}
			_, err = s.Body(ctx, hs[1])
			wantErr(t, err, quire.ErrDamaged, "body "+hs[1].String())
			for _, i := range []int{0, 2} {
				if got, err := s.Body(ctx, hs[i]); err != nil || !bytes.Equal(got, bodies[i]) {
					t.Errorf("body %d comes back as %q, %v", i, got, err)
				}
			}
		})
	}
}

// TestWrongRows: rows that cannot be what they are meant to be are refused.
func TestWrongRows(t *testing.T) {
	ctx := context.Background()
	for _, column := range []string{"acl", "tasks", "supersedes", "derived_from", "stale", "body", "args", "version"} {
		s := openTest(t, t.TempDir())
		if err := writeRound(s, 1); err != nil {
			t.Fatal(err)
		}
		if err := s.pool.Exec(ctx, "update page set "+column+" = x'80' where id & 0xff = 1"); err != nil {
			t.Fatal(err)
		}
		var last error
		for _, err := range s.Rows(ctx, quire.Reader{Who: "user:ann"}, quire.Filter{}) {
			last = err
		}
		wantErr(t, last, quire.ErrDamaged, "page table", PoolFile, "s1/p1")
	}
}

// TestDamagedPages overwrites each page of the file in turn: no wrong byte is ever
// returned, whatever cannot be read is named, and wherever something is missing
// Check says that the file is damaged.
func TestDamagedPages(t *testing.T) {
	const rounds = 60
	home := t.TempDir()
	fill(t, home, rounds)
	path := filepath.Join(home, BodiesFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const page = 16 << 10
	readable, all := 0, 0
	for at := page; at+page <= len(whole); at += page {
		broken := bytes.Clone(whole)
		for i := at; i < at+page; i++ {
			broken[i] ^= 0x5a
		}
		if err := os.WriteFile(path, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		r, n := readDamaged(t, home, rounds)
		readable, all = readable+r, all+n
	}
	if readable*10 < all*6 {
		t.Errorf("of %d bodies only %d can be read around one damaged page", all, readable)
	}
}

// readDamaged reads all bodies of a home that is damaged and returns how many
// could be read, of how many.
func readDamaged(t *testing.T, home string, rounds int) (readable, all int) {
	t.Helper()
	ctx := context.Background()
	s, err := Open(ctx, home, Options{})
	if err != nil {
		wantErr(t, err, quire.ErrDamaged)
		return 0, 0
	}
	defer s.Close()
	for n := range rounds {
		for _, want := range roundBodies(n + 1) {
			all++
			h := quire.Sum(string(want))
			got, err := s.Body(ctx, h)
			switch {
			case err == nil && !bytes.Equal(got, want):
				t.Errorf("body %s comes back with other bytes", h)
			case err == nil:
				readable++
			case !errors.Is(err, quire.ErrDamaged) && !errors.Is(err, quire.ErrNotFound) || !strings.Contains(err.Error(), h.String()):
				t.Errorf("body %s: error %v", h, err)
			}
		}
	}
	if readable < all {
		wantErr(t, s.Check(ctx), quire.ErrDamaged, BodiesFile)
	}
	return readable, all
}

// Where the derived part is damaged the bodies can be read and checked alone.
func TestBodiesOnly(t *testing.T) {
	ctx := context.Background()
	home := t.TempDir()
	fill(t, home, 1)
	if err := os.WriteFile(filepath.Join(home, PoolFile), bytes.Repeat([]byte("x"), 5000), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(ctx, home, Options{ReadOnly: true, BodiesOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	want := roundBodies(1)[0]
	if got, err := s.Body(ctx, quire.Sum(string(want))); err != nil || !bytes.Equal(got, want) {
		t.Errorf("a body comes back as %d bytes, %v", len(got), err)
	}
	if err := errors.Join(s.Check(ctx), s.Close()); err != nil {
		t.Error(err)
	}
}

// What is not one of our files is refused, and not changed.
func TestForeignFiles(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{BodiesFile, PoolFile} {
		home := t.TempDir()
		path := filepath.Join(home, name)
		other, err := sqlite.OpenFile(ctx, path, sqlite.FileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(other.Exec(ctx, "create table t(a)"), other.Close()); err != nil {
			t.Fatal(err)
		}
		_, err = Open(ctx, home, Options{})
		wantErr(t, err, quire.ErrDamaged, name)
		if err := os.WriteFile(path, bytes.Repeat([]byte("text\n"), 2000), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = Open(ctx, home, Options{})
		wantErr(t, err, quire.ErrDamaged, name)
		if b, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(b, []byte("text\ntext\n")) || len(b) != 10_000 {
			t.Errorf("the file was changed: %d bytes, %v", len(b), err)
		}
	}
	home := t.TempDir()
	fill(t, home, 1)
	if err := os.Rename(filepath.Join(home, BodiesFile), filepath.Join(home, PoolFile)); err != nil {
		t.Fatal(err)
	}
	_, err := Open(ctx, home, Options{})
	wantErr(t, err, quire.ErrDamaged, PoolFile)
}

// What is derived may be deleted: the bodies stay.
func TestRemovePool(t *testing.T) {
	ctx := context.Background()
	home := t.TempDir()
	fill(t, home, 3)
	if err := errors.Join(RemovePool(home), RemovePool(home)); err != nil {
		t.Fatal(err)
	}
	s := openTest(t, home)
	for r, err := range s.Rows(ctx, quire.Reader{Who: "user:ann"}, quire.Filter{}) {
		t.Errorf("row %s, %v", r.Ref(), err)
	}
	for n := range 3 {
		for _, want := range roundBodies(n + 1) {
			if got, err := s.Body(ctx, quire.Sum(string(want))); err != nil || !bytes.Equal(got, want) {
				t.Errorf("a body comes back as %d bytes, %v", len(got), err)
			}
		}
	}
}

func TestCompact(t *testing.T) {
	ctx := context.Background()
	home := t.TempDir()
	s := openTest(t, home)
	noise := make([]byte, 4<<20)
	if _, err := rand.NewChaCha8([32]byte{1}).Read(noise); err != nil {
		t.Fatal(err)
	}
	hs, err := s.PutBodies(ctx, [][]byte{noise, []byte("stays")})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.DropBodies(ctx, hs[:1]), s.Compact(ctx)); err != nil {
		t.Fatal(err)
	}
	if n := folderBytes(t, home); n > 1<<20 {
		t.Errorf("%d bytes are left", n)
	}
	if got, err := s.Body(ctx, hs[1]); err != nil || string(got) != "stays" {
		t.Errorf("what stays comes back as %q, %v", got, err)
	}
}

// folderBytes is the size of all files of a folder.
func folderBytes(t testing.TB, dir string) (total int64) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	return total
}

// Nothing in the package looks at a clock, so that none can mislead it.
func TestNoClock(t *testing.T) {
	files, err := filepath.Glob("*.go")
	steps, err2 := filepath.Glob(filepath.Join("schema", "*", "*.sql"))
	if err := errors.Join(err, err2); err != nil || len(files) < 5 || len(steps) < 2 {
		t.Fatalf("%d and %d files, %v", len(files), len(steps), err)
	}
	for _, name := range append(files, steps...) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, clock := range []string{"time.Now", "time.Since", "current_timestamp", "strftime(", "datetime("} {
			if bytes.Contains(bytes.ToLower(text), []byte(strings.ToLower(clock))) {
				t.Errorf("%s uses %s", name, clock)
			}
		}
	}
}

// Sizes on disk, on text that is made up like that of logs; see
// TestRecordedBodies for text that was recorded.
func TestSizes(t *testing.T) {
	ctx := context.Background()
	home := t.TempDir()
	s := openTest(t, home)
	draw := rand.New(rand.NewPCG(8, 9))
	var bodies [][]byte
	budget := int64(0)
	for range 5000 {
		body := storetest.Text(draw, draw.IntN(1<<draw.IntN(15)))
		body = fmt.Appendf(body, "%d", draw.Int64())
		bodies = append(bodies, body)
		budget += int64(len(s.codec.Compress(body)))*3/2 + 100
	}
	if _, err := s.PutBodies(ctx, bodies); err != nil {
		t.Fatal(err)
	}
	const rows = 20_000
	if err := s.PutRows(ctx, storetest.Rows(draw, 1, rows)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	sizes := [2]int64{}
	for i, name := range []string{BodiesFile, PoolFile} {
		info, err := os.Stat(filepath.Join(home, name))
		if err != nil {
			t.Fatal(err)
		}
		sizes[i] = info.Size()
	}
	t.Logf("bodies %d bytes, of a budget of %d; a row %d bytes", sizes[0], budget, sizes[1]/rows)
	if sizes[0] > budget {
		t.Errorf("bodies take %d bytes on disk, more than 1.5 times their size in zstd and 100 bytes each: %d", sizes[0], budget)
	}
	if sizes[1] > 500*rows {
		t.Errorf("a row takes %d bytes on disk, more than 500", sizes[1]/rows)
	}
}

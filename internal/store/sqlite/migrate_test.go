package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/fstest"

	"github.com/quire-agent/quire/internal/quire"
)

// withStep is what a later version of the program might know: one step more for
// the bodies.
func withStep(t *testing.T, step string) [2]schema {
	t.Helper()
	known := schemas()
	steps, err := known[0].load()
	if err != nil {
		t.Fatal(err)
	}
	known[0].steps = fstest.MapFS{
		"0001.sql": {Data: []byte(steps[0])},
		"0002.sql": {Data: []byte(step)},
	}
	return known
}

func TestMigrate(t *testing.T) {
	ctx := context.Background()
	home := t.TempDir()
	fill(t, home, 2)
	if done, err := Migrate(ctx, home); err != nil || len(done) != 0 {
		t.Errorf("a pool that is up to date: %+v, %v", done, err)
	}
	later := withStep(t, "create table later (a integer) strict; insert into later select count(*) from body")
	_, err := open(ctx, home, Options{}, later)
	wantErr(t, err, ErrOlder, BodiesFile)

	path := filepath.Join(home, BodiesFile)
	done, err := migrate(ctx, home, later)
	if want := (Migration{path, 1, 2, path + ".0001"}); err != nil || len(done) != 1 || done[0] != want {
		t.Fatalf("%+v, %v, want %+v", done, err, want)
	}
	s, err := open(ctx, home, Options{}, later)
	if err != nil {
		t.Fatal(err)
	}
	wantRound(t, s, 2)
	var n int
	if err := s.bodies.Reader().QueryRow("select a from later").Scan(&n); err != nil || n == 0 {
		t.Errorf("the step counted %d bodies, %v", n, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	_, err = Open(ctx, home, Options{})
	wantErr(t, err, ErrNewer, BodiesFile)
	if _, err := Migrate(ctx, home); !errors.Is(err, ErrNewer) {
		t.Errorf("migrating a newer file: %v", err)
	}
	wantBackup(t, home, path+".0001")
}

// wantBackup holds that the copy is the file as it was.
func wantBackup(t *testing.T, home, path string) {
	t.Helper()
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the copy: %v, %v", info, err)
	}
	if err := os.Rename(path, filepath.Join(home, BodiesFile)); err != nil {
		t.Fatal(err)
	}
	wantRound(t, openTest(t, home), 2)
}

// A step that fails leaves everything as it was, and can be tried again.
func TestMigrateFails(t *testing.T) {
	ctx := context.Background()
	home := t.TempDir()
	fill(t, home, 2)
	for range 2 {
		if _, err := migrate(ctx, home, withStep(t, "create table later (a integer); drop table nothing")); err == nil {
			t.Fatal("a step that fails was run")
		}
		s, err := Open(ctx, home, Options{})
		if err != nil {
			t.Fatal(err)
		}
		wantRound(t, s, 2)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := migrate(ctx, home, withStep(t, "create table later (a integer)")); err != nil {
		t.Error(err)
	}
	if _, err := Migrate(ctx, t.TempDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("migrating nothing: %v", err)
	}
}

// A derived file that is of another version may be thrown away.
func TestOlderPoolCanBeRemoved(t *testing.T) {
	ctx := context.Background()
	home := t.TempDir()
	fill(t, home, 1)
	later := schemas()
	known, err := later[1].load()
	if err != nil {
		t.Fatal(err)
	}
	steps := fstest.MapFS{}
	for i, step := range append(known, "create table later (a integer)") {
		steps[fmt.Sprintf("%04d.sql", i+1)] = &fstest.MapFile{Data: []byte(step)}
	}
	later[1].steps = steps
	_, err = open(ctx, home, Options{}, later)
	wantErr(t, err, ErrOlder, PoolFile)
	if err := RemovePool(home); err != nil {
		t.Fatal(err)
	}
	s, err := open(ctx, home, Options{}, later)
	if err != nil {
		t.Fatal(err)
	}
	if there, err := s.HasBodies(ctx, []quire.Hash{quire.Sum(string(roundBodies(1)[0]))}); err != nil || !there[0] {
		t.Errorf("a body is gone: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A page table of before there were seals is brought up to date: its rows are
// there, and count as behind, so that they are derived again.
func TestMigrateToSeals(t *testing.T) {
	ctx := context.Background()
	home := t.TempDir()
	before := schemas()
	steps, err := before[1].load()
	if err != nil {
		t.Fatal(err)
	}
	before[1].steps = fstest.MapFS{"0001.sql": {Data: []byte(steps[0])}}
	old, err := open(ctx, home, Options{}, before)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`insert into session (number, ulid, owner, project, id, agent, version, branch, model, window, parent, started_nanos, source, pages, calls,
			tokens, bytes, input, cache_read, cache_write, cache_write_1h, output, reasoning, known, updated)
			values (3, 'u', 'user:ann', '', '', '', '', '', '', 0, '', 0, '', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '')`,
		`insert into page values ((3 << 32) + 1, 'user:ann', x'', 'session', 1, 1, 0, '', '', null, 0, '', '', 0, 0, x'', 0, 7, 0, x'', x'', x'',
			0, 0, 1.0, '', 0, x'', 0, x'', 0, x'', 'ok')`,
		"insert into head values ('ingest/u', '12'), ('index', '{}')",
	} {
		if err := old.pool.Exec(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	if done, err := Migrate(ctx, home); err != nil || len(done) != 1 || done[0].From != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	s := openTest(t, home)
	for r, err := range s.Rows(ctx, quire.Reader{Who: "user:ann"}, quire.Filter{}) {
		if err != nil || r.Tokens != 7 || r.Dropped != "" {
			t.Errorf("%+v, %v", r, err)
		}
	}
	for name, want := range map[string]string{"ingest/u": "0", "index": "{}"} {
		if head, err := s.Head(ctx, name); err != nil || head != want {
			t.Errorf("%s is %q, %v", name, head, err)
		}
	}
	if err := s.Check(ctx); err != nil {
		t.Error(err)
	}
}

package sqlite

import (
	"context"
	"errors"
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
	first, err := later[1].load()
	if err != nil {
		t.Fatal(err)
	}
	later[1].steps = fstest.MapFS{"0001.sql": {Data: []byte(first[0])}, "0002.sql": {Data: []byte("create table later (a integer)")}}
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

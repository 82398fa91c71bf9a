package flock_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/quire-agent/quire/internal/x/flock"
)

func open(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestOneHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	a, b := open(t, path), open(t, path)
	if err := flock.Try(a); err != nil {
		t.Fatal(err)
	}
	if err := flock.Try(b); !errors.Is(err, flock.ErrHeld) {
		t.Fatalf("second holder: %v", err)
	}
	if _, err := b.WriteString("x"); err != nil {
		t.Errorf("the lock keeps a writer out that did not ask: %v", err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := flock.Try(b); err != nil {
		t.Errorf("after the holder closed: %v", err)
	}
}

func TestWaitIsWoken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	a, b := open(t, path), open(t, path)
	if err := flock.Wait(a); err != nil {
		t.Fatal(err)
	}
	got := make(chan error)
	go func() { got <- flock.Wait(b) }()
	select {
	case err := <-got:
		t.Fatalf("did not wait: %v", err)
	default:
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
}

func TestClosedFile(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "lock"))
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := flock.Try(f); err == nil || errors.Is(err, flock.ErrHeld) {
		t.Errorf("lock of a closed file: %v", err)
	}
}

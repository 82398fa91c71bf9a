package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

// The lock of a home has one holder, who is named as long as he holds it.
func TestLockHome(t *testing.T) {
	home := filepath.Join(t.TempDir(), "new")
	lock, err := LockHome(home)
	if err != nil {
		t.Fatal(err)
	}
	_, err = LockHome(home)
	if !errors.Is(err, quire.ErrLocked) || !strings.Contains(err.Error(), fmt.Sprint("process ", os.Getpid(), " has it open")) {
		t.Errorf("second holder: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, filepath.Join(home, homeLock)); got != "" {
		t.Errorf("the lock that nobody holds says %q", got)
	}
	again, err := LockHome(home)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

type badDisk struct{ err error }

func (f badDisk) WriteAt([]byte, int64) (int, error) { return 0, f.err }

// What cannot be written on a full disk is not needed for a lock; all else is an
// error.
func TestALockOnAFullDisk(t *testing.T) {
	if err := writePid(badDisk{&fs.PathError{Op: "write", Path: "l", Err: noSpace()}}); err != nil {
		t.Error(err)
	}
	if err := writePid(badDisk{fs.ErrPermission}); err == nil {
		t.Error("nothing was said of a pid that is not there")
	}
}

// The lock of what is derived is waited for, until whoever waits gives up.
func TestLockDerivedWaits(t *testing.T) {
	home := t.TempDir()
	first, err := LockDerived(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := LockDerived(gone, home); !errors.Is(err, context.Canceled) {
		t.Errorf("who has given up: %v", err)
	}
	second := make(chan error)
	go func() {
		lock, err := LockDerived(t.Context(), home)
		if err == nil {
			err = lock.Close()
		}
		second <- err
	}()
	select {
	case err := <-second:
		t.Fatalf("a second holder: %v", err)
	default:
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-second; err != nil {
		t.Error(err)
	}
	home2, err := LockHome(home)
	if err != nil {
		t.Fatal("the two locks of a home exclude each other:", err)
	}
	if err := home2.Close(); err != nil {
		t.Error(err)
	}
}

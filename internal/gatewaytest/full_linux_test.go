package gatewaytest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/quire-agent/quire/internal/gateway"
	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/store/sqlite"
)

// A file system without room, in front of an epoch and behind one, takes nothing from
// the client: the same answers, requests that its provider takes, and when there is
// room again the gateway keeps what comes.
func TestFullFileSystem(t *testing.T) {
	for _, d := range dialects() {
		for _, from := range []int{1, 5} {
			t.Run(string(d.api)+map[int]string{1: " relayed", 5: " curated"}[from], func(t *testing.T) { fullFileSystem(t, d, from) })
		}
	}
}

func fullFileSystem(t *testing.T, d dialect, from int) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=16m"); err != nil {
		t.Skip("a small file system cannot be mounted here: ", err)
	}
	defer func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	}()
	home := filepath.Join(disk, "home")
	store, err := sqlite.Open(context.Background(), home, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var faults atomic.Int64
	s := newStage(t, d, func(o *gateway.Options) {
		o.Pool.Home, o.Pool.Bodies, o.Pool.Table, o.Pool.Heads, o.Pool.Index = home, store, store, store, index.New(store, store)
		o.Failed = func(error) { faults.Add(1) }
	})
	ballast := ""
	for label := range plot() {
		switch label {
		case from:
			ballast = fill(t, disk)
		case from + 3:
			if err := os.Remove(ballast); err != nil {
				t.Fatal(err)
			}
		}
		s.step(label, label%2 == 0)
	}
	stop(t, s.g)
	s.accepted()
	if faults.Load() == 0 {
		t.Error("nobody was told")
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}

// fill takes all the room that is left, and gives the file that holds it.
func fill(t *testing.T, dir string) string {
	t.Helper()
	ballast := filepath.Join(dir, "ballast")
	f, err := os.Create(ballast) //nolint:gosec // a folder of the test
	for size := 1 << 20; err == nil; {
		if _, err = f.Write(make([]byte, size)); err != nil && size > 1 {
			size, err = size/16, nil
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return ballast
}

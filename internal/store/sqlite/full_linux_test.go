package sqlite

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

// smallDisk is a file system of 4 MiB in memory.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"); err != nil {
		t.Skip("a small file system cannot be mounted here: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// A disk that is full: the error says so, what was acknowledged is there, and
// writing goes on when there is room again.
func TestFullDisk(t *testing.T) {
	ctx := context.Background()
	home := smallDisk(t)
	ballast := filepath.Join(home, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(ctx, home, Options{})
	if err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, 100_000)
	source := rand.NewChaCha8([32]byte{1})
	var kept []quire.Hash
	for {
		if _, err = source.Read(noise); err != nil {
			t.Fatal(err)
		}
		hs, fault := s.PutBodies(ctx, [][]byte{noise})
		if err = fault; err != nil {
			break
		}
		kept = append(kept, hs...)
	}
	wantErr(t, err, quire.ErrFull)
	wantErr(t, s.PutSegment(ctx, "s", bytes.NewReader(make([]byte, 4<<20))), quire.ErrFull)
	for _, h := range kept {
		if _, err := s.Body(ctx, h); err != nil {
			t.Error(err)
		}
	}
	if err := errors.Join(os.Remove(ballast), writeRound(s, 1)); err != nil {
		t.Error(err)
	}
	wantRound(t, s, 1)
	if err := errors.Join(s.Check(ctx), s.Close()); err != nil {
		t.Error(err)
	}
	if len(kept) == 0 {
		t.Error("nothing was stored at all")
	}
}

// A file system that may only be read.
func TestReadOnlyDisk(t *testing.T) {
	home := smallDisk(t)
	fill(t, home, 3)
	if err := syscall.Mount("", home, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	_, err := Open(context.Background(), home, Options{})
	wantErr(t, err, quire.ErrReadOnly, BodiesFile)
	wantReadOnly(t, home, Options{ReadOnly: true})
}

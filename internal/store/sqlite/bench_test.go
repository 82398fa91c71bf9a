package sqlite

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/quire-agent/quire/internal/store/storetest"
)

func BenchmarkStore(b *testing.B) {
	storetest.Benchmark(b, func(t testing.TB) storetest.Store { return openTest(t, t.TempDir()) })
}

func BenchmarkOpen(b *testing.B) {
	home := b.TempDir()
	openTest(b, home)
	for b.Loop() {
		s, err := Open(context.Background(), home, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReopen opens a pool after a crash that has left as much in the
// write-ahead logs as ever stands there.
func BenchmarkReopen(b *testing.B) {
	home := b.TempDir()
	s := openTest(b, home)
	for n := range 200 {
		if err := writeRound(s, n+1); err != nil {
			b.Fatal(err)
		}
	}
	noise := make([]byte, 32<<20)
	if _, err := rand.NewChaCha8([32]byte{1}).Read(noise); err != nil {
		b.Fatal(err)
	}
	if _, err := s.PutBodies(context.Background(), [][]byte{noise}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		b.StopTimer()
		crashed := b.TempDir()
		if err := os.CopyFS(crashed, os.DirFS(home)); err != nil {
			b.Fatal(err)
		}
		if err := os.Remove(filepath.Join(crashed, BodiesFile+"-shm")); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		again, err := Open(context.Background(), crashed, Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := again.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

package sqlite

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/trace"
)

// corpus finds the recorded sessions, which are not part of the project.
func corpus(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	places := []string{filepath.Join(os.Getenv("QUIRE_SHARED"), "corpus")}
	for ; os.Getenv("QUIRE_SHARED") == "" && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		places = append(places, filepath.Join(dir, "shared", "corpus"))
	}
	for _, p := range places {
		if found, err := filepath.Glob(filepath.Join(p, "endless", "*.jsonl")); err == nil && len(found) > 0 {
			return p
		}
	}
	t.Skip("the corpus of recorded sessions (../shared/corpus) is not here")
	return ""
}

// recordedBodies are the texts of all parts of the corpus, in their order, and the
// size of the logs that they were read from.
func recordedBodies(t testing.TB, root string) (bodies [][]byte, logs int64) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		found, err := trace.Open(path)
		if err != nil {
			return nil // not a log
		}
		for _, log := range found {
			for e := range log.Events() {
				if text := textOf(e); text != "" {
					bodies = append(bodies, []byte(text))
				}
			}
		}
		info, err := d.Info()
		logs += info.Size()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return bodies, logs
}

func textOf(e quire.Event) string {
	switch e := e.(type) {
	case quire.Entered:
		return e.Part.Text
	case quire.Answered:
		return e.Part.Text
	}
	return ""
}

// TestRecordedBodies stores every body of the corpus: each comes back, and the file
// keeps to 1.5 times what zstd makes of them and 100 bytes each.
func TestRecordedBodies(t *testing.T) {
	ctx := context.Background()
	bodies, logs := recordedBodies(t, corpus(t))
	home := t.TempDir()
	s, err := Open(ctx, home, Options{})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	var hs []quire.Hash
	for from := 0; from < len(bodies); from += 500 {
		put, err := s.PutBodies(ctx, bodies[from:min(from+500, len(bodies))])
		if err != nil {
			t.Fatal(err)
		}
		hs = append(hs, put...)
	}
	took := time.Since(start)
	var budget, bytes, count int64
	seen := map[quire.Hash]bool{}
	for i, h := range hs {
		if got, err := s.Body(ctx, h); err != nil || string(got) != string(bodies[i]) {
			t.Fatalf("body %d comes back as %d bytes, %v, want %d", i, len(got), err, len(bodies[i]))
		}
		if !seen[h] {
			seen[h] = true
			count, bytes, budget = count+1, bytes+int64(len(bodies[i])), budget+int64(len(s.codec.Compress(bodies[i])))*3/2+100
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	size := fileBytes(t, home, BodiesFile)
	t.Logf("%d MB of logs, %d bodies of %d bytes in %v: %.0f MB/s of logs; %d bytes on disk, budget %d", logs/1e6, count, bytes, took, float64(logs)/1e6/took.Seconds(), size, budget)
	if size > budget {
		t.Errorf("%d bytes on disk, at most %d", size, budget)
	}
}

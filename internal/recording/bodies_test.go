package recording

import (
	"bytes"
	"errors"
	"fmt"
	"github.com/quire-agent/quire/internal/recording/recordingtest"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// spooled stores more bodies than memory may hold.
func spooled(t *testing.T) (b *Bodies, refs []Ref, want func(i int) string) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	b = &Bodies{}
	t.Cleanup(func() { b.Close() })
	want = func(i int) string {
		if i%5 == 0 {
			return ""
		}
		return fmt.Sprintf("%d\xff\x00", i) + strings.Repeat(string(rune('a'+i%26)), 700_000)
	}
	for i := 0; b.base < 2*spoolAt || len(b.mem) == 0; i++ {
		r, err := b.Put(want(i))
		if err != nil {
			t.Fatal(err)
		}
		if r.Len() != len(want(i)) {
			t.Fatalf("body %d has %d bytes, its reference says %d", i, len(want(i)), r.Len())
		}
		refs = append(refs, r)
	}
	return b, refs, want
}

func TestBodiesComeBack(t *testing.T) {
	b, refs, want := spooled(t)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for i, r := range refs {
				if got, err := b.Get(r); err != nil || got != want(i) {
					t.Errorf("body %d: %d bytes, %v", i, len(got), err)
				}
			}
		})
	}
	wg.Wait()
}

func TestBodiesLeaveNoFile(t *testing.T) {
	b, refs, _ := spooled(t)
	name := b.file.Name()
	for range 2 {
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there: %v", name, err)
	}
	if _, err := b.Get(refs[1]); err == nil {
		t.Error("a body was read after Close")
	}
	if err := (&Bodies{}).Close(); err != nil {
		t.Error(err)
	}
}

func TestBodiesReportWhatCannotBeSpooled(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "missing")
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, nowhere)
	}
	big := string(bytes.Repeat([]byte("x"), spoolAt))
	if _, err := (&Bodies{}).Put(big); err == nil {
		t.Error("nothing was wrong")
	}
	b := newBuilder(recordingtest.NewCounter(t))
	for _, e := range recordingtest.NewScript("s", recordingtest.Morning()).User(big).Events {
		if err := b.event(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.finish(); err == nil {
		t.Error("a body that was not stored was not reported")
	}
}

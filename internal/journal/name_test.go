package journal

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"pgregory.net/rapid"
)

func begin(t *testing.T, home string, s quire.SessionRecord) (string, quire.SessionRecord) {
	t.Helper()
	w, s, err := Create(home, s, newClock().now)
	if err != nil {
		t.Fatal(err)
	}
	closed(t, w)
	return w.Path(), s
}

func TestCreateWritesTheFirstLine(t *testing.T) {
	home := filepath.Join(t.TempDir(), "not", "yet")
	digest := quire.Sum("a log")
	path, s := begin(t, home, quire.SessionRecord{Owner: "user:ada", Digest: digest, Info: quire.SessionInfo{ID: "abc", Agent: quire.AgentCodex, Started: newClock().at}})
	if s.Number != 1 || !isULID(s.ULID) || filepath.Base(path) != "s1-"+s.ULID+".jsonl" {
		t.Errorf("session %+v in %s", s, path)
	}
	got, err := Head(path)
	if err != nil || got != s || got.Digest != digest {
		t.Errorf("read back %+v (%v), want %+v", got, err, s)
	}
}

func TestCreateWithAnULID(t *testing.T) {
	home := t.TempDir()
	const ulid = "01JQZ3W8X4V5T6S7R8Q9P0N1M2"
	if _, s := begin(t, home, quire.SessionRecord{ULID: ulid}); s.ULID != ulid {
		t.Errorf("got %s", s.ULID)
	}
	for _, bad := range []string{"../../x", "01jqz3w8x4v5t6s7r8q9p0n1m2", "81JQZ3W8X4V5T6S7R8Q9P0N1M2", ulid[1:]} {
		if _, _, err := Create(home, quire.SessionRecord{ULID: bad}, time.Now); err == nil {
			t.Errorf("%q was taken for a ULID", bad)
		}
	}
}

// A number is given once: among those who ask at the same time, and after the
// session that had it is gone.
func TestNumbersAreGivenOnce(t *testing.T) {
	home := t.TempDir()
	var wg sync.WaitGroup
	numbers := make([]quire.SessionNumber, 40)
	for i := range numbers {
		wg.Go(func() {
			w, s, err := Create(home, quire.SessionRecord{}, time.Now)
			if err != nil {
				t.Error(err)
				return
			}
			numbers[i] = s.Number
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	slices.Sort(numbers)
	for i, n := range numbers {
		if int(n) != i+1 {
			t.Fatalf("numbers %v", numbers)
		}
	}
	last, err := Find(home, "s40")
	if err != nil {
		t.Fatal(err)
	}
	if err := Remove(last.Path); err != nil {
		t.Fatal(err)
	}
	if _, s := begin(t, home, quire.SessionRecord{}); s.Number != 41 {
		t.Errorf("after s40 was removed comes %s", s.Number)
	}
}

func TestLostNumbers(t *testing.T) {
	home := t.TempDir()
	begin(t, home, quire.SessionRecord{})
	next := quire.SessionNumber(2)
	for _, text := range []string{"", "x\n", "-5\n", "99999999999\n", "1\n"} {
		write(t, filepath.Join(Folder(home), numbersName), text)
		if _, s := begin(t, home, quire.SessionRecord{}); s.Number != next {
			t.Errorf("with numbers %q comes %s, want s%d", text, s.Number, next)
		}
		next++
	}
}

func TestList(t *testing.T) {
	home := t.TempDir()
	if list, err := List(home); err != nil || list != nil {
		t.Errorf("an empty home lists %v (%v)", list, err)
	}
	for range 11 {
		begin(t, home, quire.SessionRecord{})
	}
	for _, name := range []string{"x.jsonl", "s0-01JQZ3W8X4V5T6S7R8Q9P0N1M2.jsonl", "s12-short.jsonl", "s12.jsonl", "s12-01JQZ3W8X4V5T6S7R8Q9P0N1M2.jsonl.torn", "s12-01JQZ3W8X4V5T6S7R8Q9P0N1M2"} {
		write(t, filepath.Join(Folder(home), name), "{}")
	}
	if err := os.Mkdir(filepath.Join(Folder(home), "s13-01JQZ3W8X4V5T6S7R8Q9P0N1M2.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	list, err := List(home)
	if err != nil || len(list) != 11 {
		t.Fatalf("%d names, %v", len(list), err)
	}
	for i, n := range list {
		if int(n.Number) != i+1 || n.Bytes == 0 || n.Changed.IsZero() || len(contents(t, n.Path)) != int(n.Bytes) {
			t.Errorf("name %d is %+v", i, n)
		}
	}
}

func TestFind(t *testing.T) {
	home := t.TempDir()
	for _, ulid := range []string{"01JQZ3W8X4V5T6S7R8Q9P0N1M2", "01JQZ4W8X4V5T6S7R8Q9P0N1M2", "01JR00000000000000000000S2"} {
		begin(t, home, quire.SessionRecord{ULID: ulid})
	}
	for text, want := range map[string]quire.SessionNumber{"s1": 1, "s3": 3, "01JR": 3, "01jr": 3, "01JQZ4": 2, "01JQZ3W8X4V5T6S7R8Q9P0N1M2": 1} {
		if got, err := Find(home, text); err != nil || got.Number != want {
			t.Errorf("%s is %s (%v), want %s", text, got.Number, err, want)
		}
	}
	for _, text := range []string{"s4", "s01", "02", "", "s", "x", "01JQZ3W8X4V5T6S7R8Q9P0N1M22"} {
		if got, err := Find(home, text); !errors.Is(err, quire.ErrNotFound) {
			t.Errorf("%q is %+v (%v)", text, got, err)
		}
	}
	if _, err := Find(home, "01JQZ"); err == nil || !strings.Contains(err.Error(), "s1-01JQZ3") || !strings.Contains(err.Error(), "s2-01JQZ4") {
		t.Errorf("several: %v", err)
	}
}

func TestRemove(t *testing.T) {
	home := t.TempDir()
	path, _ := begin(t, home, quire.SessionRecord{})
	write(t, path+tornSuffix, "torn")
	if err := Remove(path); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, path + tornSuffix, path + lockSuffix} {
		if _, err := os.Stat(p); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", p, err)
		}
	}
	if err := Remove(path); !errors.Is(err, quire.ErrNotFound) {
		t.Errorf("again: %v", err)
	}
}

func TestULID(t *testing.T) {
	got, err := newULID(time.UnixMilli(1469918176385), bytes.NewReader(make([]byte, 10)))
	if err != nil || got != "01ARYZ6S410000000000000000" { // its time is that of the example in the specification
		t.Errorf("got %s (%v)", got, err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		at := rapid.Int64Range(0, 1<<48-2).Draw(rt, "ms")
		chance := rapid.SliceOfN(rapid.Byte(), 10, 10).Draw(rt, "chance")
		a, err := newULID(time.UnixMilli(at), bytes.NewReader(chance))
		if err != nil || !isULID(a) {
			rt.Fatalf("%q: %v", a, err)
		}
		if b, _ := newULID(time.UnixMilli(at+1), bytes.NewReader(make([]byte, 10))); b <= a {
			rt.Errorf("%s of a later time sorts before %s", b, a)
		}
	})
	if _, err := newULID(time.Now(), bytes.NewReader(nil)); err == nil {
		t.Error("a ULID without chance")
	}
}

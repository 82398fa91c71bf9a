package journal

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/quire"
)

// A faulty disk fails when it is told to.
type faulty struct {
	disk
	room     int64 // bytes that fit in the file, -1: any number
	syncErr  error
	truncErr error
	written  int64 // bytes of all writes
	syncs    int
}

func (f *faulty) WriteAt(p []byte, at int64) (int, error) {
	fit := p
	if f.room >= 0 && at+int64(len(p)) > f.room {
		fit = p[:max(0, f.room-at)]
	}
	n, err := f.disk.WriteAt(fit, at)
	f.written += int64(n)
	if err == nil && n < len(p) {
		err = &fs.PathError{Op: "write", Path: "j", Err: noSpace()}
	}
	return n, err
}

func (f *faulty) Truncate(size int64) error {
	return errors.Join(f.truncErr, f.disk.Truncate(size))
}

func (f *faulty) Sync() error {
	f.syncs++
	return errors.Join(f.syncErr, f.disk.Sync())
}

func noSpace() error {
	if runtime.GOOS == "windows" {
		return syscall.Errno(112)
	}
	return syscall.ENOSPC
}

func openFaulty(t *testing.T, path string) (*Writer, *faulty) {
	t.Helper()
	w := open(t, path)
	f := &faulty{disk: w.disk, room: -1}
	w.disk = f
	return w, f
}

// Wherever in a record the room ends: Sync says so, what was acknowledged is
// there, and with room again nothing is missing.
func TestDiskFull(t *testing.T) {
	for room := range int64(250) {
		path := journalPath(t)
		w, f := openFaulty(t, path)
		add(t, w, "x", note{"acknowledged"})
		flush(t, w)
		f.room = w.durable + room
		add(t, w, "x", note{"waits"})
		add(t, w, "x", note{"waits too"})
		err := w.Sync()
		if fits := w.target() <= f.room; fits != (err == nil) || (!fits && !errors.Is(err, quire.ErrFull)) {
			t.Fatalf("room for %d bytes: %v", room, err)
		}
		if got := whole(t, path); len(got) != 1 && err != nil {
			t.Fatalf("room for %d bytes: %d records after the error", room, len(got))
		}
		f.room = -1
		add(t, w, "x", note{"after"})
		closed(t, w)
		if got := whole(t, path); len(got) != 4 {
			t.Fatalf("room for %d bytes: %d records with room again", room, len(got))
		}
	}
}

// A crash while the disk is full, with nothing taken back: the next Open cuts.
func TestDiskFullThenCrash(t *testing.T) {
	path := journalPath(t)
	w, f := openFaulty(t, path)
	add(t, w, "x", note{"acknowledged"})
	flush(t, w)
	f.room, f.truncErr = w.durable+20, io.ErrClosedPipe
	f.disk = noTruncate{f.disk}
	add(t, w, "x", note{"lost"})
	if err := w.Sync(); !errors.Is(err, quire.ErrFull) {
		t.Fatalf("Sync: %v", err)
	}
	before := contents(t, path)
	if err := errors.Join(w.file.Close(), release(w.lock)); err != nil { // as a crash would
		t.Fatal(err)
	}
	w.closed = true
	again := open(t, path)
	if torn := again.Torn(); torn == nil || torn.Bytes != 20 || torn.At != int64(len(before)-20) {
		t.Errorf("torn: %v", torn)
	}
	if seq := add(t, again, "x", note{}); seq != 1 {
		t.Errorf("it goes on with %d", seq)
	}
}

type noTruncate struct{ disk }

func (noTruncate) Truncate(int64) error { return nil }

// After a failed fsync the system may have forgotten what it did not write: the
// next Sync writes it again.
func TestFailedFsync(t *testing.T) {
	path := journalPath(t)
	w, f := openFaulty(t, path)
	add(t, w, "x", note{"text"})
	f.syncErr = syscall.EIO
	if err := w.Sync(); !errors.Is(err, syscall.EIO) {
		t.Fatalf("Sync: %v", err)
	}
	if got := contents(t, path); got != "" {
		t.Errorf("the file holds %q", got)
	}
	f.syncErr = nil
	before := f.written
	flush(t, w)
	if f.written-before != w.durable || len(whole(t, path)) != 1 {
		t.Errorf("%d bytes were written again, want %d", f.written-before, w.durable)
	}
}

func TestReadOnly(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Run("error", func(t *testing.T) { // modes do not stop this user
			if err := kindOf(&fs.PathError{Op: "open", Path: "j", Err: fs.ErrPermission}); !errors.Is(err, quire.ErrReadOnly) || !errors.Is(err, fs.ErrPermission) {
				t.Errorf("got %v", err)
			}
		})
		t.Skip("no file is read only for this user")
	}
	path := journalPath(t)
	w := open(t, path)
	add(t, w, "x", note{})
	closed(t, w)
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, time.Now); !errors.Is(err, quire.ErrReadOnly) {
		t.Errorf("Open: %v", err)
	}
	if got := whole(t, path); len(got) != 1 {
		t.Errorf("%d records", len(got))
	}
}

// A second process gets the pid of the first; it reads meanwhile; kill -9 leaves
// no lock behind.
func TestTwoProcesses(t *testing.T) {
	path := journalPath(t)
	c := startChild(t, path)
	acknowledged, err := strconv.Atoi(c.line())
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(path, time.Now)
	if !errors.Is(err, quire.ErrLocked) || !strings.Contains(err.Error(), "process "+strconv.Itoa(c.cmd.Process.Pid)) {
		t.Errorf("Open: %v, want the pid %d", err, c.cmd.Process.Pid)
	}
	if err := Remove(path); !errors.Is(err, quire.ErrLocked) {
		t.Errorf("Remove: %v", err)
	}
	if got := whole(t, path); len(got) <= acknowledged {
		t.Errorf("a reader sees %d records, %d is acknowledged", len(got), acknowledged)
	}
	c.kill()
	add(t, open(t, path), "x", note{})
}

// kill -9 at random points: nothing that Sync acknowledged is lost, and the
// journal goes on. A journal lives through five runs.
func TestKill(t *testing.T) {
	runs := 20
	if os.Getenv("QUIRE_LONG") != "" {
		runs = 200
	}
	seed := rand.Uint64()
	t.Logf("seed %d, %d runs (200 with QUIRE_LONG=1)", seed, runs)
	random := rand.New(rand.NewPCG(seed, 0))
	var path string
	torn, records := 0, 0
	for run := range runs {
		if run%5 == 0 {
			path = journalPath(t)
		}
		acknowledged := killOnce(t, path, random.IntN(30), random.IntN(200_000))
		w := open(t, path)
		if w.Torn() != nil {
			torn++
		}
		closed(t, w)
		got := len(whole(t, path))
		if int64(got) <= acknowledged {
			t.Fatalf("run %d: %d records, but %d was acknowledged", run, got, acknowledged)
		}
		records += got
	}
	t.Logf("%d records read, %d torn ends", records, torn)
}

// killOnce kills a writer after some acknowledgements and a moment more, and
// returns the last seq that it acknowledged.
func killOnce(t *testing.T, path string, after, spins int) int64 {
	t.Helper()
	c := startChild(t, path)
	said := []string{}
	for range after {
		said = append(said, c.line())
	}
	for range spins {
		runtime.KeepAlive(spins)
	}
	said = append(said, c.kill()...)
	if len(said) == 0 {
		return -1
	}
	seq, err := strconv.ParseInt(said[len(said)-1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return seq
}

// failures.md A18: a journal grows by what is appended and by nothing else,
// however long it is and however often it is opened.
func TestA18GrowthIsLinear(t *testing.T) {
	path := journalPath(t)
	var sizes []int64
	for range 20 {
		w, f := openFaulty(t, path)
		at := w.durable
		for range 50 {
			add(t, w, "x", note{"the same each time"})
			flush(t, w)
		}
		if f.written != w.durable-at {
			t.Fatalf("%d bytes were written for a growth of %d", f.written, w.durable-at)
		}
		sizes = append(sizes, w.durable-at)
		closed(t, w)
	}
	if sizes[19] > sizes[2]+50 { // a seq of three digits instead of two
		t.Errorf("50 records take %d bytes in the beginning and %d at the end", sizes[2], sizes[19])
	}
}

// failures.md B19: opening reads the end of a journal and not the rest, listing
// reads none; there is a lock, each Sync is one fsync, each line has a version.
func TestB19IndexLockFsyncVersion(t *testing.T) {
	home := t.TempDir()
	w, session, err := Create(home, quire.SessionRecord{}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	f := &faulty{disk: w.disk, room: -1}
	w.disk = f
	for range 20_000 {
		add(t, w, "x", note{"some text of some length"})
	}
	flush(t, w)
	flush(t, w)
	if f.syncs != 1 {
		t.Errorf("20000 records and two Syncs took %d fsyncs", f.syncs)
	}
	if _, err := Open(w.Path(), time.Now); !errors.Is(err, quire.ErrLocked) {
		t.Errorf("no lock: %v", err)
	}
	closed(t, w)
	for _, r := range whole(t, w.Path()) {
		if r.V != quire.RecordVersion {
			t.Fatalf("record %d has version %d", r.Seq, r.V)
		}
	}
	counted := &countingReader{src: strings.NewReader(contents(t, w.Path()))}
	if e, err := findEnd(counted, w.durable); err != nil || e.last.Seq != 20_000 || counted.read > 64<<10 {
		t.Errorf("the end of %d bytes took %d to find: seq %d, %v", w.durable, counted.read, e.last.Seq, err)
	}
	if found, err := Find(home, session.Number.String()); err != nil || found.Bytes != w.durable {
		t.Errorf("Find: %+v, %v", found, err)
	}
}

type countingReader struct {
	src  io.ReaderAt
	read int
}

func (c *countingReader) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.src.ReadAt(p, at)
	c.read += n
	return n, err
}

package journal

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"go.uber.org/goleak"
)

// childVar makes the test binary a process that writes the journal it names.
const childVar = "QUIRE_TEST_JOURNAL"

func TestMain(m *testing.M) {
	if path := os.Getenv(childVar); path != "" {
		if err := writeForEver(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// writeForEver appends and syncs, and says on stdout after each Sync which seq
// it acknowledged.
func writeForEver(path string) error {
	w, err := Open(path, time.Now)
	if err != nil {
		return err
	}
	fmt.Println("open")
	text := strings.Repeat("durable ", 1000)
	for i := 0; ; i++ {
		var seq int64
		for range 1 + i%3*40 { // batches large enough to be caught half written
			if seq, err = w.Append("test", note{Text: text[:i*977%len(text)]}); err != nil {
				return err
			}
		}
		if err := w.Sync(); err != nil {
			return err
		}
		if _, err := fmt.Println(seq); err != nil {
			return err
		}
	}
}

// A child is a process that writes a journal.
type child struct {
	t   *testing.T
	cmd *exec.Cmd
	out *bufio.Scanner
}

func startChild(t *testing.T, path string) *child {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVar+"="+path)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{t, cmd, bufio.NewScanner(pipe)}
	if got := c.line(); got != "open" {
		t.Fatalf("the child says %q", got)
	}
	return c
}

func (c *child) line() string {
	c.out.Scan()
	return c.out.Text()
}

// kill ends the process at once and returns the rest of what it said.
func (c *child) kill() []string {
	c.t.Helper()
	if err := c.cmd.Process.Kill(); err != nil {
		c.t.Fatal(err)
	}
	var rest []string
	for c.out.Scan() {
		rest = append(rest, c.out.Text())
	}
	if err := c.cmd.Wait(); err == nil {
		c.t.Fatal("the child ended by itself")
	}
	return rest
}

type note struct {
	Text string `json:"text"`
}

// A clock is what a test says it is.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newClock() *clock { return &clock{time.Date(2026, 3, 4, 5, 6, 7, 89, time.UTC)} }

func journalPath(t *testing.T) string { return filepath.Join(t.TempDir(), "sessions", "s1.jsonl") }

func open(t *testing.T, path string) *Writer {
	t.Helper()
	w, err := Open(path, newClock().now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	})
	return w
}

func add(t *testing.T, w *Writer, kind string, payload any) int64 {
	t.Helper()
	seq, err := w.Append(kind, payload)
	if err != nil {
		t.Fatal(err)
	}
	return seq
}

func flush(t *testing.T, w *Writer) {
	t.Helper()
	if err := w.Sync(); err != nil {
		t.Fatal(err)
	}
}

func closed(t *testing.T, w *Writer) {
	t.Helper()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// all reads a journal; damage is listed apart.
func all(t *testing.T, path string) (records []quire.Record, damage []*Damage) {
	t.Helper()
	for r, err := range Read(path) {
		var d *Damage
		switch {
		case errors.As(err, &d):
			damage = append(damage, d)
		case err != nil:
			t.Fatal(err)
		default:
			records = append(records, r)
		}
	}
	return records, damage
}

// whole reads a journal that must have no damage and no gap.
func whole(t *testing.T, path string) []quire.Record {
	t.Helper()
	records, damage := all(t, path)
	for _, d := range damage {
		t.Error(d)
	}
	for i, r := range records {
		if r.Seq != int64(i) {
			t.Fatalf("record %d has seq %d", i, r.Seq)
		}
	}
	return records
}

func contents(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

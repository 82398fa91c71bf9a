package ingest

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/store/sqlite"
	"github.com/quire-agent/quire/internal/trace"
)

var (
	kills  = flag.Int("kills", 8, "how often TestKilled kills an ingest")
	victim = flag.String("victim", "", "home in which this process ingests until it is killed")
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *victim != "" {
		if err := ingestAll(*victim); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// ingestAll imports and derives the logs beside a home, and says so after each.
func ingestAll(home string) error {
	store, err := sqlite.Open(context.Background(), home, sqlite.Options{})
	if err != nil {
		return err
	}
	counter, err := oneCounter()
	if err != nil {
		return err
	}
	p := &Pool{Home: home, Bodies: store, Table: store, Heads: store, Index: index.New(store, store), Counter: counter,
		Mask: func(s string) string { return s }, Owner: "user:test", Now: time.Now}
	m, err := p.Importer()
	if err != nil {
		return err
	}
	logs, err := filepath.Glob(filepath.Join(home, "..", "logs", "*.jsonl"))
	if err != nil {
		return err
	}
	for _, path := range logs {
		opened, err := trace.Open(path)
		if err != nil {
			return err
		}
		got, err := m.Import(context.Background(), opened[0])
		if err != nil {
			return err
		}
		fmt.Println("imported", path)
		if _, err := p.Derive(context.Background(), got.Name.Path); err != nil {
			return err
		}
		fmt.Println("derived", path)
	}
	return nil
}

// An ingest that is killed at any moment loses nothing that it said was done,
// damages nothing, and is finished by the next one.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for seconds")
	}
	dir := t.TempDir()
	writeLogs(t, filepath.Join(dir, "logs"))
	whole := runVictim(t, filepath.Join(dir, "whole"), -1)
	if len(whole) != 12 {
		t.Fatalf("an ingest that is left alone says %d things, want 12", len(whole))
	}
	chance := rand.New(rand.NewPCG(1, 2))
	var slowest time.Duration
	for i := range *kills {
		home := filepath.Join(dir, fmt.Sprint("home", i))
		said := runVictim(t, home, chance.IntN(200))
		slowest = max(slowest, survives(t, home, said))
		if t.Failed() {
			return
		}
	}
	t.Logf("after %d kills a home was open again in %v at most", *kills, slowest)
}

// writeLogs writes six sessions with some hundred parts each.
func writeLogs(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for n := range 6 {
		s := &script{}
		s.user(fmt.Sprint("session ", n))
		for i := range 60 {
			use := fmt.Sprintf("t%d-%d", n, i)
			s.call(use, "Bash", map[string]string{"command": fmt.Sprint("seq ", i)})
			s.result(use, strings.Repeat(fmt.Sprintf("output %d of %d\n", i, n), 200))
		}
		s.to(t, filepath.Join(dir, fmt.Sprint(n, ".jsonl")))
	}
}

// runVictim ingests in a process of its own, kills it after some milliseconds
// (never, where they are negative), and returns what it said.
func runVictim(t *testing.T, home string, ms int) (said []string) {
	t.Helper()
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-victim", home)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var fault strings.Builder
	cmd.Stderr = &fault
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if ms >= 0 {
		timer := time.AfterFunc(time.Duration(ms)*time.Millisecond, func() { cmd.Process.Kill() })
		defer timer.Stop()
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		said = append(said, lines.Text())
	}
	if _, err := io.Copy(io.Discard, out); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil && fault.Len() > 0 {
		t.Fatalf("the ingest failed: %v: %s", err, fault.String())
	}
	return said
}

// survives looks at a home after a kill, and finishes the work. It returns how
// long it took to open it and to know what is left to do.
func survives(t *testing.T, home string, said []string) time.Duration {
	t.Helper()
	start := time.Now()
	p := inFiles(t, home)
	if _, err := p.Behind(t.Context()); err != nil {
		t.Fatal(err)
	}
	reopened := time.Since(start)
	h, err := p.Check(t.Context())
	if err != nil {
		t.Fatalf("after %q: %v", said, err)
	}
	for _, f := range h.Faults {
		if f.What != FaultBehind && f.What != FaultTorn && !(f.What == FaultJournal && f.Line == 1) {
			t.Errorf("after %q: %+v", said, f)
		}
	}
	logs, err := filepath.Glob(filepath.Join(home, "..", "logs", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, log := range logs {
		got := imported(t, p, log)
		if strings.Contains(strings.Join(said, "\n"), "imported "+log) && got.Changed() {
			t.Errorf("%s was said to be imported, and lacked %d records", log, got.Records)
		}
	}
	behind, err := p.Behind(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.DeriveAll(t.Context(), behind, nil); err != nil {
		t.Fatal(err)
	}
	h, err = p.Check(t.Context())
	if err != nil || h.Rows != 6*61 {
		t.Errorf("after %q: %d rows, %v", said, h.Rows, err)
	}
	return reopened
}

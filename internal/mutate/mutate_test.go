package mutate

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// program is a decision of each kind, with what it says of its inputs.
const program = `package main

import "fmt"

func f(a, b int, c, d bool) (out string) {
	if a < b && (c || d) {
		out += "x"
	}
	if a == 3 || a >= b {
		return out + "y"
	}
	for i := range 3 {
		if i > b {
			break
		}
		out += "z"
	}
	return out
}

func main() {
	for a := range 5 {
		for b := range 5 {
			fmt.Println(f(a, b, a > 1, b != 2))
		}
	}
}
`

func TestMutantsOfEachKindAreFound(t *testing.T) {
	s, err := Read("f.go", program, 1)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range s.Mutants {
		got = append(got, m.String())
	}
	want := []string{
		"f.go:6: f: a < b && (c || d) → a < b || (c || d)",
		"f.go:6: f: a < b → a <= b",
		"f.go:6: f: c || d → c && d",
		"f.go:9: f: a == 3 || a >= b → false",
		"f.go:9: f: a == 3 || a >= b → a == 3 && a >= b",
		"f.go:9: f: a == 3 → a != 3",
		"f.go:9: f: a >= b → a > b",
		"f.go:13: f: i > b → false",
		"f.go:13: f: i > b → i >= b",
		"f.go:24: main: a > 1 → a >= 1",
		"f.go:24: main: b != 2 → b == 2",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// What is instrumented still parses, and without a mutant that is on it is the
// program that it was: the operators keep their operands.
func FuzzInstrument(f *testing.F) {
	f.Add(program)
	f.Add("package p\nfunc f(a, b, c bool) bool { return a && b || c && !(a == b) }\n")
	f.Add("package p\nfunc f(a []int) { for len(a) <= 3 { if a == nil { continue } } }\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Read("p.go", text, 1)
		if err != nil {
			return
		}
		out := s.Instrument()
		again, err := Read("p.go", out, 1)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if len(again.Mutants) < len(s.Mutants) {
			t.Fatalf("%d decisions became %d:\n%s", len(s.Mutants), len(again.Mutants), out)
		}
	})
}

func TestAFileThatIsNoGoIsRefused(t *testing.T) {
	if _, err := Read("p.go", "package", 1); err == nil {
		t.Fatal("no error")
	}
}

// subject is the package whose decisions are mutated.
const subject = "../schedule"

// equivalents are the mutants that do the same as the original, by what changes;
// each line of the list ends in the reason.
func equivalents(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "schedule.txt"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		mutant, reason, ok := strings.Cut(line, " ;; ")
		if !ok || reason == "" {
			t.Fatalf("no reason is given: %s", line)
		}
		out[mutant] = reason
	}
	return out
}

func (m Mutant) key() string { return m.File + ": " + m.Function + ": " + m.Change() }

// A mutant that is excused must exist.
func TestExcusesAreNeeded(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(subject, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Read(filepath.Base(name), string(text), 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range s.Mutants {
			known[m.key()] = true
		}
	}
	for key := range equivalents(t) {
		if !known[key] {
			t.Errorf("there is no such mutant any more: %s", key)
		}
	}
}

// No decision of the scheduler can change without a test that notices. It takes
// minutes, so it runs by `make mutate`.
func TestMutantsOfTheSchedulerAreKilled(t *testing.T) {
	if os.Getenv("QUIRE_MUTATE") == "" {
		t.Skip("set QUIRE_MUTATE=1, as make mutate does")
	}
	b, err := Make(subject, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-rapid.checks=25", "-test.failfast", "-test.timeout=30s", "-rapid.shrinktime=0s", "-rapid.nofailfile"}
	if !b.Survives(0, args...) {
		t.Fatal("the tests fail without a mutant")
	}
	excused, survived := equivalents(t), survivors(b, args)
	for n, m := range b.Mutants {
		if survived[n] && excused[m.key()] == "" {
			t.Errorf("survives: %s", m)
		}
	}
	t.Logf("%d mutants, %d of them excused", len(b.Mutants)-1, len(excused))
}

// survivors runs all mutants, two at a time.
func survivors(b *Build, args []string) []bool {
	out := make([]bool, len(b.Mutants))
	next := make(chan int)
	var wait sync.WaitGroup
	for range 2 {
		wait.Go(func() {
			for n := range next {
				out[n] = b.Survives(n, args...)
			}
		})
	}
	for n := range out[1:] {
		next <- n + 1
	}
	close(next)
	wait.Wait()
	return out
}

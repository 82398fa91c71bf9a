package trace

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

var update = flag.Bool("update", false, "rewrite the .golden files")

// collect reads a log from memory. A fault of the reader fails the test.
func collect(t testing.TB, f importer, log string) []quire.Event {
	t.Helper()
	var events []quire.Event
	err := f.read(strings.NewReader(log), func(e quire.Event) bool {
		events = append(events, e)
		return true
	})
	if err != nil {
		t.Fatalf("reading: %v", err)
	}
	return events
}

// golden compares the events of each log that the pattern names with the
// .golden file beside it.
func golden(t *testing.T, f importer, pattern string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases in testdata/%s: %v", pattern, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			log, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !f.match(log) {
				t.Error("the format is not recognised")
			}
			events := collect(t, f, string(log))
			checkContract(t, events)
			compare(t, file+".golden", dump(events))
		})
	}
}

func compare(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != strings.ReplaceAll(string(want), "\r\n", "\n") {
		t.Errorf("%s differs; got:\n%s", file, got)
	}
}

// checkContract checks what holds for the events of any log.
func checkContract(t testing.TB, events []quire.Event) {
	t.Helper()
	if len(events) == 0 {
		t.Fatal("no events")
	}
	if _, ok := events[0].(quire.Opened); !ok {
		t.Errorf("the first event is %T", events[0])
	}
	called, nodes := make(map[string]bool), make(map[string]int)
	number := func(chain string, node int) {
		if node != nodes[chain] {
			t.Errorf("chain %q: node %d comes where %d should", chain, node, nodes[chain])
		}
		nodes[chain]++
	}
	for _, e := range events {
		switch e := e.(type) {
		case quire.Called:
			if called[e.Call] {
				t.Errorf("call %q is opened twice", e.Call)
			}
			called[e.Call] = true
		case quire.Entered:
			number(e.Chain, e.Node)
		case quire.Answered:
			number(e.Chain, e.Node)
			if !called[e.Call] {
				t.Errorf("call %q answers before it is opened", e.Call)
			}
		case quire.Metered:
			if !called[e.Call] {
				t.Errorf("call %q is metered before it is opened", e.Call)
			}
			if e.Usage.Known == 0 {
				t.Errorf("call %q is metered without a known count", e.Call)
			}
		case quire.Rewound:
			if e.Keep < -1 || e.Keep >= nodes[e.Chain] {
				t.Errorf("rewound to node %d of %d", e.Keep, nodes[e.Chain])
			}
		}
	}
}

// dump writes events as text, one a line.
func dump(events []quire.Event) string {
	var b strings.Builder
	for _, e := range events {
		line, text := describe(e)
		fmt.Fprintf(&b, "%3d %s\n", line, text)
	}
	return b.String()
}

func describe(e quire.Event) (line int, text string) {
	switch e := e.(type) {
	case quire.Opened:
		i := e.Info
		return e.Line, fmt.Sprintf("opened %s %q project=%q version=%q branch=%q model=%q window=%d parent=%q started=%s",
			i.Agent, i.ID, i.Project, i.Version, i.Branch, i.Model, i.Window, i.Parent, i.Started.UTC().Format("2006-01-02T15:04:05.999Z"))
	case quire.Entered:
		return e.Line, fmt.Sprintf("%s%d %s", mark(e.Chain), e.Node, part(e.Part))
	case quire.Called:
		return e.Line, fmt.Sprintf("%scall %s %s at %s", mark(e.Chain), e.Call, e.Model, e.At.UTC().Format("15:04:05.999"))
	case quire.Answered:
		return e.Line, fmt.Sprintf("%s%d %s <- %s", mark(e.Chain), e.Node, part(e.Part), e.Call)
	case quire.Metered:
		u := e.Usage
		return e.Line, fmt.Sprintf("%susage %s in=%d read=%d write=%d (1h %d) out=%d (reasoning %d) known=%04b",
			mark(e.Chain), e.Call, u.Input, u.CacheRead, u.CacheWrite, u.CacheWrite1h, u.Output, u.Reasoning, u.Known)
	case quire.Compacted:
		return e.Line, fmt.Sprintf("%scompacted %q from %d tokens", mark(e.Chain), e.Trigger, e.PreTokens)
	case quire.Rewound:
		return e.Line, fmt.Sprintf("%srewound to %d", mark(e.Chain), e.Keep)
	case quire.Skipped:
		return e.Line, "skipped: " + e.Reason
	case quire.Noted:
		return e.Line, mark(e.Chain) + "note: " + string(e.Note)
	}
	panic(fmt.Sprintf("unknown event %T", e))
}

func mark(chain string) string {
	if chain == "" {
		return ""
	}
	return "[" + chain + "] "
}

func part(p quire.Part) string {
	var b strings.Builder
	b.WriteString(p.Kind.String())
	b.WriteString([...]string{"", " (summary)", " (put back)"}[p.Origin])
	for _, s := range []string{p.Tool, p.ToolUse} {
		if s != "" {
			b.WriteString(" " + s)
		}
	}
	if p.IsError {
		b.WriteString(" failed")
	}
	if m := p.Media; m != nil {
		fmt.Fprintf(&b, " <%s %d bytes %dx%d %.8s>", m.Type, m.Bytes, m.Width, m.Height, m.Hash)
	}
	fmt.Fprintf(&b, " %q", p.Text)
	return b.String()
}

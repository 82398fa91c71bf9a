package trace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

func TestClaude(t *testing.T) { golden(t, claudeImporter(), "claude-*.jsonl") }

// seeds adds the hand-written logs to a fuzz test.
func seeds(f *testing.F, pattern string) {
	f.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, file := range files {
		log, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(log))
	}
}

func FuzzClaude(f *testing.F) {
	seeds(f, "claude-*.jsonl")
	f.Add(`{"type":"user","uuid":"u","parentUuid":"u","isSidechain":true,"message":{"role":"assistant","content":[[]]}}`)
	f.Add(`{"type":"assistant","message":{"content":[{"type":"image","source":{"data":"\/\/\/"}}]}}` + "\n\xff{")
	f.Fuzz(func(t *testing.T, log string) {
		claudeImporter().match([]byte(log))
		checkContract(t, collect(t, claudeImporter(), log))
	})
}

// A reader that stops gets no event more, wherever it stops.
func TestReadersMayStop(t *testing.T) {
	for file, f := range map[string]importer{
		"claude-basic.jsonl":  claudeImporter(),
		"claude-side.jsonl":   claudeImporter(),
		"codex-basic.jsonl":   codexImporter(),
		"codex-compact.jsonl": codexImporter(),
	} {
		log, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		for limit := range len(collect(t, f, string(log))) {
			n := 0
			err := f.read(strings.NewReader(string(log)), func(quire.Event) bool {
				n++
				return n <= limit
			})
			if err != nil || n != limit+1 {
				t.Errorf("%s: stopped after %d events, got %d, %v", file, limit+1, n, err)
			}
		}
	}
}

func TestLogsWithoutRecords(t *testing.T) {
	for name, f := range map[string]importer{"claude": claudeImporter(), "codex": codexImporter()} {
		for log, want := range map[string]int{"": 1, "\n\n": 1, "{broken\n": 2, "7": 2} {
			events := collect(t, f, log)
			checkContract(t, events)
			if len(events) != want {
				t.Errorf("%s: %q gives %d events, want %d:\n%s", name, log, len(events), want, dump(events))
			}
		}
	}
}

func TestClaudeTellsTypedFromMade(t *testing.T) {
	for text, made := range map[string]bool{
		"fix the sum":                                                      false,
		"<div>why does this not close":                                     false,
		"<T> is not inferred":                                              false,
		"a <system-reminder> in the middle":                                false,
		"<system-reminder>\nx\n</system-reminder>":                         true,
		"  <command-name>/clear</command-name>":                            true,
		"<local-command-stdout></local-command-stdout>":                    true,
		"[Request interrupted by user for tool use]":                       true,
		"[Request for comments] on the sum":                                false,
		"<some-hook>\nall of it is one element\n</some-hook>":              true,
		"<some-element>\nand words behind it\n</some-element> what is it?": false,
		"<b>bold</b>": false,
	} {
		if got := claudeMachineText(text); got != made {
			t.Errorf("%q made by a machine: %v", text, got)
		}
	}
}

func TestClaudeNotesBytesThatAreNotUTF8(t *testing.T) {
	const log = `{"type":"user","isSidechain":false,"sessionId":"s","uuid":"u","message":{"role":"user","content":"caf` + "\xe9" + `"}}`
	text := dump(collect(t, claudeImporter(), log))
	if !strings.Contains(text, "note: not UTF-8") || !strings.Contains(text, `"caf\xe9"`) {
		t.Errorf("got:\n%s", text)
	}
}

func TestClaudeReportsLongLines(t *testing.T) {
	long := `{"type":"user","message":{"role":"user","content":"` + strings.Repeat("x", maxLine) + `"}}`
	events := collect(t, claudeImporter(), "\n"+long+"\n"+`{"type":"user","uuid":"u","message":{"role":"user","content":"after"}}`)
	text := dump(events)
	if !strings.Contains(text, "  2 skipped: "+errLongLine.Error()) || !strings.Contains(text, `user "after"`) {
		t.Errorf("got:\n%.500s", text)
	}
}

func TestRecent(t *testing.T) {
	r := newRecent[int](2)
	for i, key := range []string{"a", "b", "c"} {
		r.put([]byte(key), i)
	}
	if v, ok := r.get([]byte("a")); !ok || v != 0 {
		t.Errorf("a is %d, %v", v, ok)
	}
	r.put([]byte("d"), 3)
	r.put([]byte("e"), 4)
	if _, ok := r.get([]byte("a")); ok {
		t.Error("a key outlives twice the limit")
	}
	if v, ok := r.get([]byte("c")); !ok || v != 2 {
		t.Errorf("c is %d, %v", v, ok)
	}
	if len(r.young)+len(r.old) > 4 {
		t.Errorf("%d keys are kept", len(r.young)+len(r.old))
	}
}

package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/ingest"
	"github.com/quire-agent/quire/internal/quire"
	"pgregory.net/rapid"
)

// failures.md A48: what is cut is cut between characters and fits.
func TestClip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		n := rapid.IntRange(1, 40).Draw(t, "n")
		got := clip(text, n)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > n || strings.ContainsAny(got, "\n\x1b") {
			t.Fatalf("clip(%q, %d) = %q", text, n, got)
		}
	})
	if got := clip("一二三四五", 4); got != "一二三…" {
		t.Errorf("got %q", got)
	}
}

func TestHarmless(t *testing.T) {
	if got := harmless("a\x1b]0;x\x07\tb\nç"); got != "a\ufffd]0;x\ufffd\tb\nç" {
		t.Errorf("got %q", got)
	}
}

// failures.md A48: lines are cut at line ends: any split of a text into ranges of
// lines gives the text again.
func TestLinesOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "bc", "日本"}), 0, 8).Draw(t, "lines"), "\n")
		total := countLines(text)
		var all strings.Builder
		for from := 1; from <= total; {
			to := rapid.IntRange(from, total).Draw(t, "to")
			part, err := linesOf(text, quire.Range{First: from, Last: to}, total)
			if err != nil {
				t.Fatal(err)
			}
			all.WriteString(part)
			from = to + 1
		}
		if all.String() != text {
			t.Fatalf("got %q, want %q", all.String(), text)
		}
	})
}

func TestParseLines(t *testing.T) {
	for text, want := range map[string]quire.Range{"10-40": {First: 10, Last: 40}, "7": {First: 7, Last: 7}, "L2-L3": {First: 2, Last: 3}} {
		if got, err := parseLines(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "4-2", "a-b", "1-2-3", "-3"} {
		if got, err := parseLines(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestRanges(t *testing.T) {
	list := []quire.Range{{First: 1, Last: 1}, {First: 3, Last: 5}, {First: 7, Last: 8}, {First: 10, Last: 10}}
	for n, want := range []string{"-", "1", "1,3-5", "1,3-5,7-8", "1,3-5,7-8,…"} {
		if got := ranges(list[:n]); got != want {
			t.Errorf("%d ranges: %q, want %q", n, got, want)
		}
	}
}

func TestCure(t *testing.T) {
	for what, rebuilds := range map[string]bool{ingest.FaultRow: true, ingest.FaultIndex: true, ingest.FaultFile: true, ingest.FaultBehind: true,
		ingest.FaultBody: false, ingest.FaultJournal: false, ingest.FaultMissing: false} {
		if got := strings.Contains(cure([]ingest.Fault{{What: what}}), "--rebuild"); got != rebuilds {
			t.Errorf("%s: %v", what, got)
		}
	}
}

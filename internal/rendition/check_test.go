package rendition

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/secret"
	"github.com/quire-agent/quire/internal/token"
)

func maker() *Maker { return NewMaker(secret.NewFinder(), counter(), Recall) }

// counter is one for all tests: making it takes time.
var counter = sync.OnceValue(func() *token.Counter {
	c, err := token.NewCounter()
	if err != nil {
		panic(err)
	}
	return c
})

func page(class quire.Class, text string) Source {
	return Source{Text: text, Page: quire.Page{Number: 412, Kind: quire.PageTool, Class: class, Bytes: len(text), Tokens: len(text) / 4}}
}

// checkCut holds what package rendition promises of every shortened text.
func checkCut(t testing.TB, s Source, c Cut, limit int) {
	t.Helper()
	switch {
	case len(c.Text) > limit:
		t.Errorf("%d bytes, at most %d wanted", len(c.Text), limit)
	case len(c.Text) >= len(s.Text):
		t.Errorf("%d bytes made of %d", len(c.Text), len(s.Text))
	case !utf8.ValidString(c.Text):
		t.Errorf("not UTF-8: %q", c.Text)
	case !strings.HasPrefix(c.Text, "[shortened: "):
		t.Errorf("does not begin by saying that it is shortened: %.80q", c.Text)
	}
	head, _, _ := strings.Cut(c.Text, "\n")
	if !strings.Contains(head, "recall "+s.Page.Number.String()) {
		t.Errorf("does not say how to read the rest: %q", head)
	}
	checkRanges(t, c.Lines, strings.Count(s.Text, "\n")+1)
}

func checkRanges(t testing.TB, ranges []quire.Range, lines int) {
	t.Helper()
	before := -1
	for _, r := range ranges {
		if r.First <= before+1 && before >= 0 || r.Last < r.First || r.First < 1 || r.Last > lines {
			t.Errorf("ranges %v of %d lines", ranges, lines)
		}
		before = r.Last
	}
}

var (
	gapMark    = regexp.MustCompile(`^… L(\d+)(?:-L(\d+))?\r?\n?$`)
	innerMark  = regexp.MustCompile(`…\[\d+ bytes? of L(\d+)(?:-L(\d+))?\]…?`)
	repeatMark = regexp.MustCompile(`^… repeated (\d+) times\r?\n?$`)
	redrawMark = regexp.MustCompile(`^… (\d+) lines? of progress\r?\n?$`)
)

// checkLines reads a cut as a model would, by its marks alone, and holds that each
// line that is shown is the line of its number. It is for texts that hold no such
// mark themselves.
func checkLines(t testing.TB, s Source, c Cut) {
	t.Helper()
	source := slices.Collect(strings.Lines(valid(s.Text)))
	at := 1
	var whole []int
	for i, line := range slices.Collect(strings.Lines(c.Text)) {
		if i == 0 {
			continue
		}
		if n, ok := markedLines(line); ok {
			at += n
			continue
		}
		if m := gapMark.FindStringSubmatch(line); m != nil {
			first, last := atoi(m[1]), atoi(m[1])
			if m[2] != "" {
				last = atoi(m[2])
			}
			if first != at {
				t.Fatalf("the mark %q stands where line %d is next", line, at)
			}
			at = last + 1
			continue
		}
		if m := innerMark.FindStringSubmatch(line); m != nil {
			at = checkInner(t, source, line, at)
			continue
		}
		if at > len(source) || strings.TrimRight(line, "\r\n") != strings.TrimRight(clean(source[at-1]), "\r\n") {
			t.Fatalf("line %d is shown as %q", at, line)
		}
		whole = append(whole, at)
		at++
	}
	if at != len(source)+1 {
		t.Errorf("the marks end at line %d of %d", at-1, len(source))
	}
	for _, n := range whole {
		if !covered(c.Lines, n) {
			t.Errorf("line %d is shown and not in Lines %v", n, c.Lines)
		}
	}
}

// checkInner checks a line with marks inside: what stands before the first is of
// the line at hand, what stands behind the last is of the last line that it names.
func checkInner(t testing.TB, source []string, line string, at int) int {
	t.Helper()
	parts := innerMark.Split(line, -1)
	marks := innerMark.FindAllStringSubmatch(line, -1)
	if !strings.HasPrefix(clean(source[at-1]), parts[0]) {
		t.Fatalf("line %d is shown as %q", at, parts[0])
	}
	for i, m := range marks {
		last := atoi(m[1])
		if m[2] != "" {
			last = atoi(m[2])
		}
		if rest := strings.TrimRight(parts[i+1], "\r\n"); !strings.Contains(clean(source[last-1]), rest) {
			t.Fatalf("line %d is shown as %q", last, rest)
		}
		at = last
	}
	return at + 1
}

func covered(ranges []quire.Range, line int) bool {
	return slices.ContainsFunc(ranges, func(r quire.Range) bool { return r.First <= line && line <= r.Last })
}

func markedLines(line string) (int, bool) {
	if m := repeatMark.FindStringSubmatch(line); m != nil {
		return atoi(m[1]) - 1, true
	}
	if m := redrawMark.FindStringSubmatch(line); m != nil {
		return atoi(m[1]), true
	}
	return 0, false
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// marked reports whether a text holds what could be taken for a mark.
func marked(text string) bool {
	return strings.ContainsAny(text, "…\x1b\b") || noisy(text)
}

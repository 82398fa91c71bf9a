package rendition

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/quire"
)

// text draws texts of many short lines, with failures, CJK and long lines in them.
func text() *rapid.Generator[string] {
	line := rapid.OneOf(rapid.StringMatching(`[a-z(){}:= ]{0,40}`), rapid.StringMatching(`[\t ]{0,6}[a-z]{1,8}\(\)`), rapid.Just("error: no"),
		rapid.StringMatching(`[一二三四五。；]{1,300}`), rapid.StringMatching(`"[a-z]{2,9}":[0-9]{1,4},`), rapid.Just("same"), rapid.Just("@@ -1 +1 @@"))
	return rapid.Custom(func(t *rapid.T) string {
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
		out := strings.Join(rapid.SliceOfN(line, 0, 120).Draw(t, "lines"), end)
		return out + rapid.SampledFrom([]string{"", end}).Draw(t, "last")
	})
}

// What is promised of shortened texts holds for all classes, wants and budgets, and
// the same arguments give the same text.
func TestPromises(t *testing.T) {
	m := maker()
	rapid.Check(t, func(t *rapid.T) {
		s := page(quire.Class(rapid.IntRange(0, 11).Draw(t, "class")), text().Draw(t, "text"))
		s.Page.Action = rapid.SampledFrom([]quire.Action{"", quire.ActionRun, quire.ActionRead}).Draw(t, "action")
		first := rapid.IntRange(1, 130).Draw(t, "first")
		w := Want{Query: rapid.StringMatching(`[a-z ]{0,30}`).Draw(t, "query"), Around: rapid.IntRange(0, 5).Draw(t, "around"),
			Lines: []quire.Range{{First: first, Last: first + rapid.IntRange(0, 9).Draw(t, "length")}}}
		budget := rapid.IntRange(0, 4000).Draw(t, "budget")
		c, ok := m.Excerpt(s, w, budget)
		if again, _ := m.Excerpt(s, w, budget); again.Text != c.Text {
			t.Fatalf("%q, then %q", c.Text, again.Text)
		}
		if ok {
			checkRapid(t, s, c, budget)
		}
		if c, ok := m.Ranges(s, w.Lines); ok {
			checkRapid(t, s, c, len(s.Text))
		}
	})
}

func checkRapid(t *rapid.T, s Source, c Cut, limit int) {
	if len(c.Text) > limit || len(c.Text) >= len(s.Text) {
		t.Fatalf("%d bytes of %d, at most %d", len(c.Text), len(s.Text), limit)
	}
	source := slices.Collect(strings.Lines(s.Text))
	for _, r := range c.Lines {
		if !strings.Contains(c.Text, strings.Join(source[r.First-1:r.Last], "")) && !noisyEnds(source, r) {
			t.Fatalf("lines %v are said to be shown and are not:\n%s", r, c.Text)
		}
	}
}

// noisyEnds allows for lines that are shown cleaned.
func noisyEnds(source []string, r quire.Range) bool {
	return noisy(strings.Join(source[r.First-1:r.Last], ""))
}

// Where there is room for them, the lines that were referred to are in the excerpt
// whatever its class makes of the rest.
func TestReferencedComeFirst(t *testing.T) {
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, "error: number %d of many\n", i+1)
	}
	for class := range quire.Class(11) {
		s := page(class, b.String())
		c, ok := maker().Excerpt(s, Want{Lines: []quire.Range{{First: 200, Last: 210}}, Around: 2, Query: "number 7"}, 1500)
		if !ok || !covered(c.Lines, 198) || !covered(c.Lines, 205) || !covered(c.Lines, 212) {
			t.Errorf("%v: %v %v", class, ok, c.Lines)
		}
	}
}

func TestRanges(t *testing.T) {
	var lines []string
	for i := range 60 {
		lines = append(lines, fmt.Sprintf("this is line number %d\n", i+1))
	}
	s := page(quire.ClassSource, strings.Join(lines, ""))
	c, ok := maker().Ranges(s, []quire.Range{{First: 20, Last: 22}, {First: 24, Last: 24}, {First: 58}})
	want := "[shortened: 52 of 60 lines missing; recall p412]\n… L1-L19\n" +
		strings.Join(lines[19:24], "") + "… L25-L57\n" + strings.Join(lines[57:], "")
	if !ok || c.Text != want || !slices.Equal(c.Lines, []quire.Range{{First: 20, Last: 24}, {First: 58, Last: 60}}) {
		t.Errorf("got %v\n%s", c.Lines, c.Text)
	}
	for name, keep := range map[string][]quire.Range{"nothing": nil, "all": {{First: 1}}, "behind the end": {{First: 70, Last: 80}}} {
		if c, ok := maker().Ranges(s, keep); ok {
			t.Errorf("%s: %s", name, c.Text)
		}
	}
}

func TestHeadTail(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	c, ok := maker().HeadTail(page(quire.ClassLog, b.String()), 400)
	if !ok || len(c.Lines) != 2 || c.Lines[0].First != 1 || c.Lines[1].Last != 100 {
		t.Fatalf("%v\n%s", c.Lines, c.Text)
	}
	head, tail := c.Lines[0].Last, 101-c.Lines[1].First
	if head < tail-3 || tail < head-3 || len(c.Text) < 350 {
		t.Errorf("%d lines of the beginning, %d of the end, %d bytes", head, tail, len(c.Text))
	}
}

// failures.md A39: the notice stands before everything that is shown, and the marks
// together account for every line.
func TestNoticeComesFirst(t *testing.T) {
	s := page(quire.ClassProse, strings.Repeat("a line that is not worth much\n", 30)+strings.Repeat("another line\n", 400))
	for name, make := range cutters(maker(), s) {
		c, ok := make()
		if !ok {
			t.Errorf("%s makes nothing", name)
			continue
		}
		checkCut(t, s, c, len(s.Text))
		checkLines(t, s, c)
	}
}

// failures.md A48: a text of three-byte characters without any boundary is cut
// between characters at every budget.
func TestCutsBetweenCharacters(t *testing.T) {
	s := page(quire.ClassProse, strings.Repeat("界", 2000))
	made := 0
	for budget := 100; budget < 1200; budget++ {
		if c, ok := maker().Excerpt(s, Want{}, budget); ok {
			made++
			checkCut(t, s, c, budget)
			if strings.ContainsRune(c.Text, '�') || strings.Contains(c.Text, "?") {
				t.Fatalf("budget %d: %q", budget, c.Text)
			}
		}
	}
	if made < 700 {
		t.Errorf("%d excerpts", made)
	}
}

func TestFitsOrHasNoNoise(t *testing.T) {
	s := page(quire.ClassLog, "short\ntext\n")
	if c, ok := maker().Excerpt(s, Want{}, 4000); ok {
		t.Errorf("a text that fits is shortened: %q", c.Text)
	}
	if c, ok := maker().Normalise(s); ok {
		t.Errorf("a text without noise is normalised: %q", c.Text)
	}
	image := page(quire.ClassImage, strings.Repeat("bytes\n", 1000))
	if c, ok := maker().Excerpt(image, Want{}, 500); ok {
		t.Errorf("an excerpt of an image: %q", c.Text)
	}
}

func TestNormaliseKeepsWhatIsNew(t *testing.T) {
	s := page(quire.ClassLog, "begin\n"+strings.Repeat("tick\n", 40)+"\x1b[32mok\x1b[0m\r\n"+"cpu 90%\ncpu 20%\ncpu 70%\ncpu 10%\ncpu 50%\n"+"end\n")
	c, ok := maker().Normalise(s)
	want := "[shortened: repeated lines, redraws and escape codes missing; recall p412]\n" +
		"begin\ntick\n… repeated 40 times\nok\r\ncpu 90%\ncpu 20%\ncpu 70%\ncpu 10%\ncpu 50%\nend\n"
	if !ok || c.Text != want {
		t.Errorf("got %v\n%s", ok, c.Text)
	}
	if !slices.Equal(c.Lines, []quire.Range{{First: 1, Last: 2}, {First: 42, Last: 48}}) {
		t.Errorf("lines %v", c.Lines)
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain\n": "plain\n", "a\r\n": "a\r\n", "\x1b[1;31mred\x1b[0m": "red", "one\rtwo\rthree\n": "three\n", "done\r   \n": "done\n",
		"ab\bc\n": "ac\n", "\x1b]0;title\atext": "text", "\x1b]never closed": "never closed", "\x1b": "", "界\b面": "面", "\x1b[31": "", "\x1b(Bx": "x", "a\x00b": "ab",
	} {
		if got := clean(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func TestAlarms(t *testing.T) {
	for line, want := range map[string]alarm{
		"--- FAIL: TestA (0.00s)": certain, "    a_test.go:3: no": quiet, "0 errors, 0 failed": quiet, "3 failed, 2 passed": certain, "no errors found": quiet,
		"internal/errors.go": quiet, "opening failure_test.go": quiet, "error handling is done in errors.go": likely, "rm: cannot remove 'x'": likely,
		"TypeError: x is undefined": certain, "warning: unused": perhaps, "PASS": quiet, "ok  \tpkg\t0.1s": quiet, "12 tests failed: 0": quiet,
		"exit status 0": quiet, "exit status 2": certain, "构建失败": likely, "test a ... FAILED": certain, "Tests run: 3, Failures: 1": certain, "Tests run: 3, Failures: 0": quiet,
		"    12→error: numbered": certain, "": quiet,
	} {
		if got := alarmOf(line); got != want {
			t.Errorf("%q is %d, want %d", line, got, want)
		}
	}
}

func TestSpans(t *testing.T) {
	var b strings.Builder
	b.WriteString("package a\n\n")
	for i := range 6 {
		fmt.Fprintf(&b, "// F%d does.\nfunc F%d() {\n%s}\n\n", i, i, strings.Repeat("\tg()\n", 14))
	}
	s := page(quire.ClassSource, b.String())
	s.Page.Target = "a.go"
	for _, r := range Spans(s)[1:] {
		if line := strings.Split(s.Text, "\n")[r.First-1]; !strings.HasPrefix(line, "// F") {
			t.Errorf("a span begins at line %d with %q", r.First, line)
		}
	}
	flat := Spans(page(quire.ClassLog, strings.Repeat("x\n", 100)))
	if want := []quire.Range{{First: 1, Last: 40}, {First: 41, Last: 80}, {First: 81, Last: 100}}; !slices.Equal(flat, want) {
		t.Errorf("without boundaries: %v", flat)
	}
	hits := Spans(page(quire.ClassSearch, strings.Repeat("a.go:1:x\n", 15)+strings.Repeat("b.go:1:x\n", 30)))
	if want := []quire.Range{{First: 1, Last: 15}, {First: 16, Last: 45}}; !slices.Equal(hits, want) {
		t.Errorf("hits of two files: %v", hits)
	}
	if none := Spans(page(quire.ClassProse, "")); none != nil {
		t.Errorf("spans of nothing: %v", none)
	}
}

func TestBytes(t *testing.T) {
	for _, c := range []struct{ bytes, tokens, ask, want int }{{3000, 1000, 200, 600}, {0, 0, 200, 800}, {1000, 1000, 7, 7}} {
		if got := Bytes(quire.Page{Bytes: c.bytes, Tokens: c.tokens}, c.ask); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

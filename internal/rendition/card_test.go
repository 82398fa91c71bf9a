package rendition

import (
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

func classed(class quire.Class, s Source) Source {
	s.Page.Class = class
	return s
}

func TestCard(t *testing.T) {
	failed := tool(quire.ActionEdit, "a.go", "the text to replace was not found: error")
	failed.Outcome = quire.OutcomeError
	reverted := tool(quire.ActionEdit, "a.go", "done")
	reverted.Outcome = quire.OutcomeReverted
	written := tool("", "", "a\nb\n")
	written.Page.Kind, written.Page.Target = quire.PageWritten, "notes.md"
	for name, c := range map[string]struct {
		s    Source
		want string
	}{
		"go test": {classed(quire.ClassTest, tool(quire.ActionRun, "go test ./...", "--- FAIL: TestOpen (0.00s)\n    --- FAIL: TestOpen/empty (0.00s)\n--- FAIL: TestClose (0.01s)\nFAIL\nexit status 1\n")),
			`p412 ran "go test ./...": exit 1; 2 failed: TestOpen/empty, TestClose`},
		"pytest": {classed(quire.ClassTest, tool(quire.ActionRun, "pytest", "FAILED tests/test_a.py::test_b - assert 1 == 2\n1 failed\n")),
			`p412 ran "pytest": 1 failed: tests/test_a.py::test_b`},
		"passed": {classed(quire.ClassTest, tool(quire.ActionRun, "go test .", "ok  \texample.org/a\t0.01s\n")),
			`p412 ran "go test .": ok example.org/a 0.01s`},
		"build": {classed(quire.ClassLog, tool(quire.ActionRun, "make", "compiling\nsrc/a.c:3:1: error: expected ';'\nExit code: 2\n")),
			`p412 ran "make": exit 2; src/a.c:3:1: error: expected ';'`},
		"framed":     {tool(quire.ActionRun, "ls", "Exit code: 0\nOutput:\n<output>\na.txt\n</output>\n"), `p412 ran "ls": exit 0; a.txt`},
		"only frame": {tool(quire.ActionRun, "true", "<returncode>0</returncode>\n<output>\n</output>"), `p412 ran "true": exit 0; no output`},
		"no output":  {tool(quire.ActionRun, "true", ""), `p412 ran "true": no output`},
		"read":       {tool(quire.ActionRead, "a.go", "x\ny\n"), "p412 read a.go: 2 lines, 1240 tokens"},
		"search":     {classed(quire.ClassSearch, tool(quire.ActionSearch, "x in src", "src/a.go:1:x\nsrc/a.go:9:x\nsrc/b.go:2:x\n")), "p412 search for x in src: 3 lines in 2 files"},
		"list":       {classed(quire.ClassListing, tool(quire.ActionList, "src", "a.go\nb.go\n")), "p412 list of src: 2 entries"},
		"diff": {classed(quire.ClassDiff, tool(quire.ActionRun, "git diff", "--- a/x.go\n+++ b/x.go\n@@ -1 +1,2 @@\n-a\n+b\n+c\n")),
			`p412 ran "git diff": +2 −1 in x.go`},
		"python trace": {classed(quire.ClassTrace, tool(quire.ActionRun, "python a.py", "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    g()\nValueError: no rows\n")),
			`p412 ran "python a.py": ValueError: no rows`},
		"go panic": {classed(quire.ClassTrace, tool(quire.ActionRun, "./a", "starting\npanic: no rows\n\ngoroutine 1 [running]:\nmain.main()\n")),
			`p412 ran "./a": panic: no rows`},
		"failed edit":   {failed, "p412 edit of a.go: error; the text to replace was not found: error"},
		"reverted edit": {reverted, "p412 edit of a.go: reverted"},
		"edit":          {tool(quire.ActionEdit, "a.go", "done"), "p412 edit of a.go"},
		"written":       {written, "p412 wrote notes.md: 2 lines, 1240 tokens"},
		"user":          {Source{Text: "\n Fix it.\nNow.", Page: quire.Page{Number: 3, Kind: quire.PageUser, Tokens: 5}}, `p3 user: "Fix it.", first of 5 tokens`},
		"short user":    {Source{Text: "Fix it.", Page: quire.Page{Number: 3, Kind: quire.PageUser, Tokens: 2}}, `p3 user: "Fix it."`},
		"claim":         {Source{Text: "I looked.\n\nAll tests pass.\nNothing is left.\n", Page: quire.Page{Number: 4, Kind: quire.PageAssistant}}, "p4 model claims: \"All tests pass.\nNothing is left.\""},
		"no claim":      {Source{Page: quire.Page{Number: 4, Kind: quire.PageAssistant}}, "p4 model: no text"},
		"image":         {Source{Page: quire.Page{Number: 9, Kind: quire.PageImage}, Seen: "A form. More."}, `p9 image, seen as "A form."`},
	} {
		if got := maker().Card(c.s); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, c.want)
		}
	}
}

func TestClaimIsCutAtSentence(t *testing.T) {
	s := Source{Text: strings.Repeat("所有测试都通过了，没有遗漏。", 40), Page: quire.Page{Number: 4, Kind: quire.PageAssistant}}
	got := maker().Card(s)
	claim, ok := strings.CutPrefix(got, `p4 model claims (its beginning): "`)
	claim = strings.TrimSuffix(claim, `"`)
	if !ok || !strings.HasPrefix(s.Text, claim) || !strings.HasSuffix(claim, "。") || len([]rune(claim)) > claimMax || len([]rune(claim)) < 60 {
		t.Errorf("got %s", got)
	}
}

func TestCardsAreMasked(t *testing.T) {
	const key = "k3J9xQ2mV7bN4wZ8pL5t"
	block := "-----BEGIN " + "PRIVATE KEY-----\n" + strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n", 6)
	for name, s := range map[string]Source{
		"user":    {Text: "use api_key=" + key + " for it\nplease", Page: quire.Page{Number: 3, Kind: quire.PageUser}},
		"claim":   {Text: "Done.\n\nThe password is `PASSWORD=" + key + "`.", Page: quire.Page{Number: 3, Kind: quire.PageAssistant}},
		"command": tool(quire.ActionRun, "export API_TOKEN="+key, "ok"),
		"error":   tool(quire.ActionRun, "make", "error: bad api_key: \""+key+"\"\n"),
		"block":   tool(quire.ActionRun, "cat key.pem", block),
	} {
		card := maker().Card(s)
		if strings.Contains(card, key) || strings.Contains(card, "MIIEvQ") {
			t.Errorf("%s: %s", name, card)
		}
	}
}

func TestFailedTests(t *testing.T) {
	const text = `--- FAIL: TestA (0.00s)
not ok 3 - opens twice
test parse::empty ... FAILED
FAILED tests/a.py::test_b - assert 1
ERROR: test_c (tests.T)
[ERROR] example.OpenTest.opensTwice  Time elapsed: 0.01 s  <<< FAILURE!
[ERROR] Tests run: 3, Failures: 1 <<< FAILURE!
OpenTest > opens() FAILED
  ✕ closes twice (12 ms)
(fail) reads > all [0.5ms]
--- FAIL: TestA (0.00s)
`
	want := "TestA|opens twice|parse::empty|tests/a.py::test_b|test_c (tests.T)|example.OpenTest.opensTwice|OpenTest > opens()|closes twice|reads > all"
	if got := strings.Join(failedTests(text), "|"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

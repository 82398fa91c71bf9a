package page

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
	"pgregory.net/rapid"
)

// A told session is a session as a test tells it.
type told struct {
	cutter  Cutter
	lineage *Lineage
	node    int
	fates   map[quire.PageNumber]Fate
}

func tell() *told {
	return &told{lineage: NewLineage("/p"), fates: map[quire.PageNumber]Fate{}}
}

// part adds a part and returns the first page of it.
func (s *told) part(p quire.Part) quire.PageNumber {
	pages := s.cutter.Cut(p, 0)
	for _, f := range s.lineage.Add("", s.node, &p, pages) {
		s.fates[f.Page] = f
	}
	s.node++
	if len(pages) == 0 {
		return 0
	}
	return pages[0].Number
}

// do calls a tool and takes its result. It returns the page.
func (s *told) do(tool string, args any, result string) quire.PageNumber {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err) // arguments of a test
	}
	use := fmt.Sprint("u", s.node)
	s.part(quire.Part{Kind: quire.PartToolCall, Tool: tool, ToolUse: use, Text: string(raw)})
	return s.part(quire.Part{Kind: quire.PartToolResult, ToolUse: use, Text: result})
}

type readArgs struct {
	File   string `json:"file_path"`
	Offset int    `json:"offset,omitempty"`
	Limit  int    `json:"limit,omitempty"`
}

type editArgs struct {
	File string `json:"file_path"`
	Old  string `json:"old_string"`
	New  string `json:"new_string"`
	All  bool   `json:"replace_all,omitempty"`
}

type writeArgs struct {
	File    string `json:"file_path"`
	Content string `json:"content"`
}

type runArgs struct {
	Command string `json:"command"`
	Note    string `json:"description,omitempty"`
}

func (s *told) read(file string, lines ...string) quire.PageNumber {
	return s.do("Read", readArgs{File: file}, number(1, lines))
}

func (s *told) readFrom(file string, first int, lines ...string) quire.PageNumber {
	return s.do("Read", readArgs{file, first, len(lines)}, number(first, lines))
}

func (s *told) edit(file, old, fresh string) quire.PageNumber {
	return s.do("Edit", editArgs{File: file, Old: old, New: fresh}, "The file has been updated.")
}

func (s *told) run(command, result string) quire.PageNumber {
	return s.do("Bash", runArgs{Command: command}, result)
}

func number(first int, lines []string) string {
	var b strings.Builder
	for i, l := range lines {
		fmt.Fprintf(&b, "%6d\t%s\n", first+i, l)
	}
	return b.String()
}

func (s *told) want(t *testing.T, page quire.PageNumber, want string) {
	t.Helper()
	f := s.fates[page]
	got := string(f.Outcome)
	if len(f.Replace) > 0 {
		got += fmt.Sprint(" replaces ", f.Replace)
	}
	if f.By > 0 {
		got += " by " + f.By.String()
	}
	if len(f.From) > 0 {
		got += fmt.Sprint(" from ", f.From)
	}
	if len(f.Stale) > 0 {
		got += fmt.Sprint(" stale ", f.Stale)
	}
	if got != want {
		t.Errorf("%s: %s, want %s", page, got, want)
	}
}

func TestAnEditMakesItsHunkStale(t *testing.T) {
	s := tell()
	read := s.read("a.go", "one", "two", "three", "four")
	edit := s.edit("/p/a.go", "one\ntwo\nthree", "one\nzwei\nthree")
	s.want(t, read, "ok stale [{2 2}]")
	s.want(t, edit, "ok from [p1]")
	s.want(t, edit+1, "ok from [p1]")
	s.edit("a.go", "zwei", "due\ntre") // its own line: no further line of the page
	s.want(t, read, "ok stale [{2 2}]")
	s.edit("./a.go", "four", "vier") // now line 5 of the file, line 4 of the page
	s.want(t, read, "ok stale [{2 2} {4 4}]")
	s.do("Edit", editArgs{File: "a.go", Old: "one", New: "x"}, "Error: not unique")
	s.want(t, read, "ok stale [{2 2} {4 4}]")
}

func TestLinesBetweenChangesAreNotStale(t *testing.T) {
	s := tell()
	read := s.read("a", "1", "2", "3", "4", "5")
	edit := s.edit("a", "1\n2\n3\n4\n5", "one\n2\nnew\n3\n4\nfive")
	s.want(t, read, "ok stale [{1 1} {5 5}]")
	s.edit("a", "3", "three")
	s.want(t, read, "ok stale [{1 1} {3 3} {5 5}]")
	s.edit("a", "three", "3")
	s.edit("a", "one\n2\nnew\n3\n4\nfive", "1\n2\n3\n4\n5")
	s.want(t, edit, "reverted from [p1]")
	s.want(t, read, "ok")
}

func TestLinesOfPartialReadsAreFollowed(t *testing.T) {
	s := tell()
	all := s.read("a", "1", "2", "3", "4", "5", "6")
	part := s.readFrom("a", 4, "4", "5")
	s.edit("a", "1\n", "1\nnew\nnew\n")
	s.want(t, part, "ok")
	s.edit("a", "5", "five")
	s.want(t, all, "ok stale [{5 5}]")
	s.want(t, part, "ok stale [{2 2}]")
	again := s.readFrom("a", 6, "4", "five") // where lines 4 and 5 stand now
	s.want(t, part, "ok by p7 stale [{2 2}]")
	s.want(t, again, "ok replaces [p2]")
	s.want(t, all, "ok stale [{5 5}]")
}

func TestAReadReplacesWhatItCovers(t *testing.T) {
	s := tell()
	part := s.readFrom("a", 2, "2", "3")
	all := s.read("a", "1", "2", "3", "4")
	s.want(t, part, "ok by p2")
	s.want(t, all, "ok replaces [p1]")
	less := s.readFrom("a", 1, "1", "2")
	s.want(t, all, "ok replaces [p1]")
	s.want(t, less, "ok")
	failed := s.do("Read", readArgs{File: "a"}, "<tool_use_error>File does not exist.</tool_use_error>")
	s.want(t, failed, "error")
	s.want(t, all, "ok replaces [p1]")
	other := s.read("b", "1", "2", "3", "4")
	s.want(t, other, "ok")
}

func TestTheSameBytesAreTheSamePage(t *testing.T) {
	s := tell()
	first := s.read("a", "1", "2")
	again := s.read("a", "1", "2")
	third := s.read("a", "1", "2")
	s.want(t, first, "ok")
	s.want(t, again, "ok from [p1]")
	s.want(t, third, "ok from [p1]")
	s.edit("a", "1", "one")
	s.want(t, first, "ok stale [{1 1}]")
	s.want(t, third, "ok from [p1] stale [{1 1}]")
	newer := s.read("a", "one", "2")
	s.want(t, newer, "ok replaces [p1 p2 p3]")
	if s.fates[first].Version != s.fates[again].Version || s.fates[first].Version == s.fates[newer].Version {
		t.Error("equal files need equal versions, and others others")
	}
}

func TestAnEditPageHasTheVersionThatARereadShows(t *testing.T) {
	s := tell()
	s.read("a", "1", "2")
	edit := s.edit("a", "1", "one")
	read := s.read("a", "one", "2")
	if s.fates[edit].Version != s.fates[read].Version || s.fates[edit].Version == (quire.Hash{}) {
		t.Errorf("edit %s, read %s", s.fates[edit].Version, s.fates[read].Version)
	}
}

func TestAFurtherRunReplacesTheOneBefore(t *testing.T) {
	s := tell()
	first := s.run("go test ./...", "FAIL\tx\nexit status 1")
	s.run("go vet ./...", "")
	second := s.do("Bash", runArgs{"go test ./...", "once more"}, "ok  \tx\t0.1s")
	s.want(t, first, "error by p3")
	s.want(t, second, "ok replaces [p1]")
	third := s.run("go test ./...", "ok  \tx\t0.1s")
	s.want(t, second, "ok replaces [p1] by p4")
	s.want(t, third, "ok replaces [p3]")
}

func TestUndoing(t *testing.T) {
	for name, undo := range map[string]func(*told){
		"edit":    func(s *told) { s.edit("a", "due\ntre", "2") },
		"context": func(s *told) { s.edit("a", "1\ndue\ntre\n3", "1\n2\n3") },
		"write": func(s *told) {
			s.do("Write", writeArgs{"a", "1\n2\n3\n"}, "ok")
		},
		"tool": func(s *told) {
			s.do("str_replace_editor", struct {
				Command string `json:"command"`
				Path    string `json:"path"`
			}{"undo_edit", "/p/a"}, "done")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := tell()
			read := s.read("a", "1", "2", "3")
			edit := s.edit("a", "2", "due\ntre")
			s.want(t, read, "ok stale [{2 2}]")
			undo(s)
			s.want(t, edit, "reverted from [p1]")
			s.want(t, edit+1, "reverted from [p1]")
			s.want(t, read, "ok")
		})
	}
}

func TestOnlyTheSameHunkIsUndone(t *testing.T) {
	s := tell()
	s.read("a", "x", "1", "y", "x2", "2", "y2")
	edit := s.edit("a", "x\n1", "x\n2") // line 2 reads "2" now, as line 5 did before
	s.edit("a", "x2\n2", "x2\n1")       // the inverse texts, in another place
	s.want(t, edit, "ok from [p1]")
	s.edit("a", "x\n2", "x\n1")
	s.want(t, edit, "reverted from [p1]")
}

func TestAWriteCanTakeBackSeveralEdits(t *testing.T) {
	s := tell()
	read := s.read("a", "1", "2", "3", "4")
	one, two := s.edit("a", "1", "one"), s.edit("a", "4", "four")
	write := s.do("Write", writeArgs{"a", "1\n2\n3\n4\n"}, "ok")
	for _, p := range []quire.PageNumber{one, two} {
		s.want(t, p, "reverted from [p1]")
	}
	s.want(t, read, "ok")
	s.want(t, write, "ok from [p1]")
}

func TestGitTakesBack(t *testing.T) {
	for command, reverts := range map[string]bool{
		"git checkout -- a":              true,
		"git checkout HEAD a":            true,
		"cd /p && git restore /p/a":      true,
		"git checkout .":                 true,
		"git restore --staged a":         false,
		"git checkout b":                 false,
		"git checkout main && go test .": false,
		"git diff a":                     false,
		"git -C /p restore src/../a":     true,
	} {
		s := tell()
		edit := s.edit("a", "1", "2")
		s.run(command, "")
		if got := s.fates[edit].Outcome == quire.OutcomeReverted; got != reverts {
			t.Errorf("%s: reverts %v, want %v", command, got, reverts)
		}
	}
	s := tell()
	edit := s.edit("a", "1", "2")
	s.run("git checkout -- a", "Exit code 1\nerror: pathspec")
	s.want(t, edit, "ok")
}

func TestAWriteIsAViewOfTheFile(t *testing.T) {
	s := tell()
	write := s.do("Write", writeArgs{"a.go", "1\n2\n3\n"}, "File created")
	s.edit("a.go", "2", "two")
	s.want(t, write+1, "ok stale [{2 2}]")
	s.do("Write", writeArgs{"a.go", "1\ntwo\nthree\n"}, "ok")
	s.want(t, write+1, "ok stale [{2 3}]")
	heredoc := s.run("cat > b.txt <<'X'\nhello\nyou\nX", "")
	s.edit("b.txt", "you", "all")
	s.want(t, heredoc+1, "ok stale [{2 2}]")
}

func TestAPatchHasSeveralHunks(t *testing.T) {
	s := tell()
	read := s.read("a.go", "1", "2", "3", "4", "5", "6")
	other := s.read("b.go", "x", "y")
	patch := "*** Begin Patch\n*** Update File: a.go\n@@\n 1\n-2\n+two\n 3\n@@\n 5\n-6\n*** Update File: b.go\n@@\n x\n-y\n+z\n*** End Patch"
	use := "patch"
	s.part(quire.Part{Kind: quire.PartToolCall, Tool: "apply_patch", ToolUse: use, Text: patch})
	edit := s.part(quire.Part{Kind: quire.PartToolResult, ToolUse: use, Text: `{"output":"Success","metadata":{"exit_code":0}}`})
	s.want(t, read, "ok stale [{2 2} {6 6}]")
	s.want(t, other, "ok stale [{2 2}]")
	s.edit("a.go", "two", "2")
	s.want(t, edit, "ok from [p2]")
	s.edit("b.go", "z", "y")
	if got := s.fates[edit].Outcome; got == quire.OutcomeReverted {
		t.Error("a hunk is left that was not taken back")
	}
}

func TestEveryOccurrence(t *testing.T) {
	s := tell()
	read := s.read("a", "x", "y", "x", "y", "x")
	s.do("Edit", editArgs{"a", "x", "long\nx", true}, "ok")
	s.want(t, read, "ok")
	s.do("Edit", editArgs{"a", "y", "z", true}, "ok")
	s.want(t, read, "ok stale [{2 2} {4 4}]")
}

func TestGoingBack(t *testing.T) {
	s := tell()
	s.part(quire.Part{Kind: quire.PartUser, Text: "do it"})
	first := s.run("make", "Exit code 2\nno")
	keep := s.node - 1
	second := s.run("make", "fine")
	s.want(t, first, "error by p3")
	for _, f := range s.lineage.Rewind("", keep) {
		s.fates[f.Page] = f
	}
	s.want(t, first, "error")
	s.want(t, second, "abandoned")
	if got := s.lineage.Rewind("side", -1); len(got) != 0 {
		t.Errorf("another chain changed %v", got)
	}
}

func TestAnswers(t *testing.T) {
	s := tell()
	user := s.part(quire.Part{Kind: quire.PartUser, Text: "why?"})
	text := s.part(quire.Part{Kind: quire.PartText, Text: "because"})
	if got := s.fates[text]; got.Answers != user || got.Outcome != quire.OutcomeUnknown {
		t.Errorf("got %+v", got)
	}
}

func TestOutcomes(t *testing.T) {
	run := quire.Page{Action: quire.ActionRun}
	test := quire.Page{Action: quire.ActionRun, Class: quire.ClassTest}
	for _, c := range []struct {
		page quire.Page
		text string
		want quire.Outcome
	}{
		{run, "all well", quire.OutcomeOK},
		{run, "Exit code 1\nboom", quire.OutcomeError},
		{run, "Exit code: 0\nWall time: 1 seconds\nOutput:\nfine", quire.OutcomeOK},
		{run, "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\n", quire.OutcomeError},
		{run, "<returncode>0</returncode>\n<output>\nfine</output>", quire.OutcomeOK},
		{run, "<returncode>127</returncode>\n<output>\n</output>", quire.OutcomeError},
		{run, "out\n<exited with exit code 3>", quire.OutcomeError},
		{run, `{"output":"x","metadata":{"exit_code":1,"duration_seconds":0.1}}`, quire.OutcomeError},
		{run, "the exit code 1 means trouble", quire.OutcomeOK},
		{test, "ok  \tx\t1s\n", quire.OutcomeOK},
		{test, "--- FAIL: TestX (0.00s)\nFAIL\tx\t1s\n", quire.OutcomeError},
		{test, "===== 3 failed, 2 passed in 1s =====", quire.OutcomeError},
		{test, "===== 5 passed, 0 failed in 1s =====", quire.OutcomeOK},
		{test, "Tests run: 3, Failures: 1, Errors: 0", quire.OutcomeError},
		{quire.Page{Action: quire.ActionRun, Class: quire.ClassTrace}, "panic: no", quire.OutcomeError},
		{quire.Page{Action: quire.ActionSearch}, "Exit code 1\n", quire.OutcomeOK},
		{quire.Page{Action: quire.ActionEdit}, "<tool_use_error>String to replace not found</tool_use_error>", quire.OutcomeError},
	} {
		if got := outcomeOf(c.page, c.text, false); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
	if got := outcomeOf(run, "fine", true); got != quire.OutcomeError {
		t.Error("the record says error")
	}
}

// A model file for the properties: lines that are all different, so that each
// place is found by its text, and what the page showed of each.
type modelLine struct {
	text string
	from int // line of the page, 0 for none
}

// An edit never makes a line stale that is outside its hunk, and always those
// inside it, whatever edits came before.
func TestStaleLinesAreThoseOfTheHunks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := tell()
		file := drawLines(t)
		read := s.read("a", texts(file)...)
		gone := map[int]bool{}
		for i := range rapid.IntRange(1, 8).Draw(t, "edits") {
			file = drawEdit(t, s, file, i, gone)
			checkStale(t, s.fates[read].Stale, gone)
		}
	})
}

func drawLines(t *rapid.T) []modelLine {
	file := make([]modelLine, rapid.IntRange(2, 12).Draw(t, "lines"))
	for i := range file {
		file[i] = modelLine{fmt.Sprintf("line %d.", i+1), i + 1}
	}
	return file
}

func texts(file []modelLine) []string {
	var out []string
	for _, l := range file {
		out = append(out, l.text)
	}
	return out
}

// drawEdit edits some lines, with lines around them that stay.
func drawEdit(t *rapid.T, s *told, file []modelLine, n int, gone map[int]bool) []modelLine {
	first := rapid.IntRange(0, len(file)-1).Draw(t, "first")
	last := rapid.IntRange(first, len(file)-1).Draw(t, "last")
	before := rapid.IntRange(0, first).Draw(t, "before")
	after := rapid.IntRange(last, len(file)-1).Draw(t, "after")
	var fresh []modelLine
	for i := range rapid.IntRange(1, 3).Draw(t, "fresh") {
		fresh = append(fresh, modelLine{text: fmt.Sprintf("new %d-%d.", n, i)})
	}
	changed := slices.Concat(file[:first], fresh, file[last+1:])
	s.edit("a", strings.Join(texts(file[before:after+1]), "\n"),
		strings.Join(slices.Concat(texts(file[before:first]), texts(fresh), texts(file[last+1:after+1])), "\n"))
	for _, l := range file[first : last+1] {
		if l.from > 0 {
			gone[l.from] = true
		}
	}
	return changed
}

func checkStale(t *rapid.T, stale []quire.Range, gone map[int]bool) {
	got := map[int]bool{}
	last := 0
	for _, r := range stale {
		if r.First <= last || r.Last < r.First {
			t.Fatalf("%v do not rise", stale)
		}
		last = r.Last
		for i := r.First; i <= r.Last; i++ {
			got[i] = true
		}
	}
	if len(got) != len(gone) {
		t.Fatalf("stale %v, want %v", stale, gone)
	}
	for i := range gone {
		if !got[i] {
			t.Fatalf("line %d is not stale in %v", i, stale)
		}
	}
}

// Undoing edits, the last first, reverts each and leaves no line stale.
func TestUndoingInReverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := tell()
		file := drawLines(t)
		read := s.read("a", texts(file)...)
		history := [][]modelLine{file}
		var pages []quire.PageNumber
		for i := range rapid.IntRange(1, 6).Draw(t, "edits") {
			pages = append(pages, s.cutter.last+1)
			file = drawEdit(t, s, file, i, map[int]bool{})
			history = append(history, file)
		}
		for i := len(pages) - 1; i >= 0; i-- {
			s.edit("a", strings.Join(texts(history[i+1]), "\n"), strings.Join(texts(history[i]), "\n"))
			if got := s.fates[pages[i]].Outcome; got != quire.OutcomeReverted {
				t.Fatalf("%s is %s", pages[i], got)
			}
		}
		if stale := s.fates[read].Stale; len(stale) > 0 {
			t.Fatalf("stale %v after everything was undone", stale)
		}
	})
}

// FuzzLineage holds that no parts break it, and that what it says holds
// together.
func FuzzLineage(f *testing.F) {
	f.Add("Read", `{"file_path":"a"}`, "     1\tx\n     2\ty\n", `{"file_path":"a","old_string":"x","new_string":"z"}`)
	f.Add("shell", `{"command":"cat > a <<E\nx\nE"}`, "Exit code: 0", `{"command":"git checkout -- a"}`)
	f.Add("view", `{"command":"insert","path":"a","insert_line":1,"new_str":"x"}`, "", "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: a\n@@\n-x\n+\n*** End Patch")
	f.Fuzz(func(t *testing.T, tool, args, result, second string) {
		s := tell()
		for _, a := range []string{args, second, args, second} {
			for _, name := range []string{tool, "Edit", "Read"} {
				use := fmt.Sprint(s.node)
				s.part(quire.Part{Kind: quire.PartToolCall, Tool: name, ToolUse: use, Text: a})
				s.part(quire.Part{Kind: quire.PartToolResult, ToolUse: use, Text: result})
			}
		}
		for _, f := range s.fates {
			if f.By > 0 && !slices.Contains(s.fates[f.By].Replace, f.Page) {
				t.Errorf("%s says it was replaced by %s, which does not say so", f.Page, f.By)
			}
		}
	})
}

func BenchmarkLineage(b *testing.B) {
	lines := make([]string, 1000)
	for i := range lines {
		lines[i] = fmt.Sprintf("\tif value[%d] != nil { return value[%d] }", i, i)
	}
	b.ReportAllocs()
	for b.Loop() {
		s := tell()
		s.read("a.go", lines...)
		for i := range 10 {
			s.edit("a.go", lines[i*90], fmt.Sprint("\tchanged ", i))
		}
	}
}

func TestTexts(t *testing.T) {
	for args, want := range map[string][]string{
		`{"a":"x\n","n":1,"b":["y",{"c":"z"}]}`: {"x\n", "y", "z"},
		`*** Begin Patch`:                       {"*** Begin Patch"},
		`{"a":"cut o`:                           {"cut o"},
		`{}`:                                    nil,
	} {
		if got := Texts(args); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}

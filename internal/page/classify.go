package page

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/quire"
)

const (
	headBytes = 4 << 10
	tailBytes = 2 << 10
)

// Classify says what the bytes of a text are. It looks at most at the first
// 4 KiB and the last 2 KiB, at the name of the file where a file was read or
// written, and at the action where the content leaves it open. Classes are a
// guess: a text of several kinds has that of its first sure sign.
func Classify(action quire.Action, target, text string) quire.Class {
	switch action {
	case quire.ActionRead, quire.ActionWrite, quire.ActionEdit:
		if c, ok := byName(target); ok && !failed(text) {
			return c
		}
	}
	s := newSample(text)
	if c, ok := s.sure(); ok {
		return c
	}
	switch action {
	case quire.ActionSearch:
		if s.share(isPath) > 0.9 {
			return quire.ClassListing
		}
		return quire.ClassSearch
	case quire.ActionList:
		return quire.ClassListing
	}
	return s.look()
}

// failed reports whether a file tool answered with an error in place of the
// file.
func failed(text string) bool {
	return len(text) < 400 && (strings.HasPrefix(text, "<tool_use_error>") || strings.HasPrefix(text, "Error") || strings.HasPrefix(text, "error:"))
}

// byName knows the class of a file from its name.
func byName(target string) (quire.Class, bool) {
	name := strings.ToLower(path.Base(strings.ReplaceAll(target, `\`, "/")))
	switch strings.TrimPrefix(path.Ext(name), ".") {
	case "md", "mdx", "rst", "txt", "adoc", "org", "tex", "docx", "html", "htm":
		return quire.ClassProse, true
	case "json", "jsonl", "ndjson", "json5", "ipynb", "geojson", "har":
		return quire.ClassJSON, true
	case "csv", "tsv":
		return quire.ClassTable, true
	case "log":
		return quire.ClassLog, true
	case "diff", "patch":
		return quire.ClassDiff, true
	case "png", "jpg", "jpeg", "gif", "webp", "bmp":
		return quire.ClassImage, true
	case "go", "py", "pyi", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "rs", "java", "kt", "kts", "c", "h", "cc", "cpp", "hpp", "cxx", "cs",
		"rb", "php", "swift", "m", "mm", "scala", "clj", "ex", "exs", "erl", "hs", "ml", "lua", "pl", "pm", "r", "jl", "dart", "zig", "nim", "v",
		"sh", "bash", "zsh", "fish", "ps1", "bat", "cmd", "sql", "proto", "graphql", "tf", "css", "scss", "less", "vue", "svelte", "astro",
		"yaml", "yml", "toml", "ini", "cfg", "conf", "xml", "gradle", "cmake", "mk", "mod", "nix", "el", "vim", "asm", "s":
		return quire.ClassSource, true
	}
	switch name {
	case "makefile", "dockerfile", "rakefile", "gemfile", "justfile", "procfile", "jenkinsfile", "cmakelists.txt", ".gitignore", ".env":
		return quire.ClassSource, true
	}
	return 0, false
}

// A sample is some lines of a text, without line numbers before them.
type sample struct {
	lines []string
	first string // of the text, without space around it
}

func newSample(text string) sample {
	text = withoutHeader(text)
	head, tail := text, ""
	if len(text) > headBytes+tailBytes {
		head, tail = text[:headBytes], text[len(text)-tailBytes:]
		head = head[:strings.LastIndexByte(head, '\n')+1]
		tail = tail[strings.IndexByte(tail, '\n')+1:]
		if head == "" {
			head = text[:headBytes]
		}
	}
	s := sample{first: strings.TrimSpace(head)}
	for _, part := range []string{head, tail} {
		for l := range strings.Lines(part) {
			if l = strings.TrimRight(withoutNumber(l), " \t\r\n"); l != "" {
				s.lines = append(s.lines, l)
			}
		}
	}
	return s
}

// withoutHeader takes off what a shell tool says about a command before it gives
// the output: the lines of Codex, the tags of mini-swe-agent.
func withoutHeader(text string) string {
	for _, h := range []struct{ begins, ends string }{{"Chunk ID: ", "\nOutput:\n"}, {"Exit code: ", "\nOutput:\n"}, {"<returncode>", "<output>"}} {
		if !strings.HasPrefix(text, h.begins) {
			continue
		}
		head := text[:min(len(text), 400)]
		if i := strings.Index(head, h.ends); i >= 0 {
			return text[i+len(h.ends):]
		}
	}
	return text
}

// withoutNumber takes the number of a line that a reading tool wrote before it.
func withoutNumber(l string) string {
	rest := strings.TrimLeft(l, " ")
	digits := 0
	for digits < len(rest) && '0' <= rest[digits] && rest[digits] <= '9' {
		digits++
	}
	if digits == 0 {
		return l
	}
	for _, mark := range []string{"→", "\t"} {
		if after, ok := strings.CutPrefix(rest[digits:], mark); ok {
			return after
		}
	}
	return l
}

// share is the share of lines that are as asked.
func (s sample) share(is func(string) bool) float64 {
	if len(s.lines) == 0 {
		return 0
	}
	n := 0
	for _, l := range s.lines {
		if is(l) {
			n++
		}
	}
	return float64(n) / float64(len(s.lines))
}

// some reports whether a line is as asked.
func (s sample) some(is func(string) bool) bool { return slices.ContainsFunc(s.lines, is) }

// sure finds marks that leave no doubt.
func (s sample) sure() (quire.Class, bool) {
	diff, trace := 0, 0
	for _, l := range s.lines {
		switch {
		case isDiffMark(l):
			if diff++; diff == 2 || hasAny(l, "diff --git ", beginPatch, "Plan: ") {
				return quire.ClassDiff, true
			}
		case isTestMark(l):
			return quire.ClassTest, true
		case isTraceMark(l):
			return quire.ClassTrace, true
		case isFrame(l):
			if trace++; trace == 3 {
				return quire.ClassTrace, true
			}
		}
	}
	return 0, false
}

func isDiffMark(l string) bool {
	return hasAny(l, "diff --git ", "@@ -", "--- a/", "+++ b/", "*** Update File: ", beginPatch, "Index: ") || isPlanMark(l)
}

// isPlanMark knows the lines in which Terraform and its kin say what they would
// change.
func isPlanMark(l string) bool {
	return hasAny(l, "Plan: ") && strings.Contains(l, " to add, ") || strings.HasSuffix(l, " will perform the following actions:")
}

// isTestMark knows the lines by which test runners report: Go (as text and as JSON),
// pytest and unittest, Jest, Vitest, Mocha and node, Cargo, Maven, Gradle and JUnit,
// RSpec, dotnet, Bun, GoogleTest.
func isTestMark(l string) bool {
	t := strings.TrimLeft(l, " \t")
	switch {
	case hasAny(t, "--- FAIL: ", "--- PASS: ", "--- SKIP: ", "=== RUN ", "=== PAUSE ", "ok  \t", "FAIL\t", "FAIL: Test", "?   \t"):
		return true
	case hasAny(t, "============================= test session starts", "collected ", "FAILED ", "PASSED ", "ERROR collecting") && pytest(t):
		return true
	case strings.HasPrefix(t, "=") && strings.HasSuffix(t, "=") && (strings.Contains(t, " passed") || strings.Contains(t, " failed") || strings.Contains(t, "FAILURES")):
		return true
	case hasAny(t, "Ran ") && strings.Contains(t, " tests in "):
		return true
	case hasAny(t, "Test Suites: ", "Tests:  ", "Test Files  ", "Tests  ", "PASS src/", "FAIL src/", "# tests ", "not ok ", "TAP version"):
		return true
	case hasAny(t, "test result: ", "running ") && (strings.HasSuffix(t, " tests") || strings.HasSuffix(t, " test") || hasAny(t, "test result: ")):
		return true
	case hasAny(t, "test ") && (strings.HasSuffix(t, " ... ok") || strings.HasSuffix(t, " ... FAILED") || strings.HasSuffix(t, " ... ignored")):
		return true
	case strings.Contains(t, "Tests run: ") && strings.Contains(t, "Failures: "):
		return true
	case hasAny(t, "> Task :") && strings.Contains(strings.ToLower(t), "test"):
		return true
	case hasAny(t, "Passed!  - Failed:", "Failed!  - Failed:", "(pass) ", "(fail) "):
		return true
	case hasAny(t, "[==========] Running ", "[ RUN      ] ", "[       OK ] ", "[  FAILED  ] ", "[  PASSED  ] "):
		return true
	case hasAny(t, "test") && strings.Contains(t, ") ... ") && (strings.HasSuffix(t, " ok") || strings.HasSuffix(t, " FAIL") || strings.HasSuffix(t, " ERROR")):
		return true
	case hasAny(t, `{"Time":"`, `{"Action":"`) && strings.Contains(t, `"Action":"`) && strings.Contains(t, `"Package":"`):
		return true
	}
	if count, rest, _ := strings.Cut(t, " "); allDigits(count) && count != "" && (hasAny(rest, "passing (") || rest == "failing") {
		return true
	}
	return strings.Contains(t, " examples, ") && strings.Contains(t, " failure")
}

// pytest tells pytest's lines from others that begin with the same word.
func pytest(l string) bool {
	return strings.Contains(l, "::") || strings.Contains(l, "test session starts") ||
		strings.HasPrefix(l, "collected ") && strings.Contains(l, " item") || strings.HasPrefix(l, "ERROR collecting")
}

// isTraceMark knows the first line of a stack trace.
func isTraceMark(l string) bool {
	t := strings.TrimLeft(l, " \t")
	return hasAny(t, "Traceback (most recent call last)", "panic: ", "goroutine ", "Exception in thread ", "fatal error: all goroutines") &&
		(!hasAny(t, "goroutine ") || strings.HasSuffix(t, "]:")) ||
		hasAny(t, "thread '") && strings.Contains(t, "' panicked at")
}

// isFrame knows a frame of a stack trace: of Java, JavaScript and .NET, or of
// Python.
func isFrame(l string) bool {
	t := strings.TrimLeft(l, " \t")
	if len(t) == len(l) {
		return false
	}
	return hasAny(t, "at ") && (strings.HasSuffix(t, ")") && strings.ContainsAny(t, ":.") || strings.Contains(t, ":line ")) ||
		hasAny(t, `File "`) && strings.Contains(t, `", line `)
}

// look judges by how most of the lines look.
func (s sample) look() quire.Class {
	switch {
	case len(s.lines) == 0:
		return quire.ClassProse
	case isJSON(s.first):
		return quire.ClassJSON
	case len(s.lines) > 1 && s.share(isLogLine) > 0.5:
		return quire.ClassLog
	case s.share(isStat) > 0.5:
		return quire.ClassDiff
	case s.share(isDiagnostic) > 0.5, s.some(isFault):
		return quire.ClassLog
	case s.share(isHit) > 0.5:
		return quire.ClassSearch
	case len(s.lines) > 1 && (s.share(isRow) > 0.6 || s.separated() || s.aligned()):
		return quire.ClassTable
	case len(s.lines) > 1 && s.share(isEntry) > 0.7:
		return quire.ClassListing
	case s.share(isCode) > 0.4:
		return quire.ClassSource
	}
	return quire.ClassProse
}

// isJSON reports whether a text begins like a JSON object or array: it may be
// cut off.
func isJSON(s string) bool {
	if len(s) < 2 || s[0] != '{' && s[0] != '[' {
		return false
	}
	rest := strings.TrimLeft(s[1:], " \t\r\n")
	if rest == "" {
		return false
	}
	if s[0] == '{' {
		return rest[0] == '}' || rest[0] == '"' && strings.Contains(rest, `":`)
	}
	return strings.IndexByte(`]{["-0123456789`, rest[0]) >= 0 && strings.ContainsAny(rest, ",:]") && !isLogLine(s)
}

// isStat knows a line of "git diff --stat".
func isStat(l string) bool {
	_, rest, ok := strings.Cut(l, " | ")
	rest = strings.TrimLeft(rest, " ")
	count := strings.TrimLeft(rest, "0123456789")
	return ok && len(count) < len(rest) && strings.Trim(count, " +-") == "" || hasAny(rest, "Bin ")
}

// isDiagnostic knows a line of a compiler or a linter: path:line:column: text.
func isDiagnostic(l string) bool {
	parts := strings.SplitN(l, ":", 4)
	return len(parts) == 4 && parts[1] != "" && parts[2] != "" && allDigits(parts[1]) && allDigits(parts[2]) &&
		isPath(parts[0]) && strings.HasPrefix(parts[3], " ")
}

// isFault knows a line in which a compiler or a linter tells of an error at a place:
// a.c:3:1: error: …, a.ts(3,1): error …, or, under the name of the file, 3:1 error ….
func isFault(l string) bool {
	at := strings.Index(l, "error")
	if at < 4 || len(l) > 2000 {
		return false
	}
	before := strings.TrimSuffix(strings.TrimRight(l[:at], " "), "fatal")
	before = strings.TrimRight(before, ": )")
	column := strings.TrimRight(before, "0123456789")
	if column == before || column == "" || strings.IndexByte(":,", column[len(column)-1]) < 0 {
		return false
	}
	line := column[:len(column)-1]
	place := strings.TrimRight(line, "0123456789")
	return place != line && (strings.TrimSpace(place) == "" || strings.IndexByte(":(", place[len(place)-1]) >= 0 && isPath(place[:len(place)-1]))
}

// isHit knows a line of a search: path:line:text, path-line-text or, under the
// name of its file, line:text.
func isHit(l string) bool {
	for i, c := range []byte(l) {
		if c != ':' && c != '-' || i+1 >= len(l) {
			continue
		}
		rest := l[i+1:]
		n := 0
		for n < len(rest) && '0' <= rest[n] && rest[n] <= '9' {
			n++
		}
		if n > 0 && n < len(rest) && rest[n] == c && i > 0 && !strings.ContainsAny(l[:i], " \t\"") && !allDigits(l[:i]) {
			return true
		}
		if i > 0 && i < 7 && c == ':' && allDigits(l[:i]) && !isClock(l) {
			return true
		}
	}
	return false
}

func allDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// isClock reports whether a line begins with a time of day.
func isClock(l string) bool {
	return len(l) >= 8 && l[2] == ':' && l[5] == ':' && allDigits(l[:2]+l[3:5]+l[6:8])
}

// isRow knows a line of a table drawn with bars or box characters.
func isRow(l string) bool {
	return strings.Count(l, "|") >= 2 && strings.HasPrefix(strings.TrimSpace(l), "|") || strings.Count(l, " | ") >= 2 || strings.Count(l, "│") >= 2 ||
		strings.Count(l, "\t") >= 2 && l[0] != '\t' || strings.ContainsAny(l, "┼┬┴╬╦╩")
}

// separated reports whether the lines have the same number of commas, two at
// least, as those of CSV.
func (s sample) separated() bool {
	if len(s.lines) < 3 {
		return false
	}
	want := strings.Count(s.lines[0], ",")
	return want >= 2 && !strings.ContainsAny(s.lines[0], "{}();") &&
		s.share(func(l string) bool { return strings.Count(l, ",") == want }) > 0.9
}

// aligned reports whether the first line is the head of a table in columns, as "ps"
// and "kubectl get" write it: three words and more in capitals, and under each of
// them the lines go on behind a space.
func (s sample) aligned() bool {
	head := s.lines[0]
	words := strings.Fields(head)
	if len(s.lines) < 3 || len(words) < 3 || head != strings.ToUpper(head) || !strings.Contains(head, "  ") || strings.ContainsAny(head, ":=.,") {
		return false
	}
	return s.share(func(l string) bool { return len(strings.Fields(l)) >= len(words)-1 }) > 0.8
}

// isLogLine knows a line that begins with a date, a time or a level.
func isLogLine(l string) bool {
	t := strings.TrimLeft(l, " [(\x1b")
	if len(t) >= 10 && t[4] == '-' && t[7] == '-' && allDigits(t[:4]+t[5:7]+t[8:10]) || isClock(t) {
		return true
	}
	if len(t) >= 10 && t[4] == '/' && t[7] == '/' && allDigits(t[:4]+t[5:7]+t[8:10]) {
		return true
	}
	word, rest, _ := strings.Cut(t, " ")
	if step := strings.TrimPrefix(word, "#"); step != word && step != "" && allDigits(step) && isStep(rest) {
		return true
	}
	switch strings.ToUpper(strings.Trim(word, ":]|")) {
	case "INFO", "WARN", "WARNING", "ERROR", "DEBUG", "TRACE", "FATAL", "NOTICE", "ERR":
		return true
	}
	return strings.HasPrefix(t, "time=") || strings.HasPrefix(t, "level=")
}

// isStep knows what stands behind the number of a step in the log of a container
// build: the seconds since it began, its name in brackets, or how it ended.
func isStep(rest string) bool {
	seconds, _, _ := strings.Cut(rest, " ")
	whole, part, ok := strings.Cut(seconds, ".")
	name, _, _ := strings.Cut(rest, "]")
	_, of, staged := strings.Cut(name, "/")
	return ok && part != "" && allDigits(whole+part) || hasAny(name, "[") && staged && of != "" && allDigits(of) || hasAny(rest, "[internal]", "[auth]", "DONE", "CACHED", "ERROR", "CANCELED", "transferring ", "sha256:", "extracting ")
}

// isEntry knows a line of a listing: a path, a line of "ls -l", a branch of a
// tree.
func isEntry(l string) bool {
	t := strings.TrimSpace(l)
	switch {
	case isPath(t), hasAny(t, "├", "└", "│", "total "):
		return true
	case len(t) > 10 && strings.IndexByte("-dlbcps", t[0]) >= 0 && strings.Trim(t[1:10], "rwxsStT-") == "":
		return true
	case hasAny(t, "- ") && isPath(t[2:]):
		return true
	}
	return len(t) > 3 && isPath(t[2:]) && strings.IndexByte("MADRCU? ", t[0]) >= 0 && t[1] == ' ' || len(t) > 3 && hasAny(t, "?? ") && isPath(t[3:])
}

// isPath reports whether a line is one path and nothing else.
func isPath(l string) bool {
	t := strings.TrimSpace(l)
	if t == "" || len(t) > 300 || strings.ContainsAny(t, " \t(){}[]<>;=\"'`,|") {
		return false
	}
	return strings.ContainsAny(t, `/\`) && !strings.Contains(t, "://") || path.Ext(t) != "" && len(path.Ext(t)) < 8 && !strings.HasSuffix(t, ".")
}

// isCode knows a line that looks like a program's.
func isCode(l string) bool {
	t := strings.TrimSpace(l)
	if r, _ := utf8.DecodeLastRuneInString(t); strings.ContainsRune("{};)(,[]:", r) && strings.ContainsAny(t, "{}();=[]<>") {
		return true
	}
	return hasAny(t, "func ", "def ", "class ", "import ", "from ", "package ", "return", "const ", "let ", "var ", "if ", "for ", "while ", "else",
		"//", "#include", "#!", "/*", "* ", "pub ", "fn ", "use ", "type ", "struct ", "public ", "private ", "static ", "void ", "int ", "@", "}", "export ", "async ") &&
		(strings.ContainsAny(t, "(){}=;:<>[]/*@!") || len(strings.Fields(t)) < 4) ||
		strings.Contains(t, " := ") || strings.Contains(t, " = ") && !strings.HasSuffix(t, ".") || strings.HasSuffix(t, ";")
}

func hasAny(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

package ledger

import (
	"regexp"
	"slices"
	"strings"
)

// maxTests is how many failing tests of one run are kept by name.
const maxTests = 200

// The lines by which test runners name a test that failed or passed: one for each
// runner, whose first group is the name.
var (
	failLine = regexp.MustCompile(`^(?:` +
		`\s*--- FAIL: (\S+)` + // Go
		`|FAILED (\S+::.+?)(?: - .*)?$` + // pytest
		`|ERROR (\S+\.py\S*)(?: - .*)?$` + // pytest, while collecting
		`|(?:FAIL|ERROR): (\w+ \([\w.]+\))` + // unittest
		`|\s*test (\S+)(?: - should panic)? \.\.\. FAILED` + // Rust
		`|\s*[✕✗✖×] (.+?)(?: \(?\d+(?:\.\d+)? ?m?s\)?)?$` + // Jest, Vitest, Mocha
		`|\s*FAIL\s+(\S+\.[cm]?[jt]sx?(?: > .+)?)$` + // Vitest, Jest
		`|\s*● (.+ › .+)$` + // Jest
		`|\s*not ok \d+ (?:- )?(.+?)(?: # .*)?$` + // TAP
		`|\(fail\) (.+?)(?: \[[\d.]+m?s\])?$` + // Bun
		`|\[ERROR\]\s+([\w.$]+[.:]\w+(?:\([\w.]*\))?).*<<< (?:FAILURE|ERROR)!` + // Maven
		`|\[ERROR\]\s+([\w$]+\.\w+):\d+` + // Maven, its summary
		`|(\S+ > .+?) FAILED$` + // Gradle
		`)`)
	passLine = regexp.MustCompile(`^(?:` +
		`\s*--- PASS: (\S+)` +
		`|(\S+::\S+) PASSED` +
		`|\s*test (\S+) \.\.\. ok` +
		`|\s*[✓✔] (.+?)(?: \(?\d+(?:\.\d+)? ?m?s\)?)?$` +
		`|\s*ok \d+ (?:- )?(.+?)(?: # .*)?$` +
		`|\(pass\) (.+?)(?: \[[\d.]+m?s\])?$` +
		`|(\S+ > .+?) PASSED$` +
		`)`)
)

// failingTests reads the names of tests that failed and that passed in the output
// of a run, each once, in their order.
func failingTests(text string) (failing, passing []string) {
	for text != "" && len(failing) < maxTests {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		if len(line) > 4*lineWidth || !marked(line) {
			continue
		}
		line = strings.TrimRight(escape.ReplaceAllString(line, ""), " \t\r")
		if name := firstGroup(failLine, line); name != "" && !slices.Contains(failing, name) {
			failing = append(failing, name)
		} else if name := firstGroup(passLine, line); name != "" && len(passing) < maxTests {
			passing = append(passing, name)
		}
	}
	return failing, slices.Compact(passing)
}

// marked reports whether a line may name a test: it is cheap, the expressions are
// not.
func marked(line string) bool {
	for _, mark := range []string{"FAIL", "ERROR", "PASS", "ok ", "✕", "✗", "✖", "×", "✓", "✔", "● ", "(fail)", "(pass)", "... ok"} {
		if strings.Contains(line, mark) {
			return true
		}
	}
	return false
}

func firstGroup(e *regexp.Regexp, line string) string {
	for i, m := range e.FindStringSubmatch(line) {
		if i > 0 && m != "" {
			return oneLine(m, lineWidth)
		}
	}
	return ""
}

// settles reports whether a run that passed says that what failed in an earlier
// one is repaired: it is the same command, or the same but for words that only
// choose what is run.
func settles(passed, failed string) bool {
	chosen := strings.Fields(failed)
	for _, w := range strings.Fields(passed) {
		if w != "." && w != "./..." && !strings.HasPrefix(w, "-") && !slices.Contains(chosen, w) {
			return false
		}
	}
	return runner(passed) == runner(failed)
}

// runner is the beginning of a command, which says what runs the tests.
func runner(command string) string {
	fields := strings.Fields(command)
	return strings.Join(fields[:min(2, len(fields))], " ")
}

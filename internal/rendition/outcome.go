package rendition

import (
	"regexp"
	"slices"
	"strings"
)

// exitLine is how tools tell the exit code of a command, in a line of its own
// before the output or behind it.
var exitLine = regexp.MustCompile(`(?im)^[ \t]*[<\[({"]*(?:command |process |shell )?(?:exited with |failed with |finished with )?(?:exit[ _]?code|exit status|returncode|code)["']?[ :>=]*(-?\d{1,10})\b`)

// exitCode finds the exit code in the first and last 300 bytes of a result.
func exitCode(text string) (code string, ok bool) {
	head, tail := text[:min(len(text), 300)], text[max(0, len(text)-300):]
	if mentions(head) {
		if m := exitLine.FindStringSubmatch(head); m != nil {
			return m[1], true
		}
	}
	if mentions(tail) {
		if all := exitLine.FindAllStringSubmatch(tail, -1); all != nil {
			return all[len(all)-1][1], true
		}
	}
	return "", false
}

// mentions is a cheap test that passes over texts without an exit code.
func mentions(text string) bool {
	return contains(text, "code", "Code", "CODE", "status", "Status", "STATUS")
}

// failedTests are the names of the tests that a test run says failed, each once,
// in the order of the run: of Go, pytest and unittest, Jest, Vitest, Mocha, node
// and Bun, Cargo, Maven and Gradle. Of a test and its subtests only the latter.
func failedTests(text string) (out []string) {
	for line := range strings.Lines(text) {
		if !hinted(line) {
			continue
		}
		if name := failedTest(strings.TrimSpace(line)); name != "" && len(name) < 300 && !slices.Contains(out, name) && len(out) < 1000 {
			out = append(out, name)
		}
	}
	return slices.DeleteFunc(out, func(name string) bool {
		return slices.ContainsFunc(out, func(other string) bool { return strings.HasPrefix(other, name+"/") })
	})
}

func failedTest(t string) string {
	for _, prefix := range []string{"--- FAIL: ", "(fail) ", "✕ ", "✗ ", "× ", "● "} {
		if after, ok := strings.CutPrefix(t, prefix); ok {
			return untimed(after)
		}
	}
	switch {
	case strings.HasPrefix(t, "not ok "):
		_, name, _ := strings.Cut(strings.TrimPrefix(t, "not ok "), " ")
		return untimed(strings.TrimPrefix(name, "- "))
	case strings.HasPrefix(t, "test ") && strings.HasSuffix(t, " ... FAILED"):
		return strings.TrimSuffix(strings.TrimPrefix(t, "test "), " ... FAILED")
	case hasPrefix(t, "FAILED ", "ERROR ") && strings.Contains(t, "::"):
		name, _, _ := strings.Cut(strings.SplitN(t, " ", 2)[1], " - ")
		return name
	case hasPrefix(t, "FAIL: ", "ERROR: ") && strings.HasSuffix(t, ")"):
		return strings.SplitN(t, " ", 2)[1]
	case strings.Contains(t, "<<< FAILURE!"), strings.Contains(t, "<<< ERROR!"):
		return maven(t)
	case strings.HasSuffix(t, " FAILED") && strings.Contains(t, " > "):
		return strings.TrimSuffix(t, " FAILED")
	}
	return ""
}

// took is how long a test took, at the end of its line.
var took = regexp.MustCompile(`\s*[(\[][\d.,]+ ?m?s[)\]]$|\s+\d+ ?ms$`)

func untimed(name string) string { return took.ReplaceAllString(strings.TrimSpace(name), "") }

// maven is the test in a line like "[ERROR] a.BTest.opens  Time elapsed: 0.01 s
// <<< FAILURE!"; a line that sums up a class of tests has none.
func maven(t string) string {
	t = strings.TrimSpace(strings.TrimPrefix(t, "[ERROR]"))
	if strings.HasPrefix(t, "Tests run:") {
		return ""
	}
	name, _, _ := strings.Cut(t, "  ")
	name, _, _ = strings.Cut(name, " -- ")
	name, _, _ = strings.Cut(name, " <<<")
	return name
}

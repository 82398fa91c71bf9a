package rendition

import (
	"strings"
	"unicode/utf8"
)

// An alarm says how surely a line tells of a failure.
type alarm uint8

const (
	quiet   alarm = iota
	perhaps       // a word of warning
	likely        // a word of failure
	certain       // the way in which a tool reports one
)

// failures are the lines that tell of failures, whatever stands around and behind
// them: each with a line or two in the first round, so that all are named before
// one is shown at length, and with what is around it in a later one. Alarms that
// differ in numbers only count once before all others.
func (c *chooser) failures() {
	seen := map[string]bool{}
	for i := range c.units {
		u := &c.units[i]
		a := alarmOf(u.text)
		if a == quiet || u.echo != fresh {
			continue
		}
		value := float64(a)
		if s := shape(u.text); seen[s] {
			value -= 2.5
		} else {
			seen[s] = true
		}
		c.add(tierFailure, i, 0, 2, value)
		if a >= likely {
			c.add(tierAround, i, 4, 20, value)
		}
	}
}

// shape is a line without its numbers, which times and addresses are made of.
func shape(text string) string {
	out := make([]byte, 0, len(text))
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && c != ' ' && c != '\t' {
			out = append(out, c)
		}
	}
	return string(out)
}

// alarmOf judges a line. What test runners, compilers and shells write is known by
// its form, in the words of the tools of Go, Python, JavaScript, Rust, Java and C;
// everything else by words of failure that are no part of a name or a path.
func alarmOf(line string) alarm {
	if !hinted(line) {
		return quiet
	}
	t := strings.TrimSpace(bare(line))
	switch {
	case t == "", passed(t):
		return quiet
	case reported(t):
		return certain
	}
	return spoken(t)
}

// hints are the first letters of all that reported and spoken know, in small
// letters; what begins outside ASCII is a hint of its own.
var hints = hintTable()

func hintTable() (table [1 << 16][]string) {
	for _, h := range []string{"abort", "assert", "build fail", "can't", "cannot", "caused by", "conflict", "crash", "denied", "deprecated", "e   ", "err", "exception", "exit status",
		"expected", "fail", "fatal", "invalid", "killed", "make: ***", "mismatch", "missing", "not ok", "panic", "refused", "segfault", "segmentation", "timeout", "traceback",
		"unable", "undefined", "unexpected", "unresolved", "warn", "----", "<<< "} {
		at := int(h[0])<<8 | int(h[1])
		table[at] = append(table[at], h)
	}
	return table
}

// hinted passes over most lines: no other is an alarm.
func hinted(line string) bool {
	before := byte(0)
	for i := range len(line) {
		c := line[i]
		if c >= utf8.RuneSelf {
			return true
		}
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		for _, h := range hints[int(before)<<8|int(c)] {
			if rest := line[i-1:]; len(rest) >= len(h) && strings.EqualFold(rest[:len(h)], h) {
				return true
			}
		}
		before = c
	}
	return false
}

// passed knows lines that have a word of failure and tell of none.
func passed(t string) bool {
	return hasPrefix(t, "--- PASS", "PASS", "ok ", "ok\t", "(pass)", "✓", "√", "✔") || strings.HasSuffix(t, " ... ok") || strings.HasSuffix(t, " PASSED")
}

func reported(t string) bool {
	if hasPrefix(t, "--- FAIL: ", "FAIL\t", "FAIL: ", "FAIL ", "FAILED", "not ok ", "(fail) ", "✕", "✗", "✖", "× ", "● ", "error[", "error: ", "Error: ", "ERROR: ", "E   ",
		"panic: ", "fatal: ", "fatal error: ", "FATAL", "Traceback (most recent", "[ERROR]", "ERROR ", "Caused by: ", "Exception in thread ", "AssertionError",
		"BUILD FAIL", "npm ERR!", "make: *** ", "Segmentation fault", "ERRORS", "FAILURES", "failures:", "level=error", "---- ") {
		return !strings.HasPrefix(t, "---- ") || strings.HasSuffix(t, " ----")
	}
	return contains(t, "<<< FAILURE!", "<<< ERROR!", " ... FAILED", " FAILED", "panicked at", "error TS", ": error: ", "Error: ", "Exception: ", ": undefined: ",
		" level=error", `"level":"error"`, "exit status ", "错误：", "失败：") && !contains(t, "exit status 0") || counts(t)
}

// counts knows a summary that counts failures: a number that is not 0 before a
// word of failure, or behind one.
func counts(t string) bool {
	fields := strings.FieldsFunc(t, func(r rune) bool { return strings.ContainsRune(" \t,;()=[]", r) })
	for i, f := range fields {
		switch strings.ToLower(strings.TrimSuffix(f, ":")) {
		case "failed", "failing", "failure", "failures", "error", "errors":
			if strings.HasSuffix(f, ":") && i+1 < len(fields) && digits(fields[i+1]) {
				return positive(fields[i+1])
			}
			if i > 0 && positive(fields[i-1]) {
				return true
			}
		}
	}
	return false
}

func positive(s string) bool { return digits(s) && strings.Trim(s, "0") != "" }

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// spoken looks for words of failure.
func spoken(t string) (most alarm) {
	if contains(t, "错误", "失败", "异常", "エラー", "오류") {
		return likely
	}
	none := false
	for i := 0; i < len(t); {
		j := i
		for j < len(t) && wordByte(t[j]) {
			j++
		}
		if j == i {
			i++
			continue
		}
		before, behind := byte(' '), byte(' ')
		if i > 0 {
			before = t[i-1]
		}
		if j < len(t) {
			behind = t[j]
		}
		if free := strings.IndexByte("/_-.", before) < 0 && strings.IndexByte("/_-", behind) < 0 && !(behind == '.' && j+1 < len(t) && wordByte(t[j+1])); free && !none {
			if a := spokenWord(t[i:j]); a > most && !zero(t[j:]) {
				most = a
			}
		}
		none = negation(t[i:j])
		i = j
	}
	return most
}

// zero reports whether a text begins by counting none: ": 0", "=0".
func zero(t string) bool {
	t = strings.TrimLeft(t, ":= ")
	number := t[:len(t)-len(strings.TrimLeft(t, "0123456789"))]
	return number != "" && !positive(number)
}

func wordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '\''
}

func negation(w string) bool {
	switch strings.ToLower(w) {
	case "no", "0", "without", "zero":
		return true
	}
	return false
}

func spokenWord(w string) alarm {
	if len(w) < 4 || len(w) > 30 {
		return quiet
	}
	switch l := strings.ToLower(w); l {
	case "error", "errors", "fail", "fails", "failed", "failure", "failures", "failing", "fatal", "exception", "denied", "refused", "cannot", "can't",
		"aborted", "killed", "traceback", "undefined", "unresolved", "panic", "crash", "crashed", "segfault", "invalid", "missing", "unexpected", "mismatch":
		return likely
	case "warn", "warning", "deprecated", "timeout", "expected", "assert", "unable", "conflict":
		return perhaps
	default:
		if (strings.HasSuffix(w, "Error") || strings.HasSuffix(w, "Exception")) && w[0] >= 'A' && w[0] <= 'Z' {
			return likely
		}
	}
	return quiet
}

// frames are the lines of a stack trace that are of the project, and the first
// and last lines of the trace.
func (c *chooser) frames() {
	for i := range c.units {
		t := strings.TrimSpace(c.units[i].text)
		if frame(t) && !foreign(t) {
			c.add(tierWanted, i, 1, 1, 1)
		}
	}
	c.add(tierFrame, len(c.units)-1, 4, 0, 2)
	c.add(tierFrame, 0, 0, 3, 2)
}

// frame knows a line of a stack trace that names a place.
func frame(t string) bool {
	return hasPrefix(t, "at ", `File "`) || contains(t, ".go:", ".rs:", ".py:", ".js:", ".ts:", ".java:", ".kt:", ".rb:", ".cs:", ".c:", ".cpp:")
}

// foreign knows places in a language's own library or in a dependency.
func foreign(t string) bool {
	return contains(t, "site-packages", "dist-packages", "node_modules", "/usr/lib", "/usr/local/go/", "/lib/python", "node:internal", "/rustc/", ".cargo/registry",
		"/pkg/mod/", "<frozen ") || hasPrefix(t, "at java.", "at javax.", "at jdk.", "at sun.", "at org.junit.", "at System.", "at Microsoft.", "runtime.", "testing.")
}

func hasPrefix(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

func contains(s string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// bare is a line without the number that a reading tool wrote before it.
func bare(line string) string {
	rest := strings.TrimLeft(line, " ")
	n := 0
	for n < len(rest) && '0' <= rest[n] && rest[n] <= '9' {
		n++
	}
	if n == 0 {
		return line
	}
	for _, mark := range []string{"→", "\t"} {
		if after, ok := strings.CutPrefix(rest[n:], mark); ok {
			return after
		}
	}
	return line
}

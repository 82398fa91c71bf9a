package review

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxOutput bounds what is shown of each stream of a check, in bytes.
const maxOutput = 1200

// Material is what a reviewer judges by.
type Material struct {
	Request  string // the user's words, verbatim
	Result   string // the author's own report
	Workers  string // the results of the others, as they are shown
	Files    []File
	Before   []string // files that were changed before the run
	Stat     string   // the diff in figures
	Checks   []Check
	NoChecks string // why none ran
	Diff     string
	Cut      bool // the diff is not whole
	New      []Preview
	Tier     string
}

// A File is one that was changed, with git's short status.
type File struct{ Path, Status string }

// A Check is one that ran.
type Check struct {
	Name           string
	Passed         bool
	Exit           int
	Stdout, Stderr string
}

// A Preview is the beginning of a file that git does not know yet.
type Preview struct {
	Path   string
	Bytes  int64
	Binary bool
	Cut    bool
	Text   string
}

// Prompt is what the reviewer is asked. The ids of the reply are not in it: the
// Brain's are authoritative, whatever a reply echoes.
func Prompt(m Material) string {
	var b strings.Builder
	b.WriteString(stance(ModeOf(m.Tier)))
	b.WriteString(rules)
	section(&b, "The request", m.Request)
	section(&b, "What the author reports", m.Result)
	section(&b, "Results of other workers", m.Workers)
	section(&b, "Changed files", files(m.Files))
	section(&b, "Changed before this work began, by somebody else", strings.Join(m.Before, "\n"))
	section(&b, "In figures", m.Stat)
	section(&b, "Checks", checks(m))
	diff := "The diff"
	if m.Cut {
		diff += ", cut: read the rest in the project"
	}
	section(&b, diff, m.Diff)
	for _, p := range m.New {
		section(&b, "New file "+p.Path, p.text())
	}
	return b.String()
}

func stance(m Mode) string {
	switch m {
	case Strict:
		return "Review this change strictly: the risk is high. Read every changed file whole, and the code that calls it.\n"
	case Hostile:
		return "Review this change as somebody who wants to break it: the risk is critical. Assume that it is wrong until you have seen why it is not. Read every changed file whole, and the code that calls it.\n"
	default:
		return "Review this change.\n"
	}
}

const rules = `You did not write it. Judge by what stands in the files, not by what the author says. Read only; change nothing and run nothing. Look for defects, regressions, missing tests and things that were asked for and not done; leave style alone.

Answer with one JSON object and nothing else:
{"decision": "approved", "changes_requested" or "blocked",
 "confidence": 0 to 1,
 "rationale": "why, in a few sentences",
 "findings": [{"severity": "low", "medium" or "high", "file": "path", "line": 1, "evidence": "…", "issue": "…", "suggestion": "…"}],
 "requiredChanges": ["what must be done before this can be approved"],
 "blockingIssues": ["what cannot be settled by a change"],
 "residualRisks": ["what stays uncertain"],
 "coverage": [{"file": "every changed file", "depth": "inspected", "partially_inspected" or "skipped"}]}
`

func section(b *strings.Builder, head, text string) {
	if text = strings.TrimRight(text, "\n"); text != "" {
		fmt.Fprintf(b, "\n## %s\n%s\n", head, text)
	}
}

func files(list []File) string {
	var b strings.Builder
	for _, f := range list {
		fmt.Fprintf(&b, "%s %s\n", f.Status, f.Path)
	}
	return b.String()
}

func checks(m Material) string {
	if len(m.Checks) == 0 {
		return m.NoChecks
	}
	var b strings.Builder
	for _, c := range m.Checks {
		if c.Passed {
			fmt.Fprintf(&b, "%s: passed\n", c.Name)
			continue
		}
		fmt.Fprintf(&b, "%s: failed, exit code %d\n%s%s", c.Name, c.Exit, tail("stdout", c.Stdout), tail("stderr", c.Stderr))
	}
	return b.String()
}

// tail is the end of a stream: what went wrong stands there.
func tail(name, text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	left := ""
	if n := len(text) - maxOutput; n > 0 {
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		text, left = text[n:], fmt.Sprintf(" (%d bytes before this left out)", n)
	}
	return fmt.Sprintf("%s%s:\n%s\n", name, left, text)
}

func (p *Preview) text() string {
	switch {
	case p.Binary:
		return fmt.Sprintf("%d bytes, no text", p.Bytes)
	case p.Cut:
		return fmt.Sprintf("(the beginning of %d bytes)\n%s", p.Bytes, p.Text)
	}
	return p.Text
}

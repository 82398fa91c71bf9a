package page

import (
	"regexp"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// The lines by which tools tell the exit code of a command, before its output or
// behind it, and those by which test runners tell of failures.
var (
	exitCode = regexp.MustCompile(`(?im)^[ \t]*[<\[({"]*(?:command |process |shell )?(?:exited with |failed with |finished with )?(?:exit[ _]?code|exit status|returncode|code)["']?[ :>=]*(-?\d{1,10})\b`)
	metadata = regexp.MustCompile(`"exit_?[cC]ode":\s*(-?\d{1,10})\b`)
	failures = regexp.MustCompile(`(?m)^\s*(?:--- FAIL: |FAIL\b|FAILED\b|not ok |\(fail\) |ERROR collecting)|\btest result: FAILED|\b[1-9]\d* (?:failed|failing|failures?|errors?)\b|(?:Failures|Errors|Failed): +[1-9]`)
)

// outcomeOf says how a tool call ended, from what its result says: that it is an
// error, an exit code at its beginning or end, the summary of a test run, a
// stack trace in place of output. A result without any such sign is ok.
func outcomeOf(tool quire.Page, text string, failedFlag bool) quire.Outcome {
	code, coded := codeIn(text)
	switch {
	case failedFlag:
		return quire.OutcomeError
	case tool.Action == quire.ActionSearch && coded && code == "1": // found nothing
		return quire.OutcomeOK
	case coded && code != "0" && !onFile(tool.Action):
		return quire.OutcomeError
	case failed(text):
		return quire.OutcomeError
	case tool.Action != quire.ActionRun:
		return quire.OutcomeOK
	case tool.Class == quire.ClassTest && failures.MatchString(ends(text, 8<<10)):
		return quire.OutcomeError
	case tool.Class == quire.ClassTrace && !coded:
		return quire.OutcomeError
	}
	return quire.OutcomeOK
}

// What counts as a word of the user to take back what was just done: it must
// begin a clause, politely or not, so that questions, refusals and talk of an undo
// button are none. A Chinese clause has the verb anywhere, and is judged by what
// else is in it.
var (
	quoted  = regexp.MustCompile("(?ms)```.*?(?:```|\\z)|`[^`\n]*`|\"[^\"]*\"|“[^”]*”|‘[^’]*’|「[^」]*」|『[^』]*』|«[^»]*»|^[ \t]*>[^\n]*|\\B'[^'\n]*'\\B")
	english = regexp.MustCompile(`(?i)(?:^|[.,;:!?()\n–—]|\b(?:and|so|then|but|please) )\s*` + polite +
		`(?:(?:revert|undo|roll ?back|back out)(?: ` + thing + `\b|(?: please| now)?\s*(?:[.,;!?\n]|$))|(?:roll|take|back) ` + thing + ` (?:back|out)\b)`)
	chinese    = regexp.MustCompile(`撤销|撤消|还原|回退|撤回|回滚`)
	notChinese = regexp.MustCompile(`不要|不用|不必|不能|不是|无需|别|勿|没|为什么|为何|怎么|如何|什么|功能|按钮|实现|支持|添加|增加|新增|逻辑`)
	clauses    = regexp.MustCompile(`[，。！？；,.!?;\n]+`)
)

// The parts of the English rule, and what is short enough to be such a word.
const (
	thing   = `(?:that|this|it|them|those|these|all|everything|(?:(?:all|of|the|that|this|those|these|your|my|both|last|latest|previous|recent) )+(?:\w+ ){0,2}?(?:changes?|edits?|modifications?|patch(?:es)?|commits?|steps?|updates?|fix(?:es)?|work|ones?|refactor(?:ing)?))`
	polite  = `(?:(?:please|pls|just|now|ok|okay|no|nope|yes|and|so|then|but|also|actually|wait|hmm|sorry|hey|go ahead|(?:can|could|would|will) (?:you|we)|let'?s|let us|(?:you|we) (?:should|must|need to|have to)|i (?:want|need) you to|i'd like you to|better|completely|fully)[ ,]+)*`
	maxWord = 300 // bytes
)

// takesBack reports whether a message of the user tells to take back what was
// just done. What stands in quotation marks or code is somebody else's.
func takesBack(text string) bool {
	text = strings.TrimSpace(text)
	if len(text) > maxWord {
		return false
	}
	text = quoted.ReplaceAllString(strings.ReplaceAll(text, "\r\n", "\n"), " … ")
	if english.MatchString(strings.ReplaceAll(text, "’", "'")) {
		return true
	}
	for _, c := range clauses.Split(text, -1) {
		if chinese.MatchString(c) && !notChinese.MatchString(c) {
			return true
		}
	}
	return false
}

func onFile(a quire.Action) bool { return a == quire.ActionWrite || a == quire.ActionEdit }

// codeIn finds the exit code in a result.
func codeIn(text string) (code string, ok bool) {
	head, tail := text[:min(len(text), 300)], text[max(0, len(text)-300):]
	if strings.HasPrefix(head, "{") {
		if m := metadata.FindStringSubmatch(head + tail); m != nil {
			return m[1], true
		}
	}
	if m := exitCode.FindStringSubmatch(head); m != nil {
		return m[1], true
	}
	if m := exitCode.FindAllStringSubmatch(tail, -1); m != nil {
		return m[len(m)-1][1], true
	}
	return "", false
}

// ends is the beginning and the end of a text, n bytes of each.
func ends(text string, n int) string {
	if len(text) <= 2*n {
		return text
	}
	return text[:n] + "\n" + text[len(text)-n:]
}

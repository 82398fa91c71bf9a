package ledger

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/quire"
)

// How far from its two ends, in bytes, a result is searched for an exit code.
const codeReach = 300

var (
	codeLine  = regexp.MustCompile(`(?im)^[^\n]{0,24}?\b(?:exit(?:ed)?(?: with)?[ _]?(?:code|status)|returncode)["']?[ \t:=>]{0,3}(-?\d{1,10})\b`)
	codeField = regexp.MustCompile(`"exit_?[cC]ode"\s*:\s*(-?\d{1,10})\b`)
	escape    = regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?")
	faulty    = regexp.MustCompile(`(?i)\b(?:error|errors|failed|fail|failure|panic|exception|fatal|denied|cannot|undefined|not found|no such)\b|错误|失败`)
	commitAt  = regexp.MustCompile(`(?m)^\[([^\]\s]+)(?: \([^)]*\))? ([0-9a-f]{7,40})\] (.+?)\r?$`)
)

// exitCode finds the exit code that a tool reports at the beginning or the end of
// a result, "" where it reports none.
func exitCode(text string) string {
	head, tail := text[:min(len(text), codeReach)], text[max(0, len(text)-codeReach):]
	if m := codeLine.FindStringSubmatch(head); m != nil {
		return m[1]
	}
	if all := codeLine.FindAllStringSubmatch(tail, -1); all != nil {
		return all[len(all)-1][1]
	}
	if m := codeField.FindStringSubmatch(head + tail); m != nil && strings.HasPrefix(head, "{") {
		return m[1]
	}
	return ""
}

// resultLine is the one line of a result that says most: of what failed, the
// first that speaks of it; of a command, its last; of what was read or found, how
// much it was.
func resultLine(c *call, text string) string {
	switch {
	case c.outcome == quire.OutcomeError:
		return pick(text, faulty.MatchString)
	case c.action == quire.ActionRead, c.action == quire.ActionSearch, c.action == quire.ActionList:
		return plural(strings.Count(strings.TrimSpace(text), "\n")+btoi(strings.TrimSpace(text) != ""), "line")
	case c.action == quire.ActionWrite, c.action == quire.ActionEdit, c.action == quire.ActionPlan:
		return ""
	}
	return pick(text, func(string) bool { return false })
}

// searched is how many lines of a result are looked at for one to show.
const searched = 2000

// pick is the first line that is wanted, else the last that holds words.
func pick(text string, wanted func(string) bool) string {
	last := ""
	for n := 0; text != "" && n < searched; n++ {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		line = clean(line)
		if codeLine.MatchString(line) || !strings.ContainsFunc(line, unicode.IsLetter) {
			continue
		}
		if last = line; wanted(line) {
			break
		}
	}
	return oneLine(last, lineWidth)
}

// clean is what a terminal shows of a line in the end.
func clean(line string) string {
	line = strings.TrimRight(line, "\r")
	if i := strings.LastIndexByte(line, '\r'); i >= 0 {
		line = line[i+1:]
	}
	return strings.TrimSpace(escape.ReplaceAllString(line, ""))
}

// lineWidth is the longest line of a result in a card, in bytes.
const lineWidth = 120

// oneLine makes one line of at most width bytes of a text, cut between runes.
func oneLine(text string, width int) string {
	if len(text) > 8*width {
		text = text[:8*width]
	}
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\ufffd"), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	return strings.Clone(clip(text, width))
}

// clip cuts a text to at most width bytes, between runes, and shows that it did.
func clip(text string, width int) string {
	if len(text) <= width {
		return text
	}
	cut := max(0, width-len("…"))
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// A commit is what git said of a commit.
type commit struct{ branch, hash, subject string }

// commitsIn reads what git prints when a command commits.
func commitsIn(command, text string) []commit {
	if !strings.Contains(text, "] ") || !strings.Contains(command, "git") && !strings.HasPrefix(text, "[") {
		return nil
	}
	var all []commit
	for _, m := range commitAt.FindAllStringSubmatch(text, -1) {
		all = append(all, commit{branch: strings.Clone(m[1]), hash: strings.Clone(m[2]), subject: oneLine(m[3], lineWidth)})
	}
	return all
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

package search

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path"
	"path/filepath"
	"regexp/syntax"
	"strings"
	"time"
)

// patience is how long ripgrep may take before the search goes on without it.
const patience = 20 * time.Second

// candidates asks ripgrep in which files of a folder a match may be. narrowed is
// false where it cannot say: then all files may.
func (g *search) candidates(ctx context.Context, dir string) (may map[string]bool, narrowed bool) {
	pattern, ok := translated(g.args.Pattern)
	if g.ripgrep == "" || !ok || g.line.MatchString("") {
		return nil, false // what matches nothing at all matches in nearly every file
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, g.ripgrep, "--no-config", "--no-messages", "--files-with-matches", "--null", "--color=never",
		"--text", "--hidden", "--glob=!.git", "--no-ignore-global", "--no-ignore-parent", "--no-ignore-exclude", "--no-ignore-dot", "--no-require-git",
		"--regexp="+pattern, "--", ".") // failures.md B31: the pattern is never taken for a flag
	cmd.Dir = filepath.Join(g.fence.Dir(), filepath.FromSlash(dir))
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		return nil, false
	}
	may = map[string]bool{}
	for name := range bytes.SplitSeq(out, []byte{0}) {
		if len(name) > 0 {
			may[path.Join(dir, filepath.ToSlash(string(name)))] = true
		}
	}
	return may, true
}

// translated writes an expression so that it means to ripgrep what it means
// here: classes as ranges, ^ and $ as ends of lines (also those with a carriage
// return), \b between ASCII words.
// What means something else in a file than in a line is not translated.
func translated(pattern string) (string, bool) {
	re, err := syntax.Parse(pattern, syntax.Perl&^syntax.OneLine)
	if err != nil {
		return "", false
	}
	text := beforeReturn(re).String()
	if end := strings.IndexByte(text, '$'); end >= 0 && max(strings.LastIndex(text, `\b`), strings.LastIndexByte(text, '^')) > end {
		return "", false // what follows an end of line sees the carriage return
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		switch text[i] {
		case 'A', 'z', 'n', 'B':
			return "", false
		case 'b':
			b.WriteString(`(?-u:\b)`)
		default:
			b.WriteString(text[i-1 : i+1])
		}
	}
	return b.String(), true
}

// beforeReturn lets every end of a line stand before a carriage return too.
func beforeReturn(re *syntax.Regexp) *syntax.Regexp {
	for i, sub := range re.Sub {
		re.Sub[i] = beforeReturn(sub)
	}
	if re.Op != syntax.OpEndLine {
		return re
	}
	optional := &syntax.Regexp{Op: syntax.OpQuest, Sub: []*syntax.Regexp{{Op: syntax.OpLiteral, Rune: []rune{'\r'}}}}
	return &syntax.Regexp{Op: syntax.OpConcat, Sub: []*syntax.Regexp{optional, re}}
}

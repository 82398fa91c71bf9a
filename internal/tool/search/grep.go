package search

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"github.com/quire-agent/quire/internal/tool"
	"github.com/quire-agent/quire/internal/x/walk"
)

//go:embed grep.md
var grepPrompt string

type grepArgs struct {
	Pattern    string `json:"pattern" jsonschema:"a regular expression"`
	Path       string `json:"path,omitempty" jsonschema:"a file or folder"`
	Glob       string `json:"glob,omitempty" jsonschema:"which files"`
	IgnoreCase bool   `json:"ignore_case,omitempty" jsonschema:"capitals count as small letters"`
	Context    int    `json:"context,omitempty" jsonschema:"lines around each match"`
	FilesOnly  bool   `json:"files_only,omitempty" jsonschema:"paths only"`
}

// The bounds of a search.
const (
	maxMatches = 500      // lines, or files
	maxFile    = 16 << 20 // bytes of a file that is searched
	maxLine    = 1000     // bytes of a line that are shown
	maxContext = 20
)

func (s *Search) grep() tool.Tool {
	return tool.New("grep", grepPrompt, func(a grepArgs) tool.Want { return looks(a.Path) }, s.runGrep)
}

func (s *Search) runGrep(ctx context.Context, a grepArgs) (tool.Result, error) {
	rel, file, failed := s.place(a.Path)
	if failed != nil {
		return *failed, nil
	}
	if a.IgnoreCase {
		a.Pattern = "(?i:" + a.Pattern + ")"
	}
	line, err := regexp.Compile(a.Pattern)
	if a.Pattern == "" || err != nil {
		return tool.Failed("%q is not a regular expression: %v.", a.Pattern, err), nil
	}
	g := &search{Search: s, args: a, line: line, around: min(max(a.Context, 0), maxContext)}
	if file {
		g.file(rel)
	} else if failed := g.folder(ctx, rel); failed != nil {
		return *failed, nil
	}
	return tool.Result{Text: g.result()}, nil
}

// A search is one call of grep.
type search struct {
	*Search
	args    grepArgs
	line    *regexp.Regexp
	around  int
	out     strings.Builder
	count   int // matches
	files   int // with matches
	skipped int // files that are too large
}

// folder searches what the walk meets, in its order.
func (g *search) folder(ctx context.Context, dir string) *tool.Result {
	may, narrowed := g.candidates(ctx, dir)
	for e, err := range walk.Project(g.fence.Root().FS(), dir, walk.Options{}) {
		if stop := stopped(ctx); stop != nil {
			r := tool.Failed("%v.", stop)
			return &r
		}
		if err != nil || !e.Entry.Type().IsRegular() || !matches(g.args.Glob, dir, e.Path) || narrowed && !may[e.Path] {
			continue
		}
		if info, err := e.Entry.Info(); err == nil && info.Size() > maxFile {
			g.skipped++
			continue
		}
		g.file(e.Path)
	}
	return nil
}

// file searches one file. One that cannot be read or is binary has no lines.
func (g *search) file(name string) {
	data, err := g.fence.Root().ReadFile(name)
	if err != nil || bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 {
		return
	}
	lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	if len(data) == 0 {
		return
	}
	found := g.matching(lines)
	if len(found) == 0 {
		return
	}
	g.files++
	if g.args.FilesOnly {
		g.count++
		if g.count <= maxMatches {
			g.out.WriteString(name + "\n")
		}
		return
	}
	g.show(name, lines, found)
}

// matching lists the lines that match, from 0.
func (g *search) matching(lines [][]byte) []int {
	var found []int
	for i, l := range lines {
		lines[i] = bytes.TrimSuffix(l, []byte("\r"))
		if g.line.Match(lines[i]) {
			if found = append(found, i); g.args.FilesOnly {
				break
			}
		}
	}
	return found
}

// show writes matches with the lines around them, each line once.
func (g *search) show(name string, lines [][]byte, found []int) {
	next := 0
	for i, at := range found {
		if g.count++; g.count > maxMatches {
			continue
		}
		first := max(at-g.around, next)
		if g.around > 0 && (next > 0 && first > next || next == 0 && g.out.Len() > 0) {
			g.out.WriteString("--\n")
		}
		last := min(at+g.around, len(lines)-1)
		if i+1 < len(found) && found[i+1] <= last {
			last = found[i+1] - 1
		}
		for n := first; n <= last; n++ {
			mark := "-"
			if n == at {
				mark = ":"
			}
			fmt.Fprintf(&g.out, "%s%s%d%s%s\n", name, mark, n+1, mark, clip(lines[n]))
		}
		next = last + 1
	}
}

func clip(line []byte) string {
	if len(line) <= maxLine {
		return tool.Valid(string(line))
	}
	head := strings.ToValidUTF8(string(line[:maxLine]), "")
	return fmt.Sprintf("%s [… %d bytes of this line left out …]", head, len(line)-len(head))
}

func (g *search) result() string {
	text := g.out.String()
	if g.count == 0 {
		text = "(no matches)"
	}
	if g.count > maxMatches {
		text += fmt.Sprintf("[%d more matches, in %d files together; narrow the pattern, path or glob]\n", g.count-maxMatches, g.files)
	}
	if g.skipped > 0 {
		text += fmt.Sprintf("\n[%d files over %d MiB were not searched]\n", g.skipped, maxFile>>20)
	}
	return tool.Bound(text, tool.MaxText)
}

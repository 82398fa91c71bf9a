package carrier

import (
	"strings"
)

// A section is a part of a text under one heading.
type section struct {
	titles []string // the headings above it and its own, the outermost first
	first  int      // number of its first line
	text   string   // its heading included
}

// sections cuts Markdown at its headings (lines of one to six #), outside of
// fenced code. A section with nothing but its heading is part of the next one.
// Text before the first heading is a section without titles.
func sections(text string) (out []section) {
	var titles []string
	var fence string
	start := section{first: 1}
	var body strings.Builder
	full := false // something but headings is in body
	flush := func() {
		if start.text = body.String(); strings.TrimSpace(start.text) != "" {
			out = append(out, start)
		}
		body.Reset()
		full = false
	}
	number := 0
	for line := range strings.SplitAfterSeq(text, "\n") {
		number++
		fence = fenced(fence, line)
		if level, title := heading(line); level > 0 && fence == "" {
			titles = append(titles[:min(level-1, len(titles)):min(level-1, len(titles))], title)
			if full || body.Len() == 0 {
				flush()
				start = section{first: number}
			}
			start.titles = titles
		} else if strings.TrimSpace(line) != "" {
			full = true
		}
		body.WriteString(line)
	}
	flush()
	return out
}

// heading is the level and text of a heading, level 0 for another line.
func heading(line string) (level int, title string) {
	rest := strings.TrimLeft(line, "#")
	level = len(line) - len(rest)
	if level == 0 || level > 6 || rest == "" || rest[0] != ' ' && rest[0] != '\t' {
		return 0, ""
	}
	return level, strings.TrimSpace(strings.TrimRight(strings.TrimSpace(rest), "#"))
}

// fenced is the fence that is open behind a line, "" for none.
func fenced(open, line string) string {
	line = strings.TrimSpace(line)
	mark := line[:len(line)-len(strings.TrimLeft(line, "`~"))]
	switch {
	case len(mark) < 3:
		return open
	case open == "":
		return mark
	case strings.HasPrefix(mark, open) && mark == line:
		return ""
	}
	return open
}

// title is what a section is called: its headings, the outermost first.
func (s *section) title() string { return strings.Join(s.titles, " › ") }

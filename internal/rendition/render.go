package rendition

import (
	"fmt"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// head is the first line of a shortened text.
func (m *Maker) head(s *sheet, kept []bool) string {
	lines, bytes, news := s.missing(kept)
	name, how := s.src.Page.Number, m.how(s.src.Page.Number, quire.Range{})
	switch {
	case !news:
		return fmt.Sprintf("[%s shortened: repeated lines, redraws and escape codes are not shown; %s reads the original]%s", name, how, s.eol)
	case lines == 0:
		return fmt.Sprintf("[%s shortened: %s of %s bytes are not shown; %s reads them]%s", name, count(bytes), count(s.bytes), how, s.eol)
	}
	return fmt.Sprintf("[%s shortened: %s of %s lines are not shown; %s reads them]%s", name, count(lines), count(s.lines), how, s.eol)
}

// longestHead is at least the length of any head of the sheet.
func (m *Maker) longestHead(s *sheet) int {
	none := make([]bool, len(s.units))
	repeats := fmt.Sprintf("[%s shortened: repeated lines, redraws and escape codes are not shown; %s reads the original]%s",
		s.src.Page.Number, m.how(s.src.Page.Number, quire.Range{}), s.eol)
	bytes := len("bytes") + 2*(len(count(s.bytes))-len(count(s.lines))) - len("lines")
	return max(len(repeats), len(m.head(s, none))+max(0, bytes))
}

// missing counts what a set of units leaves out: whole lines, bytes, and whether
// any of it is more than an echo.
func (s *sheet) missing(kept []bool) (lines, bytes int, news bool) {
	for i := 0; i < len(s.units); {
		j, any := i, false
		for ; j < len(s.units) && s.units[j].line == s.units[i].line; j++ {
			any = any || kept[j]
			if !kept[j] {
				bytes += s.units[j].size
				news = news || s.units[j].echo == fresh
			}
		}
		if !any {
			lines++
		}
		i = j
	}
	return lines, bytes, news
}

// render writes the kept units with a mark in each gap.
func (m *Maker) render(s *sheet, kept []bool) Cut {
	var b strings.Builder
	b.WriteString(m.head(s, kept))
	for i := 0; i < len(s.units); {
		if kept[i] {
			b.WriteString(s.units[i].text)
			i++
			continue
		}
		j := i + 1
		for j < len(s.units) && !kept[j] {
			j++
		}
		b.WriteString(m.gap(s, i, j))
		i = j
	}
	return Cut{Text: b.String(), Lines: s.shown(kept)}
}

// gap is the mark for the units from i to before j.
func (m *Maker) gap(s *sheet, i, j int) string {
	from, to := &s.units[i], &s.units[j-1]
	how := m.how(s.src.Page.Number, quire.Range{First: from.line, Last: to.line})
	if !from.opens || !to.closes {
		return s.within(i, j, how)
	}
	n := to.line - from.line + 1
	switch s.echoes(i, j) {
	case repeated:
		return fmt.Sprintf("… repeated %s times%s", count(n+1), s.eol)
	case redrawn:
		return fmt.Sprintf("… %s of progress%s", counted(n, "line"), s.eol)
	}
	return fmt.Sprintf("… %s: %s%s", counted(n, "line"), how, s.eol)
}

// within is the mark of a gap that begins or ends inside a line.
func (s *sheet) within(i, j int, how string) string {
	bytes := 0
	for _, u := range s.units[i:j] {
		bytes += u.size
	}
	mark := fmt.Sprintf("…[%s: %s]", counted(bytes, "byte"), how)
	if j < len(s.units) && !s.units[j].opens {
		return mark + "…"
	}
	return mark + s.eol
}

// echoes says of what kind a gap is: repeated when all of it repeats the unit
// before it, redrawn when all of it says nothing new, else fresh.
func (s *sheet) echoes(i, j int) echo {
	kind := repeated
	for k := i; k < j; k++ {
		switch s.units[k].echo {
		case fresh:
			return fresh
		case redrawn:
			kind = redrawn
		}
	}
	return kind
}

// longestMark is at least the length of any mark in the sheet.
func (m *Maker) longestMark(s *sheet) int {
	how := m.how(s.src.Page.Number, quire.Range{First: max(1, s.lines-1), Last: max(2, s.lines)})
	return max(len(how)+len("…[ bytes: ]…")+len(count(s.bytes)),
		len("… repeated  times")+len(count(s.lines)), len("…  lines of progress")+len(count(s.lines))) + len(s.eol)
}

package rendition

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// head is the first line of a shortened text.
func (m *Maker) head(s *sheet, kept []bool) string {
	lines, bytes, news := s.missing(kept)
	how := m.how(s.src.Page.Number)
	switch {
	case !news:
		return noiseHead(how, s.eol)
	case lines == 0:
		return fmt.Sprintf("[shortened: %d of %d bytes missing; %s]%s", bytes, s.bytes, how, s.eol)
	}
	return fmt.Sprintf("[shortened: %d of %d lines missing; %s]%s", lines, s.lines, how, s.eol)
}

func noiseHead(how, eol string) string {
	return fmt.Sprintf("[shortened: repeated lines, redraws and escape codes missing; %s]%s", how, eol)
}

// longestHead is at least the length of any head of the sheet.
func (m *Maker) longestHead(s *sheet) int {
	how := m.how(s.src.Page.Number)
	return max(len(noiseHead(how, s.eol)), len("[shortened:  of  bytes missing; ]")+2*len(strconv.Itoa(s.bytes))+len(how)+len(s.eol))
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
	lines := quire.Range{First: from.line, Last: to.line}
	if !from.opens || !to.closes {
		return s.within(i, j, lines)
	}
	n := to.line - from.line + 1
	switch s.echoes(i, j) {
	case repeated:
		return fmt.Sprintf("… repeated %d times%s", n+1, s.eol)
	case redrawn:
		return fmt.Sprintf("… %s of progress%s", counted(n, "line"), s.eol)
	}
	return fmt.Sprintf("… %s%s", lineNames(lines), s.eol)
}

// lineNames is a range of lines as references to them end: L10-L40.
func lineNames(lines quire.Range) string {
	if lines.First == lines.Last {
		return fmt.Sprintf("L%d", lines.First)
	}
	return fmt.Sprintf("L%d-L%d", lines.First, lines.Last)
}

// within is the mark of a gap that begins or ends inside a line.
func (s *sheet) within(i, j int, lines quire.Range) string {
	bytes := 0
	for _, u := range s.units[i:j] {
		bytes += u.size
	}
	mark := fmt.Sprintf("…[%s of %s]", counted(bytes, "byte"), lineNames(lines))
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
func longestMark(s *sheet) int {
	line := strconv.Itoa(max(2, s.lines))
	inner := len("…[ bytes of L-L]…") + len(strconv.Itoa(s.bytes)) + 2*len(line)
	return max(inner, len("… repeated  times")+len(line)+1, len("…  lines of progress")+len(line)) + len(s.eol)
}

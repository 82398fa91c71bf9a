package report

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// A Style says how a terminal wants its text.
type Style struct {
	Width int  // columns; 0 means 80
	Color bool // emphasis by escape codes
}

// minWidth is the narrowest screen for which tables are made; a narrower one
// wraps them.
const minWidth = 80

// printer writes lines and keeps the first error.
type printer struct {
	w     io.Writer
	width int
	color bool
	err   error
}

func newPrinter(w io.Writer, s Style) *printer {
	if s.Width == 0 {
		s.Width = 80
	}
	return &printer{w: w, width: max(s.Width, minWidth), color: s.Color}
}

// line writes one line, cut to the width.
func (p *printer) line(format string, args ...any) {
	p.raw(fit(fmt.Sprintf(format, args...), p.width))
}

// wrapped writes text in as many lines as it needs, each after indent.
func (p *printer) wrapped(indent, text string) {
	line := indent
	for word := range strings.FieldsSeq(text) {
		if line != indent && columns(line)+columns(word) >= p.width {
			p.raw(line)
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += fit(word, p.width-columns(indent))
	}
	p.raw(line)
}

func (p *printer) raw(text string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, strings.TrimRight(text, " ")+"\n")
	}
}

// title writes a heading and, in plain style after it, a remark.
func (p *printer) title(text, remark string) {
	if remark != "" {
		remark = "  " + remark
	}
	remark = fit(remark, p.width-columns(text))
	if p.color {
		text = "\x1b[1;36m" + text + "\x1b[0m"
	}
	p.raw(text + remark)
}

// strong is text that stands out where there is colour.
func (p *printer) strong(text string) string {
	if p.color {
		return "\x1b[1m" + text + "\x1b[0m"
	}
	return text
}

// clean makes text from a log safe for one line of a terminal: control
// characters, which could be escape codes, become spaces.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, text)
}

// columns is the width of text on a terminal: two for wide East Asian
// characters, none for combining ones. Escape codes must not be in it.
func columns(text string) int {
	n := 0
	for _, r := range text {
		n += cells(r)
	}
	return n
}

func cells(r rune) int {
	switch {
	case unicode.Is(unicode.Mn, r):
		return 0
	case r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 ||
		r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 ||
		r >= 0xffe0 && r <= 0xffe6 || r >= 0x1f300 && r <= 0x1faff || r >= 0x20000 && r <= 0x3fffd):
		return 2
	default:
		return 1
	}
}

// fit cuts text at its end to a width.
func fit(text string, width int) string {
	if columns(text) <= width {
		return text
	}
	n := 0
	for i, r := range text {
		if n += cells(r); n > width-1 {
			return text[:i] + "…"
		}
	}
	return text
}

// fitPath cuts text at its beginning to a width: of a path the end says most.
func fitPath(text string, width int) string {
	over := columns(text) - width
	if over <= 0 {
		return text
	}
	for i, r := range text {
		if over < 0 {
			return "…" + text[i:]
		}
		over -= cells(r)
	}
	return "…"
}

// left and right pad text to a width.
func left(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-columns(text)))
}

func right(text string, width int) string {
	return strings.Repeat(" ", max(0, width-columns(text))) + text
}

// A table has columns that are as wide as their widest cell. Numbers stand to
// the right; the last column takes what is left of the line and is cut to it.
type table struct {
	heads []string
	text  []bool // of a column: to the left
	path  bool   // cut the last column at its beginning
	rows  [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (p *printer) table(t table) {
	widths := make([]int, len(t.heads))
	for _, row := range append([][]string{t.heads}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], columns(cell))
		}
	}
	p.raw(p.dim(p.row(t, widths, t.heads)))
	for _, row := range t.rows {
		p.raw(p.row(t, widths, row))
	}
}

func (p *printer) dim(text string) string {
	if p.color {
		return "\x1b[2m" + strings.TrimRight(text, " ") + "\x1b[0m"
	}
	return text
}

func (p *printer) row(t table, widths []int, row []string) string {
	line := " "
	for i, cell := range row {
		line += " "
		switch last := i == len(row)-1; {
		case last && t.path:
			line += fitPath(cell, p.width-columns(line))
		case last && t.text[i]:
			line += fit(cell, p.width-columns(line))
		case t.text[i]:
			line += left(cell, widths[i]) + " "
		default:
			line += right(cell, widths[i]) + " "
		}
	}
	return line
}

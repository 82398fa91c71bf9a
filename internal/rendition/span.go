package rendition

import (
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// The lengths of a span in lines: long enough to be understood alone, short
// enough that half of it is rarely wanted without the other.
const (
	spanMin  = 10
	spanGood = 25
	spanMax  = 40
)

// Spans cuts a page into passages that are kept or dropped as one: all lines,
// rising, without gaps, none longer than 40 lines and, but for the last, none
// shorter than 10. They end where something of the page's class does: a
// declaration, a hunk, a test, a file of hits, a section, a paragraph. Where there
// is no boundary they end after 40 lines. A text without lines has no spans.
func Spans(s Source) []quire.Range {
	return newSheet(&s).spans()
}

func (s *sheet) spans() (out []quire.Range) {
	strength := s.boundaries()
	for first := 1; first <= s.lines; {
		last := spanEnd(strength, first, s.lines)
		out = append(out, quire.Range{First: first, Last: last})
		first = last + 1
	}
	return out
}

// spanEnd is the last line of the span that begins at first: before the strongest
// boundary in reach, of equals the one nearest to a good length.
func spanEnd(strength []uint8, first, lines int) int {
	end, best, distance := min(first+spanMax-1, lines), uint8(0), 0
	for next := first + spanMin; next <= min(first+spanMax, lines); next++ {
		d := max(next-first-spanGood, first+spanGood-next)
		if g := strength[next]; g > best || g == best && g > 0 && d < distance {
			end, best, distance = next-1, g, d
		}
	}
	if best == 0 && lines-first+1 <= spanMax {
		return lines
	}
	return end
}

// boundaries says of each line, by its number, how well a span begins there: 0 not
// at all, 3 best.
func (s *sheet) boundaries() []uint8 {
	out := make([]uint8, s.lines+2)
	begins := s.beginning()
	blank := true
	for i := range s.units {
		u := &s.units[i]
		if !u.opens {
			continue
		}
		body := strings.TrimSpace(bare(u.text))
		switch {
		case body == "":
		case begins(u.text):
			out[u.line] = 3
		case blank && indent(u.text) == 0:
			out[u.line] = 2
		case blank:
			out[u.line] = 1
		}
		blank = body == ""
	}
	s.strengthen(out)
	return out
}

// strengthen marks where declarations and blocks of source begin.
func (s *sheet) strengthen(out []uint8) {
	if s.src.Page.Class != quire.ClassSource {
		return
	}
	for _, i := range s.starts() {
		out[s.units[i].line] = 3
	}
}

// beginning knows lines that begin something in a text of the page's class.
func (s *sheet) beginning() func(line string) bool {
	switch s.src.Page.Class {
	case quire.ClassDiff:
		return diffHead
	case quire.ClassTest, quire.ClassTrace:
		return func(t string) bool {
			return hasPrefix(t, "=== RUN", "--- ", "____", "----", "● ", "running ", "FAIL", "goroutine ", "Traceback ")
		}
	case quire.ClassSearch:
		before := ""
		return func(t string) bool {
			f := hitFile(t)
			other := f != "" && f != before
			before = f
			return other
		}
	case quire.ClassProse:
		return func(t string) bool { return strings.HasPrefix(strings.TrimLeft(bare(t), " "), "#") }
	}
	return func(string) bool { return false }
}

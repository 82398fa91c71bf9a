package rendition

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/quire"
)

// longLine is the length in bytes from which a line is kept or dropped in pieces,
// each of at most longPiece bytes: no recorded source line reaches the first, and
// a piece of the second is a sentence or a few values.
const (
	longLine  = 600
	longPiece = 240
)

// An echo is a line that says nothing new.
type echo uint8

const (
	fresh    echo = iota
	repeated      // the same as the line before
	redrawn       // progress that the next line reports again
)

// A unit is what an excerpt keeps or drops as one: a line, or a piece of a long
// one.
type unit struct {
	text   string // as it is shown, with its line end
	line   int    // from 1
	size   int    // bytes of it in the body
	opens  bool   // its line begins here
	closes bool   // its line ends here
	echo   echo
}

func (u *unit) whole() bool { return u.opens && u.closes }

// A sheet is a text as units.
type sheet struct {
	src   *Source
	units []unit
	lines int
	bytes int    // of the whole text, as units have it
	eol   string // the line end that marks get
	noise bool   // something was taken out of lines
}

func newSheet(src *Source) *sheet {
	text := valid(src.Text)
	s := &sheet{src: src, bytes: len(text), eol: "\n", noise: noisy(text)}
	s.units = make([]unit, 0, strings.Count(text, "\n")+1)
	for line := range strings.Lines(text) {
		s.lines++
		s.add(line)
	}
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		s.eol = "\r\n"
	}
	s.findEchoes()
	return s
}

func (s *sheet) add(line string) {
	shown := line
	if s.noise {
		shown = clean(line)
	}
	if len(shown) <= longLine {
		s.units = append(s.units, unit{text: shown, line: s.lines, size: len(line), opens: true, closes: true})
		return
	}
	first := len(s.units)
	for piece := range pieces(shown) {
		s.units = append(s.units, unit{text: piece, line: s.lines, size: len(piece)})
	}
	s.units[first].opens = true
	final := &s.units[len(s.units)-1]
	final.closes = true
	final.size += len(line) - len(shown)
}

// findEchoes marks runs of three and more equal lines, but for the first, and
// runs of progress reports, but for the last.
func (s *sheet) findEchoes() {
	for i := 0; i < len(s.units); {
		j := i + 1
		for j < len(s.units) && s.units[j].whole() && same(s.units[j].text, s.units[i].text) {
			j++
		}
		if j-i >= 3 {
			for k := i + 1; k < j; k++ {
				s.units[k].echo = repeated
			}
		}
		i = j
	}
	s.findProgress()
}

func same(a, b string) bool {
	if a == b {
		return true
	}
	x, _ := splitEnd(a)
	y, _ := splitEnd(b)
	return x == y
}

// findProgress marks runs of four and more reports that never go back, but for the
// last report.
func (s *sheet) findProgress() {
	for i := 0; i < len(s.units); {
		j := i + 1
		if before, ok := progress(s.units[i].text); ok {
			for ; j < len(s.units) && s.units[j].whole(); j++ {
				r, ok := progress(s.units[j].text)
				if !ok || !r.follows(before) {
					break
				}
				before = r
			}
		}
		if j-i >= 4 {
			for k := i; k < j-1; k++ {
				s.units[k].echo = redrawn
			}
		}
		i = j
	}
}

// first is the first unit of a line, or the number of units.
func (s *sheet) first(line int) int {
	return sort.Search(len(s.units), func(i int) bool { return s.units[i].line >= line })
}

// mark makes a set of units out of lines. The zero Range is all of them.
func (s *sheet) mark(keep []quire.Range) []bool {
	kept := make([]bool, len(s.units))
	for _, r := range keep {
		lo, hi := s.bounds(r)
		for i := lo; i < hi; i++ {
			kept[i] = true
		}
	}
	return kept
}

// bounds are the units of a range of lines. A range without a last line goes to
// the end.
func (s *sheet) bounds(r quire.Range) (lo, hi int) {
	if r.Last <= 0 || r.Last >= s.lines {
		r.Last = s.lines
	}
	lo, hi = s.first(max(r.First, 1)), s.first(r.Last+1)
	return lo, max(lo, hi)
}

// shown are the lines that stand whole in a set of units.
func (s *sheet) shown(kept []bool) (out []quire.Range) {
	for i := 0; i < len(s.units); {
		j, all := i, true
		for ; j < len(s.units) && s.units[j].line == s.units[i].line; j++ {
			all = all && kept[j]
		}
		if line := s.units[i].line; all {
			if n := len(out); n > 0 && out[n-1].Last == line-1 {
				out[n-1].Last = line
			} else {
				out = append(out, quire.Range{First: line, Last: line})
			}
		}
		i = j
	}
	return out
}

// pieces cuts a long line: at the end of a sentence or behind a value where there
// is one, else between words, else between characters.
func pieces(line string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		cut := cutter{json: strings.HasPrefix(strings.TrimLeft(line, " \t"), "{") || strings.HasPrefix(strings.TrimLeft(line, " \t"), "[")}
		for len(line) > 0 {
			n := cut.next(line)
			if !yield(line[:n]) {
				return
			}
			line = line[n:]
		}
	}
}

// A cutter finds where pieces end. Of JSON it knows whether it is in a string.
type cutter struct {
	json, inside, escaped bool
}

// next is the length of the first piece: up to the best place that it can end,
// which is the last among equals.
func (c *cutter) next(line string) int {
	if len(line) <= longPiece {
		return len(line)
	}
	end, grade := 0, -1
	state := *c
	for i := 0; i < longPiece; {
		r, n := utf8.DecodeRuneInString(line[i:])
		state.step(r)
		i += n
		if i > longPiece {
			break
		}
		if g := state.grade(r, line[i:]); g >= grade && (i >= longPiece/4 || grade < 0) {
			end, grade, *c = i, g, state
		}
	}
	if rest := line[end:]; strings.Trim(rest, "\r\n") == "" {
		return len(line)
	}
	return end
}

func (c *cutter) step(r rune) {
	switch {
	case !c.json:
	case c.escaped:
		c.escaped = false
	case c.inside && r == '\\':
		c.escaped = true
	case r == '"':
		c.inside = !c.inside
	}
}

// grade says how well a piece ends behind r.
func (c *cutter) grade(r rune, rest string) int {
	switch {
	case c.json && !c.inside && (r == ',' || r == '{' || r == '['):
		return 3
	case strings.ContainsRune("。！？；", r):
		return 3
	case strings.ContainsRune(".!?;", r) && strings.HasPrefix(rest, " "):
		return 2
	case !c.json && strings.ContainsRune(",;}>，、", r), unicode.IsSpace(r):
		return 1
	}
	return 0
}

// clip is the beginning of a text, at most n bytes of it, cut between characters
// and where that is near between words.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	if at := strings.LastIndexByte(text[:n], ' '); at > n*3/4 {
		n = at
	}
	return text[:n]
}

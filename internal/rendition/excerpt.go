package rendition

import (
	"github.com/quire-agent/quire/internal/quire"
)

// A Want says what the reader of an excerpt needs.
type Want struct {
	// Lines of the page that the model has referred to, in the order of the
	// references: the last ones come first where not all have room. Each is kept
	// with Around lines before and behind it.
	Lines  []quire.Range
	Around int
	// Query is what the model was looking for. Only its words count, not their
	// order. On recorded sessions the arguments of the call alone say too little;
	// what helps are also the user's last message, the model's last four texts
	// and the arguments of its last four calls.
	Query string
}

// Excerpt chooses parts of a page and returns them as a text of at most budget
// bytes. It reports false where there is no such text, or none that is shorter
// than the page's: the page then stands in full, or as a handle.
//
// First come the lines that were referred to, then what the class of the page
// makes important (every failure of a test run or log, wherever it stands; the
// changed lines of a diff; a hit of each file of a search; the structure of JSON;
// the head of a table), what matches the query, with the head of the function or
// section that it is in, what surrounds all these, and at last the beginning and
// the end. No tier takes all the room, so that a text full of errors still shows
// its end. Where everything but noise fits, it is all there.
func (m *Maker) Excerpt(s Source, w Want, budget int) (Cut, bool) {
	if !m.readable(&s) || s.Page.Class == quire.ClassImage {
		return Cut{}, false
	}
	sheet := newSheet(&s)
	p := m.newPicker(sheet, min(budget, sheet.bytes-1))
	if !p.news() {
		if budget >= sheet.bytes {
			return Cut{}, false
		}
		p.choose(candidates(sheet, w))
		p.fill()
	}
	return m.finish(p)
}

// HeadTail keeps the beginning and the end of a page, half the room each: what
// an excerpt has to beat. It reports false where Excerpt would.
func (m *Maker) HeadTail(s Source, budget int) (Cut, bool) {
	if !m.readable(&s) || s.Page.Class == quire.ClassImage {
		return Cut{}, false
	}
	sheet := newSheet(&s)
	p := m.newPicker(sheet, min(budget, sheet.bytes-1))
	n := len(sheet.units)
	half := p.size + (p.limit-p.size)/2
	for i := 0; i < n && p.add(i, i+1, half); i++ {
	}
	for i := n - 1; i >= 0 && p.add(i, i+1, p.limit); i-- {
	}
	return m.finish(p)
}

// Ranges keeps exactly the given lines of a page, and the gaps between them that
// are shorter than the mark that would stand there. A range without a last line
// goes to the end of the page. It reports false where nothing would be kept or
// the text would not be shorter than the page's.
func (m *Maker) Ranges(s Source, keep []quire.Range) (Cut, bool) {
	if !m.readable(&s) {
		return Cut{}, false
	}
	sheet := newSheet(&s)
	p := m.newPicker(sheet, sheet.bytes-1)
	wanted := sheet.mark(keep)
	copy(p.kept, wanted)
	if !p.any() {
		return Cut{}, false
	}
	p.size, p.limit = 0, len(s.Text)
	p.fill()
	return m.finish(p)
}

// Normalise takes the noise out of a page: escape codes, what carriage returns
// wrote over, reports of progress but for the last, and lines that repeat the
// line before, which a mark counts. It reports false where there is no noise, or
// not enough to be worth its first line. What is left keeps its order; what
// belongs to which line of the page is known by the marks.
func (m *Maker) Normalise(s Source) (Cut, bool) {
	if !m.readable(&s) {
		return Cut{}, false
	}
	sheet := newSheet(&s)
	p := m.newPicker(sheet, sheet.bytes-1)
	if !p.news() {
		return Cut{}, false
	}
	return m.finish(p)
}

// finish renders what was picked, if that is a text that may stand for the page.
func (m *Maker) finish(p *picker) (Cut, bool) {
	if !p.any() {
		return Cut{}, false
	}
	c := m.render(p.sheet, p.kept)
	if len(c.Text) > p.limit || len(c.Text) >= len(p.src.Text) {
		return Cut{}, false
	}
	return c, true
}

// candidates lists what is worth keeping of a text.
func candidates(s *sheet, w Want) []candidate {
	c := &chooser{sheet: s, query: newQuery(w.Query, s)}
	c.referenced(w)
	switch class := s.src.Page.Class; class {
	case quire.ClassTest, quire.ClassLog, quire.ClassTrace:
		c.failures()
		if class == quire.ClassTrace {
			c.frames()
		}
		c.matches(2)
		c.grow()
	case quire.ClassDiff:
		c.hunks()
		c.matches(3)
	case quire.ClassSearch:
		c.hits()
	case quire.ClassListing, quire.ClassTable:
		c.rows(class == quire.ClassTable)
	case quire.ClassJSON:
		c.values()
	case quire.ClassSource:
		c.code()
	default:
		c.prose()
		if s.src.Page.Action == quire.ActionRun {
			c.failures()
		}
	}
	c.ends()
	return c.out
}

// A chooser collects candidates.
type chooser struct {
	*sheet
	query query
	out   []candidate
}

func (c *chooser) add(t tier, at, before, behind int, value float64) {
	c.out = append(c.out, candidate{at: at, lo: max(0, at-before), hi: min(len(c.units), at+behind+1), tier: t, value: value})
}

// referenced are the lines that the model has referred to, the youngest range
// first where not all of them fit.
func (c *chooser) referenced(w Want) {
	for i, r := range w.Lines {
		lo, hi := c.bounds(quire.Range{First: max(1, r.First-w.Around), Last: widened(r.Last, w.Around)})
		if at, _ := c.bounds(r); lo < hi {
			c.out = append(c.out, candidate{at: min(max(at, lo), hi-1), lo: lo, hi: hi, tier: tierReferenced, value: float64(i)})
		}
	}
}

func widened(last, around int) int {
	if last <= 0 {
		return 0
	}
	return last + around
}

// matches are the units that say most of what was looked for.
func (c *chooser) matches(around int) {
	for i, v := range c.query.scores {
		if v > 0 && c.units[i].echo == fresh {
			c.add(tierWanted, i, around, around, v)
		}
	}
}

// grow adds what is around the candidates so far, in two steps. Only where the
// lines around a failure explain it: elsewhere the beginning and the end are worth
// more, as BenchmarkCoverage shows.
func (c *chooser) grow() {
	for _, around := range []int{6, 20} {
		for _, x := range c.out[:len(c.out):len(c.out)] {
			if x.tier <= tierWanted {
				c.add(tierAround, x.at, around, around, x.value-100*float64(around))
			}
		}
	}
}

// ends adds the beginning and the end, in steps, two of the beginning for one of
// the end. The first and last lines come early where they sum up: of the output of
// a command they hold its exit code and its summary, of prose what it is about.
func (c *chooser) ends() {
	n, page := len(c.units), &c.src.Page
	if page.Action == quire.ActionRun || page.Class == quire.ClassTest {
		c.add(tierFrame, 0, 0, 1, 3)
		c.add(tierFrame, n-1, 2, 0, 3)
	} else if page.Class == quire.ClassProse || page.Class == quire.ClassJSON {
		c.add(tierFrame, 0, 0, 0, 3)
		c.add(tierFrame, n-1, 0, 0, 3)
	}
	const step = 4
	head, tail := 0, n
	for k := 0; head < tail; k++ {
		if k%3 != 1 {
			c.out = append(c.out, candidate{at: head, lo: head, hi: min(head+step, tail), tier: tierEnds, value: -float64(k)})
			head = min(head+step, tail)
		} else {
			c.out = append(c.out, candidate{at: tail - 1, lo: max(head, tail-step), hi: tail, tier: tierEnds, value: -float64(k)})
			tail = max(head, tail-step)
		}
	}
}

package recording

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/shingle"
)

// The numbers in the definitions of section 3 of the evaluation document, and
// the bounds of the two indexes.
const (
	wideShingles   = 3         // shingles on one page that make a wide need
	strictShingles = 4         // shingles in a connected run that make a strict one
	strictPages    = 3         // earlier pages on which such a shingle occurred at most
	needLimit      = 4_000_000 // shingles remembered
	lineLimit      = 1_000_000 // lines remembered
)

// needs finds out what each call of a session took from earlier pages. It is
// fed in prompt order: add for what entered, of for what a call produced, and
// only then add for that. It remembers four million shingles in 61 MB and
// samples above that. It is not safe for concurrent use.
type needs struct {
	index *shingle.Index
	floor quire.PageNumber
}

func newNeeds() *needs { return &needs{index: shingle.NewIndex(needLimit)} }

// add makes the shingles of a text findable as those of a page. The kind is
// that of the text: [quire.PageAssistant] for what the model said, arguments of
// its tool calls included where they are not to count as a source, and
// [quire.PageWritten] for content that it wrote to files. Pages come in the
// order in which they entered; a page may be added in several texts.
func (n *needs) add(page quire.PageNumber, kind quire.PageKind, text string) {
	shingle.Scan(text, func(s shingle.Shingle) bool {
		n.index.Add(s.Hash, page, kind)
		return true
	})
}

// reset says that the recorded agent lost its context: pages below floor do not
// serve strict needs any more. It is called at compactions, and where another
// session begins that is replayed as part of this one.
func (n *needs) reset(floor quire.PageNumber) { n.floor = floor }

// sampled is how many times the index was halved.
func (n *needs) sampled() int { return n.index.Sampled() }

// of returns the needs of a call, one a page, by rising page. The texts are
// what the call produced: its text and the unescaped strings of its tool
// arguments (see arguments).
//
// A shingle belongs to the page of its youngest earlier occurrence; one that
// occurred last in text of the model belongs to none. A page with three or more
// different shingles is a wide need. A run is a sequence of shingles of one text
// of which each shares a token with the one before; it ends at a shingle that
// belongs to another page or to none. For a strict need a shingle that is inside
// a path or URL, that occurred on more than three pages, or whose page is below
// the floor, belongs to none either, and a run has four or more. Only wide needs
// are strict, and a page occurs in at most one need of a call.
//
// In a sampled index a shingle that would not be remembered is looked for in
// vain: it neither ends a run nor is it in the result, but it counts as found
// when it lies in a run between two that were. Runs that lie between two
// remembered shingles are missed.
//
// Where a need's shingles stand on its page says locate.
func (n *needs) of(call int32, texts []string) []Need {
	e := evidence{}
	for _, text := range texts {
		n.collect(text, e)
	}
	var out []Need
	for _, page := range slices.Sorted(maps.Keys(e)) {
		if d, ok := e[page].need(call, page); ok {
			out = append(out, d)
		}
	}
	return out
}

// collect adds what a text quotes to the evidence.
func (n *needs) collect(text string, e evidence) {
	var wide, strict stretch
	var order, end int32
	shingle.Scan(text, func(s shingle.Shingle) bool {
		if s.Pos >= end {
			e.wide(&wide)
			e.strict(&strict)
		}
		end = s.Pos + shingle.Width
		order++
		if n.index.Keeps(s.Hash) {
			from, sure := n.source(s)
			if wide.page != from.Page {
				e.wide(&wide)
			}
			if strict.page != sure {
				e.strict(&strict)
			}
			wide.take(from.Page, order, sighting{s.Hash, from.Kind})
			strict.take(sure, order, sighting{s.Hash, from.Kind})
		}
		return true
	})
	e.wide(&wide)
	e.strict(&strict)
}

// source returns what is known of the page that a shingle belongs to, and the
// page that it belongs to for a strict need. The page is 0 where there is none.
func (n *needs) source(s shingle.Shingle) (from shingle.Entry, strict quire.PageNumber) {
	entry, ok := n.index.Find(s.Hash)
	if !ok || entry.Kind == quire.PageAssistant {
		return shingle.Entry{}, 0
	}
	if !s.Path && entry.Pages <= strictPages && entry.Page >= n.floor {
		strict = entry.Page
	}
	return entry, strict
}

// A sighting is a shingle found on an earlier page.
type sighting struct {
	hash uint64
	kind quire.PageKind
}

// A stretch is a connected run of shingles of one text found on one page; page 0
// means that there is none.
type stretch struct {
	page        quire.PageNumber
	first, last int32 // which shingles of the text its ends are
	found       []sighting
}

// take adds a shingle to the run. A run of another page has been ended before.
func (r *stretch) take(page quire.PageNumber, order int32, s sighting) {
	if page == 0 {
		return
	}
	if r.page == 0 {
		r.page, r.first = page, order
	}
	r.last = order
	r.found = append(r.found, s)
}

// length is the number of shingles from one end of the run to the other.
func (r *stretch) length() int { return int(r.last-r.first) + 1 }

func (r *stretch) end() { *r = stretch{found: r.found[:0]} }

// evidence is what the texts of a call quote, by page.
type evidence map[quire.PageNumber]*quotation

// A quotation is what a call quotes from one page.
type quotation struct {
	unseen int // shingles in its runs that a sampled index cannot know
	found  []sighting
	strict []uint64
}

// wide ends a run and enters it.
func (e evidence) wide(r *stretch) {
	if r.page != 0 {
		q := e.of(r.page)
		q.unseen += r.length() - len(r.found)
		q.found = append(q.found, r.found...)
	}
	r.end()
}

// strict ends a run and enters it if it is long enough.
func (e evidence) strict(r *stretch) {
	if r.page != 0 && r.length() >= strictShingles {
		q := e.of(r.page)
		for _, s := range r.found {
			q.strict = append(q.strict, s.hash)
		}
	}
	r.end()
}

func (e evidence) of(page quire.PageNumber) *quotation {
	q := e[page]
	if q == nil {
		q = &quotation{}
		e[page] = q
	}
	return q
}

// need reports false where the page is not needed.
func (q *quotation) need(call int32, page quire.PageNumber) (d Need, ok bool) {
	d = Need{Call: call, Page: page, Wide: true, Strict: len(q.strict) > 0, StrictShingles: set(q.strict)}
	for _, s := range q.found {
		d.Shingles = append(d.Shingles, s.hash)
		d.Written = d.Written || s.kind == quire.PageWritten
	}
	d.Shingles = set(d.Shingles)
	return d, len(d.Shingles)+q.unseen >= wideShingles
}

// set sorts hashes in place and drops repetitions.
func set(hashes []uint64) []uint64 {
	slices.Sort(hashes)
	return slices.Clip(slices.Compact(hashes))
}

// join sorts ranges in place and joins those that overlap or touch.
func join(ranges []quire.Range) []quire.Range {
	slices.SortFunc(ranges, func(a, b quire.Range) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Last, b.Last))
	})
	out := ranges[:0]
	for _, r := range ranges {
		if n := len(out); n > 0 && r.First <= out[n-1].Last+1 {
			out[n-1].Last = max(out[n-1].Last, r.Last)
			continue
		}
		out = append(out, r)
	}
	return slices.Clip(out)
}

// Locate returns the lines of a text that hold the given shingles, which must
// be sorted: rising, joined where they overlap or touch. Of a shingle that
// occurs in several places, the place counts that holds most of the others; a
// shingle that does not occur has no lines.
func Locate(text string, shingles []uint64) []quire.Range {
	spots := spotsOf(text, shingles)
	slices.SortStableFunc(spots, func(a, b spot) int { return len(b.found) - len(a.found) })
	seen := make([]bool, len(shingles))
	var out []quire.Range
	for _, s := range spots {
		if s.claim(seen) {
			out = append(out, s.lines)
		}
	}
	return join(out)
}

// A spot is a place of a text with shingles on lines without a gap.
type spot struct {
	lines quire.Range
	found []int32 // indexes of the shingles; repetitions stay
}

func spotsOf(text string, shingles []uint64) (spots []spot) {
	shingle.Scan(text, func(s shingle.Shingle) bool {
		i, ok := slices.BinarySearch(shingles, s.Hash)
		if !ok {
			return true
		}
		if n := len(spots); n == 0 || int(s.First) > spots[n-1].lines.Last+1 {
			spots = append(spots, spot{lines: quire.Range{First: int(s.First)}})
		}
		last := &spots[len(spots)-1]
		last.lines.Last = max(last.lines.Last, int(s.Last))
		last.found = append(last.found, int32(i))
		return true
	})
	return spots
}

// claim marks the shingles of the spot as seen and reports whether one was not.
func (s spot) claim(seen []bool) (fresh bool) {
	for _, i := range s.found {
		fresh = fresh || !seen[i]
		seen[i] = true
	}
	return fresh
}

// lines remembers the lines of a session: a million of them in 16 MB, sampled
// above that. It is fed with every text that enters, in prompt order, whoever
// wrote it. It is not safe for concurrent use.
type lines struct {
	index *shingle.Index
}

func newLines() *lines { return &lines{index: shingle.NewIndex(lineLimit)} }

// add makes the lines of a text known as those of a page.
func (l *lines) add(page quire.PageNumber, text string) {
	for _, h := range shingle.LineHashes(text) {
		l.index.Add(h, page, 0)
	}
}

// seen returns which share of the lines of a text had been in the session
// before, and the page that holds most of those: of each line the youngest page
// counts, of pages with equally many the youngest. Blank lines and, in a
// sampled index, lines that would not be remembered are not counted; a text
// without others has share 0 and page 0. A read with share .9 or more is a
// re-read.
func (l *lines) seen(text string) (share float64, page quire.PageNumber) {
	held := map[quire.PageNumber]int{}
	all, known := 0, 0
	for _, h := range shingle.LineHashes(text) {
		if !l.index.Keeps(h) {
			continue
		}
		all++
		if e, ok := l.index.Find(h); ok {
			known++
			held[e.Page]++
		}
	}
	if known == 0 {
		return 0, 0
	}
	return float64(known) / float64(all), most(held)
}

func most(held map[quire.PageNumber]int) (page quire.PageNumber) {
	for p, n := range held {
		if n > held[page] || n == held[page] && p > page {
			page = p
		}
	}
	return page
}

// An edit is what an edit call quoted of the text that it replaces, as far as
// the session had shown it: it is covered if all of it is in the prompt.
type edit struct {
	Call     int32
	Lines    []uint64 // hashes of whole lines, sorted, each once (see [shingle.LineHashes])
	Shingles []uint64 // shingles of lines that were never shown whole, sorted, each once
}

// edits returns what an edit call quoted in its old texts. Old texts often begin
// and end inside a line; of those lines the shingles count, and what had not
// occurred before in either form cannot have been taken from the prompt and
// does not count. It reports false where nothing is left to judge the edit by.
func edits(call int32, old []string, n *needs, l *lines) (edit, bool) {
	e := edit{Call: call}
	for _, text := range old {
		for line := range strings.SplitSeq(text, "\n") {
			e.quote(line, n, l)
		}
	}
	e.Lines, e.Shingles = set(e.Lines), set(e.Shingles)
	return e, len(e.Lines)+len(e.Shingles) > 0
}

func (e *edit) quote(line string, n *needs, l *lines) {
	for _, h := range shingle.LineHashes(line) {
		if _, ok := l.index.Find(h); ok {
			e.Lines = append(e.Lines, h)
			return
		}
	}
	shingle.Scan(line, func(s shingle.Shingle) bool {
		if _, ok := n.index.Find(s.Hash); ok {
			e.Shingles = append(e.Shingles, s.Hash)
		}
		return true
	})
}

package page

import (
	"slices"
	"strconv"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// A view is a page that shows a file or lines of it, together with what the
// file has become since: each line that it shows is followed through the edits.
type view struct {
	page   quire.PageNumber
	body   quire.Hash
	read   bool // the page is a read, not a write
	whole  bool // it shows the file from its first line to its last
	begins int  // line of the file, as it now is, with which it begins
	text   string
	origin []int32 // of each line of text: its line of the body; minus the edit that wrote it
	stale  []bool  // by line of the body
	start  string  // text as the page shows it
	lines  []int32 // origin as the page shows it
	gaps   bool    // the tool left lines out

	versions []version // of a view of the whole file, oldest first
}

// A version is the text of a file after a number of edits.
type version struct {
	sum   quire.Hash
	edits int32
}

// shown makes the view of a text. Where a tool wrote numbers before the lines,
// the lines with numbers are the file and those around them are not.
func shown(body string) *view {
	v := &view{begins: 1}
	all := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	if first, ok := numbers(all); ok {
		v.begins = first
		v.keep(all, 0, true)
	} else {
		head := len(body) - len(withoutHeader(body))
		v.keep(all, strings.Count(body[:head], "\n"), false)
	}
	v.stale = make([]bool, len(all)+1)
	v.start, v.lines = v.text, v.origin
	return v
}

func (v *view) keep(all []string, from int, numbered bool) {
	var kept []string
	for i, l := range all[from:] {
		if numbered {
			_, rest, ok := numberOf(l)
			if !ok {
				continue
			}
			l = rest
		}
		kept = append(kept, strings.TrimSuffix(l, "\r"))
		v.origin = append(v.origin, int32(from+i)+1)
	}
	v.text = strings.Join(kept, "\n")
}

// numbers reports whether lines are numbered, rising by one, and with which
// number they begin. Lines around them (a tag, a reminder) may be without.
func numbers(all []string) (first int, ok bool) {
	last, n := 0, 0
	for _, l := range all {
		at, _, numbered := numberOf(l)
		switch {
		case !numbered:
			continue
		case n == 0:
			first = at
		case at != last+1:
			return 0, false
		}
		last = at
		n++
	}
	return first, n > 0 && 2*n >= len(all)-8
}

// numberOf reads the number that a reading tool wrote before a line: of cat -n,
// of Claude Code, of OpenCode.
func numberOf(l string) (n int, rest string, ok bool) {
	t := strings.TrimLeft(l, " ")
	digits := 0
	for digits < len(t) && digits < 9 && '0' <= t[digits] && t[digits] <= '9' {
		digits++
	}
	if digits == 0 {
		return 0, "", false
	}
	for _, mark := range []string{"→", "\t", "| ", "|"} {
		if rest, ok = strings.CutPrefix(t[digits:], mark); ok {
			n, err := strconv.Atoi(t[:digits])
			return n, rest, err == nil && n > 0
		}
	}
	return 0, "", false
}

func (v *view) last() int { return v.begins + len(v.origin) - 1 }

// covers reports whether a younger view shows everything that an older one
// showed of the file.
func (v *view) covers(o *view) bool {
	return v.whole || v.begins <= o.begins && v.last() >= o.last()
}

// continues reports whether a view shows, from its line at on, what an older one
// became.
func (v *view) continues(o *view, at int) bool {
	return at+len(o.origin) <= len(v.origin) && v.holds(at, strings.Split(o.text, "\n"))
}

// forget keeps the versions within their bound. The first stays: it is what
// everything may be taken back to.
func (v *view) forget() {
	if n := len(v.versions) - maxEdits; n > 0 {
		v.versions = slices.Delete(v.versions, 1, 1+n)
	}
}

// reset says that the file is again as the page shows it.
func (v *view) reset() {
	v.text, v.origin = v.start, v.lines
	clear(v.stale)
}

// staleLines are the lines of the body that are stale, rising, joined where they
// touch.
func (v *view) staleLines() []quire.Range {
	var out []quire.Range
	for i, is := range v.stale {
		if !is {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Last == i-1 {
			out[n-1].Last = i
			continue
		}
		out = append(out, quire.Range{First: i, Last: i})
	}
	return out
}

// A hunk is a change as it came to stand in a text: the lines that differ.
type hunk struct {
	at       int // line of the text before which the lines stood, from 0
	old, new []string
}

func (h hunk) empty() bool { return len(h.old) == 0 && len(h.new) == 0 }

// undoes reports whether h puts back what e took away.
func (h hunk) undoes(e hunk) bool {
	return equalLines(h.old, e.new) && equalLines(h.new, e.old)
}

func equalLines(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// between is the one hunk that makes the lines of b out of those of a: what is
// equal at the beginning and at the end is no part of it.
func between(at int, a, b []string) hunk {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b, at = a[1:], b[1:], at+1
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return hunk{at, a, b}
}

// find says what a change makes of a text, searching from a byte on. It returns
// the byte at which the search for a further place goes on.
func (c *change) find(text string, from int) (h hunk, next int, ok bool) {
	switch {
	case c.whole:
		return between(0, strings.Split(text, "\n"), strings.Split(strings.TrimSuffix(c.new, "\n"), "\n")), len(text), true
	case c.after >= 0:
		return hunk{at: c.after, new: strings.Split(strings.TrimSuffix(c.new, "\n"), "\n")}, len(text), true
	}
	at := strings.Index(text[from:], c.old)
	if at < 0 || c.old == "" {
		return hunk{}, 0, false
	}
	at += from
	end := at + len(c.old)
	start := strings.LastIndexByte(text[:at], '\n') + 1
	stop := len(text)
	if n := strings.IndexByte(text[end:], '\n'); n >= 0 {
		stop = end + n
	}
	after := text[start:at] + c.new + text[end:stop]
	h = between(strings.Count(text[:start], "\n"), strings.Split(text[start:stop], "\n"), strings.Split(after, "\n"))
	return h, at + len(c.new), true
}

// put makes a hunk part of the text. Lines that it takes away are stale; those
// that it brings back as they were, between others, are not taken away. edit is
// the number under which new lines are remembered, and back, if not nil, where
// they had come from before another edit took them away.
func (v *view) put(h hunk, edit int32, back []int32) (t trace) {
	if h.at+len(h.old) > len(v.origin) {
		return trace{}
	}
	t.at = h.at
	t.removed = slices.Clone(v.origin[h.at : h.at+len(h.old)])
	t.brought = make([]int32, len(h.new))
	for i := range t.brought {
		t.brought[i] = -edit
	}
	for _, k := range align(h.old, h.new) {
		t.brought[k.new] = t.removed[k.old]
	}
	if len(back) == len(t.brought) {
		copy(t.brought, back)
	}
	v.mark(t.removed, true)
	v.mark(t.brought, false)
	v.text = strings.Join(splice(strings.Split(v.text, "\n"), h.at, len(h.old), h.new), "\n")
	v.origin = splice(v.origin, h.at, len(h.old), t.brought)
	return t
}

// A trace is what an edit did to a view: where the lines came from that it took
// away, and those that stand in their place, from line at of the text as it then
// was.
type trace struct {
	at               int
	removed, brought []int32
}

func (t trace) empty() bool { return len(t.removed) == 0 && len(t.brought) == 0 }

// stands reports whether the lines that the edit left stand there.
func (t trace) stands(origin []int32) bool {
	end := t.at + len(t.brought)
	return end <= len(origin) && slices.Equal(origin[t.at:end], t.brought)
}

// among is the trace in a text of other origins, where what the edit left stands
// at the same place. Lines that were taken away and stand nowhere are fresh.
func (t trace) among(origin []int32, fresh int32) trace {
	out := trace{at: t.at, removed: make([]int32, len(t.removed)), brought: slices.Clone(origin[t.at : t.at+len(t.brought)])}
	next := 0
	for i, o := range t.removed {
		out.removed[i] = fresh
		if k := slices.Index(t.brought[next:], o); k >= 0 {
			out.removed[i] = out.brought[next+k]
			next += k + 1
		}
	}
	return out
}

func (v *view) mark(origins []int32, stale bool) {
	for _, o := range origins {
		if o > 0 {
			v.stale[o] = stale
		}
	}
}

// A pair is a line that stands on both sides of a hunk.
type pair struct{ old, new int }

// maxAlign bounds the work of align: larger hunks are taken as all new.
const maxAlign = 1 << 20

// align finds the lines that a hunk keeps: a longest common subsequence (the
// textbook table of lengths, filled from the end).
func align(a, b []string) []pair {
	if len(a) == 0 || len(b) == 0 || len(a)*len(b) > maxAlign {
		return nil
	}
	width := len(b) + 1
	best := make([]uint16, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				best[i*width+j] = best[(i+1)*width+j+1] + 1
				continue
			}
			best[i*width+j] = max(best[(i+1)*width+j], best[i*width+j+1])
		}
	}
	var kept []pair
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			kept = append(kept, pair{i, j})
			i, j = i+1, j+1
		case best[(i+1)*width+j] >= best[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	return kept
}

// splice replaces n elements at a place, in a new slice.
func splice[T any](s []T, at, n int, by []T) []T {
	out := make([]T, 0, len(s)-n+len(by))
	out = append(out, s[:at]...)
	out = append(out, by...)
	return append(out, s[at+n:]...)
}

// locate finds the lines that a hunk of another view takes away, or the lines
// between which it puts new ones, by where in the file they stand, and keeps the
// place of the view in the file. What it shows only in part it does not find.
func (v *view) locate(main *view, h hunk) (at int, ok bool) {
	line := main.begins + h.at // of the file
	at = line - v.begins
	inside := at >= 0 && at+len(h.old) <= len(v.origin) && (len(h.old) > 0 || at > 0 && at < len(v.origin))
	if inside && v.holds(at, h.old) {
		return at, true
	}
	if !main.whole {
		return v.search(h.old)
	}
	if at < 0 || at == 0 && len(h.old) == 0 {
		v.begins += len(h.new) - len(h.old)
	}
	return 0, false
}

func (v *view) holds(at int, lines []string) bool {
	all := strings.Split(v.text, "\n")
	return at+len(lines) <= len(all) && equalLines(all[at:at+len(lines)], lines)
}

// search finds lines by what they hold.
func (v *view) search(lines []string) (at int, ok bool) {
	all := strings.Split(v.text, "\n")
	for at := 0; len(lines) > 0 && at+len(lines) <= min(len(v.origin), len(all)); at++ {
		if equalLines(all[at:at+len(lines)], lines) {
			return at, true
		}
	}
	return 0, false
}

// wrote reports whether the lines of a hunk that goes are those that an edit left
// there.
func (v *view) wrote(h hunk, left []int32) bool {
	return h.at+len(h.old) <= len(v.origin) && slices.Equal(v.origin[h.at:h.at+len(h.old)], left)
}

// standing finds where the lines stand that an edit left.
func (v *view) standing(left []int32) (at int, ok bool) {
	for at := 0; len(left) > 0 && at+len(left) <= len(v.origin); at++ {
		if slices.Equal(v.origin[at:at+len(left)], left) {
			return at, true
		}
	}
	return 0, false
}

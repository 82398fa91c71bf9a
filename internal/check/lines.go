package check

import (
	"fmt"
	"strings"
)

// around is how many lines that are the same stand around those that are not.
const around = 3

// mostEdits bounds the search for the shortest list of edits. Texts that are further
// apart are shown as one replaced by the other, but for their common ends.
const mostEdits = 1_000

// An edit is a run of lines: of both texts, of the first alone (to be removed), or of
// the second alone (to be added).
type edit struct {
	sign  byte // ' ', '-', '+'
	lines []string
}

// unified is the difference of two texts in the unified form, without the heads of
// files, and how many lines were added and removed.
func unified(from, to string) (text string, plus, minus int) {
	edits := compare(split(from), split(to))
	for _, e := range edits {
		switch e.sign {
		case '+':
			plus += len(e.lines)
		case '-':
			minus += len(e.lines)
		}
	}
	return render(edits), plus, minus
}

// split cuts behind the ends of lines.
func split(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// compare finds the edits that make b of a.
func compare(a, b []string) []edit {
	head, tail := 0, 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var list edits
	list.add(' ', a[:head]...)
	list.middle(a[head:len(a)-tail], b[head:len(b)-tail])
	list.add(' ', a[len(a)-tail:]...)
	return list
}

// edits join what has the same sign.
type edits []edit

func (e *edits) add(sign byte, lines ...string) {
	if len(lines) == 0 {
		return
	}
	if n := len(*e); n > 0 && (*e)[n-1].sign == sign {
		(*e)[n-1].lines = append((*e)[n-1].lines[:len((*e)[n-1].lines):len((*e)[n-1].lines)], lines...)
		return
	}
	*e = append(*e, edit{sign, lines})
}

// middle finds the shortest list by Myers' greedy algorithm ("An O(ND) Difference
// Algorithm and Its Variations", 1986): rows[d] holds how far along a each diagonal
// comes with d edits.
func (e *edits) middle(a, b []string) {
	most := min(len(a)+len(b), mostEdits)
	var rows [][]int
	row := make([]int, 2*most+3)
	at := func(r []int, k int) *int { return &r[k+most+1] }
	for d := 0; d <= most; d++ {
		rows = append(rows, append([]int(nil), row...))
		for k := -d; k <= d; k += 2 {
			x := *at(row, k-1) + 1
			if k == -d || k != d && *at(row, k-1) < *at(row, k+1) {
				x = *at(row, k+1)
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			*at(row, k) = x
			if x >= len(a) && x-k >= len(b) {
				e.back(a, b, rows, at)
				return
			}
		}
	}
	e.add('-', a...)
	e.add('+', b...)
}

// back follows the path that was found from its end, and adds its edits.
func (e *edits) back(a, b []string, rows [][]int, at func([]int, int) *int) {
	x, y := len(a), len(b)
	var found []edit // one line each, the last one first
	for d := len(rows) - 1; d >= 0; d-- {
		from := x - y - 1
		if x-y == -d || x-y != d && *at(rows[d], from) < *at(rows[d], from+2) {
			from += 2
		}
		fromX, fromY := *at(rows[d], from), *at(rows[d], from)-from
		for ; x > fromX && y > fromY; x, y = x-1, y-1 {
			found = append(found, edit{' ', a[x-1 : x]})
		}
		switch {
		case d == 0:
		case x == fromX:
			found = append(found, edit{'+', b[y-1 : y]})
		default:
			found = append(found, edit{'-', a[x-1 : x]})
		}
		x, y = fromX, fromY
	}
	for i := len(found) - 1; i >= 0; i-- {
		e.add(found[i].sign, found[i].lines...)
	}
}

// render writes edits as hunks: what is the same is cut to a few lines around what is
// not.
func render(list []edit) string {
	var b strings.Builder
	var h hunk
	h.from, h.to = 1, 1
	for i, e := range list {
		if e.sign != ' ' {
			h.put(e.sign, e.lines)
			continue
		}
		behind, ahead := min(around, len(e.lines)), min(around, len(e.lines))
		if i == 0 {
			behind = 0
		}
		if i == len(list)-1 {
			ahead = 0
		}
		if behind+ahead >= len(e.lines) && i > 0 && i < len(list)-1 {
			h.put(' ', e.lines)
			continue
		}
		h.put(' ', e.lines[:behind])
		h.close(&b, len(e.lines)-behind-ahead)
		h.put(' ', e.lines[len(e.lines)-ahead:])
	}
	h.close(&b, 0)
	return b.String()
}

// A hunk is changed lines with those around them.
type hunk struct {
	from, to    int // numbers of the first lines
	minus, plus int // how many lines of each text
	text        strings.Builder
	changed     bool
}

func (h *hunk) put(sign byte, lines []string) {
	for _, l := range lines {
		h.text.WriteByte(sign)
		h.text.WriteString(l)
		if !strings.HasSuffix(l, "\n") {
			h.text.WriteString("\n\\ No newline at end of file\n")
		}
	}
	if sign != '+' {
		h.minus += len(lines)
	}
	if sign != '-' {
		h.plus += len(lines)
	}
	h.changed = h.changed || sign != ' '
}

// close writes the hunk, where anything changed in it, and goes on behind it and so
// many lines that both have.
func (h *hunk) close(b *strings.Builder, skipped int) {
	if h.changed {
		fmt.Fprintf(b, "@@ -%s +%s @@\n%s", span(h.from, h.minus), span(h.to, h.plus), h.text.String())
	}
	*h = hunk{from: h.from + h.minus + skipped, to: h.to + h.plus + skipped}
}

// span is where lines are; none are behind the line before them.
func span(first, n int) string {
	if n == 0 {
		first--
	}
	return fmt.Sprintf("%d,%d", first, n)
}

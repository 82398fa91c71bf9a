package fs

import (
	"fmt"
	"slices"
	"strings"
)

// The bounds of the search for what an edit may have meant.
const (
	nearLines   = 20_000 // of the file that are looked at
	nearShown   = 3      // candidates
	nearContext = 12     // lines of each that are shown
)

// A candidate is a place that looks like what was to be replaced.
type candidate struct {
	line  int // from 0
	score float64
}

// nearest shows the lines of a text that are most like old. It aligns the longest
// line of old with each line of the text, takes the best alignments and ranks
// them by how many of their lines agree.
func nearest(text, old string) string {
	lines, wanted := splitLines(text), splitLines(old)
	if len(lines) > nearLines {
		lines = lines[:nearLines]
	}
	anchor := longest(wanted)
	var list []candidate
	for i, l := range lines {
		at := i - anchor
		if s := alike(l, wanted[anchor]); s > 0.5 && at >= 0 {
			list = append(list, candidate{at, s})
		}
	}
	best(list)
	list = list[:min(len(list), 50)]
	for i, c := range list {
		list[i].score += agreement(lines[c.line:], wanted)
	}
	best(list)
	if len(list) == 0 {
		return " No line of it is like it: read the file again, or look for it with grep."
	}
	return shownCandidates(lines, wanted, list[:min(len(list), nearShown)])
}

func best(list []candidate) {
	slices.SortStableFunc(list, func(a, b candidate) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return a.line - b.line
	})
}

// longest is the line with the most text: the one that is least like others.
func longest(lines []string) int {
	at := 0
	for i, l := range lines {
		if len(strings.TrimSpace(l)) > len(strings.TrimSpace(lines[at])) {
			at = i
		}
	}
	return at
}

// agreement is the mean likeness of lines, at most 1.
func agreement(lines, wanted []string) float64 {
	sum := 0.0
	for i, w := range wanted {
		if i >= len(lines) || i >= 200 {
			break
		}
		sum += alike(lines[i], w)
	}
	return sum / float64(len(wanted))
}

// alike is how much two lines have in common, from 0 to 1: the Dice coefficient
// of their pairs of bytes, spaces aside.
func alike(a, b string) float64 {
	a, b = squeezed(a), squeezed(b)
	if a == b {
		return 1
	}
	if len(a) < 2 || len(b) < 2 {
		return 0
	}
	pairs := make(map[[2]byte]int, len(a))
	for i := range len(a) - 1 {
		pairs[[2]byte{a[i], a[i+1]}]++
	}
	common := 0
	for i := range len(b) - 1 {
		p := [2]byte{b[i], b[i+1]}
		if pairs[p] > 0 {
			pairs[p]--
			common++
		}
	}
	return 2 * float64(common) / float64(len(a)+len(b)-2)
}

// squeezed is a line without its spaces, and not longer than is compared.
func squeezed(line string) string {
	line = strings.Join(strings.Fields(line), "")
	return line[:min(len(line), 300)]
}

func shownCandidates(lines, wanted []string, list []candidate) string {
	var b strings.Builder
	b.WriteString(" The nearest text")
	if sameButSpaces(lines[list[0].line:], wanted) {
		b.WriteString(" differs only in spaces")
	}
	b.WriteString(":\n")
	for i, c := range list {
		if i > 0 {
			b.WriteString("  ---\n")
		}
		last := min(c.line+min(len(wanted), nearContext), len(lines))
		for n := c.line; n < last; n++ {
			fmt.Fprintf(&b, "%6d\t%s\n", n+1, clipLine(lines[n]))
		}
	}
	return b.String()
}

func sameButSpaces(lines, wanted []string) bool {
	if len(lines) < len(wanted) {
		return false
	}
	for i, w := range wanted {
		if strings.Join(strings.Fields(lines[i]), " ") != strings.Join(strings.Fields(w), " ") {
			return false
		}
	}
	return true
}

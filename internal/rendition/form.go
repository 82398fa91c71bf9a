package rendition

import (
	"slices"
	"strings"
)

// hunks are the changed lines of a diff with the heads of their files and hunks:
// the hunks that hold what was looked for come first.
func (c *chooser) hunks() {
	if !c.any(diffHead) {
		c.planned()
		return
	}
	start, sum := 0, 0.0
	for i := range c.units {
		t := c.units[i].text
		switch {
		case diffHead(t):
			c.hunk(start, i, sum)
			c.add(tierFrame, i, 0, 0, 2)
			start, sum = i, 0
		case changed(t):
			sum += c.query.scores[i]
		}
	}
	c.hunk(start, len(c.units), sum)
}

// hunk is a hunk from its head to before the next one. What does not fit as one is
// kept by its changed lines.
func (c *chooser) hunk(lo, hi int, value float64) {
	if lo >= hi {
		return
	}
	if hi-lo <= 60 {
		c.out = append(c.out, candidate{at: lo, lo: lo, hi: hi, tier: tierWanted, value: value})
		return
	}
	for i := lo; i < hi; i++ {
		if changed(c.units[i].text) {
			c.add(tierWanted, i, 1, 1, value)
		}
	}
}

// planned are the changes in a diff without heads, as a plan of changes to a cloud
// is: its marks are indented, and what they belong to is said in a line before them.
func (c *chooser) planned() {
	for i := range c.units {
		t := strings.TrimLeft(bare(c.units[i].text), " ")
		switch {
		case hasPrefix(t, "# ", "Plan: "):
			c.add(tierWanted, i, 0, 1, 2+c.query.scores[i])
		case hasPrefix(t, "+ ", "- ", "~ ", "-/+ ", "+/- ", "<= "):
			c.add(tierWanted, i, 0, 0, 1+c.query.scores[i])
		}
	}
}

// any reports whether a line is as asked.
func (c *chooser) any(is func(line string) bool) bool {
	return slices.ContainsFunc(c.units, func(u unit) bool { return is(u.text) })
}

func diffHead(t string) bool {
	return hasPrefix(t, "diff --git ", "@@ ", "--- ", "+++ ", "*** ", "Index: ")
}

func changed(t string) bool { return len(t) > 1 && (t[0] == '+' || t[0] == '-') }

// hits are the lines of a search that match best, and at least one of each file.
func (c *chooser) hits() {
	c.matches(1)
	seen := map[string]bool{}
	for i := range c.units {
		if f := hitFile(c.units[i].text); f != "" && !seen[f] {
			seen[f] = true
			c.add(tierFrame, i, 0, 0, c.query.scores[i])
		}
	}
}

// hitFile is the path before the line number of a hit, "" where there is none.
func hitFile(line string) string {
	for i := 0; i+1 < len(line) && i < 300; i++ {
		if line[i] != ':' && line[i] != '-' {
			continue
		}
		j := i + 1
		for j < len(line) && '0' <= line[j] && line[j] <= '9' {
			j++
		}
		if j > i+1 && j < len(line) && line[j] == line[i] && !strings.ContainsAny(line[:i], "\t\"") {
			return line[:i]
		}
	}
	return ""
}

// rows are the lines of a listing or table that match, and the head of a table.
func (c *chooser) rows(table bool) {
	c.matches(0)
	if table {
		c.add(tierReferenced, 0, 0, 2, 1)
		c.odd()
	}
	c.add(tierFrame, 0, 0, 4, 1)
	c.add(tierFrame, len(c.units)-1, 1, 0, 1)
}

// odd are the rows of a table whose words differ from what nearly all other rows have
// in their place: the one that is not running.
func (c *chooser) odd() {
	usual := c.usual()
	for i := 1; i < len(c.units); i++ {
		value := 0.0
		for k, word := range cells(c.units[i].text) {
			if k < len(usual) && usual[k] != "" && word != usual[k] && !digits(word) {
				value++
			}
		}
		if value > 0 {
			c.add(tierWanted, i, 0, 0, value/10)
		}
	}
}

// usual are, by their place in a row, the words that four of five rows have, "" where
// there is none.
func (c *chooser) usual() (words []string) {
	var counts []map[string]int
	for i := range c.units {
		for k, word := range cells(c.units[i].text) {
			if k == len(counts) {
				counts = append(counts, map[string]int{})
			}
			counts[k][word]++
		}
	}
	for _, n := range counts {
		words = append(words, frequent(n, max(2, len(c.units)*4/5)))
	}
	return words
}

// frequent is the word that is counted more often than so, "" for none. With more
// than half of the rows there is one at most.
func frequent(counts map[string]int, often int) string {
	for word, n := range counts {
		if n > often {
			return word
		}
	}
	return ""
}

// cells are the words of a row by their places; those behind the first 30 are left
// out.
func cells(row string) []string {
	all := strings.FieldsFunc(bare(row), func(r rune) bool { return strings.ContainsRune(" \t\r\n,|│", r) })
	return all[:min(len(all), 30)]
}

// values are the values of JSON that match, with the lines or pieces that they
// are in, and the outermost structure.
func (c *chooser) values() {
	c.matches(1)
	parents := c.parents()
	for i, v := range c.query.scores {
		if v > 0 {
			c.holders(parents, i, v)
		}
	}
	for i := range c.units {
		if u := &c.units[i]; u.whole() && indent(u.text) <= 2 {
			c.add(tierFrame, i, 0, 0, float64(-indent(u.text)))
		}
	}
}

// code is the passages of a source file that hold most of what was looked for. They
// and the lines that were referred to come with the heads of the functions or
// blocks that they begin in.
func (c *chooser) code() {
	const before = 1e6 // any value of a passage
	parents := c.parents()
	for _, x := range c.out[:len(c.out):len(c.out)] {
		c.holders(parents, x.at, before)
	}
	for _, r := range c.spans() {
		lo, hi := c.bounds(r)
		v := c.query.passage(lo, hi)
		if v <= 0 {
			continue
		}
		c.out = append(c.out, candidate{at: lo, lo: lo, hi: hi, tier: tierWanted, value: v})
		c.holders(parents, lo, v)
	}
}

// holders are the lines that open the blocks that a unit is in, the nearest three.
func (c *chooser) holders(parents []int, i int, value float64) {
	for n, p := 0, parents[i]; n < 3 && p >= 0; n, p = n+1, parents[p] {
		c.add(tierWanted, p, 0, 0, value-.01)
	}
}

// prose is sentences and paragraphs that match, each with the heading that it
// stands under. Without a query the beginning and the end are left.
func (c *chooser) prose() {
	heading := -1
	for i := range c.units {
		t := strings.TrimLeft(bare(c.units[i].text), " ")
		if strings.HasPrefix(t, "#") {
			heading = i
			c.add(tierFrame, i, 0, 0, 0)
		}
		if v := c.query.scores[i]; v > 0 {
			c.add(tierWanted, i, 1, 2, v)
			if heading >= 0 {
				c.add(tierWanted, heading, 0, 0, v-.01)
			}
		}
	}
}

package retrieve

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/term"
)

// maxLine is the length in bytes from which a line is shortened, quotedLine that
// of a line which the query quotes, and around how many lines before and behind
// a match are shown with it; alongside is the same for a line that the query
// quotes, since who takes some lines of a block mostly wants the next ones too.
const (
	maxLine    = 400
	quotedLine = 2_000
	around     = 2
	alongside  = 8
)

// A gloss knows what the terms of a query say. It may be used by several
// goroutines.
type gloss struct {
	ids     map[string]int
	weights []float64
	total   float64
	known   float64 // the share of the query, by weight, whose terms the index holds
	sieve   *sieve
}

// newGloss makes the gloss of the terms that a search used, of those asked for.
func newGloss(asked, terms []index.Term) *gloss {
	g := &gloss{ids: map[string]int{}, sieve: newSieve()}
	for _, t := range terms {
		g.ids[t.Text] = len(g.weights)
		g.weights = append(g.weights, t.Weight)
		g.total += t.Weight
		g.sieve.add(t.Text)
	}
	all := 0.0
	for _, t := range asked {
		all += t.Weight
		if _, ok := g.ids[t.Text]; ok {
			g.known += t.Weight
		}
	}
	if all > 0 {
		g.known /= all
	}
	return g
}

// terms appends the terms of the query that stand in a text.
func (g *gloss) terms(out []int, text string) []int {
	g.sieve.scan(text, func(word []byte, _ term.Kind) {
		if id, ok := g.ids[string(word)]; ok {
			out = append(out, id)
		}
	})
	return out
}

// sum is what terms say together, each once. It sorts them.
func (g *gloss) sum(terms []int) (sum float64) {
	slices.Sort(terms)
	for i, t := range terms {
		if i == 0 || t != terms[i-1] {
			sum += g.weights[t]
		}
	}
	return sum
}

// A view is a text with the terms of the query in it, by line.
type view struct {
	*gloss
	lines   []string
	found   [][]int
	quotes  quotation // of the query
	quoted  [][]int   // what the query quotes of the line, by its place in quotes
	claimed []bool    // the line is to be shown before any other, see [claim]
	reserve int       // tokens of the claimed lines
	density float64   // tokens in a byte
}

// usualDensity is the density of a page whose tokens are not known.
const usualDensity = 0.33

func (g *gloss) view(r *quire.Row, text string) *view {
	v := &view{gloss: g, lines: strings.Split(strings.TrimSuffix(text, "\n"), "\n"), density: usualDensity}
	if r.Tokens > 0 && r.Bytes > 0 {
		v.density = float64(r.Tokens) / float64(r.Bytes)
	}
	v.found, v.quoted, v.claimed = make([][]int, len(v.lines)), make([][]int, len(v.lines)), make([]bool, len(v.lines))
	var all []int // of the lines one behind the other
	for i, line := range v.lines {
		n := len(all)
		all = g.terms(all, line)
		v.found[i] = all[n:len(all):len(all)]
	}
	return v
}

// count estimates the tokens of a line, its end included, from those of its
// page.
func (v *view) count(line string) int { return int(v.density*float64(len(line)+1)) + 1 }

func (v *view) size(lines []Line) (tokens int) {
	for _, l := range lines {
		tokens += v.count(l.Text)
	}
	return tokens
}

// best picks lines that together have at most budget tokens: all of them where
// that fits, otherwise the windows around the lines whose terms say most. A term
// counts once in a window, so that a line with many different ones stands before
// one that repeats one. The first line is shown even where it is too large.
func (v *view) best(budget int) (shown []Line) {
	if all := v.all(budget); all != nil {
		return all
	}
	chosen := map[int]bool{}
	left := budget
	for i, first := range v.claimed {
		if first {
			chosen[i] = true
			left -= v.count(v.line(i).Text)
		}
	}
	for _, i := range v.ranked() {
		if left <= 0 {
			break
		}
		if left = v.choose(chosen, i, left); left <= 0 {
			break
		}
	}
	for i := range v.lines {
		if chosen[i] {
			shown = append(shown, v.line(i))
		}
	}
	return shown
}

// all is every line, nil where those have more tokens than there is room for.
func (v *view) all(budget int) (out []Line) {
	bytes := 0
	for _, line := range v.lines {
		bytes += min(len(line), maxLine) + 1
	}
	if int(v.density*float64(bytes))+len(v.lines) > budget {
		return nil
	}
	for i := range v.lines {
		out = append(out, v.line(i))
	}
	return out
}

func (v *view) line(i int) Line {
	return Line{Number: i + 1, Text: v.shorten(strings.TrimSuffix(v.lines[i], "\r")), Hit: len(v.found[i]) > 0}
}

// ranked lists the lines that match, those that the query quotes first and then
// those with the best windows; the first line where none does.
func (v *view) ranked() (order []int) {
	scores := make([]float64, len(v.lines))
	var window []int
	for i, found := range v.found {
		if len(found) == 0 {
			continue
		}
		window = window[:0]
		for j := max(i-around, 0); j <= min(i+around, len(v.lines)-1); j++ {
			window = append(window, v.found[j]...)
		}
		scores[i] = v.sum(window) + v.sum(found)/4
		if len(v.quoted[i]) > 0 {
			scores[i] += v.total
		}
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	if len(order) == 0 {
		order = append(order, 0)
	}
	return order
}

// choose takes the window of line i, the line itself first, as far as there is
// room, and returns the room left.
func (v *view) choose(chosen map[int]bool, i, left int) int {
	reach := around
	if len(v.quoted[i]) > 0 {
		reach = alongside
	}
	for k := range 2*reach + 1 {
		d := (k + 1) / 2 // 0, -1, 1, -2, 2 …
		if k%2 == 1 {
			d = -d
		}
		j := i + d
		if j < 0 || j >= len(v.lines) || chosen[j] {
			continue
		}
		n := v.count(v.line(j).Text)
		if n > left && len(chosen) > 0 {
			return left
		}
		chosen[j] = true
		left -= n
	}
	return left
}

// part shows the lines that were named, as far as they fit, or else those that
// match.
func (v *view) part(named quire.Range, budget int) (out []Line) {
	if named.First == 0 {
		return v.best(budget)
	}
	for i := named.First - 1; i < min(named.Last, len(v.lines)); i++ {
		text := strings.TrimSuffix(v.lines[i], "\r")
		n := v.count(text)
		if n > budget {
			if len(out) > 0 {
				break
			}
			text = beginning(text, budget*len(text)/n)
		}
		budget -= n
		out = append(out, Line{Number: i + 1, Text: text, Hit: true})
	}
	return out
}

// beginning is a line of which only the first n bytes fit, less those of a rune
// that would be cut. It says first how much is missing.
func beginning(line string, n int) string {
	n = max(min(n, len(line)), 0)
	for n > 0 && n < len(line) && !utf8.RuneStart(line[n]) {
		n--
	}
	return fmt.Sprintf("[the first %d of %d bytes of this line] %s", n, len(line), line[:n])
}

// nearLines is the height of the window in which words of a query stand
// together.
const nearLines = 12

// together is the share of what the query says that the best window of the text
// and what the text is about say, from 0 to 1.
func (v *view) together(about string) float64 {
	if v.total == 0 {
		return 0
	}
	held := make([]int, len(v.weights))
	sum, best := 0.0, 0.0
	count := func(terms []int, n int) {
		for _, t := range terms {
			before := held[t]
			held[t] += n
			switch {
			case before == 0:
				sum += v.weights[t]
			case held[t] == 0:
				sum -= v.weights[t]
			}
		}
	}
	count(v.terms(nil, about), 1)
	for i := range v.lines {
		count(v.found[i], 1)
		if i >= nearLines {
			count(v.found[i-nearLines], -1)
		}
		best = max(best, sum)
	}
	return best / v.total
}

// shorten cuts a long line to the sentences around its best place: those that
// the query quotes, with more room, or those whose terms say most.
func (v *view) shorten(line string) string {
	if len(line) <= maxLine {
		return line
	}
	sentences := sentencesOf(line)
	at, most, room := 0, -1.0, maxLine
	for i, s := range sentences {
		sum := v.sum(v.terms(nil, s))
		if n := v.quotes.count(s); n > 0 {
			sum, room = sum+v.total*float64(n), quotedLine
		}
		if sum > most {
			at, most = i, sum
		}
	}
	first, last := grow(sentences, at, room)
	out := strings.Join(sentences[first:last+1], "")
	if first > 0 {
		out = "… " + out
	}
	if last < len(sentences)-1 {
		out += " …"
	}
	return out
}

// grow takes in the sentences around one while there is room, those behind it
// first.
func grow(sentences []string, at, room int) (first, last int) {
	first, last = at, at
	size := len(sentences[at])
	for grown := true; grown; {
		grown = false
		if last < len(sentences)-1 && size+len(sentences[last+1]) <= room {
			last++
			size += len(sentences[last])
			grown = true
		}
		if first > 0 && size+len(sentences[first-1]) <= room {
			first--
			size += len(sentences[first])
			grown = true
		}
	}
	return first, last
}

// sentencesOf parts a line behind the marks that end a sentence, CJK ones
// included, and sentences that are too long behind spaces or, where there are
// none, between characters.
func sentencesOf(line string) (out []string) {
	start, space := 0, -1
	for i := 0; i < len(line); {
		r, n := utf8.DecodeRuneInString(line[i:])
		i += n
		if r == ' ' {
			space = i
		}
		ends := strings.ContainsRune("。！？；", r) || strings.ContainsRune(".!?;", r) && i < len(line) && line[i] == ' '
		switch {
		case ends:
		case i-start < maxLine/2:
			continue
		case space > start:
			i = space
		}
		out = append(out, line[start:i])
		start = i
	}
	if start < len(line) {
		out = append(out, line[start:])
	}
	return out
}

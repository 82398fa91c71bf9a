package rendition

import (
	"math"
	"slices"
	"unicode"
	"unicode/utf8"
)

// A query is what was looked for, and how much each unit of a text says of it.
//
// A unit scores Σ ln(1 + N/8n) over the distinct terms of the query that it has,
// where N is the number of units and n that of those that have the term: words
// that stand everywhere say nothing. A name that is whole counts double.
type query struct {
	found  [][]*term // by unit: the terms in it
	scores []float64 // by unit
}

const maxTerms = 400 // of a query; it is cut off behind them

// A term is a word of a query.
type term struct {
	whole bool // it is a name as it was written, not a part of one
	count int  // units that have it
}

func newQuery(text string, s *sheet) query {
	terms := queryTerms(text)
	if len(terms) == 0 {
		return query{make([][]*term, len(s.units)), make([]float64, len(s.units))}
	}
	found := make([][]*term, len(s.units))
	var w worder
	for i := range s.units {
		found[i] = w.termsIn(terms, s.units[i].text)
		for _, t := range found[i] {
			t.count++
		}
	}
	return query{found, score(found)}
}

func (t *term) value(units int) float64 {
	v := math.Log(1 + float64(units)/float64(t.count)/8)
	if t.whole {
		v *= 2
	}
	return v
}

// passage scores the units from lo to before hi as one: the distinct terms of all,
// by the square root of the length, so that neither the longest nor the shortest
// passages win by their length.
func (q *query) passage(lo, hi int) (sum float64) {
	seen := map[*term]bool{}
	for _, terms := range q.found[lo:hi] {
		for _, t := range terms {
			if !seen[t] {
				seen[t] = true
				sum += t.value(len(q.found))
			}
		}
	}
	return sum / math.Sqrt(float64(hi-lo))
}

func score(found [][]*term) []float64 {
	out := make([]float64, len(found))
	for i, terms := range found {
		for _, t := range terms {
			out[i] += t.value(len(found))
		}
	}
	return out
}

// termsIn are the distinct terms that a text has, in the order of their first
// places.
func (w *worder) termsIn(terms map[string]*term, text string) (out []*term) {
	w.words(text, func(word []byte, _ bool) bool {
		if len(word) < 3 {
			return true
		}
		if t := terms[string(word)]; t != nil && !slices.Contains(out, t) {
			out = append(out, t)
		}
		return true
	})
	return out
}

func queryTerms(text string) map[string]*term {
	terms := map[string]*term{}
	var w worder
	w.words(text, func(word []byte, whole bool) bool {
		if len(word) < 3 || len(word) > 100 || idle(string(word)) {
			return true
		}
		t := terms[string(word)]
		if t == nil {
			t = &term{}
			terms[string(word)] = t
		}
		t.whole = t.whole || whole
		return len(terms) < maxTerms
	})
	return terms
}

// idle reports whether a word of English or of programs says nothing about what
// is looked for.
func idle(word string) bool {
	switch word {
	case "the", "and", "for", "that", "this", "with", "from", "have", "has", "are", "was", "were", "will", "would", "should", "could", "can",
		"not", "but", "now", "let", "also", "then", "than", "there", "these", "those", "they", "them", "its", "into", "about", "which", "what",
		"when", "where", "how", "why", "all", "any", "some", "need", "needs", "see", "look", "check", "make", "use", "using", "used", "just", "only",
		"more", "most", "very", "you", "your", "our", "out", "one", "two", "let's", "here", "want", "first", "next", "like", "does", "did", "done",
		"true", "false", "null", "nil", "none", "return", "func", "def", "var", "const", "import", "string", "int", "bool", "self", "err", "if",
		"file", "file_path", "path", "command", "description", "pattern", "content", "output_mode", "limit", "offset", "type", "new", "get", "set":
		return true
	}
	return false
}

// A worder finds the words of texts, one text after the other.
type worder struct {
	yield func([]byte, bool) bool
	low   []byte
	cuts  []int
	done  bool
}

// words yields the words of a text in lower case, a name with parts first whole
// and then in parts: runs of letters, digits and _; where a small letter or a
// digit is followed by a capital, and at _, a part ends. Of CJK text it yields
// each pair of characters. A word is valid until yield returns; false ends.
func (w *worder) words(text string, yield func(word []byte, whole bool) bool) {
	w.yield, w.done = yield, false
	for i := 0; i < len(text) && !w.done; {
		if b := text[i]; b < utf8.RuneSelf && !letterByte(b) {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case wide(r):
			i = w.ideographs(text, i)
		case letter(r):
			i = w.name(text, i)
		default:
			i += n
		}
	}
}

func (w *worder) give(word []byte, whole bool) {
	w.done = w.done || !w.yield(word, whole)
}

// name reads a name and its parts.
func (w *worder) name(text string, i int) int {
	w.low, w.cuts = w.low[:0], append(w.cuts[:0], 0)
	before := rune(0)
	for i < len(text) {
		r, n := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(text[i:])
		}
		if !letter(r) || wide(r) {
			break
		}
		if at := len(w.low); before == '_' || r == '_' || upper(r) && !upper(before) {
			if at > w.cuts[len(w.cuts)-1] {
				w.cuts = append(w.cuts, at)
			}
		}
		w.lower(r)
		before, i = r, i+n
	}
	w.give(w.low, len(w.cuts) > 1)
	w.parts()
	return i
}

func (w *worder) lower(r rune) {
	switch {
	case r >= utf8.RuneSelf:
		w.low = utf8.AppendRune(w.low, unicode.ToLower(r))
	case upper(r):
		w.low = append(w.low, byte(r)|0x20)
	default:
		w.low = append(w.low, byte(r))
	}
}

func upper(r rune) bool {
	return 'A' <= r && r <= 'Z' || r >= utf8.RuneSelf && unicode.IsUpper(r)
}

func (w *worder) parts() {
	for k := 0; len(w.cuts) > 1 && k < len(w.cuts) && !w.done; k++ {
		end := len(w.low)
		if k+1 < len(w.cuts) {
			end = w.cuts[k+1]
		}
		if part := w.low[w.cuts[k]:end]; string(part) != "_" {
			w.give(part, false)
		}
	}
}

// ideographs reads a run of CJK text.
func (w *worder) ideographs(text string, i int) int {
	for !w.done {
		r, n := utf8.DecodeRuneInString(text[i:])
		if !wide(r) {
			break
		}
		if next, m := utf8.DecodeRuneInString(text[i+n:]); wide(next) {
			w.low = append(w.low[:0], text[i:i+n+m]...)
			w.give(w.low, true)
		}
		i += n
		if i >= len(text) {
			break
		}
	}
	return i
}

func letter(r rune) bool {
	if r < utf8.RuneSelf {
		return letterByte(byte(r))
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r))
}

func letterByte(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_'
}

// wide reports whether r is of a script that is written without spaces.
func wide(r rune) bool {
	switch {
	case r < 0x0e00:
		return false
	case r < 0x2e80:
		return unicode.In(r, unicode.Thai, unicode.Lao, unicode.Myanmar, unicode.Khmer)
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo)
}

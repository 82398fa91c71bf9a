package secret

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// The marker that stands in place of a secret is open, the rule's id, shut.
const (
	open = "‹secret:"
	shut = "›"
)

// longestID bounds the ids of rules, so that a marker is found from inside.
const longestID = 32

// A Finding is a secret in a text.
type Finding struct {
	Rule     string // id of the rule that found it
	From, To int    // the secret itself, without its name, quotes or scheme: bytes From to before To
}

// A Finder finds secrets. It may be used by several goroutines at once.
type Finder struct {
	rules []seeker
	words *lexicon
	users [][]int // of a word: the numbers of the rules that look from it on
}

// seeker is a rule ready for use.
type seeker struct {
	rule
	form func() *regexp.Regexp // compiled when first used
}

// NewFinder makes a finder with all rules. Expressions are compiled when a text
// first has a word of theirs, so that this is fast.
func NewFinder() *Finder {
	f := &Finder{}
	var words []string
	for n, r := range rules() {
		f.rules = append(f.rules, seeker{r, sync.OnceValue(r.compile)})
		for _, w := range r.words {
			at := slices.Index(words, w)
			if at < 0 {
				at = len(words)
				words, f.users = append(words, w), append(f.users, nil)
			}
			f.users[at] = append(f.users[at], n)
		}
	}
	f.words = newLexicon(words)
	return f
}

// Rules lists the ids of the rules. Where several rules find the same bytes, the
// first of them names the finding.
func (f *Finder) Rules() []string {
	ids := make([]string, len(f.rules))
	for i, r := range f.rules {
		ids[i] = r.id
	}
	return slices.Compact(ids)
}

// Find returns the secrets of a text in their order. They do not overlap: where
// rules find overlapping ones, the finding is all of it. A secret that the end of
// the text cuts short is found where its beginning says what it is. The markers
// of [Finder.Mask] are never found, nor anything that holds one.
//
// It takes time linear in the length of the text. What it finds at a place
// depends on at most 1 KiB before it and 8 KiB after the end of the secret.
func (f *Finder) Find(text string) []Finding {
	s := search{text: text, rules: len(f.rules)}
	f.words.each(text, func(word, at int) {
		for _, n := range f.users[word] {
			s.try(&f.rules[n], n, at, f.words.length[word])
		}
	})
	return s.merged(f.rules)
}

// Mask replaces each secret by ‹secret:rule›. Line ends within a secret stay, and
// so do the numbers that a tool put before its lines: every line keeps its number.
// Masked text is masked text: masking it again changes nothing, and Find finds
// nothing in it. Text without secrets is returned as it is.
func (f *Finder) Mask(text string) string {
	found := f.Find(text)
	if len(found) == 0 {
		return text
	}
	var b strings.Builder
	last := 0
	for _, x := range found {
		b.WriteString(text[last:x.From])
		x.mark(&b, text)
		last = x.To
	}
	b.WriteString(text[last:])
	return b.String()
}

func (x Finding) mark(b *strings.Builder, text string) {
	b.WriteString(open + x.Rule + shut)
	hidden := text[x.From:x.To]
	for i, c := range []byte(hidden) {
		switch c {
		case '\r':
			b.WriteByte(c)
		case '\n':
			b.WriteString(hidden[i : i+1+lineNumber(hidden[i+1:])])
		}
	}
}

// A search is one look through a text.
type search struct {
	text  string
	rules int // how many there are
	found []candidate
	ends  []int // of the last finding of each rule; nil before the first
}

// candidate is a finding with the number of its rule.
type candidate struct{ from, to, rule int }

// try applies a rule to the place of a word. A word within what the same rule has
// found is passed over: to look again from each place of a long secret would take
// time without bound.
func (s *search) try(r *seeker, number, at, length int) {
	if s.ends != nil && at < s.ends[number] || !r.inside && !opens(s.text, at) {
		return
	}
	from, to := r.seek(s.text, at, length)
	if from >= to || touchesMarker(s.text, at, to) {
		return
	}
	if s.ends == nil {
		s.ends = make([]int, s.rules)
	}
	s.ends[number] = to
	s.found = append(s.found, candidate{from, to, number})
}

// merged sorts the findings and joins those that overlap.
func (s *search) merged(rules []seeker) []Finding {
	slices.SortFunc(s.found, func(a, b candidate) int { return cmp.Or(a.from-b.from, a.rule-b.rule) })
	var list []candidate
	for _, c := range s.found {
		if n := len(list) - 1; n >= 0 && c.from < list[n].to {
			list[n].to = max(list[n].to, c.to)
			list[n].rule = min(list[n].rule, c.rule)
			continue
		}
		list = append(list, c)
	}
	var out []Finding
	for _, c := range list {
		out = append(out, Finding{rules[c.rule].id, c.from, c.to})
	}
	return out
}

// touchesMarker reports whether any of a stretch is part of a marker.
func touchesMarker(text string, from, to int) bool {
	at := max(0, from-len(open)-longestID-len(shut)+1)
	for at < to {
		i := strings.Index(text[at:min(to+len(open)-1, len(text))], open)
		if i < 0 {
			return false
		}
		at += i
		if n := marker(text[at:]); n > 0 && at+n > from {
			return true
		}
		at += len(open)
	}
	return false
}

// marker is the length of the marker with which a text begins, 0 if with none.
func marker(text string) int {
	i := len(open)
	for i < len(text) && i-len(open) < longestID && (letter(text[i]) || digit(text[i]) || text[i] == '-') {
		i++
	}
	if i == len(open) || !strings.HasPrefix(text[i:], shut) {
		return 0
	}
	return i + len(shut)
}

// opens reports whether a word may begin at a place: no letter, digit or
// underscore stands before it, other than as the end of an escape (\n, \u0026,
// %3D, a colour of a terminal).
func opens(text string, at int) bool {
	if at == 0 || !wordly(text[at-1]) {
		return true
	}
	c, before := text[at-1], text[:at-1]
	switch {
	case strings.IndexByte("nrt", c) >= 0 && strings.HasSuffix(before, `\`):
		return true
	case at >= 3 && text[at-3] == '%' && hexadecimal(text[at-2:at]):
		return true
	case at >= 6 && text[at-6:at-4] == `\u` && hexadecimal(text[at-4:at]):
		return true
	case c == 'm':
		return strings.HasSuffix(strings.TrimRight(before[max(0, len(before)-12):], "0123456789;"), "[")
	}
	return false
}

// closes reports whether a word may end at a place.
func closes(text string, at int) bool {
	return at == len(text) || !letter(text[at]) && !digit(text[at])
}

func letter(b byte) bool { return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' }
func digit(b byte) bool  { return '0' <= b && b <= '9' }
func wordly(b byte) bool { return letter(b) || digit(b) || b == '_' }

func hexadecimal(text string) bool {
	for i := range len(text) {
		if b := lower(text[i]); !digit(b) && (b < 'a' || b > 'f') {
			return false
		}
	}
	return true
}

package ledger

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// quoted is what stands in a message without being said by its author: code,
// quotations, quoted lines. An apostrophe opens a quotation only where a word
// cannot go on.
var quoted = regexp.MustCompile("(?ms)```.*?(?:```|\\z)|~~~.*?(?:~~~|\\z)|`[^`\n]*`|\"[^\"\n]*\"|“[^”]*”|‘[^’\n]*’|「[^」]*」|『[^』]*』|《[^》\n]*》|«[^»]*»|^[ \t]*>[^\n]*|\\B'[^'\n]*'\\B")

// bullet is the mark in front of an item of a list.
var bullet = regexp.MustCompile(`^[ \t]*(?:[-*+•·]|\(?\d{1,3}[.)、])[ \t]*`)

// hide puts a filler of the same length in place of what is quoted, so that
// positions in the result are positions in the text. Line ends stay.
func hide(text string) string {
	if !strings.ContainsAny(text, "`~\"“‘「『《«>'") {
		return text
	}
	return quoted.ReplaceAllStringFunc(text, func(q string) string {
		b := []byte(q)
		for i := range b {
			if b[i] != '\n' {
				b[i] = filler
			}
		}
		return string(b)
	})
}

// filler is a byte that no rule matches and that ends no sentence.
const filler = '\x01'

// A span is a sentence by its place in a text.
type span struct{ from, to int }

// sentences cuts a text that was hidden into sentences: at 。！？；, at . ! ? that
// white space follows, and at line ends, unless a line was only wrapped. A line
// that states a rule and ends in a colon is one sentence with the items of the
// list below it.
func sentences(hidden string) []span {
	var found []span
	lines := paragraphs(hidden)
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		if n := listBelow(hidden, lines[i:]); n > 0 && states(hidden[l.from:lines[i+1].from]) {
			found = append(found, span{l.from, lines[i+n].to})
			i += n
			continue
		}
		found = append(found, within(hidden, l)...)
	}
	return found
}

// paragraphs are the lines of a text that hold anything, wrapped ones joined.
func paragraphs(hidden string) []span {
	var all []span
	for from := 0; from < len(hidden); {
		to := len(hidden)
		if n := strings.IndexByte(hidden[from:], '\n'); n >= 0 {
			to = from + n
		}
		if strings.TrimSpace(hidden[from:to]) == "" {
			all = append(all, span{from, from})
		} else if n := len(all); n > 0 && wrapped(hidden[all[n-1].from:all[n-1].to], hidden[from:to]) {
			all[n-1].to = to
		} else {
			all = append(all, span{from, to})
		}
		from = to + 1
	}
	return all
}

// wrapWidth is the length of a line, in bytes, from which on it may have been
// broken by an editor and not by its author.
const wrapWidth = 60

// wrapped reports whether a line goes on in the next: it is long, ends within a
// sentence, and the next begins in lower case.
func wrapped(line, next string) bool {
	line = strings.TrimRight(line, " \t\r")
	if len(line) < wrapWidth || line == "" {
		return false
	}
	end, _ := utf8.DecodeLastRuneInString(line)
	begin, _ := utf8.DecodeRuneInString(strings.TrimLeft(next, " \t"))
	return !strings.ContainsRune(".!?:;。！？；：", end) && unicode.IsLower(begin) && !bullet.MatchString(next)
}

// listBelow is how many items of a list stand right below the first line, which
// must end in a colon.
func listBelow(hidden string, lines []span) int {
	head := strings.TrimRight(hidden[lines[0].from:lines[0].to], " \t\r")
	if !strings.HasSuffix(head, ":") && !strings.HasSuffix(head, "：") {
		return 0
	}
	n := 0
	for n+1 < len(lines) && bullet.MatchString(hidden[lines[n+1].from:lines[n+1].to]) {
		n++
	}
	return n
}

// within cuts a line into its sentences.
func within(hidden string, l span) []span {
	var found []span
	from := l.from
	for i := l.from; i < l.to; {
		r, size := utf8.DecodeRuneInString(hidden[i:l.to])
		i += size
		if ends(r, hidden[i:l.to]) {
			for i < l.to && strings.IndexByte(".!?", hidden[i]) >= 0 {
				i++
			}
			found = append(found, span{from, i})
			from = i
		}
	}
	return append(found, span{from, l.to})
}

// ends reports whether a rune ends a sentence, given what follows it. "e.g. so"
// does not: a sentence begins with no lower-case letter.
func ends(r rune, rest string) bool {
	switch r {
	case '。', '！', '？', '；':
		return true
	case '.', '!', '?':
		trimmed := strings.TrimLeft(rest, " \t")
		next, _ := utf8.DecodeRuneInString(trimmed)
		return len(trimmed) < len(rest) && (r != '.' || !unicode.IsLower(next)) || trimmed == ""
	}
	return false
}

// trim takes white space and the mark of a list off a sentence.
func trim(text string, s span) string {
	sentence := strings.TrimSpace(text[s.from:s.to])
	return strings.TrimSpace(sentence[len(bullet.FindString(sentence)):])
}

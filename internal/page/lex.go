package page

import "strings"

// A simple is one simple command of a command line.
type simple struct {
	words []string
	out   string // file that its output goes to, "" for none
	here  string // body of its here-document
	piped bool   // it reads what the command before it writes
}

// A lexer splits a command line into simple commands. It knows quotes, escapes,
// the operators between commands, redirections and here-documents. It does not
// expand anything: a substitution is part of the word it stands in.
type lexer struct {
	s       string
	i       int
	literal bool // a backslash means itself (Windows)
	now     simple
	all     []simple
	word    strings.Builder
	inWord  bool
	into    redirection // what the next word is
	ends    []heredoc   // here-documents whose bodies begin on the next line
}

// A heredoc is a here-document that was announced.
type heredoc struct {
	end     string // the line that ends it
	command int    // index of the command that reads it
}

type redirection uint8

const (
	toNothing redirection = iota
	toFile
	fromFile
	toDescriptor
	hereEnd
)

// maxCommands bounds how much of a command line is looked at.
const maxCommands = 200

// split returns the simple commands of a command line, at most maxCommands.
func split(s string, literal bool) []simple {
	l := lexer{s: s, literal: literal}
	for l.i < len(l.s) && len(l.all) < maxCommands {
		l.step()
	}
	l.endCommand(false)
	return l.all
}

func (l *lexer) step() {
	c := l.s[l.i]
	switch {
	case c == '\\' && !l.literal:
		l.escape()
	case c == '\'':
		l.quoted('\'')
	case c == '"':
		l.quoted('"')
	case c == '$' && strings.HasPrefix(l.s[l.i:], "$("):
		l.substitution()
	case c == ' ' || c == '\t' || c == '\r':
		l.endWord()
		l.i++
	case c == '\n':
		l.newline()
	case c == '#' && !l.inWord:
		l.comment()
	case c == '>' || c == '<':
		l.redirect(c)
	case strings.IndexByte(";|&()", c) >= 0:
		l.operator(c)
	default:
		l.put(c)
		l.i++
	}
}

func (l *lexer) put(c byte) {
	l.word.WriteByte(c)
	l.inWord = true
}

func (l *lexer) escape() {
	if l.i+1 < len(l.s) && l.s[l.i+1] != '\n' {
		l.put(l.s[l.i+1])
	}
	l.i += 2
}

// quoted takes the text up to the closing quote.
func (l *lexer) quoted(q byte) {
	l.inWord = true
	for l.i++; l.i < len(l.s) && l.s[l.i] != q; l.i++ {
		if c := l.s[l.i]; c == '\\' && q == '"' && !l.literal && l.i+1 < len(l.s) && strings.IndexByte(`"\$`+"`", l.s[l.i+1]) >= 0 {
			l.i++
		}
		l.word.WriteByte(l.s[l.i])
	}
	l.i++
}

// substitution takes "$(…)" as it stands.
func (l *lexer) substitution() {
	depth := 0
	for ; l.i < len(l.s); l.i++ {
		c := l.s[l.i]
		l.put(c)
		if c == '(' {
			depth++
		}
		if c == ')' {
			if depth--; depth == 0 {
				l.i++
				return
			}
		}
	}
}

func (l *lexer) comment() {
	if end := strings.IndexByte(l.s[l.i:], '\n'); end >= 0 {
		l.i += end
		return
	}
	l.i = len(l.s)
}

func (l *lexer) redirect(c byte) {
	if w := l.word.String(); l.inWord && (w == "1" || w == "2") {
		l.word.Reset() // a descriptor
		l.inWord = false
		l.into = toDescriptor
		if w == "1" {
			l.into = toNothing
		}
	}
	errors := l.into == toDescriptor
	l.endWord()
	n := 1
	for l.i+n < len(l.s) && l.s[l.i+n] == c {
		n++
	}
	l.i += n
	switch {
	case l.i < len(l.s) && l.s[l.i] == '&':
		l.i++
		l.into = toDescriptor
	case c == '>' && errors:
		l.into = toDescriptor
	case c == '>':
		l.into = toFile
	case n == 2:
		l.into = hereEnd
		if l.i < len(l.s) && l.s[l.i] == '-' {
			l.i++
		}
	default:
		l.into = fromFile
	}
}

func (l *lexer) operator(c byte) {
	l.endWord()
	n := 1
	for l.i+n < len(l.s) && l.s[l.i+n] == c {
		n++
	}
	if c == '&' && l.i+n < len(l.s) && l.s[l.i+n] == '>' { // &> file
		l.i += n
		return
	}
	l.i += n
	l.endCommand(c == '|' && n == 1)
}

// newline ends a command and takes the bodies of the line's here-documents.
func (l *lexer) newline() {
	l.endCommand(false)
	l.i++
	for _, d := range l.ends {
		body := l.document(d.end)
		if d.command < len(l.all) {
			l.all[d.command].here = body
		}
	}
	l.ends = nil
}

// document returns the text up to the line that holds end only.
func (l *lexer) document(end string) string {
	start := l.i
	for l.i < len(l.s) {
		at := l.i
		next := strings.IndexByte(l.s[l.i:], '\n')
		if next < 0 {
			next = len(l.s) - l.i - 1
		}
		l.i += next + 1
		if strings.TrimSpace(l.s[at:l.i]) == end {
			return l.s[start:at]
		}
	}
	return l.s[start:]
}

func (l *lexer) endWord() {
	if !l.inWord {
		return
	}
	w := l.word.String()
	l.word.Reset()
	l.inWord = false
	switch l.into {
	case toNothing:
		l.now.words = append(l.now.words, w)
	case toFile:
		l.now.out = w
	case hereEnd:
		l.ends = append(l.ends, heredoc{w, len(l.all)})
	}
	l.into = toNothing
}

func (l *lexer) endCommand(pipes bool) {
	l.endWord()
	if len(l.now.words) > 0 || l.now.out != "" {
		l.all = append(l.all, l.now)
	}
	l.now = simple{piped: pipes}
}

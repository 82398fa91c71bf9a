package task

import (
	"iter"
	"path"
	"regexp"
	"strings"
	"unicode"

	"github.com/quire-agent/quire/internal/page"
	"github.com/quire-agent/quire/internal/quire"
)

// A kind is a kind of sign. Signs of one kind are not independent of each other.
type kind int

const (
	kindPath kind = iota
	kindSymbol
	kindWord
	kindTodo
	kinds
)

var kindNames = [...]string{"paths", "symbols", "goal words", "todos"}

func (k kind) String() string { return kindNames[k] }

// A bag is what a turn is about, by kind. Each feature is in it once, in the order
// in which it came.
type bag struct {
	list [kinds][]string
	has  [kinds]map[string]bool
}

// maxFeatures is how many features of a kind are looked at in a turn: what comes
// first says what it is about.
const maxFeatures = 2048

func (b *bag) add(k kind, feature string) {
	if len(b.list[k]) >= maxFeatures || b.has[k][feature] {
		return
	}
	if b.has[k] == nil {
		b.has[k] = map[string]bool{}
	}
	feature = strings.Clone(feature)
	b.has[k][feature] = true
	b.list[k] = append(b.list[k], feature)
}

// What is looked at of a message and of the arguments of a call, in bytes.
const (
	maxUser = 16 << 10
	maxArgs = 8 << 10
)

// user adds what somebody said.
func (b *bag) user(text string) {
	text = text[:min(len(text), maxUser)]
	b.names(text)
	b.words(kindWord, text)
}

// call adds a tool call.
func (b *bag) call(p *quire.Page, args string) {
	args = args[:min(len(args), maxArgs)]
	switch p.Action {
	case quire.ActionTask:
		return
	case quire.ActionPlan:
		for _, text := range page.Texts(args) {
			b.words(kindTodo, text)
		}
		return
	case quire.ActionRead, quire.ActionWrite, quire.ActionEdit:
		for _, path := range strings.Fields(p.Target) {
			b.add(kindPath, clean(path))
		}
	}
	for _, text := range page.Texts(args) {
		b.names(text)
	}
}

// names adds the paths and symbols in a text.
func (b *bag) names(text string) {
	for _, run := range strings.FieldsFunc(text, notPath) {
		b.file(run)
	}
	b.symbols(text)
}

// What is looked at of a result and of what the model said, in bytes.
const (
	maxResult = 64 << 10
	maxSaid   = 16 << 10
)

// result adds the names in the result of a call.
func (b *bag) result(text string) { b.names(text[:min(len(text), maxResult)]) }

// notPath reports whether a rune ends a path.
func notPath(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("\"'`()[]{}<>,;|=", r) || r > 0x2000
}

var looksLikeFile = regexp.MustCompile(`^[\w.~@+/\\:-]*[\w-]\.[A-Za-z][A-Za-z0-9]{0,7}$`)

// file adds a word that looks like the path of a file.
func (b *bag) file(run string) {
	run = strings.TrimRight(run, ".:")
	if len(run) < 200 && strings.ContainsAny(run, "/\\") && !strings.Contains(run, "://") && looksLikeFile.MatchString(run) {
		b.add(kindPath, clean(run))
	}
}

// Files are the paths and the bare names of files in a text, paths shortened as
// [File] does it. Each comes as often as it occurs.
func Files(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for run := range strings.FieldsFuncSeq(text, notPath) {
			run, _, _ = strings.Cut(strings.TrimRight(run, ".:"), ":") // a line may follow
			if len(run) < 200 && looksLikeFile.MatchString(run) && !yield(clean(run)) {
				return
			}
		}
	}
}

// File is a path by its last three elements.
func File(path string) string { return clean(path) }

// clean is a path by its last three elements: folders differ between checkouts of
// one project, and a file is named from several of them.
func clean(p string) string {
	p = path.Clean(strings.ReplaceAll(p, `\`, "/"))
	elements := strings.Split(p, "/")
	return strings.Join(elements[max(0, len(elements)-3):], "/")
}

// symbols adds the names in a text that look like those of a program.
func (b *bag) symbols(text string) {
	for w := range Symbols(text) {
		b.add(kindSymbol, w)
	}
}

// Symbols are the names in a text that look like those of a program: with a
// capital, an underscore or a digit inside. Each comes as often as it occurs.
func Symbols(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for w := range strings.FieldsFuncSeq(text, notSymbol) {
			if len(w) >= 5 && len(w) <= 64 && composed(w) && !yield(w) {
				return
			}
		}
	}
}

func notSymbol(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }

func composed(w string) bool {
	lower, mixed := false, false
	for i, r := range w {
		switch {
		case unicode.IsLower(r):
			lower = true
		case r == '_' && i > 0, unicode.IsUpper(r) && lower:
			mixed = true
		}
	}
	return mixed
}

// words adds the words of a text that carry meaning, cut to their stem, and of
// CJK text each pair of neighbours.
func (b *bag) words(k kind, text string) {
	var last rune
	word := strings.Builder{}
	flush := func() {
		if w := stem(word.String()); w != "" {
			b.add(k, w)
		}
		word.Reset()
	}
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			flush()
			if last != 0 {
				b.add(k, string([]rune{last, r}))
			}
			last = r
			continue
		case unicode.IsLetter(r):
			word.WriteRune(unicode.ToLower(r))
		default:
			flush()
		}
		last = 0
	}
	flush()
}

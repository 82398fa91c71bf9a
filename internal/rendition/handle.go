package rendition

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/quire"
)

// MaxHandle is the bound of a handle in tokens.
const MaxHandle = 40

// textHandle is how many tokens the handle of a text may have before its target is
// cut: a stream of many pages consists of them in the end.
const textHandle = 25

// Handle says in one line of at most MaxHandle tokens what a page was, how big it
// is and how to read it back: [read internal/x/y.go, 1240 tokens: recall p412]. The
// page is named once, in what reads it, because a long prompt consists of handles
// and each names its page. That of an image says its size, where it is from, the
// first sentence that the model wrote after it had seen it, and that it was removed
// on purpose, so that nobody takes it for lost. It is masked. A target that does not
// fit loses its beginning, a command its middle, a sentence its end. Where the page cannot be read back it
// is "": a handle without a reader is a promise that nobody keeps.
//
// The bound holds for a Reader and a page number of usual length.
func (m *Maker) Handle(s Source) string {
	if !m.readable(&s) {
		return ""
	}
	how := m.how(s.Page.Number)
	if s.Page.Kind == quire.PageImage || s.Page.Class == quire.ClassImage {
		return m.imageHandle(&s, how)
	}
	what, shorten, mark := m.about(&s)
	return m.longest(what, textHandle, shorten, func(what string) string {
		if what != "" {
			what = " " + mark + what + mark
		}
		return fmt.Sprintf("[%s%s, %s: %s]", verb(&s), what, size(&s.Page), how)
	})
}

func (m *Maker) imageHandle(s *Source, how string) string {
	const share = 10 // tokens of the origin, so that the sentence has room
	origin := m.longest(m.line(s.Page.Target), share, ending, func(text string) string { return text })
	if origin != "" {
		origin = " of " + origin
	}
	return m.fit(m.line(sentence(s.Seen)), beginning, func(seen string) string {
		if seen != "" {
			seen = fmt.Sprintf(`, seen as "%s"`, seen)
		}
		return fmt.Sprintf("[%s%s%s, removed on purpose; %s shows it]", imageSize(s), origin, seen, how)
	})
}

// fit builds a handle with as much of a text as its tokens allow.
func (m *Maker) fit(text string, shorten shortening, build func(string) string) string {
	return m.longest(text, MaxHandle, shorten, build)
}

// A shortening keeps at most n characters of a text, with a mark where it cuts.
type shortening func(text string, n int) string

func (m *Maker) longest(text string, tokens int, shorten shortening, build func(string) string) string {
	if whole := build(text); m.counter.Count(whole) <= tokens {
		return whole
	}
	// No text of a handle's tokens is longer than this in practice, and a search
	// for the longest one needs an end.
	most := min(utf8.RuneCountInString(text), 8*tokens)
	n := sort.Search(most, func(n int) bool { return m.counter.Count(build(shorten(text, n+1))) > tokens })
	return build(shorten(text, n))
}

func imageSize(s *Source) string {
	switch {
	case s.Media != nil && s.Media.Width > 0:
		return fmt.Sprintf("image %d×%d", s.Media.Width, s.Media.Height)
	case s.Media != nil && s.Media.Bytes > 0:
		return "image of " + counted(s.Media.Bytes, "byte")
	}
	return "image"
}

func size(p *quire.Page) string {
	if p.Tokens > 0 {
		return counted(p.Tokens, "token")
	}
	return counted(p.Bytes, "byte")
}

// about is what a page is about, the target of a tool call or the first words of a
// message, how that is shortened, and the quotation mark that it gets.
func (m *Maker) about(s *Source) (text string, shorten shortening, mark string) {
	switch {
	case s.Page.Target != "" && s.Page.Action == quire.ActionRun:
		return m.line(s.Page.Target), ends, ""
	case s.Page.Target != "":
		return m.line(target(&s.Page)), ending, ""
	case s.Page.Kind == quire.PageTool:
		return m.line(s.Page.Tool), ending, ""
	}
	return m.line(firstLine(s.Text)), beginning, `"`
}

// target is a target with the lines that were read of it.
func target(p *quire.Page) string {
	switch {
	case p.Lines.First <= 0:
		return p.Target
	case p.Lines.Last <= 0:
		return fmt.Sprintf("%s from L%d", p.Target, p.Lines.First)
	}
	return fmt.Sprintf("%s L%d-L%d", p.Target, p.Lines.First, p.Lines.Last)
}

// verb says what kind of page it is.
func verb(s *Source) string {
	switch s.Page.Kind {
	case quire.PageUser:
		return "user"
	case quire.PageMachine:
		return "notice"
	case quire.PageAssistant:
		return "model"
	case quire.PageWritten:
		return "wrote"
	case quire.PageDocument:
		return "document"
	case quire.PageSystem:
		return "system"
	}
	switch s.Page.Action {
	case quire.ActionRead:
		return "read"
	case quire.ActionWrite:
		return "write to"
	case quire.ActionEdit:
		return "edit of"
	case quire.ActionRun:
		return "ran"
	case quire.ActionSearch:
		return "search for"
	case quire.ActionList:
		return "list of"
	case quire.ActionFetch:
		return "fetch of"
	case quire.ActionTask:
		return "subagent"
	case quire.ActionPlan:
		return "plan"
	}
	return "tool"
}

// ending keeps the last n characters of a text; of a path whole elements where
// that does not cost half of them.
func ending(text string, n int) string {
	at := len(text)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:at])
		at -= size
	}
	rest := text[at:]
	if i := strings.IndexByte(rest, '/'); at > 0 && i >= 0 && i < len(rest)/2 {
		rest = rest[i:]
	}
	if at == 0 || rest == "" {
		return rest
	}
	return "…" + rest
}

// ends keeps n characters of a command, as many of its beginning, which says what
// runs, as of its end, which says on what.
func ends(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return beginning(text, (n+1)/2) + strings.TrimPrefix(ending(text, n/2), "…")
}

// beginning keeps the first n characters of a text.
func beginning(text string, n int) string {
	for i := range text {
		if n--; n < 0 {
			if i == 0 {
				return ""
			}
			return strings.TrimRight(text[:i], " ") + "…"
		}
	}
	return text
}

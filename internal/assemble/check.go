package assemble

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/schedule"
)

// mostAdded is how many tokens Quire may add in front of the stream.
const mostAdded = 8_000

// check looks at the whole draft. What concerns one text was looked at when it
// was made: checkFold, checkNamed, checkShort.
func (d *draft) check() error {
	checks := []func() error{d.checkExtends, d.checkPairs, d.checkBound, d.checkUser, d.checkAdded, d.checkSize, d.checkMarks}
	if d.a.valid < len(d.a.made.places) {
		w := d.change()
		checks = append(checks, w.checkUser, w.checkPinned, w.checkOpaque, w.checkFresh)
	}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkExtends holds I1: without an epoch everything that was sent stands, in its
// place and byte for byte.
func (d *draft) checkExtends() error {
	if !d.renewed && !d.a.epoch && !d.extends() {
		return broken(Extends, "what was sent changed without an epoch")
	}
	return nil
}

// checkPairs holds I2 on the messages that were made: the results of a message
// answer its calls, one each, in their order, and nothing else is a result.
func (d *draft) checkPairs() error {
	first := 0
	if d.from > 0 {
		first = d.links[d.from-1].message
	}
	for i := first; i < len(d.messages); i++ {
		var results []quire.Block
		if i+1 < len(d.messages) && d.messages[i+1].Role == quire.RoleTool {
			results = d.messages[i+1].Blocks
		}
		m := &d.messages[i]
		if m.Role == quire.RoleTool && i == 0 {
			return broken(Pairs, "the first message has results")
		}
		if m.Role != quire.RoleTool && !slices.Equal(uses(m.Blocks, quire.PartToolCall), uses(results, quire.PartToolResult)) {
			return broken(Pairs, "message %d: calls and results differ", i)
		}
	}
	return nil
}

func uses(list []quire.Block, kind quire.PartKind) (out []string) {
	for i := range list {
		if b := &list[i]; b.Kind == kind && b.Opaque == nil {
			out = append(out, b.ToolUse)
		}
	}
	return out
}

// checkBound holds I3 on the thinking that was made: what is before it is what it
// was made for.
func (d *draft) checkBound() error {
	for _, t := range d.thoughts {
		sum, known := d.bound[t.block]
		before := d.seed
		if t.link > 0 {
			before = d.links[t.link-1].sum
		}
		if known && sum != before {
			return &Error{Invariant: Bound, Block: t.block, What: "other bytes stand before it now"}
		}
	}
	return nil
}

// checkUser holds I4 on the user's words that were made.
func (d *draft) checkUser() error {
	for _, u := range d.users {
		p, err := d.piece(u.block)
		if err != nil {
			return err
		}
		l := d.links[u.link]
		if b := &d.messages[l.message].Blocks[l.block]; b.Text != p.Text {
			return brokenAt(Verbatim, &p, u.block, "the user's words are not word for word")
		}
		d.user = u.block
	}
	return nil
}

// checkAdded holds I6.
func (d *draft) checkAdded() error {
	if d.h.Added > mostAdded {
		return broken(Added, "%d tokens, at most %d", d.h.Added, mostAdded)
	}
	return nil
}

// checkSize holds I7. Where the stream cannot be made smaller, this is the typed
// stop.
func (d *draft) checkSize() error {
	limits, tokens := &d.h.Limits, d.h.Constant+d.net+d.notices()
	if !within(tokens, limits.Window) {
		return broken(Size, "%d tokens, at most %d", tokens, limits.Window)
	}
	if len(d.links) == 0 {
		return nil
	}
	l := d.links[len(d.links)-1]
	if bytes := headBytes(d.h) + l.bytes; !within(bytes, limits.Body) {
		return broken(Size, "a body of %d bytes, at most %d", bytes, limits.Body)
	}
	if !within(l.images, limits.Images) {
		return broken(Size, "%d images, at most %d", l.images, limits.Images)
	}
	return nil
}

// checkMarks holds I9: few marks, the long-lived ones first, and one from which
// the provider finds what was written before.
func (d *draft) checkMarks() error {
	rules, marks := &d.h.Rules, d.planned
	if len(marks) > min(mostMarks, rules.Breakpoints) {
		return broken(Cached, "%d marks, at most %d", len(marks), min(mostMarks, rules.Breakpoints))
	}
	if d.life(rules.TailMark) > d.life(rules.HeadMark) {
		return broken(Cached, "a long mark behind a short one")
	}
	written := d.lastWritten()
	if rules.LookBack == 0 || rules.Breakpoints < 2 || rules.Implicit || written <= d.head {
		return nil
	}
	found := func(p int) bool { return p >= written && p-written <= rules.LookBack }
	if !slices.ContainsFunc(marks, found) {
		return broken(Cached, "no mark finds what was written up to block %d", written)
	}
	return nil
}

// checkNamed holds I5 for a text that stands for a page.
func (d *draft) checkNamed(p *part, text string) error {
	switch {
	case !d.h.reads():
		return brokenAt(Reachable, &p.Piece, p.place.Block, "it is not shown in full, and no tool reads pages back")
	case !names(text, p.Page):
		return brokenAt(Reachable, &p.Piece, p.place.Block, "what stands for it does not name its page")
	}
	return nil
}

// checkShort holds I5 and I8 for a shortened text.
func (d *draft) checkShort(p *part, text string) error {
	if err := d.checkNamed(p, text); err != nil {
		return err
	}
	if first, _, _ := strings.Cut(text, "\n"); !names(first, p.Page) {
		return brokenAt(Marked, &p.Piece, p.place.Block, "its first line does not say that it is shortened")
	}
	if !utf8.ValidString(text) {
		return brokenAt(Marked, &p.Piece, p.place.Block, "it is not valid UTF-8")
	}
	return nil
}

// checkFold holds I5 and I8 for the text of a fold.
func (d *draft) checkFold(s schedule.Span, text string) error {
	at := Piece{Page: s.FirstPage}
	switch {
	case strings.TrimSpace(text) == "":
		return brokenAt(Reachable, &at, s.FirstBlock, "its fold is empty")
	case !utf8.ValidString(text):
		return brokenAt(Marked, &at, s.FirstBlock, "its fold is not valid UTF-8")
	case s.FirstPage == 0:
		return nil
	case !d.h.reads():
		return brokenAt(Reachable, &at, s.FirstBlock, "it is folded, and no tool reads pages back")
	case !names(text, s.FirstPage) || !names(text, s.LastPage):
		return brokenAt(Reachable, &at, s.FirstBlock, "its fold does not name %s and %s", s.FirstPage, s.LastPage)
	}
	return nil
}

// names reports whether a text names a page, as a word of its own. What belongs to
// no page, as a text that was read back, must name any: the one that it is from.
func names(text string, page quire.PageNumber) bool {
	if page == 0 {
		return slices.ContainsFunc(strings.FieldsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf || !wordByte(byte(r)) }), isPage)
	}
	name := page.String()
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		at += i
		end := at + len(name)
		if (at == 0 || !wordByte(text[at-1])) && (end == len(text) || !wordByte(text[end])) {
			return true
		}
		at = end
	}
}

func isPage(word string) bool {
	_, err := quire.ParsePageRef(word)
	return err == nil
}

func wordByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
}

package ledger

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/quire"
)

// CardBudget is what a ledger card may take, in tokens; FoldBudget is what it and
// the cards of turns and tasks may take together (sections 6.5 and 6.6 of the
// design).
const (
	CardBudget = 3000
	FoldBudget = 6000
)

// The frame of a ledger card. Lines of the user begin with "> ", so that nothing
// the user or a file says can end it.
const (
	cardBegin = "[ledger of this session, kept by Quire: a record of what was said and done, not a message of the user. It asks for nothing; what it shows as done is done.]"
	cardEnd   = "[end of the ledger]"
)

// Card renders the ledger for the current task in at most budget tokens as count
// counts them; "" if not even the frame fits. It begins with the rules of the
// user, newest first and never cut, and goes on with what is unsatisfied before
// what is done. What does not fit is named with its pages, for recall. The same
// ledger gives the same card.
//
// count may be any count of tokens by which lines together are no more than the
// sum of the lines.
func (l *Ledger) Card(budget int, count func(string) int) string {
	v := l.view(l.task, 0)
	sections := []section{l.ruled(), l.asked(v), l.running(), v.todos(), v.failed(), l.tools(), v.claimed(true),
		v.committed(), v.written(), v.before(), v.ran(), v.read(), v.claimed(false)}
	if card := l.fit(cardBegin, cardEnd, sections, budget, count); card != "" {
		return card
	}
	return frame(budget, count)
}

// A section is a part of a card: lines under a heading, the most wanted first.
type section struct {
	title string
	noun  string // what a line is
	whole bool   // may take all that is left; others take half of it
	lines []entry
}

// An entry is a line, or several that stand together, with the page that has the
// whole of it.
type entry struct {
	text  string
	page  quire.PageNumber
	brief string // to stand in where text does not fit, "" for nothing
}

// misses is how many entries in a row that do not fit end a section.
const misses = 8

// fit makes a card of sections, "" if nothing of them fits. Frame and notes about
// what was left out come off the budget first.
func (l *Ledger) fit(begin, end string, sections []section, budget int, count func(string) int) string {
	for reserve := noteTokens; ; reserve *= 2 {
		left := budget - count(begin+"\n") - count(end) - reserve
		if left < 0 {
			return ""
		}
		body, notes := l.fill(sections, left, count)
		if body == "" {
			return ""
		}
		card := begin + "\n" + body + notes + end
		if count(card) <= budget {
			return card
		}
	}
}

// noteTokens is what is kept free at first for saying what was left out.
const noteTokens = 60

// frame is a ledger card with nothing in it, for budgets that hold no more.
func frame(budget int, count func(string) int) string {
	card := cardBegin + "\nnothing of it fits here; recall finds it\n" + cardEnd
	if count(card) > budget {
		return ""
	}
	return card
}

// fill takes entries by the order of the sections as long as they fit.
func (l *Ledger) fill(sections []section, left int, count func(string) int) (body, notes string) {
	var b, omitted strings.Builder
	for _, s := range sections {
		room := left
		if !s.whole {
			room = left / 2
		}
		text, out := l.take(s, room, count)
		left -= count(text)
		b.WriteString(text)
		if out != "" {
			omitted.WriteString(out)
		}
	}
	if omitted.Len() > 0 {
		notes = "left out, each whole by recall of its page:" + strings.TrimSuffix(omitted.String(), ";") + "\n"
	}
	return b.String(), notes
}

// take is a section in at most room tokens, and a note about what is not in it.
func (l *Ledger) take(s section, room int, count func(string) int) (text, out string) {
	if len(s.lines) == 0 {
		return "", ""
	}
	var b strings.Builder
	title := s.title + ":\n"
	room -= count(title)
	missed, row := []entry{}, 0
	for i, e := range s.lines {
		if row == misses {
			missed = append(missed, s.lines[i:]...)
			break
		}
		line, cost := l.choose(e, room, count)
		if line == "" {
			missed, row = append(missed, e), row+1
			continue
		}
		row = 0
		room -= cost
		b.WriteString(line)
	}
	if b.Len() > 0 {
		text = title + b.String()
	}
	return text, leftOut(s.noun, missed)
}

// choose is the entry, or what stands in for it, if one of them fits.
func (l *Ledger) choose(e entry, room int, count func(string) int) (line string, cost int) {
	for _, text := range []string{e.text, e.brief} {
		if text == "" {
			continue
		}
		line = l.mask(text) + "\n"
		if cost = count(line); cost <= room {
			return line, cost
		}
	}
	return "", 0
}

func (l *Ledger) mask(text string) string {
	if l.Mask == nil {
		return text
	}
	return l.Mask(text)
}

// leftOut says what is not in a section.
func leftOut(noun string, missed []entry) string {
	if len(missed) == 0 {
		return ""
	}
	first, last := missed[0].page, missed[0].page
	for _, e := range missed {
		first, last = min(first, e.page), max(last, e.page)
	}
	return fmt.Sprintf(" %s (%s);", plural(len(missed), noun), pages(first, last))
}

// ruled are the rules of the user, in all tasks. One that was said again stands
// where it was said last.
func (l *Ledger) ruled() section {
	s := section{title: "rules of the user, verbatim, newest first; they hold until the user takes them back", noun: "rule", whole: true}
	seen := map[string]bool{}
	for _, r := range slices.Backward(l.rules) {
		if key := strings.Join(strings.Fields(r.text), " "); !r.gone && !seen[key] {
			seen[key] = true
			s.lines = append(s.lines, entry{text: cite(r.text) + " (" + r.page.String() + ")", page: r.page})
		}
	}
	return s
}

// asked is what the user said last in this task. Only words that do not fit are
// cut, in the middle, and say so before they begin.
func (l *Ledger) asked(v *view) section {
	s := section{noun: "message", whole: true}
	if len(v.turns) == 0 {
		return s
	}
	t := v.turns[len(v.turns)-1]
	s.title = "newest message of the user in this task, already in the conversation (" + state(t) + ")"
	for _, w := range t.said {
		if !w.gone {
			s.lines = append(s.lines, entry{text: cite(w.text) + " (" + w.page.String() + ")", page: w.page, brief: shortened(w)})
		}
	}
	return s
}

func state(t *turn) string {
	if t.answered {
		return "answered, see the claim"
	}
	return "in work"
}

// endBytes is how much stays of each end of a message that is too long.
const endBytes = 800

// shortened is a long message without its middle.
func shortened(w *words) string {
	if len(w.text) <= 3*endBytes {
		return cite(oneLine(w.text, 2*lineWidth)) + " (cut; recall " + w.page.String() + " reads it whole)"
	}
	head := clip(w.text, endBytes)
	tail := w.text[len(w.text)-endBytes:]
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return fmt.Sprintf("%s, without %d bytes of its middle; recall %s reads it whole:\n%s\n%s",
		w.page, len(w.text)-len(head)-len(tail), w.page, cite(head), cite(tail))
}

// running are the jobs in the background, of all tasks: one that is forgotten is
// started twice.
func (l *Ledger) running() section {
	s := section{title: "running in the background, not to be started again", noun: "job"}
	for _, j := range slices.Backward(l.Running()) {
		text := fmt.Sprintf("- %s: %s (%s)", j.ID, oneLine(j.What, lineWidth), j.Page)
		if j.Output != "" {
			text += ", output in " + j.Output
		}
		s.lines = append(s.lines, entry{text: text, page: j.Page})
	}
	return s
}

// tools are the ones whose schemas were loaded.
func (l *Ledger) tools() section {
	s := section{title: "tools whose schemas were loaded", noun: "tool"}
	for _, loaded := range slices.Backward(l.Schemas()) {
		s.lines = append(s.lines, entry{text: "- " + loaded.Tool + " (" + loaded.Page.String() + ")", page: loaded.Page})
	}
	return s
}

package ledger

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// TurnCard renders turn number, from 0, in at most budget tokens: the user's first
// line, the model's last paragraph as its claim, the files with their hashes as last
// seen, and each call with tool, target, outcome and one line of its result. Calls
// that failed or wrote are the last to be left out. It is "" for a turn that is not
// there or a budget that is too small.
func (l *Ledger) TurnCard(number, budget int, count func(string) int) string {
	if number < 0 || number >= len(l.turns) {
		return ""
	}
	t := l.turns[number]
	begin := fmt.Sprintf("[turn %d (%s), folded by Quire: a record, not a message of the user]", number, pages(t.first, t.last))
	return l.fit(begin, "[end of the turn]", []section{t.request(), t.concluded(), t.files(), t.ran()}, budget, count)
}

// Rules renders the rules that the user stated on the pages from first to last, as
// they stand and newest first, in at most budget tokens: what a fold of these pages
// takes out of the prompt and must not take away. A rule that was said again later
// stands where it was said last. What does not fit is named with its pages. It is ""
// where there are none or the budget is too small.
func (l *Ledger) Rules(first, last quire.PageNumber, budget int, count func(string) int) string {
	s := l.ruled()
	s.lines = slices.DeleteFunc(s.lines, func(e entry) bool { return e.page < first || e.page > last })
	s.title = "newest first, verbatim"
	return l.fit("[rules from there, kept by Quire: they hold until the user takes them back]", "[end of the rules]", []section{s}, budget, count)
}

// request is the first line of what the user said.
func (t *turn) request() section {
	s := section{title: "the user said, " + past(t), noun: "message", whole: true}
	for _, w := range t.said {
		if !w.gone {
			s.lines = append(s.lines, entry{text: cite(firstLine(w.text)) + " (" + w.page.String() + ")", page: w.page})
		}
	}
	return s
}

func firstLine(text string) string {
	text = strings.TrimSpace(text)
	line, rest, _ := strings.Cut(text, "\n")
	line = oneLine(line, 2*lineWidth)
	if rest != "" && !strings.HasSuffix(line, "…") {
		line += " …"
	}
	return line
}

func (t *turn) concluded() section {
	s := section{title: "the model claimed, verbatim", noun: "claim", whole: true}
	if t.claim.text != "" {
		s.lines = []entry{{text: cite(claimed(t.claim.text)) + " (" + t.claim.page.String() + ")", page: t.claim.page}}
	}
	return s
}

// claimRunes is the longest claim of a model in a card.
const claimRunes = 300

// claimed is a claim of at most claimRunes characters.
func claimed(text string) string {
	n := 0
	for i := range text {
		if n++; n > claimRunes-1 && len(text)-i > 3 {
			return text[:i] + "…"
		}
	}
	return text
}

func (t *turn) files() section {
	s := section{title: "files", noun: "file", whole: true}
	v := &view{turns: []*turn{t}}
	v.list()
	for _, f := range v.files {
		e := f.entry()
		if f.wrote {
			e.text += " written"
		}
		s.lines = append(s.lines, e)
	}
	return s
}

// ran are the calls in their order, those that failed or wrote before all others.
func (t *turn) ran() section {
	s := section{title: "calls", noun: "call", whole: true}
	calls := slices.Clone(t.calls)
	slices.SortStableFunc(calls, func(a, b *call) int { return btoi(b.matters()) - btoi(a.matters()) })
	for _, c := range calls {
		s.lines = append(s.lines, entry{text: c.card(), page: c.page})
	}
	return s
}

func (c *call) matters() bool {
	return c.outcome == quire.OutcomeError || c.action == quire.ActionWrite || c.action == quire.ActionEdit || len(c.commits) > 0
}

// card is a call in one line.
func (c *call) card() string {
	text := "- " + c.tool
	if c.target != "" {
		text += " `" + oneLine(c.target, lineWidth) + "`"
	}
	text += ": " + ended(c)
	if c.line != "" {
		text += ", " + c.line
	}
	return text + " (" + c.page.String() + ")"
}

// TaskCard renders the turns of a task that ended before page until, 0 for all of
// them, in at most budget tokens: one line a turn, newest first, and the files
// written. It is "" where there are none or the budget is too small.
func (l *Ledger) TaskCard(task string, until quire.PageNumber, budget int, count func(string) int) string {
	v := l.view(task, until)
	if len(v.turns) == 0 {
		return ""
	}
	begin := fmt.Sprintf("[task %q, %s (%s), folded by Quire: a record, not a message of the user]",
		oneLine(task, lineWidth), plural(len(v.turns), "turn"), pages(v.turns[0].first, v.newest()))
	return l.fit(begin, "[end of the task]", []section{v.summary(), v.committed(), v.written()}, budget, count)
}

// summary is a line for each turn.
func (v *view) summary() section {
	s := section{title: "turns, newest first", noun: "turn", whole: true}
	for _, t := range slices.Backward(v.turns) {
		s.lines = append(s.lines, entry{text: t.summary(), page: t.first})
	}
	return s
}

func (t *turn) summary() string {
	said := "nothing"
	if len(t.said) > 0 {
		said = oneLine(t.said[0].text, lineWidth)
	}
	bad := 0
	for _, c := range t.calls {
		bad += btoi(c.outcome == quire.OutcomeError)
	}
	text := fmt.Sprintf("- turn %d (%s), %s, %d failed; the user: %s", t.number, pages(t.first, t.last), plural(len(t.calls), "call"), bad, said)
	if t.claim.text != "" {
		text += " | claimed: " + oneLine(t.claim.text, lineWidth)
	}
	return text
}

// Head renders what a new epoch begins with when everything before page until is
// folded: the ledger card, a card for each other task, newest first, and cards of
// the folded turns of this task, newest first, with a task card for the others.
// Together they take at most budget tokens.
func (l *Ledger) Head(until quire.PageNumber, budget int, count func(string) int) string {
	head := l.Card(min(CardBudget, budget), count)
	left := budget - count(head)
	recent, older, cost := l.recent(until, left*2/3, count)
	left -= cost
	for _, task := range l.tasks() {
		limit := until
		if task == l.task {
			limit = older
		}
		if card := l.TaskCard(task, limit, left/2, count); card != "" {
			head += "\n" + card
			left -= count("\n" + card)
		}
	}
	return head + recent
}

// turnShare is what a turn card takes of a head, in tokens.
const turnShare = 400

// recent are cards of the newest turns of the task before page until that fit, in
// the order of the turns; before page older they are not shown.
func (l *Ledger) recent(until quire.PageNumber, room int, count func(string) int) (cards string, older quire.PageNumber, cost int) {
	older = until
	for _, t := range slices.Backward(l.view(l.task, until).turns) {
		card := l.TurnCard(t.number, min(turnShare, room-cost-1), count)
		if card == "" {
			break
		}
		cost += count("\n" + card)
		cards, older = "\n"+card+cards, t.first
	}
	return cards, older, cost
}

// tasks are the labels of all tasks, the one with the newest turn first.
func (l *Ledger) tasks() []string {
	var all []string
	for _, t := range slices.Backward(l.turns) {
		if !slices.Contains(all, t.task) {
			all = append(all, t.task)
		}
	}
	return all
}

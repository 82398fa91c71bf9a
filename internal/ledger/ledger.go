package ledger

import (
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/page"
	"github.com/quire-agent/quire/internal/quire"
)

// A Ledger is the record of a session, told task by task. It is given the parts
// of the main chain in the order of the record and never looks ahead. Its card
// shows the current task, and of the others what holds for all of them: the rules
// of the user, what still runs in the background, the tools that were loaded.
//
// It grows with the session: by the user's words and by some hundred bytes for
// each call. It belongs to one goroutine. The zero Ledger is ready.
type Ledger struct {
	// Mask is put over the texts that cards show, so that a secret is not carried
	// from one prompt into all later ones; nil shows them as they are.
	Mask func(string) string

	task    string
	turns   []*turn
	rules   []words
	waiting map[string]*call // by tool use: calls without a result
	byPage  map[quire.PageNumber]*call
	jobs    []*job
	schemas []Schema
}

// A turn is what the user said and what followed it.
type turn struct {
	number      int
	task        string
	first, last quire.PageNumber
	said        []*words
	calls       []*call
	claim       words // the model's last paragraph, "" before there is one
	answered    bool  // nothing was called after the claim
}

// words are a text with the page that holds it.
type words struct {
	text string
	page quire.PageNumber
	gone bool // the user went back behind it
}

// A call is a tool call as cards show it.
type call struct {
	tool    string
	action  quire.Action
	target  string
	page    quire.PageNumber
	args    string // until the result is there
	done    bool
	code    string // exit code, "" where none is recorded
	outcome quire.Outcome
	line    string // of the result
	touched []touch
	failing []string // tests
	passing []string
	commits []commit
	todo    todo
}

// A touch is a file that a call read or wrote.
type touch struct {
	path  string
	wrote bool
	hash  quire.Hash // of the whole file where it is known, else of what was read or written
}

// Label names the task of the current turn, of back turns before it, and of what
// follows. A turn belongs to one task, so that a label found late in it counts from
// its beginning.
func (l *Ledger) Label(task string, back int) {
	l.task = task
	for i := len(l.turns) - 1; i >= max(0, len(l.turns)-1-back); i-- {
		l.turns[i].task = task
	}
}

// Begin names the task of the turns to come and leaves the current turn alone.
func (l *Ledger) Begin(task string) { l.task = task }

// Add takes the next part and the pages that a page.Cutter made of it. Parts that
// a compaction put back say nothing new and are passed over.
func (l *Ledger) Add(p *quire.Part, pages []quire.Page) {
	if p.Origin != quire.OriginFirst || len(pages) == 0 {
		return
	}
	switch p.Kind {
	case quire.PartUser:
		l.say(p.Text, pages[0].Number)
	case quire.PartMachine:
		l.notice(p.Text)
	case quire.PartText:
		l.claim(p.Text, pages[0].Number)
	case quire.PartToolCall:
		l.open(p, pages)
	case quire.PartToolResult:
		l.close(p, pages[0])
	}
	l.reach(pages)
}

// reach extends the current turn over the pages.
func (l *Ledger) reach(pages []quire.Page) {
	t := l.turn()
	for i := range pages {
		if n := pages[i].Number; n > t.last {
			t.last = n
		}
		if t.first == 0 {
			t.first = pages[i].Number
		}
	}
}

// turn is the current one. What comes before the first user message is a turn in
// which nothing was said.
func (l *Ledger) turn() *turn {
	if len(l.turns) == 0 {
		l.turns = append(l.turns, &turn{task: l.task})
	}
	return l.turns[len(l.turns)-1]
}

// say takes a user message. Messages with nothing between them are one turn.
func (l *Ledger) say(text string, at quire.PageNumber) {
	if t := l.turn(); len(t.calls) > 0 || t.claim.text != "" {
		l.turns = append(l.turns, &turn{number: len(l.turns), task: l.task})
	}
	t := l.turn()
	t.said = append(t.said, &words{text: text, page: at})
	for _, rule := range Constraints(text) {
		l.rules = append(l.rules, words{text: rule, page: at})
	}
}

// claim takes a text of the model.
func (l *Ledger) claim(text string, at quire.PageNumber) {
	if p := lastParagraph(text); p != "" {
		t := l.turn()
		t.claim, t.answered = words{text: p, page: at}, true
	}
}

// lastParagraph is the text behind the last empty line, without what is only a
// mark.
func lastParagraph(text string) string {
	paragraphs := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n")
	for _, p := range slices.Backward(paragraphs) {
		if p = strings.TrimSpace(p); strings.Trim(p, "-=*_# \n`") != "" {
			return p
		}
	}
	return ""
}

// open takes a tool call.
func (l *Ledger) open(p *quire.Part, pages []quire.Page) {
	first := &pages[0]
	c := &call{tool: p.Tool, action: first.Action, target: first.Target, page: first.Number, args: p.Text, outcome: quire.OutcomeUnknown}
	c.todo = parseTodo(p.Tool, p.Text)
	if first.Action == quire.ActionWrite || first.Action == quire.ActionEdit {
		c.touched = touches(first.Target, true, written(pages))
	}
	t := l.turn()
	t.calls, t.answered = append(t.calls, c), false
	if l.waiting == nil {
		l.waiting, l.byPage = map[string]*call{}, map[quire.PageNumber]*call{}
	}
	l.waiting[p.ToolUse], l.byPage[c.page] = c, c
}

// written is the hash of what a call writes.
func written(pages []quire.Page) quire.Hash {
	for i := range pages {
		if pages[i].Kind == quire.PageWritten {
			return pages[i].Body
		}
	}
	return quire.Hash{}
}

// touches are the files that a target names: one, or several where every word
// looks like a path.
func touches(target string, wrote bool, hash quire.Hash) []touch {
	if target == "" {
		return nil
	}
	paths := strings.Fields(target)
	if slices.ContainsFunc(paths, func(p string) bool { return !strings.ContainsAny(p, "./") }) {
		paths = []string{target}
	}
	all := make([]touch, len(paths))
	for i, p := range paths {
		all[i] = touch{path: strings.Clone(p), wrote: wrote}
		if len(paths) == 1 {
			all[i].hash = hash
		}
	}
	return all
}

// close takes the result of a call. One whose call is not known says nothing.
func (l *Ledger) close(p *quire.Part, result quire.Page) {
	c, ok := l.waiting[p.ToolUse]
	if !ok {
		return
	}
	delete(l.waiting, p.ToolUse)
	c.done = true
	c.code = exitCode(p.Text)
	c.outcome = outcome(c, p.IsError)
	c.line = resultLine(c, p.Text)
	switch {
	case c.action == quire.ActionRead && c.outcome != quire.OutcomeError:
		c.touched = touches(c.target, false, result.Body)
	case c.action == quire.ActionRun || result.Class == quire.ClassTest:
		c.failing, c.passing = failingTests(p.Text)
		c.commits = commitsIn(c.target, p.Text)
	}
	if c.todo.create != "" {
		c.todo.id = createdID(p.Text)
	}
	l.schemas = append(l.schemas, loaded(c, p.Text)...)
	l.follow(c, p.Text)
	c.args = ""
}

// outcome is how a call ended by its own result.
func outcome(c *call, failed bool) quire.Outcome {
	if failed || c.code != "" && c.code != "0" && c.action == quire.ActionRun {
		return quire.OutcomeError
	}
	return quire.OutcomeOK
}

// Judge takes what later parts made of earlier pages: outcomes, versions of
// files, and what the user went back behind. Abandoned words rule nothing.
func (l *Ledger) Judge(fates []page.Fate) {
	for i := range fates {
		f := &fates[i]
		if c, ok := l.byPage[f.Page]; ok {
			c.judge(f)
		} else if f.Outcome == quire.OutcomeAbandoned {
			l.abandon(f.Page)
		}
	}
}

func (c *call) judge(f *page.Fate) {
	if f.Outcome != "" && f.Outcome != quire.OutcomeUnknown {
		c.outcome = f.Outcome
	}
	if f.Version != (quire.Hash{}) && len(c.touched) == 1 {
		c.touched[0].hash = f.Version
	}
}

func (l *Ledger) abandon(at quire.PageNumber) {
	for i := range l.rules {
		l.rules[i].gone = l.rules[i].gone || l.rules[i].page == at
	}
	for _, t := range l.turns {
		for _, w := range t.said {
			w.gone = w.gone || w.page == at
		}
		if t.claim.page == at {
			t.claim, t.answered = words{}, false
		}
	}
}

// A Message is something the user said, byte for byte.
type Message struct {
	Page quire.PageNumber
	Task string
	Text string
	Done bool // the model answered it, and nothing was called after its answer
}

// Messages returns every user message in the order of the record, without those
// that the user went back behind.
func (l *Ledger) Messages() []Message {
	var all []Message
	for _, t := range l.turns {
		for _, w := range t.said {
			if !w.gone {
				all = append(all, Message{Page: w.page, Task: t.task, Text: w.text, Done: t.answered})
			}
		}
	}
	return all
}

// A Turn says where a turn lies. Pages of other chains may lie between.
type Turn struct {
	Number      int // from 0
	Task        string
	First, Last quire.PageNumber
}

// Last is the number of the turn at hand, from 0; it is 0 before anything was said.
func (l *Ledger) Last() int { return max(0, len(l.turns)-1) }

// Turns returns the turns in their order. The last may still go on.
func (l *Ledger) Turns() []Turn {
	all := make([]Turn, len(l.turns))
	for i, t := range l.turns {
		all[i] = Turn{Number: t.number, Task: t.task, First: t.first, Last: t.last}
	}
	return all
}

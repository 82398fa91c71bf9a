package ledger

import (
	"fmt"
	"slices"

	"github.com/quire-agent/quire/internal/quire"
)

// todos is the todo list as it stands: what is open before what is done.
func (v *view) todos() section {
	s := section{title: "todo list, newest state", noun: "todo"}
	for _, state := range []string{stateNow, stateOpen, stateDone} {
		for _, i := range v.board.items {
			if i.state == state {
				s.lines = append(s.lines, entry{text: "- [" + state + "] " + oneLine(i.text, 2*lineWidth), page: v.newest()})
			}
		}
	}
	if v.board.plan != "" {
		s.lines = append(s.lines, entry{text: "plan:\n" + cite(clip(v.board.plan, 2*endBytes)), page: v.newest()})
	}
	return s
}

// newest is the last page of the task.
func (v *view) newest() quire.PageNumber {
	if len(v.turns) == 0 {
		return 0
	}
	return v.turns[len(v.turns)-1].last
}

// failed is what failed and was not seen to pass since.
func (v *view) failed() section {
	s := section{title: "failed when last run", noun: "failure"}
	for _, f := range v.failing {
		text := "- "
		if f.test != "" {
			text += "test " + f.test + ", "
		}
		text += "`" + oneLine(f.command, lineWidth) + "` " + ended(f.call)
		s.lines = append(s.lines, entry{text: text + " (" + f.call.page.String() + ")", page: f.call.page})
	}
	return s
}

// recentClaims is how many claims of a task stand before what was done.
const recentClaims = 2

// claimed is what the model said at the end of turns, in its words: of the newest
// turns, or of those before.
func (v *view) claimed(recent bool) section {
	s := section{title: "what the model claimed at the end of a turn, verbatim, newest first", noun: "claim"}
	if !recent {
		s.title = "what it claimed before"
	}
	n := 0
	for _, t := range slices.Backward(v.turns) {
		if t.claim.text == "" {
			continue
		}
		if n++; recent == (n <= recentClaims) {
			s.lines = append(s.lines, entry{text: cite(claimed(t.claim.text)) + " (" + t.claim.page.String() + ")", page: t.claim.page})
		}
	}
	return s
}

func (v *view) committed() section {
	s := section{title: "commits, done", noun: "commit"}
	for _, c := range v.commits {
		s.lines = append(s.lines, entry{text: fmt.Sprintf("- %s on %s: %s", c.hash, c.branch, c.subject), page: v.newest()})
	}
	return s
}

func (v *view) written() section {
	s := section{title: "files written, with their hashes as last seen", noun: "file"}
	for _, f := range v.files {
		if f.wrote {
			s.lines = append(s.lines, f.entry())
		}
	}
	return s
}

func (v *view) read() section {
	s := section{title: "files read, with their hashes as last seen", noun: "file"}
	for _, f := range v.files {
		if !f.wrote {
			s.lines = append(s.lines, f.entry())
		}
	}
	return s
}

func (f touched) entry() entry {
	text := "- " + oneLine(f.path, lineWidth)
	if f.hash != (quire.Hash{}) {
		text += " " + short(f.hash)
	}
	return entry{text: text + " (" + f.page.String() + ")", page: f.page}
}

// before are the earlier messages of the user in this task, newest first: whole,
// or their first line where that is all that fits.
func (v *view) before() section {
	s := section{title: "earlier messages of the user in this task, newest first", noun: "message"}
	if len(v.turns) == 0 {
		return s
	}
	for _, t := range slices.Backward(v.turns[:len(v.turns)-1]) {
		for _, w := range slices.Backward(t.said) {
			if !w.gone {
				mark := " (" + w.page.String() + ", " + past(t) + ")"
				s.lines = append(s.lines, entry{text: cite(w.text) + mark, page: w.page, brief: cite(oneLine(w.text, lineWidth)) + mark})
			}
		}
	}
	return s
}

func past(t *turn) string {
	if t.answered {
		return "answered"
	}
	return "left without an answer"
}

func (v *view) ran() section {
	s := section{title: "commands, newest run of each", noun: "command"}
	for _, c := range v.runs {
		s.lines = append(s.lines, entry{text: "- `" + oneLine(c.target, lineWidth) + "` " + ended(c) + " (" + c.page.String() + ")", page: c.page})
	}
	return s
}

// ended is how a call ended.
func ended(c *call) string {
	switch {
	case !c.done:
		return "without a result"
	case c.code != "":
		return "exit " + c.code
	}
	return string(c.outcome)
}

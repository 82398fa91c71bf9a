package ledger

import (
	"slices"

	"github.com/quire-agent/quire/internal/quire"
)

// A view is what the ledger says of one task: the turns of it in their order,
// with what follows from them.
type view struct {
	turns   []*turn
	board   board
	files   []touched // by last touch, newest first
	runs    []*call   // newest of each command, newest first
	failing []failure // newest first
	commits []commit  // newest first
}

// touched is a file with the last call that read or wrote it.
type touched struct {
	touch
	page quire.PageNumber
}

// A failure is a test or a command that failed and was not seen to pass since.
type failure struct {
	test    string // "" for a command that names no tests
	command string
	call    *call
}

// view looks at the turns of a task whose pages all lie before until, 0 for all.
func (l *Ledger) view(task string, until quire.PageNumber) *view {
	v := &view{}
	for _, t := range l.turns {
		if t.task == task && (until == 0 || t.last < until) {
			v.turns = append(v.turns, t)
		}
	}
	for _, t := range v.turns {
		for _, c := range t.calls {
			v.board.apply(c.todo)
			v.judge(c)
			for _, done := range c.commits {
				v.commits = append(v.commits, done)
			}
		}
	}
	slices.Reverse(v.commits)
	slices.Reverse(v.failing)
	v.list()
	return v
}

// judge puts a run on the list of what fails, or takes off what it repairs.
func (v *view) judge(c *call) {
	if c.action != quire.ActionRun || !c.done {
		return
	}
	bad := c.outcome == quire.OutcomeError || len(c.failing) > 0
	v.failing = slices.DeleteFunc(v.failing, func(f failure) bool {
		return f.command == c.target || slices.Contains(c.passing, f.test) || !bad && settles(c.target, f.command)
	})
	for _, test := range c.failing {
		v.failing = slices.DeleteFunc(v.failing, func(f failure) bool { return f.test == test })
		v.failing = append(v.failing, failure{test: test, command: c.target, call: c})
	}
	if bad && len(c.failing) == 0 {
		v.failing = append(v.failing, failure{command: c.target, call: c})
	}
}

// list collects files and commands, newest first, each once.
func (v *view) list() {
	files, runs := map[string]int{}, map[string]bool{}
	for _, t := range slices.Backward(v.turns) {
		for _, c := range slices.Backward(t.calls) {
			if c.action == quire.ActionRun && !runs[c.target] {
				runs[c.target] = true
				v.runs = append(v.runs, c)
			}
			for _, f := range c.touched {
				v.touch(files, touched{f, c.page})
			}
		}
	}
}

// touch adds an older touch of a file: a write behind a read tells that it was
// written, the hash stays the newest that is known.
func (v *view) touch(seen map[string]int, f touched) {
	i, ok := seen[f.path]
	if !ok {
		seen[f.path] = len(v.files)
		v.files = append(v.files, f)
		return
	}
	known := &v.files[i]
	known.wrote = known.wrote || f.wrote
	if known.hash == (quire.Hash{}) {
		known.hash = f.hash
	}
}

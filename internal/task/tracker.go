package task

import (
	"fmt"

	"github.com/quire-agent/quire/internal/quire"
)

// A Tracker infers the task of each turn. It never looks ahead. It belongs to one
// goroutine; the zero Tracker is ready.
type Tracker struct {
	tasks     []*profile
	current   int // index of the current task
	where     index
	frequency map[string]int // words by the turns that had them
	turns     int            // that are over
	call      int            // youngest call that was seen

	pending []*gathered // turns that nothing tied to the current task, and the turn at hand
	number  int         // of the turn at hand
	decided Decision    // about the turn at hand
	clear   bool        // what is pending belongs to the current task
}

// A Decision is the task of a turn, and why.
type Decision struct {
	Task     string
	Switched bool
	New      bool // the task begins here; otherwise the user came back to it
	// Back is how many turns right before this one belong to the task too: they
	// were unclear when they came. It is 0 unless Switched.
	Back   int
	Reason string
	// Keep are the two hottest pages of the task that was left, the hotter first:
	// the new one keeps them. It is empty unless Switched.
	Keep []quire.PageNumber
	// Asked says that the user named the task that he comes back to: Back is 0 then.
	Asked bool
}

// Turn decides about turn number, as much of it as is there. It may be called
// again for the same turn when there is more of it: a turn switches at most once,
// and a decision to switch stands. The number of the next turn is another one.
func (t *Tracker) Turn(number int, turn Turn) Decision { return t.at(number, gather(turn)) }

// Decide is Turn for the turn that a collector has at hand. The time it takes
// depends on how many different names and words the turn has, which is bounded,
// and on how many tasks share them.
func (t *Tracker) Decide(c *Collector) Decision {
	if c.turn == nil {
		return t.at(c.number, &gathered{})
	}
	return t.at(c.number, c.turn)
}

func (t *Tracker) at(number int, g *gathered) Decision {
	switch {
	case len(t.tasks) == 0:
		t.begin(called(g.user), g.user)
		t.pending, t.clear = []*gathered{g}, true
		t.decided = Decision{Task: t.label(), New: true, Reason: "the first turn"}
	case number != t.number || len(t.pending) == 0:
		t.end()
		t.pending = append(t.pending, g)
		t.decided = t.decide(g.user)
	default:
		t.pending[len(t.pending)-1] = g
		if !t.decided.Switched && t.turns > 0 {
			t.decided = t.decide(g.user)
		}
	}
	t.number = number
	return t.decided
}

// end closes the turn at hand.
func (t *Tracker) end() {
	if len(t.pending) == 0 {
		return
	}
	if t.frequency == nil {
		t.frequency = map[string]int{}
	}
	last := t.pending[len(t.pending)-1]
	for _, w := range last.roots.list[kindWord] {
		if _, ok := t.frequency[w]; ok || len(t.frequency) < maxWords {
			t.frequency[w]++
		}
	}
	t.turns++
	if t.clear {
		t.settle()
	}
}

// maxWords is of how many words the frequency is kept. A word that comes later
// counts as rare.
const maxWords = 1 << 16

// decide finds the task of what is pending.
func (t *Tracker) decide(user string) Decision {
	if marked(user) {
		return t.told(user)
	}
	if !goesOn(user) {
		if to, reason := t.verdict(); to >= 0 {
			return t.move(to, reason)
		}
	}
	t.clear = t.weigh(pooled(t.pending)).tied() || t.unclear() > maxUnclear || len(t.pending) >= maxPending
	if t.clear {
		return Decision{Task: t.label(), Reason: "it goes on with " + t.label()}
	}
	return Decision{Task: t.label(), Reason: "nothing says that it is another task"}
}

// told goes to the task that a mark in the user's words names, or to a new one.
func (t *Tracker) told(user string) Decision {
	name := called(user)
	to, known := t.index(name)
	if known && to == t.current {
		t.clear = true
		return Decision{Task: t.label(), Reason: "it is the current task"}
	}
	t.keep(t.pending[:len(t.pending)-1])
	d := t.leave(to, name, user, "the user said so")
	d.Asked = known
	return d
}

// index is the task that a text names, as [Tracker.Find] finds it, or len(t.tasks).
func (t *Tracker) index(text string) (n int, ok bool) {
	if goal, found := t.Find(text); found && text != "" {
		for i, p := range t.tasks {
			if p.label == goal.Task {
				return i, true
			}
		}
	}
	return len(t.tasks), false
}

// verdict is the task that the pending turns belong to by their signs, len(t.tasks)
// for a new one, or -1 if they may stay where they are. Turns are judged together:
// what one of them is about says too little.
func (t *Tracker) verdict() (to int, reason string) {
	e := t.weigh(pooled(t.pending))
	if to, signs := e.older(); to >= 0 {
		return to, "it shares " + named(signs) + " with " + t.tasks[to].label
	}
	if signs := e.fresh(); len(signs) >= needed && t.mayBegin(t.pending[0]) {
		return len(t.tasks), named(signs) + " are new"
	}
	return -1, ""
}

// mayBegin reports whether a turn may begin a task: it states a goal and is no
// answer, and the current task is about something.
func (t *Tracker) mayBegin(first *gathered) bool {
	return len(first.roots.list[kindWord]) >= goalWords && !refers(first.user) && !t.tasks[t.current].blank()
}

// How many turns may be unclear before they count as part of the task in which they
// came: of those that name anything, and of all.
const (
	maxUnclear = 2
	maxPending = 8
)

// unclear is how many of the pending turns name anything and are unclear all the
// same.
func (t *Tracker) unclear() (n int) {
	for _, g := range t.pending {
		n += btoi(len(g.roots.list[kindPath])+len(g.roots.list[kindSymbol]) > 0)
	}
	return n
}

// move goes to another task with all that is pending.
func (t *Tracker) move(to int, reason string) Decision {
	d := t.leave(to, "", t.pending[0].user, reason)
	d.Back = len(t.pending) - 1
	return d
}

// leave makes another task the current one: an older one, or a new one.
func (t *Tracker) leave(to int, label, user, reason string) Decision {
	d := Decision{Switched: true, Reason: reason, Keep: t.tasks[t.current].hottest(t.call)}
	if to == len(t.tasks) {
		d.New = true
		t.begin(label, user)
	} else {
		t.current = to
	}
	d.Task, t.clear = t.label(), true
	return d
}

// begin adds a task and makes it the current one.
func (t *Tracker) begin(label, user string) {
	t.current = len(t.tasks)
	if label == "" {
		label = fmt.Sprintf("t%d", len(t.tasks)+1)
	}
	t.tasks = append(t.tasks, &profile{label: label, goal: firstLine(user)})
}

func (t *Tracker) label() string { return t.tasks[t.current].label }

// settle learns what is pending as part of the current task.
func (t *Tracker) settle() {
	for _, g := range t.pending {
		t.learn(g)
	}
	t.pending = nil
}

// keep learns turns as part of the current task and leaves the turn at hand.
func (t *Tracker) keep(turns []*gathered) {
	for _, g := range turns {
		t.learn(g)
	}
	t.pending = t.pending[len(turns):]
}

// learn adds a turn to the current task.
func (t *Tracker) learn(g *gathered) {
	p := t.tasks[t.current]
	for k := range kinds {
		for _, b := range []*bag{&g.roots, &g.own, &g.seen} {
			for _, name := range b.list[k] {
				if own := b != &g.seen; p.learn(k, name, own, t.turns) {
					t.where.add(k, name, t.current, own)
				}
			}
		}
		for _, name := range p.forget(k) {
			t.where.drop(k, name, t.current)
		}
	}
	for _, v := range g.pages {
		t.call = max(t.call, v.call)
		p.warm(v.page, v.call)
	}
}

// Mark makes the task of that name the current one, from the turn at hand on; it
// begins one where there is none of that name. The user's mark needs no signs.
func (t *Tracker) Mark(name string) Decision {
	if len(t.tasks) == 0 {
		t.begin(name, name)
		t.decided = Decision{Task: name, Switched: true, New: true, Reason: "the user said so"}
		return t.decided
	}
	if n := len(t.pending); n > 0 {
		t.keep(t.pending[:n-1])
	}
	to := len(t.tasks)
	for i, p := range t.tasks {
		if p.label == name {
			to = i
		}
	}
	if to == t.current {
		return Decision{Task: name, Reason: "it is the current task"}
	}
	known := to < len(t.tasks)
	t.decided = t.leave(to, name, name, "the user said so")
	t.decided.Asked = known
	return t.decided
}

// A Goal is what is known of a task without its pages.
type Goal struct {
	Task string
	Text string             // the first line that the user said in it
	Hot  []quire.PageNumber // its two hottest pages, the hotter first
}

// Goals returns the tasks in the order in which they began.
func (t *Tracker) Goals() []Goal {
	all := make([]Goal, len(t.tasks))
	for i, p := range t.tasks {
		all[i] = Goal{Task: p.label, Text: p.goal, Hot: p.hottest(t.call)}
	}
	return all
}

// Find returns the task that a text names: by its label, or by the most words of
// its goal, at least half of those of the text. It is how naming a goal pages it
// in; ok is false where no task or several are named equally well.
func (t *Tracker) Find(text string) (goal Goal, ok bool) {
	var asked bag
	asked.words(kindWord, text)
	best, tie := 0, false
	for i, g := range t.Goals() {
		if g.Task == text {
			return g, true
		}
		var words bag
		words.words(kindWord, t.tasks[i].goal)
		shared := 0
		for _, w := range asked.list[kindWord] {
			shared += btoi(words.has[kindWord][w])
		}
		if shared > best {
			goal, best, tie = g, shared, false
		} else if shared == best {
			tie = true
		}
	}
	return goal, !tie && best > 0 && 2*best >= len(asked.list[kindWord])
}

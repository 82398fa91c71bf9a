package task

import (
	"math"
	"slices"
	"strings"
)

// Evidence is what the features of a turn, or of several unclear ones, say by
// kind. A feature weighs the less the more tasks have it as their own, and a word
// the less the more turns had it.
type evidence struct {
	count [kinds]int
	total [kinds]float64
	here  [kinds]float64         // the current task knows, one way or the other
	mine  [kinds]float64         // the current task knows, what was only seen for less
	away  [kinds]map[int]float64 // the same of other tasks
	tasks []int                  // of away, rising
}

// What a feature counts that a task has only seen, and for how many turns a word
// is remembered when something new is looked for: people repeat the words of what
// they are at, not of what they were at.
const (
	seenShare   = 0.5
	recentTurns = 5
)

// weigh compares features with the tasks that share some of them.
func (t *Tracker) weigh(b *bag) *evidence {
	e := &evidence{}
	for k := range kinds {
		e.away[k] = map[int]float64{}
		for _, name := range b.list[k] {
			knowing := t.where[k][name]
			w := weight(knowing)
			if k == kindWord {
				w *= t.rarity(name)
			}
			e.count[k]++
			e.total[k] += w
			e.take(k, w, knowing, t.current)
			if t.remembers(k, name) {
				e.here[k] += w
			}
		}
	}
	slices.Sort(e.tasks)
	e.tasks = slices.Compact(e.tasks)
	return e
}

// take counts one feature of weight w, which these tasks know.
func (e *evidence) take(k kind, w float64, knowing []mention, current int) {
	for _, m := range knowing {
		share := w
		if !m.own {
			share *= seenShare
		}
		if m.task == current {
			e.mine[k] += share
			continue
		}
		e.tasks = append(e.tasks, m.task)
		e.away[k][m.task] += share
	}
}

// weight is one over the number of tasks that have a feature as their own.
func weight(knowing []mention) float64 {
	own := 0
	for _, m := range knowing {
		own += btoi(m.own)
	}
	return 1 / float64(max(1, own))
}

// rarity is the inverse document frequency of a word among the turns so far,
// between 0 and 1.
func (t *Tracker) rarity(word string) float64 {
	n := float64(t.turns + 1)
	return math.Log(1+n/(1+float64(t.frequency[word]))) / math.Log(1+n)
}

// remembers reports whether the current task knows a feature; of words, whether
// it had it lately.
func (t *Tracker) remembers(k kind, name string) bool {
	f, ok := t.tasks[t.current].known[k][name]
	return ok && (k != kindWord || t.turns-f.turn <= recentTurns)
}

// margin is by how much more a turn shares with a task than with the current one.
func (e *evidence) margin(k kind, task int) float64 { return e.away[k][task] - e.mine[k] }

// What makes a sign that the user came back to a task: the least margin of each
// kind, and the least sum of the margins of all kinds.
const (
	backPath   = 0.5
	backSymbol = 1
	backWord   = 0.5
	backTodo   = 4
	backSum    = 1.5
)

func backMargin(k kind) float64 { return [...]float64{backPath, backSymbol, backWord, backTodo}[k] }

// older is the older task with the most in its favour, if two signs speak for it.
func (e *evidence) older() (task int, signs []kind) {
	best, most := -1, 0.0
	for _, task := range e.tasks {
		if s, sum := e.back(task); len(s) >= needed && sum >= backSum && sum > most {
			best, most, signs = task, sum, s
		}
	}
	return best, signs
}

// needed is how many signs a switch takes.
const needed = 2

func (e *evidence) back(task int) (signs []kind, sum float64) {
	for k := range kinds {
		m := e.margin(k, task)
		sum += m
		if m >= backMargin(k) {
			signs = append(signs, k)
		}
	}
	return signs, sum
}

// What makes a sign of something new: the greatest share of what the current task
// knows, of each kind, and the least number of words in the message with which it
// begins: a goal takes some.
const (
	freshPath   = 0.3
	freshSymbol = 0.3
	freshWord   = 0.35
	goalWords   = 5
)

// fresh are the signs that a turn is about something new: the words of a goal, and
// paths or symbols. There are none if any kind ties it to the current task. Todos
// say nothing here: a list is begun anew within a task too.
func (e *evidence) fresh() (signs []kind) {
	for k, share := range [...]float64{freshPath, freshSymbol, freshWord} {
		if e.count[k] == 0 {
			continue
		}
		if e.here[k] > share*e.total[k] {
			return nil
		}
		signs = append(signs, kind(k))
	}
	return signs
}

// The share of what the current task knows, of each kind, from which on a turn
// goes on with it, and how many words that takes.
const (
	tiedName  = 0.25
	tiedText  = 0.5
	tiedWords = 3
)

// tied reports whether something ties a turn to the current task.
func (e *evidence) tied() bool {
	for k := range kinds {
		share := tiedName
		if k == kindWord || k == kindTodo {
			share = tiedText
		}
		if e.mine[k] > 0 && e.mine[k] >= share*e.total[k] && (k != kindWord || e.count[k] >= tiedWords) {
			return true
		}
	}
	return false
}

// named lists signs for people.
func named(signs []kind) string {
	names := make([]string, len(signs))
	for i, k := range signs {
		names[i] = k.String()
	}
	return strings.Join(names, " and ")
}

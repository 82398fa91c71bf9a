package task

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// BCubed is the F measure of B³: the mean precision and recall of each item's
// cluster against its class, weighted (Bagga and Baldwin, "Algorithms for scoring
// coreference chains", 1998). The three slices are equally long; 0 for no items.
func BCubed(truth, got []string, weight []float64) float64 {
	var precision, recall, n float64
	for i := range truth {
		same, cluster, class := overlap(truth, got, weight, i)
		precision += weight[i] * same / cluster
		recall += weight[i] * same / class
		n += weight[i]
	}
	if n == 0 {
		return 0
	}
	precision, recall = precision/n, recall/n
	return 2 * precision * recall / (precision + recall)
}

// overlap weighs the cluster and the class of an item, and what is in both.
func overlap(truth, got []string, weight []float64, i int) (same, cluster, class float64) {
	for j := range truth {
		if got[i] == got[j] {
			cluster += weight[j]
		}
		if truth[i] == truth[j] {
			class += weight[j]
		}
		if got[i] == got[j] && truth[i] == truth[j] {
			same += weight[j]
		}
	}
	return same, cluster, class
}

// A Labelled is a turn with the task that it is known to belong to.
type Labelled struct {
	Task string
	Turn Turn
}

// Interleave makes one session of several: two to five turns of one, then some of
// another, in an order that follows from the seed. Each session is a task of its
// own. A user comes back to a task with a message that says something: a part does
// not begin with a mere "go on".
func Interleave(sessions [][]Turn, seed uint64) []Labelled {
	r := rand.New(rand.NewPCG(seed, 0))
	next := make([]int, len(sessions))
	var all []Labelled
	for last := -1; ; {
		open := unfinished(sessions, next, last)
		if len(open) == 0 {
			return all
		}
		last = open[r.IntN(len(open))]
		turns := sessions[last]
		for n := 2 + r.IntN(4); next[last] < len(turns) && (n > 0 || goesOn(turns[next[last]].User)); n-- {
			all = append(all, Labelled{Task: fmt.Sprint(last), Turn: turns[next[last]]})
			next[last]++
		}
	}
}

// unfinished are the sessions with turns left, without the last one unless it is
// the only one.
func unfinished(sessions [][]Turn, next []int, last int) []int {
	var open []int
	for i := range sessions {
		if i != last && next[i] < len(sessions[i]) {
			open = append(open, i)
		}
	}
	if len(open) == 0 && last >= 0 && next[last] < len(sessions[last]) {
		open = []int{last}
	}
	return open
}

// A Score says how well tasks were inferred on labelled turns.
type Score struct {
	Turns   float64 // B³ with each turn counted once
	Pages   float64 // B³ with each turn counted by its pages
	False   int     // switches within a task: no turn that moves has another label than the one before it
	Stays   int     // turns whose label is that of the turn before
	Found   int     // switches that are not false
	Changes int     // turns whose label is not that of the turn before
}

// Judge runs a new tracker over labelled turns.
func Judge(turns []Labelled) Score {
	var t Tracker
	var s Score
	truth, got := make([]string, len(turns)), make([]string, len(turns))
	once, pages := make([]float64, len(turns)), make([]float64, len(turns))
	for i, l := range turns {
		d := t.Turn(i, l.Turn)
		for j := i - d.Back; j <= i; j++ {
			got[j] = d.Task
		}
		truth[i], once[i], pages[i] = l.Task, 1, float64(2+len(l.Turn.Touched))
		s.count(truth[max(0, i-d.Back-1):i+1], d.Switched)
	}
	s.Turns, s.Pages = BCubed(truth, got, once), BCubed(truth, got, pages)
	return s
}

// count takes the labels of the turns that moved, and of the one before them.
func (s *Score) count(labels []string, switched bool) {
	n := len(labels)
	if n > 1 {
		changed := labels[n-1] != labels[n-2]
		s.Changes += btoi(changed)
		s.Stays += btoi(!changed)
	}
	if switched {
		within := len(slices.Compact(slices.Clone(labels))) == 1
		s.False += btoi(within)
		s.Found += btoi(!within)
	}
}

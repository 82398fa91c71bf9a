package schedule

import (
	"slices"

	"github.com/quire-agent/quire/internal/quire"
)

// A Work says which task a turn belongs to. It changes labels at once; forms change
// by it at the next epoch that begins for another reason (design, section 6.7).
type Work struct {
	Task string
	Turn int                // that belongs to it, with all that follow until another is said
	Back int                // turns right before it that belong to it too
	Keep []quire.PageNumber // of the task that was left: they stay as they are at the next epoch, unless the window is full
}

// tasks are the labels of a stream.
type tasks struct {
	numbers map[string]int32 // from 1
	of      []int32          // by turn; 0: none is known
	now     int32
	keep    []quire.PageNumber // until the next epoch
}

// Work says what the turn at hand belongs to. Saying it again changes nothing.
func (s *Scheduler) Work(w Work) {
	t := &s.tasks
	if t.numbers == nil {
		t.numbers = map[string]int32{}
	}
	n, ok := t.numbers[w.Task]
	if !ok {
		n = int32(len(t.numbers)) + 1
		t.numbers[w.Task] = n
	}
	for len(t.of) <= w.Turn {
		t.of = append(t.of, t.now)
	}
	for i := max(0, w.Turn-w.Back); i <= w.Turn; i++ {
		t.of[i] = n
	}
	if n != t.now {
		t.keep = slices.Clone(w.Keep)
	}
	t.now = n
}

// elsewhere reports whether what was last used in a turn belongs to another task
// than the one at hand.
func (t *tasks) elsewhere(turn int) bool {
	return turn >= 0 && turn < len(t.of) && t.of[turn] > 0 && t.of[turn] != t.now
}

// kept reports whether a page goes over from the task that was left.
func (t *tasks) kept(page quire.PageNumber) bool { return page > 0 && slices.Contains(t.keep, page) }

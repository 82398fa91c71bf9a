package warning

import (
	"fmt"
	"slices"
	"strings"
)

// A Call is a tool call that has ended.
type Call struct {
	Tool    string
	Args    string
	Error   bool
	Changes int  // files that it changed
	Command bool // it ran a command; one that changed files shows nothing and owes nothing
}

// Bounds of what counts as going round in circles.
const (
	sameFailures = 3  // the same call failed so often in a turn
	window       = 10 // of the last calls …
	failures     = 8  // … so many failed
)

// maxPaths is how many paths a warning names.
const maxPaths = 10

// A Watch is the state of a session. Its zero value is one that has just begun. It is
// for one goroutine.
type Watch struct {
	next     int
	open     []string
	told     map[string]bool // causes of this turn
	failed   map[string]int  // of this turn, by call
	recent   []bool          // whether the last calls failed
	unproved int             // files changed since a command was run, in the turn
	owed     int             // of the turn before
}

// head begins the text of a warning.
const head = "Warning w"

// Is reports whether a text is a warning, as it stands in a record.
func Is(text string) bool { return strings.HasPrefix(text, head) }

// Restore takes a warning that a record holds, so that ids go on.
func (w *Watch) Restore() { w.next++ }

// Turn begins a turn. What the one before changed and did not try is owed a word.
func (w *Watch) Turn() {
	w.owed = w.unproved
	w.told, w.failed, w.recent, w.unproved = nil, nil, nil, 0
	if w.owed > 0 {
		w.warn("goal", fmt.Sprintf("The turn before changed %d %s and ran nothing afterwards that would show whether they work. Do not take that goal for reached.", w.owed, files(w.owed)))
	}
}

func files(n int) string {
	if n == 1 {
		return "file"
	}
	return "files"
}

// Past takes a call of a session that is resumed, PastTurn the beginning of a turn of
// it: nothing is said of them any more.
func (w *Watch) Past(c Call) {
	switch {
	case c.Changes > 0 && !c.Command:
		w.unproved += c.Changes
	case c.Changes == 0 && c.Command:
		w.unproved = 0
	}
}

// PastTurn is that of [Watch.Past].
func (w *Watch) PastTurn() { w.unproved = 0 }

// Called takes a call that has ended.
func (w *Watch) Called(c Call) {
	w.Past(c)
	w.recent = append(w.recent, c.Error)
	w.recent = w.recent[max(len(w.recent)-window, 0):]
	if !c.Error {
		return
	}
	if w.failed == nil {
		w.failed = map[string]int{}
	}
	key := c.Tool + "\x00" + c.Args
	if w.failed[key]++; w.failed[key] == sameFailures {
		w.warn("stall "+key, fmt.Sprintf("The same call of %s has failed %d times in this turn. Look for the cause before you make it again.", c.Tool, sameFailures))
	}
	if n := count(w.recent); n >= failures {
		w.warn("stall", fmt.Sprintf("%d of the last %d calls failed. Stop, say what you know and what you do not, and choose another way.", n, len(w.recent)))
	}
}

func count(list []bool) (n int) {
	for _, b := range list {
		if b {
			n++
		}
	}
	return n
}

// Changed tells of files that were changed by somebody else since the model read
// or wrote them.
func (w *Watch) Changed(paths []string) {
	if len(paths) == 0 {
		return
	}
	paths = slices.Sorted(slices.Values(paths))
	list := strings.Join(paths[:min(len(paths), maxPaths)], ", ")
	if n := len(paths) - maxPaths; n > 0 {
		list += fmt.Sprintf(" and %d more", n)
	}
	w.warn("changed "+strings.Join(paths, "\x00"), "Changed by somebody else since you read or wrote them: "+list+". Read them again before you rely on what you know of them.")
}

// warn notes a warning, once for a cause in a turn.
func (w *Watch) warn(cause, text string) {
	if w.told[cause] {
		return
	}
	if w.told == nil {
		w.told = map[string]bool{}
	}
	w.told[cause] = true
	w.next++
	w.open = append(w.open, fmt.Sprintf("%s%d: %s", head, w.next, text))
}

// Take gives out the warnings since the last time.
func (w *Watch) Take() []string {
	open := w.open
	w.open = nil
	return open
}

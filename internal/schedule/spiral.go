package schedule

import (
	"fmt"

	"github.com/quire-agent/quire/internal/quire"
)

// A spiral notices when epochs under pressure take away what is fetched right
// back: what a task needs at a time is larger than its budget (design, I7).
type spiral struct {
	pressed int                         // epochs under pressure so far
	faults  map[quire.PageNumber]faults // of pages that were paged in after one
	page    quire.PageNumber            // that made the budget grow, until the user is told; 0: none
	budget  int                         // what it grew to
	calm    int                         // epochs under pressure since it grew or shrank
}

// faults are those of one page: after how many epochs it was missed, and the
// last of them.
type faults struct{ epochs, last int }

// tooOften is after how many epochs under pressure the same page must be missed
// for the budget to double.
const tooOften = 2

// fault notes that a page was paged in.
func (s *Scheduler) fault(page quire.PageNumber) {
	f := s.spiral.faults[page]
	if page == 0 || f.last == s.spiral.pressed {
		return
	}
	if s.spiral.faults == nil {
		s.spiral.faults = map[quire.PageNumber]faults{}
	}
	f.epochs, f.last = f.epochs+1, s.spiral.pressed
	s.spiral.faults[page] = f
	if f.epochs == tooOften {
		s.grow(page)
	}
}

// grow doubles the budget, up to the window.
func (s *Scheduler) grow(page quire.PageNumber) {
	if s.bound() == s.set.Window {
		return
	}
	s.budget *= 2
	if s.set.Window > 0 {
		s.budget = min(s.budget, s.set.Window)
	}
	s.spiral = spiral{pressed: s.spiral.pressed, page: page, budget: s.budget}
}

// calmEpochs is after how many epochs under pressure without another spiral a
// budget that grew is halved again: the task that needed it is over.
const calmEpochs = 3

// calm notes an epoch under pressure.
func (s *Scheduler) calm() {
	s.spiral.pressed++
	if s.spiral.calm++; s.spiral.calm > calmEpochs && s.budget > s.set.Budget {
		s.budget, s.spiral.calm = max(s.set.Budget, s.budget/2), 0
	}
}

// relieved is how large a full window is left. A budget that grew would be of no
// use if the window took the same pages away.
func (s *Scheduler) relieved() int {
	target := int(windowShare * float64(s.set.Window))
	if s.budget > s.set.Budget {
		target = max(target, int(relievedShare*float64(s.budget)))
	}
	return target
}

// told is what the reason of an epoch says of a budget that grew since the last
// one.
func (sp *spiral) told() string {
	if sp.page == 0 {
		return ""
	}
	text := fmt.Sprintf(", and the budget is now %d because %v was missed after %d epochs", sp.budget, sp.page, tooOften)
	sp.page = 0
	return text
}

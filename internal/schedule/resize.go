package schedule

// Resize sets the bounds of the window anew, as Window and Room of the settings:
// a provider said how it counts tokens, or refused a prompt as too long. It
// holds from the next plan on.
func (s *Scheduler) Resize(window, room int) { s.set.Window, s.set.Room = window, room }

// Window is the most tokens that the stream may have now; 0: no bound is known.
func (s *Scheduler) Window() int { return s.set.Window }

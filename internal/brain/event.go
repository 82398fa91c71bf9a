package brain

import (
	"github.com/quire-agent/quire/internal/check"
	"github.com/quire-agent/quire/internal/review"
	"github.com/quire-agent/quire/internal/route"
	"github.com/quire-agent/quire/internal/run"
)

// An Event is something that a face may show. The set is closed. Events come one at
// a time.
type Event interface{ event() }

// The events.
type (
	// Planned says what will be done.
	Planned struct{ Plan Plan }
	// Started says that an agent begins with a job.
	Started struct {
		Scope
		Goal string
	}
	// Happened is what happens in the stream of an agent.
	Happened struct {
		Scope
		Event run.Event
	}
	// Ended says how a job ended.
	Ended struct {
		Scope
		Result ExecutedResult
	}
	// Moved says that things to do changed their status.
	Moved struct {
		Todos  []string
		Status route.Status
		Phase  Phase
	}
	// Checked says what the checks gave.
	Checked struct {
		Turn    int
		Summary check.Summary
	}
	// Reviewed says what the review came to.
	Reviewed struct {
		Turn     int
		Decision review.Decision
	}
	// Fixing says that the primary is asked again.
	Fixing struct {
		Turn    int
		Trigger string
	}
	// Merged says that what a writer changed in its copy was put into the project.
	Merged struct{ Merge }
	// FellBack says that a model failed, and whether another one is tried.
	FellBack struct {
		Scope
		Error string
		Again bool
	}
)

func (Planned) event()  {}
func (Started) event()  {}
func (Happened) event() {}
func (Ended) event()    {}
func (Moved) event()    {}
func (Checked) event()  {}
func (Reviewed) event() {}
func (Fixing) event()   {}
func (Merged) event()   {}
func (FellBack) event() {}

package brain

import (
	"context"
	"time"

	"github.com/quire-agent/quire/internal/check"
	"github.com/quire-agent/quire/internal/packet"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/role"
	"github.com/quire-agent/quire/internal/run"
)

// A Job is what an agent is opened for.
type Job struct {
	Scope
	Tools    role.Tools
	Thinking string
	Space    func() []quire.PageRef // pages of other streams that it may read, now; nil: none
	Dir      string                 // where it works, "" for the project
	Watch    func(run.Event)        // what happens in its stream; nil: nobody looks
}

// A Staff opens agents. The methods may be called concurrently.
type Staff interface {
	// Open begins the stream of an agent; where the session of the job's scope is
	// set, it goes on with that one. The primary's stream is the session's own.
	Open(ctx context.Context, j Job) (Agent, error)

	// Usable are the models of a chain that can be called, in their order, and why
	// the others cannot. An empty name is the model of the run.
	Usable(chain []string, images bool) (models, skipped []string)
}

// An Agent is a stream with a model and tools. It belongs to one goroutine.
type Agent interface {
	// Turn lets it work on words, or go on without any.
	Turn(ctx context.Context, words ...quire.Block) (run.Outcome, error)

	// Left is how far it had got with its job before it was opened.
	Left() Left

	// Session is that of its stream.
	Session() quire.SessionNumber

	// Publish checks what a result refers to: pages of its own stream that may be
	// seen by others come back with their whole names, and others are refused.
	Publish(ctx context.Context, refs []packet.ContextRef) (ok []packet.ContextRef, refused []string)

	// Keep makes a page of its own stream of a text, which others may read.
	Keep(ctx context.Context, text string) (quire.PageRef, error)

	Close() error
}

// A Hooked agent has programs of the user around its job.
type Hooked interface {
	// Begin is asked before it begins: a reason blocks it.
	Begin(ctx context.Context) (blocked string)
	// End is told how it ended.
	End(ctx context.Context, text string)
}

// A Left is how far an agent had got with a job when its process ended.
type Left struct {
	Told bool // it was given its words
	Done bool // it had answered without wanting anything more
	Text string
	Cut  packet.CutOff
}

// A Project is what the run changes, and how that is checked.
type Project interface {
	Baseline(ctx context.Context) (check.Baseline, error)
	// Patch is what was changed since, by this run.
	Patch(ctx context.Context, since *check.Baseline) (check.Patch, error)
	Diff(ctx context.Context, since *check.Baseline, p *check.Patch) (check.Diff, []check.Preview, error)
	// Check runs the checks of the kind of a patch, those that failed before first.
	Check(ctx context.Context, p *check.Patch, failed []string) (check.Summary, error)
}

// A Copies gives writers that work at the same time copies of the project.
type Copies interface {
	// Copy makes a copy for a task, or finds the one that an interrupted run left with
	// all that was done there; found says which.
	Copy(ctx context.Context, task string) (dir string, found bool, err error)
	// Merge puts what was changed in a copy into the project. Files with conflicts are
	// left as they are in the project. It may be done once more after a crash.
	Merge(ctx context.Context, task string) (files []string, conflicts []Conflict, err error)
	// Drop takes a copy away, when its merge is recorded. None is fine.
	Drop(ctx context.Context, task string) error
}

// A Record keeps what happens, in the journal of the session. What was recorded is
// durable after Sync. It may be used concurrently.
type Record interface {
	Record(kind string, payload any) error
	Sync(ctx context.Context) error
}

// A Clock is where the time comes from.
type Clock func() time.Time

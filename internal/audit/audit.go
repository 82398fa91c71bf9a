package audit

import (
	"slices"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/replay"
)

// Options say what an audit counts.
type Options struct {
	Prices Prices
	Since  time.Time // calls before it are left out; zero: no limit
	Until  time.Time // calls at or after it are left out; zero: no limit
	Model  string    // only calls whose model's name holds it, in any case of letters; "": all
}

// Prices is the part of a price table that an audit asks. A name as recorded
// that has no row gives false.
type Prices interface {
	Model(name string) (price.Model, bool)
}

// An Audit gathers the figures of sessions. It is not safe for concurrent use.
// It keeps about 400 bytes for each call and no bodies.
type Audit struct {
	opts     Options
	sessions []digest
	skipped  []Skipped
	atlas    *replay.Atlas
}

// New begins an audit.
func New(opts Options) *Audit {
	opts.Model = strings.ToLower(opts.Model)
	return &Audit{opts: opts}
}

// Add takes a session and what policies would have made of it; outcomes may be
// empty. Nothing of s is kept, so its bodies may be closed afterwards. A
// session all of whose calls are left out by the options is not in the report,
// what could not be read of it is.
func (a *Audit) Add(s *recording.Session, outcomes []replay.Outcome) {
	for _, k := range s.Skips {
		a.Skip(s.Path, k.Line, k.Reason)
	}
	d := newReader(s, a.opts).digest(outcomes)
	if len(d.calls) > 0 || d.recorded == 0 && !a.filtered() {
		a.sessions = append(a.sessions, d)
	}
}

// Draws reports whether a drawing of s would be shown: it has more calls than
// what is shown now. Of two with as many calls the one whose path comes first
// counts, so that the order of adding does not matter.
func (a *Audit) Draws(s *recording.Session) bool {
	return a.atlas == nil || len(s.Calls) > a.atlas.Total || len(s.Calls) == a.atlas.Total && s.Path < a.atlas.Session
}

// Draw shows a drawing of a session that was added, if [Audit.Draws] says so.
func (a *Audit) Draw(s *recording.Session, drawn replay.Atlas) {
	if a.Draws(s) && slices.ContainsFunc(a.sessions, func(d digest) bool { return d.path == s.Path }) {
		a.atlas = &drawn
	}
}

// Skip notes something that could not be read; line 0 means the whole file.
func (a *Audit) Skip(path string, line int, reason string) {
	a.skipped = append(a.skipped, Skipped{Path: path, Line: line, Reason: reason})
}

func (a *Audit) filtered() bool {
	return !a.opts.Since.IsZero() || !a.opts.Until.IsZero() || a.opts.Model != ""
}

// counts reports whether the options let a call in. A call without a time
// passes no filter on time.
func (o Options) counts(c recording.Call, model string) bool {
	if !o.Since.IsZero() && c.At.Before(o.Since) {
		return false
	}
	if !o.Until.IsZero() && (c.At.IsZero() || !c.At.Before(o.Until)) {
		return false
	}
	return o.Model == "" || strings.Contains(strings.ToLower(model), o.Model)
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/quire-agent/quire/internal/brain"
	"github.com/quire-agent/quire/internal/hook"
	"github.com/quire-agent/quire/internal/ingest"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/packet"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/run"
)

// A seat is an agent of a team, with its stream.
type seat struct {
	*agent
	staff   *staff
	name    string // of its model, as chains have it
	job     brain.Scope
	fresh   bool             // words were given that no call has shown yet
	pinned  quire.PageNumber // the handoff of the job, which no epoch takes out; 0: none
	record  *teamRecord
	reached reached
}

var (
	_ brain.Agent  = (*seat)(nil)
	_ brain.Hooked = (*seat)(nil)
)

// A teamRecord is a journal that several goroutines write to: the loop of its stream,
// and the Brain or what it watches.
type teamRecord struct {
	mu   sync.Mutex
	live *ingest.Live
	node int // of the next part
	said int // messages of the user, each of which begins a turn
}

var (
	_ run.Record   = (*teamRecord)(nil)
	_ brain.Record = (*teamRecord)(nil)
)

// Add takes an event.
func (r *teamRecord) Add(e quire.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.saw(e)
	return r.live.Add(e)
}

// saw keeps the number of the next part.
func (r *teamRecord) saw(e quire.Event) {
	switch e := e.(type) {
	case quire.Entered:
		r.node = e.Node + 1
		if e.Part.Kind == quire.PartUser {
			r.said++
		}
	case quire.Answered:
		r.node = e.Node + 1
	}
}

// Record takes a record.
func (r *teamRecord) Record(kind string, payload any) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.live.Record(kind, payload)
}

// Sync makes durable what was added.
func (r *teamRecord) Sync(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.live.Sync(ctx)
}

// enter begins the seat's session, or goes on with that of the job.
func (t *seat) enter(ctx context.Context, j brain.Job) error {
	if j.Session == 0 {
		if err := t.begin(ctx); err != nil {
			return err
		}
		t.takesTeam()
		return nil
	}
	name, err := t.home.session(j.Session.String())
	if err != nil {
		return err
	}
	return t.resume(ctx, name)
}

// takesTeam puts the shared record between the loop and the journal.
func (t *seat) takesTeam() {
	if t.record == nil {
		t.record = &teamRecord{}
	}
	t.record.mu.Lock()
	defer t.record.mu.Unlock()
	t.record.live = t.live
	t.loop.Record = t.record
}

// resume goes on with a session, noting how far its agent had got.
func (t *seat) resume(ctx context.Context, name journal.Name) error {
	if t.record == nil {
		t.record = &teamRecord{}
	}
	to := t.resumer(name.Number)
	event := to.Event
	to.Event = func(e quire.Event) error { t.record.saw(e); return event(e) }
	live, err := t.home.pool.Resume(ctx, name, to)
	if err != nil {
		return resumable(err)
	}
	t.takes(live)
	t.takesTeam()
	t.ward.resumed = true
	return errors.Join(t.loop.Restored(), t.surrounded())
}

// byBrain is who pins a handoff.
const byBrain = quire.Principal("brain")

// hold pins the page of a handoff when the first call that shows it is planned: what
// an agent has to do stays in its prompt, whatever else has to go.
func (t *seat) hold(e run.Event) {
	if _, planned := e.(run.Planned); !planned || !t.fresh {
		return
	}
	t.fresh = false
	page := quire.PageNumber(0)
	for _, s := range t.loop.Step.Standing() {
		if s.Part == quire.PartMachine && s.Page > 0 {
			page = s.Page
		}
	}
	t.mark(quire.MarkUnpin, t.pinned)
	t.mark(quire.MarkPin, page)
	t.pinned = page
}

func (t *seat) mark(what string, page quire.PageNumber) {
	if page == 0 {
		return
	}
	m := quire.MarkRecord{What: what, Page: page, By: byBrain}
	t.loop.Step.Context().Mark(m)
	if err := t.record.Record(quire.RecordMark, m); err != nil {
		t.tell("The handoff could not be pinned: %v", err)
	}
}

// held notes what was pinned before.
func (t *seat) held(r quire.Record) {
	if r.Type != quire.RecordMark {
		return
	}
	m, err := journal.Decode[quire.MarkRecord](r)
	switch {
	case err != nil || m.By != byBrain:
	case m.What == quire.MarkPin:
		t.pinned = m.Page
	case m.What == quire.MarkUnpin && m.Page == t.pinned:
		t.pinned = 0
	}
}

// Turn lets the agent work.
func (t *seat) Turn(ctx context.Context, words ...quire.Block) (run.Outcome, error) {
	t.fresh = len(words) > 0
	return t.loop.Turn(ctx, words...)
}

// Begin asks the hooks of subagents.
func (t *seat) Begin(ctx context.Context) string {
	return t.fire(ctx, hook.Input{Event: hook.SubagentStart, Agent: t.job.Task, AgentType: string(t.job.Role)}).Blocked
}

// End tells the hooks of subagents.
func (t *seat) End(ctx context.Context, text string) {
	t.fire(ctx, hook.Input{Event: hook.SubagentStop, Agent: t.job.Task, AgentType: string(t.job.Role), LastMessage: &text})
	t.Warnings(ctx) // records what the hooks did
}

// Left is how far it had got.
func (t *seat) Left() brain.Left { return t.reached.left() }

// Session is that of its stream.
func (t *seat) Session() quire.SessionNumber { return t.live.Name().Number }

// Close ends the agent. What its stream holds can be searched from then on.
func (t *seat) Close() error {
	t.staff.spend(t.loop.Bill().Live)
	return t.close()
}

// Keep makes a page of a text.
func (t *seat) Keep(ctx context.Context, text string) (quire.PageRef, error) {
	part := quire.Part{Kind: quire.PartMachine, Text: text}
	t.record.mu.Lock()
	node := t.record.node
	t.record.mu.Unlock()
	if err := t.record.Add(quire.Entered{Stamp: quire.Stamp{At: t.now().Round(0)}, Node: node, Part: part}); err != nil {
		return quire.PageRef{}, err
	}
	if err := t.record.Sync(ctx); err != nil {
		return quire.PageRef{}, err
	}
	rows, err := t.rows(ctx, quire.Filter{Kind: quire.PageMachine})
	if err != nil {
		return quire.PageRef{}, err
	}
	for _, r := range slices.Backward(rows) {
		if r.Body == quire.Sum(text) {
			return r.Ref(), nil
		}
	}
	return quire.PageRef{}, fmt.Errorf("the page of a report of %v: %w", t.Session(), quire.ErrNotFound)
}

// rows are pages of the agent's stream, derived up to now.
func (t *seat) rows(ctx context.Context, f quire.Filter) (rows []quire.Row, err error) {
	if _, err := t.home.pool.Derive(ctx, t.live.Name().Path); err != nil {
		return nil, err
	}
	f.Session = t.Session()
	for r, err := range t.home.pool.Table.Rows(ctx, quire.Reader{Who: owner}, f) {
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// Publish lets through references to files, diffs, the output of checks and cards of
// the agent's own stream. What it said, thought and tried stays its own.
func (t *seat) Publish(ctx context.Context, refs []packet.ContextRef) (ok []packet.ContextRef, refused []string) {
	for _, ref := range refs {
		page, is := ref.Page()
		if !is {
			ok = append(ok, ref)
			continue
		}
		if why := t.private(ctx, page); why != "" {
			refused = append(refused, ref.URI+": "+why)
			continue
		}
		page.Session = t.Session()
		ok = append(ok, packet.PageRef(ref.Kind, page, ref.Label))
	}
	return ok, refused
}

// private says why a page cannot be published, "" where it can.
func (t *seat) private(ctx context.Context, page quire.PageRef) string {
	if page.Session != 0 && page.Session != t.Session() {
		return "it is a page of another agent; a reference is not passed on"
	}
	rows, err := t.rows(ctx, quire.Filter{Pages: []quire.PageNumber{page.Page}})
	if err != nil || len(rows) == 0 {
		return "there is no such page"
	}
	if !publishable(&rows[0]) {
		return fmt.Sprintf("a page of kind %v (%s) is the agent's own", rows[0].Kind, cmp.Or(rows[0].Tool, "no tool"))
	}
	return ""
}

// publishable reports whether a page is a file, a diff or the output of a check.
func publishable(r *quire.Row) bool {
	switch {
	case r.Kind == quire.PageWritten:
		return true
	case r.Kind != quire.PageTool:
		return false
	}
	return r.Action == quire.ActionRead || r.Class == quire.ClassDiff || r.Class == quire.ClassTest
}

// A primarySeat is the primary's: its session stays open when its work is done.
type primarySeat struct{ *seat }

// Turn measures the state of the project first, as a turn of an agent alone does.
func (p primarySeat) Turn(ctx context.Context, words ...quire.Block) (run.Outcome, error) {
	if len(words) > 0 {
		if err := p.loop.Tell(ctx, p.agent); err != nil {
			return run.Outcome{}, err
		}
	}
	p.fresh = len(words) > 0
	out, err := p.loop.Turn(ctx, words...)
	return p.after(ctx, out, err)
}

// Close leaves the session open.
func (p primarySeat) Close() error { return nil }

// A reached is how far an agent had got with its last job when its process ended.
type reached struct {
	told  bool
	wants bool // the last answer wants tools run
	whole bool // the last answer came to its end
	text  string
	cut   bool
}

// record begins anew where the agent of this session was given a job; the Brain's
// session names those of other sessions too.
func (p *reached) record(r quire.Record, own quire.SessionNumber) {
	if r.Type != brain.RecordAgent {
		return
	}
	if s, err := journal.Decode[brain.Scope](r); err == nil && (s.Session == 0 || s.Session == own) {
		*p = reached{}
	}
}

func (p *reached) event(e quire.Event, most int) {
	switch e := e.(type) {
	case quire.Entered:
		p.told = p.told || e.Part.Origin != quire.OriginOwn
		p.whole = false
	case quire.Called:
		p.wants, p.whole, p.text, p.cut = false, false, "", false
	case quire.Answered:
		p.wants = p.wants || e.Part.Kind == quire.PartToolCall
		if e.Part.Kind == quire.PartText {
			p.text += e.Part.Text
		}
	case quire.Metered:
		p.whole, p.cut = true, e.Usage.Output >= int64(most)
	}
}

func (p *reached) left() brain.Left {
	l := brain.Left{Told: p.told, Done: p.whole && !p.wants && p.text != "", Text: p.text}
	if p.cut {
		l.Cut = packet.CutMaxTokens
	}
	return l
}

// turns is how many turns there were.
func (r *teamRecord) turns() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.said
}

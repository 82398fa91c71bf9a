package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/quire-agent/quire/internal/assemble"
	"github.com/quire-agent/quire/internal/config"
	"github.com/quire-agent/quire/internal/hook"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/mcp"
	"github.com/quire-agent/quire/internal/norms"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/skill"
	"github.com/quire-agent/quire/internal/tool"
	"github.com/quire-agent/quire/internal/undo"
	"github.com/quire-agent/quire/internal/warning"
	"github.com/quire-agent/quire/internal/x/trust"
)

// around is what a user and a project bring to a session besides words: norms,
// skills, hooks, servers. All of it may be missing. The agents of a team share one;
// close it after the last of them.
type around struct {
	head   norms.Head
	fresh  bool // the head was chosen for this run, and is not one that the session had
	skills skill.Set
	hooks  *hook.Hooks
	hub    *mcp.Hub
}

// around reads what there is around a project. The norms are those that fit the
// words; head, where it is not nil, are those that the session has already.
func (inv *invocation) around(ctx context.Context, h *home, dir, words string, head *norms.Head) (*around, error) {
	trusted, err := trust.Open(filepath.Join(h.pool.Home, trustFile))
	if err != nil {
		return nil, unusable(err, "the file is JSON; delete it to trust nothing")
	}
	a := &around{skills: skill.Read(inv.skillPlaces(h.pool.Home, dir))}
	if a.hooks, err = inv.hooks(h.pool.Home, dir, trusted); err != nil {
		return nil, unusable(err, "correct the file, or take it away")
	}
	servers, err := inv.servers(h.pool.Home, dir, trusted)
	if err != nil {
		return nil, unusable(err, "correct the file, or take it away")
	}
	if head == nil {
		chosen := inv.chosenNorms(ctx, h, dir, words)
		head, a.fresh = &chosen, true
	}
	a.head = *head
	if len(servers) > 0 {
		a.hub = mcp.Connect(ctx, servers, inv.hubOptions(ctx, h.pool.Home, dir))
	}
	return a, nil
}

// surroundings are those of a run's project. A session that goes on soon has the
// instructions that it had, unless somebody changed them.
func (r *agentRun) surroundings(ctx context.Context, h *home, words string) (*around, error) {
	dir := r.dir
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	var kept *norms.Head
	if name, ok := r.earlier(h, dir); ok {
		head, err := keptNorms(name.Path, time.Now())
		if err != nil {
			return nil, explain(err)
		}
		if head != nil && head.Of(r.readNorms(ctx, h, dir).Pages) {
			kept = head
		}
	}
	a, err := r.around(ctx, h, dir, words, kept)
	if err == nil && !r.settings.Bool(config.Hooks) {
		a.hooks.Handlers = nil
	}
	if err == nil {
		for _, line := range a.notices() {
			fmt.Fprintln(r.err, "quire: "+r.mask(line))
		}
	}
	return a, err
}

// notices are what the user has to know of what is not used.
func (a *around) notices() (lines []string) {
	untrusted := 0
	for _, h := range a.hooks.Handlers {
		if h.Untrusted {
			untrusted++
		}
	}
	if untrusted > 0 {
		lines = append(lines, fmt.Sprintf("%d %s of this project %s not trusted and not run: `quire hooks list` shows them", untrusted, plural(untrusted, "hook", "hooks"), plural(untrusted, "is", "are")))
	}
	if a.hub == nil {
		return lines
	}
	r := a.hub.Report()
	for _, s := range slices.Concat(r.Failed, r.Pending, r.Skipped) {
		if s.Reason != mcp.Disabled {
			lines = append(lines, fmt.Sprintf("the server %s is not used: %s", s.Name, s.Reason))
		}
	}
	return lines
}

// earlier is the session that the run goes on with; ok is false where it begins one,
// or where opening it will say what is wrong.
func (r *agentRun) earlier(h *home, dir string) (name journal.Name, ok bool) {
	var err error
	switch {
	case r.session != "":
		name, err = h.session(r.session)
	case r.follow:
		name, err = h.newestOf(dir)
	default:
		return name, false
	}
	return name, err == nil
}

// trustFile is the file of the home that keeps what is trusted of projects.
const trustFile = "trust.json"

// opening is what stands before all turns.
func (a *around) opening() []assemble.Text {
	if a == nil {
		return nil
	}
	return opening(a.head)
}

// surrounded records what there is around a session that begins or goes on.
func (a *agent) surrounded() error {
	if a.around == nil {
		return nil
	}
	if a.around.fresh && (len(a.around.head.Texts) > 0 || a.ward.resumed) {
		if err := a.live.Record(quire.RecordNorms, a.around.head); err != nil {
			return fmt.Errorf("record the instructions: %w", err)
		}
	}
	if a.around.hub == nil {
		return nil
	}
	if err := a.live.Record(quire.RecordMCP, a.around.hub.Report()); err != nil {
		return fmt.Errorf("record the servers: %w", err)
	}
	return nil
}

// close ends the servers.
func (a *around) close() {
	if a != nil && a.hub != nil {
		a.hub.Close()
	}
}

// tools are those that skills and servers bring.
func (a *around) tools() (list []tool.Tool) {
	if a == nil {
		return nil
	}
	if len(a.skills.Skills) > 0 {
		list = append(list, a.skills.Tool())
	}
	if a.hub != nil {
		list = append(list, a.hub.Tools()...)
	}
	return list
}

// skillPlaces are the folders of skills: the project's, then the user's.
func (inv *invocation) skillPlaces(home, dir string) []skill.Place {
	return []skill.Place{
		{Dir: filepath.Join(dir, ".quire", "skills"), Shown: ".quire/skills"},
		{Dir: filepath.Join(dir, ".agents", "skills"), Shown: ".agents/skills"},
		{Dir: filepath.Join(home, "skills"), Shown: "skills of the home"},
	}
}

// A ward is what is watched for one agent.
type ward struct {
	watch   warning.Watch
	own     map[string]quire.Hash // versions of files that the agent's own commands made, or that it was told of
	changed int                   // being restored: files that the call of the next result changed
	begun   bool
	resumed bool
	turns   int
	again   int                // times that a hook made this turn go on
	ran     []string           // calls that ran a skill, whose results are to be pinned
	pinned  []quire.PageNumber // texts of skills, for the turn

	mu      sync.Mutex
	say     []string     // to be told before the next call
	records []hookRecord // to be recorded before the next call
}

type hookRecord struct {
	event   hook.Event
	outcome hook.Outcome
}

var _ run.Warner = (*agent)(nil)

// past takes a part of a session that is resumed.
func (w *ward) past(p quire.Part) {
	switch {
	case p.Kind == quire.PartUser:
		w.watch.PastTurn()
	case p.Kind == quire.PartToolResult:
		w.watch.Past(warning.Call{Tool: p.Tool, Changes: w.changed, Command: p.Tool == "bash"})
		w.changed = 0
	case p.Origin == quire.OriginOwn && warning.Is(p.Text):
		w.watch.Restore()
	}
}

// Warnings is what the model is told before a call. What hooks did is recorded on
// the way, by the goroutine that owns the record.
func (a *agent) Warnings(context.Context) []string {
	a.ward.mu.Lock()
	say, records := a.ward.say, a.ward.records
	a.ward.say, a.ward.records = nil, nil
	a.ward.mu.Unlock()
	for _, r := range records {
		if err := a.loop.Record.Record(quire.RecordHook+snake(string(r.event)), r.outcome); err != nil {
			say = append(say, "What a hook did could not be recorded: "+err.Error())
		}
	}
	if err := a.pinSkills(); err != nil {
		say = append(say, "The instructions of a skill could not be pinned: "+err.Error())
	}
	say = append(say, a.ward.watch.Take()...)
	if a.around != nil && a.around.hub != nil {
		say = append(say, a.around.hub.News()...)
	}
	return say
}

// bySkill is who pins the text of a skill.
const bySkill quire.Principal = "quire:skill"

// pinnedBefore takes a mark of a session that is resumed.
func (a *agent) pinnedBefore(m quire.MarkRecord) {
	if m.By != bySkill {
		return
	}
	a.ward.pinned = slices.DeleteFunc(a.ward.pinned, func(n quire.PageNumber) bool { return n == m.Page })
	if m.What == quire.MarkPin {
		a.ward.pinned = append(a.ward.pinned, m.Page)
	}
}

// pinSkills pins the texts of the skills that were run: they hold while the turn
// lasts.
func (a *agent) pinSkills() error {
	ran := a.ward.ran
	a.ward.ran = nil
	for _, call := range ran {
		page := a.loop.Step.PageOf(call)
		if page == 0 {
			continue
		}
		a.ward.pinned = append(a.ward.pinned, page)
		if err := a.mark(quire.MarkRecord{What: quire.MarkPin, Page: page, By: bySkill}); err != nil {
			return err
		}
	}
	return nil
}

// unpinSkills lets the texts of the turn before go.
func (a *agent) unpinSkills() error {
	pinned := a.ward.pinned
	a.ward.pinned = nil
	for _, page := range pinned {
		if err := a.mark(quire.MarkRecord{What: quire.MarkUnpin, Page: page, By: bySkill}); err != nil {
			return err
		}
	}
	return nil
}

// mark marks a page and records it.
func (a *agent) mark(m quire.MarkRecord) error {
	a.loop.Step.Context().Mark(m)
	if err := a.loop.Record.Record(quire.RecordMark, m); err != nil {
		return fmt.Errorf("mark %v: %w", m.Page, err)
	}
	return nil
}

// tell has something told before the next call.
func (a *agent) tell(format string, args ...any) {
	a.ward.mu.Lock()
	defer a.ward.mu.Unlock()
	a.ward.say = append(a.ward.say, fmt.Sprintf(format, args...))
}

// seen watches what happens, hands it on, and fires what belongs to it.
func (a *agent) seen(ctx context.Context, show func(run.Event)) func(run.Event) {
	return func(e run.Event) {
		switch e := e.(type) {
		case run.Planned:
			a.planned(ctx, e)
		case run.Acted:
			a.acted(e)
		}
		show(e)
	}
}

// planned fires the hooks around an epoch: the one before it when it is planned and
// not sent yet, the one after it right behind. An epoch is no longer a question
// then, so that they cannot block it.
func (a *agent) planned(ctx context.Context, e run.Planned) {
	if e.Plan.Kind == "" {
		return
	}
	for _, event := range []hook.Event{hook.PreCompact, hook.PostCompact} {
		a.fire(ctx, hook.Input{Event: event, Trigger: e.Plan.Kind, Reason: e.Plan.Reason})
	}
}

// acted notes what a call did.
func (a *agent) acted(e run.Acted) {
	a.ward.watch.Called(warning.Call{
		Tool: e.Call.Tool, Args: e.Call.Text, Error: e.Result.Error, Changes: len(e.Result.Effects), Command: e.Result.Exit != nil,
	})
	if e.Call.Tool == skill.ToolName && !e.Result.Error {
		a.ward.ran = append(a.ward.ran, e.Call.ToolUse)
	}
	for _, c := range e.Result.Effects {
		if c.After.Kind == undo.File {
			a.knows(c.Path, c.After.Hash)
		} else {
			a.knows(c.Path, quire.Hash{})
		}
	}
}

// knows notes a version of a file that is no news.
func (a *agent) knows(path string, version quire.Hash) {
	if a.ward.own == nil {
		a.ward.own = map[string]quire.Hash{}
	}
	a.ward.own[path] = version
}

// outside warns of files that somebody else changed since the model saw them, once
// of each version.
func (a *agent) outside() {
	var paths []string
	for _, f := range a.files.Outsides() {
		if known, ok := a.ward.own[f.Path]; !ok || known != f.Now {
			paths = append(paths, f.Path)
			a.knows(f.Path, f.Now)
		}
	}
	a.ward.watch.Changed(paths)
}

// before is what comes before the user's words: hooks, which can refuse them, skills
// that may fit, and warnings.
func (a *agent) before(ctx context.Context, words string) error {
	w := &a.ward
	w.turns++
	w.again = 0
	w.watch.Turn()
	a.outside()
	if err := a.unpinSkills(); err != nil {
		return err
	}
	if !w.begun {
		w.begun = true
		source := "startup"
		if w.resumed {
			source = "resume"
		}
		if err := a.ask(ctx, hook.Input{Event: hook.SessionStart, Source: source}); err != nil {
			return err
		}
	}
	if err := a.ask(ctx, hook.Input{Event: hook.UserPromptSubmit, Prompt: words}); err != nil {
		return err
	}
	if a.around != nil {
		if lines := skill.Lines(a.around.skills.Match(words)); lines != "" {
			a.tell("%s", lines)
		}
	}
	return nil
}

// snake is the name of an event as records have it.
func snake(event string) string {
	var b strings.Builder
	for i, r := range event {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

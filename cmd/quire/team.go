package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"

	"github.com/quire-agent/quire/internal/brain"
	"github.com/quire-agent/quire/internal/config"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/permit"
	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/role"
	"github.com/quire-agent/quire/internal/route"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/usage"
	"github.com/quire-agent/quire/internal/worktree"
	"github.com/spf13/cobra"
)

// The files of the home that say who works in a team.
const (
	brainsFile = "brains.json"
	rolesDir   = "roles"
)

// A crew is who may work in a team: roles, the brain that gives them models, and how
// freely it works.
type crew struct {
	roles   role.Set
	library *role.Library
	brain   role.Brain
	mode    role.Mode
}

// crewOf reads roles and brains of the home, and takes what the settings name.
func crewOf(s *config.Settings) (c crew, err error) {
	home := s.Path(config.Home)
	if c.roles, c.library, err = readLibrary(home); err != nil {
		return c, err
	}
	if c.brain, err = c.library.Brain(s.Name(config.Brain)); err != nil {
		return c, unusable(err, "`quire brain list` lists them")
	}
	mode := s.Text(config.BrainMode)
	var ok bool
	if c.mode, ok = role.ModeOf(mode); !ok {
		return c, unusable(fmt.Errorf("%q is no mode", mode), "use auto or radical")
	}
	return c, nil
}

func readLibrary(home string) (role.Set, *role.Library, error) {
	roles, err := role.Default()
	if err != nil {
		return nil, nil, err
	}
	if roles, err = roles.With(os.DirFS(filepath.Join(home, rolesDir))); err != nil {
		return nil, nil, unusable(err, "mend or remove the file in the folder "+rolesDir+" of the home")
	}
	text, err := os.ReadFile(filepath.Join(home, brainsFile))
	if err != nil && !errors.Is(err, iofs.ErrNotExist) {
		return nil, nil, err
	}
	known := func(r route.Role) bool { _, ok := roles.Role(r); return ok }
	library, err := role.ParseLibrary(text, known)
	if err != nil {
		return nil, nil, unusable(fmt.Errorf("%s: %w", brainsFile, err), "`quire help brain` says what a brain looks like")
	}
	return roles, library, nil
}

// A team is a session that a Brain works in.
type team struct {
	*staff
	project *teamProject
	history *brain.History
	resumed bool
}

// newTeam makes a team of a run's parts, opens its session, and reads what became of
// the session's runs before.
func newTeam(ctx context.Context, s *staff, c crew, open func(context.Context, *seat) error) (t *team, err error) {
	s.opened, s.preset = map[string]hiredModel{}, c.brain
	t = &team{staff: s, project: &teamProject{staff: s, copies: map[string]*worktree.Tree{}}}
	s.brain = &brain.Brain{}
	if _, err := worktree.Sweep(ctx, copiesOf(s.home), s.parts.now().Add(-leftFor)); err != nil {
		return nil, err
	}
	if s.main, err = s.first(ctx); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.main.close())
		}
	}()
	if err = open(ctx, s.main); err != nil {
		return nil, err
	}
	if t.history, err = historyOf(s.main.live.Name().Path); err != nil {
		return nil, explain(err)
	}
	*s.brain = brain.Brain{
		Staff: s, Project: t.project, Copies: t.project, Record: s.main.record, Roles: c.roles, Model: c.brain, Mode: c.mode, History: t.history,
		Count: s.home.pool.Counter, Now: s.parts.now, NewID: rand.Text, Facts: t.facts, Attach: t.attach, Books: t.books,
		Mask: s.inv.mask, Alone: !s.dispatches, Permit: s.parts.mode.String(), Writes: s.parts.mode != permit.ReadOnly,
	}
	return t, nil
}

// first is the primary's seat, on the model of the run.
func (s *staff) first(ctx context.Context) (*seat, error) {
	m := s.model(ctx, "")
	if m.err != nil {
		return nil, m.err
	}
	p := s.parts
	p.model, p.terms = m.calledModel, s.termsOf(m.terms)
	t, err := s.seat(p, brain.Job{Tools: role.ToolsWrite, Scope: brain.Scope{Phase: brain.PhasePrimary}}, s.dispatch(s.brain)...)
	if err != nil {
		return nil, err
	}
	t.name = s.models.runs()
	return t, nil
}

// facts are what every agent is told of the project: how it stands now.
func (t *team) facts(ctx context.Context, _ string) []quire.Block {
	text := gitState(ctx, t.main.project.Dir())
	if text == "" {
		return nil
	}
	return []quire.Block{{Part: quire.Part{Kind: quire.PartMachine, Origin: quire.OriginOwn, Text: run.StateHead + ": " + text}}}
}

// attach is what the user's words refer to.
func (t *team) attach(words string) []quire.Block {
	return t.main.attached(context.Background(), words)
}

// books are what the calls of a run used so far.
func (t *team) books(id string) *brain.Tokens {
	calls, err := t.calls()
	if err != nil {
		return nil // the report goes without figures; the journals have them
	}
	out, cost := brain.Tokens{}, 0.0
	for _, c := range calls {
		if c.Run != id {
			continue
		}
		out.Calls++
		out.Input += c.Usage.Input
		out.CacheRead += c.Usage.CacheRead
		out.CacheWrite += c.Usage.CacheWrite
		out.Output += c.Usage.Output
		if c.Cost != nil {
			cost += *c.Cost
			out.Cost = &cost
		}
	}
	return &out
}

// calls are those of all agents of the session.
func (t *team) calls() (all []usage.Call, err error) {
	seen := map[quire.SessionNumber]bool{}
	h, err := historyOf(t.main.live.Name().Path)
	if err != nil {
		return nil, err
	}
	numbers := []quire.SessionNumber{t.main.Session()}
	for _, s := range h.Agents() {
		numbers = append(numbers, s.Session)
	}
	for _, n := range numbers {
		if seen[n] || n == 0 {
			continue
		}
		seen[n] = true
		name, err := t.home.session(n.String())
		if err != nil {
			return nil, err
		}
		calls, err := usage.Read(name.Path, price.Default())
		if err != nil {
			return nil, err
		}
		all = append(all, calls...)
	}
	return all, nil
}

// close ends the team.
func (t *team) close() error { return errors.Join(t.project.close(), t.main.close()) }

// derive makes what was recorded findable, for who searches later.
func (t *team) derive(ctx context.Context) error {
	h, err := historyOf(t.main.live.Name().Path)
	if err != nil {
		return err
	}
	names := []journal.Name{t.main.live.Name()}
	seen := map[quire.SessionNumber]bool{t.main.Session(): true}
	for _, s := range h.Agents() {
		if seen[s.Session] || s.Session == 0 {
			continue
		}
		seen[s.Session] = true
		name, err := t.home.session(s.Session.String())
		if err != nil {
			return err
		}
		names = append(names, name)
	}
	_, err = t.home.pool.DeriveAll(context.WithoutCancel(ctx), names, func(journal.Name) {})
	return err
}

// together opens the home for a team.
func (r *agentRun) together(cmd *cobra.Command, prompt string) error {
	h, err := r.openHome(cmd)
	if err != nil {
		return err
	}
	if err := h.counting(); err != nil {
		return h.close(err)
	}
	return h.close(r.team(cmd.Context(), h, prompt))
}

// team lets a Brain and its agents do what the user wants.
func (r *agentRun) team(ctx context.Context, h *home, prompt string) (err error) {
	c, err := crewOf(r.settings)
	if err != nil {
		return err
	}
	parts, err := r.parts(ctx, h)
	if err != nil {
		return err
	}
	show, err := r.teamFace()
	if err != nil {
		return err
	}
	if parts.around, err = r.surroundings(ctx, h, prompt); err != nil {
		return err
	}
	defer parts.around.close()
	s := &staff{inv: r.invocation, home: h, parts: parts, rounds: r.rounds, cost: r.cost, dispatches: r.settings.Bool(config.Dispatch), models: &settledModels{r, hiredModel{calledModel: parts.model, terms: parts.terms, api: r.api}}}
	t, err := newTeam(ctx, s, c, r.openSeat)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	s.brain.Emit = show.event
	if s.brain.Force, err = forced(c.roles, r.roles); err != nil {
		return err
	}
	if err := show.begin(t); err != nil {
		return err
	}
	report, err := r.deliberate(ctx, t, prompt)
	if err != nil && !errors.Is(err, brain.ErrAborted) {
		return explain(err)
	}
	if err := t.derive(ctx); err != nil {
		return explain(err)
	}
	ended := teamReport{Type: "report", Session: t.main.Session().String(), FinalReport: report}
	if err := show.end(ended); err != nil {
		return err
	}
	return errors.Join(ctx.Err(), ended.err())
}

// forced are roles that were given.
func forced(roles role.Set, names []string) (list []route.Role, err error) {
	for _, name := range names {
		if ro, ok := roles.Role(route.Role(name)); !ok || !ro.Routed {
			return nil, unusable(fmt.Errorf("there is no role %q", name), "`quire brain show --roles` prints them")
		}
		list = append(list, route.Role(name))
	}
	return list, nil
}

// deliberate takes the request through the team, or goes on with the run that was
// interrupted.
func (r *agentRun) deliberate(ctx context.Context, t *team, prompt string) (brain.FinalReport, error) {
	if !r.resume {
		if err := errors.Join(t.main.before(ctx, prompt), t.given(ctx)); err != nil {
			return brain.FinalReport{}, err
		}
		return t.brain.Run(ctx, prompt, images(t.attach(prompt)))
	}
	report, ok, err := t.brain.Resume(ctx, t.history)
	if err == nil && !ok {
		err = unusable(fmt.Errorf("no run of %v was interrupted", t.main.Session()), "`quire run --session "+t.main.Session().String()+" PROMPT` goes on with the session")
	}
	return report, err
}

// given takes away the copies of a run that nobody goes on with.
func (t *team) given(ctx context.Context) (err error) {
	for _, task := range t.history.Copies() {
		err = errors.Join(err, t.project.Drop(ctx, task))
	}
	return err
}

func images(blocks []quire.Block) (n int) {
	for i := range blocks {
		if blocks[i].Media != nil {
			n++
		}
	}
	return n
}

// openSeat begins a session, or goes on with one.
func (r *agentRun) openSeat(ctx context.Context, t *seat) error {
	name, err := r.named(t.agent)
	if err != nil {
		return err
	}
	if name == nil {
		err = t.begin(ctx)
		if err == nil {
			t.takesTeam()
		}
		return err
	}
	return t.resume(ctx, *name)
}

// named is the session that the run goes on with, nil for a new one.
func (r *agentRun) named(a *agent) (*journal.Name, error) {
	var name journal.Name
	var err error
	switch {
	case r.session != "":
		name, err = a.home.session(r.session)
	case r.follow:
		name, err = a.home.newestOf(a.project.Dir())
	default:
		return nil, nil
	}
	return &name, err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/config"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/model"
	"github.com/quire-agent/quire/internal/model/retry"
	"github.com/quire-agent/quire/internal/permit"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/run"
	"github.com/spf13/cobra"
)

// An agentRun is one `quire run`.
type agentRun struct {
	*invocation
	session  string
	follow   bool
	permit   string
	rounds   int
	cost     float64
	output   string
	asJSON   bool // as output json
	dir      string
	settings *config.Settings
	solo     bool
	roles    []string // that are given, nil: they are planned
	resume   bool
	api      model.API // of the model of the run
}

func (inv *invocation) runCommand() *cobra.Command {
	r := &agentRun{invocation: inv}
	cmd := &cobra.Command{
		Use:   "run {PROMPT | -}",
		Short: "Let models work in this project",
		Long: `Let models do what PROMPT asks, in the project of the working directory; - reads
the prompt from standard input. The answer goes to standard output, everything else
to standard error.

A team does it: a router plans, workers look into what the plan needs, one agent does
the work, the project's checks run, a reviewer judges, and what is wrong is mended.
--solo lets one agent do all of it. A run that was interrupted goes on with --resume.

The session is kept, whatever ends the run: --continue goes on with the newest one of
this project, --session with any. What it changed is put back by quire undo.

@path, @path:10-40, @dir/ and @"a b.txt" in the prompt attach files of the project,
@@s7 what is on record of another session.

Without leave nothing is changed. --permit edit lets it change files and asks about
commands; full lets it run commands, and asks about those that reach out of the
project. Where nobody can be asked the answer is no. Rules stand in permit.json in
the home and in the folder .quire of the project. Where the system has a sandbox,
commands can write only to the project and to temporary folders.

quire models lists what --model can name; script/FILE plays a script in place of a
model, and replay/SESSION gives the answers of a session again.`,
		Example: `  quire run "why does the parser test fail?"
  quire run --permit edit "fix it" --continue
  git diff | quire run --output json -`,
		Args: r.prompted,
		RunE: func(cmd *cobra.Command, args []string) error { return r.do(cmd, strings.Join(args, "")) },
	}
	f := cmd.Flags()
	f.StringVar(&r.session, "session", "", "go on with `SESSION`")
	f.BoolVar(&r.follow, "continue", false, "go on with the newest session of this project")
	f.StringVar(&r.permit, "permit", "", "what it may do: `MODE` read-only, edit or full; without it edit on a terminal, read-only elsewhere")
	f.IntVar(&r.rounds, "max-rounds", 0, "at most `N` calls before the closing one, 0: no limit")
	f.Float64Var(&r.cost, "max-cost", 0, "most that the session may cost, in `USD`, 0: no limit")
	f.StringVar(&r.output, "output", outputText, "`FORM` of the output: text, json or stream-json")
	f.BoolVar(&r.asJSON, "json", false, "the same as --output json")
	f.StringVar(&r.dir, "cwd", "", "the project is `DIR`, not the working directory")
	f.BoolVar(&r.solo, "solo", false, "one agent does all of it, without a team")
	f.StringSliceVar(&r.roles, "roles", nil, "let these `ROLES` each answer by themselves, without a plan; the first does the work")
	f.BoolVar(&r.resume, "resume", false, "go on with the run that was interrupted, in place of a PROMPT")
	bind(f, string(config.Model), string(config.ModelURL), string(config.Budget), string(config.Prices), string(config.Brain), string(config.BrainMode), string(config.Hooks))
	return cmd
}

func (r *agentRun) do(cmd *cobra.Command, prompt string) (err error) {
	if err := r.check(); err != nil {
		return err
	}
	if r.settings, err = r.invocation.settings(cmd); err != nil {
		return err
	}
	if prompt, err = r.words(prompt); err != nil {
		return err
	}
	if !r.solo {
		return r.together(cmd, prompt)
	}
	show, err := r.face()
	if err != nil {
		return err
	}
	h, err := r.openHome(cmd)
	if err != nil {
		return err
	}
	defer func() { err = h.close(err) }()
	if err := h.counting(); err != nil {
		return err
	}
	a, err := r.agent(cmd.Context(), h, prompt)
	if err != nil {
		return err
	}
	defer a.around.close()
	defer func() { err = errors.Join(err, a.close()) }()
	return r.work(cmd.Context(), a, show, prompt)
}

func (r *agentRun) check() error {
	switch {
	case r.session != "" && r.follow:
		return unusable(errors.New("--session and --continue name two sessions"), "leave one out")
	case r.rounds < 0 || r.cost < 0:
		return unusable(errors.New("a limit below zero"), "leave it out for no limit")
	case r.asJSON && r.output != outputText && r.output != outputJSON:
		return unusable(fmt.Errorf("--json and --output %s are two forms of output", r.output), "leave one out")
	case r.resume && r.solo:
		return unusable(errors.New("--resume goes on with a run of a team"), "`quire run --solo --continue PROMPT` goes on alone")
	}
	if r.asJSON {
		r.output = outputJSON
	}
	r.follow = r.follow || r.resume && r.session == ""
	if r.dir == "" {
		r.dir = r.app.dir
	}
	if !filepath.IsAbs(r.dir) {
		r.dir = filepath.Join(r.app.dir, r.dir)
	}
	return nil
}

// prompted demands a prompt, unless a run is resumed, which has one.
func (r *agentRun) prompted(cmd *cobra.Command, args []string) error {
	if r.resume {
		return exactly()(cmd, args)
	}
	return exactly("PROMPT")(cmd, args)
}

// words is the prompt, from standard input if it is -.
func (r *agentRun) words(prompt string) (string, error) {
	if r.resume {
		return "", nil
	}
	if prompt == "-" {
		text, err := io.ReadAll(r.in)
		if err != nil {
			return "", fmt.Errorf("read the prompt: %w", err)
		}
		prompt = strings.ToValidUTF8(string(text), "\ufffd")
	}
	if strings.TrimSpace(prompt) == "" {
		return "", unusable(errors.New("the prompt is empty"), "say what is to be done")
	}
	return prompt, nil
}

// mode is what the run may do.
func (r *agentRun) mode() (permit.Mode, error) {
	switch {
	case r.permit != "":
		m, err := permit.ParseMode(r.permit)
		if err != nil {
			return m, unusable(err, "use one of read-only, edit, full")
		}
		return m, nil
	case r.mayAsk():
		return permit.Edit, nil
	default:
		return permit.ReadOnly, nil
	}
}

// parts are what the run's agent is made with.
func (r *agentRun) parts(ctx context.Context, h *home) (p agentParts, err error) {
	mode, err := r.mode()
	if err != nil {
		return p, err
	}
	m, terms, err := r.called(ctx, h)
	if err != nil {
		return p, err
	}
	if r.cost > 0 && !m.priced {
		return p, unusable(fmt.Errorf("--max-cost: the prices of %s are not known", m.id), "give them with --prices, or limit the rounds: --max-rounds")
	}
	p = agentParts{inv: r.invocation, home: h, dir: r.dir, model: m, terms: terms, mode: mode, now: time.Now}
	if r.mayAsk() {
		p.asker = newAsker(r.invocation)
	}
	return p, nil
}

func (r *agentRun) agent(ctx context.Context, h *home, prompt string) (*agent, error) {
	p, err := r.parts(ctx, h)
	if err != nil {
		return nil, err
	}
	if p.around, err = r.surroundings(ctx, h, prompt); err != nil {
		return nil, err
	}
	a, err := newAgent(p)
	if err != nil {
		p.around.close()
		return nil, err
	}
	a.loop.Rounds, a.loop.Budget = r.rounds, r.cost
	return a, nil
}

// called is the model that the settings name.
func (r *agentRun) called(ctx context.Context, home *home) (m calledModel, t run.Terms, err error) {
	c, err := r.chosen(ctx, home)
	if err != nil {
		return m, t, err
	}
	h, err := r.hired(c)
	r.api = h.api
	return h.calledModel, h.terms, err
}

// hired is a model with what a session has to know of it.
func (r *agentRun) hired(c chosen) (h hiredModel, err error) {
	id := c.id
	if c.provider.Name == scripted {
		id = scripted
	}
	t, priced, err := r.facts(r.settings, id, time.Now())
	m := withFacts(c, id, &t, priced)
	m.limits = within(m.limits, c.provider.API)
	return hiredModel{calledModel: m, terms: t, api: c.provider.API}, err
}

// waits tells that a call is tried again.
func (r *agentRun) waits(a retry.Again) {
	fmt.Fprintf(r.err, "quire: %s; again in %s\n", r.mask(a.Err.Error()), a.Wait.Round(time.Second))
}

// work does the turn and derives from it what is searched later.
func (r *agentRun) work(ctx context.Context, a *agent, show face, prompt string) error {
	if err := r.open(ctx, a); err != nil {
		return err
	}
	a.loop.Emit = a.seen(ctx, show.event)
	counted, err := r.counted(ctx, a.loop)
	if err != nil {
		return err
	}
	defer counted()
	if err := show.begin(a); err != nil {
		return err
	}
	out, err := a.turn(ctx, prompt)
	if err != nil {
		return explain(err)
	}
	// What was recorded is searched by others; an interrupt does not change that.
	if _, err := a.home.pool.DeriveAll(context.WithoutCancel(ctx), []journal.Name{a.live.Name()}, func(journal.Name) {}); err != nil {
		return explain(err)
	}
	ended := a.ended(out, show.denials())
	if err := show.end(ended); err != nil {
		return err
	}
	return ended.err(out)
}

// open begins a session, or goes on with one.
func (r *agentRun) open(ctx context.Context, a *agent) error {
	switch {
	case r.session != "":
		name, err := a.home.session(r.session)
		if err != nil {
			return err
		}
		return a.resume(ctx, name)
	case r.follow:
		name, err := a.home.newestOf(a.project.Dir())
		if err != nil {
			return err
		}
		return a.resume(ctx, name)
	default:
		return a.begin(ctx)
	}
}

// newestOf is the newest session of our own in a project.
func (h *home) newestOf(project string) (journal.Name, error) {
	all, err := journal.List(h.pool.Home)
	if err != nil {
		return journal.Name{}, err
	}
	for i := len(all) - 1; i >= 0; i-- {
		head, err := journal.Head(all[i].Path)
		if err == nil && head.Info.Agent == quire.AgentQuire && head.Info.Project == project && head.Info.Parent == "" {
			return all[i], nil
		}
	}
	return journal.Name{}, unusable(errors.New("no session of this project is there"), "`quire run PROMPT` begins one; `quire session list` lists those of others")
}

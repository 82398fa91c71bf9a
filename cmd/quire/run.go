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
	dir      string
	settings *config.Settings
}

func (inv *invocation) runCommand() *cobra.Command {
	r := &agentRun{invocation: inv}
	cmd := &cobra.Command{
		Use:   "run {PROMPT | -}",
		Short: "Let a model work in this project",
		Long: `Let a model do what PROMPT asks, in the project of the working directory; - reads
the prompt from standard input. The answer goes to standard output, everything else
to standard error.

The session is kept, whatever ends the run: --continue goes on with the newest one of
this project, --session with any. What it changed is put back by quire undo.

@path, @path:10-40, @dir/ and @"a b.txt" in the prompt attach files of the project.

Without leave nothing is changed. --permit edit lets it change files and asks about
commands; full lets it run commands, and asks about those that reach out of the
project. Where nobody can be asked the answer is no. Rules stand in permit.json in
the home and in the folder .quire of the project. Where the system has a sandbox,
commands can write only to the project and to temporary folders.

quire models lists what --model can name; script/FILE plays a script in place of a
model.`,
		Example: `  quire run "why does the parser test fail?"
  quire run --permit edit "fix it" --continue
  git diff | quire run --output json -`,
		Args: exactly("PROMPT"),
		RunE: func(cmd *cobra.Command, args []string) error { return r.do(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&r.session, "session", "", "go on with `SESSION`")
	f.BoolVar(&r.follow, "continue", false, "go on with the newest session of this project")
	f.StringVar(&r.permit, "permit", "", "what it may do: `MODE` read-only, edit or full; without it edit on a terminal, read-only elsewhere")
	f.IntVar(&r.rounds, "max-rounds", 0, "at most `N` calls before the closing one, 0: no limit")
	f.Float64Var(&r.cost, "max-cost", 0, "most that the session may cost, in `USD`, 0: no limit")
	f.StringVar(&r.output, "output", outputText, "`FORM` of the output: text, json or stream-json")
	f.StringVar(&r.dir, "cwd", "", "the project is `DIR`, not the working directory")
	bind(f, string(config.Model), string(config.ModelURL), string(config.Budget), string(config.Prices))
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
	a, err := r.agent(cmd.Context(), h)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	return r.work(cmd.Context(), a, show, prompt)
}

func (r *agentRun) check() error {
	switch {
	case r.session != "" && r.follow:
		return unusable(errors.New("--session and --continue name two sessions"), "leave one out")
	case r.rounds < 0 || r.cost < 0:
		return unusable(errors.New("a limit below zero"), "leave it out for no limit")
	}
	if r.dir == "" {
		r.dir = r.app.dir
	}
	if !filepath.IsAbs(r.dir) {
		r.dir = filepath.Join(r.app.dir, r.dir)
	}
	return nil
}

// words is the prompt, from standard input if it is -.
func (r *agentRun) words(prompt string) (string, error) {
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

func (r *agentRun) agent(ctx context.Context, h *home) (*agent, error) {
	mode, err := r.mode()
	if err != nil {
		return nil, err
	}
	m, terms, err := r.called(ctx)
	if err != nil {
		return nil, err
	}
	if r.cost > 0 && !m.priced {
		return nil, unusable(fmt.Errorf("--max-cost: the prices of %s are not known", m.id), "give them with --prices, or limit the rounds: --max-rounds")
	}
	p := agentParts{inv: r.invocation, home: h, dir: r.dir, model: m, terms: terms, mode: mode, now: time.Now}
	if r.mayAsk() {
		p.asker = newAsker(r.invocation)
	}
	a, err := newAgent(p)
	if err != nil {
		return nil, err
	}
	a.loop.Rounds, a.loop.Budget = r.rounds, r.cost
	return a, nil
}

// called is the model that the settings name.
func (r *agentRun) called(ctx context.Context) (m calledModel, t run.Terms, err error) {
	c, err := r.openModel(ctx, r.settings, r.waits)
	if err != nil {
		return m, t, err
	}
	id := c.id
	if c.provider.Name == scripted {
		id = scripted
	}
	t, priced, err := r.facts(r.settings, id, time.Now())
	return withFacts(c, id, &t, priced), t, err
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
	a.loop.Emit = show.event
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
		if err == nil && head.Info.Agent == quire.AgentQuire && head.Info.Project == project {
			return all[i], nil
		}
	}
	return journal.Name{}, unusable(errors.New("no session of this project is there"), "`quire run PROMPT` begins one; `quire session list` lists those of others")
}

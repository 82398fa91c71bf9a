package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/brain"
	"github.com/quire-agent/quire/internal/config"
	"github.com/quire-agent/quire/internal/permit"
	"github.com/quire-agent/quire/internal/store/sqlite"
	"github.com/spf13/cobra"
)

// A planRun is one `quire plan`.
type planRun struct {
	agentRun
	heuristic bool
	asJSON    bool
}

// A plannedRun is what `quire plan --json` gives.
type plannedRun struct {
	Plan brain.Plan `json:"plan"`
	Cost planCost   `json:"estimate"`
}

// A planCost is what a plan may cost, by what runs like it send.
type planCost struct {
	Agents    int      `json:"agents"`
	Calls     int      `json:"calls"`
	Prompt    int      `json:"promptTokens"`
	Output    int      `json:"outputTokens"`
	Dollars   *float64 `json:"cost,omitempty"` // US dollars; nil where a price is not known
	Unpriced  []string `json:"unpricedModels,omitempty"`
	Assuming  string   `json:"assuming"`
	PlanCalls int      `json:"planCalls"` // made for this answer
}

func (inv *invocation) planCommand() *cobra.Command {
	r := &planRun{agentRun: agentRun{invocation: inv}}
	cmd := &cobra.Command{
		Use:   "plan PROMPT",
		Short: "Show who would work on a request, and what that may cost",
		Long: `Show the plan that a Brain makes for PROMPT: the primary, who supports it, what waits
for what, whether it is reviewed, and an estimate of the cost. Nobody begins to work and
nothing is kept.

The plan costs one call of the brain's planner. --heuristic plans by the words of the
request alone, without a call.`,
		Example: `  quire plan "add a search field to the list of orders"
  quire plan --heuristic --json "fix the login"`,
		Args: exactly("PROMPT"),
		RunE: func(cmd *cobra.Command, args []string) error { return r.plan(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.BoolVar(&r.heuristic, "heuristic", false, "plan without a model")
	f.BoolVar(&r.asJSON, "json", false, "write plan and estimate as one JSON object")
	f.StringVar(&r.dir, "cwd", "", "the project is `DIR`, not the working directory")
	bind(f, string(config.Model), string(config.ModelURL), string(config.Prices), string(config.Brain), string(config.BrainMode))
	return cmd
}

func (r *planRun) plan(cmd *cobra.Command, prompt string) (err error) {
	if err := r.check(); err != nil {
		return err
	}
	if prompt, err = r.words(prompt); err != nil {
		return err
	}
	if r.settings, err = r.invocation.settings(cmd); err != nil {
		return err
	}
	c, err := crewOf(r.settings)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "quire-plan-")
	if err != nil {
		return failure(err, "make a folder for temporary files, or name one with TMPDIR")
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	p, cost, err := r.drawn(cmd.Context(), dir, c, prompt)
	if err != nil {
		return explain(err)
	}
	if r.asJSON {
		return writeJSON(r.out, plannedRun{p, cost})
	}
	return r.show(r.out, &p, &cost)
}

// drawn is the plan, made in a home that is thrown away.
func (r *planRun) drawn(ctx context.Context, dir string, c crew, prompt string) (p brain.Plan, cost planCost, err error) {
	h, err := r.homeAt(ctx, filepath.Join(dir, "home"), sqlite.Options{})
	if err != nil {
		return p, cost, err
	}
	defer func() { err = h.close(err) }()
	if err := h.counting(); err != nil {
		return p, cost, err
	}
	t, err := r.planners(ctx, h, c)
	if err != nil {
		return p, cost, err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	t.brain.NoPlan = r.heuristic
	if p, err = t.brain.Plan(ctx, prompt, images(t.attach(prompt))); err != nil {
		return p, cost, err
	}
	cost = r.estimate(ctx, t, &p)
	return p, cost, nil
}

// planners is a team that only plans. By rules alone it needs no model.
func (r *planRun) planners(ctx context.Context, h *home, c crew) (*team, error) {
	r.permit = permit.Full.String()
	parts, err := r.parts(ctx, h)
	if err != nil && r.heuristic {
		parts, err = r.modelless(h)
	}
	if err != nil {
		return nil, err
	}
	run := hiredModel{calledModel: parts.model, terms: parts.terms, api: r.api}
	s := &staff{inv: r.invocation, home: h, parts: parts, models: &settledModels{&r.agentRun, run}}
	return newTeam(ctx, s, c, r.openSeat)
}

// modelless are the parts of agents where no model can be called.
func (r *planRun) modelless(h *home) (agentParts, error) {
	terms, _, err := r.facts(r.settings, "", time.Now())
	return agentParts{inv: r.invocation, home: h, dir: r.dir, model: withFacts(nil, "none", &terms, false), terms: terms, mode: permit.Full, now: time.Now}, err
}

// estimate is what a plan may cost: each agent's first prompt, and what its rounds
// add to it.
func (r *planRun) estimate(ctx context.Context, t *team, p *brain.Plan) planCost {
	prefix := t.main.loop.Head.Constant + t.main.loop.Step.Context().Scheduler().Net()
	cost := planCost{Assuming: fmt.Sprintf("%d calls for each worker, %d for the primary, %d tokens of results and %d of answers a call, prompts read from the cache behind the first call", supportCalls, primaryCalls, callResults, callAnswers)}
	if !r.heuristic {
		cost.PlanCalls = 1
	}
	total, priced := 0.0, true
	for _, w := range p.Workers {
		calls := supportCalls
		if w.Role == p.Route.Primary {
			calls = primaryCalls
		}
		cost.Agents++
		cost.Calls += calls
		cost.Output += calls * callAnswers
		sent := 0
		for n := range calls {
			sent += prefix + firstWords + n*(callResults+callAnswers)
		}
		cost.Prompt += sent
		dollars, ok := r.dollars(ctx, t, &w, prefix, calls)
		if !ok {
			priced = false
			cost.Unpriced = append(cost.Unpriced, strings.Join(w.Models, ", "))
		}
		total += dollars
	}
	if priced {
		cost.Dollars = &total
	}
	return cost
}

// What runs are reckoned with.
const (
	supportCalls = 5
	primaryCalls = 10
	firstWords   = 1_500
	callResults  = 1_500
	callAnswers  = 250
)

// dollars is what a worker's calls cost by the prices of its first model.
func (r *planRun) dollars(ctx context.Context, t *team, w *brain.Worker, prefix, calls int) (float64, bool) {
	if len(w.Models) == 0 {
		return 0, true
	}
	m := t.model(ctx, w.Models[0])
	if !m.priced {
		return 0, false
	}
	sum := 0.0
	for n := range calls {
		prompt := prefix + firstWords + n*(callResults+callAnswers)
		rates := m.terms.Rates.For(prompt)
		fresh := prompt
		if n > 0 {
			fresh = callResults + callAnswers
		}
		sum += float64(fresh)*rates.Write + float64(prompt-fresh)*rates.Read + callAnswers*rates.Output
	}
	return sum, true
}

func (r *planRun) show(out io.Writer, p *brain.Plan, c *planCost) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", planLine(p))
	if q := p.Route.Clarification; q != nil {
		fmt.Fprintf(&b, "\nIt would ask first:\n%s", q.Text(p.Context.Goal))
	}
	for _, w := range p.Workers {
		phase := "support"
		switch {
		case w.Role == p.Route.Primary:
			phase = "primary"
		case w.Role == "review":
			phase = "review"
		}
		fmt.Fprintf(&b, "\n%s (%s) on %s\n  %s\n", w.Role, phase, strings.Join(w.Models, ", then "), w.Goal)
		for _, s := range w.Skipped {
			fmt.Fprintf(&b, "  left out: %s\n", s)
		}
		for _, up := range p.Route.Upstreams(w.Role) {
			fmt.Fprintf(&b, "  waits for %s\n", up)
		}
	}
	b.WriteString("\nTo do:\n")
	for _, t := range p.Route.Todos {
		fmt.Fprintf(&b, "  %s  %s (%s)\n", t.ID, t.Title, t.Role)
	}
	fmt.Fprintf(&b, "\nEstimate: %d agents, about %d calls, %d tokens in, %d out", c.Agents, c.Calls, c.Prompt, c.Output)
	if c.Dollars != nil {
		fmt.Fprintf(&b, ", $%.4f", *c.Dollars)
	} else {
		b.WriteString(", the price of a model is not known")
	}
	fmt.Fprintf(&b, ".\nReckoned with %s.\n", c.Assuming)
	_, err := io.WriteString(out, r.mask(b.String()))
	return err
}

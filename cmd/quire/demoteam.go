package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"text/tabwriter"

	"github.com/quire-agent/quire/internal/brain"
	"github.com/quire-agent/quire/internal/model"
	"github.com/quire-agent/quire/internal/model/anthropic"
	"github.com/quire-agent/quire/internal/model/openai"
	"github.com/quire-agent/quire/internal/permit"
	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/role"
	"github.com/quire-agent/quire/internal/route"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/quire-agent/quire/internal/script"
	"github.com/quire-agent/quire/internal/sim"
	"github.com/quire-agent/quire/internal/usage"
	"github.com/quire-agent/quire/internal/x/gitexec"
)

// demoReviewer is the model of the reviewer: another family than the author's.
const demoReviewer = "openai/gpt-5.4"

// demoRequest is what the user wants of the team.
const demoRequest = "The test of the cart fails. Fix the cart."

// demoModels are models behind the simulator.
type demoModels struct {
	run     *demoRun
	address string
}

func (m *demoModels) runs() string { return "anthropic/" + demoModel }

func (m *demoModels) model(_ context.Context, name string) hiredModel {
	end := &model.Endpoint{Base: m.address, Key: model.NewKey("demo", "the demo"), Client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	if name == demoReviewer {
		end.Base += "/v1"
		return m.of(openai.NewResponses(end), "gpt-5.4", model.Responses)
	}
	return m.of(anthropic.New(end), demoModel, model.Messages)
}

func (m *demoModels) of(c caller, id string, api model.API) hiredModel {
	p, known := price.Default().Model(id)
	if !known {
		return hiredModel{err: fmt.Errorf("the price of %s is not known", id)}
	}
	terms := run.Terms{
		Terms:    schedule.Terms{Rates: p.Rates(m.run.clock.at), Rules: p.Rules(), Life: price.Short, Window: p.Window},
		Settings: schedule.Settings{Budget: qualityBudget},
	}
	return hiredModel{calledModel: withFacts(c, id, &terms, true), terms: terms, api: api}
}

// showTeam runs a team behind a simulator.
func (r *demoRun) showTeam(ctx context.Context, h *home, project string) (err error) {
	text, err := demoFiles.ReadFile("demo/team.script")
	if err != nil {
		return err
	}
	plan, err := script.Parse(string(text))
	if err != nil {
		return fmt.Errorf("the script of the demo: %w", err)
	}
	s, err := sim.New(sim.Options{Counter: h.pool.Counter, Script: plan, Now: r.clock.Now})
	if err != nil {
		return err
	}
	defer s.Close()
	address, stop, err := serve(s)
	if err != nil {
		return failure(err, "the demo needs a port of this machine's own address 127.0.0.1")
	}
	defer stop()
	if err := commitAll(ctx, project); err != nil {
		return err
	}
	t, err := r.team(ctx, h, project, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	return r.teamwork(ctx, t)
}

// commitAll makes the project a repository with one commit, where there is git.
func commitAll(ctx context.Context, project string) error {
	for _, args := range [][]string{
		{"init", "--quiet"}, {"add", "--all"}, {"-c", "user.name=demo", "-c", "user.email=demo@example.com", "commit", "--quiet", "--message", "The shop"},
	} {
		cmd, err := gitexec.Command(ctx, project, args...)
		if errors.Is(err, gitexec.ErrNone) {
			return nil
		}
		if err != nil {
			return err
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	return nil
}

// team is the demo's team: everybody on one model but the reviewer.
func (r *demoRun) team(ctx context.Context, h *home, project, address string) (*team, error) {
	roles, err := role.Default()
	if err != nil {
		return nil, err
	}
	library, err := role.ParseLibrary(nil, func(r route.Role) bool { _, ok := roles.Role(r); return ok })
	if err != nil {
		return nil, err
	}
	b, err := library.Brain(role.DefaultBrain)
	if err != nil {
		return nil, err
	}
	b.Roles = map[route.Role]role.Policy{route.Review: {Model: demoReviewer}}
	mode, _ := role.ModeOf("radical")
	inv := r.offline()
	s := &staff{
		dispatches: true,
		inv:        inv, home: h, models: &demoModels{r, address},
		parts: agentParts{inv: inv, home: h, dir: project, mode: permit.Full, now: r.clock.Now},
	}
	return newTeam(ctx, s, crew{roles, library, b, mode}, func(ctx context.Context, t *seat) error {
		err := t.begin(ctx)
		if err == nil {
			t.takesTeam()
		}
		return err
	})
}

// teamwork is the run, and what came of it.
func (r *demoRun) teamwork(ctx context.Context, t *team) error {
	fmt.Fprintln(r.out, "A team at work in a small Go project. The models play a script, their provider is simulated; the rest is real.")
	if found("go") == "" {
		fmt.Fprintln(r.out, "Go was not found on the PATH: the checks of the project cannot pass, and nothing here is proved by them.")
	}
	fmt.Fprintf(r.out, "\n> %s\n\n", demoRequest)
	t.brain.Emit = func(e brain.Event) {
		if line := eventLine(e); line != "" {
			fmt.Fprintln(r.out, clip(line, 150))
		}
	}
	report, err := t.brain.Run(ctx, demoRequest, 0)
	if err != nil {
		return errors.Join(ctx.Err(), err)
	}
	if err := t.derive(ctx); err != nil {
		return explain(err)
	}
	fmt.Fprintf(r.out, "\n%s\n\n", strings.TrimSpace(report.Summary))
	ended := teamReport{Type: "report", Session: t.main.Session().String(), FinalReport: report}
	for _, line := range ended.lines() {
		fmt.Fprintln(r.out, line)
	}
	return r.tree(t)
}

// tree draws the contexts of the run with what each of them sent.
func (r *demoRun) tree(t *team) error {
	calls, err := t.calls()
	if err != nil {
		return err
	}
	fmt.Fprint(r.out, "\nThe contexts: the Brain's, and below it one for each agent. No agent sees another's.\n\n")
	w := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "session\tagent\tmodel\tcalls\tfirst prompt\tlargest\tsent\tfrom cache\tanswers\tcost\t")
	rows := contexts(calls)
	total := usage.All(calls)
	for i := range rows {
		rows[i].write(w)
	}
	fmt.Fprintf(w, "\tall\t\t%d\t\t\t%d\t%.0f%%\t%d\t$%.4f\t\n", total.Calls, total.Input+total.CacheRead+total.CacheWrite, 100*total.Cached(), total.Output, total.Cost)
	return w.Flush()
}

// A contextRow is one agent's context.
type contextRow struct {
	first   usage.Call
	largest int64
	usage.Totals
}

// contexts are the agents' contexts, in the order in which they began.
func contexts(calls []usage.Call) (rows []contextRow) {
	at := map[string]int{}
	for _, c := range calls {
		n, ok := at[c.Task]
		if !ok {
			n = len(rows)
			at[c.Task] = n
			rows = append(rows, contextRow{first: c})
		}
		row := &rows[n]
		row.largest = max(row.largest, c.Usage.Prompt())
		row.Add(&c)
	}
	return rows
}

func (c *contextRow) write(w io.Writer) {
	prompts := c.Input + c.CacheRead + c.CacheWrite
	fmt.Fprintf(w, "%v\t%s (%s)\t%s\t%d\t%d\t%d\t%d\t%.0f%%\t%d\t$%.4f\t\n",
		c.first.Session, c.first.Role, c.first.Phase, c.first.Model, c.Calls, c.first.Usage.Prompt(), c.largest, prompts, 100*c.Cached(), c.Output, c.Cost)
}

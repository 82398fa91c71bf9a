package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/quire-agent/quire/internal/config"
	"github.com/quire-agent/quire/internal/permit"
	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/quire-agent/quire/internal/store/sqlite"
	"github.com/quire-agent/quire/internal/taskset"
	"github.com/quire-agent/quire/internal/token"
	"github.com/spf13/cobra"
)

// The policies under which tasks are run.
const (
	tasksAppend = "append" // everything stays
	tasksQuire  = "quire"  // the scheduler, in a window that the task outgrows
	tasksNone   = "none"   // nothing old stands, and nothing can be read back
)

func taskPolicies() []string { return []string{tasksAppend, tasksQuire, tasksNone} }

// The window of the policy "quire", so small that the longer tasks outgrow it
// whatever window the model has, and most calls of one turn.
const (
	tasksWindow = 16_000
	tasksRounds = 300
)

// A tasksRun is one `quire eval tasks`.
type tasksRun struct {
	*invocation
	settings *config.Settings
	policies []string
	names    []string
	seed     uint64
	keep     bool
	asJSON   bool
	scripted bool // no model was named
	counter  *token.Counter

	mu       sync.Mutex
	verdicts map[[32]byte]taskset.Verdict // of projects that were checked
}

func (inv *invocation) evalTasksCommand() *cobra.Command {
	r := &tasksRun{invocation: inv}
	cmd := &cobra.Command{
		Use:   "tasks",
		Short: "Run small tasks that need facts from long ago, and check what came of them",
		Long: `Run the agent on small tasks in temporary folders: each turns on a fact that comes
up once, early, and is asked for after 1, 10 or 100 calls or after another task. A
check, which is a program, tells whether the task is solved. Facts are made of the
seed; equal seeds give all policies the same facts.

The policies: append sends everything. quire is the scheduler of quire run in a window
of ` + fmt.Sprint(tasksWindow) + ` tokens, which longer tasks outgrow. none sends the user's newest message
and the newest answer with its results, without the tool for reading back: what is
solved under it needs no memory.

Without --model a script plays the model behind a simulated provider: it writes a fact
only where it stands in the prompt that it is sent, and recalls it where it does not.
With --model PROVIDER/MODEL the same is done for real, and costs money. The agent may
do anything that quire run --permit full may. Pauses of the user are those of a clock
that is moved by hand: the cache of a real provider knows nothing of them.

A task whose check needs a program that is not there (go, python3, node, sh) is left
out and counted. Faults are recalls: how often the model read back what had left its
prompt.`,
		Example: "  quire eval tasks\n  quire eval tasks --task go-port --policy quire --json\n  quire eval tasks --model anthropic/claude-sonnet-5-5",
		Args:    exactly(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return r.do(cmd) },
	}
	f := cmd.Flags()
	f.StringSliceVar(&r.policies, "policy", taskPolicies(), "run under `POLICY`: append, quire or none; may be given more than once")
	f.StringSliceVar(&r.names, "task", nil, "run only the task `NAME`; may be given more than once")
	f.Uint64Var(&r.seed, "seed", 1, "make the facts of seed `N`")
	f.BoolVar(&r.keep, "keep", false, "leave projects and sessions where they are, and say where")
	f.BoolVar(&r.asJSON, "json", false, "write all figures as one JSON object")
	bind(f, string(config.Model), string(config.ModelURL), string(config.Prices))
	return cmd
}

func (r *tasksRun) do(cmd *cobra.Command) (err error) {
	tasks, err := r.chosenTasks()
	if err != nil {
		return err
	}
	for _, p := range r.policies {
		if !slices.Contains(taskPolicies(), p) {
			return unusable(fmt.Errorf("%q is not a policy for tasks", p), "use append, quire or none")
		}
	}
	if r.settings, err = r.invocation.settings(cmd); err != nil {
		return err
	}
	r.scripted = !cmd.Flags().Changed("model")
	if r.counter, err = token.NewCounter(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "quire-tasks-")
	if err != nil {
		return failure(err, "make a folder for temporary files, or name one with TMPDIR")
	}
	if r.keep {
		fmt.Fprintf(r.err, "quire: projects and sessions are in %s\n", dir)
	} else {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	found, err := r.all(cmd.Context(), tasks, dir)
	if err != nil {
		return err
	}
	if r.asJSON {
		return writeJSON(r.out, found)
	}
	return writeTasks(r.out, found)
}

func (r *tasksRun) chosenTasks() ([]*taskset.Task, error) {
	all, err := taskset.All()
	if err != nil || len(r.names) == 0 {
		return all, err
	}
	for _, name := range r.names {
		if !slices.ContainsFunc(all, func(t *taskset.Task) bool { return t.Name == name }) {
			return nil, unusable(fmt.Errorf("there is no task %q", name), "`quire eval tasks --policy none` lists them all")
		}
	}
	return slices.DeleteFunc(all, func(t *taskset.Task) bool { return !slices.Contains(r.names, t.Name) }), nil
}

// all runs each task under each policy.
func (r *tasksRun) all(ctx context.Context, tasks []*taskset.Task, dir string) (*taskFindings, error) {
	r.verdicts = map[[32]byte]taskset.Verdict{}
	found := &taskFindings{Seed: r.seed, Model: r.modelName(), Runs: make([]taskResult, len(tasks)*len(r.policies))}
	p := r.progress("running", len(found.Runs))
	err := atOnceOf(2*runtime.GOMAXPROCS(0), len(found.Runs), func(i int) (err error) {
		t, policy := tasks[i/len(r.policies)], r.policies[i%len(r.policies)]
		found.Runs[i], err = r.one(ctx, t.With(r.seed), policy, filepath.Join(dir, t.Name+"-"+policy))
		p.step()
		return err
	})
	p.end()
	found.add(r.policies)
	return found, err
}

func (r *tasksRun) modelName() string {
	if r.scripted {
		return scripted
	}
	return r.settings.Name(config.Model)
}

// one runs a task under a policy and checks what came of it.
func (r *tasksRun) one(ctx context.Context, in *taskset.Instance, policy, dir string) (taskResult, error) {
	res := taskResult{Task: in.Name, Title: in.Title, Lang: in.Lang, Policy: policy, Missing: in.Missing()}
	if res.Missing != "" {
		return res, nil
	}
	project := filepath.Join(dir, "project")
	if err := in.LayOut(project); err != nil {
		return res, err
	}
	if err := r.work(ctx, in, &res, dir, project); err != nil {
		return res, err
	}
	v, err := r.judge(ctx, in, project)
	res.Solved = v.Solved
	if !v.Solved {
		res.Check = clip(r.mask(v.Output), 400)
	}
	return res, err
}

// judge checks a project, once where others like it were checked.
func (r *tasksRun) judge(ctx context.Context, in *taskset.Instance, project string) (taskset.Verdict, error) {
	like, err := in.Fingerprint(project)
	if err != nil {
		return taskset.Verdict{}, err
	}
	r.mu.Lock()
	v, known := r.verdicts[like]
	r.mu.Unlock()
	if known {
		return v, nil
	}
	inv := r.building()
	if v, err = in.Judge(ctx, project, inv.commandEnv()); err == nil {
		r.mu.Lock()
		r.verdicts[like] = v
		r.mu.Unlock()
	}
	return v, err
}

// building is the invocation with what compilers need to work without a network.
func (r *tasksRun) building() *invocation {
	inv := *r.invocation
	inv.env = inv.env.with("CGO_ENABLED=0", "GOFLAGS=-trimpath", "GOTOOLCHAIN=local", "GOPROXY=off", "GOWORK=off", "PYTHONDONTWRITEBYTECODE=1")
	return &inv
}

// work has the agent do the task.
func (r *tasksRun) work(ctx context.Context, in *taskset.Instance, res *taskResult, dir, project string) (err error) {
	h, err := r.homeAt(ctx, filepath.Join(dir, "home"), sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { err = h.close(err) }()
	h.pool.Counter = r.counter
	w := &taskWorker{result: res, clock: newTaskClock()}
	m, terms, stop, err := r.model(ctx, h, in, w)
	if err != nil {
		return err
	}
	defer stop()
	if res.Policy == tasksNone {
		m.Model = taskset.Forgetful(m.Model, run.RecallName)
	}
	terms = underPolicy(terms, res.Policy)
	m.output = min(m.output, tasksWindow/answerShare)
	if w.agent, err = newAgent(agentParts{inv: r.building(), home: h, dir: project, model: m, terms: terms, mode: permit.Full, now: w.clock.Now}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.agent.close()) }()
	if err := w.agent.begin(ctx); err != nil {
		return err
	}
	w.agent.loop.Rounds, w.agent.loop.Emit = tasksRounds, w.event
	return in.Play(ctx, project, w, w.clock)
}

// underPolicy are the terms of a context that is kept by a policy. Where nothing
// is bounded and no kind of block may be lowered, a prompt is only appended to.
func underPolicy(t run.Terms, policy string) run.Terms {
	if policy == tasksQuire {
		t.Terms.Window, t.Settings.Budget = tasksWindow, tasksWindow
		return t
	}
	t.Terms.Window, t.Settings.Budget = 0, 0
	for k := schedule.KindSource; k <= schedule.KindMedia; k++ {
		t.Settings.Spared = append(t.Settings.Spared, k)
	}
	return t
}

// A taskWorker is the agent as a task sees it. It counts.
type taskWorker struct {
	agent  *agent
	clock  *taskClock
	result *taskResult
	price  *price.Model // nil: not known
}

// Turn is that of [taskset.Agent]. A model that gives up, fails or runs into a
// limit has not done the task, which is for the check to say; the talk goes on.
func (w *taskWorker) Turn(ctx context.Context, words string) error {
	out, err := w.agent.turn(ctx, words)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil && out.Stop != run.StopDone {
		w.result.Stops = append(w.result.Stops, string(out.Stop))
		if out.Err != nil {
			w.result.Stops = append(w.result.Stops, w.agent.inv.mask(out.Err.Error()))
		}
	}
	return err
}

func (w *taskWorker) event(e run.Event) {
	switch e := e.(type) {
	case run.Planned:
		if e.Plan.Kind != "" {
			w.result.Epochs++
		}
		w.result.Peak = max(w.result.Peak, e.Prompt)
	case run.Answered:
		w.result.Calls++
		w.pay(e.Reply.Usage)
	case run.Acted:
		if e.Call.Tool == run.RecallName {
			w.result.Faults++
		}
	}
}

// pay adds the price of a call as its provider reported it.
func (w *taskWorker) pay(u quire.Usage) {
	w.result.Prompt += u.Prompt()
	if w.price == nil {
		return
	}
	if w.result.Cost == nil {
		w.result.Cost = new(float64)
	}
	*w.result.Cost += w.price.Cost(u, w.clock.at())
}

// A taskClock is moved by hand; asking for the time lets a second pass.
type taskClock struct{ demoClock }

func newTaskClock() *taskClock {
	c := &taskClock{}
	c.demoClock.at = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	return c
}

// Pass lets time pass.
func (c *taskClock) Pass(d time.Duration) { c.pass(d) }

func (c *taskClock) at() time.Time { return c.pass(0) }

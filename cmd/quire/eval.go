package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/quire-agent/quire/internal/config"
	"github.com/quire-agent/quire/internal/eval"
	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/replay"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/quire-agent/quire/internal/token"
	"github.com/quire-agent/quire/internal/trace"
	"github.com/spf13/cobra"
)

// An evalRun is one `quire eval`.
type evalRun struct {
	*invocation
	corpus   string
	profiles []string
	policy   string
	dump     string
	file     string // to write to
	joined   bool   // also replay the endless folder as one session
	cross    bool   // decide each session by a table that was fitted without it
	budget   int
	asJSON   bool
}

func (inv *invocation) evalCommand() *cobra.Command {
	run := &evalRun{invocation: inv}
	cmd := &cobra.Command{
		Use:   "eval --corpus DIR",
		Short: "Measure context policies on a folder of recorded sessions",
		Long: `Replay recorded sessions through context policies and show what each would have
cost, relative to sending everything (in a session by itself) or to compaction
(in the sessions of the folder "endless", replayed as one that never ends), and
what each would have missed. No model is called: the number of calls is the
recorded one, and text that a call used but a policy had removed is charged as
an extra call.

The policies of Quire decide by the table that is shipped, which was fitted on
recorded sessions too. With --crossvalidate each session is decided by a table that
was fitted on the other half of DIR, the endless one by what was fitted on all
others: those are the figures to be believed.

A folder directly below DIR, or below DIR/bench, is a group. --dump writes the
exact prompts that one policy sent, one JSON line a call, in a file named like the
session's, so that anyone can recompute the figures; they are not masked. A policy
that drops little writes tens of gigabytes for an endless session: --endless=false
leaves that one out.`,
		Example: "  quire eval --corpus sessions\n  quire eval --corpus sessions --profile claude --json\n  quire eval --corpus sessions --policy cold-idle-5 --dump prompts",
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := inv.settings(cmd)
			if err != nil {
				return err
			}
			run.budget = s.Int(config.Budget)
			return run.do(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVar(&run.corpus, "corpus", "", "folder of recorded sessions (required)")
	f.StringSliceVar(&run.profiles, "profile", nil, "price profiles to use; all without it: "+strings.Join(profileNames(), ", "))
	f.StringVar(&run.policy, "policy", "", "with --dump: the policy whose prompts are written")
	f.StringVar(&run.dump, "dump", "", "folder to write the prompts of --policy to, one file a session")
	f.BoolVar(&run.joined, "endless", true, "also replay the sessions of the folder endless as one; --endless=false does not")
	f.BoolVar(&run.cross, "crossvalidate", false, "decide each session by a table that was fitted without it")
	f.BoolVar(&run.asJSON, "json", false, "write all figures as one JSON object")
	bind(f, string(config.Budget))
	cmd.AddCommand(inv.evalRecallCommand(), inv.evalFitCommand(), inv.evalAblationCommand(), inv.evalCurveCommand(), inv.evalTasksCommand(), inv.evalProbesCommand())
	return cmd
}

func profileNames() []string {
	var names []string
	for _, p := range price.Profiles() {
		names = append(names, p.Name)
	}
	return names
}

func (r *evalRun) do(ctx context.Context) error {
	profiles, err := r.chosen()
	if err != nil {
		return err
	}
	if r.corpus == "" {
		return errNoCorpus()
	}
	if (r.policy == "") != (r.dump == "") {
		return unusable(fmt.Errorf("--policy and --dump go together"), "`quire help eval` shows how")
	}
	logs, err := r.logs()
	if err != nil {
		return err
	}
	counter, err := token.NewCounter()
	if err != nil {
		return err
	}
	load := recording.Loader{Counter: counter}
	if r.dump != "" {
		return r.dumpAll(ctx, &load, logs, profiles[0])
	}
	return r.measure(ctx, &load, logs, profiles)
}

func errNoCorpus() error {
	return unusable(fmt.Errorf("quire eval needs --corpus DIR"), "name a folder with recorded sessions; `quire audit` needs none")
}

// chosen are the profiles named, in the order of the table.
func (r *evalRun) chosen() ([]price.Profile, error) {
	for _, name := range r.profiles {
		if _, ok := price.ProfileByName(name); !ok {
			return nil, unusable(fmt.Errorf("%q is not a price profile", name), "there are "+strings.Join(profileNames(), ", "))
		}
	}
	return slices.DeleteFunc(price.Profiles(), func(p price.Profile) bool {
		return len(r.profiles) > 0 && !slices.Contains(r.profiles, p.Name)
	}), nil
}

// logs lists the sessions of the corpus in the order of their paths and says
// what is not one.
func (r *evalRun) logs() ([]*trace.Log, error) {
	var logs []*trace.Log
	for found, err := range trace.Walk([]string{r.corpus}) {
		var in []*trace.Log
		if err == nil {
			in, err = trace.Open(found.Path)
		}
		if err != nil {
			fmt.Fprintf(r.err, "quire: passed over: %s\n", r.mask(err.Error()))
		}
		logs = append(logs, in...)
	}
	if len(logs) == 0 {
		return nil, unusable(fmt.Errorf("no recorded session in %s", r.corpus), "name a folder with logs that `quire audit` reads")
	}
	return logs, nil
}

// endless picks the logs below the folder that is also replayed as one session.
func (r *evalRun) endless(logs []*trace.Log) []*trace.Log {
	if !r.joined {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(logs), func(l *trace.Log) bool {
		rel, err := filepath.Rel(r.corpus, l.Path)
		return err != nil || !strings.HasPrefix(filepath.ToSlash(rel), "endless/")
	})
}

// load reads the logs, as many at a time as there are processors, and returns
// the sessions in their order.
func (r *evalRun) load(ctx context.Context, load *recording.Loader, logs []*trace.Log) ([]*recording.Session, error) {
	sessions := make([]*recording.Session, len(logs))
	p := r.progress("reading", len(logs))
	err := inParallel(len(logs), func(i int) error {
		s, err := load.Load(ctx, logs[i])
		sessions[i] = s
		p.step()
		return err
	})
	p.end()
	return sessions, err
}

func (r *evalRun) measure(ctx context.Context, load *recording.Loader, logs []*trace.Log, profiles []price.Profile) error {
	return r.study(ctx, load, logs, func(st *eval.Study) error {
		st.Profiles = profiles
		tables, version, err := r.tables(st)
		if err != nil {
			return err
		}
		st.Policies, st.Held = allPolicies(tables), []replay.Policy{replay.Held(tables)}
		p := r.progress("replaying", len(st.Sessions))
		st.Progress = func(int) { p.step() }
		found, err := st.Run(ctx)
		p.end()
		if err != nil {
			return err
		}
		found.Table = version
		found.Machine["go"], found.Machine["platform"] = runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH
		if r.asJSON {
			return writeJSON(r.out, found)
		}
		return writeFindings(r.out, found, profiles)
	})
}

// study reads the logs and hands what is common to all studies of them to do.
func (r *evalRun) study(ctx context.Context, load *recording.Loader, logs []*trace.Log, do func(*eval.Study) error) (err error) {
	sessions, err := r.load(ctx, load, logs)
	defer closeAll(sessions, &err)
	if err != nil {
		return err
	}
	st := eval.Study{Root: r.corpus, Sessions: sessions, Budget: r.budget, Workers: runtime.GOMAXPROCS(0), Now: time.Now}
	if joined := r.endless(logs); len(joined) > 0 {
		if st.Endless, err = load.Join(ctx, joined); err != nil {
			return err
		}
		defer closing(st.Endless, &err)
	}
	return do(&st)
}

// tables picks the tables by which the policies of Quire decide, and names their
// version.
func (r *evalRun) tables(st *eval.Study) (replay.Tables, string, error) {
	if r.cross {
		c, err := eval.NewCrossfit(st.Root, st.Sessions, st.Endless, st.Workers)
		if err != nil {
			return nil, "", unusable(err, "leave --crossvalidate out, or add --endless=false")
		}
		return c.Validating(), eval.CrossValidated, nil
	}
	t, err := schedule.Default()
	if err != nil {
		return nil, "", err
	}
	return replay.Always(t), t.Version, nil
}

// allPolicies are the baselines and ours, whose calls are made as live ones are.
func allPolicies(tables replay.Tables) func(int) []replay.Policy {
	return func(budget int) []replay.Policy {
		return append(replay.Baselines(budget), replay.Assembled(replay.Ours(tables))...)
	}
}

// closeAll closes sessions, of which some may be nil, as closing does.
func closeAll(sessions []*recording.Session, err *error) {
	for _, s := range sessions {
		if s != nil {
			closing(s, err)
		}
	}
}

// closing closes c at the end of a function whose error is err, and reports what
// goes wrong unless something else did before.
func closing(c io.Closer, err *error) {
	if e := c.Close(); *err == nil {
		*err = e
	}
}

// dumpAll writes the prompts of one policy: of each session by itself, and of
// the joined ones. A policy that differs from another only over several sessions
// is written for the joined ones only.
func (r *evalRun) dumpAll(ctx context.Context, load *recording.Loader, logs []*trace.Log, profile price.Profile) error {
	if err := os.MkdirAll(r.dump, 0o700); err != nil {
		return failure(fmt.Errorf("make the folder of the prompts: %w", err), "choose another folder for --dump")
	}
	names := dumpNames(logs)
	for i, log := range logs {
		if r.policy == "fresh" {
			break
		}
		if err := r.dumpOne(ctx, load, []*trace.Log{log}, names[i], profile, replay.SingleBudget); err != nil {
			return err
		}
	}
	if joined := r.endless(logs); len(joined) > 0 {
		return r.dumpOne(ctx, load, joined, "endless.jsonl", profile, replay.EndlessBudget)
	}
	return nil
}

// dumpNames names the file of each log: that of the log, with .jsonl behind it
// unless it ends so. Of several logs of one name, and of several sessions in
// one file, the later ones are numbered.
func dumpNames(logs []*trace.Log) []string {
	names := make([]string, len(logs))
	used := map[string]int{}
	for i, log := range logs {
		name := strings.TrimSuffix(filepath.Base(log.Path), ".jsonl")
		used[name]++
		if n := used[name]; n > 1 {
			name = fmt.Sprintf("%s~%d", name, n)
		}
		names[i] = name + ".jsonl"
	}
	return names
}

func (r *evalRun) dumpOne(ctx context.Context, load *recording.Loader, logs []*trace.Log, name string, profile price.Profile, budget int) (err error) {
	if r.budget > 0 {
		budget = r.budget
	}
	table, err := schedule.Default()
	if err != nil {
		return err
	}
	policies := allPolicies(replay.Always(table))(budget)
	i := slices.IndexFunc(policies, func(p replay.Policy) bool { return p.Name == r.policy || p.Kind == r.policy })
	if i < 0 {
		return unusable(fmt.Errorf("%q is not a policy", r.policy), "there are "+strings.Join(policyNames(policies), ", "))
	}
	s, err := load.Join(ctx, logs)
	if err != nil {
		return err
	}
	defer closing(s, &err)
	f, err := os.OpenFile(filepath.Join(r.dump, name), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write prompts: %w", err)
	}
	defer closing(f, &err)
	return replay.Dump(f, s, policies[i], replay.UnderProfile(s, profile, budget))
}

func policyNames(policies []replay.Policy) []string {
	var names []string
	for _, p := range policies {
		names = append(names, p.Name)
	}
	return names
}

// writeFindings writes the main figures as tables.
func writeFindings(w io.Writer, f *eval.Findings, profiles []price.Profile) error {
	for _, p := range profiles {
		found := f.Profiles[p.Name]
		for _, group := range sortedKeys(found.Single) {
			fmt.Fprintf(w, "%s, %s: cost relative to append\n", p.Name, group)
			if err := writeMeasures(w, found.Single[group]); err != nil {
				return err
			}
		}
		if found.Endless != nil {
			fmt.Fprintf(w, "%s, endless: cost relative to compact\n", p.Name)
			if err := writeMeasures(w, found.Endless); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeMeasures(w io.Writer, by map[string]eval.Measures) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "policy\tcost\tworst\tdearer\tfaults/call\twide\tedits\tre-reads\tmean prompt\tepochs/100\t")
	for _, name := range sortedKeys(by) {
		m := by[name]
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%.4f\t%.4f\t%s\t%s\t%.0f\t%.1f\t\n", name, ratio(m.CostRatio), ratio(m.WorstRatio), m.Dearer,
			m.Faults, m.FaultsWide, ratio(m.EditCoverage), ratio(m.Served), m.MeanPrompt, m.Epochs)
	}
	fmt.Fprintln(t)
	for _, name := range sortedKeys(by) {
		if m := by[name]; m.Refused > 0 {
			fmt.Fprintf(t, "%s: %d calls could not have been made; the first: %s\n", name, m.Refused, m.Refusal)
		}
	}
	return t.Flush()
}

func ratio(r *float64) string {
	if r == nil {
		return "–"
	}
	return fmt.Sprintf("%.3f", *r)
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

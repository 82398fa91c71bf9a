package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/quire-agent/quire/internal/eval"
	"github.com/quire-agent/quire/internal/replay"
	"github.com/quire-agent/quire/internal/report"
	"github.com/spf13/cobra"
)

func (inv *invocation) evalAblationCommand() *cobra.Command {
	run := &evalRun{invocation: inv}
	cmd := &cobra.Command{
		Use:   "ablation --corpus DIR",
		Short: "Show what each ingredient of the scheduler is worth",
		Long: `Replay recorded sessions through the policy of Quire with one ingredient taken out
at a time, and write a table in Markdown: cost relative to sending everything, in the
endless session relative to compaction, and strict faults a call. Each session is
decided by a table that was fitted without it (quire eval --crossvalidate).`,
		Example: "  quire eval ablation --corpus sessions",
		Args:    exactly(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return run.ablation(cmd.Context()) },
	}
	run.studyFlags(cmd)
	cmd.Flags().BoolVar(&run.joined, "endless", true, "also replay the sessions of the folder endless as one; --endless=false does not")
	return cmd
}

func (inv *invocation) evalCurveCommand() *cobra.Command {
	run := &evalRun{invocation: inv}
	group := ""
	cmd := &cobra.Command{
		Use:   "curve --corpus DIR",
		Short: "Show the trade of cost against faults",
		Long: `Replay recorded sessions through the policies of Quire at several weights of a fault
(care) and beside them the baselines, and write cost and strict faults a call in
Markdown; with --svg also as a picture. Each session is decided by a table that was
fitted without it (quire eval --crossvalidate).`,
		Example: "  quire eval curve --corpus sessions --svg curve.svg",
		Args:    exactly(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return run.curve(cmd.Context(), group) },
	}
	run.studyFlags(cmd)
	cmd.Flags().StringVar(&group, "group", "all", "group of the corpus that is shown")
	cmd.Flags().StringVar(&run.file, "svg", "", "file to write the picture to")
	return cmd
}

func (r *evalRun) studyFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.corpus, "corpus", "", "folder of recorded sessions (required)")
	cmd.Flags().StringSliceVar(&r.profiles, "profile", []string{"claude"}, "price profile to use")
}

// compared replays policies that a cross-validated table decides under one
// profile.
func (r *evalRun) compared(ctx context.Context, policies func(c *eval.Crossfit, budget int) []replay.Policy, show func(eval.ProfileFindings) error) error {
	profiles, err := r.chosen()
	if err != nil {
		return err
	}
	return r.studied(ctx, func(st *eval.Study) error {
		c, err := eval.NewCrossfit(st.Root, st.Sessions, st.Endless, st.Workers)
		if err != nil {
			return unusable(err, "add --endless=false")
		}
		st.Profiles = profiles[:1]
		st.Policies = func(budget int) []replay.Policy { return policies(c, budget) }
		found, err := st.Compare(ctx)
		if err != nil {
			return err
		}
		return show(found[profiles[0].Name])
	})
}

func (r *evalRun) ablation(ctx context.Context) error {
	var rows []eval.Variant // the same for all who ask, and several ask at once
	var once sync.Once
	policies := func(c *eval.Crossfit, budget int) []replay.Policy {
		variants := eval.Ablation(c)
		once.Do(func() { rows = variants })
		all := replay.Baselines(budget)[:2]
		for _, v := range variants {
			all = append(all, v.Policy)
		}
		return all
	}
	return r.compared(ctx, policies, func(f eval.ProfileFindings) error {
		fmt.Fprintln(r.out, "| | all: cost | faults | E50: cost | faults | edits | bench: cost | faults | endless: cost | faults | net tokens |")
		fmt.Fprintln(r.out, "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
		for _, v := range rows {
			all, e50, bench, endless := f.Single["all"][v.Policy.Name], f.Single["e50"][v.Policy.Name], f.Single["bench"][v.Policy.Name], f.Endless[v.Policy.Name]
			fmt.Fprintf(r.out, "| %s | %s | %.4f | %s | %.4f | %s | %s | %.4f | %s | %.4f | %.0f |\n", v.Title(),
				ratio(all.CostRatio), all.Faults, ratio(e50.CostRatio), e50.Faults, ratio(e50.EditCoverage),
				ratio(bench.CostRatio), bench.Faults, ratio(endless.CostRatio), endless.Faults, endless.MeanPromptNet)
		}
		return nil
	})
}

func (r *evalRun) curve(ctx context.Context, group string) error {
	policies := func(c *eval.Crossfit, budget int) []replay.Policy {
		tables := c.Validating()
		return append(append(replay.Baselines(budget), eval.Curve(tables, false)...), eval.Curve(tables, true)...)
	}
	return r.compared(ctx, policies, func(f eval.ProfileFindings) error {
		by, ok := f.Single[group]
		if !ok {
			return unusable(fmt.Errorf("the corpus has no group %q", group), "a group is a folder in it; all is always one")
		}
		writePoints(r, by)
		if r.file == "" {
			return nil
		}
		var page bytes.Buffer
		if err := report.Curve(&page, lines(by)); err != nil {
			return err
		}
		if err := os.WriteFile(r.file, page.Bytes(), 0o644); err != nil {
			return failure(fmt.Errorf("write the picture: %w", err), "choose another file for --svg")
		}
		return nil
	})
}

func writePoints(r *evalRun, by map[string]eval.Measures) {
	fmt.Fprintln(r.out, "| policy | cost | strict faults a call | edits | worst | dearer |")
	fmt.Fprintln(r.out, "|---|--:|--:|--:|--:|--:|")
	for _, l := range lines(by) {
		for _, p := range l.Dots {
			m := by[p.Name]
			fmt.Fprintf(r.out, "| %s | %s | %.4f | %s | %s | %d |\n", p.Name, ratio(m.CostRatio), m.Faults, ratio(m.EditCoverage), ratio(m.WorstRatio), m.Dearer)
		}
	}
}

// lines are the two curves and, each by itself, the baselines.
func lines(by map[string]eval.Measures) []report.Line {
	line := func(name string, policies []replay.Policy) report.Line {
		l := report.Line{Name: name}
		for _, p := range policies {
			if m, ok := by[p.Name]; ok && m.CostRatio != nil {
				l.Dots = append(l.Dots, report.Dot{Name: p.Name, Faults: m.Faults, Cost: *m.CostRatio})
			}
		}
		return l
	}
	none := replay.Always(nil) // only the names are asked for
	return []report.Line{
		line("quire", eval.Curve(none, false)), line("quire-paid", eval.Curve(none, true)),
		line("", replay.Baselines(replay.SingleBudget)),
	}
}

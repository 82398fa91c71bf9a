package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/quire-agent/quire/internal/ingest"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/undo"
	"github.com/quire-agent/quire/internal/x/fence"
	"github.com/spf13/cobra"
)

// An restoreRun is one `quire undo`.
type restoreRun struct {
	*invocation
	all    bool
	dry    bool
	asJSON bool
}

// An restoreReport is what `quire undo` did, or would do.
type restoreReport struct {
	Session   string          `json:"session"`
	Project   string          `json:"project"`
	DryRun    bool            `json:"dry_run"`
	Restored  []string        `json:"restored"`
	Conflicts []undo.Conflict `json:"conflicts"`
	Gaps      []undo.Conflict `json:"gaps"` // what the runs changed that nobody kept
}

func (inv *invocation) undoCommand() *cobra.Command {
	r := &restoreRun{invocation: inv}
	cmd := &cobra.Command{
		Use:   "undo [SESSION]",
		Short: "Put back what a run changed",
		Long: `Put back what the last run of a session changed in its project: exactly that. Without
SESSION it is the newest session of this project. Done again, it goes one run further
back; --all puts back what all runs of the session changed.

What somebody else changed since is left as it is, and named. Old versions of files are
kept in the pool as long as the session is. The model is told at the next run.`,
		Example: `  quire undo --dry-run
  quire undo s7 --all`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return r.do(cmd, args) },
	}
	f := cmd.Flags()
	f.BoolVar(&r.all, "all", false, "put back what all runs of the session changed")
	f.BoolVar(&r.dry, "dry-run", false, "say what would be done, and do nothing")
	f.BoolVar(&r.asJSON, "json", false, "write what was done as one JSON object")
	return cmd
}

func (r *restoreRun) do(cmd *cobra.Command, args []string) (err error) {
	h, err := r.openHome(cmd)
	if err != nil {
		return err
	}
	defer func() { err = h.close(err) }()
	name, err := r.named(h, args)
	if err != nil {
		return err
	}
	var done deeds
	live, err := h.pool.Resume(cmd.Context(), name, ingest.Resumer{Event: func(quire.Event) error { return nil }, Record: done.record})
	if err != nil {
		return resumable(err)
	}
	defer func() { err = errors.Join(err, live.Close()) }()
	head, err := journal.Head(name.Path)
	if err != nil {
		return err
	}
	return r.undo(cmd.Context(), h, live, head.Info.Project, done.due(r.all))
}

func (r *restoreRun) named(h *home, args []string) (journal.Name, error) {
	if len(args) == 1 {
		return h.session(args[0])
	}
	dir, err := filepath.EvalSymlinks(r.app.dir)
	if err != nil {
		return journal.Name{}, err
	}
	return h.newestOf(dir)
}

// deeds are what the runs of a session changed and what was not put back since, in
// the order in which they did it.
type deeds struct{ effects []run.EffectRecord }

func (d *deeds) record(r quire.Record) error {
	switch r.Type {
	case quire.RecordEffect:
		e, err := journal.Decode[run.EffectRecord](r)
		if len(e.Changes)+len(e.Gaps) > 0 {
			d.effects = append(d.effects, e)
		}
		return err
	case quire.RecordUndone:
		u, err := journal.Decode[run.UndoneRecord](r)
		for _, turn := range u.Turns {
			d.effects = slices.DeleteFunc(d.effects, func(e run.EffectRecord) bool { return e.Turn == turn })
		}
		return err
	}
	return nil
}

// due are the effects that are to be put back: those of the last turn that has
// some, or all.
func (d *deeds) due(all bool) []run.EffectRecord {
	if n := len(d.effects); n > 0 && !all {
		last := d.effects[n-1].Turn
		return slices.DeleteFunc(slices.Clone(d.effects), func(e run.EffectRecord) bool { return e.Turn != last })
	}
	return d.effects
}

func (r *restoreRun) undo(ctx context.Context, h *home, live *ingest.Live, project string, due []run.EffectRecord) (err error) {
	report := restoreReport{Session: live.Name().Number.String(), Project: project, DryRun: r.dry, Restored: []string{}, Conflicts: []undo.Conflict{}, Gaps: []undo.Conflict{}}
	if len(due) == 0 {
		return r.say(&report)
	}
	f, err := fence.Open(project)
	if err != nil {
		return unusable(err, "the project has to be where it was")
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	got, err := r.restore(ctx, undo.New(f, h.pool.Bodies), due)
	report.Restored, report.Conflicts = append(report.Restored, got.Restored...), append(report.Conflicts, got.Conflicts...)
	for _, e := range due {
		report.Gaps = append(report.Gaps, e.Gaps...)
	}
	if !r.dry && len(got.Restored)+len(got.Conflicts) > 0 {
		// What was put back is noted whatever comes after it.
		err = errors.Join(err, note(context.WithoutCancel(ctx), live, due, got))
	}
	if err != nil {
		return err
	}
	return r.say(&report)
}

func (r *restoreRun) restore(ctx context.Context, t *undo.Tree, due []run.EffectRecord) (undo.Report, error) {
	var changes []undo.Change
	for _, e := range due {
		changes = append(changes, e.Changes...)
	}
	if r.dry {
		return t.Check(ctx, changes)
	}
	return t.Restore(ctx, changes)
}

// note records what was put back. As long as something is in the way a turn is not
// undone: doing it again puts back the rest.
func note(ctx context.Context, live *ingest.Live, due []run.EffectRecord, got undo.Report) error {
	u := run.UndoneRecord{Stamp: quire.Stamp{At: time.Now().Round(0)}, Turns: []int{}, Report: got}
	if len(got.Conflicts) == 0 {
		for _, e := range due {
			if !slices.Contains(u.Turns, e.Turn) {
				u.Turns = append(u.Turns, e.Turn)
			}
		}
	}
	if err := live.Record(quire.RecordUndone, u); err != nil {
		return err
	}
	return live.Sync(ctx)
}

// say writes the report. What is in the way is an error.
func (r *restoreRun) say(report *restoreReport) error {
	if r.asJSON {
		if err := writeJSON(r.out, report); err != nil {
			return err
		}
		return conflicts(report)
	}
	if len(report.Restored)+len(report.Conflicts)+len(report.Gaps) == 0 {
		fmt.Fprintf(r.out, "%s has changed nothing that is still to be put back.\n", report.Session)
		return nil
	}
	did := "put back"
	if report.DryRun {
		did = "would put back"
	}
	for _, p := range report.Restored {
		fmt.Fprintf(r.out, "%s %s\n", did, r.mask(p))
	}
	for _, c := range report.Conflicts {
		fmt.Fprintf(r.out, "left %s: %s\n", r.mask(c.Path), c.Reason)
	}
	for _, g := range report.Gaps {
		fmt.Fprintf(r.out, "not kept %s: %s\n", r.mask(g.Path), g.Reason)
	}
	return conflicts(report)
}

func conflicts(report *restoreReport) error {
	if n := len(report.Conflicts); n > 0 {
		return failure(fmt.Errorf("%d %s left as %s", n, plural(n, "path was", "paths were"), plural(n, "it is", "they are")), "put them right by hand, and undo again")
	}
	return nil
}

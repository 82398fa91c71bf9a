package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/quire-agent/quire/internal/ingest"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/store/sqlite"
	"github.com/spf13/cobra"
)

// A doctorReport is what `quire doctor` found, and did.
type doctorReport struct {
	Rebuilt *ingest.Derived `json:"rebuilt,omitempty"`
	ingest.Health
	Instructions []string `json:"instructions,omitempty"` // what could be better in the instruction files of the project
}

func (inv *invocation) doctorCommand() *cobra.Command {
	var rebuild, asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check everything that is kept; rebuild what can be",
		Long: `Check everything that is kept and change nothing: every line of every journal against
its checksum, every body against its hash, every body that a journal names, every
value of the page table and the index against its seal, and both against the
journals. What is damaged is named with its file, line and page, and the
exit code is 1. A session that is behind its journal, because an import was
interrupted, is named too, but it is not damaged.

What could be better in the instruction files of the project at hand is listed too:
sections that stand twice or were never matched in 30 sessions, paths that are gone.

Journals and bodies are the truth. With --rebuild the page table and the index are
deleted and made anew from them; then everything is checked.`,
		Example: `  quire doctor
  quire doctor --rebuild`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if rebuild {
				return inv.rebuild(cmd, asJSON)
			}
			return inv.examine(cmd, doctorReport{}, asJSON)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&rebuild, "rebuild", false, "make page table and index anew from journals and bodies")
	f.BoolVar(&asJSON, "json", false, "write what was found as one JSON object")
	return cmd
}

// rebuild makes everything that is derived anew.
func (inv *invocation) rebuild(cmd *cobra.Command, asJSON bool) (err error) {
	dir, err := inv.homeDir(cmd)
	if err != nil {
		return err
	}
	if !exists(dir) {
		return nothingKept()
	}
	lock, err := journal.LockHome(dir)
	if err != nil {
		return explain(err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := sqlite.RemovePool(dir); err != nil {
		return err
	}
	h, err := inv.openHome(cmd)
	if err != nil {
		return err
	}
	done, err := inv.deriveAll(cmd.Context(), h)
	if err := h.close(err); err != nil && !errors.Is(err, context.Canceled) && done == (ingest.Derived{}) {
		return err
	}
	return inv.examine(cmd, doctorReport{Rebuilt: &done}, asJSON)
}

func (inv *invocation) deriveAll(ctx context.Context, h *home) (ingest.Derived, error) {
	if err := h.counting(); err != nil {
		return ingest.Derived{}, err
	}
	names, err := journal.List(h.pool.Home)
	if err != nil {
		return ingest.Derived{}, err
	}
	p := inv.progress("indexing session", len(names))
	defer p.end()
	return h.pool.DeriveAll(ctx, names, func(journal.Name) { p.step() })
}

// examine checks and says what it found.
func (inv *invocation) examine(cmd *cobra.Command, report doctorReport, asJSON bool) (err error) {
	h, err := inv.openToCheck(cmd)
	if err != nil {
		return err
	}
	defer func() { err = h.close(err) }()
	if report.Health, err = h.pool.Check(cmd.Context()); err != nil {
		return err
	}
	h.structure(cmd.Context(), &report.Health)
	if report.Instructions, err = inv.reviewNorms(cmd.Context(), h); err != nil {
		return err
	}
	if asJSON {
		err = writeJSON(inv.out, report)
	} else {
		inv.writeHealth(report)
	}
	if n := len(report.Faults) - behindIn(report.Faults); err == nil && n > 0 {
		err = failure(fmt.Errorf("%d %s damaged", n, plural(n, "place is", "places are")), cure(report.Faults))
	}
	return err
}

// reviewNorms says what could be better in the instruction files of the project at
// hand, a line each. None of it is damage.
func (inv *invocation) reviewNorms(ctx context.Context, h *home) ([]string, error) {
	if err := h.counting(); err != nil {
		return nil, err
	}
	lines, err := inv.normsReport(ctx, h, inv.app.dir)
	for i := range lines {
		lines[i] = inv.mask(lines[i])
	}
	return lines, err
}

// structure adds what the files of the stores say of themselves. Faults of a
// derived part that is not there at all say one thing, so they are one.
func (h *home) structure(ctx context.Context, health *ingest.Health) {
	if h.derived == nil {
		if err := h.store.Check(ctx); err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				health.Faults = append(health.Faults, ingest.Fault{What: ingest.FaultFile, Path: h.pool.Home, Reason: line})
			}
		}
		return
	}
	kept := []ingest.Fault{}
	for _, f := range health.Faults {
		if f.What != ingest.FaultBehind {
			kept = append(kept, f)
		}
	}
	health.Faults = append(kept, ingest.Fault{What: ingest.FaultFile, Path: h.pool.Home, Reason: h.derived.Error()})
}

// behindIn counts the faults that are no damage: what was not derived yet.
func behindIn(faults []ingest.Fault) (n int) {
	for _, f := range faults {
		if f.What == ingest.FaultBehind {
			n++
		}
	}
	return n
}

// cure says what can be done about faults.
func cure(faults []ingest.Fault) string {
	for _, f := range faults {
		switch f.What {
		case ingest.FaultRow, ingest.FaultIndex, ingest.FaultBehind, ingest.FaultFile:
			return "`quire doctor --rebuild` makes page table and index anew; a damaged journal or body comes back from a backup only"
		}
	}
	return "journals and bodies come back from a backup only; the rest works on"
}

func (inv *invocation) writeHealth(r doctorReport) {
	if d := r.Rebuilt; d != nil {
		fmt.Fprintf(inv.out, "Made %d rows and %d entries of the index anew\n", d.Pages, d.Indexed)
	}
	fmt.Fprintf(inv.out, "%d %s with %d records, %d %s (%s), %d rows\n", r.Journals, plural(r.Journals, "journal", "journals"), r.Records,
		r.Bodies, plural(r.Bodies, "body", "bodies"), size(r.BodyBytes), r.Rows)
	if r.Orphans > 0 {
		fmt.Fprintf(inv.out, "%d %s (%s) named by no journal: `quire pool gc` deletes them\n", r.Orphans, plural(r.Orphans, "body is", "bodies are"), size(r.OrphanBytes))
	}
	for _, f := range r.Faults {
		fmt.Fprintln(inv.out, inv.describe(f))
	}
	behind := behindIn(r.Faults)
	if behind > 0 {
		fmt.Fprintln(inv.out, behindText(behind))
	}
	for _, line := range r.Instructions {
		fmt.Fprintln(inv.out, "instructions: "+line)
	}
	if len(r.Faults) == behind {
		fmt.Fprintln(inv.out, "Nothing is damaged.")
	}
}

func (inv *invocation) describe(f ingest.Fault) string {
	var where []string
	if f.Path != "" {
		at := inv.short(f.Path)
		if f.Line > 0 {
			at += fmt.Sprint(":", f.Line)
		}
		where = append(where, at)
	}
	if f.Page != "" {
		where = append(where, f.Page)
	}
	if f.Body != "" {
		where = append(where, "body "+f.Body[:12])
	}
	return fmt.Sprintf("%s: %s: %s", f.What, strings.Join(where, ", "), f.Reason)
}

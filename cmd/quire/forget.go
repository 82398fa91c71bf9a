package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/ingest"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/store/sqlite"
	"github.com/spf13/cobra"
)

// A forgetRun is one `quire forget`.
type forgetRun struct {
	*invocation
	rule   string
	yes    bool
	asJSON bool
}

// A forgetReport is what `quire forget` did.
type forgetReport struct {
	Places []string `json:"places"`
	Bodies int      `json:"bodies"` // that were deleted
}

func (inv *invocation) forgetCommand() *cobra.Command {
	run := &forgetRun{invocation: inv}
	cmd := &cobra.Command{
		Use:   "forget {PAGE… | --secret RULE}",
		Short: "Forget pages, or whatever holds a secret",
		Long: `Forget pages: they are marked in the journal of their session, leave the page table
and the index, and what they held is deleted from the disk, unless another page has
the same bytes. With a page goes the call that it belongs to. A log that is imported
again does not bring them back. There is no way back.

With --secret everything is forgotten that holds a secret of a rule: pages, and the
model's thinking too. The rules are named where a secret is masked, as in
‹secret:github-token›.`,
		Example: `  quire forget s7/p412
  quire forget --secret private-key`,
		RunE: func(cmd *cobra.Command, args []string) error { return run.do(cmd, args) },
	}
	f := cmd.Flags()
	f.StringVar(&run.rule, "secret", "", "forget all that holds a secret of `RULE`")
	f.BoolVar(&run.yes, "yes", false, "do not ask")
	f.BoolVar(&run.asJSON, "json", false, "write what was done as one JSON object")
	return cmd
}

func (r *forgetRun) do(cmd *cobra.Command, args []string) (err error) {
	if (len(args) > 0) == (r.rule != "") {
		return unusable(errors.New("quire forget wants pages or --secret RULE"), "`quire help forget` shows how")
	}
	h, err := r.openKept(cmd, sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { err = h.close(err) }()
	if err := h.counting(); err != nil {
		return err
	}
	places, err := r.places(cmd.Context(), h, args)
	if err != nil {
		return err
	}
	report := forgetReport{Places: names(places)}
	if len(places) > 0 {
		if !r.yes && !r.sure(fmt.Sprintf("Forget %s for ever?", clip(strings.Join(report.Places, ", "), 200))) {
			return errDeclined()
		}
		if report.Bodies, err = h.pool.Forget(cmd.Context(), places, owner); err != nil {
			return err
		}
		if err := h.store.Compact(cmd.Context()); err != nil {
			return err
		}
	}
	if r.asJSON {
		return writeJSON(r.out, report)
	}
	fmt.Fprintf(r.out, "Forgot %d %s; %d %s deleted\n", len(places), plural(len(places), "place", "places"), report.Bodies, plural(report.Bodies, "body was", "bodies were"))
	return nil
}

// places are the pages that were named, or what holds a secret.
func (r *forgetRun) places(ctx context.Context, h *home, args []string) ([]ingest.Held, error) {
	if r.rule != "" {
		if !slices.Contains(h.secrets.Rules(), r.rule) {
			return nil, unusable(fmt.Errorf("there is no rule %q", r.rule), "there are "+strings.Join(h.secrets.Rules(), ", "))
		}
		return h.pool.Holding(ctx, r.holds(h))
	}
	var places []ingest.Held
	for _, arg := range args {
		row, ref, err := h.page(ctx, r.reader(), arg)
		if err != nil {
			return nil, err
		}
		if ref.Lines != (quire.Range{}) {
			return nil, unusable(fmt.Errorf("%s: a page is forgotten as a whole", arg), "name the page without lines")
		}
		name, err := journal.Find(h.pool.Home, row.Session.String())
		if err != nil {
			return nil, err
		}
		places = append(places, ingest.Held{Session: name, Number: row.Session, Page: row.Number, Body: row.Body})
	}
	slices.SortStableFunc(places, func(a, b ingest.Held) int { return int(a.Number - b.Number) })
	return places, nil
}

func (r *forgetRun) holds(h *home) func(string) bool {
	return func(text string) bool {
		for _, f := range h.secrets.Find(text) {
			if f.Rule == r.rule {
				return true
			}
		}
		return false
	}
}

func names(places []ingest.Held) []string {
	out := []string{}
	for _, p := range places {
		if p.Page == 0 {
			out = append(out, "thinking in "+p.Number.String())
			continue
		}
		out = append(out, quire.PageRef{Session: p.Number, Page: p.Page}.String())
	}
	return out
}

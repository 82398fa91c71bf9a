package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/quire-agent/quire/internal/config"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/usage"
	"github.com/spf13/cobra"
)

// A usageRun is one `quire usage`.
type usageRun struct {
	*invocation
	by      string
	session string
	days    int
	all     bool
	calls   bool
	asJSON  bool
}

// A usageReport is what `quire usage --json` gives. Its fields keep their meaning.
type usageReport struct {
	By      string         `json:"by"`
	Totals  usage.Totals   `json:"totals"`
	Cached  float64        `json:"cacheRatio"`
	Buckets []usage.Bucket `json:"buckets"`
	Calls   []usage.Call   `json:"calls,omitempty"`
}

func (inv *invocation) usageCommand() *cobra.Command {
	r := &usageRun{invocation: inv}
	cmd := &cobra.Command{
		Use:   "usage",
		Short: "What the calls of Quire's own sessions used and cost",
		Long: `Add up what the calls of Quire's own sessions used, as their providers reported it, by
model, role, phase, day, session or task. Every call counts: those of the router, of
workers, of the reviewer, those that failed behind the first byte.

The cost is by the prices of the day of each call. Calls of models without a price are
counted apart. --all takes the sessions of other agents in, as far as they were
imported.`,
		Example: "  quire usage --by role\n  quire usage --by day --json\n  quire usage --session s7 --calls",
		Args:    exactly(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return r.do(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&r.by, "by", string(usage.ByModel), "add up by `WHAT`: "+strings.Join(usage.Ways(), ", "))
	f.StringVar(&r.session, "session", "", "only `SESSION`, with the agents of its team")
	f.IntVar(&r.days, "last", 0, "only the last `N` days, 0: all")
	f.BoolVar(&r.all, "all", false, "also imported sessions of other agents")
	f.BoolVar(&r.calls, "calls", false, "list every call too")
	f.BoolVar(&r.asJSON, "json", false, "write it as one JSON object")
	bind(f, string(config.Prices))
	return cmd
}

func (r *usageRun) do(cmd *cobra.Command) error {
	if !slices.Contains(usage.Ways(), r.by) {
		return unusable(fmt.Errorf("--by %s: nothing is added up by that", r.by), "use one of "+strings.Join(usage.Ways(), ", "))
	}
	if r.days < 0 {
		return unusable(fmt.Errorf("--last %d", r.days), "give a number of days, or 0 for all")
	}
	calls, err := r.read(cmd)
	if err != nil {
		return err
	}
	loc := time.Local
	s, err := r.settings(cmd)
	if err != nil {
		return err
	}
	if s.Bool(config.UTC) {
		loc = time.UTC
	}
	report := usageReport{By: r.by, Totals: usage.All(calls), Buckets: append([]usage.Bucket{}, usage.Sum(calls, usage.By(r.by), loc)...)}
	report.Cached = report.Totals.Cached()
	if r.calls {
		report.Calls = calls
	}
	if r.asJSON {
		return writeJSON(r.out, report)
	}
	return r.write(r.out, &report)
}

// read reads the calls that are asked for.
func (r *usageRun) read(cmd *cobra.Command) (all []usage.Call, err error) {
	s, err := r.settings(cmd)
	if err != nil {
		return nil, err
	}
	prices, err := priceTable(s.Path(config.Prices))
	if err != nil {
		return nil, err
	}
	h, err := r.unopened(cmd)
	if err != nil {
		return nil, err
	}
	names, err := r.names(h)
	if err != nil {
		return nil, err
	}
	keep := usage.Keep{Dir: filepath.Join(h.pool.Home, "cache", "usage")}
	for _, n := range names {
		calls, err := keep.Read(n.Path, prices)
		if err != nil {
			return nil, explain(err)
		}
		all = append(all, calls...)
	}
	if err := r.prune(h, keep); err != nil {
		return nil, explain(err)
	}
	if r.days > 0 {
		from := time.Now().AddDate(0, 0, -r.days)
		all = slices.DeleteFunc(all, func(c usage.Call) bool { return c.At.Before(from) })
	}
	return all, nil
}

// prune forgets what is kept of sessions that are not there any more.
func (r *usageRun) prune(h *home, keep usage.Keep) error {
	all, err := h.sessions()
	if err != nil {
		return err
	}
	paths := make([]string, len(all))
	for i, n := range all {
		paths[i] = n.Path
	}
	return keep.Prune(paths)
}

// names are the journals that are asked for.
func (r *usageRun) names(h *home) (list []journal.Name, err error) {
	all, err := h.sessions()
	if err != nil {
		return nil, err
	}
	only := ""
	if r.session != "" {
		name, err := h.session(r.session)
		if err != nil {
			return nil, err
		}
		only = name.ULID
	}
	for _, n := range all {
		head, err := journal.Head(n.Path)
		switch {
		case errors.Is(err, quire.ErrDamaged):
			continue
		case err != nil:
			return nil, explain(err)
		case only != "" && n.ULID != only && head.Info.Parent != only:
		case only == "" && !r.all && head.Info.Agent != quire.AgentQuire:
		default:
			list = append(list, n)
		}
	}
	return list, nil
}

func (r *usageRun) write(out io.Writer, u *usageReport) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%s\tcalls\tinput\tcache read\tcache write\toutput\tcached\tcost\tseconds\t\n", u.By)
	for i := range u.Buckets {
		b := &u.Buckets[i]
		writeTotals(w, cmp.Or(b.ID, "unknown"), &b.Totals)
	}
	writeTotals(w, "all", &u.Totals)
	if err := w.Flush(); err != nil {
		return err
	}
	return r.list(out, u.Calls)
}

func writeTotals(w io.Writer, name string, t *usage.Totals) {
	cost := fmt.Sprintf("$%.4f", t.Cost)
	if t.Unpriced > 0 {
		cost += fmt.Sprintf(" + %d unpriced", t.Unpriced)
	}
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%.0f%%\t%s\t%.1f\t\n", name, t.Calls, t.Input, t.CacheRead, t.CacheWrite, t.Output, 100*t.Cached(), cost, t.Seconds)
}

func (r *usageRun) list(out io.Writer, calls []usage.Call) error {
	if len(calls) == 0 {
		return nil
	}
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "session\tcall\tphase\trole\tattempt\tmodel\tinput\tcache read\tcache write\toutput\tseconds")
	for i := range calls {
		c := &calls[i]
		fmt.Fprintf(w, "%v\t%s\t%s\t%s\t%d\t%s\t%d\t%d\t%d\t%d\t%.1f\n", c.Session, c.Call, c.Phase, c.Role, c.Attempt, c.Model, c.Usage.Input, c.Usage.CacheRead, c.Usage.CacheWrite, c.Usage.Output, c.Took.Seconds())
	}
	return w.Flush()
}

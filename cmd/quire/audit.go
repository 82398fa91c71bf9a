package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/quire-agent/quire/internal/audit"
	"github.com/quire-agent/quire/internal/config"
	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/replay"
	"github.com/quire-agent/quire/internal/report"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/quire-agent/quire/internal/token"
	"github.com/quire-agent/quire/internal/trace"
	"github.com/quire-agent/quire/internal/x/texts"
	"github.com/spf13/cobra"
)

// An auditRun is one `quire audit`.
type auditRun struct {
	*invocation
	settings *config.Settings
	paths    []string // given; none means the agents' own places
	all      bool
	since    string
	until    string
	project  string
	agent    string
	asJSON   bool
	page     string // file of the HTML page, "" for none

	prices *price.Table
	tables replay.Tables
	load   recording.Loader
	opts   audit.Options

	mu     sync.Mutex // guards what follows
	audit  *audit.Audit
	read   int // sessions with something in them
	passed int // files in the agents' places that are no logs
	older  int // files in the agents' places that were last changed before the first day
}

func (inv *invocation) auditCommand() *cobra.Command {
	run := &auditRun{invocation: inv}
	cmd := &cobra.Command{
		Use:   "audit [PATH…]",
		Short: "Show what recorded sessions cost, what was wasted, what would have helped",
		Long: `Read session logs of coding agents and show what they cost, what the money went
on, what of it was wasted, and what other ways of keeping the context would have
cost. Nothing is changed and nothing leaves this machine. Secrets found by rule are
masked in all that is shown.

PATH is a log or a folder of logs; formats are recognised by content: Claude Code,
Codex, Copilot CLI, OpenCode, mini-swe-agent, SWE-agent, and plain arrays of
messages. Without PATH the agents' own places are searched, and calls of the last
30 days count (setting audit.days). With PATH there is no limit by day unless
--since or --until gives one.

A day D is a date (2026-11-01), a time (2026-11-01T15:04:05Z) or so long ago (24h,
7d, 2w). A date in --until is included. Days are those of your time zone; in JSON
they are those of UTC.

The exit code is 0 if any session could be read. What could not be read is named
at the end, with file and line.`,
		Example: `  quire audit
  quire audit --since 7d --html report.html
  quire audit ~/.claude/projects/shop --model opus
  quire audit --all --json | jq .totals`,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		run.paths = args
		return run.do(cmd)
	}
	run.flags(cmd)
	return cmd
}

func (r *auditRun) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&r.all, "all", false, "no limit by day")
	f.StringVar(&r.since, "since", "", "leave out calls before day `D`")
	f.StringVar(&r.until, "until", "", "leave out calls after day `D`")
	f.StringVar(&r.project, "project", "", "only sessions whose working directory contains `TEXT`; . is this folder")
	f.StringVar(&r.agent, "agent", "", "only sessions of `AGENT`: "+strings.Join(agentNames(), ", "))
	f.StringVar(&r.opts.Model, "model", "", "only calls of models whose name contains `TEXT`")
	f.BoolVar(&r.asJSON, "json", false, "write all figures as one JSON object, with times and days in UTC")
	f.StringVar(&r.page, "html", "", "also write the report as a page with charts to `FILE`")
	bind(f, string(config.AuditDays), string(config.Prices))
}

func agentNames() []string {
	var names []string
	for _, a := range []quire.Agent{
		quire.AgentClaudeCode, quire.AgentCodex, quire.AgentCopilot, quire.AgentOpenCode,
		quire.AgentMini, quire.AgentSWE, quire.AgentMessages,
	} {
		names = append(names, string(a))
	}
	return names
}

func (r *auditRun) do(cmd *cobra.Command) error {
	if err := r.prepare(cmd); err != nil {
		return err
	}
	roots, err := r.roots()
	if err != nil {
		return err
	}
	if r.app.frugal != nil {
		r.app.frugal()
	}
	r.audit = audit.New(r.opts)
	logs, err := r.logs(cmd.Context(), roots)
	if err != nil {
		return err
	}
	if err := r.readAll(cmd.Context(), logs); err != nil {
		return err
	}
	if r.read == 0 {
		return r.nothing(roots)
	}
	return r.write()
}

// prepare turns settings and flags into what the audit needs.
func (r *auditRun) prepare(cmd *cobra.Command) (err error) {
	if r.settings, err = r.invocation.settings(cmd); err != nil {
		return err
	}
	if err := r.period(time.Now()); err != nil {
		return err
	}
	if err := r.who(); err != nil {
		return err
	}
	if r.prices, err = priceTable(r.settings.Path(config.Prices)); err != nil {
		return err
	}
	r.opts.Prices = r.prices
	table, err := schedule.Default()
	if err != nil {
		return err
	}
	r.tables = replay.Always(table)
	counter, err := token.NewCounter()
	if err != nil {
		return err
	}
	r.load.Counter = counter
	return nil
}

// period checks the flags and sets the first and the last moment. Only a search of the agents' own
// places has a limit of its own.
func (r *auditRun) period(now time.Time) (err error) {
	place := zone(r.settings)
	if r.page == "-" {
		return unusable(errors.New("--html writes a file, not the standard output"), "name a file: --html report.html")
	}
	if r.all && r.since != "" {
		return unusable(errors.New("--all and --since contradict each other"), "give one of them")
	}
	if r.opts.Since, err = moment("since", r.since, now, place, 0); err != nil {
		return err
	}
	if r.opts.Until, err = moment("until", r.until, now, place, 1); err != nil {
		return err
	}
	if !r.opts.Until.IsZero() && !r.opts.Since.Before(r.opts.Until) {
		return unusable(fmt.Errorf("no call is after --since %s and before --until %s", r.since, r.until), "exchange the two days")
	}
	if len(r.paths) == 0 && !r.all && r.since == "" {
		r.opts.Since = now.AddDate(0, 0, -r.settings.Int(config.AuditDays))
	}
	return nil
}

// moment reads a day of the command line. days are added to a plain date.
func moment(flag, text string, now time.Time, place *time.Location, days int) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, text, place); err == nil {
		return t.AddDate(0, 0, days), nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	if ago, ok := ago(text); ok {
		return now.Add(-ago), nil
	}
	return time.Time{}, unusable(fmt.Errorf("--%s %q is no day", flag, text), "write 2026-11-01, 2026-11-01T15:04:05Z, 24h, 7d or 2w")
}

// ago reads a whole number of hours, days or weeks, up to a hundred years.
func ago(text string) (time.Duration, bool) {
	for _, unit := range []struct {
		suffix string
		hours  int
	}{{"h", 1}, {"d", 24}, {"w", 7 * 24}} {
		number, found := strings.CutSuffix(text, unit.suffix)
		n, err := strconv.ParseUint(number, 10, 20)
		if found && err == nil && int(n)*unit.hours <= 100*365*24 {
			return time.Duration(int(n)*unit.hours) * time.Hour, true
		}
	}
	return 0, false
}

// who checks the filters on sessions.
func (r *auditRun) who() error {
	known := r.agent == ""
	for _, name := range agentNames() {
		known = known || name == r.agent
	}
	if !known {
		return unusable(fmt.Errorf("%q is no agent whose logs Quire reads", r.agent), "there are "+strings.Join(agentNames(), ", "))
	}
	if r.project == "." {
		r.project = r.app.dir
	}
	return nil
}

// priceTable is the built-in table with the user's file over it, if there is one.
func priceTable(path string) (*price.Table, error) {
	table := price.Default()
	if path == "" {
		return table, nil
	}
	text, err := os.ReadFile(path)
	if err == nil {
		table, err = table.Merge(bytes.NewReader(text))
	}
	if err != nil {
		return nil, unusable(fmt.Errorf("the prices in %s: %w", path, err), "correct the file, or unset it: `quire help config set`")
	}
	return table, nil
}

// A root is a file or folder to search.
type root struct {
	path  string
	agent quire.Agent // whose place it is; "" for a path that was given
}

// roots are the paths given, or else the places of the agents, which are named
// on standard error.
func (r *auditRun) roots() ([]root, error) {
	var roots []root
	for _, path := range r.paths {
		if path == "" {
			return nil, unusable(errors.New("an empty PATH"), "name a log or a folder; . is this folder")
		}
		roots = append(roots, root{path: path})
	}
	if len(roots) > 0 {
		return roots, nil
	}
	places := trace.Find(trace.Env{Home: r.env.home(r.app.goos), Getenv: r.env.get, OS: r.app.goos})
	for _, p := range places {
		if p.Exists {
			roots = append(roots, root{p.Path, p.Agent})
		}
	}
	if len(roots) == 0 {
		return nil, unusable(errors.New("no logs of coding agents here; looked in "+r.tried(places)), "name a file or a folder: quire audit PATH")
	}
	r.say(roots, places)
	return roots, nil
}

func (r *auditRun) tried(places []trace.Place) string {
	names := make([]string, len(places))
	for i, p := range places {
		names[i] = r.short(p.Path)
	}
	return strings.Join(names, ", ")
}

// say names the places that are searched, the agents without one, and the days.
func (r *auditRun) say(roots []root, places []trace.Place) {
	var found []string
	var has []logFolder
	for _, p := range roots {
		found = append(found, fmt.Sprintf("%s in %s", p.agent, r.short(p.path)))
		has = append(has, logFolder{Agent: p.agent})
	}
	fmt.Fprintln(r.err, "Found", strings.Join(found, ", "))
	if missing := without(places, has); len(missing) > 0 {
		fmt.Fprintln(r.err, "None of", list(missing))
	}
	if !r.opts.Since.IsZero() {
		fmt.Fprintf(r.err, "Calls since %s (--all for all)\n", r.opts.Since.In(zone(r.settings)).Format("2006-01-02 15:04"))
	}
}

// logs opens everything below the roots, in the order of the roots and of the
// paths below each. A file that several of them lead to is opened once.
func (r *auditRun) logs(ctx context.Context, roots []root) ([]*trace.Log, error) {
	var logs []*trace.Log
	seen := map[string]bool{}
	for _, root := range roots {
		for found, err := range trace.Walk([]string{root.path}) {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if real := realPath(found.Path); !seen[real] {
				seen[real] = true
				logs = append(logs, r.open(root, found, err)...)
			}
		}
	}
	return logs, nil
}

// realPath is the path without links, as far as it can be resolved.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	return path
}

// open opens one file. Agents keep other files in their places too: those are
// counted, while in a path that was given each is named.
func (r *auditRun) open(from root, found trace.Found, err error) []*trace.Log {
	own := from.agent != ""
	if err == nil && own && found.Modified.Before(r.opts.Since) {
		r.older++
		return nil
	}
	var logs []*trace.Log
	if err == nil {
		logs, err = trace.Open(found.Path)
	}
	switch {
	case err == nil:
	case own && (errors.Is(err, trace.ErrUnknown) || errors.Is(err, trace.ErrBinary)):
		r.passed++
	default:
		r.audit.Skip(found.Path, 0, reason(err, found.Path))
	}
	return r.ofAgent(logs)
}

func (r *auditRun) ofAgent(logs []*trace.Log) []*trace.Log {
	var kept []*trace.Log
	for _, log := range logs {
		if r.agent == "" || string(log.Agent) == r.agent {
			kept = append(kept, log)
		}
	}
	return kept
}

// reason is an error without the path that stands beside it.
func reason(err error, path string) string {
	text := err.Error()
	if i := strings.LastIndex(text, path+": "); i >= 0 {
		text = text[i+len(path)+2:]
	}
	return text
}

// readAll loads and replays the logs, as many at a time as there are processors.
// The report does not depend on the order in which they are finished.
func (r *auditRun) readAll(ctx context.Context, logs []*trace.Log) error {
	p := r.progress("reading session", len(logs))
	err := inParallel(len(logs), func(i int) error {
		defer p.step()
		return r.one(ctx, logs[i])
	})
	p.end()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// one reads one log. A log that breaks is skipped; only an interrupt is an error.
func (r *auditRun) one(ctx context.Context, log *trace.Log) (err error) {
	s, err := r.load.Load(ctx, log)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		r.skip(log.Path, err)
		return nil
	}
	defer closing(s, &err)
	if !r.wanted(s) {
		return nil
	}
	outcomes, drawn, err := r.replay(s)
	if err != nil {
		r.skip(log.Path, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(s.Calls)+len(s.Side)+len(s.Items) > 0 {
		r.read++
	}
	r.audit.Add(s, outcomes)
	if drawn != nil {
		r.audit.Draw(s, *drawn)
	}
	return nil
}

func (r *auditRun) skip(path string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.audit.Skip(path, 0, reason(err, path))
}

func (r *auditRun) wanted(s *recording.Session) bool {
	return strings.Contains(strings.ToLower(filepath.ToSlash(s.Info.Project)), strings.ToLower(filepath.ToSlash(r.project)))
}

// oracleCalls is the number of calls above which the policies that know the
// future are not played: at each call they look at everything that was sent,
// so their time grows with the square of a session.
const oracleCalls = 10_000

// replay plays the policies under the prices and the pauses of the session as
// it was, and draws the longest. A session without a price is not replayed:
// there is no money to compare.
func (r *auditRun) replay(s *recording.Session) ([]replay.Outcome, *replay.Atlas, error) {
	set, ok := replay.AsRecorded(s, r.prices, replay.SingleBudget)
	if !ok || s.TooLong {
		return nil, nil, nil
	}
	out, err := replay.Replay(s, r.policies(s), []replay.Setting{set})
	if err != nil {
		return nil, nil, err
	}
	drawn, err := r.draw(s, set)
	return out[0], drawn, err
}

func (r *auditRun) policies(s *recording.Session) []replay.Policy {
	policies := []replay.Policy{audit.Recorded(), replay.Ours(r.tables)[0]}
	for _, p := range replay.Baselines(replay.SingleBudget) {
		if p.Name == "fresh" || p.Oracle && len(s.Calls) > oracleCalls {
			continue // fresh is one only where sessions follow each other
		}
		policies = append(policies, p)
	}
	return policies
}

// draw draws a session, nil where a longer one is drawn already.
func (r *auditRun) draw(s *recording.Session, set replay.Setting) (*replay.Atlas, error) {
	r.mu.Lock()
	wanted := r.audit.Draws(s)
	r.mu.Unlock()
	if !wanted {
		return nil, nil
	}
	drawn, ok, err := replay.Draw(s, set, r.tables)
	if !ok {
		return nil, err
	}
	return &drawn, nil
}

// nothing says why there is no report, and what to do.
func (r *auditRun) nothing(roots []root) error {
	for _, s := range r.audit.Report(time.UTC).Skipped {
		fmt.Fprintf(r.err, "quire: %s:%d: %s\n", r.mask(s.Path), s.Line, r.mask(s.Reason))
	}
	var tried []string
	for _, root := range roots {
		tried = append(tried, r.short(root.path))
	}
	err := fmt.Errorf("no session could be read in %s", strings.Join(tried, ", "))
	switch {
	case r.older > 0:
		return unusable(fmt.Errorf("%w since %s", err, r.opts.Since.In(zone(r.settings)).Format(time.DateOnly)),
			fmt.Sprintf("--all reads also the %d older %s", r.older, plural(r.older, "file", "files")))
	case r.agent != "" || r.project != "":
		return unusable(fmt.Errorf("%w that the filters let through", err), "leave out --agent and --project")
	default:
		return unusable(err, "name a log or a folder of logs; `quire help audit` lists the formats")
	}
}

// write writes the report in the forms that were asked for.
func (r *auditRun) write() error {
	if r.passed > 0 {
		fmt.Fprintf(r.err, "%d other %s there: no logs\n", r.passed, plural(r.passed, "file", "files"))
	}
	place := zone(r.settings)
	if r.page != "" {
		if err := r.writePage(r.found(place)); err != nil {
			return err
		}
	}
	if r.asJSON {
		return report.JSON(r.out, r.found(time.UTC))
	}
	columns, _ := strconv.Atoi(r.env.get("COLUMNS")) // what is no number means the default
	return report.Terminal(r.out, r.found(place), report.Style{Width: columns, Color: r.colour(r.settings)})
}

// found is the report as it is shown.
func (r *auditRun) found(place *time.Location) audit.Report {
	return texts.Map(r.audit.Report(place), r.mask)
}

// writePage writes the page beside its place first, so that a failure leaves no
// half of it. Only its owner may read it: it holds paths and commands.
func (r *auditRun) writePage(found audit.Report) error {
	path := r.page
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.app.dir, path)
	}
	var page bytes.Buffer
	if err := report.HTML(&page, found); err != nil {
		return err
	}
	if err := replaceFile(path, page.Bytes()); err != nil {
		return failure(fmt.Errorf("write the page: %w", err), "choose another file for --html")
	}
	fmt.Fprintln(r.err, "Wrote", r.page)
	return nil
}

func replaceFile(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".quire-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already when it was renamed
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/ingest"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/trace"
	"github.com/spf13/cobra"
)

// An importRun is one `quire import`.
type importRun struct {
	*invocation
	asJSON bool
	home   *home
	report importReport
}

// An importReport is what `quire import` says.
type importReport struct {
	Sessions []importedLog  `json:"sessions"`
	Skipped  []skippedLog   `json:"skipped"`
	Damaged  []skippedLog   `json:"damaged"` // logs whose journals cannot be compared with them
	Derived  ingest.Derived `json:"derived"`
}

type importedLog struct {
	Path    string `json:"path"`
	Session string `json:"session"`
	ULID    string `json:"ulid"`
	New     bool   `json:"new"`
	Records int    `json:"records"`
	Pages   int    `json:"pages"`
	Bytes   int64  `json:"bytes"`
	Healed  int    `json:"healed,omitempty"` // bodies that the pool had lost
	Cut     string `json:"cut,omitempty"`    // why the end of the log was left out
}

type skippedLog struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

func (inv *invocation) importCommand() *cobra.Command {
	run := &importRun{invocation: inv}
	cmd := &cobra.Command{
		Use:   "import PATH…",
		Short: "Take logs of coding agents into the pool",
		Long: `Take the session logs of coding agents into the pool, where every page of them is
kept byte for byte and can be found again. PATH is a log or a folder of logs, in
any format that quire audit reads.

A log that is here already is not taken twice: what it has grown by is added, and
the same log again changes nothing. A log that was changed where it had been taken
in becomes a session of its own. What the pool has lost of a log is put back. A last
line that is still being written is left for the next time. Files that Quire made
itself are passed over.

A log whose journal is damaged is named and left out; the exit code is then 1.

When a log has been read its pages are safe on the disk; then they are counted and
indexed. An import that was interrupted goes on where it stopped.`,
		Example: `  quire import ~/.claude/projects
  quire import session.jsonl --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return unusable(errors.New("quire import wants a log or a folder of logs"), "`quire help import` shows how")
			}
			if slices.Contains(args, "") {
				return unusable(errors.New("a PATH is empty"), "write . for the working directory")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return run.do(cmd, args) },
	}
	cmd.Flags().BoolVar(&run.asJSON, "json", false, "write what was done as one JSON object")
	return cmd
}

func (r *importRun) do(cmd *cobra.Command, paths []string) (err error) {
	r.report = importReport{Sessions: []importedLog{}, Skipped: []skippedLog{}, Damaged: []skippedLog{}}
	if r.home, err = r.openHome(cmd); err != nil {
		return err
	}
	defer func() { err = r.home.close(err) }()
	if err := r.home.counting(); err != nil {
		return err
	}
	if err := r.take(cmd.Context(), r.logs(paths)); err != nil {
		return err
	}
	if err := r.derive(cmd.Context()); err != nil {
		return err
	}
	return r.say(paths)
}

// logs opens what lies below the paths.
func (r *importRun) logs(paths []string) (logs []*trace.Log) {
	for found, err := range trace.Walk(r.absolute(paths)) {
		switch {
		case err == nil && ingest.Ours(found.Path):
			err = errors.New("a file that Quire made itself")
		case err == nil:
			var opened []*trace.Log
			opened, err = trace.Open(found.Path)
			logs = append(logs, opened...)
		}
		if err != nil && !errors.Is(err, trace.ErrPiece) {
			r.skip(found.Path, err)
		}
	}
	return logs
}

// absolute makes paths that mean the same wherever they are read: they are kept.
func (r *importRun) absolute(paths []string) []string {
	out := make([]string, len(paths))
	for i, path := range paths {
		if out[i] = path; !filepath.IsAbs(path) {
			out[i] = filepath.Join(r.app.dir, path)
		}
	}
	return out
}

func (r *importRun) skip(path string, err error) {
	r.report.Skipped = append(r.report.Skipped, r.skipped(path, err))
}

func (r *importRun) skipped(path string, err error) skippedLog {
	return skippedLog{r.mask(path), r.mask(reason(err, path))}
}

// take takes the logs in. One that breaks is skipped, and so is one whose journal
// is damaged; what else is wrong with the pool, or an interrupt, ends the command.
func (r *importRun) take(ctx context.Context, logs []*trace.Log) (err error) {
	m, err := r.home.pool.Importer()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	p := r.progress("importing session", len(logs))
	defer p.end()
	for _, log := range logs {
		got, err := m.Import(ctx, log)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && errors.Is(err, trace.ErrUnreadable):
			r.skip(log.Path, err)
		case is[*journal.Damage](err):
			r.report.Damaged = append(r.report.Damaged, r.skipped(log.Path, err))
		case err != nil:
			return err
		case got.Empty:
			r.skip(log.Path, errors.New("there is no session in it"))
		default:
			r.report.Sessions = append(r.report.Sessions, r.taken(log, &got))
		}
		p.step()
	}
	return nil
}

func (r *importRun) taken(log *trace.Log, got *ingest.Imported) importedLog {
	return importedLog{
		Path: log.Path, Session: got.Name.Number.String(), ULID: got.Name.ULID, New: got.New,
		Records: got.Records, Pages: got.Pages, Bytes: got.Bytes, Healed: got.Healed, Cut: r.mask(got.Cut),
	}
}

// derive counts and indexes what was imported, by this command or by one that
// was interrupted.
func (r *importRun) derive(ctx context.Context) error {
	behind, err := r.home.pool.Behind(ctx)
	if err != nil {
		return err
	}
	p := r.progress("indexing session", len(behind))
	defer p.end()
	r.report.Derived, err = r.home.pool.DeriveAll(ctx, behind, func(journal.Name) { p.step() })
	return err
}

// say writes the report. Nothing that could be read is an error, and so is a
// journal that is damaged.
func (r *importRun) say(paths []string) error {
	r.complain()
	damaged := len(r.report.Damaged)
	if len(r.report.Sessions)+damaged == 0 {
		return unusable(fmt.Errorf("no session could be read in %s", strings.Join(paths, ", ")), "name a log or a folder of logs; `quire help audit` lists the formats")
	}
	if !r.asJSON {
		fmt.Fprintln(r.out, r.summary())
	} else if err := writeJSON(r.out, r.report); err != nil {
		return err
	}
	if damaged > 0 {
		return failure(fmt.Errorf("%d %s not taken in, because the journal is damaged", damaged, plural(damaged, "log was", "logs were")), "`quire doctor` names all that is damaged")
	}
	return nil
}

// complain says which logs were left out, or the end of which.
func (r *importRun) complain() {
	for _, s := range slices.Concat(r.report.Skipped, r.report.Damaged) {
		fmt.Fprintf(r.err, "quire: %s: %s\n", r.short(s.Path), s.Reason)
	}
	for _, s := range r.report.Sessions {
		if s.Cut != "" {
			fmt.Fprintf(r.err, "quire: %s: its end was not taken in: %s\n", r.short(s.Path), s.Cut)
		}
	}
}

func (r *importRun) summary() string {
	var fresh, grown, pages, healed int
	var bytes int64
	for _, s := range r.report.Sessions {
		switch {
		case s.New:
			fresh++
		case s.Records > 0:
			grown++
		}
		pages += s.Pages
		bytes += s.Bytes
		healed += s.Healed
	}
	text := fmt.Sprintf("%d new %s, %d grown, %d unchanged: %d %s, %s",
		fresh, plural(fresh, "session", "sessions"), grown, len(r.report.Sessions)-fresh-grown, pages, plural(pages, "page", "pages"), size(bytes))
	if healed > 0 {
		text += fmt.Sprintf("; %d lost %s put back", healed, plural(healed, "body was", "bodies were"))
	}
	return text
}

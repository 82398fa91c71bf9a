package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/store/sqlite"
	"github.com/spf13/cobra"
)

// A poolReport is what `quire pool` shows.
type poolReport struct {
	Home     string         `json:"home"`
	Bodies   int64          `json:"bodies_bytes"`   // of bodies.db on the disk
	Derived  int64          `json:"derived_bytes"`  // of pool.db, which can be made anew
	Journals int64          `json:"journals_bytes"` // of the folder of the journals
	Sessions []poolSession  `json:"sessions"`
	Sum      poolSessionSum `json:"sum"`
}

// A poolSession is what a session adds to the pool.
type poolSession struct {
	quire.SessionRow
	Journal int64     `json:"journal_bytes"`
	Changed time.Time `json:"changed"`
}

type poolSessionSum struct {
	Sessions int   `json:"sessions"`
	Pages    int   `json:"pages"`
	Tokens   int64 `json:"tokens"`
	Bytes    int64 `json:"bytes"` // of the bodies of all pages, each counted as often as it occurs
}

func (inv *invocation) poolCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "pool",
		Short: "Show what is kept and how much room it takes",
		Long: `Show what is kept, how much room it takes on the disk, and what each session adds:
its pages, their tokens, their bytes and the size of its journal. Bodies that occur
in several sessions are stored once.`,
		Example: `  quire pool
  quire pool gc --dry-run
  quire pool --json`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return inv.showPool(cmd, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write all figures as one JSON object")
	cmd.AddCommand(inv.poolGCCommand(), inv.poolMigrateCommand(), inv.poolEmbedCommand())
	return cmd
}

func (inv *invocation) showPool(cmd *cobra.Command, asJSON bool) (err error) {
	h, err := inv.openToRead(cmd)
	if err != nil {
		return err
	}
	defer func() { err = h.close(err) }()
	report, err := inv.weigh(cmd.Context(), h)
	if err != nil {
		return err
	}
	if asJSON {
		return writeJSON(inv.out, report)
	}
	return inv.writePool(report)
}

func (inv *invocation) weigh(ctx context.Context, h *home) (poolReport, error) {
	dir := h.pool.Home
	report := poolReport{Home: dir, Bodies: weight(dir, sqlite.BodiesFile), Derived: weight(dir, sqlite.PoolFile), Sessions: []poolSession{}}
	names, err := h.sessions()
	if err != nil {
		return report, err
	}
	rows := map[quire.SessionNumber]quire.SessionRow{}
	for s, err := range h.pool.Table.Sessions(ctx, inv.reader()) {
		if err != nil {
			return report, err
		}
		rows[s.Number] = s
	}
	for _, n := range names {
		s := rows[n.Number]
		s.Number, s.ULID = n.Number, n.ULID
		report.Journals += n.Bytes
		report.Sessions = append(report.Sessions, poolSession{s, n.Bytes, n.Changed.UTC()})
		report.Sum.Pages += s.Pages
		report.Sum.Tokens += s.Tokens
		report.Sum.Bytes += s.Bytes
	}
	report.Sum.Sessions = len(names)
	return report, nil
}

// weight is the size of a database with the files beside it. A file that is not
// there weighs nothing.
func weight(dir, name string) (sum int64) {
	for _, end := range []string{"", "-wal"} {
		if info, err := os.Stat(filepath.Join(dir, name+end)); err == nil {
			sum += info.Size()
		}
	}
	return sum
}

func (inv *invocation) writePool(r poolReport) error {
	fmt.Fprintf(inv.out, "%s: bodies %s, journals %s, derived %s\n", inv.short(r.Home), size(r.Bodies), size(r.Journals), size(r.Derived))
	w := tabwriter.NewWriter(inv.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SESSION\tAGENT\tPAGES\tCALLS\tTOKENS\tTEXT\tJOURNAL\tPROJECT")
	for i := range r.Sessions {
		s := &r.Sessions[i]
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%s\t%s\t%s\n", s.Number, s.Agent, s.Pages, s.Calls, s.Tokens, size(s.Bytes), size(s.Journal), clip(inv.short(s.Project), 60))
	}
	fmt.Fprintf(w, "%d\t\t%d\t\t%d\t%s\t%s\t\n", r.Sum.Sessions, r.Sum.Pages, r.Sum.Tokens, size(r.Sum.Bytes), size(r.Journals))
	return w.Flush()
}

// A gcRun is one `quire pool gc`.
type gcRun struct {
	*invocation
	older  string
	dry    bool
	yes    bool
	asJSON bool
}

// A gcReport is what `quire pool gc` did, or would do.
type gcReport struct {
	DryRun    bool     `json:"dry_run"`
	Sessions  []string `json:"sessions"` // that were removed
	Bodies    int      `json:"bodies"`
	Bytes     int64    `json:"bytes"`     // as stored
	Compacted bool     `json:"compacted"` // the room went back to the disk
}

func (inv *invocation) poolGCCommand() *cobra.Command {
	run := &gcRun{invocation: inv}
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Delete bodies that no journal names",
		Long: `Delete the bodies that no journal names any more: those of sessions that were
removed, and what an import left that was interrupted. A body that a journal still
names is never deleted, and nothing is while a journal is damaged. Then the files are
compacted, which takes as much room as they have; without that, what was freed is
used for what is taken in next, and a later gc gives it back.

With --older-than also the sessions whose journals were not changed since day D are
removed first. D is a date (2026-11-01), a time, or so long ago (24h, 30d, 8w). What
is removed is named, and removed only after a yes.`,
		Example: `  quire pool gc --dry-run
  quire pool gc --older-than 26w`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return run.do(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&run.older, "older-than", "", "also remove sessions not changed since day `D`")
	f.BoolVar(&run.dry, "dry-run", false, "only say what would be deleted")
	f.BoolVar(&run.yes, "yes", false, "do not ask")
	f.BoolVar(&run.asJSON, "json", false, "write what was done as one JSON object")
	return cmd
}

func (r *gcRun) do(cmd *cobra.Command) (err error) {
	old, err := moment("older-than", r.older, time.Now(), time.Local, 0)
	if err != nil {
		return err
	}
	report := gcReport{DryRun: r.dry, Sessions: []string{}}
	if !old.IsZero() {
		if err := r.removeOld(cmd, old, &report); err != nil {
			return err
		}
	}
	h, err := r.openToFree(cmd)
	if err != nil {
		return err
	}
	defer func() { err = h.close(err) }()
	if err := r.collect(cmd.Context(), h, &report); err != nil {
		return err
	}
	return r.say(report)
}

// openToFree opens the home even where the disk has no room for that, if what is
// derived may go for it. Then it is the home of the bodies alone.
func (r *gcRun) openToFree(cmd *cobra.Command) (*home, error) {
	h, err := r.openKept(cmd, sqlite.Options{})
	if r.dry || !errors.Is(err, quire.ErrFull) {
		return h, err
	}
	if !r.yes && !r.sure("The disk is full. Delete the page table, which can be made anew, to begin with?") {
		return nil, errDeclined()
	}
	if err := r.dropDerived(cmd); err != nil {
		return nil, err
	}
	r.pageTableGone()
	return r.openBodies(cmd, err)
}

func (r *gcRun) dropDerived(cmd *cobra.Command) error {
	dir, err := r.homeDir(cmd)
	if err != nil {
		return err
	}
	lock, err := journal.LockHome(dir)
	if err != nil {
		return explain(err)
	}
	return explain(errors.Join(sqlite.RemovePool(dir), lock.Close()))
}

// removeOld removes the sessions that are older than a moment.
func (r *gcRun) removeOld(cmd *cobra.Command, old time.Time, report *gcReport) error {
	h, err := r.unopened(cmd)
	if err != nil {
		return err
	}
	names, err := h.sessions()
	if err != nil {
		return err
	}
	var gone []journal.Name
	for _, n := range names {
		if n.Changed.Before(old) {
			gone = append(gone, n)
			report.Sessions = append(report.Sessions, n.Number.String())
		}
	}
	if r.dry || len(gone) == 0 {
		return nil
	}
	if !r.yes && !r.sure(fmt.Sprintf("Remove %d %s not changed since %s (%s)?", len(gone), plural(len(gone), "session", "sessions"), old.Format(time.DateOnly), clip(fmt.Sprint(report.Sessions), 60))) {
		return errDeclined()
	}
	return r.remove(cmd, gone)
}

// collect deletes what no journal names, after a yes.
func (r *gcRun) collect(ctx context.Context, h *home, report *gcReport) error {
	found, err := h.pool.Garbage(ctx, false)
	if err != nil {
		return err
	}
	report.Bodies = len(found)
	for _, b := range found {
		report.Bytes += int64(b.Stored)
	}
	if r.dry {
		return nil
	}
	if len(found) > 0 && !r.yes && !r.sure(fmt.Sprintf("Delete %d %s (%s) that no journal names?", len(found), plural(len(found), "body", "bodies"), size(report.Bytes))) {
		return errDeclined()
	}
	h.pool.Bodies = &stepwise{Bodies: h.pool.Bodies, home: h, say: r.pageTableGone}
	if _, err = h.pool.Garbage(ctx, true); err != nil {
		return err
	}
	return r.compact(ctx, h, report)
}

// compact gives back to the disk what it can. A full disk is no fault of what was
// deleted before: the room is kept for what comes.
func (r *gcRun) compact(ctx context.Context, h *home, report *gcReport) error {
	err := h.derived
	if err == nil {
		err = h.store.Compact(ctx)
	}
	report.Compacted = err == nil
	if errors.Is(err, quire.ErrFull) {
		fmt.Fprintln(r.err, "quire: the disk has no room to compact the files: what was freed is used again, and a later `quire pool gc` gives it back")
		return nil
	}
	return err
}

// pageTableGone says that there was too little room to keep what is derived.
func (inv *invocation) pageTableGone() {
	fmt.Fprintln(inv.err, "quire: the disk has no room to change the page table, so it was deleted: `quire doctor --rebuild` makes it anew")
}

// A stepwise store drops bodies even where a disk is full: a few at a time, each
// time with the file opened anew. When it is closed its log is folded back, and
// that is the room for the next few. Where there is too little for one body, what
// is derived goes first.
type stepwise struct {
	quire.Bodies
	home *home
	say  func() // that what is derived is gone
	bare bool   // what is derived is gone
}

// DropBodies deletes bodies; see [quire.Bodies].
func (s *stepwise) DropBodies(ctx context.Context, hs []quire.Hash) error {
	err := s.Bodies.DropBodies(ctx, hs)
	if !errors.Is(err, quire.ErrFull) {
		return err
	}
	s.home.derived = err
	for few := 1; len(hs) > 0; {
		few = min(few, len(hs))
		err := s.drop(ctx, hs[:few])
		switch {
		case err == nil:
			hs, few = hs[few:], 2*few
		case errors.Is(err, quire.ErrFull) && few > 1:
			few /= 2
		case errors.Is(err, quire.ErrFull) && !s.bare:
			if err := s.strip(); err != nil {
				return err
			}
		default:
			return err
		}
	}
	return nil
}

func (s *stepwise) drop(ctx context.Context, hs []quire.Hash) error {
	if err := s.home.reopenBodies(ctx); err != nil {
		return err
	}
	return s.home.store.DropBodies(ctx, hs)
}

// strip deletes what is derived: it can be made anew. Its store is closed by now.
func (s *stepwise) strip() error {
	s.bare = true
	s.say()
	return sqlite.RemovePool(s.home.pool.Home)
}

func (r *gcRun) say(report gcReport) error {
	if r.asJSON {
		return writeJSON(r.out, report)
	}
	verb := "Deleted"
	if report.DryRun {
		verb = "Would delete"
	}
	fmt.Fprintf(r.out, "%s %d %s and %d %s, %s\n", verb, len(report.Sessions), plural(len(report.Sessions), "session", "sessions"),
		report.Bodies, plural(report.Bodies, "body", "bodies"), size(report.Bytes))
	return nil
}

// sure asks a question that y or yes answers. The end of the input is a no.
func (inv *invocation) sure(question string) bool {
	fmt.Fprintf(inv.err, "%s [y/N] ", question)
	var answer string
	_, err := fmt.Fscanln(inv.in, &answer)
	if err != nil {
		fmt.Fprintln(inv.err)
	}
	return answer == "y" || answer == "Y" || answer == "yes"
}

func errDeclined() error {
	return unusable(errors.New("nothing was deleted"), "answer y, or give --yes")
}

func (inv *invocation) poolMigrateCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the files of an older version up to date",
		Long: `Bring the files of the pool that an older version of Quire made up to date, each
after a copy of it was made beside it. Files that are up to date are left alone.`,
		Example: "  quire pool migrate",
		Args:    exactly(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return inv.migrate(cmd, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write what was done as one JSON array")
	return cmd
}

func (inv *invocation) migrate(cmd *cobra.Command, asJSON bool) error {
	dir, err := inv.homeDir(cmd)
	if err != nil {
		return err
	}
	done, err := sqlite.Migrate(cmd.Context(), dir)
	if errors.Is(err, fs.ErrNotExist) {
		return unusable(errors.New("there is no pool here"), "`quire import PATH` makes one")
	}
	if err != nil {
		return explain(err)
	}
	if asJSON {
		return writeJSON(inv.out, append([]sqlite.Migration{}, done...))
	}
	for _, m := range done {
		fmt.Fprintf(inv.out, "%s: step %d to %d; as it was: %s\n", inv.short(m.File), m.From, m.To, inv.short(m.Backup))
	}
	if len(done) == 0 {
		fmt.Fprintln(inv.out, "Everything is up to date.")
	}
	return nil
}

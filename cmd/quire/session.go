package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/quire-agent/quire/internal/ingest"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/store/sqlite"
	"github.com/spf13/cobra"
)

func (inv *invocation) sessionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "session",
		Short: "List, show, export, import and remove sessions",
		Long: `List, show, export, import and remove the sessions that are kept. A session is
named by its number (s7), by its ULID, or by a beginning of that which no other
session has.`,
		Example: "  quire session list\n  quire session export s7 > s7.jsonl",
		Args:    inv.unknownCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(inv.sessionListCommand(), inv.sessionShowCommand(), inv.sessionExportCommand(), inv.sessionImportCommand(), inv.sessionRemoveCommand())
	return cmd
}

// A listedSession is a session as `quire session list --json` shows it.
type listedSession struct {
	journal.Name
	Owner   quire.Principal   `json:"owner,omitempty"`
	Info    quire.SessionInfo `json:"info"`
	Source  string            `json:"source,omitempty"`
	Counted bool              `json:"counted"` // pages, calls and tokens are known
	Pages   int               `json:"pages"`
	Calls   int               `json:"calls"`
	Tokens  int64             `json:"tokens"`
	Damage  string            `json:"damage,omitempty"` // why its journal does not say what it is
}

func (inv *invocation) sessionListCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the sessions that are kept",
		Long:    "List the sessions that are kept: when each began, whose log it is and of which\nproject, how many calls and pages it has, and the size of its journal. Sessions of\na team's agents stand below the team's.",
		Example: "  quire session list\n  quire session list --json",
		Args:    exactly(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return inv.listSessions(cmd, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the sessions as a JSON array")
	return cmd
}

func (inv *invocation) listSessions(cmd *cobra.Command, asJSON bool) (err error) {
	h, err := inv.openToRead(cmd)
	if err != nil {
		return err
	}
	defer func() { err = h.close(err) }()
	names, err := h.sessions()
	if err != nil {
		return err
	}
	rows, err := inv.countedSessions(cmd.Context(), h)
	if err != nil {
		return err
	}
	list := make([]listedSession, len(names))
	for i, n := range names {
		list[i] = h.listed(n, rows)
	}
	list = grouped(list)
	if asJSON {
		return writeJSON(inv.out, list)
	}
	s, err := inv.settings(cmd)
	if err != nil {
		return err
	}
	return inv.writeSessions(list, zone(s))
}

// countedSessions are the sessions that the page table knows, by ULID.
func (inv *invocation) countedSessions(ctx context.Context, h *home) (map[string]quire.SessionRow, error) {
	rows := map[string]quire.SessionRow{}
	for s, err := range h.pool.Table.Sessions(ctx, inv.reader()) {
		if err != nil {
			return nil, err
		}
		rows[s.ULID] = s
	}
	return rows, nil
}

// listed describes a session: from the page table, or from the first line of its
// journal where it is not counted yet. Secrets are masked.
func (h *home) listed(n journal.Name, rows map[string]quire.SessionRow) listedSession {
	n.Changed = n.Changed.UTC()
	one := listedSession{Name: n}
	row, ok := rows[n.ULID]
	switch head, err := journal.Head(n.Path); {
	case ok:
		one.Counted, one.Owner, one.Info, one.Source = true, row.Owner, row.SessionInfo, row.Source
		one.Pages, one.Calls, one.Tokens = row.Pages, row.Calls, row.Tokens
	case err == nil:
		one.Owner, one.Info, one.Source = head.Owner, head.Info, head.Source
	default:
		one.Damage = err.Error()
	}
	one.Info.Project, one.Source, one.Damage = h.secrets.Mask(one.Info.Project), h.secrets.Mask(one.Source), h.secrets.Mask(one.Damage)
	return one
}

// grouped are sessions with those of a team's agents behind that of the team.
// Otherwise the order stays.
func grouped(list []listedSession) []listedSession {
	there, below := map[string]bool{}, map[string][]listedSession{}
	for i := range list {
		there[list[i].ULID] = true
	}
	var tops []listedSession
	for i := range list {
		if parent := list[i].Info.Parent; there[parent] && parent != list[i].ULID {
			below[parent] = append(below[parent], list[i])
			continue
		}
		tops = append(tops, list[i])
	}
	out := make([]listedSession, 0, len(list))
	var put func(level []listedSession)
	put = func(level []listedSession) {
		for i := range level {
			out = append(out, level[i])
			put(below[level[i].ULID])
		}
	}
	put(tops)
	return out
}

func (inv *invocation) writeSessions(list []listedSession, z *time.Location) error {
	w := tabwriter.NewWriter(inv.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SESSION\tBEGAN\tAGENT\tCALLS\tPAGES\tTOKENS\tJOURNAL\tPROJECT")
	for i := range list {
		s := &list[i]
		calls, pages, tokens := "-", "-", "-"
		if s.Counted {
			calls, pages, tokens = fmt.Sprint(s.Calls), fmt.Sprint(s.Pages), fmt.Sprint(s.Tokens)
		}
		project := clip(inv.short(s.Info.Project), 60)
		if s.Damage != "" {
			project = "damaged: `quire doctor` says where"
		}
		number := s.Number.String()
		if s.Info.Parent != "" {
			number = "  " + number
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", number, began(s.Info.Started, z), shown(string(s.Info.Agent)), calls, pages, tokens, size(s.Bytes), shown(project))
	}
	return w.Flush()
}

func began(at time.Time, z *time.Location) string {
	if at.IsZero() {
		return "-"
	}
	return at.In(z).Format("2006-01-02 15:04")
}

// An exportRun is one `quire session export`.
type exportRun struct {
	*invocation
	unmasked bool
	team     bool
	output   string
	asJSON   bool
}

func (inv *invocation) sessionExportCommand() *cobra.Command {
	run := &exportRun{invocation: inv}
	cmd := &cobra.Command{
		Use:   "export SESSION",
		Short: "Write a session with all its bodies as one file",
		Long: `Write a session as one file that needs nothing else: the lines of its journal and
the bodies that they name. Every line is JSON.

Secrets are masked, and such a file can be read but not imported. With
--with-secrets nothing is masked, and quire session import takes the file back
byte for byte. What was forgotten is in neither.

The agents of a team have sessions of their own. With --team they are written too,
each to a file of its number in the folder of --output.`,
		Example: `  quire session export s7 > s7.jsonl
  quire session export s7 --with-secrets --output s7.jsonl
  quire session export s7 --team --output s7`,
		Args: exactly("SESSION"),
		RunE: func(cmd *cobra.Command, args []string) error { return run.do(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.BoolVar(&run.unmasked, "with-secrets", false, "mask nothing, so that the file can be imported")
	f.BoolVar(&run.team, "team", false, "with the sessions of its agents, as files of a folder")
	f.StringVar(&run.output, "output", "", "write to `FILE`, with --team to a folder, which only its owner may read and which must not exist")
	f.BoolVar(&run.asJSON, "json", false, "with --output, say what was written as one JSON object, with --team as an array of them")
	return cmd
}

// An exportReport is what `quire session export --output FILE --json` gives.
type exportReport struct {
	Session string `json:"session"`
	File    string `json:"file"`
	Bytes   int64  `json:"bytes"`
	Masked  bool   `json:"masked"` // it can be read and not imported
}

func (r *exportRun) do(cmd *cobra.Command, name string) (err error) {
	switch {
	case r.asJSON && r.output == "":
		return unusable(errors.New("the export itself is written to the standard output, and is JSON line by line"), "leave out --json, or name a file with --output")
	case r.team && r.output == "":
		return unusable(errors.New("a team is exported as several files"), "name a folder with --output")
	}
	h, err := r.openToRead(cmd)
	if err != nil {
		return err
	}
	defer func() { err = h.close(err) }()
	n, err := h.session(name)
	if err != nil {
		return err
	}
	below, err := h.below(n)
	switch {
	case err != nil:
		return err
	case r.team:
		return r.several(cmd.Context(), h, append([]journal.Name{n}, below...))
	case r.output == "":
		err = r.write(cmd.Context(), h, n, r.out)
	default:
		err = r.single(cmd.Context(), h, n)
	}
	if err == nil && len(below) > 0 {
		fmt.Fprintf(r.err, "quire: without %d %s of the agents of %s; --team writes them too\n", len(below), plural(len(below), "session", "sessions"), n.Number)
	}
	return err
}

func (r *exportRun) write(ctx context.Context, h *home, n journal.Name, w io.Writer) error {
	mask := h.secrets.Mask
	if r.unmasked {
		mask = nil
	}
	return journal.Export(ctx, w, n.Path, h.pool.Bodies, mask)
}

// file writes a session to a file that does not exist yet.
func (r *exportRun) file(ctx context.Context, h *home, n journal.Name, path string) (report exportReport, err error) {
	if err := newFile(path, func(w io.Writer) error { return r.write(ctx, h, n, w) }); err != nil {
		return report, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return report, failure(err, "write it again")
	}
	return exportReport{n.Number.String(), path, info.Size(), !r.unmasked}, nil
}

func (r *exportRun) single(ctx context.Context, h *home, n journal.Name) error {
	report, err := r.file(ctx, h, n, r.absolute(r.output))
	if err != nil || !r.asJSON {
		return err
	}
	return writeJSON(r.out, report)
}

// several writes sessions to files of a new folder.
func (r *exportRun) several(ctx context.Context, h *home, list []journal.Name) error {
	dir := r.absolute(r.output)
	switch err := os.Mkdir(dir, 0o700); {
	case errors.Is(err, os.ErrExist):
		return unusable(fmt.Errorf("%s exists already", dir), "remove it, or name another folder")
	case err != nil:
		return failure(err, "check that the folder above exists and may be written")
	}
	reports := make([]exportReport, len(list))
	for i, n := range list {
		var err error
		if reports[i], err = r.file(ctx, h, n, filepath.Join(dir, n.Number.String()+".jsonl")); err != nil {
			return err
		}
	}
	if !r.asJSON {
		return nil
	}
	return writeJSON(r.out, reports)
}

// below are the sessions of a team's agents, and of theirs, in the order of their
// numbers.
func (h *home) below(top journal.Name) (list []journal.Name, err error) {
	all, err := h.sessions()
	if err != nil {
		return nil, err
	}
	parents := map[string]string{}
	for _, n := range all {
		// What a journal that cannot be read belongs to is not known.
		if head, err := journal.Head(n.Path); err == nil {
			parents[n.ULID] = head.Info.Parent
		}
	}
	for _, n := range all {
		at := n.ULID
		for range all { // a circle of parents ends
			if at = parents[at]; at == top.ULID {
				list = append(list, n)
				break
			}
		}
	}
	return slices.DeleteFunc(list, func(n journal.Name) bool { return n.ULID == top.ULID }), nil
}

// absolute is a path as it is meant: from the working directory.
func (inv *invocation) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(inv.app.dir, path)
}

// newFile writes a file that does not exist yet; of one that cannot be written
// whole nothing stays.
func newFile(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return unusable(fmt.Errorf("%s exists already", path), "remove it, or name another file")
	}
	if err != nil {
		return failure(err, "check that the folder exists and may be written")
	}
	if err = write(f); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// A sessionImportRun is one `quire session import`.
type sessionImportRun struct {
	*invocation
	renumber bool
	asJSON   bool
}

// An importedSession is what `quire session import --json` says.
type importedSession struct {
	journal.Imported
	Derived ingest.Derived `json:"derived"`
}

func (inv *invocation) sessionImportCommand() *cobra.Command {
	run := &sessionImportRun{invocation: inv}
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Take a session back that was exported with its secrets",
		Long: `Take a session that quire session export --with-secrets wrote into the pool: its
journal and its bodies are the same, byte for byte. FILE may be - for the standard
input. A session that is here already is left as it is. Logs of other agents are
taken by quire import.

A session keeps its number. Where another session has it here, --renumber gives it
the next free one.`,
		Example: `  quire session import s7.jsonl
  quire session import s7.jsonl --renumber`,
		Args: exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error { return run.do(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.BoolVar(&run.renumber, "renumber", false, "give it the next free number where its own is taken")
	f.BoolVar(&run.asJSON, "json", false, "write what was done as one JSON object")
	return cmd
}

func (r *sessionImportRun) do(cmd *cobra.Command, path string) (err error) {
	src, err := r.source(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	h, err := r.openHome(cmd)
	if err != nil {
		return err
	}
	defer func() { err = h.close(err) }()
	if err := h.counting(); err != nil {
		return err
	}
	got, err := r.take(cmd.Context(), h, src)
	if err != nil {
		return r.refused(err)
	}
	done := importedSession{Imported: got}
	if done.Derived, err = h.pool.DeriveAll(cmd.Context(), []journal.Name{got.Name}, nil); err != nil {
		return err
	}
	return r.say(done)
}

// take takes the session in while nobody collects bodies that no journal names:
// those of an export come before its journal.
func (r *sessionImportRun) take(ctx context.Context, h *home, src io.Reader) (got journal.Imported, err error) {
	lock, err := journal.LockHome(h.pool.Home)
	if err != nil {
		return got, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	return journal.Import(ctx, h.pool.Home, src, h.pool.Bodies, journal.Options{Renumber: r.renumber})
}

func (r *sessionImportRun) source(path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(r.in), nil
	}
	const advice = "name a file that `quire session export --with-secrets` wrote"
	if path == "" {
		return nil, unusable(errors.New("FILE is empty"), advice)
	}
	f, err := os.Open(r.absolute(path))
	if err != nil {
		return nil, unusable(err, advice)
	}
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return nil, errors.Join(unusable(fmt.Errorf("%s is a folder", path), advice), f.Close())
	}
	return f, nil
}

// refused gives an error of an import its advice.
func (r *sessionImportRun) refused(err error) error {
	switch {
	case errors.Is(err, journal.ErrMasked):
		return unusable(err, "export it again with --with-secrets")
	case errors.Is(err, quire.ErrDamaged), errors.Is(err, quire.ErrMissing):
		return unusable(err, "export it again; logs of other agents are taken by `quire import`")
	case errors.Is(err, quire.ErrConflict) && !r.renumber:
		return unusable(err, "--renumber gives it another number where only that is in the way")
	case errors.Is(err, quire.ErrConflict):
		return unusable(err, "`quire session rm` removes the one that is here")
	}
	return err
}

func (r *sessionImportRun) say(done importedSession) error {
	if r.asJSON {
		return writeJSON(r.out, done)
	}
	if !done.New {
		fmt.Fprintf(r.out, "%s is here already\n", done.Number)
		return nil
	}
	fmt.Fprintf(r.out, "%s: %d %s, %d %s, %d %s\n", done.Number, done.Lines, plural(done.Lines, "record", "records"),
		done.Bodies, plural(done.Bodies, "body", "bodies"), done.Derived.Pages, plural(done.Derived.Pages, "page", "pages"))
	return nil
}

// A removeRun is one `quire session rm`.
type removeRun struct {
	*invocation
	yes    bool
	asJSON bool
}

func (inv *invocation) sessionRemoveCommand() *cobra.Command {
	run := &removeRun{invocation: inv}
	cmd := &cobra.Command{
		Use:   "rm SESSION…",
		Short: "Remove sessions for ever",
		Long: `Remove sessions: their journals, and what the page table and the index hold of them.
Their numbers are not given out again. The bodies stay until quire pool gc deletes
those that no other session names. There is no way back, unless the session was
exported with its secrets.

On a terminal it asks; elsewhere it wants --yes.`,
		Example: "  quire session rm s7\n  quire session rm s7 s8 --yes && quire pool gc",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return unusable(errors.New("quire session rm wants a SESSION"), "`quire session list` lists them")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return run.do(cmd, args) },
	}
	f := cmd.Flags()
	f.BoolVar(&run.yes, "yes", false, "do not ask")
	f.BoolVar(&run.asJSON, "json", false, "write the removed sessions as a JSON array")
	return cmd
}

func (r *removeRun) do(cmd *cobra.Command, args []string) error {
	list, err := r.named(cmd, args)
	if err != nil {
		return err
	}
	if err := r.agreed(list); err != nil {
		return err
	}
	if err := r.remove(cmd, list); err != nil {
		return err
	}
	return r.say(list)
}

// named finds the sessions, each once. It opens no store.
func (r *removeRun) named(cmd *cobra.Command, args []string) (list []journal.Name, err error) {
	h, err := r.unopened(cmd)
	if err != nil {
		return nil, err
	}
	for _, arg := range args {
		n, err := h.session(arg)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list, nil
}

// remove removes sessions while nobody else adds or removes any. On a full disk
// the stores cannot even be opened: there the journals go first, and make room.
// Where that is too little for the page table to be changed, it goes as a whole:
// it can be made anew, and must not list what is gone.
func (inv *invocation) remove(cmd *cobra.Command, list []journal.Name) (err error) {
	dir, err := inv.homeDir(cmd)
	if err != nil {
		return err
	}
	lock, err := journal.LockHome(dir)
	if err != nil {
		return explain(err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err = inv.removeAll(cmd, list); !errors.Is(err, quire.ErrFull) {
		return err
	}
	if err := removeJournals(list); err != nil {
		return explain(err)
	}
	if err = inv.removeAll(cmd, list); !errors.Is(err, quire.ErrFull) {
		return err
	}
	inv.pageTableGone()
	return explain(sqlite.RemovePool(dir))
}

// removeAll removes sessions from the pool: journals, rows and index.
func (inv *invocation) removeAll(cmd *cobra.Command, list []journal.Name) (err error) {
	h, err := inv.openKept(cmd, sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { err = h.close(err) }()
	for _, n := range list {
		if err := h.pool.Remove(cmd.Context(), n); err != nil {
			return err
		}
	}
	return nil
}

func removeJournals(list []journal.Name) error {
	for _, n := range list {
		if err := journal.Remove(n.Path); err != nil && !errors.Is(err, quire.ErrNotFound) {
			return err
		}
	}
	return nil
}

// agreed asks, where somebody can answer.
func (r *removeRun) agreed(list []journal.Name) error {
	if r.yes {
		return nil
	}
	if f, ok := r.in.(*os.File); !ok || !isTerminal(f) {
		return unusable(errors.New("nobody is there to be asked, so nothing was removed"), "give --yes")
	}
	if !r.sure("Remove " + numbers(list) + " for ever?") {
		return errDeclined()
	}
	return nil
}

func numbers(list []journal.Name) string {
	var all []string
	for _, n := range list {
		all = append(all, n.Number.String())
	}
	return strings.Join(all, ", ")
}

func (r *removeRun) say(list []journal.Name) error {
	if r.asJSON {
		return writeJSON(r.out, list)
	}
	fmt.Fprintf(r.out, "Removed %s. `quire pool gc` deletes the bodies that nothing names any more\n", numbers(list))
	return nil
}

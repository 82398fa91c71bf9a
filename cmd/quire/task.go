package main

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/history"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/store/sqlite"
	"github.com/quire-agent/quire/internal/x/texts"
	"github.com/spf13/cobra"
)

// A taskRun is one `quire task`.
type taskRun struct {
	*invocation
	session string
	pages   []string
	none    bool
	asJSON  bool
}

func (inv *invocation) taskCommand() *cobra.Command {
	run := &taskRun{invocation: inv}
	cmd := &cobra.Command{
		Use:   "task [NAME]",
		Short: "List the tasks of a session, or say what is being worked on",
		Long: `List the tasks of a session: what the user said first in each, its pages and their
tokens, and its first and last call. Tasks are inferred from the files, names, todos
and words that turns share; a name that you give goes before what is inferred.

With NAME all that enters the session from now on belongs to that task, until
another one is named or --none is given. With --page only those pages belong to it.
What stands in the prompt does not change by it before the next epoch.`,
		Example: `  quire task --session s7
  quire task "refund bug"
  quire task refunds --page s7/p12 --page s7/p14`,
		RunE: func(cmd *cobra.Command, args []string) error { return run.do(cmd, args) },
	}
	cmd.Args = atMost(1, "NAME")
	f := cmd.Flags()
	sessionFlag(cmd, &run.session)
	f.StringSliceVar(&run.pages, "page", nil, "`PAGE` that belongs to NAME; may be given several times")
	f.BoolVar(&run.none, "none", false, "from now on no task is named")
	f.BoolVar(&run.asJSON, "json", false, "write the tasks, or what was done, as one JSON object")
	return cmd
}

func (r *taskRun) do(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) > 0 && r.none:
		return unusable(errors.New("NAME and --none say different things"), "`quire help task` shows how")
	case len(r.pages) > 0 && cmd.Flags().Changed("session"):
		return unusable(errors.New("--page and --session name a session twice"), "name the pages with their session, as in s7/p12")
	case len(args) == 0 && len(r.pages) > 0:
		return unusable(errors.New("--page wants the NAME of a task"), "`quire help task` shows how")
	case len(args) == 0 && !r.none:
		return r.list(cmd)
	}
	name := strings.Join(args, "")
	if err := checkTask(name); err != nil && !r.none {
		return err
	}
	return r.mark(cmd, name)
}

// taskLength is how many characters the name of a task may have.
const taskLength = 80

// checkTask refuses what is no name.
func checkTask(name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return unusable(errors.New("the NAME of a task is empty"), "--none says that no task is named")
	case utf8.RuneCountInString(name) > taskLength, strings.ContainsFunc(name, unicode.IsControl), !utf8.ValidString(name):
		return unusable(errors.New("this is no name of a task"), fmt.Sprintf("give one line of at most %d characters", taskLength))
	}
	return nil
}

// A taskList is what `quire task` shows.
type taskList struct {
	Session quire.SessionNumber `json:"session"`
	Tasks   []history.Task      `json:"tasks"`
}

func (r *taskRun) list(cmd *cobra.Command) (err error) {
	h, err := r.openToRead(cmd)
	if err != nil {
		return err
	}
	defer func() { err = h.close(err) }()
	name, err := h.flagged(cmd, r.session)
	if err != nil {
		return err
	}
	if err := r.warnBehind(cmd.Context(), h, name.Number); err != nil {
		return err
	}
	var rows []quire.Row
	for row, err := range h.pool.Table.Rows(cmd.Context(), r.reader(), quire.Filter{Session: name.Number}) {
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	src := history.Source{Path: name.Path, Bodies: h.pool.Bodies, Mask: h.secrets.Mask}
	tasks, err := src.Tasks(cmd.Context(), rows)
	if err != nil {
		return err
	}
	list := texts.Map(taskList{Session: name.Number, Tasks: orNone(tasks)}, h.secrets.Mask)
	if r.asJSON {
		return writeJSON(r.out, list)
	}
	return r.writeTasks(&list)
}

func (r *taskRun) writeTasks(list *taskList) error {
	n := len(list.Tasks)
	fmt.Fprintf(r.out, "%s  %d %s\n", list.Session, n, plural(n, "task", "tasks"))
	if n == 0 {
		return nil
	}
	w := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TASK\tTURNS\tPAGES\tTOKENS\tCALLS\tNAMED BY\tGOAL")
	for i := range list.Tasks {
		t := &list.Tasks[i]
		name, by, calls := clip(t.Task, 40), "-", "-"
		if t.Now {
			name += " *"
		}
		if t.Marked {
			by = "you"
		}
		if t.First >= 0 {
			calls = fmt.Sprintf("%d–%d", t.First, t.Last)
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\t%s\t%s\n", name, t.Turns, t.Pages, t.Tokens, calls, by, shown(clip(t.Goal, aboutShown)))
	}
	return w.Flush()
}

// A taskReport is what marking a task did.
type taskReport struct {
	Session quire.SessionNumber `json:"session"`
	Task    string              `json:"task"`            // "" for none
	Pages   []string            `json:"pages,omitempty"` // that belong to it; none: what enters from now on
}

func (r *taskRun) mark(cmd *cobra.Command, task string) (err error) {
	h, err := r.openKept(cmd, sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { err = h.close(err) }()
	name, err := h.flagged(cmd, r.session)
	if err != nil {
		return err
	}
	marks := []quire.MarkRecord{{What: quire.MarkTask, Task: task, By: owner}}
	report := taskReport{Session: name.Number, Task: task}
	if len(r.pages) > 0 {
		if name, marks, err = r.pageMarks(cmd, h, task); err != nil {
			return err
		}
		report.Session = name.Number
	}
	for _, m := range marks {
		if m.Page > 0 {
			report.Pages = append(report.Pages, quire.PageRef{Session: name.Number, Page: m.Page}.String())
		}
	}
	if err := h.mark(cmd, name, marks...); err != nil {
		return err
	}
	report = texts.Map(report, h.secrets.Mask)
	if r.asJSON {
		return writeJSON(r.out, report)
	}
	_, err = fmt.Fprintln(r.out, report.text())
	return err
}

// pageMarks are the marks for the pages that were named, which are of one session.
func (r *taskRun) pageMarks(cmd *cobra.Command, h *home, task string) (name journal.Name, marks []quire.MarkRecord, err error) {
	session := quire.SessionNumber(0)
	for _, arg := range r.pages {
		row, ref, err := h.page(cmd.Context(), r.reader(), arg)
		switch {
		case err != nil:
			return name, nil, err
		case ref.Lines != (quire.Range{}):
			return name, nil, unusable(fmt.Errorf("%s: a page is marked as a whole", arg), "name the page without lines")
		case session > 0 && row.Session != session:
			return name, nil, unusable(fmt.Errorf("%s is of another session than %s", row.Ref(), session), "a task is of one session: mark them one by one")
		}
		session = row.Session
		marks = append(marks, quire.MarkRecord{What: quire.MarkTask, Task: task, Page: row.Number, By: owner})
	}
	name, err = journal.Find(h.pool.Home, session.String())
	return name, marks, err
}

func (t *taskReport) text() string {
	switch {
	case t.Task == "":
		return fmt.Sprintf("From now on no task of %s is named", t.Session)
	case len(t.Pages) > 0:
		return fmt.Sprintf("%s %s to %s", strings.Join(t.Pages, ", "), plural(len(t.Pages), "belongs", "belong"), t.Task)
	}
	return fmt.Sprintf("What enters %s from now on belongs to %s", t.Session, t.Task)
}

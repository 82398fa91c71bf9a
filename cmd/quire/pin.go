package main

import (
	"errors"
	"fmt"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/store/sqlite"
	"github.com/spf13/cobra"
)

// A pinRun is one `quire pin`, `unpin` or `drop`.
type pinRun struct {
	*invocation
	what   string // of the mark
	until  int
	asJSON bool
}

// A markedPage is what was done to a page.
type markedPage struct {
	Name   string `json:"name"`
	About  string `json:"about"`
	Mark   string `json:"mark"`            // pin, unpin or drop
	Until  int    `json:"until,omitempty"` // of a pin: the last call for which it holds, 0: for good
	Marked bool   `json:"marked"`          // false: it was so before
}

func (inv *invocation) pinCommand() *cobra.Command {
	run := &pinRun{invocation: inv, what: quire.MarkPin}
	cmd := run.command("pin PAGE…", "Keep pages in the prompt as they stand",
		`Pin pages: from the next call on no epoch lowers or folds them, whatever they cost to
carry. A page that stands as a handle already keeps that form: quire recall brings
its text back. With --until the pin ends by itself.`,
		"  quire pin s7/p412\n  quire pin p12 p14 --until 60")
	cmd.Flags().IntVar(&run.until, "until", 0, "the last `CALL` for which it holds; without it until quire unpin")
	return cmd
}

func (inv *invocation) unpinCommand() *cobra.Command {
	run := &pinRun{invocation: inv, what: quire.MarkUnpin}
	return run.command("unpin PAGE…", "Take the pin off pages",
		"Take the pin off pages: from the next call on they are treated like all others.", "  quire unpin s7/p412")
}

func (inv *invocation) dropCommand() *cobra.Command {
	run := &pinRun{invocation: inv, what: quire.MarkDrop}
	return run.command("drop PAGE…", "Let pages go from the prompt at the next epoch",
		`Drop pages: at the next epoch they leave the prompt, whatever is known of their use.
They stay in the pool, and quire recall finds them; quire forget deletes. A pin takes
a drop back. Your own words cannot be dropped.`, "  quire drop s7/p412\n  quire drop p12 p14")
}

func (r *pinRun) command(use, short, long, example string) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long, Example: example,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return unusable(errors.New(cmd.CommandPath()+" wants a PAGE"), "`quire pages` lists them")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return r.do(cmd, args) },
	}
	cmd.Flags().BoolVar(&r.asJSON, "json", false, "write what was done as a JSON array")
	return cmd
}

func (r *pinRun) do(cmd *cobra.Command, args []string) (err error) {
	if cmd.Flags().Changed("until") && r.until < 1 {
		return unusable(fmt.Errorf("--until %d is no call that can come", r.until), "give the number of a call, or leave it out")
	}
	h, err := r.openKept(cmd, sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { err = h.close(err) }()
	var done []markedPage
	marks := map[quire.SessionNumber][]quire.MarkRecord{}
	var order []quire.SessionNumber
	for _, arg := range args {
		row, err := r.markable(cmd, h, arg)
		if err != nil {
			return err
		}
		one := markedPage{Name: row.Ref().String(), About: h.secrets.Mask(aboutOrKind(&row)), Mark: r.what, Until: r.until, Marked: !r.isSo(&row)}
		done = append(done, one)
		if !one.Marked {
			continue
		}
		if marks[row.Session] == nil {
			order = append(order, row.Session)
		}
		marks[row.Session] = append(marks[row.Session], quire.MarkRecord{What: r.what, Page: row.Number, Until: r.until, By: owner})
	}
	for _, n := range order {
		name, err := journal.Find(h.pool.Home, n.String())
		if err != nil {
			return err
		}
		if err := h.mark(cmd, name, marks[n]...); err != nil {
			return err
		}
	}
	return r.say(done)
}

// mark writes marks into the journal of a session.
func (h *home) mark(cmd *cobra.Command, name journal.Name, marks ...quire.MarkRecord) error {
	if err := h.counting(); err != nil {
		return err
	}
	return h.pool.Mark(cmd.Context(), name, marks...)
}

// markable finds a page that can be marked so.
func (r *pinRun) markable(cmd *cobra.Command, h *home, arg string) (quire.Row, error) {
	row, ref, err := h.page(cmd.Context(), r.reader(), arg)
	switch {
	case err != nil:
		return row, err
	case ref.Lines != (quire.Range{}):
		return row, unusable(fmt.Errorf("%s: a page is marked as a whole", arg), "name the page without lines")
	case r.what == quire.MarkDrop && row.Kind == quire.PageUser:
		return row, unusable(fmt.Errorf("%s holds your own words, which stay until their turn is folded", row.Ref()), "`quire forget` deletes them for ever")
	case r.until == 0:
		return row, nil
	}
	last, err := h.lastCall(cmd.Context(), r.reader(), row.Session)
	if err == nil && r.until < last {
		err = unusable(fmt.Errorf("call %d of %s is over", r.until, row.Session), fmt.Sprintf("give a call from %d on", last))
	}
	return row, err
}

// isSo reports whether the mark would change nothing.
func (r *pinRun) isSo(row *quire.Row) bool {
	switch r.what {
	case quire.MarkPin:
		return row.Pin.By != "" && row.Pin.Until == r.until
	case quire.MarkUnpin:
		return row.Pin.By == ""
	default:
		return row.Dropped != ""
	}
}

func (r *pinRun) say(done []markedPage) error {
	if r.asJSON {
		return writeJSON(r.out, done)
	}
	for _, d := range done {
		fmt.Fprintf(r.out, "%s (%s) %s\n", d.Name, clip(d.About, aboutShown), d.meaning())
	}
	return nil
}

// meaning says what the mark means from now on.
func (d *markedPage) meaning() string {
	text := map[string][2]string{
		quire.MarkPin:   {"is pinned already", "is pinned: from the next call on no epoch lowers it"},
		quire.MarkUnpin: {"is not pinned", "is not pinned any more"},
		quire.MarkDrop:  {"is dropped already", "is dropped: it leaves the prompt at the next epoch, and stays in the pool"},
	}[d.Mark]
	if !d.Marked {
		return text[0]
	}
	if d.Until > 0 {
		return fmt.Sprintf("%s, up to call %d", text[1], d.Until)
	}
	return text[1]
}

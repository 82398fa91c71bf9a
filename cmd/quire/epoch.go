package main

import (
	"errors"
	"fmt"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/quire-agent/quire/internal/history"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/store/sqlite"
	"github.com/quire-agent/quire/internal/x/texts"
	"github.com/spf13/cobra"
)

func (inv *invocation) epochCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "epoch",
		Short: "List the rewrites of a session's prompt, or undo one",
		Long: `List the epochs of a session, or undo one. An epoch begins with a call whose prompt
does not extend the one before it: pages that lay idle stand as handles and cards
from then on. It is free where the cache was cold anyway, forced where the window is
full, and paid where what was saved pays for it.`,
		Example: "  quire epoch list s7\n  quire epoch undo 3 --session s7",
		Args:    inv.unknownCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(inv.epochListCommand(), inv.epochUndoCommand())
	return cmd
}

// An epochList is what `quire epoch list` shows.
type epochList struct {
	Session  quire.SessionNumber `json:"session"`
	Calls    int                 `json:"calls"`
	Told     string              `json:"told"`
	Relative bool                `json:"relative"` // money is in input tokens; otherwise in US dollars
	Account  float64             `json:"account"`  // saved until the last call
	Faults   int                 `json:"faults"`   // of all calls
	Missed   float64             `json:"missed"`   // what those cost
	Totals   history.Totals      `json:"totals"`
	Pending  int                 `json:"pending"` // the epoch that the next call undoes, 0: none
	Epochs   []history.Epoch     `json:"epochs"`
}

func (inv *invocation) epochListCommand() *cobra.Command {
	profile, asJSON := "", false
	cmd := &cobra.Command{
		Use:   "list [SESSION]",
		Short: "List the epochs of a session",
		Long: `List the epochs of a session: the call that each began with, why, the tokens of the
stream before and after, what it cost more than going on and what it should save,
and how many pages that it had lowered were missed within 10 calls, with the money
that this cost. Above them stand the hits and faults of the session, the pages that
were lowered and folded, the mis-schedules with what they cost and what the going of
their pages had saved, and the pages that were brought in before they were asked
for. Without SESSION the newest is listed.`,
		Example: "  quire epoch list\n  quire epoch list s7 --profile claude --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return inv.listEpochs(cmd, args, profile, asJSON)
		},
	}
	cmd.Args = atMost(1, "SESSION")
	profileFlag(cmd, &profile)
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the epochs as one JSON object")
	return cmd
}

func (inv *invocation) listEpochs(cmd *cobra.Command, args []string, profile string, asJSON bool) (err error) {
	h, err := inv.openToRead(cmd)
	if err != nil {
		return err
	}
	defer func() { err = h.close(err) }()
	name, err := h.sessionOf(args)
	if err != nil {
		return err
	}
	told, err := inv.history(cmd, h, name, profile)
	if err != nil {
		return err
	}
	list := epochList{Session: name.Number, Calls: len(told.Calls), Told: toldFrom(told), Relative: told.Relative, Pending: told.Pending, Epochs: told.Epochs}
	if n := len(told.Calls); n > 0 {
		list.Account = told.Calls[n-1].Account
	}
	list.Totals = told.Totals()
	list.Faults, list.Missed = list.Totals.Faults, list.Totals.Missed
	list = texts.Map(list, h.secrets.Mask)
	if asJSON {
		return writeJSON(inv.out, list)
	}
	s, err := inv.settings(cmd)
	if err != nil {
		return err
	}
	return inv.writeEpochs(&list, purseOf(told), zone(s))
}

func (inv *invocation) writeEpochs(list *epochList, p purse, z *time.Location) error {
	n := len(list.Epochs)
	fmt.Fprintf(inv.out, "%s  %d %s, %d %s, %d %s for %s, %s; %s\n", list.Session, list.Calls, plural(list.Calls, "call", "calls"), n, plural(n, "epoch", "epochs"),
		list.Faults, plural(list.Faults, "fault", "faults"), p.sum(list.Missed), p.saved(list.Account), list.Told)
	fmt.Fprintln(inv.out, totalsText(&list.Totals, p))
	if list.Pending > 0 {
		fmt.Fprintf(inv.out, "the next call undoes epoch %d\n", list.Pending)
	}
	if n == 0 {
		return nil
	}
	w := tabwriter.NewWriter(inv.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "EPOCH\tCALL\tAT\tKIND\tBEFORE\tAFTER\tPAGES\tPRICE\tSAVES\tMISSED\tCOST\tWHY")
	for i := range list.Epochs {
		e := &list.Epochs[i]
		fmt.Fprintf(w, "%d\t%d\t%s\t%s\t%d\t%d\t%d\t%s\t%s\t%d\t%s\t%s\n", e.Epoch, e.Call, began(e.At, z), e.Kind, e.Before, e.After, e.Pages,
			p.short(e.Price), p.short(e.Saves), e.Faults, p.short(e.Missed), epochWhy(e))
	}
	return w.Flush()
}

// totalsText says what the epochs did to pages, and how well that was foreseen.
func totalsText(t *history.Totals, p purse) string {
	text := fmt.Sprintf("%d %s; %d lowered, %d folded; %d mis-scheduled", t.Hits, plural(t.Hits, "hit", "hits"), t.Demotions, t.Folds, t.Soon)
	if t.Soon > 0 {
		text += fmt.Sprintf(" for %s that had saved %s", p.sum(t.SoonCost), p.sum(t.SoonSaved))
	}
	return text + fmt.Sprintf("; %d brought in unasked, %d used, %d wasted", t.Foreseen, t.Used, t.Wasted)
}

func epochWhy(e *history.Epoch) string {
	if e.Undone > 0 {
		return fmt.Sprintf("%s (undone by epoch %d)", e.Reason, e.Undone)
	}
	return e.Reason
}

// An epochUndoRun is one `quire epoch undo`.
type epochUndoRun struct {
	*invocation
	session string
	profile string
	yes     bool
	asJSON  bool
}

// An epochUndoReport is what `quire epoch undo` did.
type epochUndoReport struct {
	Session  quire.SessionNumber `json:"session"`
	Marked   bool                `json:"marked"`   // false: it was marked before
	Relative bool                `json:"relative"` // money is in input tokens; otherwise in US dollars
	history.Restored
}

func (inv *invocation) epochUndoCommand() *cobra.Command {
	run := &epochUndoRun{invocation: inv}
	cmd := &cobra.Command{
		Use:   "undo N",
		Short: "Restore with the next call the prompt that was before an epoch",
		Long: `Undo epoch N, as quire epoch list counts: the next call restores the stream that
stood before it, with what came since behind it. What that costs is shown first.
Later epochs of the session may lower the same pages again; quire pin keeps them.`,
		Example: "  quire epoch undo 3\n  quire epoch undo 3 --session s7 --yes",
		Args:    exactly("N"),
		RunE:    func(cmd *cobra.Command, args []string) error { return run.do(cmd, args[0]) },
	}
	f := cmd.Flags()
	sessionFlag(cmd, &run.session)
	profileFlag(cmd, &run.profile)
	f.BoolVar(&run.yes, "yes", false, "do not ask")
	f.BoolVar(&run.asJSON, "json", false, "write what was done as one JSON object")
	return cmd
}

func (r *epochUndoRun) do(cmd *cobra.Command, arg string) (err error) {
	number, err := strconv.Atoi(arg)
	if err != nil {
		return unusable(fmt.Errorf("%q is not an epoch: want its number", arg), "`quire epoch list` lists them")
	}
	h, err := r.openKept(cmd, sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { err = h.close(err) }()
	name, err := h.flagged(cmd, r.session)
	if err != nil {
		return err
	}
	told, err := r.history(cmd, h, name, r.profile)
	if err != nil {
		return err
	}
	report, err := undoneAt(told, name, number)
	if err != nil {
		return err
	}
	if err := r.agreed(&report, purseOf(told)); err != nil {
		return err
	}
	if report.Marked {
		if err := h.mark(cmd, name, quire.MarkRecord{What: quire.MarkUndo, Epoch: number, By: owner}); err != nil {
			return err
		}
	}
	return r.say(&report)
}

// undoneAt says what undoing an epoch would bring about, or why that cannot be.
func undoneAt(told *history.History, name journal.Name, number int) (epochUndoReport, error) {
	report := epochUndoReport{Session: name.Number, Marked: told.Pending != number, Relative: told.Relative}
	advice := "`quire epoch list " + name.Number.String() + "` lists them"
	if number < 1 || number > len(told.Epochs) {
		return report, unusable(fmt.Errorf("%s has no epoch %d: there are %d", name.Number, number, len(told.Epochs)), advice)
	}
	if e := &told.Epochs[number-1]; e.Undone > 0 {
		return report, unusable(fmt.Errorf("epoch %d of %s was undone by epoch %d", number, name.Number, e.Undone), advice)
	}
	var ok bool
	if report.Restored, ok = told.Undo(number); !ok {
		return report, unusable(fmt.Errorf("epoch %d of %s cannot be undone any more", number, name.Number), "`quire recall` brings single pages back")
	}
	return report, nil
}

// agreed shows the cost and asks.
func (r *epochUndoRun) agreed(u *epochUndoReport, p purse) error {
	if !u.Marked {
		return nil
	}
	fmt.Fprintf(r.err, "The stream goes from %d to %d tokens. The next call costs %s if the cache is cold by then and %s if not; each later one %s.\n",
		u.Now, u.Then, p.change(u.Cold), p.change(u.Warm), p.change(u.Later))
	if r.yes || r.sure(fmt.Sprintf("Undo epoch %d of %s?", u.Epoch, u.Session)) {
		return nil
	}
	return unusable(errors.New("nothing was undone"), "answer y, or give --yes")
}

func (r *epochUndoRun) say(u *epochUndoReport) error {
	if r.asJSON {
		return writeJSON(r.out, u)
	}
	if !u.Marked {
		fmt.Fprintf(r.out, "Epoch %d of %s is undone by the next call already\n", u.Epoch, u.Session)
		return nil
	}
	fmt.Fprintf(r.out, "The next call of %s undoes epoch %d\n", u.Session, u.Epoch)
	return nil
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/quire-agent/quire/internal/history"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/texts"
	"github.com/spf13/cobra"
)

// A whyRun is one `quire why`.
type whyRun struct {
	*invocation
	call    int
	session string
	profile string
	asJSON  bool
}

func (inv *invocation) whyCommand() *cobra.Command {
	run := &whyRun{invocation: inv}
	cmd := &cobra.Command{
		Use:   "why {PAGE | --call K}",
		Short: "Say why a page stands as it does, or why a call was sent as it was",
		Long: `Say what was decided about a page and why: how it stands now, each decision with
the figures behind it, when it was missed, and when it was brought in because words
pointed to it. With --call it says what was decided
for one call: whether its prompt only grew or was rewritten, what went and what
came in. Calls count from 0; those of subagents do not count.

A session that quire ran is told as it was sent. One that was imported is played
through the scheduler, under the prices of its model and with the pauses that there
were, or under --profile. What you marked (quire pin, drop, epoch undo) holds from
the next call on. A fault is text that the model repeated word for word and that
did not stand in the prompt.`,
		Example: `  quire why s7/p412
  quire why --call 40 --session s7
  quire why p12 --profile claude --json`,
		RunE: func(cmd *cobra.Command, args []string) error { return run.do(cmd, args) },
	}
	cmd.Args = atMost(1, "PAGE")
	f := cmd.Flags()
	f.IntVar(&run.call, "call", 0, "say it of call `K`, counted from 0")
	sessionFlag(cmd, &run.session)
	profileFlag(cmd, &run.profile)
	f.BoolVar(&run.asJSON, "json", false, "write it as one JSON object")
	return cmd
}

func (r *whyRun) do(cmd *cobra.Command, args []string) (err error) {
	byCall := cmd.Flags().Changed("call")
	if byCall == (len(args) > 0) {
		return unusable(errors.New("quire why wants a PAGE or --call K"), "`quire help why` shows how")
	}
	if !byCall && cmd.Flags().Changed("session") {
		return unusable(errors.New("--session goes with --call"), "name the page with its session, as in s7/p412")
	}
	h, err := r.openToRead(cmd)
	if err != nil {
		return err
	}
	defer func() { err = h.close(err) }()
	if byCall {
		return r.ofCall(cmd, h)
	}
	return r.ofPage(cmd, h, args[0])
}

// A pageWhy is what is said of a page.
type pageWhy struct {
	Name     string             `json:"name"`
	Told     string             `json:"told"` // where the decisions are from
	Heat     float64            `json:"heat_now"`
	Stands   []history.Standing `json:"stands"`
	Away     string             `json:"away,omitempty"` // why it stands nowhere
	Decided  []history.Decided  `json:"decisions"`
	Faults   []history.Fault    `json:"faults"`
	Foreseen []history.Foreseen `json:"foreseen"`
	Relative bool               `json:"relative"` // money is in input tokens; otherwise in US dollars
	Row      shownRow           `json:"row"`
}

func (r *whyRun) ofPage(cmd *cobra.Command, h *home, arg string) error {
	row, ref, err := h.page(cmd.Context(), r.reader(), arg)
	if err != nil {
		return err
	}
	if ref.Lines != (quire.Range{}) {
		return unusable(fmt.Errorf("%s: what is decided is decided of a whole page", arg), "name the page without lines")
	}
	told, err := r.toldOf(cmd, h, row.Session)
	if err != nil {
		return err
	}
	last, err := h.lastCall(cmd.Context(), r.reader(), row.Session)
	if err != nil {
		return err
	}
	w := texts.Map(pageWhy{
		Name: row.Ref().String(), Told: toldFrom(told), Stands: orNone(told.Standing(row.Number)), Decided: orNone(told.Decided(row.Number)),
		Faults: orNone(told.Faults(row.Number)), Foreseen: orNone(told.Foreseen(row.Number)), Relative: told.Relative, Row: shownRow{pageNames(row.From), row},
		Heat: row.Heat * math.Exp2(-float64(last-row.LastRef)/12),
	}, h.secrets.Mask)
	if len(w.Stands) == 0 {
		w.Away = told.Away(row.Number)
	}
	if r.asJSON {
		return writeJSON(r.out, w)
	}
	return r.writePage(&w, told)
}

// orNone is a list that JSON shows as one also where it is empty.
func orNone[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (r *whyRun) toldOf(cmd *cobra.Command, h *home, n quire.SessionNumber) (*history.History, error) {
	name, err := journal.Find(h.pool.Home, n.String())
	if err != nil {
		return nil, err
	}
	return r.history(cmd, h, name, r.profile)
}

func (r *whyRun) writePage(w *pageWhy, told *history.History) error {
	row := &w.Row.Row
	fmt.Fprintf(r.out, "%s  %s\n", w.Name, clip(aboutOrKind(row), aboutShown))
	out := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) { fmt.Fprintf(out, name+"\t"+format+"\n", args...) }
	line("what", "%s", whatIs(row))
	line("entered", "with call %d", row.Call)
	line("used", "%s; heat %.1f", usedText(row), w.Heat)
	if row.Pin.By != "" || row.Dropped != "" {
		line("marked", "%s", markText(row))
	}
	if len(row.Tasks) > 0 {
		line("tasks", "%s", strings.Join(row.Tasks, ", "))
	}
	for i := range w.Stands {
		line("stands", "%s", standsText(&w.Stands[i], w.Decided))
	}
	if len(w.Stands) == 0 {
		line("stands", "in no stream: %s", w.Away)
	}
	for i := range w.Stands {
		r.next(line, &w.Stands[i], purseOf(told))
	}
	if err := out.Flush(); err != nil {
		return err
	}
	r.writeDecided(w, purseOf(told))
	_, err := fmt.Fprintf(r.out, "told %s\n", w.Told)
	return err
}

// whatIs describes a page in a line.
func whatIs(row *quire.Row) string {
	text := fmt.Sprintf("%s, %s, %d tokens, outcome %s", row.Kind, row.Class, row.Tokens, row.Outcome)
	if row.By > 0 {
		text += ", superseded by " + row.By.String()
	}
	return text
}

func usedText(row *quire.Row) string {
	if row.Refs == 0 {
		return "never since"
	}
	return fmt.Sprintf("%d %s, last by call %d", row.Refs, plural(row.Refs, "time", "times"), row.LastRef)
}

// markText says what the user marked a page with.
func markText(row *quire.Row) string {
	switch {
	case row.Dropped != "":
		return "dropped: it goes at the next epoch"
	case row.Pin.Until > 0:
		return fmt.Sprintf("pinned up to call %d: no epoch lowers it", row.Pin.Until)
	}
	return "pinned: no epoch lowers it"
}

// standsText says how a part of a page stands and since when.
func standsText(s *history.Standing, all []history.Decided) string {
	text := string(s.From)
	if s.Part != 0 {
		text = s.Part.String() + ": " + text
	}
	if s.From == quire.RenditionFull {
		return text + tokensText(s.Tokens)
	}
	for _, d := range slices.Backward(all) {
		if d.To == s.From {
			return fmt.Sprintf("%s since call %d", text, d.Call)
		}
	}
	return text
}

// next says what would become of a part if an epoch began with the next call.
func (r *whyRun) next(line func(name, format string, args ...any), s *history.Standing, p purse) {
	if !s.From.Resident() || s.Part == 0 {
		return
	}
	verb := "stays"
	if s.To != s.From {
		verb = fmt.Sprintf("goes to %s", s.To)
	}
	line("at an epoch", "%s %s: %s%s", s.Part, verb, s.Reason, figures(&s.Decision, p))
}

// figures are those behind a decision, "" where it needed none.
func figures(d *quire.Decision, p purse) string {
	if d.Carry == 0 {
		return ""
	}
	text := fmt.Sprintf("; to carry it until the next one costs %s", p.sum(d.Carry))
	if d.Miss == 0 {
		return text
	}
	return text + fmt.Sprintf(", it is needed until then with %s (word for word %s), and missing it costs %s", percent(d.Chance), percent(d.Strict), p.sum(d.Miss))
}

// A whyEvent is something that happened to a page with a call, as the rest of a line.
type whyEvent struct {
	call int
	text string
}

// writeDecided lists decisions, faults and what was foreseen as they followed each
// other.
func (r *whyRun) writeDecided(w *pageWhy, p purse) {
	var all []whyEvent
	for i := range w.Decided {
		all = append(all, whyEvent{w.Decided[i].Call, decided(&w.Decided[i], p)})
	}
	for i := range w.Foreseen {
		all = append(all, whyEvent{w.Foreseen[i].Call, foreseen(&w.Foreseen[i])})
	}
	for i := range w.Faults {
		f := &w.Faults[i]
		all = append(all, whyEvent{f.Call, ": missed, " + p.sum(f.Cost) + blame(f, p)})
	}
	slices.SortStableFunc(all, func(a, b whyEvent) int { return cmp.Compare(a.call, b.call) })
	for _, e := range all {
		fmt.Fprintf(r.out, "call %d%s\n", e.call, e.text)
	}
}

func decided(d *history.Decided, p purse) string {
	text := fmt.Sprintf("%s, %s%s", change(&d.Decision), reasonOf(&d.Decision), figures(&d.Decision, p))
	if d.Kind != "" {
		return fmt.Sprintf(", epoch %d (%s): %s", d.Epoch, d.Kind, text)
	}
	return ": " + text
}

// foreseen says why a page was brought in before it was asked for, and what became
// of it.
func foreseen(f *history.Foreseen) string {
	text := fmt.Sprintf(": brought in again, %d tokens: %s", f.Tokens, f.Reason)
	switch {
	case !f.Known:
		return text
	case f.Used:
		return text + "; it was used"
	}
	return text + "; it was not used"
}

// needed is how likely a page is to be needed until the next epoch, where that was
// asked.
func needed(d *quire.Decision) string {
	if d.Miss == 0 {
		return "-"
	}
	return percent(d.Chance)
}

// reasonOf is the reason without the figures that stand behind it anyway.
func reasonOf(d *quire.Decision) string {
	if d.Miss > 0 {
		head, _, _ := strings.Cut(d.Reason, ":")
		return head
	}
	return d.Reason
}

// change says how a decision changed a page.
func change(d *quire.Decision) string {
	if d.From == "" {
		return fmt.Sprintf("came in as %s, %d tokens", d.To, d.Tokens)
	}
	text := fmt.Sprintf("%s → %s", d.From, d.To)
	if d.Was > 0 && d.Tokens > 0 {
		text += fmt.Sprintf(", %d → %d tokens", d.Was, d.Tokens)
	}
	return text
}

// blame says which epoch a fault is booked to, and of one that came soon what the
// going of its page had saved.
func blame(f *history.Fault, p purse) string {
	switch {
	case f.Soon:
		text := fmt.Sprintf(": epoch %d had lowered it %d %s before, a mis-schedule", f.Epoch, f.Since, plural(f.Since, "call", "calls"))
		if f.Saved > 0 {
			text += " that had saved " + p.sum(f.Saved)
		}
		return text
	case f.Epoch > 0:
		return fmt.Sprintf(": epoch %d had lowered it %d calls before", f.Epoch, f.Since)
	}
	return ""
}

// A callWhy is what is said of a call.
type callWhy struct {
	Session quire.SessionNumber `json:"session"`
	Of      int                 `json:"calls"` // of the session
	Told    string              `json:"told"`
	history.Call
	Rewrite  *history.Epoch              `json:"epoch_begins,omitempty"`
	Relative bool                        `json:"relative"`
	About    map[quire.PageNumber]string `json:"about"`
}

func (r *whyRun) ofCall(cmd *cobra.Command, h *home) error {
	name, err := h.flagged(cmd, r.session)
	if err != nil {
		return err
	}
	told, err := r.history(cmd, h, name, r.profile)
	if err != nil {
		return err
	}
	if len(told.Calls) == 0 {
		return unusable(fmt.Errorf("%s has no call", name.Number), "`quire session list` counts the calls of the sessions")
	}
	if r.call < 0 || r.call >= len(told.Calls) {
		return unusable(fmt.Errorf("%s has no call %d: its calls are 0 to %d", name.Number, r.call, len(told.Calls)-1), "`quire epoch list "+name.Number.String()+"` lists the calls that rewrote the prompt")
	}
	w := callWhy{Session: name.Number, Of: len(told.Calls), Told: toldFrom(told), Call: told.Calls[r.call], Relative: told.Relative}
	if w.Begins {
		w.Rewrite = &told.Epochs[w.Epoch-1]
	}
	if w.About, err = r.aboutCall(cmd.Context(), h, name, &w.Call); err != nil {
		return err
	}
	w = texts.Map(w, h.secrets.Mask)
	if r.asJSON {
		return writeJSON(r.out, w)
	}
	s, err := r.settings(cmd)
	if err != nil {
		return err
	}
	at := began(w.At, zone(s))
	return r.writeCall(&w, at, purseOf(told))
}

// aboutCall says of the pages of a call what they are about.
func (r *whyRun) aboutCall(ctx context.Context, h *home, name journal.Name, c *history.Call) (map[quire.PageNumber]string, error) {
	all, err := h.aboutPages(ctx, r.reader(), name.Number)
	of := map[quire.PageNumber]string{}
	for _, d := range c.Decisions {
		of[d.Page] = all[d.Page]
	}
	for _, e := range c.Entered {
		of[e.Page] = all[e.Page]
	}
	for _, f := range c.Faults {
		of[f.Page] = all[f.Page]
	}
	for _, f := range c.Foreseen {
		of[f.Page] = all[f.Page]
	}
	return of, err
}

func (r *whyRun) writeCall(w *callWhy, at string, p purse) error {
	fmt.Fprintf(r.out, "%s  call %d of %d  %s  %s\n", w.Session, w.Call.Call, w.Of, at, w.Model)
	out := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "epoch\t%s\n", epochText(w))
	fmt.Fprintf(out, "stream\t%s, behind %d tokens of tools and system\n", streamText(w), w.Prefix)
	if e := w.Rewrite; e != nil {
		fmt.Fprintf(out, "price\t%s than going on; it should save %s until the next epoch\n", p.change(e.Price), p.sum(e.Saves))
	}
	fmt.Fprintf(out, "account\t%s so far\n", p.saved(w.Account))
	if err := out.Flush(); err != nil {
		return err
	}
	if err := r.writeGone(w); err != nil {
		return err
	}
	for _, e := range w.Entered {
		fmt.Fprintf(r.out, "came in: %s, %s%s, %s\n", e.Page, e.Part, tokensText(e.Tokens), w.About[e.Page])
	}
	for _, f := range w.Faults {
		fmt.Fprintf(r.out, "missed: %s, %s, %s%s\n", f.Page, w.About[f.Page], p.sum(f.Cost), blame(&f, p))
	}
	for i := range w.Foreseen {
		f := &w.Foreseen[i]
		fmt.Fprintf(r.out, "%s, %s%s\n", f.Page, w.About[f.Page], foreseen(f))
	}
	_, err := fmt.Fprintf(r.out, "told %s\n", w.Told)
	return err
}

// tokensText is a size behind something else, "" where it is not known.
func tokensText(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d tokens", n)
}

func epochText(w *callWhy) string {
	switch {
	case w.Rewrite != nil:
		return fmt.Sprintf("%d begins, %s: %s", w.Epoch, w.Rewrite.Kind, w.Rewrite.Reason)
	case w.Call.Call == 0:
		return "0 begins: it is the first call"
	}
	return fmt.Sprintf("%d goes on: the prompt only grew, so that what is in the cache is read", w.Epoch)
}

func streamText(w *callWhy) string {
	if w.Before == w.After {
		return fmt.Sprintf("%d tokens", w.After)
	}
	return fmt.Sprintf("%d tokens in place of %d", w.After, w.Before)
}

// goneShown is how many of the changed pages are listed for a person.
const goneShown = 12

// writeGone lists what changed, the largest change first.
func (r *whyRun) writeGone(w *callWhy) error {
	all := slices.DeleteFunc(slices.Clone(w.Decisions), func(d quire.Decision) bool { return d.From == "" })
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b quire.Decision) int { return cmp.Compare(b.Was-b.Tokens, a.Was-a.Tokens) })
	out := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "PAGE\tFROM\tTO\tWAS\tIS\tNEEDED\tABOUT\tWHY")
	for i, d := range all {
		if i == goneShown {
			break
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%d\t%d\t%s\t%s\t%s\n", d.Page, d.From, d.To, d.Was, d.Tokens, needed(&d), clip(w.About[d.Page], 40), reasonOf(&d))
	}
	err := out.Flush()
	if n := len(all) - goneShown; n > 0 {
		fmt.Fprintf(r.out, "%d more; --json lists all\n", n)
	}
	return err
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"text/tabwriter"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/texts"
	"github.com/spf13/cobra"
)

// A listedPage is a page as `quire pages --json` shows it.
type listedPage struct {
	Name string   `json:"name"`
	Now  float64  `json:"heat_now"`               // at the last call of the session
	From []string `json:"derived_from,omitempty"` // that of Row, by name

	Rendition quire.Rendition `json:"rendition,omitempty"` // in which it stood in the last prompt; "" where nothing was planned
	quire.Row
}

// A pageList is what `quire pages` shows.
type pageList struct {
	Session quire.SessionRow `json:"session"`
	Pages   []listedPage     `json:"pages"`
}

func (inv *invocation) pagesCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "pages [SESSION]",
		Short: "List the pages of a session",
		Long: `List the pages of a session: what each is, what it is about, how large and how hot
it is, which page took its place, and what became of it. SESSION is its number or
its ULID; without it the newest session is shown.

IN PROMPT is the rendition in which it stood in the last prompt that Quire planned;
- where it planned none, as in a session that was imported.

Heat is what the page was referred to lately: each reference counts one and halves
every 12 calls. Stale lines are those that a later edit changed.`,
		Example: `  quire pages
  quire pages s7 --json`,
		RunE: func(cmd *cobra.Command, args []string) error { return inv.listPages(cmd, args, asJSON) },
	}
	cmd.Args = atMost(1, "SESSION")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the pages as one JSON object")
	return cmd
}

// atMost allows a number of arguments.
func atMost(n int, name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) <= n {
			return nil
		}
		return unusable(fmt.Errorf("%s wants at most %d %s, got %d", cmd.CommandPath(), n, name, len(args)), "`"+helpFor(cmd)+"` shows how")
	}
}

func (inv *invocation) listPages(cmd *cobra.Command, args []string, asJSON bool) (err error) {
	h, err := inv.openToRead(cmd)
	if err != nil {
		return err
	}
	defer func() { err = h.close(err) }()
	name, err := h.sessionOf(args)
	if err != nil {
		return err
	}
	if err := inv.warnBehind(cmd.Context(), h, name.Number); err != nil {
		return err
	}
	list, err := inv.pagesOf(cmd, h, name)
	if err != nil {
		return err
	}
	if asJSON {
		return writeJSON(inv.out, list)
	}
	return inv.showPages(list)
}

// sessionOf is the session that is named, or the newest where none is.
func (h *home) sessionOf(args []string) (journal.Name, error) {
	if len(args) == 0 {
		return h.newest()
	}
	return h.session(args[0])
}

// warnBehind says on standard error when a session, or with 0 any of them, holds
// more than can be listed and found yet: an import was interrupted, or is at work.
func (inv *invocation) warnBehind(ctx context.Context, h *home, n quire.SessionNumber) error {
	names, err := h.sessions()
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(j journal.Name) bool { return n > 0 && j.Number != n })
	behind, err := h.pool.BehindOf(ctx, names)
	if err == nil && len(behind) > 0 {
		fmt.Fprintf(inv.err, "quire: %s\n", behindText(len(behind)))
	}
	return err
}

// behindText says that sessions are behind, and what helps.
func behindText(n int) string {
	return fmt.Sprintf("%d %s behind: not all pages can be found yet; `quire import PATH` or `quire doctor --rebuild` brings %s up to date",
		n, plural(n, "session is", "sessions are"), plural(n, "it", "them"))
}

// pageNames writes references as people write them.
func pageNames(refs []quire.PageRef) (names []string) {
	for _, r := range refs {
		names = append(names, r.String())
	}
	return names
}

// renditions says how pages stood in the last prompt that was planned. A plan names
// those that do not stand in full. Damaged places are passed over.
func renditions(path string) (map[quire.PageNumber]quire.Rendition, error) {
	stands, since := map[quire.PageNumber]quire.Rendition{}, []quire.PageNumber(nil)
	for r, err := range journal.Read(path) {
		if err != nil && !errors.Is(err, quire.ErrDamaged) {
			return nil, err
		}
		if err != nil {
			continue
		}
		switch r.Type {
		case quire.RecordPart:
			if p, err := journal.Decode[quire.PartRecord](r); err == nil && p.Chain == "" {
				since = append(since, p.Pages...)
			}
		case quire.RecordPlan:
			for _, n := range since {
				stands[n] = quire.RenditionFull
			}
			since = nil
			if p, err := journal.Decode[quire.PlanRecord](r); err == nil {
				for _, d := range p.Decisions {
					stands[d.Page] = d.To
				}
			}
		}
	}
	return stands, nil
}

// pagesOf reads the rows of a session. Secrets are masked.
func (inv *invocation) pagesOf(cmd *cobra.Command, h *home, name journal.Name) (pageList, error) {
	list := pageList{Pages: []listedPage{}, Session: quire.SessionRow{Number: name.Number, ULID: name.ULID}}
	as := inv.reader()
	stands, err := renditions(name.Path)
	if err != nil {
		return list, err
	}
	for s, err := range h.pool.Table.Sessions(cmd.Context(), as) {
		if err != nil {
			return list, err
		}
		if s.Number == name.Number {
			list.Session = s
		}
	}
	for r, err := range h.pool.Table.Rows(cmd.Context(), as, quire.Filter{Session: name.Number}) {
		if err != nil {
			return list, err
		}
		list.Pages = append(list.Pages, listedPage{r.Ref().String(), r.Heat, pageNames(r.From), stands[r.Number], r})
	}
	last := 0
	for i := range list.Pages {
		last = max(last, list.Pages[i].Call, list.Pages[i].LastRef)
	}
	for i := range list.Pages {
		p := &list.Pages[i]
		p.Now = p.Heat * math.Exp2(-float64(last-p.LastRef)/12)
	}
	return texts.Map(list, h.secrets.Mask), nil
}

func (inv *invocation) showPages(list pageList) error {
	s := &list.Session
	fmt.Fprintf(inv.out, "%s  %s  %s  %d %s, %d tokens\n", s.Number, s.Agent, inv.short(s.Project), len(list.Pages), plural(len(list.Pages), "page", "pages"), s.Tokens)
	w := tabwriter.NewWriter(inv.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PAGE\tKIND\tCLASS\tTOKENS\tHEAT\tBY\tOUTCOME\tSTALE\tIN PROMPT\tABOUT")
	for i := range list.Pages {
		p := &list.Pages[i]
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%.1f\t%s\t%s\t%s\t%s\t%s\n",
			p.Number, p.Kind, p.Class, p.Tokens, p.Now, orDash(p.By), standing(&p.Row), ranges(p.Stale), cmp.Or(string(p.Rendition), "-"), clip(about(&p.Row), 60))
	}
	return w.Flush()
}

// standing is what became of a page, and what the user wants of it.
func standing(r *quire.Row) string {
	switch {
	case r.Pin.By != "":
		return string(r.Outcome) + ", pinned"
	case r.Dropped != "":
		return string(r.Outcome) + ", dropped"
	}
	return string(r.Outcome)
}

func orDash(n quire.PageNumber) string {
	if n == 0 {
		return "-"
	}
	return n.String()
}

// ranges writes ranges of lines: 4-6,9.
func ranges(list []quire.Range) string {
	if len(list) == 0 {
		return "-"
	}
	out := ""
	for i, r := range list {
		switch {
		case i == 3:
			return out + ",…"
		case i > 0:
			out += ","
		}
		out += fmt.Sprint(r.First)
		if r.Last > r.First {
			out += fmt.Sprint("-", r.Last)
		}
	}
	return out
}

func about(r *quire.Row) string {
	if r.Tool == "" {
		return r.Target
	}
	return r.Tool + " " + r.Target
}

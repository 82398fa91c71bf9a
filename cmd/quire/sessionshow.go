package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/quire-agent/quire/internal/config"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/texts"
	"github.com/spf13/cobra"
)

// A shownSession is a session as `quire session show --json` gives it.
type shownSession struct {
	listedSession
	Ended   time.Time        `json:"ended,omitzero"`        // the last thing of which the time was recorded
	Models  []countedType    `json:"models"`                // by calls, in the order in which they came
	Usage   quire.Usage      `json:"usage"`                 // of all calls, as reported
	First   string           `json:"first_words,omitempty"` // of the user, cut
	Latest  string           `json:"last_words,omitempty"`
	Records int              `json:"records"`
	Types   []countedType    `json:"types"`
	Last    time.Time        `json:"last,omitzero"` // time of the last record
	Damages []journal.Damage `json:"damages"`       // places that cannot be read
	Talk    []toldPart       `json:"talk,omitempty"`
}

// A sessionView says what of a session is shown.
type sessionView struct {
	asJSON  bool
	brief   bool
	context bool
}

type countedType struct {
	Type    string `json:"type"`
	Records int    `json:"records"`
}

// counted is a list with one record more of a type.
func counted(list []countedType, kind string) []countedType {
	i := slices.IndexFunc(list, func(c countedType) bool { return c.Type == kind })
	if i < 0 {
		i = len(list)
		list = append(list, countedType{Type: kind})
	}
	list[i].Records++
	return list
}

func (inv *invocation) sessionShowCommand() *cobra.Command {
	var v sessionView
	cmd := &cobra.Command{
		Use:   "show SESSION",
		Short: "Show a session: what is known of it, and what was said",
		Long: `Show what is known of a session: where it is from, what the user said first and
last, what it used, what its journal holds, and which places of the journal cannot
be read, if any. Then comes the conversation: words as they were said, calls of tools
and their results in a line each, with the pages that quire show gives whole. --brief
leaves the conversation out.

--context shows the prompt of the last call instead, as the model saw it: each block
in the rendition in which it stood. Only sessions of Quire have one.`,
		Example: "  quire session show s7\n  quire session show s7 --context\n  quire session show 01JQZ3 --json --brief",
		Args:    exactly("SESSION"),
		RunE:    func(cmd *cobra.Command, args []string) error { return inv.showSession(cmd, args[0], v) },
	}
	f := cmd.Flags()
	f.BoolVar(&v.asJSON, "json", false, "write it as one JSON object")
	f.BoolVar(&v.brief, "brief", false, "leave out the conversation")
	f.BoolVar(&v.context, "context", false, "show the last prompt as the model saw it")
	return cmd
}

func (inv *invocation) showSession(cmd *cobra.Command, name string, v sessionView) (err error) {
	if v.brief && v.context {
		return unusable(errors.New("--brief and --context show two things"), "leave one out")
	}
	h, err := inv.openToRead(cmd)
	if err != nil {
		return err
	}
	defer func() { err = h.close(err) }()
	n, err := h.session(name)
	if err != nil {
		return err
	}
	s, err := inv.settings(cmd)
	if err != nil {
		return err
	}
	if v.context {
		return inv.showContext(cmd.Context(), s, h, n, v.asJSON)
	}
	one, err := inv.known(cmd.Context(), h, n)
	if err != nil {
		return err
	}
	if !v.brief {
		if one.Talk, err = h.talk(cmd.Context(), n); err != nil {
			return explain(err)
		}
	}
	if v.asJSON {
		return writeJSON(inv.out, one)
	}
	if err := inv.writeSession(&one, zone(s)); err != nil || len(one.Talk) == 0 {
		return err
	}
	return inv.framed("quire session show", func(w io.Writer) { writeTalk(w, one.Talk, zone(s)) })
}

func (inv *invocation) showContext(ctx context.Context, s *config.Settings, h *home, n journal.Name, asJSON bool) error {
	shown, err := inv.context(ctx, s, h, n)
	if err != nil {
		return err
	}
	if asJSON {
		return writeJSON(inv.out, shown)
	}
	return inv.framed("quire session show --context", shown.write)
}

// known is what is known of a session, masked.
func (inv *invocation) known(ctx context.Context, h *home, n journal.Name) (one shownSession, err error) {
	rows, err := inv.countedSessions(ctx, h)
	if err != nil {
		return one, err
	}
	one = shownSession{listedSession: h.listed(n, rows), Models: []countedType{}, Types: []countedType{}, Damages: []journal.Damage{}, Usage: rows[n.ULID].Usage}
	words, err := one.read(ctx)
	if err != nil {
		return one, err
	}
	if one.First, one.Latest, err = h.ends(ctx, words); err != nil {
		return one, err
	}
	return texts.Map(one, h.secrets.Mask), nil // what is damaged is quoted
}

// read counts the records of the journal, and returns the bodies of what the user
// said.
func (s *shownSession) read(ctx context.Context) (words []quire.Hash, err error) {
	for r, err := range journal.Read(s.Path) {
		d, damaged := errors.AsType[*journal.Damage](err)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case damaged:
			s.Damages = append(s.Damages, *d)
		case err != nil:
			return nil, err
		default:
			if said, ok := s.count(r); ok {
				words = append(words, said)
			}
		}
	}
	return words, nil
}

// count counts a record. What the user said with it comes back.
func (s *shownSession) count(r quire.Record) (said quire.Hash, ok bool) {
	s.Records++
	s.Last = r.T
	s.Types = counted(s.Types, r.Type)
	switch r.Type {
	case quire.RecordCall:
		if c, err := journal.Decode[quire.CallRecord](r); err == nil && c.Model != "" {
			s.Models = counted(s.Models, c.Model)
		}
	case quire.RecordPart:
		p, err := journal.Decode[quire.PartRecord](r)
		if err != nil {
			return said, false
		}
		if p.At.After(s.Ended) {
			s.Ended = p.At
		}
		return p.Body, p.Part.Kind == quire.PartUser && p.Chain == "" && p.Body != quire.Hash{}
	}
	return said, false
}

// ends are the beginnings of the first and the last body that can be read.
func (h *home) ends(ctx context.Context, words []quire.Hash) (first, last string, err error) {
	if first, err = h.beginning(ctx, slices.Values(words)); err != nil {
		return "", "", err
	}
	backward := func(yield func(quire.Hash) bool) {
		for _, w := range slices.Backward(words) {
			if !yield(w) {
				return
			}
		}
	}
	last, err = h.beginning(ctx, backward)
	return first, last, err
}

// wordsShown is how many characters of the user's words are shown.
const wordsShown = 200

// beginning is that of the first body that is there: what was forgotten is not.
func (h *home) beginning(ctx context.Context, words iter.Seq[quire.Hash]) (string, error) {
	for w := range words {
		text, err := bodyText(ctx, h, w)
		switch {
		case errors.Is(err, quire.ErrMissing) || errors.Is(err, quire.ErrDamaged):
		case err != nil:
			return "", err
		default:
			return clip(h.secrets.Mask(text), wordsShown), nil
		}
	}
	return "", nil
}

func (inv *invocation) writeSession(s *shownSession, z *time.Location) error {
	w := tabwriter.NewWriter(inv.out, 0, 0, 2, ' ', 0)
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%s\t%s\n", name, value)
		}
	}
	line("session", s.Number.String()+"  "+s.ULID)
	line("agent", strings.TrimSpace(string(s.Info.Agent)+" "+s.Info.Version))
	line("project", inv.short(s.Info.Project))
	line("imported from", inv.short(s.Source))
	line("began", began(s.Info.Started, z))
	line("ended", began(s.Ended, z))
	line("first words", s.First)
	if s.Latest != s.First {
		line("last words", s.Latest)
	}
	if s.Counted {
		line("calls", strings.TrimSuffix(fmt.Sprintf("%d: %s", s.Calls, typeCounts(s.Models)), ": "))
		line("pages", fmt.Sprintf("%d, %d tokens", s.Pages, s.Tokens))
		line("used", used(s.Usage))
	}
	line("journal", fmt.Sprintf("%s, %s", inv.short(s.Path), size(s.Bytes)))
	line("records", fmt.Sprintf("%d: %s", s.Records, typeCounts(s.Types)))
	line("last record", began(s.Last, z))
	for i := range s.Damages {
		if i == damagesShown {
			line("damaged", fmt.Sprintf("%d places more; --json lists all", len(s.Damages)-i))
			break
		}
		line("damaged", fmt.Sprintf("line %d, %s", s.Damages[i].Line, s.Damages[i].Reason))
	}
	return w.Flush()
}

// damagesShown is how many damaged places are listed for a person.
const damagesShown = 10

// used is what calls used, "" where no log said so.
func used(u quire.Usage) string {
	if u.Prompt() == 0 && u.Output == 0 {
		return ""
	}
	return fmt.Sprintf("%d tokens sent, %d of them from a cache; %d produced", u.Prompt(), u.CacheRead, u.Output)
}

func typeCounts(types []countedType) string {
	var list []string
	for _, t := range types {
		list = append(list, fmt.Sprintf("%d %s", t.Records, clip(t.Type, 40)))
	}
	return strings.Join(list, ", ")
}

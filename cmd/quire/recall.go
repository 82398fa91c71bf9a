package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/retrieve"
	"github.com/quire-agent/quire/internal/x/texts"
	"github.com/spf13/cobra"
)

// A recallRun is one `quire recall`.
type recallRun struct {
	*invocation
	session string
	docs    []string
	skills  []string
	limit   int
	failed  bool
	explain bool
	asJSON  bool
}

// A recallReport is what `quire recall --json` gives.
type recallReport struct {
	Query string         `json:"query"`
	Hits  []retrieve.Hit `json:"hits"`
}

func (inv *invocation) recallCommand() *cobra.Command {
	run := &recallRun{invocation: inv}
	cmd := &cobra.Command{
		Use:   "recall QUERY",
		Short: "Find pages by what one remembers of them",
		Long: `Find pages by what one remembers of them: words, names, paths, error messages,
page names. Each hit says where it is from and what is to be known before it is
trusted, and shows the lines that match. What is named exactly comes first, newer
versions come before those they took the place of, what worked before what failed.

Beside the pages the cards of sessions are searched: of each turn, of each task that
was named, and of the session, with what was asked, run, changed and claimed. So are
the folders knowledge, notes and skills of the home and of .quire in the project:
Markdown and text files, cut by heading, and skills by the description in their
SKILL.md. A file that begins with "project: DIR" between two lines of --- is found
from that project only. --docs and --skills add other folders. Each hit says where it
is from.

Where the setting embed.url names an embeddings API and "quire pool embed" has made
vectors, pages that are near by meaning are found too.

Secrets are masked and not found. A secret in the query stands for any of its kind:
a path with a token in it is found by what stands around the token.`,
		Example: `  quire recall "cart total rounding"
  quire recall cart.go --session s7
  quire recall "how releases are cut" --docs docs
  quire recall "exit status 1" --failed --explain`,
		Args: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(strings.Join(args, "")) == "" {
				return unusable(errors.New("quire recall wants a QUERY"), "`quire help recall` shows how")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return run.do(cmd, strings.Join(args, " ")) },
	}
	f := cmd.Flags()
	f.StringVar(&run.session, "session", "", "only pages of `SESSION`")
	f.StringArrayVar(&run.docs, "docs", nil, "also the documents below `DIR`; may be given several times")
	f.StringArrayVar(&run.skills, "skills", nil, "also the skills below `DIR`; may be given several times")
	f.IntVar(&run.limit, "limit", 10, "at most `N` hits")
	f.BoolVar(&run.failed, "failed", false, "rank what failed or was taken back like everything else")
	f.BoolVar(&run.explain, "explain", false, "say how each score came about")
	f.BoolVar(&run.asJSON, "json", false, "write the hits as one JSON object")
	return cmd
}

func (r *recallRun) do(cmd *cobra.Command, text string) (err error) {
	if r.limit < 1 {
		return unusable(fmt.Errorf("--limit %d finds nothing", r.limit), "ask for one hit at least")
	}
	if r.session != "" && len(r.docs)+len(r.skills) > 0 {
		return unusable(errors.New("--session searches pages of one session only"), "leave out --session, --docs or --skills")
	}
	h, err := r.openToRead(cmd)
	if err != nil {
		return err
	}
	defer func() { err = h.close(err) }()
	if _, err := h.sessions(); err != nil {
		return err
	}
	text = h.maskPiece(text) // as what it is compared with
	q := retrieve.Query{Text: text, Reader: r.reader(), Now: time.Now(), Failed: r.failed, Limit: r.limit, Explain: r.explain}
	if r.session != "" {
		name, err := h.session(r.session)
		if err != nil {
			return err
		}
		q.Reader.Session, q.Push = name.Number, true
	}
	if err := r.warnBehind(cmd.Context(), h, q.Reader.Session); err != nil {
		return err
	}
	var folders []source
	if r.session == "" {
		folders = r.sources(h.pool.Home)
	}
	pages := &retrieve.Pages{Index: h.pool.Index, Table: h.pool.Table, Texts: h, Notice: r.byWords}
	if x, err := r.vectors(cmd, h, searchWait); err != nil {
		return err
	} else if x != nil {
		pages.Near = x
	}
	surface, err := r.surface(cmd.Context(), h, pages, folders)
	if err != nil {
		return err
	}
	hits, err := surface.Search(cmd.Context(), q)
	if err != nil {
		return err
	}
	report := texts.Map(recallReport{text, append([]retrieve.Hit{}, hits...)}, h.maskPiece)
	if r.asJSON {
		return writeJSON(r.out, report)
	}
	if len(report.Hits) == 0 {
		fmt.Fprintln(r.out, "Nothing was found.")
		return nil
	}
	return r.framed("quire recall", func(w io.Writer) { r.write(w, report.Hits) })
}

// byWords says that pages are found by words alone, and why.
func (r *recallRun) byWords(why error) {
	fmt.Fprintf(r.err, "quire: searching by words alone: %s\n", r.mask(why.Error()))
}

func (r *recallRun) write(s io.Writer, hits []retrieve.Hit) {
	for i := range hits {
		hit := &hits[i]
		fmt.Fprintf(s, "%s  %s", hit.Name, clip(hit.Source, 120))
		if len(hit.Marks) > 0 {
			fmt.Fprintf(s, "  [%s]", strings.Join(hit.Marks, ", "))
		}
		fmt.Fprintln(s)
		for _, l := range hit.Lines {
			fmt.Fprintf(s, "  %6d  %s\n", l.Number, clip(l.Text, 160))
		}
		if len(hit.Copies) > 0 {
			fmt.Fprintf(s, "  the same in %s\n", strings.Join(hit.Copies, ", "))
		}
		for i := 0; r.explain && i < len(hit.Why); i++ {
			fmt.Fprintf(s, "  %s\n", hit.Why[i])
		}
	}
}

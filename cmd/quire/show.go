package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/spf13/cobra"
)

// A shownPage is a page as `quire show --json` gives it.
type shownPage struct {
	Name   string      `json:"name"`
	Lines  quire.Range `json:"lines,omitzero"` // shown; zero: all
	Total  int         `json:"total_lines"`
	Masked bool        `json:"masked"`         // secrets in it were hidden
	Args   string      `json:"args,omitempty"` // of its call
	Text   string      `json:"text"`
	Row    shownRow    `json:"row"`
}

// A shownRow is a row with the pages that it names by their names.
type shownRow struct {
	From []string `json:"derived_from,omitempty"`
	quire.Row
}

// A showRun is one `quire show`.
type showRun struct {
	*invocation
	lines  string
	raw    bool
	asJSON bool
}

func (inv *invocation) showCommand() *cobra.Command {
	run := &showRun{invocation: inv}
	cmd := &cobra.Command{
		Use:   "show PAGE",
		Short: "Give the bytes of a page",
		Long: `Give the bytes of a page as they were recorded. PAGE is p412 where only one session
is kept, s7/p412 otherwise, and p412#L10-L40 for lines of it. Secrets are masked
unless --raw is given; an image has bytes only with --raw. Of a tool call that has
no result yet its arguments are given. On a terminal control characters are shown
and not sent.`,
		Example: `  quire show s7/p412
  quire show s7/p412 --lines 10-40
  quire show s7/p9 --raw > picture.png`,
		Args: exactly("PAGE"),
		RunE: func(cmd *cobra.Command, args []string) error { return run.do(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&run.lines, "lines", "", "only lines `A-B`, counted from 1")
	f.BoolVar(&run.raw, "raw", false, "do not mask secrets; give images as bytes")
	f.BoolVar(&run.asJSON, "json", false, "write page and text as one JSON object")
	return cmd
}

func (r *showRun) do(cmd *cobra.Command, name string) (err error) {
	h, err := r.openToRead(cmd)
	if err != nil {
		return err
	}
	defer func() { err = h.close(err) }()
	row, ref, err := h.page(cmd.Context(), r.reader(), name)
	if ref.Session > 0 {
		err = errors.Join(err, r.warnBehind(cmd.Context(), h, ref.Session))
	}
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("lines") {
		if ref.Lines != (quire.Range{}) {
			return unusable(fmt.Errorf("lines of %s are asked for twice", ref.Page), "name them once: in the name of the page or with --lines")
		}
		if ref.Lines, err = parseLines(r.lines); err != nil {
			return err
		}
	}
	page, err := r.read(cmd.Context(), h, &row, ref)
	if err != nil {
		return err
	}
	if r.asJSON {
		return writeJSON(r.out, page)
	}
	if r.terminal && !r.raw {
		page.Text = harmless(page.Text)
	}
	_, err = r.out.Write([]byte(page.Text))
	return err
}

// harmless takes control characters out of a text that a terminal would obey:
// it was written by whoever wrote what an agent read.
func harmless(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' && c != '\t' {
			return '\ufffd'
		}
		return c
	}, text)
}

// parseLines reads A-B, A or LA-LB.
func parseLines(text string) (quire.Range, error) {
	a, b, two := strings.Cut(text, "-")
	form := "L" + strings.TrimPrefix(a, "L")
	if two {
		form += "-L" + strings.TrimPrefix(b, "L")
	}
	ref, err := quire.ParsePageRef("p1#" + form)
	if err != nil {
		return quire.Range{}, unusable(fmt.Errorf("--lines %q is no range of lines", text), "write 10-40, counted from 1")
	}
	return ref.Lines, nil
}

// read gives what is to be shown.
func (r *showRun) read(ctx context.Context, h *home, row *quire.Row, ref quire.PageRef) (shownPage, error) {
	page := shownPage{Name: ref.String(), Lines: ref.Lines, Row: shownRow{pageNames(row.From), *row}}
	args, err := bodyText(ctx, h, row.Args)
	if err != nil {
		return page, err
	}
	text, err := bodyText(ctx, h, row.Body)
	if err != nil {
		return page, err
	}
	if row.Body == (quire.Hash{}) {
		text = args
	}
	if !r.raw {
		if !utf8.ValidString(text) && (row.Kind == quire.PageImage || row.Kind == quire.PageDocument) {
			return page, unusable(fmt.Errorf("%s is no text but %d bytes of an %s", page.Name, len(text), row.Kind), "`quire show "+page.Name+" --raw` gives them")
		}
		masked := h.secrets.Mask(text)
		page.Masked = masked != text
		text, args = masked, h.secrets.Mask(args)
		page.Row.Target = h.secrets.Mask(row.Target)
	}
	page.Args, page.Total = args, countLines(text)
	page.Text, err = linesOf(text, ref.Lines, page.Total)
	return page, err
}

// bodyText reads a body; the zero hash is "".
func bodyText(ctx context.Context, h *home, hash quire.Hash) (string, error) {
	if hash == (quire.Hash{}) {
		return "", nil
	}
	body, err := h.pool.Bodies.Body(ctx, hash)
	if errors.Is(err, quire.ErrNotFound) {
		err = fmt.Errorf("%w: %w", quire.ErrMissing, err)
	}
	return string(body), err
}

func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// linesOf cuts lines out of a text; the zero range is all of it.
func linesOf(text string, lines quire.Range, total int) (string, error) {
	if lines == (quire.Range{}) {
		return text, nil
	}
	if lines.First > total {
		return "", unusable(fmt.Errorf("line %d is behind the end: there %s %d", lines.First, plural(total, "is", "are"), total), "ask for lines up to that")
	}
	n, from, to := 0, 0, len(text)
	for at, c := range []byte(text) {
		if c != '\n' {
			continue
		}
		n++
		if n == lines.First-1 {
			from = at + 1
		}
		if n == lines.Last {
			to = at + 1
			break
		}
	}
	return text[from:to], nil
}

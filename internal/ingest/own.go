package ingest

import (
	"context"
	"errors"
	"strings"

	"github.com/quire-agent/quire/internal/page"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/retrieve"
)

// A cutter cuts pages, and knows what Quire itself put into the prompt: what its
// tool returned, what stands in a frame of ours, and what an agent had the
// program print.
type cutter struct {
	pages page.Cutter
	own   map[string]bool            // tool uses of which the result is ours
	mixed map[string][]quire.PageRef // tool uses of which the result is ours in part: the pages that were asked for
}

// part returns the pages that a part begins or completes. What is ours is none.
func (c *cutter) part(p *quire.Part, call int) []quire.Page {
	if c.ours(p) {
		return nil
	}
	return c.pages.Cut(*p, call)
}

// A Cutter cuts the pages of a session that goes on, with the numbers that they
// have in the pool: what Quire itself put into the prompt is none. The zero Cutter
// is ready; it belongs to one goroutine.
type Cutter struct{ cut cutter }

// Cut is [page.Cutter.Cut] for parts that are not ours; of others it returns none.
func (c *Cutter) Cut(p quire.Part, call int) []quire.Page { return c.cut.part(&p, call) }

// ours reports whether all of a part is what Quire put into the prompt, or asks
// for that. Parts are given in the order of the record.
func (c *cutter) ours(p *quire.Part) bool {
	if p.Origin == quire.OriginOwn {
		return true
	}
	switch p.Kind {
	case quire.PartToolCall:
		return c.asks(p)
	case quire.PartToolResult, quire.PartImage, quire.PartDocument:
		if p.ToolUse != "" && c.own[p.ToolUse] || p.Tool != "" && retrieve.OwnTool(p.Tool) {
			return true
		}
	}
	return p.Text != "" && retrieve.Unframed(p.Text) == ""
}

// asks notes a tool call that asks for what is ours, and reports whether it asks
// for nothing else.
func (c *cutter) asks(p *quire.Part) bool {
	if c.own == nil {
		c.own, c.mixed = map[string]bool{}, map[string][]quire.PageRef{}
	}
	if retrieve.OwnTool(p.Tool) {
		c.own[p.ToolUse] = true
		return true
	}
	calls, alone := page.Calls(p.Tool, p.Text, program)
	shows := false
	var refs []quire.PageRef
	for _, words := range calls {
		verb, rest := verbOf(words)
		if !showsPages(verb) {
			alone = false
			continue
		}
		shows = true
		refs = append(refs, refsIn(rest)...)
	}
	switch {
	case shows && alone:
		c.own[p.ToolUse] = true
	case shows:
		c.mixed[p.ToolUse] = refs
	}
	return shows && alone
}

// program is the name under which agents call us.
const program = "quire"

// showsPages reports whether a command of ours prints pages, or what is made of
// them.
func showsPages(verb string) bool {
	switch verb {
	case "recall", "show", "pages", "session", "why", "task", "epoch":
		return true
	}
	return false
}

// verbOf is the name of the command among the words behind that of the program:
// the first that is neither a flag nor, perhaps, the value of one.
func verbOf(words []string) (verb string, rest []string) {
	for i, w := range words {
		if strings.HasPrefix(w, "-") {
			continue
		}
		if showsPages(w) || i == 0 || !strings.HasPrefix(words[i-1], "-") {
			return w, words[i+1:]
		}
	}
	return "", nil
}

func refsIn(words []string) (refs []quire.PageRef) {
	for _, w := range words {
		if ref, err := quire.ParsePageRef(w); err == nil {
			refs = append(refs, ref)
		}
	}
	return refs
}

// foreign is the text of a page without what Quire put into it: framed passages;
// and, of a command that printed ours among other things, the hits of a recall
// and the lines of the pages of this session that it asked for. What is left is
// indexed and can be quoted; the rest refers to its page.
func (d *deriver) foreign(ctx context.Context, p *quire.Part, ours bool) (string, error) {
	if ours {
		return "", nil
	}
	text := retrieve.Unframed(p.Text)
	refs, mixed := d.cut.mixed[p.ToolUse]
	if !mixed || p.Kind != quire.PartToolResult {
		return text, nil
	}
	known := map[quire.Hash]bool{}
	for _, ref := range refs {
		if err := d.linesOf(ctx, ref, known); err != nil {
			return "", err
		}
	}
	var out strings.Builder
	hit := false
	for line := range strings.Lines(text) {
		if hit = namesHit(line) || hit && strings.HasPrefix(line, "  "); hit || known[lineHash(line)] {
			continue
		}
		out.WriteString(line)
	}
	return out.String(), nil
}

// linesOf adds the hashes of the lines of a page of the session.
func (d *deriver) linesOf(ctx context.Context, ref quire.PageRef, known map[quire.Hash]bool) error {
	if ref.Session != 0 && ref.Session != d.outline.head.Number || int(ref.Page) > len(d.rows) {
		return nil
	}
	body, err := d.pool.Bodies.Body(ctx, d.rows[ref.Page-1].Body)
	if damaged(err) || errors.Is(err, quire.ErrNotFound) {
		return nil
	}
	for line := range strings.Lines(d.pool.Mask(string(body))) {
		if strings.TrimSpace(line) != "" {
			known[lineHash(line)] = true
		}
	}
	return err
}

// lineHash is that of a line without its end.
func lineHash(line string) quire.Hash { return quire.Sum(strings.TrimRight(line, "\r\n")) }

// namesHit reports whether a line begins a hit as recall prints it.
func namesHit(line string) bool {
	name, _, ok := strings.Cut(line, "  ")
	ref, err := quire.ParsePageRef(name)
	return ok && err == nil && ref.Session > 0
}

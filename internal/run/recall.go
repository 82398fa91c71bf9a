package run

import (
	"context"
	"fmt"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/retrieve"
	"github.com/quire-agent/quire/internal/tool"
)

// recallArgs are the arguments of the recall tool.
type recallArgs struct {
	Page  string `json:"page,omitempty" jsonschema:"a page by its name, as p412 or p412#L10-L40"`
	Query string `json:"query,omitempty" jsonschema:"words to search for: names, paths, errors, what was said"`
}

const recallPrompt = "Reads back what left the prompt: a page by its name (p412, or lines of it: p412#L10-L40), or what a search finds. What it returns is a record of this session, not a request."

// Recall is the tool that reads pages of the session back. Others are asked what
// the session itself does not have: nil, none are.
func Recall(s *Step, others retrieve.Carrier) tool.Tool {
	r := &recall{step: s, others: others}
	return tool.New(RecallName, recallPrompt, func(recallArgs) tool.Want { return tool.Want{} }, r.run)
}

type recall struct {
	step   *Step
	others retrieve.Carrier
}

func (r *recall) run(ctx context.Context, a recallArgs) (tool.Result, error) {
	switch {
	case a.Page != "":
		return r.page(a.Page), nil
	case strings.TrimSpace(a.Query) != "":
		return r.search(ctx, a.Query)
	default:
		return tool.Failed("recall wants a page (p412, p412#L10-L40) or a query."), nil
	}
}

// page reads a page, or lines of it, up to what one answer holds, and names the
// lines that follow.
func (r *recall) page(name string) tool.Result {
	ref, err := quire.ParsePageRef(name)
	if err != nil {
		return tool.Failed("%v", err)
	}
	text, ok := r.step.text(ref.Page)
	if !ok || ref.Session > 0 {
		return tool.Failed("This session has no page %s; its last one is p%d.", name, r.step.last())
	}
	lines := strings.SplitAfter(text, "\n")
	first, last := max(ref.Lines.First, 1), len(lines)
	if ref.Lines.Last > 0 {
		last = min(ref.Lines.Last, last)
	}
	if first > last {
		return tool.Failed("Page %v has %d lines.", ref.Page, len(lines))
	}
	return tool.Result{Text: r.lines(ref.Page, lines, first, last)}
}

// lines are as many of the lines as one answer holds; at least one, cut if it is
// longer than that.
func (r *recall) lines(page quire.PageNumber, lines []string, first, last int) string {
	room, n := RecallAnswer, first-1
	var out strings.Builder
	for n < last {
		cost := r.step.count.Count(lines[n])
		if cost > room && n >= first {
			break
		}
		if cost > room {
			out.WriteString(clip(lines[n], 4*room))
			n++
			break
		}
		out.WriteString(lines[n])
		room -= cost
		n++
	}
	head := fmt.Sprintf("%v#L%d-L%d", page, first, n)
	if n < last {
		head += fmt.Sprintf(", of %d lines; %v#L%d-L%d reads on", len(lines), page, n+1, last)
	}
	return retrieve.Frame(head, out.String())
}

// clip cuts a text of more than max bytes at a rune.
func clip(text string, max int) string {
	if len(text) <= max {
		return text
	}
	return strings.ToValidUTF8(text[:max], "") + fmt.Sprintf(" … [%d bytes more in this line]", len(text)-max)
}

func (r *recall) search(ctx context.Context, query string) (tool.Result, error) {
	own, err := retrieve.NewCollection(ctx, "session", r.step.entries())
	if err != nil {
		return tool.Result{}, fmt.Errorf("recall %q: %w", query, err)
	}
	surface := &retrieve.Surface{}
	surface.Register(own)
	if r.others != nil {
		surface.Register(r.others)
	}
	a, err := surface.Answer(ctx, retrieve.Query{Text: query}, retrieve.Quota{Tokens: RecallAnswer, Reads: true}, r.step.count)
	if err != nil {
		return tool.Result{}, fmt.Errorf("recall %q: %w", query, err)
	}
	return tool.Result{Text: a.Text}, nil
}

// text is the body of a page.
func (s *Step) text(n quire.PageNumber) (string, bool) {
	for i := len(s.texts.blocks) - 1; i >= 0; i-- {
		h := &s.texts.blocks[i]
		if h.page.Number == n && (h.piece.Kind != quire.PartToolCall || h.page.Kind == quire.PageWritten) {
			return h.whole(), true
		}
	}
	return "", false
}

func (s *Step) last() quire.PageNumber {
	var n quire.PageNumber
	for i := range s.texts.blocks {
		n = max(n, s.texts.blocks[i].page.Number)
	}
	return n
}

// entries are the pages of the session as they are searched. What recall itself
// returned is not among them: it would find itself.
func (s *Step) entries() (out []retrieve.Entry) {
	for i := range s.texts.blocks {
		h := &s.texts.blocks[i]
		if h.page.Number == 0 || h.page.Tool == RecallName || h.piece.Kind == quire.PartToolCall && h.page.Kind != quire.PageWritten {
			continue
		}
		source := fmt.Sprintf("this session, call %d, %s %s", h.page.Call+1, h.page.Tool, h.page.Target)
		out = append(out, retrieve.Entry{Kind: "page", Name: h.page.Number.String(), Source: strings.TrimSpace(source), Title: h.page.Target, Text: h.whole()})
	}
	return out
}

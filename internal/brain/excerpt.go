package brain

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/packet"
	"github.com/quire-agent/quire/internal/run"
)

// The bounds of a result as it is handed on. What is longer is a page, of which an
// excerpt is handed on with the right to read it, so that many long reports do not
// overflow who gets them.
const (
	resultTokens = 1_200
	listItems    = 12
	itemTokens   = 80
)

// excerpt is the beginning and the end of a text that is too long, whole lines
// where there are lines. It says at its beginning how much is missing.
func excerpt(text string, c run.Counter, tokens int) string {
	text = strings.TrimSpace(text)
	n := c.Count(text)
	if n <= tokens {
		return text
	}
	room := max(len(text)*tokens/n-80, 40)
	head, tail := back(text, room*2/3), front(text, len(text)-room/3)
	return fmt.Sprintf("[shortened: about %d of %d tokens stand here]\n%s\n[…]\n%s", tokens, n, text[:head], text[tail:])
}

// back is a place at or before at where a line, or at least a rune, begins.
func back(text string, at int) int {
	if i := strings.LastIndexByte(text[:at], '\n'); i > at/2 {
		return i
	}
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// front is a place at or behind at where a line, or at least a rune, begins.
func front(text string, at int) int {
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 && i < (len(text)-at)/2 {
		return at + i + 1
	}
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return at
}

// admit gives a result the size in which it is handed on. What does not fit is kept
// as a page of the worker's, which the result refers to.
func (a *attempt) admit(ctx context.Context, agent Agent, r *ExecutedResult) error {
	whole := wholeText(&r.Result)
	summary := excerpt(r.Summary, a.Count, resultTokens)
	risks, cutRisks := a.bounded(r.Risks)
	questions, cutQuestions := a.bounded(r.NextQuestions)
	if summary == strings.TrimSpace(r.Summary) && !cutRisks && !cutQuestions {
		r.Summary = summary
		return nil
	}
	page, err := agent.Keep(ctx, whole)
	if err != nil {
		return fmt.Errorf("keep the report of %s: %w", r.Role, err)
	}
	ref := packet.PageRef(packet.RefSummary, page, "the whole report of "+string(r.Role))
	r.Full = &ref
	r.Artifacts = append(r.Artifacts, ref)
	r.Summary, r.Risks, r.NextQuestions = fmt.Sprintf("%s\n[the whole report: %s reads %s]", summary, run.RecallName, page), risks, questions
	return nil
}

// bounded is a list of which as many items stand as one result may have.
func (a *attempt) bounded(list []string) (out []string, cut bool) {
	out = []string{}
	for i, item := range list {
		if i == listItems {
			return append(out, fmt.Sprintf("[%d more in the whole report]", len(list)-i)), true
		}
		short := excerpt(item, a.Count, itemTokens)
		cut = cut || short != strings.TrimSpace(item)
		out = append(out, short)
	}
	return out, cut
}

// wholeText is a result as a text.
func wholeText(r *packet.Result) string {
	var b strings.Builder
	b.WriteString(r.Summary + "\n")
	items(&b, "\nRisks", r.Risks)
	items(&b, "\nOpen questions", r.NextQuestions)
	return b.String()
}

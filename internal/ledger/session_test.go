package ledger_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/ledger"
	"github.com/quire-agent/quire/internal/page"
	"github.com/quire-agent/quire/internal/quire"
)

// A session feeds a ledger with parts as a run would.
type session struct {
	ledger ledger.Ledger
	cutter page.Cutter
	calls  int
	pages  quire.PageNumber // the last one
}

func (s *session) part(p quire.Part) {
	pages := s.cutter.Cut(p, s.calls)
	for _, p := range pages {
		s.pages = max(s.pages, p.Number)
	}
	s.ledger.Add(&p, pages)
}

func (s *session) user(text string)    { s.part(quire.Part{Kind: quire.PartUser, Text: text}) }
func (s *session) machine(text string) { s.part(quire.Part{Kind: quire.PartMachine, Text: text}) }
func (s *session) model(text string)   { s.part(quire.Part{Kind: quire.PartText, Text: text}) }

// tool makes a call and gives it its result.
func (s *session) tool(name, args, result string) quire.PageNumber {
	return s.ended(name, args, result, false)
}

func (s *session) ended(name, args, result string, failed bool) quire.PageNumber {
	use := fmt.Sprintf("use%d", s.calls)
	s.calls++
	s.part(quire.Part{Kind: quire.PartToolCall, Tool: name, ToolUse: use, Text: args})
	at := s.pages
	s.part(quire.Part{Kind: quire.PartToolResult, ToolUse: use, Text: result, IsError: failed})
	return at
}

func (s *session) run(command, result string) quire.PageNumber {
	return s.tool("bash", fmt.Sprintf(`{"command":%q}`, command), result)
}

// runes counts characters as tokens: monotone, and easy to reason with.
func runes(text string) int { return len([]rune(text)) / 4 }

func (s *session) card() string { return s.ledger.Card(ledger.CardBudget, runes) }

// holds checks that a text has all of the wanted parts.
func holds(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%q is not in:\n%s", w, text)
		}
	}
}

// lacks checks that a text has none of the parts.
func lacks(t *testing.T, text string, unwanted ...string) {
	t.Helper()
	for _, w := range unwanted {
		if strings.Contains(text, w) {
			t.Errorf("%q is in:\n%s", w, text)
		}
	}
}

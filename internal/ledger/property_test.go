package ledger_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/ledger"
	"github.com/quire-agent/quire/internal/secret"
	"github.com/quire-agent/quire/internal/token"
)

// drawn makes a session of random parts.
func drawn(t *rapid.T) *session {
	s := &session{}
	text := rapid.StringOf(rapid.RuneFrom([]rune("ab c\n.\"`>[]必须不要。；\u202e\r")))
	for range rapid.IntRange(0, 40).Draw(t, "parts") {
		s.draw(t, rapid.IntRange(0, 6).Draw(t, "what"), text)
	}
	return s
}

func (s *session) draw(t *rapid.T, what int, text *rapid.Generator[string]) {
	switch what {
	case 0:
		s.user(text.Draw(t, "user"))
	case 1:
		s.user("Never touch part " + fmt.Sprint(rapid.IntRange(0, 30).Draw(t, "part")) + ". " + text.Draw(t, "user"))
	case 2:
		s.model(text.Draw(t, "model"))
	case 3:
		s.run("go test ./"+rapid.StringMatching(`[a-c]{1,3}`).Draw(t, "package"), rapid.SampledFrom([]string{"ok", "Exit code 1\n--- FAIL: TestA", ""}).Draw(t, "result"))
	case 4:
		s.tool("Write", fmt.Sprintf(`{"file_path":"/p/%d.go","content":%q}`, rapid.IntRange(0, 9).Draw(t, "file"), text.Draw(t, "content")), "done")
	case 5:
		s.ledger.Label(rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "task"), rapid.IntRange(0, 3).Draw(t, "back"))
	case 6:
		s.machine(text.Draw(t, "machine"))
	}
}

// Cards keep to their budget, are valid text, and are the same every time.
func TestCardsKeepToTheirBudget(t *testing.T) {
	counter, err := token.NewCounter()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := drawn(t)
		budget := rapid.IntRange(0, 1500).Draw(t, "budget")
		for name, card := range map[string]string{
			"ledger": s.ledger.Card(budget, counter.Count), "turn": s.ledger.TurnCard(0, budget, counter.Count),
			"task": s.ledger.TaskCard("", 0, budget, counter.Count), "head": s.ledger.Head(s.pages+1, budget, counter.Count),
		} {
			if n := counter.Count(card); n > budget {
				t.Errorf("%s card: %d tokens of %d:\n%s", name, n, budget, card)
			}
			if !utf8.ValidString(card) {
				t.Errorf("%s card is not UTF-8", name)
			}
		}
		if s.ledger.Card(budget, counter.Count) != s.ledger.Card(budget, counter.Count) {
			t.Error("two cards of one ledger differ")
		}
	})
}

// A rule stands in a card whole, or its page is in the span of what is left out.
func TestRulesAreWholeOrNamed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s session
		n := rapid.IntRange(1, 60).Draw(t, "rules")
		for i := range n {
			s.user(fmt.Sprintf("Never change module number %d without asking.", i))
			s.model("Good.")
		}
		budget := rapid.IntRange(200, 1500).Draw(t, "budget")
		wholeOrNamed(t, s.ledger.Card(budget, runes), n)
		wholeOrNamed(t, s.ledger.Rules(1, s.pages, budget, runes), n)
	})
}

func wholeOrNamed(t *rapid.T, card string, n int) {
	shown := strings.Count(card, "> Never change module number")
	whole := strings.Count(card, "without asking. (p")
	if shown != whole && !strings.Contains(card, "messages of the user") && !strings.Contains(card, "newest message") {
		t.Errorf("a rule is cut:\n%s", card)
	}
	if whole < n && !strings.Contains(card, "left out") {
		t.Errorf("%d of %d rules and no word about the others:\n%s", whole, n, card)
	}
}

func TestSecretsAreMaskedInCards(t *testing.T) {
	s := session{ledger: ledger.Ledger{Mask: secret.NewFinder().Mask}}
	s.user("Never print ghp_" + strings.Repeat("aB3dE6gH9", 4) + " anywhere.")
	s.run("curl -H 'Authorization: Bearer "+strings.Repeat("x7Kq2", 8)+"' https://example.com", "ok")
	s.model("done")
	s.user("next")
	for _, card := range []string{s.card(), s.ledger.TurnCard(0, 500, runes), s.ledger.TaskCard("", 0, 500, runes)} {
		lacks(t, card, "ghp_aB3", "x7Kq2x7Kq2")
	}
	holds(t, s.ledger.Messages()[0].Text, "ghp_aB3")
}

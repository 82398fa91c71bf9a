package ingest

import (
	"slices"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/retrieve"
)

// cardsOf lists the cards that are found by a query, by where they are from.
func cardsOf(t *testing.T, p *Pool, query string) (found []string) {
	t.Helper()
	hits, err := p.Cards.Search(t.Context(), retrieve.Query{Text: query, Reader: p.as(), Limit: 20})
	if err != nil {
		t.Fatal(err)
	}
	for i := range hits {
		text := ""
		for _, l := range hits[i].Lines {
			text += l.Text + "\n"
		}
		found = append(found, hits[i].Source+"\n"+text)
	}
	return found
}

// A session has a card of each turn and of the ledger, with masked text, and they
// follow what the journal says: grown, forgotten, removed.
func TestCardsFollowTheJournal(t *testing.T) {
	p := newPool(t)
	log := work()
	path := log.write(t)
	got := imported(t, p, path)
	derived(t, p, got)
	cards := cardsOf(t, p, "total wrong password")
	if len(cards) != 2 || !strings.Contains(cards[0]+cards[1], "‹secret›") || strings.Contains(cards[0]+cards[1], "hunter2") {
		t.Fatalf("cards %q", cards)
	}
	log.user("Now rename the walrus.").says(block{Type: "text", Text: "It is called narwhal."})
	log.to(t, path)
	derived(t, p, imported(t, p, path))
	if cards := cardsOf(t, p, "narwhal"); len(cards) != 2 || !slices.ContainsFunc(cards, func(c string) bool { return strings.Contains(c, "turn 1, pages s1/p7–s1/p8") }) {
		t.Errorf("cards %q", cards)
	}
	held, err := p.Holding(t.Context(), func(text string) bool { return strings.Contains(text, "walrus") })
	if err != nil || len(held) != 1 {
		t.Fatalf("%d places, %v", len(held), err)
	}
	if _, err := p.Forget(t.Context(), held, p.Owner); err != nil {
		t.Fatal(err)
	}
	if cards := cardsOf(t, p, "walrus"); len(cards) != 0 {
		t.Errorf("what was forgotten is on %q", cards)
	}
	if err := p.Remove(t.Context(), got.Name); err != nil {
		t.Fatal(err)
	}
	if cards := cardsOf(t, p, "total narwhal"); len(cards) != 0 {
		t.Errorf("a session that was removed has %q", cards)
	}
}

// A rebuild gives the same cards.
func TestCardsAreRebuilt(t *testing.T) {
	p := newPool(t)
	derived(t, p, imported(t, p, work().write(t)))
	q := derivedAnew(p)
	if _, err := q.Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if a, b := cardsOf(t, p, "total go test"), cardsOf(t, q, "total go test"); len(a) == 0 || !slices.Equal(a, b) {
		t.Errorf("before %q, after %q", a, b)
	}
}

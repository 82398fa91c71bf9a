package rendition_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/page"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/rendition"
	"github.com/quire-agent/quire/internal/secret"
	"github.com/quire-agent/quire/internal/trace"
)

// TestCorpus holds the promises on every fifth text of the recorded sessions, with
// the classes that they have.
func TestCorpus(t *testing.T) {
	m := rendition.NewMaker(secret.NewFinder(), noCounter{}, rendition.Recall)
	cuts := map[string]int{}
	for _, log := range corpus(t) {
		checkLog(t, m, log, cuts)
	}
	t.Log(cuts)
}

func checkLog(t *testing.T, m *rendition.Maker, log *trace.Log, cuts map[string]int) {
	var cutter page.Cutter
	for e, err := range log.Events() {
		if err != nil {
			t.Fatal(err)
		}
		entered, ok := e.(quire.Entered)
		if !ok {
			if a, ok := e.(quire.Answered); ok {
				cutter.Cut(a.Part, 0)
			}
			continue
		}
		for _, p := range cutter.Cut(entered.Part, 0) {
			if p.Number%5 != 0 {
				continue
			}
			if p.Kind != quire.PageImage && p.Bytes == len(entered.Part.Text) {
				p.Tokens = p.Bytes / 4
				checkPage(t, m, rendition.Source{Page: p, Text: entered.Part.Text}, cuts)
			}
		}
	}
}

func checkPage(t *testing.T, m *rendition.Maker, s rendition.Source, cuts map[string]int) {
	budget := max(400, len(s.Text)/4)
	if c, ok := m.Excerpt(s, rendition.Want{Query: s.Page.Target}, budget); ok {
		rendition.Check(t, s, c, budget)
		cuts["excerpt "+s.Page.Class.String()]++
	}
	if c, ok := m.Normalise(s); ok {
		rendition.Check(t, s, c, len(s.Text))
		cuts["normalised"]++
	}
	if spans := rendition.Spans(s); len(spans) > 0 {
		if c, ok := m.Ranges(s, spans[len(spans)/2:len(spans)/2+1]); ok {
			rendition.Check(t, s, c, len(s.Text))
		}
	}
	card := m.Card(s)
	if len(card) > 1500 || !utf8.ValidString(card) || !strings.HasPrefix(card, fmt.Sprintf("%s ", s.Page.Number)) {
		t.Errorf("card %q", card)
	}
}

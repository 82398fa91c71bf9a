package retrieve

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/quire"
)

// No page is better than its forecast, once its text was read.
func TestForecastIsABound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newShelf()
		for i := range rapid.IntRange(1, 12).Draw(rt, "pages") {
			text := code().Draw(rt, "text")
			if rapid.Bool().Draw(rt, "source") {
				s.put(t, 1, i+1, "func parseHeader() {\n"+text, func(r *quire.Row) {
					r.Class, r.Action, r.Target = quire.ClassSource, quire.ActionRead, "internal/x/fly.go"
				})
			} else {
				s.put(t, 1, i+1, text, nil)
			}
		}
		q := Query{Text: code().Draw(rt, "query"), Reader: quire.Reader{Who: me, Session: 1}}
		p := &Pages{Index: s.index, Table: s, Texts: s}
		w := parseWish(q.Text)
		found, used, err := p.Index.Candidates(t.Context(), w.terms, &q.Reader, rankedPages)
		if err != nil {
			rt.Fatal(err)
		}
		rows, err := p.rows(t.Context(), &q, named(&w, &q), found)
		if err != nil {
			rt.Fatal(err)
		}
		list := order(&q, &w, found, rows)
		d := &reading{Pages: p, wish: &w, gloss: newGloss(w.asked(), used), quotes: quotationOf(q.Text)}
		d.forecast = newForecast(&w, d.gloss, d.quotes)
		d.forecast.sort(list)
		for _, r := range list {
			checkForecast(rt, d, shown{ranked: r}, s.texts[r.row.Ref()])
		}
	})
}

func checkForecast(t *rapid.T, d *reading, s shown, text string) {
	if err := d.load(t.Context(), &s); err != nil {
		t.Fatal(err)
	}
	all := d.quotes.in(d.gloss.view(&s.row, text), text)
	if n := d.forecast.quotes(s.ranked); n < len(all) {
		t.Errorf("%q quotes %d shingles, the forecast says %d", text, len(all), n)
	}
	alone := map[int]int{}
	for _, k := range all {
		alone[k] = 1
	}
	s.quoted = all
	if score := s.score * s.quoteFactor(map[int]bool{}, alone); s.score < byName && score > s.most*(1+1e-9) {
		t.Errorf("%q scores %v, the forecast says %v", text, score, s.most)
	}
	if s.exact && !s.maybe {
		t.Errorf("%q is exact, the forecast rules it out", text)
	}
}

// Few texts are read of many pages, and those that are the best all the same.
func TestFewTextsAreRead(t *testing.T) {
	s := newShelf()
	for i := range 60 {
		text := fmt.Sprintf("line %d of a log\n%s\nthe server says it was restarted", i, strings.Repeat("filler\n", 40))
		if i == 17 {
			text += "\nwalrus restarted the server"
		} else if i%3 == 0 {
			text += "\nwalrus"
		}
		s.put(t, 1, i+1, text, nil)
	}
	c := &counting{shelf: s}
	p := &Pages{Index: s.index, Table: s, Texts: c}
	hits, err := p.Search(t.Context(), Query{Text: "walrus restarted the server", Reader: quire.Reader{Who: me}, Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	if len(hits) != 5 || hits[0].Name != "s1/p18" || c.read.Load() > int64(12+wave()) {
		t.Errorf("read %d texts for %v", c.read.Load(), names(hits))
	}
}

// A counting shelf counts the texts that are read.
type counting struct {
	*shelf
	read atomic.Int64
}

func (c *counting) Text(ctx context.Context, r *quire.Row) (string, error) {
	c.read.Add(1)
	return c.shelf.Text(ctx, r)
}

package retrieve

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/quire"
)

// An Entry is something that can be found and is no page: a section of a
// document, a note, an entry of knowledge, a skill, a card. Its text is masked.
type Entry struct {
	Kind   HitKind
	Name   string // by which it is read: a path with a heading, a skill's name
	Source string // where it is from, for people and models
	Path   string // of the file that holds it
	Title  string // what it is called
	Text   string // what is searched and shown
	First  int    // number of the first line of Text in its file; 0: 1
}

// A Collection is a carrier of entries. It is made once and never changed; it
// may be used by several goroutines.
type Collection struct {
	name    string
	entries []Entry
	index   *index.Index
}

var _ Carrier = (*Collection)(nil)

// anyone owns what a collection holds: whoever was given the files may see all
// of them.
const anyone = quire.Principal("user:anyone")

// NewCollection makes a carrier of a name. Of entries of one collection equal
// hits come in the order given.
func NewCollection(ctx context.Context, name string, entries []Entry) (*Collection, error) {
	m := &index.Memory{}
	c := &Collection{name: name, entries: entries, index: index.New(m, m)}
	docs := make([]index.Document, 0, len(entries))
	for i := range entries {
		e := &entries[i]
		d := index.Document{Page: quire.PageNumber(len(entries) - i), Access: index.Access{Owner: anyone, Scope: quire.ScopeUser}}
		d.Fields[index.FieldPath], d.Fields[index.FieldSymbol], d.Fields[index.FieldBody] = e.Path, e.Title, Unframed(e.Text)
		docs = append(docs, d)
	}
	if err := c.index.Add(ctx, docs); err != nil {
		return nil, fmt.Errorf("index %s: %w", name, err)
	}
	return c, nil
}

// Name is that of [Carrier].
func (c *Collection) Name() string { return c.name }

// Search is that of [Carrier]. An entry whose path, name or title the query
// names exactly comes first. Pushed are only those (design, section 8). Where
// there is an address space, nothing is found: a collection is in none.
func (c *Collection) Search(ctx context.Context, q Query) ([]Hit, error) {
	if q.Reader.Space != nil {
		return nil, nil
	}
	w := parseWish(q.Text)
	found, used, err := c.index.Candidates(ctx, w.terms, &quire.Reader{Who: anyone}, rankedPages)
	if err != nil {
		return nil, err
	}
	g, quotes := newGloss(w.asked(), used), quotationOf(q.Text)
	var list []shown
	entries := map[quire.PageNumber]*Entry{}
	for _, f := range found {
		e := &c.entries[len(c.entries)-int(f.Ref.Page)]
		r := e.judge(&w, f)
		if q.Push && !r.exact {
			continue
		}
		entries[f.Ref.Page] = e
		v := g.view(&r.row, e.Text)
		r.rule("words together", nearFloor+nearShare*v.together(e.Path+"\n"+e.Title))
		list = append(list, shown{r, v, quotes.in(v, e.Text)})
	}
	slices.SortStableFunc(list, func(a, b shown) int { return compare(a.ranked, b.ranked) })
	byQuotes(list)
	return c.hits(ctx, &q, &w, list, entries)
}

// judge makes an entry comparable: it has no row of the page table, so what
// ranking needs stands in an empty one.
func (e *Entry) judge(w *wish, f index.Candidate) *ranked {
	r := &ranked{row: quire.Row{Page: quire.Page{Number: f.Ref.Page, Target: e.Path}}, score: f.Score, base: f.Score}
	r.named(w)
	asked := strings.ToLower(w.text)
	if !r.exact && w.words <= fewWords && (mentions(asked, e.Title) || mentions(asked, e.Name)) {
		r.first("is called " + e.Title)
	}
	return r
}

// mentions reports whether a text in lower case holds a name of more than a few
// letters.
func mentions(asked, name string) bool {
	return len(name) >= shortName && strings.Contains(asked, strings.ToLower(name))
}

// shortName is the length in bytes below which a name may stand in a text by
// accident.
const shortName = 6

func (c *Collection) hits(ctx context.Context, q *Query, w *wish, list []shown, entries map[quire.PageNumber]*Entry) (hits []Hit, err error) {
	room := q.budget()
	for _, s := range list[:min(len(list), q.limit())] {
		e := entries[s.row.Number]
		h := Hit{
			Carrier: c.name, Kind: e.Kind, Name: e.Name, Source: e.Source, Total: len(s.view.lines), Tokens: s.view.count(e.Text),
			Score: s.score, Why: s.why, exact: s.exact, says: s.view.known * s.view.together(e.Path+"\n"+e.Title),
		}
		h.Lines = s.view.best(max(room/3, 0))
		if e.Kind == HitSkill {
			h.Lines = s.view.part(quire.Range{First: 1, Last: 1}, math.MaxInt)
		}
		h.Shown = s.view.size(h.Lines)
		room -= h.Shown
		for i := range h.Lines {
			h.Lines[i].Number += max(e.First-1, 0)
		}
		if q.Explain {
			if h.Why, err = c.explain(ctx, w, s); err != nil {
				return nil, err
			}
		}
		hits = append(hits, h)
	}
	return hits, nil
}

func (c *Collection) explain(ctx context.Context, w *wish, s shown) ([]Reason, error) {
	adds, err := c.index.Explain(ctx, w.terms, quire.PageRef{Page: s.row.Number})
	return append(reasons(adds), s.why...), err
}

// reasons are the parts of a score as a hit shows them.
func reasons(adds []index.Addend) (why []Reason) {
	for _, a := range adds {
		why = append(why, Reason{What: a.What, Adds: a.Adds})
	}
	return why
}

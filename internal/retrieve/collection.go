package retrieve

import (
	"cmp"
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

	// Access says who may find it. The zero Access lets everybody who was given
	// the collection, as what a team has.
	Access index.Access
}

// A Collection is a carrier of entries. It is not changed by searches and may be
// used by several goroutines.
type Collection struct {
	name    string
	index   *index.Index
	entries Entries
}

// Entries gives the entries of references, in their order: nil for one that is
// gone since it was indexed.
type Entries func(ctx context.Context, refs []quire.PageRef) ([]*Entry, error)

var _ Carrier = (*Collection)(nil)

// anyone stands in for the owner of what everybody may see who was given it.
const anyone = quire.Principal("team:anyone")

// NewKept makes a carrier of what is indexed and kept somewhere else: documents
// made by [Entry.Document], with what gives the entries back.
func NewKept(name string, x *index.Index, entries Entries) *Collection {
	return &Collection{name: name, index: x, entries: entries}
}

// Document is the entry as it is indexed under a reference.
func (e *Entry) Document(ref quire.PageRef) index.Document {
	d := index.Document{Session: ref.Session, Page: ref.Page, Access: e.Access}
	if d.Access.Owner == "" {
		d.Access = index.Access{Owner: anyone, ACL: []quire.Principal{anyone}, Scope: quire.ScopeTeam}
	}
	d.Fields[index.FieldPath], d.Fields[index.FieldSymbol], d.Fields[index.FieldBody] = e.Path, e.Title, Unframed(e.Text)
	return d
}

// NewCollection makes a carrier of a name. Of entries of one collection equal
// hits come in the order given.
func NewCollection(ctx context.Context, name string, entries []Entry) (*Collection, error) {
	m := &index.Memory{}
	c := &Collection{name: name, index: index.New(m, m)}
	c.entries = func(_ context.Context, refs []quire.PageRef) (out []*Entry, err error) {
		for _, ref := range refs {
			out = append(out, &entries[len(entries)-int(ref.Page)])
		}
		return out, nil
	}
	docs := make([]index.Document, 0, len(entries))
	for i := range entries {
		docs = append(docs, entries[i].Document(quire.PageRef{Page: quire.PageNumber(len(entries) - i)}))
	}
	if err := c.index.Add(ctx, docs); err != nil {
		return nil, fmt.Errorf("index %s: %w", name, err)
	}
	return c, nil
}

// Name is that of [Carrier].
func (c *Collection) Name() string { return c.name }

// Search is that of [Carrier]. An entry whose path, name or title the query
// names exactly comes first. Pushed are only those, and of knowledge also what
// says most of the query (design, section 8). Of an address space only the scopes
// are asked about: entries are no pages.
func (c *Collection) Search(ctx context.Context, q Query) ([]Hit, error) {
	w := parseWish(q.Text)
	as := entryReader(q.Reader)
	found, used, err := c.index.Candidates(ctx, w.terms, &as, rankedEntries)
	if err != nil {
		return nil, err
	}
	all, err := c.entries(ctx, refsOf(found))
	if err != nil {
		return nil, fmt.Errorf("read what was found: %w", err)
	}
	g, quotes := newGloss(w.asked(), used), quotationOf(q.Text)
	var list []shown
	entries := map[quire.PageRef]*Entry{}
	for i, f := range found {
		e := all[i]
		if e == nil || !e.in(q.Reader.Project) {
			continue
		}
		s := e.shown(&w, g, f, quotes)
		if q.Push && !e.pushed(&q, f.Ref, &s) {
			continue
		}
		entries[f.Ref] = e
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b shown) int { return compare(a.ranked, b.ranked) })
	byQuotes(list)
	return c.hits(ctx, &q, &w, list, entries)
}

// rankedEntries is how many candidates the rules are applied to. Entries are short
// and all of them are read.
const rankedEntries = 50

func refsOf(found []index.Candidate) (refs []quire.PageRef) {
	for _, c := range found {
		refs = append(refs, c.Ref)
	}
	return refs
}

// entryReader is a reader as entries are read: what is everybody's is theirs too,
// and a page of an address space names no entry.
func entryReader(as quire.Reader) quire.Reader {
	as.Teams = append(slices.Clone(as.Teams), anyone)
	if as.Space != nil {
		as.Space = []quire.PageRef{}
	}
	return as
}

// in reports whether an entry may be found from a project: one of another project
// may not, whoever asks.
func (e *Entry) in(project string) bool {
	return e.Access.Scope != quire.ScopeProject || e.Access.Project == project
}

// pushedShare is the share of a query that knowledge says in one place before it
// is pushed without being named.
const pushedShare = 0.5

// pushed reports whether an entry is shown to somebody who did not ask for it.
func (e *Entry) pushed(q *Query, at quire.PageRef, s *shown) bool {
	switch {
	case e.Access.Scope == quire.ScopeSession:
		return at.Session == q.Reader.Session && s.exact
	case e.Kind == HitKnowledge:
		return s.exact || e.says(s.view) >= pushedShare
	}
	return s.exact
}

// says is the share of what the query says that the entry says in one place. A card
// counts less: the pages that it was made from stand before it.
func (e *Entry) says(v *view) float64 {
	share := v.known * v.together(e.Path+"\n"+e.Title)
	if e.Kind == HitCard {
		return share * claimed
	}
	return share
}

func (e *Entry) shown(w *wish, g *gloss, f index.Candidate, quotes quotation) shown {
	r := e.judge(w, f)
	v := g.view(&r.row, e.Text)
	r.rule("words together", nearFloor+nearShare*v.together(e.Path+"\n"+e.Title))
	return shown{r, v, quotes.in(v, e.Text)}
}

// judge makes an entry comparable: it has no row of the page table, so what
// ranking needs stands in an empty one.
func (e *Entry) judge(w *wish, f index.Candidate) *ranked {
	r := &ranked{row: quire.Row{Session: f.Ref.Session, Page: quire.Page{Number: f.Ref.Page, Target: e.Path}}, score: f.Score, base: f.Score}
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

func (c *Collection) hits(ctx context.Context, q *Query, w *wish, list []shown, entries map[quire.PageRef]*Entry) (hits []Hit, err error) {
	room := q.budget()
	for _, s := range list[:min(len(list), q.limit())] {
		e := entries[s.row.Ref()]
		h := Hit{
			Carrier: c.name, Kind: e.Kind, Name: e.Name, Source: e.Source, Total: len(s.view.lines), Tokens: s.view.count(e.Text),
			Score: s.score, Why: s.why, exact: s.exact, says: e.says(s.view), Scope: cmp.Or(e.Access.Scope, quire.ScopeTeam),
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
	adds, err := c.index.Explain(ctx, w.terms, s.row.Ref())
	return append(reasons(adds), s.why...), err
}

// reasons are the parts of a score as a hit shows them.
func reasons(adds []index.Addend) (why []Reason) {
	for _, a := range adds {
		why = append(why, Reason{What: a.What, Adds: a.Adds})
	}
	return why
}

package carrier

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/retrieve"
	"pgregory.net/rapid"
)

const (
	ann = quire.Principal("user:ann")
	bob = quire.Principal("user:bob")
)

func accessOf(owner quire.Principal) index.Access {
	return index.Access{Owner: owner, Scope: quire.ScopeSession}
}

func search(t testing.TB, c retrieve.Carrier, q retrieve.Query) []retrieve.Hit {
	t.Helper()
	hits, err := c.Search(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

func TestCardsAreFoundAndReplaced(t *testing.T) {
	m := &index.Memory{}
	c := NewCards(m, m)
	put := func(n quire.SessionNumber, text string) {
		t.Helper()
		card := Card{Title: "turn 3", First: 12, Last: 40, Text: "[turn 3]\nthe user said:\n> " + text + "\n"}
		if err := c.Put(t.Context(), n, accessOf(ann), []Card{{Title: "turn 1", First: 1, Last: 2, Text: "hello"}, card}); err != nil {
			t.Fatal(err)
		}
	}
	put(7, "why is the total wrong")
	put(8, "paint the shed")
	put(7, "why is the total wrong")
	hits := search(t, c, retrieve.Query{Text: "total wrong", Reader: quire.Reader{Who: ann}})
	if len(hits) != 1 || hits[0].Kind != retrieve.HitCard || hits[0].Name != "s7/p12" || !strings.Contains(hits[0].Source, "turn 3, pages s7/p12–s7/p40") {
		t.Fatalf("found %+v", hits)
	}
	put(7, "rename the cart")
	if hits := search(t, c, retrieve.Query{Text: "total wrong", Reader: quire.Reader{Who: ann}}); len(hits) != 0 {
		t.Errorf("what was replaced is found: %+v", hits)
	}
	if hits := search(t, c, retrieve.Query{Text: "rename the cart", Reader: quire.Reader{Who: bob}}); len(hits) != 0 {
		t.Errorf("a stranger finds %+v", hits)
	}
	if err := c.Remove(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	if err := c.Rewrite(t.Context()); err != nil {
		t.Fatal(err)
	}
	if hits := search(t, c, retrieve.Query{Text: "rename hello", Reader: quire.Reader{Who: ann}}); len(hits) != 1 || hits[0].Name != "s8/p1" {
		t.Errorf("found %+v", hits)
	}
	names, err := m.SegmentNames(t.Context())
	if err != nil || slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, "s7") }) {
		t.Errorf("kept %v, %v", names, err)
	}
}

// Cards of another session are pulled and never pushed; those of this one are
// pushed where they are named.
func TestCardsAreNotPushed(t *testing.T) {
	m := &index.Memory{}
	c := NewCards(m, m)
	for n := range quire.SessionNumber(2) {
		card := Card{Title: "task checkout", First: 1, Last: 9, Text: "[task checkout]\nthe total was wrong"}
		if err := c.Put(t.Context(), n+1, accessOf(ann), []Card{card}); err != nil {
			t.Fatal(err)
		}
	}
	as := quire.Reader{Who: ann, Session: 2}
	for text, want := range map[string]int{"task checkout": 1, "the total was wrong": 0} {
		hits := search(t, c, retrieve.Query{Text: text, Push: true, Reader: as})
		if len(hits) != want || want > 0 && hits[0].Name != "s2/p1" {
			t.Errorf("%q pushes %+v", text, hits)
		}
	}
}

// A shelf is a page table with texts.
type shelf map[quire.PageRef]*shelved

type shelved struct {
	row  quire.Row
	text string
}

func (s shelf) Rows(_ context.Context, as quire.Reader, f quire.Filter) iter.Seq2[quire.Row, error] {
	return func(yield func(quire.Row, error) bool) {
		for _, n := range f.Pages {
			p := s[quire.PageRef{Session: f.Session, Page: n}]
			if p != nil && as.Sees(&p.row, "app") && !yield(p.row, nil) {
				return
			}
		}
	}
}

func (s shelf) Text(_ context.Context, r *quire.Row) (string, error) { return s[r.Ref()].text, nil }

// world is a surface with every kind of carrier: 30 pages of three sessions and two
// owners, cards of the sessions, knowledge, notes, documents and skills of every
// scope. All of them say the same words.
func world(t testing.TB) (*retrieve.Surface, shelf) {
	const text = "deploy the build of pkg/cart.go: func Total fails with E1042"
	m := &index.Memory{}
	s, pages, cards := shelf{}, index.New(m, m), NewCards(m, m)
	scopes := []quire.Scope{quire.ScopeSession, quire.ScopeProject, quire.ScopeUser, quire.ScopeTeam}
	var docs []index.Document
	for i := range 30 {
		r := quire.Row{
			Page:    quire.Page{Number: quire.PageNumber(i%10 + 1), Kind: quire.PageTool, Class: quire.ClassSource, Tool: "read", Action: quire.ActionRead, Target: "pkg/cart.go", Body: quire.Sum(fmt.Sprint(i))},
			Session: quire.SessionNumber(i/10 + 1), Owner: []quire.Principal{ann, bob}[i%2], Scope: scopes[i%4], Outcome: quire.OutcomeUnknown,
		}
		s[r.Ref()] = &shelved{r, fmt.Sprintf("%s\nfunc Total%d() {}\nin copy %d\n", text, i, i)}
		d, _ := retrieve.NewDocument(&r, "app", s[r.Ref()].text, "")
		docs = append(docs, d)
	}
	must(t, pages.Add(context.Background(), docs))
	surface := &retrieve.Surface{}
	surface.Register(&retrieve.Pages{Index: pages, Table: s, Texts: s})
	for n := range quire.SessionNumber(3) {
		must(t, cards.Put(context.Background(), n+1, accessOf(ann), []Card{{Title: "ledger", First: 1, Last: 10, Text: text}}))
	}
	surface.Register(cards)
	for i, kind := range []retrieve.HitKind{retrieve.HitKnowledge, retrieve.HitNote, retrieve.HitDocument, retrieve.HitSkill} {
		var entries []retrieve.Entry
		for k, scope := range scopes {
			e := retrieve.Entry{Kind: kind, Name: fmt.Sprintf("%s-%s", kind, scope), Path: "pkg/cart.go", Title: "deploy the build", Text: text}
			e.Access = index.Access{Owner: []quire.Principal{ann, bob}[(i+k)%2], Scope: scope, Project: "app"}
			entries = append(entries, e)
		}
		c, err := retrieve.NewCollection(context.Background(), string(kind), entries)
		must(t, err)
		surface.Register(c)
	}
	return surface, s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Nothing outside of an address space is found, however it is asked for: by words,
// by path, by symbol, by name, pushed or pulled, by the owner or a stranger. What is
// in no page is found only where its scope is in the space; cards never are.
func TestNothingOutsideAnAddressSpaceIsFound(t *testing.T) {
	surface, pages := world(t)
	queries := []string{"deploy the build", "pkg/cart.go", "Total", "E1042", "s1/p1 s1/p2 s2/p3 s3/p10", "p1 p2 p3", "ledger", "knowledge-user",
		"deploy the build of pkg/cart.go: func Total fails with E1042", "in copy 7", "部署"}
	rapid.Check(t, func(t *rapid.T) {
		q := retrieve.Query{Text: rapid.SampledFrom(queries).Draw(t, "query"), Limit: 200, Budget: 1 << 20, Push: rapid.Bool().Draw(t, "push")}
		q.Reader = quire.Reader{
			Who: rapid.SampledFrom([]quire.Principal{ann, bob, "user:eve"}).Draw(t, "who"), Session: 1, Project: rapid.SampledFrom([]string{"app", "lib", ""}).Draw(t, "project"),
			Space: []quire.PageRef{}, Scopes: rapid.SliceOfN(rapid.SampledFrom([]quire.Scope{quire.ScopeProject, quire.ScopeUser, quire.ScopeTeam}), 0, 2).Draw(t, "scopes"),
		}
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, 40), 0, 12).Draw(t, "space") {
			q.Reader.Space = append(q.Reader.Space, quire.PageRef{Session: quire.SessionNumber(n / 10), Page: quire.PageNumber(n%10 + 1)})
		}
		hits, err := surface.Search(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		for i := range hits {
			h := &hits[i]
			if h.Kind == retrieve.HitPage {
				if !q.Reader.Sees(&pages[h.Ref].row, "app") {
					t.Errorf("%+v finds %s", q.Reader, h.Name)
				}
				for _, ref := range h.Copied {
					if !q.Reader.Sees(&pages[ref].row, "app") {
						t.Errorf("%+v is told of %v", q.Reader, ref)
					}
				}
			} else if h.Kind == retrieve.HitCard || !slices.Contains(q.Reader.Scopes, h.Scope) {
				t.Errorf("%+v finds %s of scope %s", q.Reader, h.Name, h.Scope)
			}
		}
	})
}

// The world is found by who may see it: what the test above does not find is there.
func TestTheWorldIsFound(t *testing.T) {
	surface, _ := world(t)
	kinds := map[retrieve.HitKind]bool{}
	for _, h := range search(t, surface, retrieve.Query{Text: "deploy the build", Limit: 200, Budget: 1 << 20, Reader: quire.Reader{Who: ann, Project: "app"}}) {
		kinds[h.Kind] = true
	}
	if len(kinds) != 6 {
		t.Errorf("found only %v", kinds)
	}
}

func TestFilesNameTheirProject(t *testing.T) {
	got, err := Notes(folder("a.md", "---\nproject: /home/ann/app\n---\n# A\nx\n", "b.md", "# B\ny\n"), "notes")
	if err != nil || len(got) < 2 || got[len(got)-1].Access.Project != "" {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, e := range got[:len(got)-1] {
		if e.Access.Project != "/home/ann/app" {
			t.Errorf("%+v", e)
		}
	}
}

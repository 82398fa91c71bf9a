package retrieve

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/quire"
)

// Rows is what ranking needs of the page table: the rows that a reader may see.
type Rows interface {
	Rows(ctx context.Context, as quire.Reader, f quire.Filter) iter.Seq2[quire.Row, error]
}

// Texts gives the text of a page as it may be shown: masked.
type Texts interface {
	Text(ctx context.Context, r *quire.Row) (string, error)
}

// Pages is the carrier of pages. It may be used by several goroutines if what
// it is made of may.
type Pages struct {
	Index *index.Index
	Table Rows
	Texts Texts
}

var _ Carrier = (*Pages)(nil)

// Name is that of [Carrier].
func (*Pages) Name() string { return "pages" }

// rankedPages is how many candidates the rules are applied to, rereadPages of
// how many the text is read, quotedPages of how many where the query is long
// enough to quote something; where texts are long, of fewer, but of as many as
// there are hits wanted.
const (
	rankedPages = 100
	rereadPages = 24
	quotedPages = 60
	rereadBytes = 64 << 10 // for each of them, on average
)

// Search is that of [Carrier]. Pages that the text names come first, in the
// order in which it names them; the others by the score of the index and the
// rules that the factors in rank.go name. The page table has the last word on what the
// reader may see.
func (p *Pages) Search(ctx context.Context, q Query) ([]Hit, error) {
	w := parseWish(q.Text)
	found, used, err := p.Index.Candidates(ctx, w.terms, &q.Reader, rankedPages)
	if err != nil {
		return nil, err
	}
	rows, err := p.rows(ctx, &q, named(&w, &q), found)
	if err != nil {
		return nil, err
	}
	list := order(&q, &w, found, rows)
	hits, err := p.show(ctx, &q, &w, list, newGloss(w.asked(), used))
	if err != nil || !q.Explain {
		return hits, err
	}
	return hits, p.explain(ctx, w.terms, hits)
}

// named gives references without a session the one at hand.
// Where the query says nothing else, a page is read from its beginning.
func named(w *wish, q *Query) []quire.PageRef {
	out := slices.Clone(w.refs)
	for i := range out {
		if out[i].Session == 0 {
			out[i].Session = q.Reader.Session
		}
		if out[i].Lines.First == 0 && w.words == len(out) {
			out[i].Lines = quire.Range{First: 1, Last: math.MaxInt32}
		}
	}
	return out
}

// A ranked is a page with its row and its score.
type ranked struct {
	row   quire.Row
	score float64
	base  float64
	exact bool        // the query is about it by name, see [compare]
	lines quire.Range // that the query names
	why   []Reason
}

// rows fetches the rows of what was named and found, session by session.
func (p *Pages) rows(ctx context.Context, q *Query, refs []quire.PageRef, found []index.Candidate) (map[quire.PageRef]*ranked, error) {
	out := map[quire.PageRef]*ranked{}
	var sessions []quire.SessionNumber
	pages := map[quire.SessionNumber][]quire.PageNumber{}
	want := func(r quire.PageRef) {
		if len(pages[r.Session]) == 0 {
			sessions = append(sessions, r.Session)
		}
		pages[r.Session] = append(pages[r.Session], r.Page)
	}
	for _, r := range refs {
		want(r)
	}
	for _, c := range found {
		if !slices.Contains(q.Except, c.Ref) {
			want(c.Ref)
		}
	}
	for _, n := range sessions {
		for row, err := range p.Table.Rows(ctx, q.Reader, quire.Filter{Session: n, Pages: pages[n]}) {
			if err != nil {
				return nil, fmt.Errorf("read the rows of what was found: %w", err)
			}
			if !q.Push || row.Session == q.Reader.Session || row.Scope != quire.ScopeSession {
				out[row.Ref()] = &ranked{row: row}
			}
		}
	}
	for i, r := range refs {
		if x := out[quire.PageRef{Session: r.Session, Page: r.Page}]; x != nil && x.score == 0 {
			x.lines, x.score = r.Lines, 2*byName-float64(i)
			x.why = append(x.why, Reason{What: "named in the query", Adds: x.score})
		}
	}
	return out, nil
}

// byName is below the score of any page that the query names, and above all
// others.
const byName = 1e6

// A shown is a page whose text was read.
type shown struct {
	*ranked
	view   *view
	quoted []int // shingles of the query that stand in it
}

// read reads the texts of the best and puts them in order by what only a text
// shows: how close to each other the words of the query stand in it, and what
// the query quotes of it.
func (p *Pages) read(ctx context.Context, q *Query, w *wish, list []*ranked, g *gloss) ([]shown, error) {
	quotes := quotationOf(q.Text)
	reread := rereadPages
	if len(quotes) >= fullQuote {
		reread = quotedPages
	}
	out := make([]shown, 0, min(len(list), reread))
	bytes := 0
	for _, r := range list[:min(len(list), reread)] {
		if bytes > reread*rereadBytes && len(out) >= q.limit() {
			break
		}
		text, err := p.Texts.Text(ctx, &r.row)
		if err != nil {
			return nil, fmt.Errorf("read %v: %w", r.row.Ref(), err)
		}
		bytes += len(text)
		v := g.view(&r.row, text)
		if r.score < byName {
			if name := w.definedBy(r.row.Class, text); name != "" {
				r.first("defines " + name)
			}
			r.rule("words together", nearFloor+nearShare*v.together(r.row.Target))
		}
		out = append(out, shown{r, v, quotes.in(v, text)})
	}
	slices.SortStableFunc(out, func(a, b shown) int { return compare(a.ranked, b.ranked) })
	byQuotes(out)
	return newestFirst(out, w.failed || q.Failed), nil
}

// show makes hits of the best that say different things.
func (p *Pages) show(ctx context.Context, q *Query, w *wish, list []*ranked, g *gloss) ([]Hit, error) {
	texts, err := p.read(ctx, q, w, list, g)
	if err != nil {
		return nil, err
	}
	var hits []Hit
	c := newCollapse()
	room := claim(texts[:min(len(texts), q.limit())], q.budget())
	for _, r := range texts {
		if first, ok := c.sameBody(r.ranked); ok {
			hits[first].copy(r.row.Ref())
			continue
		}
		h := hitOf(r.ranked)
		h.says = r.view.known * r.view.together(r.row.Target)
		h.Lines, h.Total = r.view.part(r.lines, r.view.reserve+r.share(room)), len(r.view.lines)
		if first, ok := c.sameLines(h.Lines); ok && r.view.reserve == 0 && r.score < byName {
			hits[first].copy(r.row.Ref())
			continue
		}
		if len(hits) == q.limit() {
			break
		}
		c.add(&r)
		h.Shown = r.view.size(h.Lines)
		room -= max(h.Shown-r.view.reserve, 0)
		hits = append(hits, h)
	}
	return hits, nil
}

// share is what the next hit may show of the room that is left: the better a
// hit, the more. One that the query names may take all.
func (r *ranked) share(room int) int {
	if r.score >= byName {
		return max(room, 0)
	}
	return max(room/3, 0)
}

func hitOf(r *ranked) Hit {
	return Hit{
		Carrier: "pages", Kind: HitPage, Ref: r.row.Ref(), Name: r.row.Ref().String(),
		Source: sourceOf(&r.row), Marks: marksOf(&r.row), Tokens: r.row.Tokens,
		Score: r.score, Why: r.why, Outcome: r.row.Outcome, Class: r.row.Class, PageIs: r.row.Kind,
		exact: r.exact || r.score >= byName,
	}
}

func (h *Hit) copy(of quire.PageRef) {
	h.Copied = append(h.Copied, of)
	h.Copies = append(h.Copies, of.String())
}

// explain puts what each term adds before the rules.
func (p *Pages) explain(ctx context.Context, terms []index.Term, hits []Hit) error {
	for i := range hits {
		adds, err := p.Index.Explain(ctx, terms, hits[i].Ref)
		if err != nil {
			return err
		}
		hits[i].Why = append(reasons(adds), hits[i].Why...)
	}
	return nil
}

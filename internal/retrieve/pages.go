package retrieve

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/quire"
)

// Rows is what ranking needs of the page table: the rows that a reader may see.
type Rows interface {
	Rows(ctx context.Context, as quire.Reader, f quire.Filter) iter.Seq2[quire.Row, error]
}

// Texts gives the text of a page as it may be shown: masked. It is asked for several
// texts at the same time.
type Texts interface {
	Text(ctx context.Context, r *quire.Row) (string, error)
}

// Pages is the carrier of pages. It may be used by several goroutines if what
// it is made of may.
type Pages struct {
	Index *index.Index
	Table Rows
	Texts Texts

	// Near finds pages by meaning beside those found by words; nil: nobody does.
	// Where it fails words alone are left, and Notice is told why.
	Near   Nearest
	Notice func(error)
}

// A Nearest finds pages by what they mean: at most limit of those that the reader
// may see, the nearest first.
type Nearest interface {
	Nearest(ctx context.Context, text string, as quire.Reader, limit int) ([]quire.PageRef, error)
}

var _ Carrier = (*Pages)(nil)

// Name is that of [Carrier].
func (*Pages) Name() string { return "pages" }

// rankedPages is how many candidates the rules are applied to, rereadPages of
// how many the text is read, quotedPages of how many where the query is long
// enough to quote something; where texts are long, of fewer, but of as many as
// there are hits wanted.
//
// These bound what is read. Usually much less is: see [forecast].
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

	holds, defines uint64  // terms of the query, as [index.Candidate] says it
	most           float64 // what the score can be once the text was read
	maybe          bool    // the text may show that exact holds
	near           bool    // it means what the query means
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

// A shown is a page whose text was read, or may be.
type shown struct {
	*ranked
	view   *view // nil: not read
	quoted []int // shingles of the query that stand in it
}

// A reading reads the texts of pages for a query.
type reading struct {
	*Pages
	wish     *wish
	gloss    *gloss
	quotes   quotation
	forecast *forecast
}

// load reads the text of a page and scores what only a text shows: how close to
// each other the words of the query stand in it, and what the query quotes of it.
func (d *reading) load(ctx context.Context, s *shown) error {
	if s.view != nil {
		return nil
	}
	text, err := d.Texts.Text(ctx, &s.row)
	if err != nil {
		return fmt.Errorf("read %v: %w", s.row.Ref(), err)
	}
	s.view = d.gloss.view(&s.row, text)
	if s.score < byName {
		if name := d.wish.definedBy(s.row.Class, text); name != "" {
			s.first("defines " + name)
		}
		s.rule("words together", nearFloor+nearShare*s.view.together(s.row.Target))
	}
	if s.score >= byName || d.forecast.quotes(s.ranked) > 0 {
		s.quoted = d.quotes.in(s.view, text)
	}
	return nil
}

// read puts pages in order by what their texts show. The texts are read of those
// that can be best by the forecast, until as many say different things as there
// are hits wanted and no other page can come before those. What is left follows
// unread, in the order of the forecast.
func (d *reading) read(ctx context.Context, q *Query, list []*ranked) ([]shown, error) {
	reread := rereadPages
	if len(d.quotes) >= fullQuote {
		reread = quotedPages
	}
	d.forecast.sort(list)
	list = list[:min(len(list), reread)]
	all := make([]shown, len(list))
	for i, r := range list {
		all[i].ranked = r
	}
	e := enough{want: q.limit() + spareHits, bodies: map[quire.Hash]bool{}}
	n, bytes := 0, 0
	for loaded := 0; n < len(all); n++ {
		if e.reached(list[n]) || bytes > reread*rereadBytes && n >= q.limit() {
			break
		}
		if n == loaded {
			loaded = min(n+wave(), len(all))
			if err := d.loadAll(ctx, all[n:loaded]); err != nil {
				return nil, err
			}
		}
		bytes += all[n].row.Bytes
		e.add(list[n])
	}
	out := all[:n]
	slices.SortStableFunc(out, func(a, b shown) int { return compare(a.ranked, b.ranked) })
	byQuotes(out)
	if len(out) < q.limit() || bytes <= reread*rereadBytes {
		out = all
	}
	return newestFirst(out, d.wish.failed || q.Failed), nil
}

// wave is how many texts are read at the same time. What is read beyond those that
// are needed changes nothing.
func wave() int { return min(runtime.GOMAXPROCS(0), 8) }

// loadAll reads texts at the same time.
func (d *reading) loadAll(ctx context.Context, list []shown) error {
	errs := make([]error, len(list))
	var all sync.WaitGroup
	for i := range list[1:] {
		all.Go(func() { errs[i+1] = d.load(ctx, &list[i+1]) })
	}
	errs[0] = d.load(ctx, &list[0])
	all.Wait()
	return errors.Join(errs...)
}

// show makes hits of the best that say different things.
func (p *Pages) show(ctx context.Context, q *Query, w *wish, list []*ranked, g *gloss) ([]Hit, error) {
	d := &reading{Pages: p, wish: w, gloss: g, quotes: quotationOf(q.Text)}
	d.forecast = newForecast(w, g, d.quotes)
	texts, err := d.read(ctx, q, list)
	if err != nil {
		return nil, err
	}
	if p.Near != nil {
		if texts, err = d.fuse(ctx, q, texts); err != nil {
			return nil, err
		}
	}
	best := texts[:min(len(texts), q.limit())]
	for i := range best {
		if err := d.load(ctx, &best[i]); err != nil {
			return nil, err
		}
	}
	return d.hits(ctx, q, texts, claim(best, q.budget()))
}

func (d *reading) hits(ctx context.Context, q *Query, texts []shown, room int) (hits []Hit, err error) {
	c := newCollapse()
	for _, r := range texts {
		if first, ok := c.sameBody(r.ranked); ok {
			hits[first].copy(r.row.Ref())
			continue
		}
		if len(hits) == q.limit() && r.view == nil {
			break
		}
		if err := d.load(ctx, &r); err != nil {
			return nil, err
		}
		h := hitOf(r.ranked)
		if h.says = r.view.known * r.view.together(r.row.Target); r.near {
			h.says = max(h.says, meantShare)
		}
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
		Source: sourceOf(&r.row), Scope: r.row.Scope, Marks: marksOf(&r.row), Tokens: r.row.Tokens,
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

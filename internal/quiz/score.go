package quiz

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/retrieve"
	"github.com/quire-agent/quire/internal/shingle"
	"github.com/quire-agent/quire/internal/term"
)

// The ways of retrieval that are compared.
const (
	wayQuire  = "quire"    // the surface
	wayPlain  = "bm25"     // BM25 over the body and the target, without fields and rules
	wayNewest = "newest-5" // the newest results that are not in the prompt
	wayLimit  = "limit"    // the best that a ranking could do, see [asker.limit]
	wayWords  = "any word" // 1 where question and needed lines have a word in common
)

// A Score counts how often retrieval found what was needed.
type Score struct {
	Asked int     `json:"asked"` // pairs of a question and a page that it needs
	At1   float64 `json:"recall_at_1"`
	At5   float64 `json:"recall_at_5"`
	At10  float64 `json:"recall_at_10"`
	Rank  float64 `json:"reciprocal_rank"` // mean

	// Text is of the pairs whose needed text stood in 2,000 tokens of lines; nil
	// for ways that show none.
	Text *float64 `json:"text_within_2000"`
}

// scoreOf is the score of one pair: the rank from 1, 0 for not found.
func scoreOf(rank int) Score {
	s := Score{Asked: 1, At1: within(rank, 1), At5: within(rank, 5), At10: within(rank, 10)}
	if rank > 0 {
		s.Rank = 1 / float64(rank)
	}
	return s
}

// shows adds whether the text was shown.
func (r Score) shows(text bool) Score {
	r.Text = new(float64)
	if text {
		*r.Text = 1
	}
	return r
}

func within(rank, n int) float64 {
	if rank > 0 && rank <= n {
		return 1
	}
	return 0
}

// plus adds counts.
func (r Score) plus(o Score) Score {
	r.Asked += o.Asked
	r.At1, r.At5, r.At10, r.Rank = r.At1+o.At1, r.At5+o.At5, r.At10+o.At10, r.Rank+o.Rank
	switch {
	case r.Text == nil:
		r.Text = o.Text
	case o.Text != nil:
		sum := *r.Text + *o.Text
		r.Text = &sum
	}
	return r
}

// shares turns counts into shares.
func (r Score) shares() Score {
	n := float64(max(r.Asked, 1))
	r.At1, r.At5, r.At10, r.Rank = r.At1/n, r.At5/n, r.At10/n, r.Rank/n
	if r.Text != nil {
		share := *r.Text / n
		r.Text = &share
	}
	return r
}

// Scores holds what retrieval found, by way and by kind of question. Scores are
// counts until [Scores.Shares].
type Scores map[string]map[string]Score

func (r Scores) add(way, kind string, s Score) {
	if r[way] == nil {
		r[way] = map[string]Score{}
	}
	r[way][kind] = r[way][kind].plus(s)
}

// Add adds the counts of another.
func (r Scores) Add(o Scores) {
	for way, kinds := range o {
		for kind, s := range kinds {
			r.add(way, kind, s)
		}
	}
}

// Shares turns counts into shares.
func (r Scores) Shares() Scores {
	out := Scores{}
	for way, kinds := range r {
		for kind, s := range kinds {
			out.add(way, kind, s.shares())
		}
	}
	return out
}

// An asker puts questions to a table.
type asker struct {
	pages *retrieve.Pages
	table *table
	held  *holders
	found Scores
}

// Ask asks what a session needed later, at the time when it did, and
// counts what was found.
func Ask(ctx context.Context, of *recording.Session) (Scores, error) {
	s := recorded{of}
	asked, err := s.questions()
	if err != nil {
		return nil, fmt.Errorf("recall %s: %w", s.Path, err)
	}
	t := newTable(s)
	a := asker{&retrieve.Pages{Index: t.index, Table: t, Texts: t}, t, newHolders(s, asked), Scores{}}
	for i := range asked {
		if err := t.grow(ctx, asked[i].call, a.held); err != nil {
			return nil, fmt.Errorf("recall %s: %w", s.Path, err)
		}
		if err := a.ask(ctx, &asked[i]); err != nil {
			return nil, fmt.Errorf("recall %s, call %d: %w", s.Path, asked[i].call, err)
		}
	}
	return a.found, nil
}

// ask puts one question in each way.
func (a *asker) ask(ctx context.Context, q *question) error {
	s := a.table.s
	query := retrieve.Query{
		Text: q.text, Reader: quire.Reader{Who: owner, Session: 1}, Call: int(q.call), Now: s.Calls[q.call].At,
		Limit: wantedHits, Budget: hitTokens, Except: s.inPrompt(q.call),
	}
	hits, err := a.pages.Search(ctx, query)
	if err != nil {
		return err
	}
	plain, err := ranking(ctx, a.table.flat, plainTerms(q.text), &query)
	if err != nil {
		return err
	}
	told := asked{query: &query, hits: hits, shown: shinglesIn(linesText(hits)), plain: plain, newest: a.table.newest(&query)}
	for _, i := range q.needs {
		if err := a.judge(ctx, q, &s.Needs[i], &told); err != nil {
			return err
		}
	}
	return nil
}

// asked is what a question got.
type asked struct {
	query         *retrieve.Query
	hits          []retrieve.Hit
	shown         map[uint64]bool // shingles of the lines of the hits
	plain, newest []quire.PageNumber
}

// judge counts what a question got for one need.
func (a *asker) judge(ctx context.Context, q *question, n *recording.Need, got *asked) error {
	text, err := a.table.s.PageText(n.Page)
	if err != nil {
		return err
	}
	needed := recording.LinesOf(text, recording.Locate(text, keysOf(n)))
	kinds := a.table.kinds(q, n, needed)
	answers := a.held.answers(n)
	ours, plain, newest := rankIn(got.hits, answers), rankOf(got.plain, answers), rankOf(got.newest, answers)
	limit, shares, err := a.limit(ctx, q, needed, answers, got.query)
	if err != nil {
		return err
	}
	limit = better(limit, better(ours, better(plain, newest)))
	shown := served(got.shown, keysOf(n))
	fits := shown || limit > 0 && len(needed)/tokenBytes <= hitTokens
	for _, kind := range kinds {
		a.found.add(wayQuire, kind, scoreOf(ours).shows(shown))
		a.found.add(wayPlain, kind, scoreOf(plain))
		a.found.add(wayNewest, kind, scoreOf(newest))
		a.found.add(wayLimit, kind, scoreOf(limit).shows(fits))
		a.found.add(wayWords, kind, scoreOf(shares))
	}
	return nil
}

// keysOf are the shingles that are looked for.
func keysOf(n *recording.Need) []uint64 {
	if n.Strict {
		return n.StrictShingles
	}
	return n.Shingles
}

// kinds says under which names a pair is counted: by the strictness of the
// need, by where the question comes from, and by what of the page it names.
func (t *table) kinds(q *question, n *recording.Need, needed string) []string {
	kind := q.kind
	if !n.Strict {
		kind = "wide " + kind
	}
	return []string{kind, kind + ", " + t.names(q, n, needed)}
}

// names says what of the needed page the question names: its path, or an
// identifier that has parts or digits and stands in the needed lines.
func (t *table) names(q *question, n *recording.Need, needed string) string {
	wholes := map[string]bool{}
	term.Scan(needed, func(word []byte, k term.Kind) {
		if k == term.Whole {
			wholes[string(word)] = true
		}
	})
	target := strings.ToLower(t.s.Pages[n.Page-1].Target)
	path, symbol := false, false
	term.Scan(q.text, func(word []byte, k term.Kind) {
		if k == term.Whole {
			symbol = symbol || wholes[string(word)]
			path = path || isFile(string(word), target)
		}
	})
	switch {
	case path:
		return "names path"
	case symbol:
		return "names symbol"
	default:
		return "names nothing"
	}
}

// isFile reports whether a term with a dot is the end of a path, or the path
// the end of it.
func isFile(term, target string) bool {
	return strings.Contains(term, ".") && target != "" &&
		(strings.HasSuffix("/"+target, "/"+term) || strings.HasSuffix("/"+term, "/"+strings.TrimPrefix(target, "/")))
}

// ranking is plain BM25 over an index.
func ranking(ctx context.Context, x *index.Index, terms []index.Term, q *retrieve.Query) (out []quire.PageNumber, err error) {
	found, _, err := x.Candidates(ctx, terms, &q.Reader, wantedHits+len(q.Except))
	for _, c := range found {
		if !slices.Contains(q.Except, c.Ref) {
			out = append(out, c.Ref.Page)
		}
	}
	return out[:min(len(out), wantedHits)], err
}

func plainTerms(text string) (terms []index.Term) {
	seen := map[string]bool{}
	term.Scan(text, func(word []byte, _ term.Kind) {
		if !seen[string(word)] {
			seen[string(word)] = true
			terms = append(terms, index.Term{Text: string(word), Weight: 1})
		}
	})
	return terms
}

// newest lists the newest results that are not in the prompt.
func (t *table) newest(q *retrieve.Query) (out []quire.PageNumber) {
	for i := len(t.rows); i > 0 && len(out) < 5; i-- {
		if r := &t.rows[i-1]; r.Kind == quire.PageTool && r.Bytes > 0 && !slices.Contains(q.Except, r.Ref()) {
			out = append(out, r.Number)
		}
	}
	return out
}

// rankIn is the rank of the first hit that is one of the pages or says the same,
// from 1; 0 for none.
func rankIn(hits []retrieve.Hit, pages map[quire.PageNumber]bool) int {
	return slices.IndexFunc(hits, func(h retrieve.Hit) bool {
		return pages[h.Ref.Page] || slices.ContainsFunc(h.Copied, func(r quire.PageRef) bool { return pages[r.Page] })
	}) + 1
}

func rankOf(list []quire.PageNumber, pages map[quire.PageNumber]bool) int {
	return slices.IndexFunc(list, func(n quire.PageNumber) bool { return pages[n] }) + 1
}

func linesText(hits []retrieve.Hit) string {
	var b strings.Builder
	for i := range hits {
		for _, l := range hits[i].Lines {
			b.WriteString(l.Text + "\n")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func shinglesIn(text string) map[uint64]bool {
	set := map[uint64]bool{}
	shingle.Scan(text, func(g shingle.Shingle) bool {
		set[g.Hash] = true
		return true
	})
	return set
}

// servedAt is the share of a need's shingles that serves it.
const servedAt = 0.8

func served(shown map[uint64]bool, keys []uint64) bool {
	found := 0
	for _, k := range keys {
		if shown[k] {
			found++
		}
	}
	return float64(found) >= servedAt*float64(len(keys))
}

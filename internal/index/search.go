package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/quire-agent/quire/internal/quire"
)

// The weights of BM25F, as S. Robertson and H. Zaragoza describe it (The
// Probabilistic Relevance Framework: BM25 and Beyond, 2009, section 3.6):
//
//	w(t) = Σ over fields f of weight(f)·tf(t,f) / (1 − b(f) + b(f)·len(f)/avg(f))
//	score = Σ over terms of idf(t) · (k1+1)·w(t) / (k1 + w(t))
//	idf(t) = ln(1 + (N − df + ½)/(df + ½))
const saturation = 1.2 // k1

func weights() [fieldCount]struct{ weight, b float64 } {
	return [fieldCount]struct{ weight, b float64 }{
		FieldPath: {3, 0.3}, FieldSymbol: {2, 0.5}, FieldCommand: {1.5, 0.5}, FieldBody: {1, 0.4},
	}
}

// A Term is a term of a query and how much it counts.
type Term struct {
	Text   string
	Weight float64
}

// A Candidate is a page that an index found.
type Candidate struct {
	Ref   quire.PageRef
	Score float64
}

// Candidates finds the pages that match best, at most limit of them, the best
// first; of equals the newer one. What the reader may not see takes no part.
//
// The rarest terms choose: their documents are candidates, 5,000 of them in an
// index of up to 250,000 documents and up to 20,000 in larger ones. The other
// terms only change the scores of those. Where the lists of all terms are short
// together, all documents that hold one are candidates.
//
// Candidates also returns the terms that were used, each with what it says: its
// weight times idf.
func (x *Index) Candidates(ctx context.Context, terms []Term, as *quire.Reader, limit int) ([]Candidate, []Term, error) {
	for range attempts {
		found, used, err := x.candidates(ctx, terms, as, limit)
		if !errors.Is(err, quire.ErrNotFound) {
			return found, used, err
		}
	}
	return nil, nil, fmt.Errorf("search the index: %w", quire.ErrConflict)
}

func (x *Index) candidates(ctx context.Context, terms []Term, as *quire.Reader, limit int) ([]Candidate, []Term, error) {
	now, err := x.current(ctx)
	if err != nil {
		return nil, nil, err
	}
	s, err := now.search(ctx, terms)
	if err != nil || len(s.terms) == 0 {
		return nil, nil, err
	}
	var found []Candidate
	for i := range now.segments {
		part, err := s.in(ctx, i, as, limit)
		if err != nil {
			return nil, nil, err
		}
		found = append(found, part...)
		slices.SortStableFunc(found, byScore)
		if len(found) > limit {
			found = found[:limit]
		}
		if len(found) == limit {
			s.floor = float32(found[limit-1].Score)
		}
	}
	return found, s.used(), nil
}

func (s *search) used() (out []Term) {
	for _, t := range s.terms {
		out = append(out, Term{t.Text, t.Weight * t.idf})
	}
	return out
}

func byScore(a, b Candidate) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Ref.Session, a.Ref.Session), cmp.Compare(b.Ref.Page, a.Ref.Page))
}

// A search is a query against a snapshot.
type search struct {
	now   *snapshot
	docs  int
	terms []weighed // the rarest first
	floor float32   // what a candidate must reach to be among the best of the segments so far
	norms [fieldCount][256]float32
}

// weighed is a term with its lists.
type weighed struct {
	Term
	df    int
	idf   float64
	lists []termList               // by segment
	body  *[bodyTimes][256]float32 // what it adds where it occurs in the body only, by how often and by the length of that
}

// search looks up all terms.
func (now *snapshot) search(ctx context.Context, terms []Term) (*search, error) {
	s := &search{now: now}
	for _, seg := range now.segments {
		s.docs += seg.Docs
	}
	for _, t := range terms {
		w := weighed{Term: t}
		for _, seg := range now.segments {
			l, err := seg.lookup(ctx, t.Text)
			if err != nil {
				return nil, err
			}
			w.lists = append(w.lists, l)
			w.df += l.docs
		}
		if w.df > 0 {
			w.idf = math.Log(1 + (float64(s.docs-w.df)+.5)/(float64(w.df)+.5))
			s.terms = append(s.terms, w)
		}
	}
	s.keep(maxScored)
	s.normalise()
	return s, nil
}

// maxScored is how many terms of a query are scored: those that say most. The
// others of a long text would change nothing but the time it takes.
const maxScored = 48

// keep keeps the terms that say most and puts the rarest first.
func (s *search) keep(n int) {
	slices.SortStableFunc(s.terms, func(a, b weighed) int {
		return cmp.Or(cmp.Compare(b.idf*b.Weight, a.idf*a.Weight), cmp.Compare(a.Text, b.Text))
	})
	s.terms = s.terms[:min(n, len(s.terms))]
	slices.SortStableFunc(s.terms, func(a, b weighed) int { return cmp.Or(cmp.Compare(a.df, b.df), cmp.Compare(a.Text, b.Text)) })
}

// normalise prepares what a term counts in a field of each length.
func (s *search) normalise() {
	var sum [fieldCount]float64
	for _, seg := range s.now.segments {
		for f, n := range seg.foot.Lengths {
			sum[f] += n
		}
	}
	for f, w := range weights() {
		average := max(sum[f]/float64(max(s.docs, 1)), 1)
		for b := range 256 {
			s.norms[f][b] = float32(w.weight / (1 - w.b + w.b*lengthOf(uint8(b))/average))
		}
	}
	for i := range s.terms {
		t := &s.terms[i]
		t.body = new([bodyTimes][256]float32)
		for n := range t.body {
			for b, norm := range s.norms[FieldBody] {
				t.body[n][b] = t.saturated(float32(n) * norm)
			}
		}
	}
}

// score is what a posting adds.
func (s *search) score(t *weighed, p *posting, r *record) float32 {
	var w float32
	for f, n := range p.tf {
		if n > 0 {
			w += float32(n) * s.norms[f][r.lengths[f]]
		}
	}
	return t.saturated(w)
}

// bodyTimes is how often a term may occur in a body for its score to be looked
// up instead of computed.
const bodyTimes = 16

func (t *weighed) saturated(w float32) float32 {
	return float32(t.idf*t.Weight) * w * (saturation + 1) / (saturation + w)
}

// room is how many candidates the rarest terms may choose.
func (s *search) room() int { return min(max(s.docs/50, 5_000), 20_000) }

// Where the lists of all terms have at most denseLists postings, every document
// that holds one is scored. Otherwise terms choose as long as there is room; if
// there are not enough candidates then, the next one chooses too, so that one
// odd word does not decide alone, and the best of its documents are kept.
const (
	denseLists = 100_000
	enough     = 100
)

// spare is how many candidates a segment keeps beyond its share.
const spare = 8

// opening is how many of the terms, from the rarest, choose candidates, and how
// many of those are kept.
func (s *search) opening() (open, keep int) {
	total := 0
	for _, t := range s.terms {
		total += t.df
	}
	if total <= denseLists {
		return len(s.terms), s.docs
	}
	sum := 0
	for open < len(s.terms) && sum+s.terms[open].df <= s.room() {
		sum += s.terms[open].df
		open++
	}
	switch {
	case open == 0:
		return 1, s.room()
	case sum < enough && open < len(s.terms):
		return open + 1, enough
	}
	return open, s.docs
}

// in searches one segment.
func (s *search) in(ctx context.Context, i int, as *quire.Reader, limit int) ([]Candidate, error) {
	seg := s.now.segments[i]
	all, err := seg.records(ctx)
	if err != nil {
		return nil, err
	}
	a := accumulator{search: s, seg: seg, at: i, all: all, sees: seg.filter(as, all)}
	open, keep := s.opening()
	if err := a.choose(ctx, s.terms[:open]); err != nil {
		return nil, err
	}
	a.trim(keep*seg.Docs/max(s.docs, 1) + spare)
	if err := a.rescore(ctx, s.terms[open:], limit); err != nil {
		return nil, err
	}
	return a.best(limit), nil
}

// filter tells which documents of a segment a reader may see.
func (s *segment) filter(as *quire.Reader, all []record) func(doc uint32) bool {
	anywhere := *as
	anywhere.Space = nil
	allowed := make([]bool, len(s.foot.Access))
	for i := range s.foot.Access {
		row := s.foot.Access[i].row()
		allowed[i] = anywhere.Sees(&row, s.foot.Access[i].Project)
	}
	space := spaceOf(as)
	return func(doc uint32) bool {
		r := &all[doc]
		if int(r.access) >= len(allowed) || !allowed[r.access] || s.gone.has(doc) {
			return false
		}
		return space == nil || space[quire.PageRef{Session: r.session, Page: r.page}]
	}
}

func spaceOf(as *quire.Reader) map[quire.PageRef]bool {
	if as.Space == nil {
		return nil
	}
	space := make(map[quire.PageRef]bool, len(as.Space))
	for _, r := range as.Space {
		space[quire.PageRef{Session: r.Session, Page: r.Page}] = true
	}
	return space
}

// An accumulator adds up the scores of the documents of a segment.
type accumulator struct {
	*search
	seg    *segment
	at     int // of the segment
	all    []record
	sees   func(doc uint32) bool
	docs   []uint32 // candidates, rising once all are chosen
	scores []float32
}

// choose makes every document that holds one of the terms a candidate.
func (a *accumulator) choose(ctx context.Context, terms []weighed) error {
	scores := make([]float32, len(a.all))
	for i := range terms {
		t := &terms[i]
		err := a.seg.runs(ctx, t.lists[a.at], func(in []byte, before int64) error { return a.addRun(scores, t, in, before) })
		if err != nil {
			return err
		}
	}
	for d, score := range scores {
		if score > 0 && a.sees(uint32(d)) {
			a.docs, a.scores = append(a.docs, uint32(d)), append(a.scores, score)
		}
	}
	return nil
}

// addRun adds what a run of postings gives to the scores. It is segment.decode
// without a call for each of them: most occur once, in the body.
func (a *accumulator) addRun(scores []float32, t *weighed, in []byte, before int64) error {
	for len(in) > 0 {
		v, rest, err := cutDelta(in)
		doc := before + int64(v>>1)
		if err != nil || v < 2 || doc >= int64(len(scores)) {
			return a.seg.damaged()
		}
		r := &a.all[doc]
		switch {
		case v&1 == 1:
			scores[doc] += t.body[1][r.lengths[FieldBody]]
		case len(rest) > 1 && rest[0] == 1<<FieldBody && rest[1] < bodyTimes:
			scores[doc] += t.body[rest[1]][r.lengths[FieldBody]]
			rest = rest[2:]
		default:
			var p posting
			if rest, err = p.frequencies(rest); err != nil {
				return a.seg.damaged()
			}
			scores[doc] += a.score(t, &p, r)
		}
		before, in = doc, rest
	}
	return nil
}

// trim keeps the n best candidates, of equals the newer ones.
func (a *accumulator) trim(n int) {
	if len(a.docs) <= n {
		return
	}
	top := make(lowest, 0, n)
	for i, d := range a.docs {
		top.offer(scored{a.scores[i], d}, n)
	}
	slices.SortFunc(top, func(x, y scored) int { return cmp.Compare(x.doc, y.doc) })
	a.docs, a.scores = a.docs[:0], a.scores[:0]
	for _, x := range top {
		a.docs, a.scores = append(a.docs, x.doc), append(a.scores, x.score)
	}
}

// rescore adds what terms give to the candidates, and lets those go that cannot
// be among the best any more.
func (a *accumulator) rescore(ctx context.Context, terms []weighed, limit int) error {
	bound := float32(0)
	for i := range terms {
		bound += terms[i].most()
	}
	for i := range terms {
		if a.prune(bound, limit); len(a.docs) == 0 {
			return nil
		}
		t, k := &terms[i], 0
		err := a.seg.seek(ctx, t.lists[a.at], a.docs, func(in []byte, b block) (err error) {
			k, err = a.visit(t, in, b, k)
			return err
		})
		if err != nil {
			return err
		}
		bound -= t.most()
	}
	return nil
}

// visit adds what a block gives to candidates from the k-th on, and returns the
// first behind the block. What belongs to no candidate is passed over.
func (a *accumulator) visit(t *weighed, in []byte, b block, k int) (int, error) {
	for before := b.before; len(in) > 0; {
		v, rest, err := cutDelta(in)
		doc := before + int64(v>>1)
		if err != nil || v < 2 || doc >= int64(len(a.all)) {
			return k, a.seg.damaged()
		}
		p := posting{doc: uint32(doc)}
		if v&1 == 1 {
			p.tf[FieldBody] = 1
		} else if rest, err = p.frequencies(rest); err != nil {
			return k, a.seg.damaged()
		}
		for k < len(a.docs) && int64(a.docs[k]) < doc {
			k++
		}
		if k == len(a.docs) || int64(a.docs[k]) > b.last {
			return k, nil
		}
		if int64(a.docs[k]) == doc {
			a.scores[k] += a.score(t, &p, &a.all[doc])
		}
		before, in = doc, rest
	}
	return k, nil
}

// most is above what a posting of the term can add.
func (t *weighed) most() float32 { return float32(t.idf*t.Weight) * (saturation + 1) }

// prune keeps the candidates that can still be among the best when at most bound
// is added to their scores.
func (a *accumulator) prune(bound float32, limit int) {
	floor := a.floor
	top := make(lowest, 0, limit)
	for i, d := range a.docs {
		top.offer(scored{a.scores[i], d}, limit)
	}
	if len(top) == limit && limit > 0 {
		floor = max(floor, top[0].score)
	}
	n := 0
	for i, score := range a.scores {
		if score+bound >= floor*(1-rounding) {
			a.docs[n], a.scores[n] = a.docs[i], score
			n++
		}
	}
	a.docs, a.scores = a.docs[:n], a.scores[:n]
}

// rounding is more than what adding up a score in another order changes of it.
const rounding = 1e-4

// best are the best of the candidates, in no order.
func (a *accumulator) best(limit int) []Candidate {
	top := make(lowest, 0, limit)
	for i, d := range a.docs {
		top.offer(scored{a.scores[i], d}, limit)
	}
	out := make([]Candidate, 0, len(top))
	for _, x := range top {
		r := &a.all[x.doc]
		out = append(out, Candidate{quire.PageRef{Session: r.session, Page: r.page}, float64(x.score)})
	}
	return out
}

// A scored is a document with its score.
type scored struct {
	score float32
	doc   uint32
}

// less puts the lower score first; of equals the older document.
func (x scored) less(y scored) bool { return x.score < y.score || x.score == y.score && x.doc < y.doc }

// lowest is a heap with the lowest on top.
type lowest []scored

// offer takes in a document if there is room or it is better than the lowest.
func (h *lowest) offer(x scored, limit int) {
	if len(*h) < limit {
		*h = append(*h, x)
		for i := len(*h) - 1; i > 0; {
			up := (i - 1) / 2
			if !(*h)[i].less((*h)[up]) {
				return
			}
			(*h)[i], (*h)[up] = (*h)[up], (*h)[i]
			i = up
		}
		return
	}
	if limit == 0 || !(*h)[0].less(x) {
		return
	}
	(*h)[0] = x
	h.sink()
}

// sink moves the one on top to its place.
func (h lowest) sink() {
	for i := 0; ; {
		low := i
		for _, child := range []int{2*i + 1, 2*i + 2} {
			if child < len(h) && h[child].less(h[low]) {
				low = child
			}
		}
		if low == i {
			return
		}
		h[i], h[low] = h[low], h[i]
		i = low
	}
}

// An Addend is a part of a score: what a term adds.
type Addend struct {
	What string // the term, and how often it is in which field
	Adds float64
}

// Explain says what each term adds to the score of a page. It does not ask who
// may see the page.
func (x *Index) Explain(ctx context.Context, terms []Term, page quire.PageRef) ([]Addend, error) {
	now, err := x.current(ctx)
	if err != nil {
		return nil, err
	}
	s, err := now.search(ctx, terms)
	if err != nil {
		return nil, err
	}
	for i, seg := range now.segments {
		if !seg.has(page.Session, page.Page) {
			continue
		}
		all, err := seg.records(ctx)
		if err != nil {
			return nil, err
		}
		doc := slices.IndexFunc(all, func(r record) bool { return r.session == page.Session && r.page == page.Page })
		if doc >= 0 && !seg.gone.has(uint32(doc)) {
			return s.explain(ctx, i, all, uint32(doc))
		}
	}
	return nil, nil
}

func (s *search) explain(ctx context.Context, i int, all []record, doc uint32) (out []Addend, err error) {
	seg := s.now.segments[i]
	for k := range s.terms {
		t := &s.terms[k]
		err := seg.seek(ctx, t.lists[i], []uint32{doc}, func(in []byte, b block) error {
			return seg.decode(in, b.before, func(p posting) {
				if p.doc == doc {
					out = append(out, Addend{What: t.Text + p.where(), Adds: float64(s.score(t, &p, &all[doc]))})
				}
			})
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// where names the fields that hold the term.
func (p *posting) where() (text string) {
	for f, n := range p.tf {
		if n > 0 {
			text += fmt.Sprintf(" %v:%d", Field(f), n)
		}
	}
	return text
}

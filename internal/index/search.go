package index

import (
	"cmp"
	"context"
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

// A Candidate is a page that an index found, and which of the terms that
// [Index.Candidates] returns it holds: bit i is that of the i-th.
type Candidate struct {
	Ref     quire.PageRef
	Score   float64
	Holds   uint64 // in any field; of terms that say next to nothing it is supposed
	Defines uint64 // in [FieldSymbol]
	Project string // of its session
}

// Candidates finds the pages that match best, at most limit of them, the best
// first; of equals the newer one. What the reader may not see takes no part.
//
// The rarest terms choose: their documents are candidates, 5,000 of them in an
// index of up to 250,000 documents and up to 20,000 in larger ones. The other
// terms only change the scores of those, if they say more than next to nothing.
// Where the lists of all terms are short together, all documents that hold one
// are candidates.
//
// Candidates also returns the terms that were used, at most [MaxScored] of them,
// each with what it says: its weight times idf. A term that is not among them
// although there are fewer stands on no page.
func (x *Index) Candidates(ctx context.Context, terms []Term, as *quire.Reader, limit int) (found []Candidate, used []Term, err error) {
	err = x.settled(ctx, func(now *snapshot) (err error) {
		found, used, err = now.candidates(ctx, terms, as, limit)
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("search the index: %w", err)
	}
	return found, used, nil
}

func (now *snapshot) candidates(ctx context.Context, terms []Term, as *quire.Reader, limit int) ([]Candidate, []Term, error) {
	s, err := now.search(ctx, terms)
	if err != nil || len(s.terms) == 0 {
		return nil, nil, err
	}
	var best []placed
	for i := range now.segments {
		part, err := s.in(ctx, i, as, limit)
		if err != nil {
			return nil, nil, err
		}
		best = append(best, part...)
		slices.SortStableFunc(best, byScore)
		if best = best[:min(len(best), limit)]; len(best) == limit && limit > 0 {
			s.floor = best[limit-1].score
		}
	}
	found, err := s.held(ctx, best)
	return found, s.used(), err
}

// A placed is a candidate with its segment.
type placed struct {
	scored
	at      int // of the segment
	ref     quire.PageRef
	project string
}

// held says which terms the best hold. Rescoring has noted it of the terms that
// did not choose; the lists of the others are looked at again, where the best
// are, which are few.
func (s *search) held(ctx context.Context, best []placed) ([]Candidate, error) {
	out := make([]Candidate, len(best))
	opened, _ := s.opening()
	for at, seg := range s.now.segments {
		a := accumulator{search: s, seg: seg, at: at}
		var from []int // places in best, by document
		for i := range best {
			if best[i].at == at {
				from = append(from, i)
			}
		}
		slices.SortFunc(from, func(i, j int) int { return cmp.Compare(best[i].doc, best[j].doc) })
		for _, i := range from {
			a.found = append(a.found, best[i].scored)
		}
		if err := a.eachOf(ctx, 0, opened, a.mark); err != nil {
			return nil, err
		}
		for k, i := range from {
			x := a.found[k]
			out[i] = Candidate{best[i].ref, float64(x.score), x.holds, x.defines, best[i].project}
		}
	}
	return out, nil
}

func (s *search) used() (out []Term) {
	for _, t := range s.terms {
		out = append(out, Term{t.Text, t.Weight * t.idf})
	}
	return out
}

func byScore(a, b placed) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.ref.Session, a.ref.Session), cmp.Compare(b.ref.Page, a.ref.Page))
}

// A search is a query against a snapshot.
type search struct {
	now   *snapshot
	docs  int
	terms []weighed // the rarest first
	floor float32   // what a candidate must reach to be among the best of the segments so far
	norms *[fieldCount][256]float32
}

// weighed is a term with its lists.
type weighed struct {
	Term
	df    int
	idf   float64
	lists []termList               // by segment
	body  *[bodyTimes][256]float32 // what it adds where it occurs in the body only, by how often and by the length of that; nil until a long list is read
}

// search looks up all terms.
func (now *snapshot) search(ctx context.Context, terms []Term) (*search, error) {
	s := &search{now: now, docs: now.docs, norms: &now.norms}
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
	s.keep(MaxScored)
	return s, nil
}

// MaxScored is how many terms of a query are scored: those that say most. The
// others of a long text would change nothing but the time it takes.
const MaxScored = 48

// keep keeps the terms that say most and puts the rarest first.
func (s *search) keep(n int) {
	slices.SortStableFunc(s.terms, func(a, b weighed) int {
		return cmp.Or(cmp.Compare(b.idf*b.Weight, a.idf*a.Weight), cmp.Compare(a.Text, b.Text))
	})
	s.terms = s.terms[:min(n, len(s.terms))]
	slices.SortStableFunc(s.terms, func(a, b weighed) int { return cmp.Or(cmp.Compare(a.df, b.df), cmp.Compare(a.Text, b.Text)) })
}

// normalise counts documents and prepares what a term counts in a field of each
// length.
func (now *snapshot) normalise() {
	var sum [fieldCount]float64
	for _, seg := range now.segments {
		now.docs += seg.Docs
		for f, n := range seg.foot.Lengths {
			sum[f] += n
		}
	}
	for f, w := range weights() {
		average := max(sum[f]/float64(max(now.docs, 1)), 1)
		for b := range 256 {
			now.norms[f][b] = float32(w.weight / (1 - w.b + w.b*lengthOf(uint8(b))/average))
		}
	}
}

// tabulate prepares a term for a long list.
func (s *search) tabulate(t *weighed) {
	if t.body != nil {
		return
	}
	t.body = new([bodyTimes][256]float32)
	for n := range t.body {
		for b, norm := range s.norms[FieldBody] {
			t.body[n][b] = t.saturated(float32(n) * norm)
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
func (s *search) in(ctx context.Context, i int, as *quire.Reader, limit int) ([]placed, error) {
	seg := s.now.segments[i]
	all, err := seg.records(ctx)
	if err != nil {
		return nil, err
	}
	a := accumulator{search: s, seg: seg, at: i, all: all, sees: seg.filter(as, all)}
	open, keep := s.opening()
	if err := a.choose(ctx, s.terms[:open]); err != nil || len(a.found) == 0 {
		return nil, err
	}
	a.trim(keep*seg.Docs/max(s.docs, 1) + spare)
	if err := a.rescore(ctx, open, limit); err != nil {
		return nil, err
	}
	return a.best(limit), nil
}

// filter tells which documents of a segment a reader may see.
func (s *segment) filter(as *quire.Reader, all []record) func(doc uint32) bool {
	anywhere := *as
	anywhere.Space = nil
	allowed, spanned := make([]bool, len(s.foot.Access)), make([]bool, len(s.foot.Access))
	for i := range s.foot.Access {
		row := s.foot.Access[i].row()
		allowed[i] = anywhere.Sees(&row, s.foot.Access[i].Project)
		spanned[i] = slices.Contains(as.Scopes, row.Scope)
	}
	space := spaceOf(as)
	return func(doc uint32) bool {
		r := &all[doc]
		if int(r.access) >= len(allowed) || !allowed[r.access] || s.gone.has(doc) {
			return false
		}
		return space == nil || spanned[r.access] || space[quire.PageRef{Session: r.session, Page: r.page}]
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
	seg   *segment
	at    int // of the segment
	all   []record
	sees  func(doc uint32) bool
	found []scored // candidates, rising once all are chosen
	top   lowest   // scratch of [accumulator.prune]
}

// fewDocs is how many documents a segment has for each posting at least where
// the postings are put in order instead of being added up over all documents.
const fewDocs = 32

// choose makes every document that holds one of the terms a candidate.
func (a *accumulator) choose(ctx context.Context, terms []weighed) error {
	postings := 0
	for i := range terms {
		postings += terms[i].lists[a.at].docs
	}
	if postings*fewDocs <= len(a.all) {
		return a.collect(ctx, terms)
	}
	scores := a.seg.cache.zeros(len(a.all))
	defer a.seg.cache.giveBack(scores)
	a.found = make([]scored, 0, min(postings, len(a.all)))
	for i := range terms {
		t := &terms[i]
		a.tabulate(t)
		err := a.seg.runs(ctx, t.lists[a.at], a.seg.cached, func(in []byte, before int64) error { return a.addRun(scores, t, in, before) })
		if err != nil {
			return err
		}
	}
	for d, score := range scores {
		if score > 0 && a.sees(uint32(d)) {
			a.found = append(a.found, scored{score: score, doc: uint32(d)})
		}
	}
	return nil
}

// collect is choose for short lists. Scores are added up in the same order.
func (a *accumulator) collect(ctx context.Context, terms []weighed) error {
	var all []scored
	for i := range terms {
		t := &terms[i]
		err := a.seg.runs(ctx, t.lists[a.at], a.seg.cached, func(in []byte, before int64) error {
			return a.seg.decode(in, before, func(p posting) {
				all = append(all, scored{score: a.score(t, &p, &a.all[p.doc]), doc: p.doc})
			})
		})
		if err != nil {
			return err
		}
	}
	slices.SortStableFunc(all, func(x, y scored) int { return cmp.Compare(x.doc, y.doc) })
	for _, x := range all {
		switch n := len(a.found); {
		case n > 0 && a.found[n-1].doc == x.doc:
			a.found[n-1].score += x.score
		case a.sees(x.doc):
			a.found = append(a.found, x)
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
	if len(a.found) <= n {
		return
	}
	top := make(lowest, 0, n)
	for _, x := range a.found {
		top.offer(x, n)
	}
	slices.SortFunc(top, func(x, y scored) int { return cmp.Compare(x.doc, y.doc) })
	a.found = top
}

// rescore adds what the terms from the first on give to the candidates, and lets
// those go that cannot be among the best any more.
func (a *accumulator) rescore(ctx context.Context, first, limit int) error {
	bound := float32(0)
	for i := range a.terms[first:] {
		bound += a.terms[first+i].most()
	}
	for i := first; i < len(a.terms); i++ {
		if a.prune(bound, limit); len(a.found) == 0 {
			return nil
		}
		if a.faint(i) {
			a.suppose(i)
			continue
		}
		err := a.eachOf(ctx, i, i+1, func(k, term int, p posting) {
			a.found[k].score += a.score(&a.terms[term], &p, &a.all[p.doc])
			a.mark(k, term, p)
		})
		if err != nil {
			return err
		}
		bound -= a.terms[i].most()
	}
	return nil
}

// faint is the share of what all terms can add below which a term is not worth
// a look at its list, which is the longest of all: it stands on most pages.
const faint = 0.02

// faint reports whether a term that did not choose says nearly nothing.
func (s *search) faint(term int) bool {
	sum := float32(0)
	for i := range s.terms {
		sum += s.terms[i].most()
	}
	return s.terms[term].most() < faint*sum
}

// suppose notes that all candidates hold a term.
func (a *accumulator) suppose(term int) {
	for k := range a.found {
		a.found[k].holds |= 1 << term
	}
}

// mark notes that the k-th candidate holds a term.
func (a *accumulator) mark(k, term int, p posting) {
	a.found[k].holds |= 1 << term
	if p.tf[FieldSymbol] > 0 {
		a.found[k].defines |= 1 << term
	}
}

// eachOf does something with each posting of some terms that is one of a
// candidate, the k-th.
func (a *accumulator) eachOf(ctx context.Context, first, end int, do func(k, term int, p posting)) error {
	for i := first; i < end && len(a.found) > 0; i++ {
		k := 0
		err := a.seg.seek(ctx, a.terms[i].lists[a.at], a.found, func(in []byte, b block) (err error) {
			k, err = a.visit(in, b, k, func(k int, p posting) { do(k, i, p) })
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// visit does something with the postings of a block that are those of candidates
// from the k-th on, and returns the first of these behind the block. What belongs
// to no candidate is passed over.
func (a *accumulator) visit(in []byte, b block, k int, do func(k int, p posting)) (int, error) {
	for before := b.before; len(in) > 0; {
		v, rest, err := cutDelta(in)
		doc := before + int64(v>>1)
		if err != nil || v < 2 || doc >= int64(a.seg.Docs) {
			return k, a.seg.damaged()
		}
		for k < len(a.found) && int64(a.found[k].doc) < doc {
			k++
		}
		if k == len(a.found) || int64(a.found[k].doc) > b.last {
			return k, nil
		}
		p := posting{doc: uint32(doc)}
		if wanted := a.found[k].doc == p.doc; v&1 == 1 {
			p.tf[FieldBody] = 1
			if wanted {
				do(k, p)
			}
		} else if rest, err = p.frequencies(rest); err != nil {
			return k, a.seg.damaged()
		} else if wanted {
			do(k, p)
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
	a.top = a.top[:0]
	for _, x := range a.found {
		a.top.offer(x, limit)
	}
	if len(a.top) == limit && limit > 0 {
		floor = max(floor, a.top[0].score)
	}
	a.found = slices.DeleteFunc(a.found, func(x scored) bool { return x.score+bound < floor*(1-rounding) })
}

// rounding is more than what adding up a score in another order changes of it.
const rounding = 1e-4

// best are the best of the candidates, in no order.
func (a *accumulator) best(limit int) []placed {
	top := make(lowest, 0, limit)
	for _, x := range a.found {
		top.offer(x, limit)
	}
	out := make([]placed, 0, len(top))
	for _, x := range top {
		r := &a.all[x.doc]
		out = append(out, placed{x, a.at, quire.PageRef{Session: r.session, Page: r.page}, a.seg.foot.Access[r.access].Project})
	}
	return out
}

// A scored is a document with its score, and which terms were seen to be held.
type scored struct {
	score          float32
	doc            uint32
	holds, defines uint64
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
func (x *Index) Explain(ctx context.Context, terms []Term, page quire.PageRef) (out []Addend, err error) {
	err = x.settled(ctx, func(now *snapshot) (err error) {
		out, err = now.explain(ctx, terms, page)
		return err
	})
	return out, err
}

func (now *snapshot) explain(ctx context.Context, terms []Term, page quire.PageRef) ([]Addend, error) {
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
		err := seg.seek(ctx, t.lists[i], []scored{{doc: doc}}, func(in []byte, b block) error {
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

package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/term"
	"pgregory.net/rapid"
)

const me = quire.Principal("user:me")

func newMemory() (*Index, *Memory) {
	m := &Memory{}
	return New(m, m), m
}

func note(session, page int, text string) Document {
	d := Document{
		Session: quire.SessionNumber(session), Page: quire.PageNumber(page),
		Access: Access{Owner: me, Scope: quire.ScopeSession},
	}
	d.Fields[FieldBody] = text
	return d
}

func words(text string) (terms []Term) {
	term.Scan(text, func(word []byte, _ term.Kind) { terms = append(terms, Term{string(word), 1}) })
	return terms
}

func termsOf(text string) (terms []string) {
	term.Scan(text, func(word []byte, _ term.Kind) { terms = append(terms, string(word)) })
	return terms
}

func refsOf(t testing.TB, x *Index, query string, as quire.Reader) (out []string) {
	t.Helper()
	found, _, err := x.Candidates(context.Background(), words(query), &as, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range found {
		out = append(out, c.Ref.String())
	}
	return out
}

func addAll(t testing.TB, x *Index, docs ...Document) {
	t.Helper()
	if err := x.Add(context.Background(), docs); err != nil {
		t.Fatal(err)
	}
}

func TestIndexFindsReplacesAndRemoves(t *testing.T) {
	x, _ := newMemory()
	addAll(t, x, note(1, 1, "the parser fails"), note(1, 2, "the lexer works"))
	addAll(t, x, note(2, 1, "another parser"))
	expect(t, refsOf(t, x, "parser", quire.Reader{Who: me}), "s2/p1", "s1/p1")
	addAll(t, x, note(1, 1, "the printer fails"))
	expect(t, refsOf(t, x, "parser", quire.Reader{Who: me}), "s2/p1")
	expect(t, refsOf(t, x, "printer", quire.Reader{Who: me}), "s1/p1")
	if err := x.Remove(context.Background(), []quire.PageRef{{Session: 2, Page: 1}}); err != nil {
		t.Fatal(err)
	}
	expect(t, refsOf(t, x, "parser", quire.Reader{Who: me}))
	if err := x.RemoveSession(context.Background(), 1); err != nil {
		t.Fatal(err)
	}
	expect(t, refsOf(t, x, "printer lexer", quire.Reader{Who: me}))
}

func expect(t testing.TB, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestRewriteLeavesNoByteOfWhatIsGone(t *testing.T) {
	ctx := context.Background()
	x, m := newMemory()
	addAll(t, x, note(1, 1, "keepthis"), note(1, 2, "forgetthis"))
	if err := x.Remove(ctx, []quire.PageRef{{Session: 1, Page: 2}}); err != nil {
		t.Fatal(err)
	}
	if err := x.Rewrite(ctx); err != nil {
		t.Fatal(err)
	}
	for name, data := range m.segments {
		if strings.Contains(string(data), "forget") {
			t.Errorf("segment %s still holds the term", name)
		}
	}
	expect(t, refsOf(t, x, "keepthis", quire.Reader{Who: me}), "s1/p1")
}

func TestReaderSeesOnlyWhatIsTheirs(t *testing.T) {
	x, _ := newMemory()
	foreign := note(1, 1, "plan of the other one")
	foreign.Access.Owner = "user:other"
	shared := note(2, 1, "plan of the team")
	shared.Access = Access{Owner: "user:other", ACL: []quire.Principal{"team:a"}, Scope: quire.ScopeTeam}
	project := note(3, 1, "plan of the project")
	project.Access = Access{Owner: "user:other", ACL: []quire.Principal{me}, Scope: quire.ScopeProject, Project: "app"}
	addAll(t, x, foreign, shared, project, note(4, 1, "my plan"), note(4, 2, "my other plan"))
	expect(t, refsOf(t, x, "plan", quire.Reader{Who: me}), "s4/p1", "s4/p2")
	expect(t, refsOf(t, x, "team", quire.Reader{Who: me, Teams: []quire.Principal{"team:a"}}), "s2/p1")
	expect(t, refsOf(t, x, "project", quire.Reader{Who: me, Project: "app"}), "s3/p1")
	expect(t, refsOf(t, x, "project", quire.Reader{Who: me, Project: "lib"}))
	expect(t, refsOf(t, x, "plan", quire.Reader{Who: me, Space: []quire.PageRef{{Session: 4, Page: 2}}}), "s4/p2")
	expect(t, refsOf(t, x, "plan", quire.Reader{Who: me, Space: []quire.PageRef{}}))
}

// The index answers as the plain formula over all documents does, however they
// were added, replaced, removed and merged.
func TestIndexAgreesWithTheFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		x, _ := newMemory()
		model := map[quire.PageRef]Document{}
		text := rapid.StringMatching(`((ab|bc|ca|a_b|中文|x) ){0,12}`)
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			step(ctx, t, x, model, text)
		}
		as := quire.Reader{Who: me}
		query := words(rapid.SampledFrom([]string{"ab", "bc ca", "a_b 中文", "b 中 x ab"}).Draw(t, "query"))
		got, _, err := x.Candidates(ctx, query, &as, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if want := matching(model, query); !slices.Equal(refs(got), want) {
			t.Fatalf("found %v, want %v", refs(got), want)
		}
		if err := x.Rewrite(ctx); err != nil {
			t.Fatal(err)
		}
		checkScores(ctx, t, x, model, query)
	})
}

func step(ctx context.Context, t *rapid.T, x *Index, model map[quire.PageRef]Document, text *rapid.Generator[string]) {
	switch rapid.IntRange(0, 4).Draw(t, "what") {
	case 0:
		if _, err := x.Merge(ctx); err != nil {
			t.Fatal(err)
		}
	case 1:
		ref := quire.PageRef{Session: quire.SessionNumber(rapid.IntRange(1, 2).Draw(t, "session")), Page: quire.PageNumber(rapid.IntRange(1, 6).Draw(t, "page"))}
		delete(model, ref)
		if err := x.Remove(ctx, []quire.PageRef{ref}); err != nil {
			t.Fatal(err)
		}
	default:
		var docs []Document
		for range rapid.IntRange(1, 5).Draw(t, "documents") {
			d := note(rapid.IntRange(1, 2).Draw(t, "session"), rapid.IntRange(1, 6).Draw(t, "page"), text.Draw(t, "text"))
			docs = append(docs, d)
			model[quire.PageRef{Session: d.Session, Page: d.Page}] = d
		}
		if err := x.Add(ctx, docs); err != nil {
			t.Fatal(err)
		}
	}
}

func refs(found []Candidate) (out []string) {
	for _, c := range found {
		out = append(out, c.Ref.String())
	}
	slices.Sort(out)
	return out
}

// matching lists the documents that hold a term of the query.
func matching(model map[quire.PageRef]Document, query []Term) (out []string) {
	for ref, d := range model {
		has := termsOf(d.Fields[FieldBody])
		if slices.ContainsFunc(query, func(t Term) bool { return slices.Contains(has, t.Text) }) {
			out = append(out, ref.String())
		}
	}
	slices.Sort(out)
	return out
}

// checkScores compares scores with the formula, once nothing gone is left that
// would count among the documents, and which terms are held with the texts.
func checkScores(ctx context.Context, t *rapid.T, x *Index, model map[quire.PageRef]Document, query []Term) {
	got, used, err := x.Candidates(ctx, query, &quire.Reader{Who: me}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range got {
		has := termsOf(model[c.Ref].Fields[FieldBody])
		for i, term := range used {
			if holds := c.Holds>>i&1 == 1; holds != slices.Contains(has, term.Text) || c.Defines != 0 {
				t.Fatalf("%v of %q: holds %q is %v, defines %b", c.Ref, has, term.Text, holds, c.Defines)
			}
		}
		if want := formula(model, query, c.Ref); math.Abs(c.Score-want) > 1e-4*(1+want) {
			t.Fatalf("%v scores %v, the formula says %v", c.Ref, c.Score, want)
		}
	}
}

func formula(model map[quire.PageRef]Document, query []Term, ref quire.PageRef) (score float64) {
	length := func(d Document) float64 {
		n := 0
		term.Scan(d.Fields[FieldBody], func(_ []byte, k term.Kind) {
			if k != term.Single {
				n++
			}
		})
		return lengthOf(lengthByte(n))
	}
	total := 0.0
	for _, d := range model {
		total += length(d)
	}
	w := weights()[FieldBody]
	for _, q := range query {
		df, tf := 0.0, 0.0
		for r, d := range model {
			n := 0
			for _, term := range termsOf(d.Fields[FieldBody]) {
				if term == q.Text {
					n++
				}
			}
			if n > 0 {
				df++
			}
			if r == ref {
				tf = float64(n)
			}
		}
		x := w.weight * tf / (1 - w.b + w.b*length(model[ref])/max(total/float64(len(model)), 1))
		score += math.Log(1+(float64(len(model))-df+.5)/(df+.5)) * x * (saturation + 1) / (saturation + x)
	}
	return score
}

func TestSparseAgreesWithDense(t *testing.T) {
	ctx := context.Background()
	x, _ := newMemory()
	var docs []Document
	for i := range 1500 {
		docs = append(docs, note(1, i+1, fmt.Sprintf("common shared%d text%d of page n%d", i%2, i%3, i%500)))
	}
	addAll(t, x, docs...)
	now, err := x.current(ctx)
	if err != nil {
		t.Fatal(err)
	}
	s, err := now.search(ctx, words("n77 shared1 text0 common"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := now.segments[0].records(ctx)
	if err != nil {
		t.Fatal(err)
	}
	make := func() accumulator {
		return accumulator{search: s, seg: now.segments[0], all: all, sees: func(uint32) bool { return true }}
	}
	dense, sparse := make(), make()
	if err := errors.Join(dense.choose(ctx, s.terms), sparse.choose(ctx, s.terms[:1]), sparse.rescore(ctx, 1, 1000)); err != nil {
		t.Fatal(err)
	}
	if len(sparse.found) != 3 {
		t.Fatalf("the rarest term chose %d documents, want 3", len(sparse.found))
	}
	slack := float32(rounding) // and what the terms add that say next to nothing
	for i := range s.terms {
		if i > 0 && s.faint(i) {
			slack += s.terms[i].most()
		}
	}
	if slack == rounding {
		t.Error("no term is faint")
	}
	for _, x := range sparse.found {
		if all := uint64(1<<len(s.terms) - 1); x.doc == 1077 && x.holds|1 != all { // the first term chose
			t.Errorf("a document with all terms holds %b", x.holds)
		}
		k := slices.IndexFunc(dense.found, func(y scored) bool { return y.doc == x.doc })
		if d := dense.found[k].score - x.score; d < -rounding || d > slack {
			t.Errorf("document %d scores %v, scored densely %v", x.doc, x.score, dense.found[k].score)
		}
	}
}

// Candidates that are let go are none of the best.
func TestPruningLosesNone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		x, _ := newMemory()
		var docs []Document
		for i := range rapid.IntRange(50, 200).Draw(t, "pages") {
			docs = append(docs, note(1, i+1, rapid.StringMatching(`((ab|bc|ca|cd|de) ){1,9}`).Draw(t, "text")))
		}
		if err := x.Add(ctx, docs); err != nil {
			t.Fatal(err)
		}
		now, err := x.current(ctx)
		if err != nil {
			t.Fatal(err)
		}
		s, err := now.search(ctx, words("ab bc ca cd de"))
		if err != nil || len(s.terms) < 2 {
			t.Skip("too few terms")
		}
		all, err := now.segments[0].records(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var best [2][]placed
		for i, limit := range []int{5, 1000} {
			a := accumulator{search: s, seg: now.segments[0], all: all, sees: func(uint32) bool { return true }}
			if err := errors.Join(a.choose(ctx, s.terms[:1]), a.rescore(ctx, 1, limit)); err != nil {
				t.Fatal(err)
			}
			best[i] = a.best(5)
			slices.SortFunc(best[i], byScore)
		}
		if !slices.Equal(best[0], best[1]) {
			t.Fatalf("pruned %v, all %v", best[0], best[1])
		}
	})
}

func TestMergeKeepsTheNumberOfSegmentsLow(t *testing.T) {
	ctx := context.Background()
	x, m := newMemory()
	for i := range 200 {
		addAll(t, x, note(1, i+1, fmt.Sprintf("page number n%d", i)))
		for {
			did, err := x.Merge(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if !did {
				break
			}
		}
	}
	st, err := x.Stats(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if st.Docs != 200 || st.Segments > 3*fanIn || len(m.segments) != st.Segments {
		t.Errorf("%+v, %d segments in the store", st, len(m.segments))
	}
	expect(t, refsOf(t, x, "n7 n199", quire.Reader{Who: me}), "s1/p200", "s1/p8")
}

func TestTwoIndexesOverOneStore(t *testing.T) {
	ctx := context.Background()
	m := &Memory{}
	a, b := New(m, m), New(m, m)
	addAll(t, a, note(1, 1, "first"))
	expect(t, refsOf(t, b, "first", quire.Reader{Who: me}), "s1/p1")
	for i := range 20 {
		addAll(t, b, note(2, i+1, "second"))
		if _, err := b.Merge(ctx); err != nil {
			t.Fatal(err)
		}
	}
	expect(t, refsOf(t, a, "first", quire.Reader{Who: me}), "s1/p1")
	if n := len(refsOf(t, a, "second", quire.Reader{Who: me})); n != 20 {
		t.Errorf("the other index finds %d of 20 pages", n)
	}
}

func TestAddingMergingAndSearchingAtOnce(t *testing.T) {
	ctx := t.Context()
	m := &Memory{}
	var wg sync.WaitGroup
	failed := make(chan error, 64)
	run := func(do func(x *Index, i int) error) {
		wg.Go(func() {
			x := New(m, m)
			for i := range 30 {
				if err := do(x, i); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	for s := range 2 {
		run(func(x *Index, i int) error { return x.Add(ctx, []Document{note(s+1, i+1, "walrus")}) })
	}
	run(func(x *Index, _ int) error { _, err := x.Merge(ctx); return err })
	run(func(x *Index, _ int) error {
		_, _, err := x.Candidates(ctx, words("walrus"), &quire.Reader{Who: me}, 100)
		return err
	})
	wg.Wait()
	close(failed)
	for err := range failed {
		t.Error(err)
	}
	if n := len(refsOf(t, New(m, m), "walrus", quire.Reader{Who: me})); n != 60 {
		t.Errorf("found %d of 60 pages", n)
	}
}

// Two processes that merge or add the same at the same time do not take each
// other's segment away.
func TestTheSameTwiceAtOnce(t *testing.T) {
	ctx := t.Context()
	m := &Memory{}
	a, b := New(m, m), New(m, m)
	for i := range fanIn {
		addAll(t, a, note(1, i+1, "walrus"))
	}
	now, err := b.current(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []*Index{a, b} {
		if _, err := x.merge(ctx, now, now.manifest.Segments); err != nil && !errors.Is(err, quire.ErrNotFound) {
			t.Fatal(err)
		}
	}
	if n := len(refsOf(t, New(m, m), "walrus", quire.Reader{Who: me})); n != fanIn || len(m.segments) != 1 {
		t.Errorf("found %d of %d pages in %d segments", n, fanIn, len(m.segments))
	}
	merged, err := a.current(ctx)
	if err != nil {
		t.Fatal(err)
	}
	next := merged.manifest
	if drop, done := next.exchange(now.segments, merged.manifest.Segments[0]); !done || drop != nil || !slices.EqualFunc(next.Segments, merged.manifest.Segments, func(x, y entry) bool { return x.Name == y.Name }) {
		t.Errorf("the same merge again drops %v", drop)
	}
}

func TestSweepDropsWhatNoManifestNames(t *testing.T) {
	ctx := context.Background()
	x, m := newMemory()
	addAll(t, x, note(1, 1, "text"))
	if err := m.PutSegment(ctx, "left-behind", strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	if n, err := x.Sweep(ctx); n != 1 || err != nil {
		t.Fatalf("dropped %d, %v", n, err)
	}
	expect(t, refsOf(t, x, "text", quire.Reader{Who: me}), "s1/p1")
}

// A store that fails leaves the index as it was.
type failing struct {
	Memory
	fail bool
}

func (f *failing) PutSegment(ctx context.Context, name string, from io.Reader) error {
	if f.fail {
		from = io.MultiReader(io.LimitReader(from, 10), iotest.ErrReader(quire.ErrFull))
	}
	return f.Memory.PutSegment(ctx, name, from)
}

func TestFullDiskLeavesTheIndexAsItWas(t *testing.T) {
	f := &failing{}
	x := New(f, f)
	addAll(t, x, note(1, 1, "before"))
	f.fail = true
	if err := x.Add(context.Background(), []Document{note(1, 2, "after")}); !errors.Is(err, quire.ErrFull) {
		t.Errorf("error %v", err)
	}
	expect(t, refsOf(t, x, "before after", quire.Reader{Who: me}), "s1/p1")
}

func TestDamagedSegmentIsReported(t *testing.T) {
	x, m := newMemory()
	addAll(t, x, note(1, 1, "some text"))
	for name, data := range m.segments {
		for i := range data {
			broken := slices.Clone(data)
			broken[i] ^= 0xff
			m.segments[name] = broken
			y := New(m, m)
			_, _, err := y.Candidates(context.Background(), words("some text"), &quire.Reader{Who: me}, 10)
			if err != nil && !errors.Is(err, quire.ErrDamaged) {
				t.Errorf("byte %d: %v", i, err)
			}
		}
		m.segments[name] = data[:len(data)-1]
		if _, _, err := New(m, m).Candidates(context.Background(), words("some"), &quire.Reader{Who: me}, 10); !errors.Is(err, quire.ErrDamaged) {
			t.Errorf("cut off: %v", err)
		}
	}
}

// A term is found in a block without making the others, as reading them all does.
func TestFindTermAgreesWithReading(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[ab]{1,6}`)
		terms := rapid.SliceOfDistinct(word, rapid.ID).Draw(t, "terms")
		slices.Sort(terms)
		w := newWriter(io.Discard)
		for i, text := range terms {
			w.term([]byte(text), make([]posting, 1+i%2*shortDocs))
		}
		want := word.Draw(t, "wanted")
		l, err := findTerm(w.block, want)
		at, ok := slices.BinarySearch(terms, want)
		if err != nil || ok != (l.docs > 0) || ok && l.docs != 1+at%2*shortDocs {
			t.Fatalf("%q in %q: %+v, %v", want, terms, l, err)
		}
	})
}

// A range is the same through the cache, whatever was read before.
func TestCachedIsWhatIsStored(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &Memory{}
		data := make([]byte, rapid.IntRange(1, 5*pieceBytes).Draw(t, "size"))
		for i := range data {
			data[i] = byte(i * i >> 3)
		}
		if err := m.PutSegment(context.Background(), "one", bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		s := &segment{entry: entry{Name: "one", Size: int64(len(data))}, store: m, cache: newCache(3 * pieceBytes)}
		for range 6 {
			off := rapid.IntRange(0, len(data)).Draw(t, "offset")
			n := rapid.IntRange(0, len(data)-off).Draw(t, "length")
			got, err := s.cached(context.Background(), int64(off), n)
			if err != nil || !bytes.Equal(got, data[off:off+n]) {
				t.Fatalf("%d bytes from %d: %d bytes, %v", n, off, len(got), err)
			}
		}
		if s.cache.size > 3*pieceBytes {
			t.Fatalf("the cache holds %d bytes", s.cache.size)
		}
	})
}

func FuzzBlock(f *testing.F) {
	f.Add([]byte{0, 1, 'a', 1, 1, 3})
	f.Add([]byte{0, 2, 'a', 'b', 65, 1, 2, 3, 1, 1, 'c', 1, 0})
	f.Fuzz(func(t *testing.T, in []byte) {
		d := blockReader{in: in}
		for n := 0; d.next(); n++ {
			if n > len(in) {
				t.Fatal("more terms than bytes")
			}
		}
		if l, err := findTerm(in, "ab"); err == nil && len(l.short) > len(in) {
			t.Fatal("a list is longer than its block")
		}
		if index, err := indexOf(in); err == nil && len(index) > len(in) {
			t.Fatal("more blocks than bytes")
		}
		if m, err := parseManifest(string(in)); err == nil && m.V != manifestVersion {
			t.Fatalf("version %d", m.V)
		}
		if _, err := bitmapOf(in, 100); err != nil && !errors.Is(err, errCut) {
			t.Fatal(err)
		}
	})
}

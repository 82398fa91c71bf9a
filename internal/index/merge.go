package index

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/quire-agent/quire/internal/quire"
)

// Segments are merged by size, as in a log-structured tree: when fanIn of them
// that follow each other are of one tier, they become one of the next. Above
// topSize a segment is only rewritten when a third of it is gone.
const (
	fanIn    = 8
	tierBase = 64 << 10
	maxTier  = 8
	topSize  = 512 << 20
)

// tier is how many times fanIn a segment is larger than the base.
func (e *entry) tier() (n int) {
	for size := e.Size; size > tierBase && n < maxTier; size /= fanIn {
		n++
	}
	return n
}

// Merge does one merge if one is due and reports whether it did: call it again
// until it did not. It may run beside anything, in the background of an ingest:
// merges of one Index wait for each other, and where another process has merged
// the same segments it looks again for what is due, a bounded number of times;
// then the error is quire.ErrConflict, the index is as it was, and a later call
// may succeed.
func (x *Index) Merge(ctx context.Context) (bool, error) {
	return x.mergeOne(ctx, due)
}

// Rewrite merges all segments that hold documents which are gone, so that no
// byte of those stays in the store. Its errors are those of Merge.
func (x *Index) Rewrite(ctx context.Context) error {
	for again := true; again; {
		var err error
		if again, err = x.mergeOne(ctx, holed); err != nil {
			return err
		}
	}
	return nil
}

// holed picks the first segment that holds documents which are gone.
func holed(all []entry) []entry {
	i := slices.IndexFunc(all, func(e entry) bool { return e.Dead > 0 })
	if i < 0 {
		return nil
	}
	return all[i : i+1]
}

// mergeOne merges what is picked, which is nothing where nothing is to be done,
// and reports whether there was something.
func (x *Index) mergeOne(ctx context.Context, pick func([]entry) []entry) (did bool, err error) {
	if err := x.merging.take(ctx); err != nil {
		return false, fmt.Errorf("merge the index: %w", err)
	}
	defer x.merging.give()
	for try := range attempts {
		idle := false
		err := x.settled(ctx, func(now *snapshot) (err error) {
			from := pick(now.manifest.Segments)
			if idle = len(from) == 0; !idle {
				did, err = x.merge(ctx, now, from)
			}
			return err
		})
		if err == nil && !idle && !did {
			err = pause(ctx, try)
		} else if err == nil {
			return did, nil
		}
		if err != nil {
			return false, fmt.Errorf("merge the index: %w", err)
		}
	}
	return false, fmt.Errorf("merge the index: others changed what was merged %d times: %w", attempts, quire.ErrConflict)
}

// due picks segments to merge: neighbours, so that documents keep their order,
// and none that is larger than the others together, so that a byte is rewritten
// once for each doubling at most.
func due(all []entry) []entry {
	for i := range all {
		if all[i].Dead*3 > all[i].Docs {
			return all[i : i+1]
		}
	}
	for t := range maxTier + 1 {
		for i := 0; i < len(all); {
			j := i
			for j < len(all) && all[j].tier() <= t && all[j].Size < topSize {
				j++
			}
			if run := balanced(all[i:j]); len(run) >= fanIn {
				return run[:min(len(run), 2*fanIn)]
			}
			i = max(j, i+1)
		}
	}
	return nil
}

// balanced cuts off the first segments while they are larger than what follows.
func balanced(run []entry) []entry {
	rest := int64(0)
	for _, e := range run {
		rest += e.Size
	}
	for len(run) > 0 {
		if rest -= run[0].Size; run[0].Size <= rest {
			return run
		}
		run = run[1:]
	}
	return nil
}

// merge replaces segments by one that has their documents without those that
// are gone. It reports false when others changed the same segments meanwhile,
// and quire.ErrNotFound when one of them was dropped.
func (x *Index) merge(ctx context.Context, now *snapshot, pick []entry) (done bool, err error) {
	first := slices.IndexFunc(now.segments, func(s *segment) bool { return s.Name == pick[0].Name })
	from := now.segments[first : first+len(pick)]
	id := sha256.New()
	for _, s := range from {
		fmt.Fprintf(id, "%s %x\n", s.Name, s.Gone)
	}
	e, err := put(ctx, x.store, segmentName(now.manifest.Next, id.Sum(nil)), func(w *writer) error { return mergeInto(ctx, w, from) })
	if err != nil {
		return false, err
	}
	var drop []string
	err = x.change(ctx, func(_ *snapshot, m *manifest) error {
		drop, done = m.exchange(from, e)
		return nil
	})
	if err != nil {
		return false, err
	}
	return done, x.store.DropSegments(ctx, drop)
}

// exchange puts a merged segment in the place of those it was made from, unless
// they changed meanwhile. It returns what is not needed any more: these, or the
// merged one, or nothing if another process has merged the same.
func (m *manifest) exchange(from []*segment, e entry) (drop []string, done bool) {
	if m.names(e.Name) {
		return nil, true
	}
	if !m.replace(from, e) {
		return []string{e.Name}, false
	}
	for _, s := range from {
		drop = append(drop, s.Name)
	}
	if e.Docs == 0 {
		drop = append(drop, e.Name)
	}
	return drop, true
}

// replace puts one segment in the place of several if they are as they were.
func (m *manifest) replace(from []*segment, e entry) bool {
	i := slices.IndexFunc(m.Segments, func(x entry) bool { return x.Name == from[0].Name })
	if i < 0 || i+len(from) > len(m.Segments) {
		return false
	}
	for j, s := range from {
		if x := m.Segments[i+j]; x.Name != s.Name || !bytes.Equal(x.Gone, s.Gone) {
			return false
		}
	}
	m.Next++
	with := []entry{e}
	if e.Docs == 0 {
		with = nil
	}
	m.Segments = slices.Replace(m.Segments, i, i+len(from), with...)
	return true
}

// A source is a segment that is read from its first term to its last for a
// merge.
type source struct {
	*segment
	ctx   context.Context
	first uint32   // number of its first document in the merged segment
	place []uint32 // document → its number in the merged segment, gone for none
	next  int      // block
	block blockReader
	done  bool
}

const gone = 1<<32 - 1

func mergeInto(ctx context.Context, w *writer, from []*segment) error {
	var sources []*source
	docs := uint32(0)
	for _, s := range from {
		all, err := s.records(ctx)
		if err != nil {
			return err
		}
		src := &source{segment: s, ctx: ctx, first: docs, place: make([]uint32, len(all))}
		for d, r := range all {
			if s.gone.has(uint32(d)) {
				src.place[d] = gone
				continue
			}
			if int(r.access) >= len(s.foot.Access) {
				return s.damaged()
			}
			r.access = w.access(s.foot.Access[r.access])
			w.record(r)
			src.place[d] = docs
			docs++
		}
		sources = append(sources, src)
	}
	return mergeTerms(w, sources)
}

func mergeTerms(w *writer, sources []*source) error {
	for _, s := range sources {
		if err := s.advance(); err != nil {
			return err
		}
	}
	var postings []posting
	for {
		term, at := least(sources)
		if len(at) == 0 || w.err != nil {
			return w.err
		}
		if len(at) == 1 && at[0].moves(w, term) {
			if err := at[0].advance(); err != nil {
				return err
			}
			continue
		}
		postings = postings[:0]
		for _, s := range at {
			if err := s.take(&postings); err != nil {
				return err
			}
		}
		if len(postings) > 0 {
			w.term(term, postings)
		}
	}
}

// least is a copy of the first term in order, and the sources that stand at it.
func least(sources []*source) (term []byte, at []*source) {
	for _, s := range sources {
		if s.done {
			continue
		}
		order := -1
		if len(at) > 0 {
			order = bytes.Compare(s.block.term, at[0].block.term)
		}
		if order < 0 {
			at = at[:0]
		}
		if order <= 0 {
			at = append(at, s)
		}
	}
	if len(at) > 0 {
		term = bytes.Clone(at[0].block.term)
	}
	return term, at
}

// moves writes a short list of this source as it is, where no document of the
// source is gone: only the first distance changes. That is what most terms are.
func (s *source) moves(w *writer, term []byte) bool {
	l := s.block.list
	if l.docs > shortDocs || s.gone != nil {
		return false
	}
	v, rest, err := cutDelta(l.short)
	if err != nil {
		return false
	}
	run := binary.AppendUvarint(make([]byte, 0, len(l.short)+4), v+uint64(s.first)<<1)
	w.short(term, l.docs, append(run, rest...))
	return true
}

// take appends the postings of the term at hand and goes to the next.
func (s *source) take(out *[]posting) error {
	err := s.postings(s.ctx, s.block.list, func(p posting) {
		if p.doc = s.place[p.doc]; p.doc != gone {
			*out = append(*out, p)
		}
	})
	if err != nil {
		return err
	}
	return s.advance()
}

func (s *source) advance() error {
	for !s.block.next() {
		if s.block.err != nil {
			return s.damaged()
		}
		if s.next == len(s.index) {
			s.done = true
			return nil
		}
		b := s.index[s.next]
		s.next++
		data, err := s.read(s.ctx, b.off, b.size)
		if err != nil {
			return err
		}
		s.block = blockReader{in: data}
	}
	return nil
}

package index

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/quire-agent/quire/internal/quire"
)

// An Index is the inverted index over documents. It is derived from them and may
// be deleted with its store. All methods may be called concurrently; several
// processes may share a store. A document is found as soon as Add returns.
type Index struct {
	store Segments
	heads quire.Heads
	cache *cache

	merging  turn // held while segments are merged
	changing turn // held while the manifest is changed

	mu  sync.Mutex
	now *snapshot // the newest that was read
}

// cacheBytes is what an index keeps of blocks that were read.
const cacheBytes = 16 << 20

// New is the index that lies in a store.
func New(store Segments, heads quire.Heads) *Index {
	return &Index{store: store, heads: heads, cache: newCache(cacheBytes), merging: make(turn, 1), changing: make(turn, 1)}
}

// batchBytes is the text after which a segment is closed while documents are
// added, so that the memory of an ingest does not grow with its size.
const batchBytes = 8 << 20

// Add indexes documents, replacing those of the same session and page. After an
// error some of them may be in the index; adding them again is harmless.
func (x *Index) Add(ctx context.Context, docs []Document) error {
	for len(docs) > 0 {
		n, bytes := 0, 0
		for n < len(docs) && bytes < batchBytes {
			for _, text := range docs[n].Fields {
				bytes += len(text)
			}
			n++
		}
		if err := x.addBatch(ctx, docs[:n]); err != nil {
			return fmt.Errorf("index %d pages: %w", n, err)
		}
		docs = docs[n:]
	}
	return nil
}

func (x *Index) addBatch(ctx context.Context, docs []Document) error {
	b := newBuilder()
	last := map[quire.PageRef]int{}
	for i := range docs {
		last[quire.PageRef{Session: docs[i].Session, Page: docs[i].Page}] = i
	}
	id := sha256.New()
	for i, d := range docs {
		if last[quire.PageRef{Session: d.Session, Page: d.Page}] == i {
			fmt.Fprintf(id, "%d/%d %q", d.Session, d.Page, d.Access.key())
			for _, text := range d.Fields {
				fmt.Fprintf(id, " %d ", len(text))
				io.WriteString(id, text)
			}
			b.add(d)
		}
	}
	now, err := x.current(ctx)
	if err != nil {
		return err
	}
	e, err := put(ctx, x.store, segmentName(now.manifest.Next, id.Sum(nil)), b.write)
	if err != nil {
		return err
	}
	return x.change(ctx, func(now *snapshot, m *manifest) error {
		if m.names(e.Name) {
			return nil // another process added the same at the same time
		}
		if err := now.bury(ctx, m, func(r *record) bool {
			_, ok := last[quire.PageRef{Session: r.session, Page: r.page}]
			return ok
		}, spansOf(b.docs)); err != nil {
			return err
		}
		m.Next++
		m.Segments = append(m.Segments, e)
		return nil
	})
}

// segmentName is unique to a number and a content.
func segmentName(n int, sum []byte) string { return fmt.Sprintf("%08d-%x", n, sum[:8]) }

func spansOf(docs []Document) (out []span) {
	at := map[quire.SessionNumber]int{}
	for _, d := range docs {
		i, ok := at[d.Session]
		if !ok {
			i, at[d.Session] = len(out), len(out)
			out = append(out, span{d.Session, d.Page, d.Page})
		}
		out[i].First, out[i].Last = min(out[i].First, d.Page), max(out[i].Last, d.Page)
	}
	return out
}

// bury marks the documents that are among dead as gone in the manifest. Only
// segments that share pages with the spans are looked at.
func (now *snapshot) bury(ctx context.Context, m *manifest, dead func(*record) bool, spans []span) error {
	for i, s := range now.segments {
		if !s.overlaps(spans) {
			continue
		}
		all, err := s.records(ctx)
		if err != nil {
			return err
		}
		var gone []uint32
		for d := range all {
			if s.gone.has(uint32(d)) || dead(&all[d]) {
				gone = append(gone, uint32(d))
			}
		}
		m.Segments[i].Gone, m.Segments[i].Dead = encodeSet(gone), len(gone)
	}
	return nil
}

func (s *segment) overlaps(spans []span) bool {
	for _, a := range s.foot.Spans {
		for _, b := range spans {
			if a.Session == b.Session && a.First <= b.Last && b.First <= a.Last {
				return true
			}
		}
	}
	return false
}

// Remove takes pages out of the index. Their terms stay in the segments until
// those are merged; [Index.Rewrite] does that at once.
func (x *Index) Remove(ctx context.Context, pages []quire.PageRef) error {
	var spans []span
	dead := map[quire.PageRef]bool{}
	for _, p := range pages {
		p.Lines = quire.Range{}
		dead[p] = true
		spans = append(spans, span{p.Session, p.Page, p.Page})
	}
	return x.bury(ctx, spans, func(r *record) bool {
		return dead[quire.PageRef{Session: r.session, Page: r.page}]
	})
}

// RemoveSession takes all pages of a session out of the index.
func (x *Index) RemoveSession(ctx context.Context, n quire.SessionNumber) error {
	all := []span{{n, 0, 1<<31 - 1}}
	return x.bury(ctx, all, func(r *record) bool { return r.session == n })
}

func (x *Index) bury(ctx context.Context, spans []span, dead func(*record) bool) error {
	err := x.change(ctx, func(now *snapshot, m *manifest) error { return now.bury(ctx, m, dead, spans) })
	if err != nil {
		return fmt.Errorf("take pages out of the index: %w", err)
	}
	return nil
}

// Stats describes an index.
type Stats struct {
	Segments int   `json:"segments"`
	Docs     int   `json:"docs"`
	Bytes    int64 `json:"bytes"`
}

// Stats counts segments, documents that can be found, and bytes.
func (x *Index) Stats(ctx context.Context) (Stats, error) {
	now, err := x.current(ctx)
	if err != nil {
		return Stats{}, err
	}
	st := Stats{Segments: len(now.segments)}
	for _, s := range now.segments {
		st.Docs += s.Docs - s.Dead
		st.Bytes += s.Size
	}
	return st, nil
}

// Has reports which pages are in the index, in order.
func (x *Index) Has(ctx context.Context, pages []quire.PageRef) (out []bool, err error) {
	err = x.settled(ctx, func(now *snapshot) (err error) {
		out, err = now.has(ctx, pages)
		return err
	})
	return out, err
}

func (now *snapshot) has(ctx context.Context, pages []quire.PageRef) ([]bool, error) {
	out := make([]bool, len(pages))
	for _, s := range now.segments {
		want := map[record][]int{}
		for i, p := range pages {
			if s.has(p.Session, p.Page) {
				key := record{session: p.Session, page: p.Page}
				want[key] = append(want[key], i)
			}
		}
		if len(want) == 0 {
			continue
		}
		all, err := s.records(ctx)
		if err != nil {
			return nil, err
		}
		for d := range all {
			if !s.gone.has(uint32(d)) {
				for _, i := range want[record{session: all[d].session, page: all[d].page}] {
					out[i] = true
				}
			}
		}
	}
	return out, nil
}

// Sweep deletes segments that no manifest names: what a crash left behind. What
// belongs to a [Part] of the store is not touched. It
// must not run while another process adds to the index, whose new segments have
// no name in the manifest yet.
func (x *Index) Sweep(ctx context.Context) (dropped int, err error) {
	now, err := x.current(ctx)
	if err != nil {
		return 0, err
	}
	names, err := x.store.SegmentNames(ctx)
	if err != nil {
		return 0, fmt.Errorf("list segments: %w", err)
	}
	names = slices.DeleteFunc(names, func(n string) bool {
		return inPart(n) || slices.ContainsFunc(now.segments, func(s *segment) bool { return s.Name == n })
	})
	return len(names), x.store.DropSegments(ctx, names)
}

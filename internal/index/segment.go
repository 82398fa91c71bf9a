package index

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"sync"

	"github.com/quire-agent/quire/internal/quire"
)

// A segment reads one. Its index of blocks is in memory, the records are once
// they were wanted; everything else is read when it is needed. It may be used
// by several goroutines.
type segment struct {
	entry
	store Segments
	cache *cache
	foot  footer
	index []blockRef
	gone  *bitmap // nil: none
	once  *records
}

// A blockRef finds a block of terms.
type blockRef struct {
	first string
	off   int64
	size  int
}

// records are the records of a segment, read once. Segments that differ in Gone
// only share them.
type records struct {
	mu  sync.Mutex
	all []record
}

func openSegment(ctx context.Context, store Segments, cache *cache, e entry) (*segment, error) {
	s := &segment{entry: e, store: store, cache: cache, once: &records{}}
	tail, err := s.read(ctx, e.Index, int(e.Size-e.Index))
	if err != nil {
		return nil, err
	}
	if e.Foot < e.Index || e.Foot > e.Size {
		return nil, s.damaged()
	}
	if err := json.Unmarshal(tail[e.Foot-e.Index:], &s.foot); err != nil {
		return nil, s.damaged()
	}
	if s.index, err = indexOf(tail[:e.Foot-e.Index]); err != nil || s.foot.Docs != e.Docs {
		return nil, s.damaged()
	}
	return s.without(e)
}

// without is the segment with another list of documents that do not count.
func (s *segment) without(e entry) (*segment, error) {
	other := *s
	other.entry, other.gone = e, nil
	if len(e.Gone) > 0 {
		gone, err := bitmapOf(e.Gone, e.Docs)
		if err != nil {
			return nil, s.damaged()
		}
		other.gone = gone
	}
	return &other, nil
}

func (s *segment) damaged() error {
	return fmt.Errorf("segment %s of the index: %w", s.Name, quire.ErrDamaged)
}

func indexOf(in []byte) (out []blockRef, err error) {
	for len(in) > 0 {
		term, rest, err := cutBytes(in)
		if err != nil {
			return nil, err
		}
		off, rest, err := cutNumber(rest, 1<<62)
		if err != nil {
			return nil, err
		}
		size, rest, err := cutNumber(rest, 1<<30)
		if err != nil {
			return nil, err
		}
		out = append(out, blockRef{string(term), int64(off), int(size)})
		in = rest
	}
	return out, nil
}

func cutNumber(in []byte, limit uint64) (v uint64, rest []byte, err error) {
	v, n := binary.Uvarint(in)
	if n <= 0 || v > limit {
		return 0, nil, errCut
	}
	return v, in[n:], nil
}

func cutBytes(in []byte) (data, rest []byte, err error) {
	n, rest, err := cutNumber(in, uint64(len(in)))
	if err != nil || n > uint64(len(rest)) {
		return nil, nil, errCut
	}
	return rest[:n], rest[n:], nil
}

// read reads a range that must be there in full.
func (s *segment) read(ctx context.Context, off int64, n int) ([]byte, error) {
	if off < 0 || n < 0 || off+int64(n) > s.Size {
		return nil, s.damaged()
	}
	data, err := s.store.ReadSegment(ctx, s.Name, off, n)
	if err != nil {
		return nil, fmt.Errorf("read the index: %w", err)
	}
	if len(data) < n {
		return nil, s.damaged()
	}
	return data, nil
}

// cached reads a small range through the cache.
func (s *segment) cached(ctx context.Context, off int64, n int) ([]byte, error) {
	at := place{s.Name, off, n}
	if data, ok := s.cache.get(at); ok {
		return data, nil
	}
	data, err := s.read(ctx, off, n)
	if err == nil {
		s.cache.put(at, data)
	}
	return data, err
}

// records are those of all documents.
func (s *segment) records(ctx context.Context) ([]record, error) {
	s.once.mu.Lock()
	defer s.once.mu.Unlock()
	if s.once.all != nil || s.Docs == 0 {
		return s.once.all, nil
	}
	all := make([]record, 0, s.Docs)
	const step = 4096
	for at := 0; at < s.Docs; at += step {
		n := min(step, s.Docs-at)
		data, err := s.read(ctx, int64(at)*recordSize, n*recordSize)
		if err != nil {
			return nil, err
		}
		for i := range n {
			all = append(all, decodeRecord(data[i*recordSize:]))
		}
	}
	s.once.all = all
	return all, nil
}

// lookup finds the list of a term; of one that is not there it has no documents.
func (s *segment) lookup(ctx context.Context, term string) (termList, error) {
	i := sort.Search(len(s.index), func(i int) bool { return s.index[i].first > term }) - 1
	if i < 0 {
		return termList{}, nil
	}
	data, err := s.cached(ctx, s.index[i].off, s.index[i].size)
	if err != nil {
		return termList{}, err
	}
	d := blockReader{in: data}
	for d.next() {
		switch {
		case string(d.term) == term:
			return d.list, nil
		case string(d.term) > term:
			return termList{}, nil
		}
	}
	if d.err != nil {
		return termList{}, s.damaged()
	}
	return termList{}, nil
}

// A blockReader reads the terms of a block.
type blockReader struct {
	in   []byte
	term []byte
	list termList
	err  error
}

func (d *blockReader) next() bool {
	if len(d.in) == 0 || d.err != nil {
		return false
	}
	var shared, docs uint64
	if shared, d.in, d.err = cutNumber(d.in, uint64(len(d.term))); d.err != nil {
		return false
	}
	suffix, rest, err := cutBytes(d.in)
	if err != nil {
		d.err = err
		return false
	}
	d.term = append(d.term[:shared], suffix...)
	if docs, d.in, d.err = cutNumber(rest, 1<<32); d.err != nil {
		return false
	}
	d.list = termList{docs: int(docs)}
	if docs <= shortDocs {
		d.list.short, d.in, d.err = cutBytes(d.in)
		return d.err == nil
	}
	return d.long()
}

func (d *blockReader) long() bool {
	var n [3]uint64
	for i := range n {
		if n[i], d.in, d.err = cutNumber(d.in, 1<<62); d.err != nil {
			return false
		}
	}
	d.list.off, d.list.table, d.list.size = int64(n[0]), int(n[1]), int(n[2])
	return true
}

// postings decodes all of a list.
func (s *segment) postings(ctx context.Context, l termList, do func(posting)) error {
	return s.runs(ctx, l, func(in []byte, before int64) error { return s.decode(in, before, do) })
}

// runs reads a list and gives its runs of postings, each with the document
// before it.
func (s *segment) runs(ctx context.Context, l termList, do func(in []byte, before int64) error) error {
	if l.docs <= shortDocs {
		return do(l.short, -1)
	}
	data, err := s.read(ctx, l.off, l.size)
	if err != nil {
		return err
	}
	if l.table > l.size {
		return s.damaged()
	}
	for b, err := range eachBlock(data[:l.table]) {
		if err != nil || l.table+b.off+b.size > len(data) {
			return s.damaged()
		}
		if err := do(data[l.table+b.off:l.table+b.off+b.size], b.before); err != nil {
			return err
		}
	}
	return nil
}

// decode checks that documents are of this segment.
func (s *segment) decode(in []byte, before int64, do func(posting)) error {
	for len(in) > 0 {
		p, rest, err := nextPosting(in, before)
		if err != nil || int(p.doc) >= s.Docs {
			return s.damaged()
		}
		do(p)
		before, in = int64(p.doc), rest
	}
	return nil
}

// near is how many blocks between two wanted ones are read with them rather
// than passed over.
const near = 32

// seek gives the blocks of a list that can hold some documents, which rise, and
// reads no others, unless they lie between two that are near each other. A short
// list is one block.
func (s *segment) seek(ctx context.Context, l termList, docs []uint32, do func(in []byte, b block) error) error {
	if l.docs <= shortDocs {
		return do(l.short, block{before: -1, last: int64(s.Docs)})
	}
	table, err := s.cached(ctx, l.off, l.table)
	if err != nil {
		return err
	}
	blocks, err := blocksHolding(table, docs)
	if err != nil {
		return s.damaged()
	}
	for len(blocks) > 0 {
		n := 1
		for n < len(blocks) && blocks[n].number-blocks[n-1].number <= near {
			n++
		}
		if err := s.readRun(ctx, l, blocks[:n], do); err != nil {
			return err
		}
		blocks = blocks[n:]
	}
	return nil
}

// blocksHolding picks the blocks of a table that can hold documents.
func blocksHolding(table []byte, docs []uint32) (out []block, err error) {
	for b, err := range eachBlock(table) {
		if err != nil {
			return nil, err
		}
		for len(docs) > 0 && int64(docs[0]) <= b.before {
			docs = docs[1:]
		}
		if len(docs) == 0 {
			return out, nil
		}
		if int64(docs[0]) <= b.last {
			out = append(out, b)
		}
	}
	return out, nil
}

// readRun reads blocks and those between them at once, and gives the former.
func (s *segment) readRun(ctx context.Context, l termList, run []block, do func(in []byte, b block) error) error {
	start, end := run[0].off, run[len(run)-1].off+run[len(run)-1].size
	data, err := s.read(ctx, l.off+int64(l.table+start), end-start)
	if err != nil {
		return err
	}
	for _, b := range run {
		if err := do(data[b.off-start:b.off-start+b.size], b); err != nil {
			return err
		}
	}
	return nil
}

// has reports whether a page may be in the segment.
func (s *segment) has(n quire.SessionNumber, p quire.PageNumber) bool {
	return slices.ContainsFunc(s.foot.Spans, func(x span) bool { return x.Session == n && x.First <= p && p <= x.Last })
}

// put stores a segment that write makes, through a pipe: nobody holds all of it.
func put(ctx context.Context, store Segments, name string, write func(*writer) error) (entry, error) {
	r, w := io.Pipe()
	done := make(chan entry, 1)
	go func() {
		to := newWriter(w)
		err := write(to)
		var e entry
		if err == nil {
			e, err = to.finish(name)
		}
		w.CloseWithError(err)
		done <- e
	}()
	err := store.PutSegment(ctx, name, r)
	r.CloseWithError(errors.New("the segment is not read any more"))
	e := <-done
	if err != nil {
		return entry{}, fmt.Errorf("store a segment of the index: %w", err)
	}
	return e, nil
}

// A bitmap is a set of documents.
type bitmap struct{ bits []uint64 }

func newBitmap(n int) *bitmap { return &bitmap{make([]uint64, (n+63)/64)} }

func (b *bitmap) set(i uint32)      { b.bits[i/64] |= 1 << (i % 64) }
func (b *bitmap) has(i uint32) bool { return b != nil && b.bits[i/64]&(1<<(i%64)) != 0 }

// bitmapOf reads the form that encodeSet writes.
func bitmapOf(in []byte, docs int) (*bitmap, error) {
	out := newBitmap(docs)
	r := bytes.NewReader(in)
	for at := int64(-1); r.Len() > 0; {
		d, err := binary.ReadUvarint(r)
		if err != nil || d == 0 || d > uint64(docs) || at+int64(d) >= int64(docs) {
			return nil, errCut
		}
		at += int64(d)
		out.set(uint32(at))
	}
	return out, nil
}

// encodeSet writes rising documents as distances.
func encodeSet(docs []uint32) (out []byte) {
	before := int64(-1)
	for _, d := range docs {
		out = binary.AppendUvarint(out, uint64(int64(d)-before))
		before = int64(d)
	}
	return out
}

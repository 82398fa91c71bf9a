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
	if off < 0 || n < 0 || int64(n) > s.Size || off > s.Size-int64(n) {
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

// cached reads a range through the cache. The result may be a part of a piece
// that others hold too: it is not to be changed.
func (s *segment) cached(ctx context.Context, off int64, n int) ([]byte, error) {
	if off < 0 || n < 0 || int64(n) > s.Size || off > s.Size-int64(n) {
		return nil, s.damaged()
	}
	if n == 0 {
		return nil, nil
	}
	first, last := off/pieceBytes, (off+int64(n)-1)/pieceBytes
	from := int(off - first*pieceBytes)
	if first == last {
		data, err := s.piece(ctx, first, last)
		if err != nil {
			return nil, err
		}
		return data[from : from+n], nil
	}
	out := make([]byte, 0, n)
	for k := first; k <= last; k++ {
		data, err := s.piece(ctx, k, last)
		if err != nil {
			return nil, err
		}
		out = append(out, data[from:min(len(data), from+n-len(out))]...)
		from = 0
	}
	return out, nil
}

// place is that of the k-th piece.
func (s *segment) place(k int64) place { return place{s.Name, k * pieceBytes, pieceBytes} }

// unit reads a small range that is always read alone, through the cache.
func (s *segment) unit(ctx context.Context, off int64, n int) ([]byte, error) {
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

// piece is the k-th piece of a segment. Where it is not in the cache, those
// behind it that are not either are read with it, up to the last.
func (s *segment) piece(ctx context.Context, k, last int64) ([]byte, error) {
	if data, ok := s.cache.get(s.place(k)); ok {
		return data, nil
	}
	end := k + 1
	for end <= last && !s.cache.has(s.place(end)) {
		end++
	}
	data, err := s.read(ctx, k*pieceBytes, int(min(end*pieceBytes, s.Size)-k*pieceBytes))
	if err != nil {
		return nil, err
	}
	head := data[:min(pieceBytes, len(data))]
	for at := k; at < end; at++ {
		n := min(pieceBytes, len(data))
		// A copy: what leaves the cache must not be held by its neighbours.
		s.cache.put(s.place(at), bytes.Clone(data[:n]))
		data = data[n:]
	}
	return head, nil
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
	data, err := s.unit(ctx, s.index[i].off, s.index[i].size)
	if err != nil {
		return termList{}, err
	}
	l, err := findTerm(data, term)
	if err != nil {
		return termList{}, s.damaged()
	}
	return l, nil
}

// findTerm finds the list of a term in a block; of one that is not there it has
// no documents. It makes no term of the block: of two neighbours that share more
// than the one before shares with the wanted term, the second is smaller too.
func findTerm(in []byte, term string) (l termList, err error) {
	match, length := 0, 0 // of the term before: what it shares with the wanted one, which is greater; its length
	for len(in) > 0 {
		var shared uint64
		var suffix []byte
		if shared, in, err = cutNumber(in, uint64(length)); err != nil {
			return l, err
		}
		if suffix, in, err = cutBytes(in); err != nil {
			return l, err
		}
		length = int(shared) + len(suffix)
		if l, in, err = cutList(in); err != nil {
			return l, err
		}
		if int(shared) > match {
			continue
		}
		rest := term[min(int(shared), match):]
		n := sharedPrefix(suffix, rest)
		switch {
		case int(shared) == match && n == len(suffix) && n == len(rest):
			return l, nil
		case int(shared) < match || n == len(rest) || n < len(suffix) && suffix[n] > rest[n]:
			return termList{}, nil
		}
		match += n
	}
	return termList{}, nil
}

// cutList reads what stands behind a term in a block.
func cutList(in []byte) (l termList, rest []byte, err error) {
	docs, in, err := cutNumber(in, 1<<32)
	if err != nil {
		return l, nil, err
	}
	l.docs = int(docs)
	if docs <= shortDocs {
		l.short, in, err = cutBytes(in)
		return l, in, err
	}
	var n [3]uint64
	for i := range n {
		if n[i], in, err = cutNumber(in, 1<<62); err != nil {
			return l, nil, err
		}
	}
	l.off, l.table, l.size = int64(n[0]), int(n[1]), int(n[2])
	return l, in, nil
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
	var shared uint64
	if shared, d.in, d.err = cutNumber(d.in, uint64(len(d.term))); d.err != nil {
		return false
	}
	suffix, rest, err := cutBytes(d.in)
	if err != nil {
		d.err = err
		return false
	}
	d.term = append(d.term[:shared], suffix...)
	d.list, d.in, d.err = cutList(rest)
	return d.err == nil
}

// readRange is [segment.read] or [segment.cached].
type readRange func(ctx context.Context, off int64, n int) ([]byte, error)

// postings decodes all of a list.
func (s *segment) postings(ctx context.Context, l termList, do func(posting)) error {
	return s.runs(ctx, l, s.read, func(in []byte, before int64) error { return s.decode(in, before, do) })
}

// runs reads a list and gives its runs of postings, each with the document
// before it. A merge reads past the cache, which is for what is asked again.
func (s *segment) runs(ctx context.Context, l termList, read readRange, do func(in []byte, before int64) error) error {
	if l.docs <= shortDocs {
		return do(l.short, -1)
	}
	data, err := read(ctx, l.off, l.size)
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
func (s *segment) seek(ctx context.Context, l termList, docs []scored, do func(in []byte, b block) error) error {
	if l.docs <= shortDocs {
		return do(l.short, block{before: -1, last: int64(s.Docs)})
	}
	table, err := s.unit(ctx, l.off, l.table)
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
func blocksHolding(table []byte, docs []scored) (out []block, err error) {
	for b, err := range eachBlock(table) {
		if err != nil {
			return nil, err
		}
		for len(docs) > 0 && int64(docs[0].doc) <= b.before {
			docs = docs[1:]
		}
		if len(docs) == 0 {
			return out, nil
		}
		if int64(docs[0].doc) <= b.last {
			out = append(out, b)
		}
	}
	return out, nil
}

// readRun reads blocks and those between them at once, and gives the former.
func (s *segment) readRun(ctx context.Context, l termList, run []block, do func(in []byte, b block) error) error {
	start, end := run[0].off, run[len(run)-1].off+run[len(run)-1].size
	data, err := s.cached(ctx, l.off+int64(l.table+start), end-start)
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

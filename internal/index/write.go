package index

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	"github.com/quire-agent/quire/internal/quire"
)

// A segment is, in this order:
//
//	records   16 bytes a document: session, page, access, length of each field
//	terms     blocks of terms in rising order; the long posting lists of the
//	          terms of a block lie before it
//	index     first term, offset and size of each block
//	footer    JSON, see footer
//
// Integers of records are little-endian, all others are varints.

// A record is what a segment knows of a document besides its terms.
type record struct {
	session quire.SessionNumber
	page    quire.PageNumber
	access  uint32 // index into the accesses of the segment
	lengths [fieldCount]uint8
}

const recordSize = 16

func (r *record) append(out []byte) []byte {
	out = binary.LittleEndian.AppendUint32(out, uint32(r.session))
	out = binary.LittleEndian.AppendUint32(out, uint32(r.page))
	out = binary.LittleEndian.AppendUint32(out, r.access)
	return append(out, r.lengths[:]...)
}

func decodeRecord(in []byte) (r record) {
	r.session = quire.SessionNumber(binary.LittleEndian.Uint32(in))
	r.page = quire.PageNumber(binary.LittleEndian.Uint32(in[4:]))
	r.access = binary.LittleEndian.Uint32(in[8:])
	copy(r.lengths[:], in[12:recordSize])
	return r
}

// A footer closes a segment.
type footer struct {
	Docs    int                 `json:"docs"`
	Terms   int                 `json:"terms"`
	Lengths [fieldCount]float64 `json:"lengths"` // sum over its documents, as their records keep them
	Access  []Access            `json:"access"`
	Spans   []span              `json:"spans"`
}

// A span says between which pages of a session those of a segment lie.
type span struct {
	Session quire.SessionNumber `json:"s"`
	First   quire.PageNumber    `json:"f"`
	Last    quire.PageNumber    `json:"l"`
}

// An entry is what the manifest says of a segment.
type entry struct {
	Name  string `json:"name"`
	Size  int64  `json:"size"`
	Index int64  `json:"index"` // offset of the index
	Foot  int64  `json:"foot"`  // offset of the footer
	Docs  int    `json:"docs"`
	Gone  []byte `json:"gone,omitempty"` // documents that do not count any more: their distances
	Dead  int    `json:"dead,omitempty"` // how many those are
}

// shortDocs is the number of documents up to which a list stands in the block
// of its term, and blockSize the size from which a block of terms is full.
const (
	shortDocs = 64
	blockSize = 2 << 10
)

// A writer writes a segment from its beginning to its end.
type writer struct {
	out   *bufio.Writer
	off   int64
	foot  footer
	spans map[quire.SessionNumber]span
	order []quire.SessionNumber // of spans, as they came
	block []byte
	first []byte // term of the block
	last  []byte // term before the next one
	run   []byte // a short list that is being encoded
	index []byte
	seen  map[string]uint32 // access key → its number
	err   error
}

func newWriter(to io.Writer) *writer {
	return &writer{out: bufio.NewWriterSize(to, 64<<10), spans: map[quire.SessionNumber]span{}, seen: map[string]uint32{}}
}

// write keeps the first error; after it nothing is written.
func (w *writer) write(data []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(data)
		w.off += int64(len(data))
	}
}

// access is the number of an access in this segment.
func (w *writer) access(a Access) uint32 {
	key := a.key()
	n, ok := w.seen[key]
	if !ok {
		n = uint32(len(w.foot.Access))
		w.seen[key] = n
		w.foot.Access = append(w.foot.Access, a)
	}
	return n
}

// record writes the next document; all come before the first term.
func (w *writer) record(r record) {
	w.foot.Docs++
	for f, b := range r.lengths {
		w.foot.Lengths[f] += lengthOf(b)
	}
	s, ok := w.spans[r.session]
	if !ok {
		s = span{r.session, r.page, r.page}
		w.order = append(w.order, r.session)
	}
	s.First, s.Last = min(s.First, r.page), max(s.Last, r.page)
	w.spans[r.session] = s
	w.write(r.append(nil))
}

// term writes the next term with its list, which is not empty.
func (w *writer) term(term []byte, postings []posting) {
	if len(postings) > shortDocs {
		w.begin(term, len(postings))
		w.long(postings)
		w.end()
		return
	}
	w.run = w.run[:0]
	before := int64(-1)
	for _, p := range postings {
		w.run = appendPosting(w.run, before, p)
		before = int64(p.doc)
	}
	w.short(term, len(postings), w.run)
}

// short writes the next term with a list of at most shortDocs documents that is
// encoded already.
func (w *writer) short(term []byte, docs int, run []byte) {
	w.begin(term, docs)
	w.block = binary.AppendUvarint(w.block, uint64(len(run)))
	w.block = append(w.block, run...)
	w.end()
}

// begin writes what stands before the list of a term.
func (w *writer) begin(term []byte, docs int) {
	w.foot.Terms++
	if len(w.block) == 0 {
		w.first = append(w.first[:0], term...)
		w.last = w.last[:0]
	}
	shared := sharedPrefix(w.last, term)
	w.block = binary.AppendUvarint(w.block, uint64(shared))
	w.block = binary.AppendUvarint(w.block, uint64(len(term)-shared))
	w.block = append(w.block, term[shared:]...)
	w.block = binary.AppendUvarint(w.block, uint64(docs))
	w.last = append(w.last[:0], term...)
}

func (w *writer) end() {
	if len(w.block) >= blockSize {
		w.closeBlock()
	}
}

func (w *writer) long(postings []posting) {
	table, blocks := encode(postings)
	w.block = binary.AppendUvarint(w.block, uint64(w.off))
	w.block = binary.AppendUvarint(w.block, uint64(len(table)))
	w.block = binary.AppendUvarint(w.block, uint64(len(table)+len(blocks)))
	w.write(table)
	w.write(blocks)
}

func sharedPrefix[T string | []byte](a []byte, b T) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

func (w *writer) closeBlock() {
	if len(w.block) == 0 {
		return
	}
	w.index = binary.AppendUvarint(w.index, uint64(len(w.first)))
	w.index = append(w.index, w.first...)
	w.index = binary.AppendUvarint(w.index, uint64(w.off))
	w.index = binary.AppendUvarint(w.index, uint64(len(w.block)))
	w.write(w.block)
	w.block = w.block[:0]
}

// finish writes what is left and says what the manifest must know.
func (w *writer) finish(name string) (entry, error) {
	w.closeBlock()
	e := entry{Name: name, Index: w.off, Docs: w.foot.Docs}
	w.write(w.index)
	e.Foot = w.off
	for _, s := range w.order {
		w.foot.Spans = append(w.foot.Spans, w.spans[s])
	}
	foot, err := json.Marshal(w.foot)
	if err != nil {
		return entry{}, fmt.Errorf("write the footer of a segment: %w", err)
	}
	w.write(foot)
	if w.err == nil {
		w.err = w.out.Flush()
	}
	e.Size = w.off
	return e, w.err
}

package index

import (
	"maps"
	"slices"

	"github.com/quire-agent/quire/internal/term"
)

// A builder makes the terms of documents into a segment, in memory.
type builder struct {
	docs    []Document
	ids     map[string]uint32
	terms   []growing
	touched []uint32 // terms of the document at hand
	lengths [][fieldCount]uint8
}

// A growing is the list of a term while it is built.
type growing struct {
	run  []byte
	docs int
	last int64
	tf   [fieldCount]uint8 // in the document at hand
}

func newBuilder() *builder { return &builder{ids: map[string]uint32{}} }

// add takes in the next document. Its texts are not kept.
func (b *builder) add(d Document) {
	var count [fieldCount]int
	for f := range d.Fields {
		term.Scan(d.Fields[f], func(word []byte, kind term.Kind) {
			if kind != term.Single {
				count[f]++
			}
			b.count(word, f)
		})
		d.Fields[f] = ""
	}
	b.flush()
	var lengths [fieldCount]uint8
	for f, n := range count {
		lengths[f] = lengthByte(n)
	}
	b.docs, b.lengths = append(b.docs, d), append(b.lengths, lengths)
}

func (b *builder) count(word []byte, f int) {
	id, ok := b.ids[string(word)]
	if !ok {
		id = uint32(len(b.terms))
		b.ids[string(word)] = id
		b.terms = append(b.terms, growing{last: -1})
	}
	t := &b.terms[id]
	if t.tf == ([fieldCount]uint8{}) {
		b.touched = append(b.touched, id)
	}
	if t.tf[f] < 255 {
		t.tf[f]++
	}
}

// flush appends the document at hand to the lists of its terms.
func (b *builder) flush() {
	doc := uint32(len(b.docs))
	for _, id := range b.touched {
		t := &b.terms[id]
		t.run = appendPosting(t.run, t.last, posting{doc, t.tf})
		t.docs, t.last, t.tf = t.docs+1, int64(doc), [fieldCount]uint8{}
	}
	b.touched = b.touched[:0]
}

// write writes the segment.
func (b *builder) write(w *writer) error {
	for i, d := range b.docs {
		w.record(record{d.Session, d.Page, w.access(d.Access), b.lengths[i]})
	}
	var postings []posting
	for _, name := range slices.Sorted(maps.Keys(b.ids)) {
		t := &b.terms[b.ids[name]]
		if t.docs <= shortDocs {
			w.short([]byte(name), t.docs, t.run)
			continue
		}
		postings = postings[:0]
		err := eachPosting(t.run, -1, func(p posting) { postings = append(postings, p) })
		if err != nil {
			return err
		}
		w.term([]byte(name), postings)
	}
	return w.err
}

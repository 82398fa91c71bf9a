package index

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func drawPostings(t *rapid.T, max int) (out []posting) {
	doc := uint32(0)
	for range rapid.IntRange(0, max).Draw(t, "postings") {
		p := posting{doc: doc}
		for f := range p.tf {
			p.tf[f] = rapid.SampledFrom([]uint8{0, 0, 1, 2, 255}).Draw(t, "frequency")
		}
		out = append(out, p)
		doc += 1 + rapid.Uint32Range(0, 1000).Draw(t, "gap")
	}
	return out
}

func TestPostingsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawPostings(t, 3*blockDocs)
		table, bytes := encode(want)
		var got []posting
		for b, err := range eachBlock(table) {
			if err != nil {
				t.Fatal(err)
			}
			if err := eachPosting(bytes[b.off:b.off+b.size], b.before, func(p posting) { got = append(got, p) }); err != nil {
				t.Fatal(err)
			}
			if last := got[len(got)-1]; int64(last.doc) != b.last {
				t.Fatalf("block ends with document %d, its table says %d", last.doc, b.last)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func FuzzPostings(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{3, 3, 2, 9, 1, 4})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, in []byte) {
		before := int64(-1)
		_ = eachPosting(in, -1, func(p posting) {
			if int64(p.doc) <= before {
				t.Errorf("document %d behind %d", p.doc, before)
			}
			before = int64(p.doc)
		})
		for b, err := range eachBlock(in) {
			if err == nil && (b.off < 0 || b.size < 0 || b.last < b.before) {
				t.Errorf("block %+v", b)
			}
		}
	})
}

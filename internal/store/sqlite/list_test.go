package sqlite

import (
	"bytes"
	"slices"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
	"pgregory.net/rapid"
)

func TestListsRoundTrip(t *testing.T) {
	number := rapid.IntRange(-1<<31, 1<<31-1)
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOf(rapid.String()).Draw(t, "texts")
		pages := rapid.SliceOf(rapid.Map(number, func(n int) quire.PageNumber { return quire.PageNumber(n) })).Draw(t, "pages")
		ranges := rapid.SliceOf(rapid.Custom(func(t *rapid.T) quire.Range {
			return quire.Range{First: number.Draw(t, "first"), Last: number.Draw(t, "last")}
		})).Draw(t, "ranges")
		refs := rapid.SliceOf(rapid.Custom(func(t *rapid.T) quire.PageRef {
			return quire.PageRef{
				Session: quire.SessionNumber(number.Draw(t, "session")), Page: quire.PageNumber(number.Draw(t, "page")),
				Lines: quire.Range{First: number.Draw(t, "first"), Last: number.Draw(t, "last")},
			}
		})).Draw(t, "refs")
		same(t, texts, appendTexts([]byte{}, texts), readTexts)
		same(t, pages, appendPages(pages), readPages)
		same(t, ranges, appendRanges(ranges), readRanges)
		same(t, refs, appendRefs(refs), readRefs)
	})
}

func same[T comparable](t *rapid.T, want []T, written []byte, read func([]byte) ([]T, error)) {
	t.Helper()
	if got, err := read(written); err != nil || !slices.Equal(got, want) {
		t.Fatalf("%v comes back as %v, %v", want, got, err)
	}
}

// FuzzLists: whatever stands in a column is a list or an error, and a list that
// was read is written as one that reads the same.
func FuzzLists(f *testing.F) {
	for _, seed := range []string{"", "\x00", "\x01a", "\x05a", "\x80", "\xff\xff\xff\xff\x0f", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x01\x02\x03\x04"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		texts, err := readTexts[string](b)
		if err == nil {
			if again, err := readTexts[string](appendTexts(nil, texts)); err != nil || !slices.Equal(again, texts) {
				t.Errorf("%q is written and read as %q, %v", texts, again, err)
			}
		}
		refs, err := readRefs(b)
		if err == nil && !bytes.Equal(appendRefs(refs), appendRefs(mustRefs(t, appendRefs(refs)))) {
			t.Errorf("%v is not read as it is written", refs)
		}
		if ranges, err := readRanges(b); err == nil && len(refs)*2 > len(ranges) {
			t.Errorf("%d references but %d ranges", len(refs), len(ranges))
		}
	})
}

func mustRefs(t *testing.T, b []byte) []quire.PageRef {
	t.Helper()
	refs, err := readRefs(b)
	if err != nil {
		t.Fatal(err)
	}
	return refs
}

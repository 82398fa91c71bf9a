package run

import (
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/shingle"
)

// A live session looks for references among the shingles of about its newest
// 2,000 pages (issue C, section 1).
const liveShingles = 1_000_000

// A reference is three or more shingles of an answer whose youngest earlier
// occurrence is on one page that is not the model's own (evaluation document,
// section 3).
const referenceShingles = 3

// references finds the pages that an answer quotes, by an index that grows with
// the session and never by looking through pages.
type references struct{ index *shingle.Index }

func newReferences() references { return references{shingle.NewIndex(liveShingles)} }

// add makes a text findable as that of a page.
func (r references) add(text string, page quire.PageNumber, kind quire.PageKind) {
	shingle.Scan(text, func(s shingle.Shingle) bool {
		r.index.Add(s.Hash, page, kind)
		return true
	})
}

// of counts what texts quote, page by page, and returns the pages referred to in
// the order in which they are first quoted.
func (r references) of(texts []string) (pages []quire.PageNumber) {
	seen := map[uint64]bool{}
	found := map[quire.PageNumber]int{}
	for _, text := range texts {
		shingle.Scan(text, func(s shingle.Shingle) bool {
			e, ok := r.index.Find(s.Hash)
			if !ok || seen[s.Hash] || e.Kind == quire.PageAssistant {
				return true
			}
			seen[s.Hash] = true
			if found[e.Page]++; found[e.Page] == referenceShingles {
				pages = append(pages, e.Page)
			}
			return true
		})
	}
	return pages
}

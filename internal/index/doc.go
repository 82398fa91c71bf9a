// Package index is an inverted index over pages, kept where a store keeps it.
//
// A [Document] is a page as it is indexed, in four [Field]s whose words package
// term makes. An [Index] keeps documents in immutable segments that lie in a
// store ([Segments]) and are read by range; which segments there are is said by
// a head that advances by compare and swap, so that several processes may add
// and search at once. It answers the terms of a query with [Candidate]s by
// BM25F, the rarest terms first, and leaves out what the reader may not see
// before anything is ranked.
//
// It knows nothing of what people expect of a search: what was named exactly,
// what is newer, what failed. Package retrieve puts candidates in order by that.
package index

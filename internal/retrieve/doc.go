// Package retrieve is the one retrieval surface: whatever can be found again is
// found through it.
//
// Bottom up: [Scan] makes terms of text, the same in every store. A [Document]
// is a page as it is indexed, in four [Field]s. An [Index] keeps documents in
// immutable segments that lie in a store ([Segments]) and are read by range; it
// answers a [Query] with candidates by BM25F. [Pages] is the carrier of pages:
// it asks the index and orders what comes by rules that people expect: what is
// named exactly, the newest version of a thing, what worked before what did
// not, the session and task at hand, each page once. A [Surface] asks all
// carriers that were registered and gives typed [Hit]s, and [Surface.Answer]
// keeps them within the quotas of a prompt.
//
// Two things hold throughout. What a reader may not see takes no part: it is
// left out before anything is ranked. And text that Quire itself put into a
// prompt is never indexed: it carries a frame ([Frame]) that only unaltered text
// of ours can have, and the tool that reads pages back is known by its name.
package retrieve

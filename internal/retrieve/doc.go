// Package retrieve is the one retrieval surface: whatever can be found again is
// found through it.
//
// Bottom up: a [Query] is a text and who asks. Its terms (package term) go to an
// index (package index), which answers with candidates by BM25F. [Pages] is the
// carrier of pages: it orders what comes by rules that people expect: what is
// named exactly, what is quoted, the newest version of a thing, what holds
// before what was taken back, sources before what the model said of them, the
// session and task at hand, each page once. A [Collection] is the carrier of
// what is no page: sections of documents, notes, knowledge, skills. A [Surface]
// asks all carriers that were registered and gives typed [Hit]s with the lines
// that answer, and [Surface.Answer] keeps them within the quotas of a prompt.
//
// Two things hold throughout. What a reader may not see takes no part: it is
// left out before anything is ranked. And text that Quire itself put into a
// prompt is never indexed: it carries a frame ([Frame]) that only unaltered text
// of ours can have, and the tool that reads pages back is known by its name.
package retrieve

// Package quiz measures how well pages are found again. It asks the retrieval
// surface what was needed later and counts how often the page that answers was
// among what was found.
//
// Two sets of questions: [Ask] takes them from a recorded session, at the time
// when it needed a page that it had long not used, from what was said before;
// [Written] asks questions that were written for it, in English and Chinese. The
// answers are known in both. Beside the surface stand plain BM25, the newest
// results, and the best that a ranking could do which is told what nobody can
// know.
package quiz

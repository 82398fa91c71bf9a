// Package recording makes sessions that were recorded ready to be replayed.
//
// [Loader] reads logs into a [Session]: the items of its prompts in their order,
// the calls that were made, the pages that the items belong to, and what each call
// needed of earlier pages. A need is text that an answer took from a page, word for
// word; two definitions of it stand side by side, those of section 3 of the
// evaluation document. Bodies stay out of memory where they are large.
//
// Nothing here decides anything: package replay plays policies over a session.
package recording

// Package rendition makes the forms in which a page can stand in a prompt
// instead of its full text: an excerpt ([Maker.Excerpt], [Maker.Ranges], and
// [Maker.HeadTail] to compare with), a text without noise ([Maker.Normalise]), a
// card ([Maker.Card]) and a handle ([Maker.Handle]). [Spans] cuts a text into the
// passages of which a scheduler keeps or drops each as one.
//
// What a shortened text promises, whichever maker made it:
//
//   - Its first line says that it is shortened, how much is not shown and how to
//     read it.
//   - What is shown is shown verbatim, in its order and with its line ends; a
//     mark stands in every gap and names the lines of the page that are missing,
//     so that the number of every shown line is known.
//   - It is shorter than the text it is made of, no longer than asked, and valid
//     UTF-8. Cuts are between lines; within a line of more than longLine bytes
//     they are between sentences, values or words.
//   - Where it cannot be so, or where the reader of a prompt has no means to read
//     the rest, nothing is made and the page stands in full or not at all.
//
// Lines are those of the page's body, numbered from 1 and ended by "\n", which is
// how a [quire.PageRef] counts them. Numbers that a tool wrote before its lines
// are part of their text.
//
// Cards and handles are masked by package secret; excerpts are prompts, which
// masking never alters. Everything here is pure: the same arguments give the same
// bytes.
package rendition

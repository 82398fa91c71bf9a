// Package norms reads instruction files and chooses what of them stands in a
// prompt. The files are QUIRE.md, AGENTS.md and CLAUDE.md, from the working
// directory up to the root of its repository, and in the user's folders ([Places],
// [Read]). They are cut by heading into pages. The head of an epoch gets the red
// lines and the pages that match the task in full, the others as one line each,
// within a bound, and says what was left out ([Choose]).
//
// Of two norms that conflict the earlier one stands: QUIRE.md before AGENTS.md
// before CLAUDE.md, and of files of one name the nearer one. No file is needed, and
// none is ever written.
package norms

// Package ledger keeps the record of what must survive whatever happens to the
// prompt: the user's words, the rules among them, what was run and how it ended,
// which tests fail, which files were read and written, todo lists, commits, what
// the model claimed, and what still runs in the background (section 6.6 of the
// design). A Ledger is complete and unbounded; a card is its rendition in the
// prompt and is bounded. Cards of turns and tasks are made from the same record.
//
// Only what has a form is taken, and it is taken as it stands: nothing here is
// written by a model, nothing is put into other words. Everything follows from
// the arguments; the same session gives the same cards.
package ledger

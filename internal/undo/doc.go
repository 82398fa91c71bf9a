// Package undo records what a run changed in the project and puts it back:
// exactly that and nothing else.
//
// What is recorded is a list of changes, each a path with its state before and
// after ([Change]). Tools that edit say so themselves, having stored the old
// bytes first ([Tree.Keep]); for commands the project is compared before and
// after ([Tree.Watch]). What somebody else changed afterwards, or in between, is
// a conflict: it is reported and stays as it is.
package undo

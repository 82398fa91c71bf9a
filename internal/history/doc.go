// Package history tells what was decided about the pages of a kept session, call
// by call, and why.
//
// Where a session was run by Quire its journal holds the plans, and those are
// told ([Source.Recorded]). A session that was taken in from another agent has
// none: it is played through the scheduler, from its journal and its bodies, under
// the prices of its model or of a profile ([Source.Play]). That says what Quire
// would have sent, and is the same each time. What the user marked in the journal
// holds in a play from the call on that follows the mark.
//
// [Source.Tasks] tells the tasks of a session the same way: the marked ones, and
// those that are inferred where nothing is marked.
package history

// Package worktree gives a worker that writes a copy of the project of its own: a
// git worktree that begins with what the project holds now, what is not committed
// included. When the worker is done its changes are merged into the project, file
// by file against the common beginning; what both changed in the same lines is a
// conflict, which stays as it is in the project and is handed to whoever settles
// it.
//
// No branch is made and nothing is committed to one. What git ignores is not in the
// copy. A worktree belongs to the process that holds the lock on it. One that a crash
// left behind is found again by the next process that opens it for the same task, or
// removed by [Sweep] when it is old.
package worktree

// Package gitexec runs the git command so that it asks nothing, starts no program
// that the repository's configuration names, and with [Run] changes nothing.
package gitexec

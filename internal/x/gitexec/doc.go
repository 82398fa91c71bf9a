// Package gitexec runs the git command so that it changes nothing, asks nothing
// and starts no program that the repository's configuration names.
package gitexec

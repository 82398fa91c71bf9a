// Package walk goes through the files of a project in a fixed order, leaving out
// what its .gitignore files leave out, and matches paths against patterns.
package walk

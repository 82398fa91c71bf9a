// Package page cuts recorded content into pages and says what they are: what a
// tool call did and to what ([Describe]), what a text is whatever brought it
// ([Classify]), which parts make one page ([Cutter]), and what later parts make
// of earlier pages: stale, superseded, taken back ([Lineage]).
//
// Everything here follows from its arguments alone and takes any input:
// arguments that are cut off, invalid or of a tool nobody has heard of give less
// knowledge, never an error. Only a Lineage holds bodies, of files that are being
// worked on, and of those a bounded number.
package page

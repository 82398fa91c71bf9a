// Package report shows an [audit.Report]: on a terminal, as JSON, and as one
// HTML page that needs nothing else. It computes nothing that the report does
// not hold, and what it writes depends on nothing but its arguments.
//
// The first screen on the terminal and the head of the page answer four
// questions in words that need no glossary: what did I spend, on what, what was
// wasted, what would have helped.
package report

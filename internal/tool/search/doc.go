// Package search is the tools that look for files by name (find) and for lines
// by their text (grep).
//
// grep is the same with and without ripgrep: ripgrep only says fast in which
// files a match may be; which files count and which lines match is decided here.
package search

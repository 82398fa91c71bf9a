// Package term makes terms of text, the units by which text is found again:
// words, names of code with their parts, codes, and CJK characters in pairs. It
// is pure, so that every store indexes the same, and a query and a page that say
// the same have the same terms.
package term

// Package shingle cuts text into shingles, the unit in which Quire decides
// whether one text quotes another, and remembers where each was seen last.
//
// A token is an identifier or number (a run of Unicode letters, marks, digits
// and _), a single CJK character, or a single symbol; white space separates
// tokens and is none. A shingle is six consecutive tokens of which at least two
// have four or more characters, or at least four are CJK characters. The line
// numbers that file reads put in front of lines ("  12→", "12\t", "12: ") are
// no part of the text, wherever it comes from. These are the definitions of
// section 3 of the evaluation document.
//
// Everything here is pure: the same text gives the same hashes in every run and
// on every machine, so hashes may be stored.
package shingle

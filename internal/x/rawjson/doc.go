// Package rawjson takes JSON objects apart and puts them together without
// changing what it does not touch. It is what lets a codec take the members that
// it knows and carry the others along: numbers keep their digits, texts their
// escapes, objects the order of their members.
//
// [Reader] hands out members one by one; what nobody took is its Rest. [Writer]
// puts an object together. The rule that both share: a member is taken only when
// its value can be written back from what was taken. A zero, a null, a number
// with an exponent or a text with half a surrogate pair stays in the rest.
//
// A [Scanner] checks a text while it comes in pieces, and says where its members stand.
// All functions but [Parse] and [Valid] take valid JSON only: parts of what these, or a
// scanner, have seen.
package rawjson

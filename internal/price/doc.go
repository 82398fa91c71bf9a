// Package price knows what a call costs: dated prices, the prefix rules of each
// provider's prompt cache, and an exact simulator of those caches.
//
//   - A [Table] holds the prices as data: embedded in the program, each row
//     with the day from which it counts, its source and how good the source is,
//     and overridable by a file of the user's in the same form ([Table.Merge]).
//     A name that the table does not know has no price; it is never guessed.
//   - [Rules] say what a provider's cache does: what it matches, from what size
//     on, in what steps, for how long.
//   - A [Cache] replays requests against those rules and answers with a
//     [Charge]: how many tokens of the prompt were read, written, or neither.
//   - [Rates] turn a charge into a cost. A [Model] has rates in US dollars, a
//     [Profile] has rates relative to its input price; replay uses either.
//
// All of it is pure: no clock, no network, no randomness. Times are given by
// the caller.
package price

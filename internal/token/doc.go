// Package token counts tokens without asking a provider.
//
// The base of every count is o200k ([Counter]), whose vocabulary is public. What is
// looked up are hashes of its tokens and their ranks, packed in o200k.bin; they are
// made from github.com/tiktoken-go/tokenizer, which only the tests import: it builds
// maps of all tokens before it answers, as much time and memory as everything else
// that a run does before its first request.
// Most models use another vocabulary: a [Fit] learns, from the prompt sizes
// that a provider reported, how many of its tokens one o200k token of each
// [Class] of content is worth, and begins at what was measured for the model's
// family ([FamilyOf]). Images and documents are counted by each vendor's own
// rule ([Image], [Document]).
//
// Counts are estimates of a prompt's size, made for scheduling and for reports
// that say so. They are not what a provider will bill.
package token

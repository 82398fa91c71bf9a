// Package token counts tokens without asking a provider.
//
// The base of every count is o200k ([Counter]), whose vocabulary is public and
// comes from github.com/tiktoken-go/tokenizer, imported here and nowhere else.
// Most models use another vocabulary: a [Fit] learns, from the prompt sizes
// that a provider reported, how many of its tokens one o200k token of each
// [Class] of content is worth, and begins at what was measured for the model's
// family ([FamilyOf]). Images and documents are counted by each vendor's own
// rule ([Image], [Document]).
//
// Counts are estimates of a prompt's size, made for scheduling and for reports
// that say so. They are not what a provider will bill.
package token

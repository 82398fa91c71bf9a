// Package secret finds secrets in text by rule and masks them: keys and tokens
// with a form of their own, private keys, passwords in addresses and headers,
// and values that are assigned to a name like API_TOKEN and look random.
//
// A rule is what such rules are everywhere: an id, the words without which there
// is no match, a regular expression, the least entropy, and what is let through.
// The words are all looked for in one pass (see lexicon); a rule looks only at
// the text from its word on, and no further than it has to. So the time is linear
// in the length of the text, whatever the text.
//
// Masking is for what people and other programs are shown: screens, logs,
// exports, the search index. What a model is sent, and what is kept, is never
// masked.
package secret

// Package script is a language in which a person writes down how a model shall
// behave: a text of turns, each with conditions on what was sent, and with words,
// thinking, tool calls or a fault to answer. The simulator of providers and the
// scripted model both play it. It is deterministic: the same calls in the same
// order get the same answers. language.txt says what the language is.
package script

import _ "embed"

//go:embed language.txt
var language string

// Language describes the language to people.
func Language() string { return language }

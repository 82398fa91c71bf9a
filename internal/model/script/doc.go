// Package script is a model that a person wrote: it plays a script (package
// script has the language) in place of a provider, without a network. The same
// calls in the same order get the same answers.
package script

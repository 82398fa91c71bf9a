// Package anthropic calls models over the Messages API, that of Anthropic and of
// all who speak it.
package anthropic

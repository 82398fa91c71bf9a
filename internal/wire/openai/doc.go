// Package openai holds what the two protocols of OpenAI, and of all who speak
// them, have in common: the bodies of errors, cache marks, media in data URLs.
package openai

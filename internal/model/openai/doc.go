// Package openai calls models over the two protocols of OpenAI: Responses, and
// Chat Completions in the dialects of all who took it over. The table of
// dialects is that of package wire/chat.
package openai

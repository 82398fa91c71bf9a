package token

import "strings"

// A Family is a group of models that share a vocabulary, or nearly so.
type Family string

// The families. FamilyOther is every model that no rule knows.
const (
	FamilyClaude   Family = "claude"
	FamilyGPT      Family = "gpt"
	FamilyGemini   Family = "gemini"
	FamilyDeepSeek Family = "deepseek"
	FamilyQwen     Family = "qwen"
	FamilyKimi     Family = "kimi"
	FamilyGLM      Family = "glm"
	FamilyGrok     Family = "grok"
	FamilyMistral  Family = "mistral"
	FamilyMiniMax  Family = "minimax"
	FamilyLlama    Family = "llama"
	FamilyOther    Family = "other"
)

// familyMarks finds the family by a part of the model's name, the first that
// occurs.
func familyMarks() []struct {
	mark   string
	family Family
} {
	return []struct {
		mark   string
		family Family
	}{
		{"claude", FamilyClaude}, {"opus", FamilyClaude}, {"sonnet", FamilyClaude}, {"haiku", FamilyClaude},
		{"deepseek", FamilyDeepSeek}, {"gemini", FamilyGemini}, {"gemma", FamilyGemini},
		{"qwen", FamilyQwen}, {"qwq", FamilyQwen}, {"kimi", FamilyKimi}, {"moonshot", FamilyKimi},
		{"glm", FamilyGLM}, {"grok", FamilyGrok}, {"minimax", FamilyMiniMax}, {"llama", FamilyLlama},
		{"mistral", FamilyMistral}, {"devstral", FamilyMistral}, {"codestral", FamilyMistral},
		{"gpt", FamilyGPT}, {"codex", FamilyGPT}, {"o1", FamilyGPT}, {"o3", FamilyGPT}, {"o4", FamilyGPT},
	}
}

// FamilyOf finds the family of a model by its name, with or without the
// prefixes that routers put before it. Case does not matter.
func FamilyOf(model string) Family {
	model = strings.ToLower(model)
	for _, m := range familyMarks() {
		if strings.Contains(model, m.mark) {
			return m.family
		}
	}
	return FamilyOther
}

// KeepsThinking reports whether a model's thinking stays in later prompts as
// long as the message it belongs to. Otherwise it stays to the end of its turn,
// and the next user message drops it.
//
// Both were read off recorded sizes: at the beginning of a turn the prompts of
// Sonnet 4.5 and of Codex with GPT-5.3 and 5.5 shrink by the thinking of the
// turn before, those of Opus 4.5 and 4.6 do not. The other names follow the
// vendor's documentation ("Extended thinking").
func KeepsThinking(model string) bool {
	return containsAny(strings.ToLower(model),
		"opus-4-5", "opus-4-6", "opus-4-7", "opus-4-8", "opus-5", "sonnet-4-6", "sonnet-5", "haiku-5", "fable", "mythos")
}

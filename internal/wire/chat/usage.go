package chat

import (
	"encoding/json"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/openai"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// A usageBody holds the counts by all the names that providers give them.
// Prompt_tokens includes what was read from and written to a cache, everywhere.
type usageBody struct {
	Prompt     *int64 `json:"prompt_tokens"`
	Completion *int64 `json:"completion_tokens"`

	Hit    int64 `json:"prompt_cache_hit_tokens"` // DeepSeek
	Cached int64 `json:"cached_tokens"`           // Kimi

	PromptDetails struct {
		Cached   int64 `json:"cached_tokens"`
		Write    int64 `json:"cache_write_tokens"`          // OpenAI, OpenRouter
		Creation int64 `json:"cache_creation_input_tokens"` // Qwen
		Created  int64 `json:"cache_creation_tokens"`       // gateways in front of Claude
	} `json:"prompt_tokens_details"`

	CompletionDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`

	Reasoning int64 `json:"reasoning_tokens"` // Grok and others, at the top
}

// decodeUsage reads the usage of any dialect. The cache is known even where
// nothing is said of it: a provider without one has read and written nothing.
func decodeUsage(raw json.RawMessage) quire.Usage {
	var body usageBody
	if len(raw) == 0 || json.Unmarshal(raw, &body) != nil || body.Prompt == nil {
		return quire.Usage{}
	}
	d := body.PromptDetails
	u := quire.Usage{
		CacheRead:  max(d.Cached, body.Hit, body.Cached),
		CacheWrite: max(d.Write, d.Creation, d.Created),
		Reasoning:  max(body.CompletionDetails.Reasoning, body.Reasoning),
		Known:      quire.KnownInput | quire.KnownCache,
	}
	u.Input = *body.Prompt - u.CacheRead - u.CacheWrite
	if body.Completion != nil {
		u.Output = *body.Completion
		u.Known |= quire.KnownOutput
	}
	if !u.Plausible() {
		return quire.Usage{}
	}
	return u
}

// encodeUsage is usage as OpenAI writes it.
func encodeUsage(u quire.Usage) json.RawMessage {
	var w, prompt, completion rawjson.Writer
	prompt.Number("cached_tokens", u.CacheRead)
	prompt.Count("cache_write_tokens", u.CacheWrite)
	completion.Number("reasoning_tokens", u.Reasoning)
	w.Number("prompt_tokens", u.Prompt())
	w.Number("completion_tokens", u.Output)
	w.Number("total_tokens", u.Prompt()+u.Output)
	w.Object("prompt_tokens_details", &prompt)
	w.Object("completion_tokens_details", &completion)
	raw, _ := w.Bytes()
	return raw
}

// keptUsage is usage as it was written, as long as that says the same.
func keptUsage(u quire.Usage, rest []quire.Field) json.RawMessage {
	if kept := rawjson.Get(rest, "usage"); kept != nil && decodeUsage(kept) == u {
		return kept
	}
	if u.Known == 0 {
		return nil
	}
	return encodeUsage(u)
}

// stopOf reads a finish reason. Providers add reasons of their own.
func stopOf(reason string) quire.Stop {
	switch reason {
	case "stop", "eos", "end_turn":
		return quire.StopEnd
	case "tool_calls", "function_call":
		return quire.StopTool
	case "length", "max_tokens":
		return quire.StopLength
	case "model_context_window_exceeded", "model_length":
		return quire.StopWindow
	case "content_filter", "sensitive", "refusal":
		return quire.StopRefusal
	}
	return quire.StopUnknown
}

// keptReason is a finish reason as it was written, as long as it says the same;
// otherwise it is written as OpenAI does. A refusal ends with either reason.
func keptReason(raw json.RawMessage, stop quire.Stop) json.RawMessage {
	reason, _ := rawjson.TextOf(raw)
	if reason != "" && (stopOf(reason) == stop || stop == quire.StopRefusal && stopOf(reason) == quire.StopEnd) {
		return raw
	}
	return openai.Quote(reasonOf(stop))
}

// reasonOf writes a finish reason as OpenAI does, which has fewer of them.
func reasonOf(stop quire.Stop) string {
	switch stop {
	case quire.StopTool:
		return "tool_calls"
	case quire.StopLength, quire.StopWindow:
		return "length"
	case quire.StopRefusal:
		return "content_filter"
	}
	return "stop"
}

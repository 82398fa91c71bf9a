package trace

import "github.com/quire-agent/quire/internal/quire"

// chatUsage reads the usage that came with an answer, as the providers of the
// OpenAI and the Anthropic interface write it and as libraries that speak to
// both hand it on. Where the cached tokens are a part of the prompt tokens they
// are taken out of them.
//
//	prompt_tokens, with prompt_cache_hit_tokens beside it (DeepSeek), or
//	prompt_tokens_details.cached_tokens (OpenAI), or the cache fields of
//	Anthropic: the whole prompt
//	input_tokens with input_tokens_details (OpenAI, Responses): the whole prompt
//	input_tokens otherwise (Anthropic): what no cache had
func chatUsage(v value) quire.Usage {
	var u quire.Usage
	if !v.isObject() {
		return u
	}
	u.CacheRead, u.CacheWrite = cacheTokens(v, &u.Known)
	u.CacheWrite1h = v.get("cache_creation", "ephemeral_1h_input_tokens").integer()
	switch whole := first(v.get("prompt_tokens"), wholeInput(v)); {
	case !whole.isNull():
		u.Known |= quire.KnownInput
		u.Input = whole.integer()
		// A prompt smaller than its cached part was counted without it.
		if rest := u.Input - u.CacheRead - u.CacheWrite; rest >= 0 {
			u.Input = rest
		}
	case !v.get("input_tokens").isNull():
		u.Known |= quire.KnownInput
		u.Input = v.get("input_tokens").integer()
	}
	if out := first(v.get("completion_tokens"), v.get("output_tokens")); !out.isNull() {
		u.Known |= quire.KnownOutput
		u.Output = out.integer()
	}
	u.Reasoning = first(v.get("completion_tokens_details", "reasoning_tokens"),
		v.get("output_tokens_details", "reasoning_tokens")).integer()
	return u
}

func cacheTokens(v value, known *quire.UsageFields) (read, write int64) {
	r := first(v.get("prompt_cache_hit_tokens"), v.get("cache_read_input_tokens"),
		v.get("prompt_tokens_details", "cached_tokens"), v.get("input_tokens_details", "cached_tokens"))
	w := first(v.get("cache_creation_input_tokens"), v.get("prompt_tokens_details", "cache_creation_tokens"))
	if !r.isNull() || !w.isNull() {
		*known |= quire.KnownCache
	}
	return r.integer(), w.integer()
}

// wholeInput is the size of the prompt as the Responses interface writes it.
func wholeInput(v value) value {
	if v.get("input_tokens_details").isObject() {
		return v.get("input_tokens")
	}
	return nil
}

// first is the first value that is there and not null.
func first(of ...value) value {
	for _, v := range of {
		if !v.isNull() {
			return v
		}
	}
	return nil
}

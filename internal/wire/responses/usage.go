package responses

import (
	"encoding/json"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// A usageBody is the usage of an answer. Input_tokens includes what was read from
// and written to the cache.
type usageBody struct {
	Input        *int64 `json:"input_tokens"`
	Output       *int64 `json:"output_tokens"`
	InputDetails struct {
		Cached int64 `json:"cached_tokens"`
		Write  int64 `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	OutputDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

func decodeUsage(raw json.RawMessage) quire.Usage {
	var body usageBody
	if len(raw) == 0 || json.Unmarshal(raw, &body) != nil || body.Input == nil {
		return quire.Usage{}
	}
	u := quire.Usage{
		CacheRead:  body.InputDetails.Cached,
		CacheWrite: body.InputDetails.Write,
		Reasoning:  body.OutputDetails.Reasoning,
		Known:      quire.KnownInput | quire.KnownCache,
	}
	u.Input = *body.Input - u.CacheRead - u.CacheWrite
	if body.Output != nil {
		u.Output = *body.Output
		u.Known |= quire.KnownOutput
	}
	if !u.Plausible() {
		return quire.Usage{}
	}
	return u
}

// keptUsage is usage as it was written, as long as that says the same; nothing
// for usage that is not known.
func keptUsage(u quire.Usage, rest []quire.Field) json.RawMessage {
	if kept := rawjson.Get(rest, "usage"); kept != nil && decodeUsage(kept) == u {
		return kept
	}
	if u.Known == 0 {
		return nil
	}
	return encodeUsage(u)
}

func encodeUsage(u quire.Usage) json.RawMessage {
	var w, input, output rawjson.Writer
	input.Number("cached_tokens", u.CacheRead)
	input.Number("cache_write_tokens", u.CacheWrite)
	output.Number("reasoning_tokens", u.Reasoning)
	w.Number("input_tokens", u.Prompt())
	w.Object("input_tokens_details", &input)
	w.Number("output_tokens", u.Output)
	w.Object("output_tokens_details", &output)
	w.Number("total_tokens", u.Prompt()+u.Output)
	raw, _ := w.Bytes() // numbers cannot fail
	return raw
}

package anthropic

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// usageOf reads usage. The API counts input_tokens without what the cache read
// and wrote, as a [quire.Usage] does.
func usageOf(raw json.RawMessage) quire.Usage {
	var u quire.Usage
	members := rawjson.Members(raw)
	count := func(name string, known quire.UsageFields) int64 {
		value := rawjson.Get(members, name)
		if n, err := strconv.ParseInt(string(value), 10, 64); err == nil {
			u.Known |= known
			return n
		}
		return 0
	}
	u.Input = count("input_tokens", quire.KnownInput)
	u.CacheRead = count("cache_read_input_tokens", quire.KnownCache)
	u.CacheWrite = count("cache_creation_input_tokens", quire.KnownCache)
	u.Output = count("output_tokens", quire.KnownOutput)
	members = rawjson.Members(rawjson.Get(members, "cache_creation"))
	u.CacheWrite1h = count("ephemeral_1h_input_tokens", 0)
	members = rawjson.Members(rawjson.Get(rawjson.Members(raw), "output_tokens_details"))
	u.Reasoning = count("thinking_tokens", 0)
	return u
}

// encodeUsage is the JSON of a usage: the one that was kept if it says the same.
func encodeUsage(u quire.Usage, kept json.RawMessage) json.RawMessage {
	if kept != nil && sameUsage(usageOf(kept), u) {
		return kept
	}
	var w, cache, details rawjson.Writer
	w.Number("input_tokens", u.Input)
	w.Number("cache_creation_input_tokens", u.CacheWrite)
	w.Number("cache_read_input_tokens", u.CacheRead)
	cache.Number("ephemeral_5m_input_tokens", u.CacheWrite-u.CacheWrite1h)
	cache.Number("ephemeral_1h_input_tokens", u.CacheWrite1h)
	w.Object("cache_creation", &cache)
	w.Number("output_tokens", u.Output)
	if u.Reasoning > 0 {
		details.Number("thinking_tokens", u.Reasoning)
		w.Object("output_tokens_details", &details)
	}
	// Numbers and names of our own cannot fail.
	raw, _ := w.Bytes()
	return raw
}

func sameUsage(a, b quire.Usage) bool {
	a.Known, b.Known = a.Known&^quire.OutputAtStart, b.Known&^quire.OutputAtStart
	return a == b
}

// merge puts the members of an object over those of another; null in the new
// one does not hide what was known.
func merge(old, new json.RawMessage) json.RawMessage {
	members := rawjson.Members(old)
	for _, m := range rawjson.Members(new) {
		at := slices.IndexFunc(members, func(o quire.Field) bool { return o.Name == m.Name })
		switch {
		case at < 0:
			members = append(members, m)
		case string(m.Value) != "null":
			members[at].Value = m.Value
		}
	}
	var w rawjson.Writer
	w.Rest(members)
	raw, err := w.Bytes()
	if err != nil {
		return old
	}
	return raw
}

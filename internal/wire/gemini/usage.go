package gemini

import (
	"encoding/json"
	"strconv"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// usageOf reads usageMetadata. The API counts what the cache read as part of the
// prompt and thoughts beside the answer; what its own tools put into the prompt
// is prompt too. It leaves out counts that are zero, so that a prompt that is
// counted is one whose cache is known.
func usageOf(raw json.RawMessage) quire.Usage {
	members := rawjson.Members(raw)
	count := func(name string) (int64, bool) {
		n, err := strconv.ParseInt(string(rawjson.Get(members, name)), 10, 64)
		return n, err == nil
	}
	var u quire.Usage
	prompt, known := count("promptTokenCount")
	if known {
		u.Known |= quire.KnownInput | quire.KnownCache
	}
	tools, _ := count("toolUsePromptTokenCount")
	u.CacheRead, _ = count("cachedContentTokenCount")
	u.Input = prompt + tools - u.CacheRead
	candidates, some := count("candidatesTokenCount")
	thoughts, more := count("thoughtsTokenCount")
	if some || more {
		u.Known |= quire.KnownOutput
	}
	u.Output, u.Reasoning = candidates+thoughts, thoughts
	return u
}

// encodeUsage is the JSON of a usage: the one that was kept if it says the same.
// A cache write has no count of its own here.
func encodeUsage(u quire.Usage, kept json.RawMessage) json.RawMessage {
	if kept != nil && sameUsage(usageOf(kept), u) {
		return kept
	}
	var w rawjson.Writer
	w.Number("promptTokenCount", u.Prompt())
	w.Count("cachedContentTokenCount", u.CacheRead)
	w.Number("candidatesTokenCount", u.Output-u.Reasoning)
	w.Count("thoughtsTokenCount", u.Reasoning)
	w.Number("totalTokenCount", u.Prompt()+u.Output)
	// Numbers and names of our own cannot fail.
	raw, _ := w.Bytes()
	return raw
}

func sameUsage(a, b quire.Usage) bool {
	a.Known, b.Known = 0, 0
	return a == b
}

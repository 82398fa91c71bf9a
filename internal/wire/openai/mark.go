package openai

import (
	"encoding/json"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// The members that ask for a cache entry, in the dialects of OpenAI and of those
// who took over the one of Anthropic (Alibaba, OpenRouter, Moonshot).
const (
	Breakpoint   = "prompt_cache_breakpoint"
	CacheControl = "cache_control"
)

// ReadMark says what the members that ask for a cache entry mean. They stay
// among the others, which is how [WriteMark] knows the dialect.
func ReadMark(rest []quire.Field) quire.Mark {
	for _, name := range [...]string{CacheControl, Breakpoint} {
		if m := markOf(name, rawjson.Get(rest, name)); m != quire.MarkNone {
			return m
		}
	}
	return quire.MarkNone
}

// WriteMark writes the members that ask for a cache entry. It is to be called
// before the rest is written. What stands in the rest is written as it is as long
// as it means the mark; otherwise one member says the mark, by the name that
// stands there or else that of OpenAI. It returns the names that the rest is to
// be written without.
func WriteMark(w *rawjson.Writer, mark quire.Mark, rest []quire.Field) (but []string) {
	if ReadMark(rest) == mark {
		return nil
	}
	name := Breakpoint
	if rawjson.Get(rest, CacheControl) != nil {
		name = CacheControl
	}
	if mark != quire.MarkNone {
		w.Made(name, markLiteral(name, mark))
	}
	return []string{CacheControl, Breakpoint}
}

func markOf(name string, raw json.RawMessage) quire.Mark {
	r, ok := rawjson.Read(raw)
	switch {
	case !ok:
		return quire.MarkNone
	case name == CacheControl && r.Is("type", "ephemeral"):
		return lifetime(r.Text("ttl"), "1h")
	case name == Breakpoint && r.Is("mode", "explicit"):
		return lifetime(r.Text("ttl"), "12h")
	}
	return quire.MarkNone
}

func lifetime(ttl, long string) quire.Mark {
	if ttl == long {
		return quire.MarkLong
	}
	return quire.MarkShort
}

func markLiteral(name string, mark quire.Mark) json.RawMessage {
	switch {
	case name == CacheControl && mark == quire.MarkLong:
		return json.RawMessage(`{"type":"ephemeral","ttl":"1h"}`)
	case name == CacheControl:
		return json.RawMessage(`{"type":"ephemeral"}`)
	case mark == quire.MarkLong:
		return json.RawMessage(`{"mode":"explicit","ttl":"12h"}`)
	}
	return json.RawMessage(`{"mode":"explicit"}`)
}

package anthropic

import (
	"encoding/json"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// choiceModes pairs the modes of a [quire.Choice] with the types of the API.
var choiceModes = [...]struct{ mode, kind string }{{"auto", "auto"}, {"required", "any"}, {"tool", "tool"}, {"none", "none"}}

func takeChoice(r *rawjson.Reader) quire.Choice {
	o, ok := rawjson.Read(r.Peek("tool_choice"))
	if !ok {
		return quire.Choice{}
	}
	for _, m := range choiceModes {
		if o.Is("type", m.kind) {
			r.Take("tool_choice")
			return quire.Choice{Mode: m.mode, Tool: o.Text("name"), Rest: o.Rest()}
		}
	}
	return quire.Choice{}
}

func writeChoice(w *rawjson.Writer, c quire.Choice) {
	for _, m := range choiceModes {
		if m.mode != c.Mode {
			continue
		}
		var o rawjson.Writer
		o.Full("type", m.kind)
		o.Text("name", c.Tool)
		o.Rest(c.Rest)
		w.Object("tool_choice", &o)
	}
}

// takeThinking takes thinking. The effort stands in output_config, which stays
// in the rest as it may hold more.
func takeThinking(r *rawjson.Reader) quire.Thinking {
	t := quire.Thinking{Effort: effortOf(r.Peek("output_config"))}
	o, ok := rawjson.Read(r.Peek("thinking"))
	if !ok {
		return t
	}
	if t.Mode = o.Text("type"); t.Mode != "" {
		r.Take("thinking")
		t.Budget = o.Count("budget_tokens")
		t.Rest = o.Rest()
	}
	return t
}

func effortOf(outputConfig json.RawMessage) string {
	o, ok := rawjson.Read(outputConfig)
	if !ok {
		return ""
	}
	return o.Text("effort")
}

// writeThinking writes thinking and output_config.
func writeThinking(w *rawjson.Writer, t quire.Thinking, rest []quire.Field) {
	if t.Mode != "" {
		var o rawjson.Writer
		o.Full("type", t.Mode)
		o.Count("budget_tokens", int64(t.Budget))
		o.Rest(t.Rest)
		w.Object("thinking", &o)
	}
	kept := rawjson.Get(rest, "output_config")
	if effortOf(kept) == t.Effort {
		w.Raw("output_config", kept)
		return
	}
	var o rawjson.Writer
	o.Text("effort", t.Effort)
	if old, ok := rawjson.Read(kept); ok {
		o.Rest(old.Rest(), "effort")
	}
	w.Object("output_config", &o)
}

const cacheControl = "cache_control"

// takeMark takes cache_control if it says no more than a mark does, and leaves
// it otherwise.
func takeMark(r *rawjson.Reader) quire.Mark {
	raw := r.Peek(cacheControl)
	mark := markOf(raw)
	if o, ok := rawjson.Read(raw); ok && mark != quire.MarkNone {
		o.Take("type")
		if mark == quire.MarkLong {
			o.Is("ttl", "1h")
		}
		if len(o.Rest()) == 0 {
			r.Take(cacheControl)
		}
	}
	return mark
}

// markOf reads cache_control. Lifetimes above five minutes are long.
func markOf(raw json.RawMessage) quire.Mark {
	o, ok := rawjson.Read(raw)
	switch {
	case !ok || !o.Is("type", "ephemeral"):
		return quire.MarkNone
	case o.Peek("ttl") == nil || o.Is("ttl", "5m"):
		return quire.MarkShort
	default:
		return quire.MarkLong
	}
}

// writeMark writes cache_control and the members that ride along: the one that
// was kept in its old form if it says what the mark says.
func writeMark(w *rawjson.Writer, mark quire.Mark, rest []quire.Field) {
	kept := rawjson.Get(rest, cacheControl)
	if kept != nil && markOf(kept) == mark {
		w.Rest(rest)
		return
	}
	switch mark {
	case quire.MarkShort:
		w.Made(cacheControl, json.RawMessage(`{"type":"ephemeral"}`))
	case quire.MarkLong:
		w.Made(cacheControl, json.RawMessage(`{"type":"ephemeral","ttl":"1h"}`))
	}
	w.Rest(rest, cacheControl)
}

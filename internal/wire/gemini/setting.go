package gemini

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

const (
	settingsName = "generationConfig"
	thinkingName = "thinkingConfig"
)

// takeSettings reads generationConfig, and takes it if it holds nothing else.
func takeSettings(r *rawjson.Reader) (maxOutput int, thinking quire.Thinking) {
	maxOutput, thinking, exact := settingsOf(r.Peek(settingsName))
	if exact {
		r.Take(settingsName)
	}
	return maxOutput, thinking
}

func settingsOf(raw json.RawMessage) (maxOutput int, thinking quire.Thinking, exact bool) {
	o, ok := rawjson.Read(raw)
	if !ok {
		return 0, quire.Thinking{}, false
	}
	maxOutput = o.Count("maxOutputTokens")
	if t, ok := rawjson.Read(o.Peek(thinkingName)); ok {
		thinking = decodeThinking(t)
		if !reflect.DeepEqual(thinking, quire.Thinking{}) {
			o.Take(thinkingName)
		}
	}
	said := maxOutput != 0 || !reflect.DeepEqual(thinking, quire.Thinking{})
	return maxOutput, thinking, said && len(o.Rest()) == 0
}

// decodeThinking reads thinkingConfig. A budget of none is the mode disabled.
func decodeThinking(r *rawjson.Reader) quire.Thinking {
	t := quire.Thinking{Budget: r.Count("thinkingBudget")}
	if string(r.Peek("thinkingBudget")) == "0" {
		t.Mode = "disabled"
		r.Take("thinkingBudget")
	}
	level, exact := rawjson.TextOf(r.Peek("thinkingLevel"))
	if lower := strings.ToLower(level); exact && level != "" && strings.ToUpper(lower) == level {
		t.Effort = lower
		r.Take("thinkingLevel")
	}
	t.Rest = r.Rest()
	return t
}

// writeSettings writes generationConfig: the one that was kept if it says the
// same, otherwise with what rode along in it.
func writeSettings(w *rawjson.Writer, c quire.Call) {
	kept := rawjson.Get(c.Rest, settingsName)
	if maxOutput, thinking, _ := settingsOf(kept); kept != nil && maxOutput == c.MaxOutput && reflect.DeepEqual(thinking, c.Thinking) {
		w.Raw(settingsName, kept)
		return
	}
	var o, t rawjson.Writer
	o.Count("maxOutputTokens", int64(c.MaxOutput))
	if c.Thinking.Mode == "disabled" {
		t.Number("thinkingBudget", 0)
	}
	t.Count("thinkingBudget", int64(c.Thinking.Budget))
	t.Text("thinkingLevel", strings.ToUpper(c.Thinking.Effort))
	t.Rest(c.Thinking.Rest)
	writeUnlessEmpty(&o, thinkingName, &t)
	o.Rest(rawjson.Members(kept), "maxOutputTokens", thinkingName)
	writeUnlessEmpty(w, settingsName, &o)
}

func writeUnlessEmpty(w *rawjson.Writer, name string, o *rawjson.Writer) {
	raw, err := o.Bytes()
	if err != nil {
		w.Fail(err)
	}
	if string(raw) != "{}" {
		w.Made(name, raw)
	}
}

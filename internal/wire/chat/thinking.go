package chat

import (
	"encoding/json"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/openai"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// The members of a request that say how much to think, by who invented them.
const (
	effortName = "reasoning_effort" // OpenAI
	modeName   = "thinking"         // DeepSeek, GLM, Kimi: an object with a type
	switchName = "enable_thinking"  // Qwen: true or false
	budgetName = "thinking_budget"  // Qwen: tokens
	routerName = "reasoning"        // OpenRouter: an object
)

// The modes of thinking that a switch has.
const (
	modeOn  = "enabled"
	modeOff = "disabled"
)

// decodeThinking takes what is said about thinking. Each form that is in use is
// named in the Rest, with what it holds beside; when two forms say the same
// thing, the second stays where it is, and beside the form of OpenRouter all do.
func decodeThinking(r *rawjson.Reader) quire.Thinking {
	var t quire.Thinking
	t.Effort = r.Text(effortName)
	if decodeRouter(r, &t) {
		return t
	}
	decodeMode(r, &t)
	if t.Mode == "" {
		if t.Mode = takeSwitch(r, switchName); t.Mode != "" {
			t.Rest = append(t.Rest, quire.Field{Name: switchName, Value: json.RawMessage("true")})
		}
	}
	if t.Budget == 0 {
		if t.Budget = r.Count(budgetName); t.Budget > 0 {
			t.Rest = append(t.Rest, quire.Field{Name: budgetName, Value: json.RawMessage("0")})
		}
	}
	return t
}

func decodeMode(r *rawjson.Reader, t *quire.Thinking) {
	inner, ok := rawjson.Read(r.Peek(modeName))
	if !ok {
		return
	}
	if t.Mode = inner.Text("type"); t.Mode == "" {
		return
	}
	t.Budget = inner.Count("budget_tokens")
	r.Take(modeName)
	t.Rest = append(t.Rest, quire.Field{Name: modeName, Value: openai.Object(inner.Rest())})
}

// decodeRouter reads the form of OpenRouter, unless an effort is given beside it.
func decodeRouter(r *rawjson.Reader, t *quire.Thinking) bool {
	inner, ok := rawjson.Read(r.Peek(routerName))
	if !ok || t.Effort != "" {
		return false
	}
	t.Effort = inner.Text("effort")
	t.Budget = inner.Count("max_tokens")
	t.Mode = takeSwitch(inner, "enabled")
	r.Take(routerName)
	t.Rest = []quire.Field{{Name: routerName, Value: openai.Object(inner.Rest())}}
	return true
}

// takeSwitch takes a member that is true or false as a mode.
func takeSwitch(r *rawjson.Reader, name string) string {
	switch string(r.Peek(name)) {
	case "true":
		r.Take(name)
		return modeOn
	case "false":
		r.Take(name)
		return modeOff
	}
	return ""
}

func writeSwitch(w *rawjson.Writer, name, mode string) {
	switch mode {
	case "":
	case modeOff:
		w.Made(name, json.RawMessage("false"))
	default:
		w.True(name, true)
	}
}

// writeThinking undoes decodeThinking. Where no form is named, an effort goes the
// way of OpenAI, a mode that of DeepSeek and a budget alone that of Qwen; where
// only that of OpenAI is named, there is no place for the others.
func writeThinking(w *rawjson.Writer, t quire.Thinking) {
	forms := t.Rest
	if router := rawjson.Get(forms, routerName); router != nil {
		writeRouter(w, t, router)
		return
	}
	w.Text(effortName, t.Effort)
	if rawjson.Get(forms, effortName) != nil {
		return
	}
	if rawjson.Get(forms, budgetName) != nil || t.Mode == "" {
		w.Count(budgetName, int64(t.Budget))
		t.Budget = 0
	}
	if rawjson.Get(forms, switchName) != nil {
		writeSwitch(w, switchName, t.Mode)
	} else if t.Mode != "" {
		writeMode(w, t)
	}
}

func writeMode(w *rawjson.Writer, t quire.Thinking) {
	writeObject(w, modeName, rawjson.Get(t.Rest, modeName), func(inner *rawjson.Writer) {
		inner.Text("type", t.Mode)
		inner.Count("budget_tokens", int64(t.Budget))
	})
}

func writeRouter(w *rawjson.Writer, t quire.Thinking, left json.RawMessage) {
	writeObject(w, routerName, left, func(inner *rawjson.Writer) {
		inner.Text("effort", t.Effort)
		inner.Count("max_tokens", int64(t.Budget))
		writeSwitch(inner, "enabled", t.Mode)
	})
}

// writeObject writes a member that is an object: what put writes and what is left
// of it beside.
func writeObject(w *rawjson.Writer, name string, left json.RawMessage, put func(*rawjson.Writer)) {
	var inner rawjson.Writer
	put(&inner)
	if r, ok := rawjson.Read(left); ok {
		inner.Rest(r.Rest())
	}
	raw, err := inner.Bytes()
	if err != nil {
		w.Fail(err)
	}
	w.Made(name, raw)
}

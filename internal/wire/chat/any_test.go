package chat

import (
	"strconv"
	"strings"

	"pgregory.net/rapid"
)

// The functions here draw JSON of the shape of a request, with odd values in any
// place.

func anyCall(t *rapid.T) string {
	return object(t, "call", func(name string) string {
		switch name {
		case "messages":
			return list(t, func() string { return anyMessage(t) })
		case "tools":
			return list(t, func() string { return anyTool(t) })
		case "tool_choice":
			return pick(t, `"auto"`, `"none"`, `{"type":"function","function":{"name":"f"}}`, `{"type":"custom","custom":{"name":"f"}}`, `{"type":"function","function":{"name":"f","x":1}}`, anyValue(t))
		case "thinking", "reasoning":
			return pick(t, `{"type":"enabled"}`, `{"type":"disabled","budget_tokens":3,"x":1}`, `{"effort":"low","enabled":true}`, `{"enabled":false}`, `{}`, anyValue(t))
		}
		return anyValue(t)
	}, "model", "messages", "tools", "tool_choice", "stream", "max_tokens", "max_completion_tokens", "thinking", "reasoning", "reasoning_effort", "enable_thinking", "thinking_budget", "user", "")
}

func anyMessage(t *rapid.T) string {
	return object(t, "message", func(name string) string {
		switch name {
		case "role":
			return pick(t, `"user"`, `"assistant"`, `"tool"`, `"system"`, `"developer"`, `"function"`, anyValue(t))
		case "content":
			return list(t, func() string { return anyPart(t) })
		case "tool_calls":
			return list(t, func() string { return anyToolCall(t) })
		case "reasoning_details":
			return pick(t, `[{"type":"reasoning.text"}]`, `[]`, anyValue(t))
		}
		return anyValue(t)
	}, "role", "role", "content", "tool_calls", "tool_call_id", "name", "reasoning", "reasoning_content", "reasoning_details", "refusal")
}

func anyPart(t *rapid.T) string {
	return object(t, "part", func(name string) string {
		switch name {
		case "type":
			return pick(t, `"text"`, `"image_url"`, `"file"`, `"refusal"`, `"thinking"`, `"input_audio"`, anyValue(t))
		case "image_url", "file":
			return pick(t, `"data:image/png;base64,AAEC"`, `{"url":"data:a/b;base64,AAEC"}`, `{"url":"data:a/b;base64,AAEC","file_data":"data:a/b;base64,AAED"}`, `{"url":"https://e.example"}`, anyValue(t))
		case "cache_control", "prompt_cache_breakpoint":
			return pick(t, `{"type":"ephemeral"}`, `{"type":"ephemeral","ttl":"1h"}`, `{"mode":"explicit"}`, anyValue(t))
		case "thinking":
			return pick(t, `[{"type":"text","text":"x"}]`, `[{"type":"text","text":""}]`, `[]`, anyValue(t))
		}
		return anyValue(t)
	}, "type", "type", "text", "image_url", "file", "cache_control", "prompt_cache_breakpoint", "refusal", "thinking", "role", "content")
}

func anyToolCall(t *rapid.T) string {
	return object(t, "tool call", func(name string) string {
		switch name {
		case "type":
			return pick(t, `"function"`, `"custom"`, anyValue(t))
		case "function", "custom":
			return object(t, "function", func(string) string { return anyValue(t) }, "name", "arguments", "input", "x")
		}
		return anyValue(t)
	}, "id", "type", "function", "custom", "index")
}

func anyTool(t *rapid.T) string {
	return object(t, "tool", func(name string) string {
		switch name {
		case "type":
			return pick(t, `"function"`, `"custom"`, `"builtin_function"`, anyValue(t))
		case "function", "custom":
			return object(t, "function", func(string) string { return anyValue(t) }, "name", "description", "parameters", "strict")
		}
		return anyValue(t)
	}, "type", "function", "custom", "cache_control", "name")
}

func anyValue(t *rapid.T) string {
	return pick(t, `"x"`, `""`, `null`, `true`, `false`, `0`, `7`, `7.0`, `-1`, `[]`, `{}`, `{"a":[1e2]}`, `"\ud800"`, `"é\n\"\u0000"`, `["x"]`)
}

func pick(t *rapid.T, values ...string) string {
	return rapid.SampledFrom(values).Draw(t, "value")
}

// list is a list of elements most of the time, otherwise any value.
func list(t *rapid.T, element func() string) string {
	n := rapid.IntRange(-1, 3).Draw(t, "length")
	if n < 0 {
		return anyValue(t)
	}
	var elements []string
	for range n {
		elements = append(elements, element())
	}
	return "[" + strings.Join(elements, " ,") + "]"
}

// object is an object with some of the names most of the time.
func object(t *rapid.T, label string, value func(string) string, names ...string) string {
	chosen := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, len(names)-2, rapid.ID[string]).Draw(t, label)
	if len(chosen) == 0 {
		return pick(t, `{}`, anyValue(t))
	}
	var members []string
	for _, name := range chosen {
		members = append(members, strconv.Quote(name)+": "+value(name))
	}
	return "{" + strings.Join(members, ",") + "}"
}

package responses

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
		case "input":
			return list(t, func() string { return anyItem(t) })
		case "tools":
			return list(t, func() string {
				return object(t, "tool", func(string) string { return anyValue(t) }, "type", "name", "description", "parameters", "strict", "prompt_cache_breakpoint")
			})
		case "tool_choice":
			return pick(t, `"auto"`, `{"type":"function","name":"f"}`, `{"type":"custom","name":"f"}`, `{"type":"function","name":"f","x":1}`, anyValue(t))
		case "reasoning":
			return pick(t, `{"effort":"low"}`, `{"summary":"auto"}`, `{"effort":"high","summary":null}`, `{}`, anyValue(t))
		}
		return anyValue(t)
	}, "model", "input", "instructions", "tools", "tool_choice", "stream", "max_output_tokens", "reasoning", "store")
}

func anyItem(t *rapid.T) string {
	return object(t, "item", func(name string) string {
		switch name {
		case "type":
			return pick(t, `"message"`, `"reasoning"`, `"function_call"`, `"custom_tool_call"`, `"function_call_output"`, `"custom_tool_call_output"`, `"additional_tools"`, `"x_call"`, `"compaction"`, anyValue(t))
		case "role":
			return pick(t, `"user"`, `"assistant"`, `"system"`, `"developer"`, anyValue(t))
		case "content", "output":
			return list(t, func() string { return anyPart(t) })
		case "summary":
			return pick(t, `[]`, `[{"type":"summary_text","text":"a"}]`, `[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b","x":1}]`, `[{"type":"summary_text","text":""}]`, anyValue(t))
		}
		return anyValue(t)
	}, "type", "role", "content", "id", "call_id", "name", "arguments", "input", "output", "summary", "encrypted_content", "status", "message", "item")
}

func anyPart(t *rapid.T) string {
	return object(t, "part", func(name string) string {
		switch name {
		case "type":
			return pick(t, `"input_text"`, `"output_text"`, `"text"`, `"refusal"`, `"input_image"`, `"input_file"`, `"reasoning_text"`, anyValue(t))
		case "image_url", "file_data":
			return pick(t, `"data:image/png;base64,AAEC"`, `"https://e.example"`, `"data:a/b;base64,AAED"`, anyValue(t))
		case "prompt_cache_breakpoint":
			return pick(t, `{"mode":"explicit"}`, `{"mode":"explicit","ttl":"12h"}`, anyValue(t))
		}
		return anyValue(t)
	}, "type", "text", "refusal", "image_url", "file_data", "file_url", "prompt_cache_breakpoint", "role", "message", "item")
}

func anyValue(t *rapid.T) string {
	return pick(t, `"x"`, `""`, `null`, `true`, `false`, `0`, `7`, `7.0`, `-1`, `[]`, `{}`, `{"a":[1e2]}`, `"\ud800"`, `"é\n\"\u0000"`, `["x"]`)
}

func pick(t *rapid.T, values ...string) string {
	return rapid.SampledFrom(values).Draw(t, "value")
}

// list is a list of elements most of the time, otherwise any value.
func list(t *rapid.T, element func() string) string {
	n := rapid.IntRange(-1, 4).Draw(t, "length")
	if n < 0 {
		return anyValue(t)
	}
	var elements []string
	for range n {
		elements = append(elements, element())
	}
	return "[" + strings.Join(elements, " ,") + "]"
}

// object is an object with some of the names, always the first two, most of the
// time.
func object(t *rapid.T, label string, value func(string) string, names ...string) string {
	chosen := rapid.SliceOfNDistinct(rapid.SampledFrom(names[2:]), 0, 5, rapid.ID[string]).Draw(t, label)
	if len(chosen) == 5 {
		return anyValue(t)
	}
	var members []string
	for _, name := range append(names[:2:2], chosen...) {
		members = append(members, strconv.Quote(name)+": "+value(name))
	}
	return "{" + strings.Join(members, ",") + "}"
}

package gatewaytest

import (
	"fmt"
	"strings"
)

// inParts writes a text as a list of one part of that type.
func inParts(e object, kind string) object {
	if c := e.get("content"); strings.HasPrefix(c, `"`) {
		return e.with("content", fmt.Sprintf(`[{"type":"%s","text":%s}]`, kind, c))
	}
	return e
}

// ofRole changes the elements of a role.
func ofRole(list, role string, change func(e object) []object) func(int, object) object {
	return entries(list, func(_ int, e object) []object {
		if e.text("role") == role {
			return change(e)
		}
		return same(e)
	})
}

func chatHabits() []habit {
	role := func(name string, change func(e object) []object) func(int, object) object {
		return ofRole("messages", name, change)
	}
	return []habit{
		{name: "parts", reads: true, body: entries("messages", func(_ int, e object) []object { return same(inParts(e, "text")) })},
		{name: "parts of tools", body: role("tool", func(e object) []object { return same(inParts(e, "text")) })},
		{name: "developer", body: role("system", func(e object) []object { return same(e.with("role", `"developer"`)) })},
		{name: "two system messages", body: role("system", func(e object) []object {
			return []object{objectOf(`{"role":"system","content":"You are a helper."}`), e}
		})},
		{name: "system messages between", body: role("user", func(e object) []object {
			return []object{objectOf(`{"role":"system","content":"The user comes back."}`), e}
		})},
		{name: "no system", body: role("system", func(object) []object { return nil })},
		{name: "empty content beside calls", reads: true, body: role("assistant", func(e object) []object {
			if e.get("tool_calls") != "" && e.get("content") == "null" {
				e = e.with("content", `""`)
			}
			return same(e)
		})},
		{name: "no content beside calls", body: role("assistant", func(e object) []object {
			if e.get("tool_calls") != "" && e.get("content") == "null" {
				e = e.without("content")
			}
			return same(e)
		})},
		{name: "all members of an answer", body: role("assistant", func(e object) []object {
			return same(e.with("refusal", "null").with("annotations", "[]").with("audio", "null").with("function_call", "null"))
		})},
		{name: "names", body: both(role("user", func(e object) []object { return same(e.with("name", `"ann"`)) }), role("tool", func(e object) []object {
			return same(e.with("name", `"read"`))
		}))},
		{name: "reasoning that comes back", body: role("assistant", func(e object) []object { return same(e.with("reasoning_content", `"So be it."`)) })},
		{name: "settings", body: members(`{"temperature":0,"top_p":1,"n":1,"stop":["STOP"],"presence_penalty":0,"frequency_penalty":0,"logit_bias":{},"seed":7,"user":"u","parallel_tool_calls":false,"service_tier":"auto","metadata":{"a":"b"},"prompt_cache_key":"k","safety_identifier":"s","verbosity":"low","reasoning_effort":"low"}`)},
		{name: "kept by the provider", body: members(`{"store":true}`), relayed: true},
		{name: "not kept by the provider", body: members(`{"store":false}`)},
		{name: "probabilities", body: members(`{"logprobs":true,"top_logprobs":2}`)},
		{name: "form of the answer", body: members(`{"response_format":{"type":"json_schema","json_schema":{"name":"a","strict":true,"schema":{"type":"object"}}}}`)},
		{name: "usage at the end", body: func(_ int, o object) object {
			if o.get("stream") == "true" {
				o = o.with("stream_options", `{"include_usage":true}`)
			}
			return o
		}},
		{name: "limit", body: members(`{"max_tokens":4000}`)},
		{name: "newer limit", body: members(`{"max_completion_tokens":4000}`)},
		{name: "both limits", body: members(`{"max_tokens":4000,"max_completion_tokens":4000}`), refused: true},
		{name: "auto", body: members(`{"tool_choice":"auto"}`)},
		{name: "required", body: members(`{"tool_choice":"required"}`), relayed: true},
		{name: "none", body: members(`{"tool_choice":"none"}`), relayed: true},
		{name: "one tool", body: members(`{"tool_choice":{"type":"function","function":{"name":"read"}}}`), relayed: true},
		{name: "strict tools", body: func(_ int, o object) object {
			return o.each("tools", func(_ int, t object) []object {
				return same(t.with("function", objectOf(t.get("function")).with("strict", "false").String()))
			})
		}},
		{name: "free text tool", reads: true, body: func(_ int, o object) object {
			return o.with("tools", strings.TrimSuffix(o.get("tools"), "]")+`,{"type":"custom","custom":{"name":"patch","description":"It patches."}}]`)
		}},
		{name: "functions of old", mute: true, relayed: true, body: func(_ int, o object) object {
			return o.without("tools").with("functions", `[{"name":"read","description":"It reads.","parameters":{"type":"object"}}]`).with("function_call", `"auto"`)
		}},
		{name: "pictures", body: role("user", func(e object) []object {
			return same(e.with("content", fmt.Sprintf(`[{"type":"text","text":%s},{"type":"image_url","image_url":{"url":"data:image/png;base64,%s","detail":"low"}},{"type":"image_url","image_url":{"url":"https://example.org/a.png"}}]`, e.get("content"), onePixel)))
		})},
		{name: "files", body: role("user", func(e object) []object {
			return same(e.with("content", fmt.Sprintf(`[{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,%s"}},{"type":"text","text":%s}]`, onePage, e.get("content"))))
		})},
		{name: "marks of another vendor", body: role("system", func(e object) []object {
			return same(e.with("content", fmt.Sprintf(`[{"type":"text","text":%s,"cache_control":{"type":"ephemeral"}}]`, e.get("content"))))
		})},
		{name: "model behind a router", model: "anthropic/claude-sonnet-4.5", body: role("system", func(e object) []object { return same(e) })},
		{name: "model that nobody knows", model: "house-model-7b", relayed: true},
		{name: "steps of a cheap model", model: "deepseek-chat"},
		{name: "a clock in the system prompt", body: func(n int, o object) object {
			return role("system", func(e object) []object {
				return same(e.with("content", quoted(fmt.Sprintf("It is %02d:00. %s", n, e.text("content")))))
			})(n, o)
		}},
		{name: "surroundings in the last words only", body: surrounded("messages", "content")},
		{name: "tools in another order", body: shuffled},
		{name: "two models in turn", body: func(n int, o object) object {
			return o.with("model", quoted([]string{"gpt-5.5", "gpt-5.4"}[n%2]))
		}},
		{name: "a window that slides", quiet: true, body: slid("messages", func(e object) bool { return e.text("role") == "user" })},
		{name: "a member that nobody knows", body: members(`{"wish":1}`), refused: true},
	}
}

// breakpoints marks the last words of a user, and what is in front, as newer models
// have it.
func breakpoints(list, kind string) func(int, object) object {
	return func(_ int, o object) object {
		last := -1
		for i, e := range o.elements(list) {
			if objectOf(e).text("role") == "user" {
				last = i
			}
		}
		return o.each(list, func(i int, e object) []object {
			if i == last {
				e = e.with("content", fmt.Sprintf(`[{"type":"%s","text":%s,"prompt_cache_breakpoint":{"mode":"explicit"}}]`, kind, e.get("content")))
			}
			return same(e)
		})
	}
}

func responsesHabits() []habit {
	items := func(kind string, change func(e object) []object) func(int, object) object {
		return entries("input", func(_ int, e object) []object {
			if e.text("type") == kind || kind == "user" && e.text("role") == "user" {
				return change(e)
			}
			return same(e)
		})
	}
	return []habit{
		{name: "parts", reads: true, body: items("user", func(e object) []object { return same(inParts(e, "input_text")) })},
		{name: "typed messages", body: items("user", func(e object) []object { return same(inParts(e, "input_text").with("type", `"message"`)) })},
		{name: "a text for input", body: func(n int, o object) object {
			if n == 0 {
				o = o.with("input", objectOf(o.elements("input")[0]).get("content"))
			}
			return o
		}},
		{name: "developer", body: func(_ int, o object) object {
			head := fmt.Sprintf(`{"role":"developer","content":%s}`, o.get("instructions"))
			return o.without("instructions").with("input", arrayOf(append([]string{head}, o.elements("input")...)))
		}},
		{name: "system", body: func(_ int, o object) object {
			head := fmt.Sprintf(`{"role":"system","content":[{"type":"input_text","text":%s}]}`, o.get("instructions"))
			return o.without("instructions").with("input", arrayOf(append([]string{head}, o.elements("input")...)))
		}},
		{name: "developer between", body: items("user", func(e object) []object {
			return []object{objectOf(`{"type":"message","role":"developer","content":[{"type":"input_text","text":"The user comes back."}]}`), e}
		})},
		{name: "no ids", body: entries("input", func(_ int, e object) []object { return same(e.without("id", "status")) })},
		{name: "outputs in parts", body: items("function_call_output", func(e object) []object {
			return same(e.with("output", fmt.Sprintf(`[{"type":"input_text","text":%s}]`, e.get("output"))))
		})},
		{name: "outputs with pictures", body: items("function_call_output", func(e object) []object {
			return same(e.with("output", fmt.Sprintf(`[{"type":"input_text","text":%s},{"type":"input_image","image_url":"data:image/png;base64,%s"}]`, e.get("output"), onePixel)))
		})},
		{name: "outputs with a state", body: items("function_call_output", func(e object) []object { return same(e.with("status", `"completed"`)) })},
		{name: "pictures and files", body: items("user", func(e object) []object {
			return same(e.with("content", fmt.Sprintf(`[{"type":"input_text","text":%s},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,%s"},{"type":"input_image","image_url":"https://example.org/a.png"},{"type":"input_file","file_id":"file-1"},{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,%s"}]`, e.get("content"), onePixel, onePage)))
		})},
		{name: "reasoning", reads: true, body: members(`{"include":["reasoning.encrypted_content"],"reasoning":{"effort":"low","summary":"auto"}}`)},
		{name: "reasoning without its content", body: members(`{"reasoning":{"effort":"low"}}`)},
		{name: "reasoning, newer model", model: "gpt-6.2-sol", body: members(`{"include":["reasoning.encrypted_content"],"reasoning":{"effort":"low","summary":"auto"}}`)},
		{name: "newer model", model: "gpt-6.2-sol"},
		{name: "breakpoints", model: "gpt-6.2-sol", body: both(members(`{"prompt_cache_options":{"mode":"explicit","ttl":"30m"}}`), breakpoints("input", "input_text"))},
		{name: "settings", body: members(`{"temperature":0,"top_p":1,"parallel_tool_calls":false,"service_tier":"auto","metadata":{"a":"b"},"prompt_cache_key":"k","safety_identifier":"s","user":"u","text":{"format":{"type":"text"},"verbosity":"low"},"max_output_tokens":4000,"client_metadata":{"turn":"1"}}`)},
		{name: "shortened by the provider", body: members(`{"truncation":"auto"}`)},
		{name: "compacted by the provider", body: members(`{"context_management":[{"type":"compaction","compact_threshold":100000}]}`)},
		{name: "kept by the provider", body: members(`{"store":true}`), relayed: true},
		{name: "kept where nothing is said", body: func(_ int, o object) object { return o.without("store") }},
		{name: "behind an answer that nobody has", body: members(`{"previous_response_id":"resp_nobody"}`), refused: true},
		{name: "no answer before", body: members(`{"previous_response_id":null,"conversation":null,"background":false}`)},
		{name: "in the background", body: members(`{"background":true,"store":true}`), relayed: true},
		{name: "form of the answer", body: members(`{"text":{"format":{"type":"json_schema","name":"a","strict":true,"schema":{"type":"object"}}}}`)},
		{name: "required", body: members(`{"tool_choice":"required"}`), relayed: true},
		{name: "none", body: members(`{"tool_choice":"none"}`), relayed: true},
		{name: "allowed tools", body: members(`{"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"read"}]}}`), relayed: true},
		{name: "tools of the vendor", body: func(_ int, o object) object {
			return o.with("tools", strings.TrimSuffix(o.get("tools"), "]")+`,{"type":"web_search"},{"type":"custom","name":"patch","description":"It patches.","format":{"type":"text"}},{"type":"local_shell"}]`)
		}},
		{name: "strict tools", body: func(_ int, o object) object {
			return o.each("tools", func(_ int, t object) []object { return same(t.with("strict", "null")) })
		}},
		{name: "tools among the messages", relayed: true, body: func(_ int, o object) object {
			head := fmt.Sprintf(`{"type":"additional_tools","tools":%s}`, o.get("tools"))
			return o.without("tools").with("input", arrayOf(append([]string{head}, o.elements("input")...)))
		}},
		{name: "a clock in the instructions", body: func(n int, o object) object {
			return o.with("instructions", quoted(fmt.Sprintf("It is %02d:00. %s", n, o.text("instructions"))))
		}},
		{name: "surroundings in the last words only", body: surrounded("input", "content")},
		{name: "tools in another order", body: shuffled},
		{name: "two models in turn", body: func(n int, o object) object {
			return o.with("model", quoted([]string{"gpt-5.5", "gpt-5.4"}[n%2]))
		}},
		{name: "a window that slides", quiet: true, body: slid("input", func(e object) bool { return e.text("role") == "user" })},
		{name: "a member that nobody knows", body: members(`{"wish":1}`), refused: true},
	}
}

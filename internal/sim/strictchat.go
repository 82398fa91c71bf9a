package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// chatKnown lists the members of a request of Chat Completions, those that other
// vendors added included, as their servers are reached by this API too. Source: the
// vendors' references.
var chatKnown = [...]string{
	"model", "messages", "audio", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs", "max_completion_tokens",
	"max_tokens", "metadata", "modalities", "n", "parallel_tool_calls", "prediction", "presence_penalty", "prompt_cache_key",
	"prompt_cache_options", "prompt_cache_retention", "reasoning_effort", "response_format", "safety_identifier", "seed", "service_tier",
	"stop", "store", "stream", "stream_options", "temperature", "tool_choice", "tools", "top_logprobs", "top_p", "user", "verbosity",
	"web_search_options", "search_parameters", "thinking", "enable_thinking", "thinking_budget", "reasoning", "chat_template_kwargs",
	"usage", "provider", "top_k", "min_p", "options", "keep_alive", "cache_prompt",
}

func missing(name string) *refusal {
	return invalid("Missing required parameter: '%s'.", name).at(name).called("missing_required_parameter")
}

func emptyArray(name string) *refusal {
	return invalid("Invalid '%s': empty array. Expected an array with minimum length 1, but got an empty array instead.", name).at(name).called("empty_array")
}

func wrongType(name, want string) *refusal {
	return invalid("Invalid type for '%s': expected %s.", name, want).at(name).called("invalid_type")
}

func (j *judge) chatSettings() *refusal {
	c := j.call
	if name := unknown(c.Rest, chatKnown[:]...); name != "" {
		return invalid("Unrecognized request argument supplied: %s", name)
	}
	switch list := rawjson.Get(c.Rest, "messages"); {
	case c.Model == "":
		return invalid("you must provide a model parameter")
	case len(c.Messages)+len(c.System) > 0:
	case list == nil:
		return missing("messages")
	case !rawjson.IsArray(list):
		return wrongType("messages", "an array of objects")
	default:
		return emptyArray("messages")
	}
	if old, now := rawjson.Get(c.Rest, "max_tokens"), rawjson.Get(c.Rest, "max_completion_tokens"); old != nil && now != nil {
		return invalid("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.").called("invalid_parameter_combination")
	}
	return nil
}

func (j *judge) chatTools() *refusal {
	if list := rawjson.Get(j.call.Rest, "tools"); rawjson.IsArray(list) {
		if len(rawjson.Elements(list)) == 0 {
			return invalid("Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.").at("tools").called("empty_array")
		}
		return missing("tools[0].type")
	}
	return j.openaiTools("tools[%d].function.name")
}

// openaiTools looks at the names of tools; place is where one stands.
func (j *judge) openaiTools(place string) *refusal {
	seen := map[string]bool{}
	for i, t := range j.call.Tools {
		at := fmt.Sprintf(place, i)
		switch {
		case t.Type != "" && t.Type != "custom":
			continue
		case t.Name == "":
			return missing(at)
		case !named(t.Name, 64):
			return invalid("Invalid '%s': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", at).at(at).called("invalid_value")
		case seen[t.Name]:
			return invalid("Invalid '%s': tool names must be unique, '%s' stands there twice.", at, t.Name).at(at).called("invalid_value")
		}
		seen[t.Name] = true
	}
	if c := j.call.Choice; c.Mode == "tool" && !seen[c.Tool] {
		return invalid("Tool choice '%s' not found in 'tools' parameter.", c.Tool).at("tool_choice")
	}
	if c := j.call.Choice; c.Mode != "" && len(j.call.Tools) == 0 && j.api == Chat {
		return invalid("Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.").at("tool_choice")
	}
	return nil
}

// chatMessages looks at each message by itself. Leading system messages stand
// apart, so the numbers go on behind them.
func (j *judge) chatMessages() *refusal {
	for i, m := range j.call.Messages {
		if r := chatMessage(fmt.Sprintf("messages[%d]", i+j.leading()), m); r != nil {
			return r
		}
	}
	return nil
}

// leading is how many messages the system prompt was.
func (j *judge) leading() int {
	n := 0
	for i, b := range j.call.System {
		if i == 0 || rawjson.Get(b.Rest, "role") != nil {
			n++
		}
	}
	return n
}

func chatMessage(at string, m quire.Message) *refusal {
	content := rawjson.Get(m.Rest, "content")
	switch {
	case m.Role == 0:
		return chatUnknown(at, m)
	case m.Role == quire.RoleAssistant && len(m.Blocks) == 0 && (content == nil || string(content) == "null"):
		return invalid("Invalid value for 'content': expected a string, got null.").at(at + ".content")
	case m.Role == quire.RoleAssistant || m.Role == quire.RoleTool:
		return chatParts(at, m)
	case content == nil && len(m.Blocks) == 0, string(content) == "null":
		return invalid("Invalid value for 'content': expected a string, got null.").at(at + ".content")
	case rawjson.IsArray(content):
		return emptyArray(at + ".content")
	}
	return chatParts(at, m)
}

// chatUnknown refuses a message that could not be taken apart.
func chatUnknown(at string, m quire.Message) *refusal {
	members := rawjson.Members(m.Blocks[0].Opaque)
	role, _ := rawjson.TextOf(rawjson.Get(members, "role"))
	switch role {
	case "":
		return missing(at + ".role")
	case "tool":
		return missing(at + ".content")
	case "function":
		return nil
	}
	return invalid("Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.", role).at(at + ".role").called("invalid_value")
}

func chatParts(at string, m quire.Message) *refusal {
	for k, b := range m.Blocks {
		if b.Opaque == nil {
			continue
		}
		kind, _ := rawjson.TextOf(rawjson.Get(rawjson.Members(b.Opaque), "type"))
		if !slices.Contains([]string{"input_audio", "video_url", "document_url", "thinking", "file"}, kind) {
			return invalid("Invalid value: '%s'. Supported values are: 'text', 'image_url', 'input_audio', 'refusal', 'audio', and 'file'.", kind).
				at(fmt.Sprintf("%s.content[%d].type", at, k)).called("invalid_value")
		}
	}
	return nil
}

// chatPairs holds that the calls of an answer are all answered by the messages of
// tools right behind it, each once.
func (j *judge) chatPairs() *refusal {
	open := []string{}
	for i, m := range j.call.Messages {
		at := fmt.Sprintf("messages[%d]", i+j.leading())
		if m.Role == quire.RoleTool {
			id := m.Blocks[0].ToolUse
			found := slices.Index(open, id)
			if id == "" {
				return missing(at + ".tool_call_id")
			}
			if found < 0 {
				return invalid("Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.").at(at + ".role")
			}
			open = slices.Delete(open, found, found+1)
			continue
		}
		if r := chatUnanswered(open); r != nil {
			return r
		}
		open = callsOf(m)
	}
	return chatUnanswered(open)
}

func chatUnanswered(open []string) *refusal {
	if len(open) == 0 {
		return nil
	}
	return invalid("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(open, ", ")).at("messages")
}

func callsOf(m quire.Message) []string {
	var ids []string
	for _, b := range m.Blocks {
		if is(b, quire.PartToolCall) {
			ids = append(ids, b.ToolUse)
		}
	}
	return ids
}

// openaiMarks bounds explicit cache breakpoints.
func (j *judge) openaiMarks() *refusal {
	n := 0
	count := func(b quire.Block) {
		if deepMark(b) != quire.MarkNone {
			n++
		}
	}
	for _, b := range j.call.System {
		count(b)
	}
	_ = j.eachBlock(func(_, _ int, _ quire.Role, b quire.Block) *refusal { count(b); return nil })
	if n > 4 {
		return invalid("Too many prompt cache breakpoints: at most 4 may be set in a request, found %d.", n).called("too_many_prompt_cache_breakpoints")
	}
	return nil
}

// responsesKnown lists the members of a request of Responses. Source: the vendor's
// reference; client_metadata is what its own client sends.
var responsesKnown = [...]string{
	"model", "input", "background", "context_management", "conversation", "include", "instructions", "max_output_tokens", "max_tool_calls",
	"metadata", "parallel_tool_calls", "previous_response_id", "prompt", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention",
	"reasoning", "safety_identifier", "service_tier", "store", "stream", "stream_options", "temperature", "text", "tool_choice", "tools",
	"top_logprobs", "top_p", "truncation", "user", "client_metadata", "generate",
}

func (j *judge) responsesSettings() *refusal {
	c := j.call
	if name := unknown(c.Rest, responsesKnown[:]...); name != "" {
		return invalid("Unknown parameter: '%s'.", name).at(name).called("unknown_parameter")
	}
	if id, _ := rawjson.TextOf(rawjson.Get(c.Rest, "previous_response_id")); id != "" {
		return invalid("Previous response with id '%s' not found.", id).at("previous_response_id").called("previous_response_not_found")
	}
	switch input := rawjson.Get(c.Rest, "input"); {
	case c.Model == "":
		return missing("model")
	case len(c.Messages)+len(c.System) > 0 && input == nil:
		return nil
	case input == nil:
		return missing("input")
	case rawjson.IsArray(input) && len(c.System) == 0:
		return emptyArray("input")
	case !rawjson.IsArray(input) && !rawjson.IsString(input):
		return wrongType("input", "one of a string or array of input items")
	}
	return nil
}

func (j *judge) responsesTools() *refusal {
	if list := rawjson.Get(j.call.Rest, "tools"); len(rawjson.Elements(list)) > 0 {
		return missing("tools[0].type")
	}
	return j.openaiTools("tools[%d].name")
}

// responsesItems refuses items without a role and parts of unknown types.
func (j *judge) responsesItems() *refusal {
	return j.eachBlock(func(i, k int, role quire.Role, b quire.Block) *refusal {
		if b.Opaque == nil {
			return nil
		}
		members := rawjson.Members(b.Opaque)
		kind, _ := rawjson.TextOf(rawjson.Get(members, "type"))
		switch {
		case role != 0 && kind == "":
			return missing(fmt.Sprintf("input[%d].type", i))
		case role == 0 && (kind == "" || kind == "message"):
			return missing(fmt.Sprintf("input[%d].role", i))
		case role == 0 && !slices.Contains([]string{"item_reference", "compaction_trigger"}, kind):
			return invalid("Invalid value: '%s'. Supported values are: 'message', 'function_call', 'function_call_output', 'custom_tool_call', 'custom_tool_call_output', 'reasoning', 'item_reference', and others.", kind).
				at(fmt.Sprintf("input[%d].type", i)).called("invalid_value")
		case kind == "function_call", kind == "custom_tool_call":
			return wrongType(fmt.Sprintf("input[%d].arguments", i), "a string")
		}
		return nil
	})
}

// responsesPairs holds that each call has its one output somewhere behind it, and
// each output its call before it.
func (j *judge) responsesPairs() *refusal {
	calls, outputs := map[string]bool{}, map[string]bool{}
	var order []string
	r := j.eachBlock(func(_, _ int, _ quire.Role, b quire.Block) *refusal {
		switch {
		case is(b, quire.PartToolCall) && calls[b.ToolUse]:
			return invalid("Duplicate function call with call_id %s.", b.ToolUse).at("input")
		case is(b, quire.PartToolCall):
			calls[b.ToolUse] = true
			order = append(order, b.ToolUse)
		case is(b, quire.PartToolResult) && !calls[b.ToolUse]:
			return invalid("No tool call found for function call output with call_id %s.", b.ToolUse).at("input")
		case is(b, quire.PartToolResult) && outputs[b.ToolUse]:
			return invalid("Duplicate function call output with call_id %s.", b.ToolUse).at("input")
		case is(b, quire.PartToolResult):
			outputs[b.ToolUse] = true
		}
		return nil
	})
	for _, id := range order {
		if r == nil && !outputs[id] {
			return invalid("No tool output found for function call %s.", id).at("input")
		}
	}
	return r
}

// responsesReasoning holds that reasoning is followed by what it led to, and that
// what is encrypted was made here for this model.
func (j *judge) responsesReasoning() *refusal {
	for _, m := range j.call.Messages {
		for k, b := range m.Blocks {
			if !is(b, quire.PartThinking) {
				continue
			}
			id, _ := rawjson.TextOf(rawjson.Get(b.Rest, "id"))
			if b.Signature != "" && !j.signer.genuine(j.call.Model, b.Text, b.Signature) {
				return invalid("The encrypted content for item %s could not be verified.", first(id, "rs")).called("invalid_encrypted_content")
			}
			follows := func(b quire.Block) bool { return b.Kind != quire.PartThinking }
			if !slices.ContainsFunc(m.Blocks[k:], follows) {
				return invalid("Item '%s' of type 'reasoning' was provided without its required following item.", first(id, "rs")).at("input")
			}
		}
	}
	return nil
}

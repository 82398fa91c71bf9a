package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// messagesKnown lists the members of a request of the Messages API. Source: the
// vendor's reference.
var messagesKnown = [...]string{
	"model", "messages", "max_tokens", "system", "metadata", "stop_sequences", "stream", "temperature", "top_k", "top_p",
	"tools", "tool_choice", "thinking", "container", "context_management", "mcp_servers", "service_tier", "output_config",
	"output_format", "cache_control", "inference_geo", "speed", "diagnostics",
}

func (j *judge) messagesSettings() *refusal {
	c := j.call
	if name := unknown(c.Rest, messagesKnown[:]...); name != "" {
		return invalid("%s: Extra inputs are not permitted", name)
	}
	switch {
	case c.Model == "":
		return invalid("model: Field required")
	case c.MaxOutput == 0 && !j.count && rawjson.Get(c.Rest, "max_tokens") == nil:
		return invalid("max_tokens: Field required")
	case c.MaxOutput == 0 && !j.count:
		return invalid("max_tokens: Input should be greater than or equal to 1")
	case has(c.Rest, "messages") && !rawjson.IsArray(rawjson.Get(c.Rest, "messages")):
		return invalid("messages: Input should be a valid list")
	case len(c.Messages) == 0 && rawjson.Get(c.Rest, "messages") == nil:
		return invalid("messages: Field required")
	case len(c.Messages) == 0:
		return invalid("messages: at least one message is required")
	}
	return j.messagesBudget()
}

// messagesBudget looks at how thinking is asked for.
func (j *judge) messagesBudget() *refusal {
	t := j.call.Thinking
	switch {
	case t.Mode == "":
		return nil
	case !slices.Contains([]string{"enabled", "adaptive", "disabled"}, t.Mode):
		return invalid("thinking: Input tag '%s' found using 'type' does not match any of the expected tags: 'adaptive', 'disabled', 'enabled'", t.Mode)
	case t.Mode != "enabled":
	case t.Budget == 0:
		return invalid("thinking.enabled.budget_tokens: Field required")
	case t.Budget < 1024:
		return invalid("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
	case t.Budget >= j.call.MaxOutput && !j.count:
		return invalid("`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size")
	}
	if m := j.call.Choice.Mode; t.Mode != "disabled" && (m == "required" || m == "tool") {
		return invalid("Thinking may not be enabled when tool_choice forces tool use.")
	}
	return nil
}

func (j *judge) messagesTools() *refusal {
	seen := map[string]bool{}
	for i, t := range j.call.Tools {
		at := fmt.Sprintf("tools.%d.%s", i, first(t.Type, "custom"))
		switch {
		case t.Name == "":
			return invalid("%s.name: Field required", at)
		case t.Type == "" && !named(t.Name, 128):
			return invalid("%s.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", at)
		case t.Type == "" && t.Schema == nil:
			return invalid("%s.input_schema: Field required", at)
		case t.Type == "" && !isObjectSchema(t):
			return invalid("%s.input_schema.type: Field required", at)
		case seen[t.Name]:
			return invalid("tools: Tool names must be unique.")
		}
		if name := unknown(t.Rest, "type", "description", "cache_control", "strict", "defer_loading", "eager_input_streaming", "input_examples", "allowed_callers", "input_schema"); t.Type == "" && name != "" {
			return invalid("%s.%s: Extra inputs are not permitted", at, name)
		}
		seen[t.Name] = true
	}
	if c := j.call.Choice; c.Mode == "tool" && !seen[c.Tool] {
		return invalid("Tool '%s' not found in provided tools", c.Tool)
	}
	return nil
}

func isObjectSchema(t quire.ToolSpec) bool {
	kind, _ := rawjson.TextOf(rawjson.Get(rawjson.Members(t.Schema), "type"))
	return kind == "object"
}

func (j *judge) messagesRoles() *refusal {
	list := j.call.Messages
	for i, m := range list {
		if m.Role == 0 {
			return invalid("messages.%d.role: Input should be 'user' or 'assistant'", i)
		}
		if r := messagesContent(i, m, i == len(list)-1); r != nil {
			return r
		}
	}
	if list[0].Role != quire.RoleUser {
		return invalid(`messages: first message must use the "user" role`)
	}
	if list[len(list)-1].Role == quire.RoleAssistant && !prefills(j.call.Model) {
		return invalid("This model does not support assistant message prefill. The conversation must end with a user message.")
	}
	return nil
}

// prefills reports whether a model continues an answer that is begun for it: those
// before Claude 4.6.
func prefills(model string) bool {
	model = dashed(model)
	return strings.Contains(model, "claude-3") || strings.Contains(model, "-4-5") || strings.Contains(model, "-4-1") || strings.Contains(model, "-4-0")
}

// dashed is a name of a model in one notation.
func dashed(model string) string { return strings.ReplaceAll(strings.ToLower(model), ".", "-") }

func messagesContent(i int, m quire.Message, last bool) *refusal {
	content := rawjson.Get(m.Rest, "content")
	switch name := unknown(m.Rest, "role", "content", "output_config", "clear_at"); {
	case name != "":
		return invalid("messages.%d.%s: Extra inputs are not permitted", i, name)
	case content != nil && !rawjson.IsArray(content):
		return invalid("messages.%d.content: Input should be a valid list", i)
	case len(m.Blocks) == 0 && content == nil:
		return invalid("messages.%d.content: Field required", i)
	case last && m.Role == quire.RoleAssistant:
		return nil
	case len(m.Blocks) == 0 || len(m.Blocks) == 1 && m.Blocks[0].Plain && m.Blocks[0].Text == "":
		return invalid("messages.%d: all messages must have non-empty content except for the optional final assistant message", i)
	}
	return nil
}

func (j *judge) messagesBlocks() *refusal {
	for i, b := range j.call.System {
		if r := messagesBlock(fmt.Sprintf("system.%d", i), "system", quire.RoleSystem, b); r != nil {
			return r
		}
	}
	return j.eachBlock(func(i, k int, role quire.Role, b quire.Block) *refusal {
		return messagesBlock(fmt.Sprintf("messages.%d.content.%d", i, k), "messages", role, b)
	})
}

func messagesBlock(at, list string, role quire.Role, b quire.Block) *refusal {
	if b.Opaque != nil {
		return messagesOpaque(at, role, b)
	}
	if r := messagesExtra(at, b); r != nil {
		return r
	}
	switch {
	case isText(b.Kind) && b.Text == "":
		if b.Cache != quire.MarkNone {
			return invalid("%s.text: cache_control cannot be set for empty text blocks", at)
		}
		return invalid("%s: text content blocks must be non-empty", list)
	case isText(b.Kind) && blank(b.Text):
		return invalid("%s: text content blocks must contain non-whitespace text", list)
	case b.Kind == quire.PartToolCall:
		return messagesCall(at, role, b)
	case b.Kind == quire.PartThinking && role != quire.RoleAssistant:
		return invalid("%s: `thinking` blocks can only be in `assistant` messages", at)
	case b.Kind == quire.PartToolResult && role != quire.RoleUser:
		return invalid("%s: `tool_result` blocks can only be in `user` messages", at)
	}
	return messagesPieces(at, b)
}

func messagesPieces(at string, b quire.Block) *refusal {
	if content := rawjson.Get(b.Rest, "content"); b.Kind == quire.PartToolResult && len(content) > 0 && !rawjson.IsArray(content) && !rawjson.IsString(content) {
		return invalid("%s.tool_result.content: Input should be a valid list", at)
	}
	for i, inner := range b.Content {
		if r := messagesBlock(fmt.Sprintf("%s.%s.content.%d", at, typeOf(b), i), "messages", 0, inner); r != nil {
			return r
		}
	}
	return nil
}

func isText(k quire.PartKind) bool {
	return k == quire.PartSystem || k == quire.PartUser || k == quire.PartMachine || k == quire.PartText
}

func messagesCall(at string, role quire.Role, b quire.Block) *refusal {
	switch {
	case role != quire.RoleAssistant:
		return invalid("%s: `tool_use` blocks can only be in `assistant` messages", at)
	case !named(b.ToolUse, 1<<10):
		return invalid("%s.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", at)
	case b.Tool == "" || len(b.Tool) > 200:
		return invalid("%s.tool_use.name: String should have at least 1 character", at)
	case !rawjson.IsObject([]byte(strings.TrimSpace(b.Text))):
		return invalid("%s.tool_use.input: Input should be a valid dictionary", at)
	}
	return nil
}

// typeOf is the type of a block that is taken apart.
func typeOf(b quire.Block) string {
	switch b.Kind {
	case quire.PartThinking:
		return "thinking"
	case quire.PartToolCall:
		return "tool_use"
	case quire.PartToolResult:
		return "tool_result"
	case quire.PartImage, quire.PartDocument:
		return b.Kind.String()
	}
	return "text"
}

// messagesExtra refuses members that a type of block does not have.
func messagesExtra(at string, b quire.Block) *refusal {
	known := []string{"cache_control"}
	switch b.Kind {
	case quire.PartThinking:
		known = []string{"signature", "thinking"}
	case quire.PartToolCall:
		known = append(known, "id", "name", "input", "caller")
	case quire.PartToolResult:
		known = append(known, "tool_use_id", "is_error", "content")
	case quire.PartImage:
		known = append(known, "source")
	case quire.PartDocument:
		known = append(known, "source", "title", "context", "citations")
	default:
		known = append(known, "text", "citations")
	}
	if name := unknown(b.Rest, known...); name != "" {
		return invalid("%s.%s.%s: Extra inputs are not permitted", at, typeOf(b), name)
	}
	if b.Kind == quire.PartThinking && b.Cache != quire.MarkNone {
		return invalid("%s.thinking.cache_control: Extra inputs are not permitted", at)
	}
	return nil
}

// messagesRequired lists what blocks that are taken apart must have: one without
// it reaches us whole.
var messagesRequired = [...]struct{ kind, members string }{
	{"text", "text"}, {"thinking", "thinking"}, {"tool_use", "id name input"}, {"tool_result", "tool_use_id"},
	{"image", "source"}, {"document", "source"},
}

// messagesTypes lists the other types of blocks. Those that end in _tool_use or
// _tool_result belong to tools that the vendor runs.
var messagesTypes = [...]string{"redacted_thinking", "search_result", "container_upload", "tool_reference", "compaction", "tool_addition", "tool_removal"}

func messagesOpaque(at string, role quire.Role, b quire.Block) *refusal {
	members := rawjson.Members(b.Opaque)
	kind, _ := rawjson.TextOf(rawjson.Get(members, "type"))
	for _, t := range messagesRequired {
		if t.kind != kind {
			continue
		}
		for _, name := range strings.Fields(t.members) {
			if rawjson.Get(members, name) == nil {
				return invalid("%s.%s.%s: Field required", at, kind, name)
			}
		}
		return invalid("%s.%s: Input should be a valid block", at, kind)
	}
	server := b.ToolUse != "" && (strings.HasSuffix(kind, "_tool_use") || strings.HasSuffix(kind, "_tool_result"))
	switch {
	case kind == "":
		return invalid("%s: Unable to extract tag using discriminator 'type'", at)
	case !server && !slices.Contains(messagesTypes[:], kind):
		return invalid("%s: Input tag '%s' found using 'type' does not match any of the expected tags: 'document', 'image', 'redacted_thinking', 'search_result', 'server_tool_use', 'text', 'thinking', 'tool_result', 'tool_use', 'web_search_tool_result'", at, kind)
	case kind == "redacted_thinking":
		return invalid("%s: Invalid `data` in `redacted_thinking` block", at)
	}
	return nil
}

// messagesMarks looks at the cache breakpoints, in the order in which the prompt
// is read.
func (j *judge) messagesMarks() *refusal {
	var marks []placedMark
	for i, t := range j.call.Tools {
		marks = appendMark(marks, fmt.Sprintf("tools.%d.cache_control", i), t.Cache)
	}
	for i, b := range j.call.System {
		marks = appendMark(marks, fmt.Sprintf("system.%d.cache_control", i), b.Cache)
	}
	_ = j.eachBlock(func(i, k int, _ quire.Role, b quire.Block) *refusal {
		marks = appendMarks(marks, fmt.Sprintf("messages.%d.content.%d", i, k), b)
		return nil
	})
	marks = appendMark(marks, "cache_control", topMark(j.api, j.call))
	if len(marks) > 4 {
		return invalid("A maximum of 4 blocks with cache_control may be provided. Found %d.", len(marks))
	}
	for i := 1; i < len(marks); i++ {
		if marks[i].mark > marks[i-1].mark {
			return invalid("%s.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.", marks[i].at)
		}
	}
	return nil
}

type placedMark struct {
	at   string
	mark quire.Mark
}

func appendMark(list []placedMark, at string, mark quire.Mark) []placedMark {
	if mark == quire.MarkNone {
		return list
	}
	return append(list, placedMark{at, mark})
}

func appendMarks(list []placedMark, at string, b quire.Block) []placedMark {
	for i, inner := range b.Content {
		list = appendMarks(list, fmt.Sprintf("%s.%s.content.%d", at, typeOf(b), i), inner)
	}
	return appendMark(list, at+".cache_control", b.Cache)
}

// topMark is the breakpoint that the API itself sets at the end of the prompt, as
// a request may ask it to.
func topMark(api API, c *quire.Call) quire.Mark {
	if api != Messages || !has(c.Rest, "cache_control") {
		return quire.MarkNone
	}
	ttl, _ := rawjson.TextOf(rawjson.Get(rawjson.Members(rawjson.Get(c.Rest, "cache_control")), "ttl"))
	if ttl == "1h" {
		return quire.MarkLong
	}
	return quire.MarkShort
}

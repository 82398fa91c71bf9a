package trace

import (
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// parts are the parts of a response item; none for items that are not sent.
func (c *codex) parts(v value) []quire.Part {
	switch kind := v.get("type").text(); {
	case kind == "message":
		return codexMessage(v)
	case kind == "reasoning":
		return []quire.Part{{Kind: quire.PartThinking, Text: reasoningText(v)}}
	case strings.HasSuffix(kind, "_call"):
		return []quire.Part{c.toolCall(kind, v)}
	case strings.HasSuffix(kind, "_output"):
		return c.output(v)
	case strings.Contains(kind, "compaction"):
		return []quire.Part{{Kind: quire.PartMachine, Origin: quire.OriginSummary, Text: v.get("summary").text()}}
	case kind == "ghost_snapshot" || kind == "other" || kind == "":
		return nil
	}
	return []quire.Part{{Kind: quire.PartText, Text: v.raw()}}
}

func codexMessage(v value) []quire.Part {
	var parts []quire.Part
	role := v.get("role")
	for b := range blocks(v.get("content")) {
		switch {
		case b.kind == "input_image":
			parts = append(parts, codexImage(b.imageLink))
		case role.is("assistant"):
			parts = append(parts, quire.Part{Kind: quire.PartText, Text: codexText(b)})
		case role.is("user"):
			parts = append(parts, codexUserText(codexText(b)))
		default:
			parts = append(parts, quire.Part{Kind: quire.PartSystem, Text: codexText(b)})
		}
	}
	return parts
}

func codexUserText(text string) quire.Part {
	if codexMachineText(text) {
		return quire.Part{Kind: quire.PartMachine, Text: text}
	}
	return quire.Part{Kind: quire.PartUser, Text: text}
}

// codexTyped reports whether an item is a message of the user.
func codexTyped(v value) bool {
	if !v.get("type").is("message") || !v.get("role").is("user") {
		return false
	}
	for b := range blocks(v.get("content")) {
		if b.kind == "input_image" || !codexMachineText(codexText(b)) {
			return true
		}
	}
	return false
}

// codexText is the text of a block, and the JSON of one that has none.
func codexText(b contentBlock) string {
	if b.text == nil {
		return b.block.raw()
	}
	return b.words()
}

func codexImage(link value) quire.Part {
	part := linkedPart("image/*", link)
	part.Kind = quire.PartImage
	return part
}

// reasoningText is the reasoning as far as it can be read: the text itself from
// models that show it, otherwise the summary, which may be empty.
func reasoningText(v value) string {
	for _, field := range [...]string{"content", "summary"} {
		var text []string
		for b := range blocks(v.get(field)) {
			text = append(text, b.words())
		}
		if len(text) > 0 {
			return strings.Join(text, "\n\n")
		}
	}
	return ""
}

// toolCall is a call of a tool, of the harness's own or of the provider's. The
// latter have no name and are named by their kind.
func (c *codex) toolCall(kind string, v value) quire.Part {
	part := quire.Part{Kind: quire.PartToolCall, Tool: strings.TrimSuffix(kind, "_call")}
	for m := v.members(); m.next(); {
		switch string(m.key) {
		case "name":
			part.Tool = m.val.text()
		case "call_id":
			part.ToolUse = m.val.text()
		case "arguments", "input", "action", "revised_prompt":
			part.Text = textOrRaw(m.val)
		}
	}
	c.tools.put(part.ToolUse, part.Tool)
	return part
}

// textOrRaw is the text of a string and the JSON of anything else.
func textOrRaw(v value) string {
	if v.isString() {
		return v.text()
	}
	return v.raw()
}

// output is the result of a tool call: its text in one part, each image of it in
// one of its own behind that.
func (c *codex) output(v value) []quire.Part {
	result := quire.Part{Kind: quire.PartToolResult, ToolUse: v.get("call_id").text()}
	result.Tool = c.tools.take(result.ToolUse)
	out := v.get("output")
	if out == nil {
		out = v.get("tools")
	}
	if out.isObject() {
		result.IsError = string(out.get("success")) == "false"
		out = out.get("content")
	}
	if !out.isArray() || v.get("output") == nil {
		result.Text = textOrRaw(out)
		return []quire.Part{result}
	}
	return withMedia(result, out)
}

func withMedia(result quire.Part, content value) []quire.Part {
	parts := []quire.Part{result}
	var text []string
	for b := range blocks(content) {
		if b.kind != "input_image" {
			text = append(text, codexText(b))
			continue
		}
		image := codexImage(b.imageLink)
		image.Tool, image.ToolUse, image.After = result.Tool, result.ToolUse, len(text)
		parts = append(parts, image)
	}
	parts[0].Text, parts[0].Cuts = quire.Joined(text)
	return parts
}

// codexMachineText reports whether text in the user's role was made by the
// harness. It looks at how the text begins, as the harness marks what it adds.
func codexMachineText(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	for _, mark := range [...]string{
		"<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<INSTRUCTIONS>",
		"<turn_aborted>", "<subagent_notification>", "<user_shell_command>", "<skill>",
		"<permissions instructions>", "<image name=", "</image>", "<hook_prompt", "<goal_context>",
	} {
		if strings.HasPrefix(text, mark) {
			return true
		}
	}
	return wrapped(text, '_')
}

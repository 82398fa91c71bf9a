package trace

import (
	"iter"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// A contentBlock is one block of a message's content, not yet decoded.
type contentBlock struct {
	kind      string
	block     value // the whole object; absent where the content is a string
	text      value // the string; of thinking too
	id, name  value
	use       value // the id of the tool call that a result belongs to
	content   value
	input     value
	source    value
	isError   value
	imageLink value
}

// words is the text of the block.
func (b contentBlock) words() string { return b.text.text() }

func (b *contentBlock) set(key []byte, v value) {
	switch string(key) {
	case "type":
		b.kind = v.text()
	case "text", "thinking":
		b.text = v
	case "id":
		b.id = v
	case "name":
		b.name = v
	case "tool_use_id":
		b.use = v
	case "content":
		b.content = v
	case "input":
		b.input = v
	case "source":
		b.source = v
	case "is_error":
		b.isError = v
	case "image_url":
		b.imageLink = v
	}
}

// blocks walks the content of a message, which is a string or an array.
func blocks(content value) iter.Seq[contentBlock] {
	return func(yield func(contentBlock) bool) {
		if content.isString() {
			yield(contentBlock{kind: "text", text: content})
			return
		}
		for m := content.items(); m.next(); {
			if !yield(readBlock(m.val)) {
				return
			}
		}
	}
}

func readBlock(v value) contentBlock {
	if v.isString() {
		return contentBlock{kind: "text", text: v}
	}
	b := contentBlock{block: v}
	for f := v.members(); f.next(); {
		b.set(f.key, f.val)
	}
	return b
}

// answerBlock reads a block of an answer. Results of tools that the provider
// ran stand in the answer, but are input of what follows.
func (c *claude) answerBlock(call string, b contentBlock) {
	part := quire.Part{Kind: quire.PartText}
	switch {
	case b.kind == "text":
		part.Text = b.words()
	case b.kind == "thinking":
		part.Kind, part.Text = quire.PartThinking, b.words()
	case b.kind == "redacted_thinking":
		part.Kind = quire.PartThinking
	case b.kind == "tool_use" || b.kind == "server_tool_use" || b.kind == "mcp_tool_use":
		part = c.toolCall(b)
	case strings.HasSuffix(b.kind, "tool_result"):
		c.enter(c.result(b, b.content.raw()))
		return
	default:
		part.Text = b.block.raw()
	}
	c.answer(call, part)
}

func (c *claude) toolCall(b contentBlock) quire.Part {
	part := quire.Part{Kind: quire.PartToolCall, Tool: b.name.text(), ToolUse: b.id.text(), Text: b.input.raw()}
	c.tools.put(part.ToolUse, part.Tool)
	return part
}

func (c *claude) result(b contentBlock, text string) quire.Part {
	use := b.use.text()
	return quire.Part{
		Kind:    quire.PartToolResult,
		Text:    text,
		Tool:    c.tools.take(use),
		ToolUse: use,
		IsError: b.isError.truth(),
	}
}

// userParts are the parts of a block in the user's role.
func (c *claude) userParts(r *claudeLine, chain *claudeChain, b contentBlock) []quire.Part {
	switch {
	case b.kind == "text":
		return c.userText(r, chain, b.words())
	case b.kind == "image" || b.kind == "document":
		return []quire.Part{claudeMedia(b)}
	case strings.HasSuffix(b.kind, "tool_result"):
		return c.toolResult(b)
	}
	return c.machine(chain, b.block.raw())
}

func (c *claude) userText(r *claudeLine, chain *claudeChain, text string) []quire.Part {
	switch {
	case r.summary:
		return []quire.Part{{Kind: quire.PartMachine, Origin: quire.OriginSummary, Text: text}}
	case r.meta || r.side || claudeMachineText(text):
		return c.machine(chain, text)
	}
	chain.settled = true
	return []quire.Part{{Kind: quire.PartUser, Text: text}}
}

// toolResult is a result: its text in one part, each image of it in one of its
// own behind that.
func (c *claude) toolResult(b contentBlock) []quire.Part {
	if b.content.isString() {
		return []quire.Part{c.result(b, b.content.text())}
	}
	parts := []quire.Part{c.result(b, "")}
	var text []string
	for inner := range blocks(b.content) {
		switch inner.kind {
		case "text":
			text = append(text, inner.words())
		case "image", "document":
			media := claudeMedia(inner)
			media.Tool, media.ToolUse, media.After = parts[0].Tool, parts[0].ToolUse, len(text)
			parts = append(parts, media)
		default:
			text = append(text, inner.block.raw())
		}
	}
	parts[0].Text, parts[0].Cuts = quire.Joined(text)
	return parts
}

// claudeMedia describes an image or a document by its source: its bytes, plain
// text, or an address.
func claudeMedia(b contentBlock) quire.Part {
	source := b.source
	mime := source.get("media_type").text()
	var part quire.Part
	switch kind := source.get("type"); {
	case kind.is("text"):
		text := source.get("data").text()
		part = quire.Part{Text: text, Media: &quire.Media{Type: mime, Bytes: len(text), Hash: quire.Sum(text)}}
	case kind.is("url"):
		part = linkedPart(mime, source.get("url"))
	default:
		part = mediaPart(mime, source.get("data"))
	}
	part.Kind = quire.PartDocument
	if b.kind == "image" {
		part.Kind = quire.PartImage
	}
	return part
}

// attachment reads what the harness adds to a prompt in a line of its own. What
// the user typed while the model was working comes this way too.
func (c *claude) attachment(r *claudeLine, chain *claudeChain) {
	a := r.attachment
	if !a.get("type").is("queued_command") {
		c.enterAll(c.machine(chain, attachedText(a)))
		return
	}
	machine := r.meta || a.get("isMeta").truth() || a.get("commandMode").is("task-notification")
	for b := range blocks(a.get("prompt")) {
		c.enterAll(c.userParts(&claudeLine{meta: machine, side: r.side}, chain, b))
	}
}

// attachedText is the text of an attachment where its form is known, otherwise
// its JSON; empty for those that only the harness itself reads.
func attachedText(a value) string {
	switch a.get("type").text() {
	case "hook_cancelled", "hook_error_during_execution", "hook_non_blocking_error", "hook_permission_decision",
		"hook_system_message", "command_permissions", "structured_output", "max_turns_reached", "already_read_file":
		return ""
	}
	for _, path := range [][]string{{"content"}, {"content", "file", "content"}, {"content", "content"}, {"snippet"}} {
		if v := a.get(path...); v.isString() {
			return v.text()
		}
	}
	if text, all := texts(a.get("content")); all {
		return strings.Join(text, "\n")
	}
	return a.raw()
}

// texts are the strings of an array; all reports whether it holds strings only,
// and at least one.
func texts(v value) (text []string, all bool) {
	for m := v.items(); m.next(); {
		if !m.val.isString() {
			return nil, false
		}
		text = append(text, m.val.text())
	}
	return text, len(text) > 0
}

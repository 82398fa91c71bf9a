package sim

import (
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// messagesPairs holds that each tool_use has its one tool_result in the next
// message, in front of anything else there, and each tool_result its tool_use in
// the message before.
func (j *judge) messagesPairs() *refusal {
	list := j.call.Messages
	seen := map[string]bool{}
	for i, m := range list {
		var before, after []quire.Block
		if i > 0 {
			before = list[i-1].Blocks
		}
		if i+1 < len(list) {
			after = list[i+1].Blocks
		}
		if r := messagesResults(i, m, before); r != nil {
			return r
		}
		if r := messagesCalls(i, m, after, seen); r != nil {
			return r
		}
	}
	return nil
}

func messagesResults(i int, m quire.Message, before []quire.Block) *refusal {
	seen := map[string]bool{}
	for k, b := range m.Blocks {
		if !is(b, quire.PartToolResult) {
			continue
		}
		if !slices.ContainsFunc(before, func(c quire.Block) bool { return is(c, quire.PartToolCall) && c.ToolUse == b.ToolUse }) {
			return invalid("messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", i, k, b.ToolUse)
		}
		if seen[b.ToolUse] {
			return invalid("messages.%d.content.%d: each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s", i, k, b.ToolUse)
		}
		seen[b.ToolUse] = true
	}
	return nil
}

func messagesCalls(i int, m quire.Message, after []quire.Block, seen map[string]bool) *refusal {
	results := map[string]bool{}
	for _, b := range after {
		if !is(b, quire.PartToolResult) {
			break
		}
		results[b.ToolUse] = true
	}
	var open []string
	for k, b := range m.Blocks {
		if !is(b, quire.PartToolCall) {
			continue
		}
		if seen[b.ToolUse] {
			return invalid("messages.%d.content.%d: `tool_use` ids must be unique", i, k)
		}
		if seen[b.ToolUse] = true; !results[b.ToolUse] {
			open = append(open, b.ToolUse)
		}
	}
	if len(open) > 0 {
		return invalid("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", i, strings.Join(open, ", "))
	}
	return nil
}

// is reports whether a block is of a kind and was taken apart.
func is(b quire.Block, kind quire.PartKind) bool { return b.Kind == kind && b.Opaque == nil }

// messagesServerPairs holds the same for tools that the vendor runs, whose halves
// stand in one message. The last message may wait for its result, as after a pause.
func (j *judge) messagesServerPairs() *refusal {
	for i, m := range j.call.Messages {
		open := map[string]string{}
		for k, b := range m.Blocks {
			if b.Opaque == nil || b.ToolUse == "" {
				continue
			}
			kind, _ := rawjson.TextOf(rawjson.Get(rawjson.Members(b.Opaque), "type"))
			tool := open[b.ToolUse]
			switch {
			case strings.HasSuffix(kind, "_tool_use"):
				open[b.ToolUse] = first(b.Tool, kind)
			case tool == "":
				return invalid("messages.%d.content.%d: unexpected `tool_use_id` found in `%s` blocks: %s. Each `%s` block must have a corresponding `server_tool_use` block before it.", i, k, kind, b.ToolUse, kind)
			default:
				delete(open, b.ToolUse)
			}
		}
		if r := j.halves(i, open); r != nil {
			return r
		}
	}
	return nil
}

func (j *judge) halves(i int, open map[string]string) *refusal {
	if len(open) == 0 || i == len(j.call.Messages)-1 {
		return nil
	}
	for _, b := range j.call.Messages[i].Blocks {
		if tool := open[b.ToolUse]; tool != "" {
			return invalid("messages.%d: `%s` tool use with id `%s` was found without a corresponding `%s_tool_result` block", i, tool, b.ToolUse, tool)
		}
	}
	return nil
}

// messagesThinking looks at the thinking of a request: that it is there where a
// tool loop goes on, was made here for this model and, where the model wants it, for
// this prefix. A client that asks for it loses thinking of another prefix instead.
func (j *judge) messagesThinking() *refusal {
	if r := j.missingThinking(); r != nil {
		return r
	}
	drop, bound := j.dropsThinking(), j.limits.BoundThinking || binds(j.call.Model)
	ch := begin(j.call)
	broken := false
	for i := range j.call.Messages {
		m := &j.call.Messages[i]
		kept := m.Blocks[:0:0]
		for k, b := range m.Blocks {
			if is(b, quire.PartThinking) {
				if !j.signer.genuine(j.call.Model, b.Text, b.Signature) {
					return invalid("messages.%d.content.%d: Invalid `signature` in `thinking` block", i, k)
				}
				broken = broken || bound && !j.signer.bound(b.Text, b.Signature, ch.prefix, ch.before)
				if broken && drop {
					j.dropped++
					continue
				}
				if broken {
					return invalid("messages.%d.content.%d: Invalid `signature` in `thinking` block. The block is bound to a different conversation", i, k)
				}
			}
			kept = append(kept, b)
			ch.pass(m.Role, b)
		}
		m.Blocks = kept
	}
	return nil
}

// dropsThinking reports whether a request wants thinking of another prefix to be
// dropped rather than refused.
func (j *judge) dropsThinking() bool {
	binding := rawjson.Members(rawjson.Get(j.call.Thinking.Rest, "block_binding"))
	want, _ := rawjson.TextOf(rawjson.Get(binding, "prefix_mismatch_behavior"))
	return want == "drop_block"
}

// binds reports whether a model's thinking is bound to its prefix. Source: the
// vendor's page on preserved thinking.
func binds(model string) bool {
	model = dashed(model)
	for _, name := range [...]string{"fable-5-1", "fable-5-2", "mythos-5-1", "mythos-5-2", "opus-5-5", "sonnet-5-5", "haiku-5-5"} {
		if strings.Contains(model, name) {
			return true
		}
	}
	return false
}

// missingThinking holds that, where a budget of thinking is given, the answer whose
// tools have just run begins with thinking.
func (j *judge) missingThinking() *refusal {
	if j.call.Thinking.Mode != "enabled" {
		return nil
	}
	last := len(j.call.Messages) - 1
	for last >= 0 && j.call.Messages[last].Role != quire.RoleAssistant {
		last--
	}
	if last < 0 || !slices.ContainsFunc(j.call.Messages[last].Blocks, func(b quire.Block) bool { return is(b, quire.PartToolCall) }) {
		return nil
	}
	// A new word of the user has ended the loop.
	next := j.call.Messages[last+1].Blocks
	if slices.ContainsFunc(next, func(b quire.Block) bool { return is(b, quire.PartUser) }) {
		return nil
	}
	if b := j.call.Messages[last].Blocks[0]; b.Kind != quire.PartThinking {
		return invalid("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking", last, typeOf(b))
	}
	return nil
}

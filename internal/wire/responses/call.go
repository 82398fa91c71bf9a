package responses

import (
	"encoding/json"
	"fmt"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/openai"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// keyName is the member that groups requests with a common beginning. One that a
// client sent stays in Call.Rest.
const keyName = "prompt_cache_key"

// DecodeCall reads a request. The Call keeps parts of b, which must not change
// while it is in use. What a server would refuse is no error as long as b is a
// JSON object: it rides along for the server to see.
//
// The instructions and the messages of the system or a developer that stand in
// front of all items, with nothing but text, become Call.System. Tools that
// travel inside the input stay there, opaque.
func DecodeCall(b []byte) (quire.Call, error) {
	r, err := rawjson.Parse(b)
	if err != nil {
		return quire.Call{}, fmt.Errorf("read responses request: %w", err)
	}
	var c quire.Call
	c.Model = r.Text("model")
	c.Stream = r.True("stream")
	c.MaxOutput = r.Count("max_output_tokens")
	c.Choice = decodeChoice(r)
	c.Thinking = decodeThinking(r)
	c.Tools = decodeTools(r)
	if text := r.Text("instructions"); text != "" {
		c.System = []quire.Block{{Part: quire.Part{Kind: quire.PartSystem, Text: text}, Plain: true}}
	}
	var system []quire.Block
	system, c.Messages = leadingSystem(decodeInput(r))
	c.System = append(c.System, system...)
	c.Rest = r.Rest()
	return c, nil
}

// EncodeCall writes a request. It fails only on values that are not JSON where
// they should be. Of Call.Thinking only the effort has a place here.
func EncodeCall(c quire.Call) ([]byte, error) {
	var w rawjson.Writer
	w.Text("model", c.Model)
	system := writeInstructions(&w, c.System)
	writeInput(&w, append(system, c.Messages...))
	writeTools(&w, c.Tools)
	writeChoice(&w, c.Choice)
	writeThinking(&w, c.Thinking)
	w.Count("max_output_tokens", int64(c.MaxOutput))
	w.True("stream", c.Stream)
	if rawjson.Get(c.Rest, keyName) == nil {
		w.Text(keyName, c.CacheKey)
	}
	w.Rest(c.Rest)
	b, err := w.Bytes()
	if err != nil {
		return nil, fmt.Errorf("write responses request: %w", err)
	}
	return b, nil
}

func decodeInput(r *rawjson.Reader) []quire.Message {
	if text := r.Text("input"); text != "" {
		return []quire.Message{{
			Role:   quire.RoleUser,
			Blocks: []quire.Block{{Part: quire.Part{Kind: quire.PartUser, Text: text}, Plain: true}},
			Rest:   []quire.Field{{Name: "input", Value: json.RawMessage(`""`)}},
		}}
	}
	list, ok := openai.List(r.Peek("input"))
	if !ok {
		return nil
	}
	r.Take("input")
	var messages []quire.Message
	for _, raw := range list {
		m := decodeItem(raw)
		last := len(messages) - 1
		if m.Role == quire.RoleAssistant && last >= 0 && messages[last].Role == quire.RoleAssistant {
			messages[last].Blocks = append(messages[last].Blocks, m.Blocks...)
			continue
		}
		messages = append(messages, m)
	}
	keepTypes(messages)
	return messages
}

// keepTypes notes the type of a result that does not follow from its call.
func keepTypes(messages []quire.Message) {
	custom := customCalls(messages)
	for _, m := range messages {
		for i := range m.Blocks {
			if b := &m.Blocks[i]; isResult(*b) && custom[b.ToolUse] && rawjson.Get(b.Rest, "type") == nil {
				b.Rest = append(b.Rest, quire.Field{Name: "type", Value: openai.Quote(itemResult)})
			}
		}
	}
}

// leadingSystem splits off the messages in front that fit into Call.System.
func leadingSystem(messages []quire.Message) ([]quire.Block, []quire.Message) {
	var system []quire.Block
	for len(messages) > 0 && pureSystem(messages[0]) {
		m := messages[0]
		role := rawjson.Get(m.Rest, "role")
		if role == nil {
			role = openai.Quote("system")
		}
		first := &m.Blocks[0]
		first.Rest = append(first.Rest, quire.Field{Name: "role", Value: role})
		if kind := rawjson.Get(m.Rest, "type"); kind != nil {
			first.Rest = append(first.Rest, quire.Field{Name: "item", Value: kind})
		}
		system = append(system, m.Blocks...)
		messages = messages[1:]
	}
	return system, messages
}

// pureSystem reports whether a message is its blocks, its role and its type.
func pureSystem(m quire.Message) bool {
	if m.Role != quire.RoleSystem || len(m.Blocks) == 0 || m.ID != "" || len(openai.Without(m.Rest, "role", "type")) > 0 {
		return false
	}
	for _, b := range m.Blocks {
		if b.Opaque != nil || rawjson.Get(b.Rest, "role") != nil || rawjson.Get(b.Rest, "item") != nil {
			return false
		}
	}
	return true
}

// writeInstructions writes a text in front that is alone, and gives back the
// other blocks as messages.
func writeInstructions(w *rawjson.Writer, blocks []quire.Block) []quire.Message {
	end := 0
	for end < len(blocks) && rawjson.Get(blocks[end].Rest, "role") == nil {
		end++
	}
	if end == 1 && bare(blocks[0]) {
		w.Text("instructions", blocks[0].Text)
		blocks = blocks[1:]
	}
	return systemMessages(blocks)
}

// bare reports whether a block is a text and nothing else.
func bare(b quire.Block) bool {
	return isText(b.Kind) && b.Text != "" && b.Opaque == nil && b.Cache == quire.MarkNone && len(b.Rest) == 0
}

// systemMessages undoes leadingSystem.
func systemMessages(blocks []quire.Block) []quire.Message {
	var list []quire.Message
	for i, b := range blocks {
		role := rawjson.Get(b.Rest, "role")
		if i == 0 || role != nil {
			if role == nil {
				role = openai.Quote("developer")
			}
			m := quire.Message{Role: quire.RoleSystem, Rest: []quire.Field{{Name: "role", Value: role}}}
			if kind := rawjson.Get(b.Rest, "item"); kind != nil {
				m.Rest = append(m.Rest, quire.Field{Name: "type", Value: kind})
			}
			list = append(list, m)
		}
		m := &list[len(list)-1]
		b.Rest = openai.Without(b.Rest, "role", "item")
		m.Blocks = append(m.Blocks, b)
	}
	return list
}

func writeInput(w *rawjson.Writer, messages []quire.Message) {
	if len(messages) == 1 && rawjson.Get(messages[0].Rest, "input") != nil && len(messages[0].Blocks) == 1 && bare(messages[0].Blocks[0]) {
		w.Text("input", messages[0].Blocks[0].Text)
		return
	}
	var list []json.RawMessage
	custom := customCalls(messages)
	for _, m := range messages {
		items, err := encodeItems(m, custom)
		if err != nil {
			w.Fail(err)
		}
		list = append(list, items...)
	}
	if len(list) > 0 {
		w.Made("input", rawjson.Array(list))
	}
}

// customCalls are the ids of the calls of tools that take free text: the type of
// a result follows from that of its call.
func customCalls(messages []quire.Message) map[string]bool {
	ids := map[string]bool{}
	for _, m := range messages {
		for _, b := range m.Blocks {
			if b.Kind == quire.PartToolCall && isCustom(b) {
				ids[b.ToolUse] = true
			}
		}
	}
	return ids
}

package chat

import (
	"encoding/json"
	"fmt"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/openai"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// DecodeCall reads a request. The Call keeps parts of b, which must not change
// while it is in use. What a server would refuse is no error as long as b is a
// JSON object: it rides along for the server to see.
//
// Leading messages of the system or a developer that hold text and nothing else
// become Call.System. A message of a kind that is not known here has no role and
// one opaque block.
func DecodeCall(b []byte) (quire.Call, error) {
	r, err := rawjson.Parse(b)
	if err != nil {
		return quire.Call{}, fmt.Errorf("read chat request: %w", err)
	}
	var c quire.Call
	c.Model = r.Text("model")
	c.Stream = r.True("stream")
	c.Choice = decodeChoice(r)
	c.Thinking = decodeThinking(r)
	c.Tools = decodeTools(r)
	var limit []quire.Field
	c.MaxOutput, limit = decodeLimit(r)
	c.System, c.Messages = decodeMessages(r)
	c.Rest = append(limit, r.Rest()...)
	return c, nil
}

// The two names of the bound of an answer; a request with both says too much to
// be taken apart.
const (
	limitName    = "max_completion_tokens"
	oldLimitName = "max_tokens"
)

func decodeLimit(r *rawjson.Reader) (int, []quire.Field) {
	if r.Peek(limitName) != nil && r.Peek(oldLimitName) != nil {
		return 0, nil
	}
	if n := r.Count(limitName); n > 0 {
		return n, nil
	}
	if n := r.Count(oldLimitName); n > 0 {
		return n, []quire.Field{{Name: oldLimitName, Value: json.RawMessage("0")}}
	}
	return 0, nil
}

func decodeMessages(r *rawjson.Reader) ([]quire.Block, []quire.Message) {
	list, ok := openai.List(r.Peek("messages"))
	if !ok || len(list) == 0 {
		return nil, nil
	}
	r.Take("messages")
	messages := make([]quire.Message, len(list))
	for i, raw := range list {
		messages[i] = decodeMessage(raw)
	}
	return leadingSystem(messages)
}

// leadingSystem splits off the messages in front that fit into Call.System.
func leadingSystem(messages []quire.Message) ([]quire.Block, []quire.Message) {
	var system []quire.Block
	for len(messages) > 0 && pureSystem(messages[0]) {
		m := messages[0]
		role := rawjson.Get(m.Rest, "role")
		if role == nil && len(system) > 0 {
			role = openai.Quote("system")
		}
		if role != nil {
			first := &m.Blocks[0]
			first.Rest = append(first.Rest, quire.Field{Name: "role", Value: role})
		}
		system = append(system, m.Blocks...)
		messages = messages[1:]
	}
	return system, messages
}

// pureSystem reports whether a message is its blocks and its role.
func pureSystem(m quire.Message) bool {
	if m.Role != quire.RoleSystem || len(m.Blocks) == 0 {
		return false
	}
	for _, f := range m.Rest {
		if f.Name != "role" {
			return false
		}
	}
	for _, b := range m.Blocks {
		if b.Opaque != nil || rawjson.Get(b.Rest, "role") != nil {
			return false
		}
	}
	return true
}

// EncodeCall writes a request. It fails only on values that are not JSON where
// they should be.
func EncodeCall(c quire.Call) ([]byte, error) {
	var w rawjson.Writer
	w.Text("model", c.Model)
	writeMessages(&w, c)
	writeTools(&w, c.Tools)
	writeChoice(&w, c.Choice)
	writeThinking(&w, c.Thinking)
	writeLimit(&w, c)
	w.True("stream", c.Stream)
	w.Rest(c.Rest)
	b, err := w.Bytes()
	if err != nil {
		return nil, fmt.Errorf("write chat request: %w", err)
	}
	return b, nil
}

func writeLimit(w *rawjson.Writer, c quire.Call) {
	name := limitName
	if rawjson.Get(c.Rest, limitName) == nil && rawjson.Get(c.Rest, oldLimitName) != nil {
		name = oldLimitName
	}
	w.Count(name, int64(c.MaxOutput))
}

func writeMessages(w *rawjson.Writer, c quire.Call) {
	var list []json.RawMessage
	put := func(m quire.Message) {
		for _, one := range splitResults(m) {
			raw, err := encodeMessage(one)
			if err != nil {
				w.Fail(err)
			}
			list = append(list, raw)
		}
	}
	for _, m := range systemMessages(c.System) {
		put(m)
	}
	for _, m := range c.Messages {
		put(m)
	}
	if len(list) > 0 {
		w.Made("messages", rawjson.Array(list))
	}
}

// systemMessages undoes leadingSystem.
func systemMessages(blocks []quire.Block) []quire.Message {
	var list []quire.Message
	for i, b := range blocks {
		role := rawjson.Get(b.Rest, "role")
		if i == 0 || role != nil {
			list = append(list, quire.Message{Role: quire.RoleSystem})
		}
		m := &list[len(list)-1]
		if role != nil {
			m.Rest = []quire.Field{{Name: "role", Value: role}}
		}
		b.Rest = openai.Without(b.Rest, "role")
		m.Blocks = append(m.Blocks, b)
	}
	return list
}

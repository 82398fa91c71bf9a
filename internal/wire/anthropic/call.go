package anthropic

import (
	"encoding/json"
	"fmt"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// DecodeCall reads the body of a request. Values in the Call are parts of b,
// which must not change while they are in use. It refuses what is no object and
// lists of messages or tools that hold anything else; whether the API would take
// the request it does not judge.
func DecodeCall(b []byte) (quire.Call, error) {
	r, err := rawjson.Parse(b)
	if err != nil {
		return quire.Call{}, fmt.Errorf("decode Messages request: %w", err)
	}
	c := quire.Call{Model: r.Text("model"), MaxOutput: r.Count("max_tokens"), Stream: r.True("stream")}
	c.Choice = takeChoice(r)
	c.Thinking = takeThinking(r)
	c.System = takeContent(r, "system", quire.PartSystem, 0)
	if c.Tools, err = takeTools(r); err != nil {
		return quire.Call{}, fmt.Errorf("decode Messages request: %w", err)
	}
	if c.Messages, err = takeMessages(r); err != nil {
		return quire.Call{}, fmt.Errorf("decode Messages request: %w", err)
	}
	c.Rest = r.Rest()
	return c, nil
}

// EncodeCall is the body of a request. Messages of RoleTool that follow each
// other become one of the user, as the API wants the results of parallel calls.
// It fails where the arguments of a tool call, or a value that rides along, are
// not JSON.
func EncodeCall(c quire.Call) ([]byte, error) {
	var w rawjson.Writer
	w.Text("model", c.Model)
	w.Count("max_tokens", int64(c.MaxOutput))
	w.True("stream", c.Stream)
	writeChoice(&w, c.Choice)
	writeThinking(&w, c.Thinking, c.Rest)
	if len(c.Tools) > 0 {
		writeList(&w, "tools", c.Tools, encodeTool)
	}
	writeContent(&w, "system", c.System)
	if messages := joinResults(c.Messages); len(messages) > 0 {
		writeList(&w, "messages", messages, encodeMessage)
	}
	w.Rest(c.Rest, "output_config")
	b, err := w.Bytes()
	if err != nil {
		return nil, fmt.Errorf("encode Messages request: %w", err)
	}
	return b, nil
}

// joinResults makes one message of tool results that follow each other.
func joinResults(list []quire.Message) []quire.Message {
	joined := make([]quire.Message, 0, len(list))
	for i, m := range list {
		if i > 0 && m.Role == quire.RoleTool && list[i-1].Role == quire.RoleTool {
			last := &joined[len(joined)-1]
			last.Blocks = append(last.Blocks[:len(last.Blocks):len(last.Blocks)], m.Blocks...)
			continue
		}
		joined = append(joined, m)
	}
	return joined
}

// objects takes a member that is a list of objects, and leaves anything else
// and an empty list where they are.
func objects(r *rawjson.Reader, name string) ([]*rawjson.Reader, error) {
	list := rawjson.Elements(r.Peek(name))
	if len(list) == 0 {
		return nil, nil
	}
	readers := make([]*rawjson.Reader, len(list))
	for i, raw := range list {
		one, ok := rawjson.Read(raw)
		if !ok {
			return nil, fmt.Errorf("%s.%d: not an object", name, i)
		}
		readers[i] = one
	}
	r.Take(name)
	return readers, nil
}

func writeList[T any](w *rawjson.Writer, name string, list []T, encode func(T) (json.RawMessage, error)) {
	elements := make([]json.RawMessage, len(list))
	for i, one := range list {
		raw, err := encode(one)
		if err != nil {
			w.Fail(fmt.Errorf("%s.%d: %w", name, i, err))
			return
		}
		elements[i] = raw
	}
	w.Made(name, rawjson.Array(elements))
}

func takeMessages(r *rawjson.Reader) ([]quire.Message, error) {
	list, err := objects(r, "messages")
	if err != nil {
		return nil, err
	}
	messages := make([]quire.Message, len(list))
	for i, m := range list {
		messages[i] = decodeMessage(m)
	}
	return messages, nil
}

func decodeMessage(r *rawjson.Reader) quire.Message {
	var m quire.Message
	text := quire.PartUser
	switch {
	case r.Is("role", "user"):
		m.Role = quire.RoleUser
	case r.Is("role", "assistant"):
		m.Role, text = quire.RoleAssistant, quire.PartText
	case r.Is("role", "system"):
		m.Role, text = quire.RoleSystem, quire.PartSystem
	}
	m.Blocks = takeContent(r, "content", text, 0)
	m.Rest = r.Rest()
	return m
}

func encodeMessage(m quire.Message) (json.RawMessage, error) {
	var w rawjson.Writer
	switch m.Role {
	case quire.RoleUser, quire.RoleTool:
		w.Full("role", "user")
	case quire.RoleAssistant, quire.RoleSystem:
		w.Full("role", m.Role.String())
	}
	writeContent(&w, "content", m.Blocks)
	w.Rest(m.Rest)
	return w.Bytes()
}

func takeTools(r *rawjson.Reader) ([]quire.ToolSpec, error) {
	list, err := objects(r, "tools")
	if err != nil {
		return nil, err
	}
	tools := make([]quire.ToolSpec, len(list))
	for i, t := range list {
		tools[i] = decodeTool(t)
	}
	return tools, nil
}

// decodeTool reads a tool. The type "custom" is that of an ordinary function,
// whose Type is empty; it stays in Rest.
func decodeTool(r *rawjson.Reader) quire.ToolSpec {
	t := quire.ToolSpec{Name: r.Text("name"), Description: r.Text("description")}
	if kind, _ := rawjson.TextOf(r.Peek("type")); kind != "custom" {
		t.Type = r.Text("type")
	}
	if _, ok := rawjson.Read(r.Peek("input_schema")); ok {
		t.Schema = r.Take("input_schema")
	}
	t.Cache = takeMark(r)
	t.Rest = r.Rest()
	return t
}

func encodeTool(t quire.ToolSpec) (json.RawMessage, error) {
	var w rawjson.Writer
	w.Text("type", t.Type)
	w.Text("name", t.Name)
	w.Text("description", t.Description)
	w.Raw("input_schema", t.Schema)
	writeMark(&w, t.Cache, t.Rest)
	return w.Bytes()
}

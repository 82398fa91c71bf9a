package gemini

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// DecodeCall reads the body of a request. Values in the Call are parts of b,
// which must not change while they are in use. It refuses what is no object and
// contents that hold anything else; whether the API would take the request it
// does not judge. Names of members in the other spelling that the API takes, with
// underscores, are read as if they were in its first; then the Call holds parts of
// another body than b, and is written in the first spelling.
func DecodeCall(b []byte) (quire.Call, error) {
	r, err := rawjson.Parse(spelled(b))
	if err != nil {
		return quire.Call{}, fmt.Errorf("decode Gemini request: %w", err)
	}
	var c quire.Call
	c.Choice = takeChoice(r)
	c.MaxOutput, c.Thinking = takeSettings(r)
	c.System = takeSystem(r)
	c.Tools = takeTools(r)
	if c.Messages, err = takeContents(r); err != nil {
		return quire.Call{}, fmt.Errorf("decode Gemini request: %w", err)
	}
	NameCalls(c.Messages)
	c.Rest = r.Rest()
	return c, nil
}

// EncodeCall is the body of a request. Messages of RoleTool that follow each
// other become one content, as the API wants the results of parallel calls; a
// system message between others speaks as the user. It fails where arguments, or
// a value that rides along, are not JSON.
func EncodeCall(c quire.Call) ([]byte, error) {
	var w rawjson.Writer
	writeTools(&w, c)
	writeSystem(&w, c)
	if messages := joinResults(c.Messages); len(messages) > 0 {
		writeList(&w, "contents", messages, encodeContent)
	}
	writeChoice(&w, c)
	writeSettings(&w, c)
	w.Rest(c.Rest, toolsName, systemName, choiceName, settingsName)
	b, err := w.Bytes()
	if err != nil {
		return nil, fmt.Errorf("encode Gemini request: %w", err)
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

func takeContents(r *rawjson.Reader) ([]quire.Message, error) {
	list := rawjson.Elements(r.Peek("contents"))
	if len(list) == 0 {
		return nil, nil
	}
	messages := make([]quire.Message, len(list))
	for i, raw := range list {
		one, ok := rawjson.Read(raw)
		if !ok {
			return nil, fmt.Errorf("contents.%d: not an object", i)
		}
		messages[i] = decodeContent(one)
	}
	r.Take("contents")
	return messages, nil
}

func decodeContent(r *rawjson.Reader) quire.Message {
	m := quire.Message{Role: roleOf(r.Peek("role"))}
	text := quire.PartUser
	switch m.Role {
	case quire.RoleAssistant:
		text = quire.PartText
		r.Take("role")
	case quire.RoleUser:
		r.Is("role", "user")
	}
	m.Blocks = takeParts(r, text)
	m.Rest = r.Rest()
	return m
}

// roleOf reads a role. The old role of function results is the user's now.
func roleOf(raw json.RawMessage) quire.Role {
	switch role, _ := rawjson.TextOf(raw); role {
	case "user", "function":
		return quire.RoleUser
	case "model":
		return quire.RoleAssistant
	}
	return 0
}

func encodeContent(m quire.Message) (json.RawMessage, error) {
	var w rawjson.Writer
	kept := rawjson.Get(m.Rest, "role")
	switch {
	case kept != nil && roleOf(kept) == m.Role:
		w.Raw("role", kept)
	case m.Role == quire.RoleAssistant:
		w.Full("role", "model")
	case m.Role != 0:
		w.Full("role", "user")
	}
	if len(m.Blocks) > 0 {
		writeList(&w, "parts", m.Blocks, encodePart)
	}
	w.Rest(m.Rest)
	return w.Bytes()
}

const systemName = "systemInstruction"

// takeSystem takes systemInstruction if it is nothing but parts, and leaves it
// otherwise.
func takeSystem(r *rawjson.Reader) []quire.Block {
	blocks, exact := systemOf(r.Peek(systemName))
	if exact {
		r.Take(systemName)
	}
	return blocks
}

func systemOf(raw json.RawMessage) (blocks []quire.Block, exact bool) {
	o, ok := rawjson.Read(raw)
	if !ok {
		return nil, false
	}
	blocks = takeParts(o, quire.PartSystem)
	return blocks, len(blocks) > 0 && len(o.Rest()) == 0
}

func writeSystem(w *rawjson.Writer, c quire.Call) {
	if kept := rawjson.Get(c.Rest, systemName); kept != nil {
		if old, _ := systemOf(kept); reflect.DeepEqual(old, c.System) {
			w.Raw(systemName, kept)
			return
		}
	}
	if len(c.System) == 0 {
		return
	}
	var o rawjson.Writer
	writeList(&o, "parts", c.System, encodePart)
	w.Object(systemName, &o)
}

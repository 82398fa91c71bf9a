package curation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// An Item is one element of a list of messages, without its cache marks.
type Item struct {
	Raw    json.RawMessage
	Role   quire.Role // 0 where it is not known
	Blocks []quire.Block
	ID     string        // of the message
	Rest   []quire.Field // of the message
}

// errList says that the list of a request does not fit to what was read of it.
var errList = errors.New("the list of messages cannot be taken apart")

// Items takes the list of a request apart. call is what the request was decoded to.
// An item of messages[i] belongs to message i of the call; where several elements
// are one message, items follow each other with the same number. Elements that
// became the call's system text are left out: lead says how many they are.
func (d *Dialect) Items(body []byte, call *quire.Call) (items []Item, messages []int, lead int, err error) {
	list := rawjson.Elements(rawjson.Get(rawjson.Members(body), d.list))
	if d.list == "input" {
		items, messages, err = d.separate(list, call)
		return items, messages, len(list) - len(items), err
	}
	lead = len(list) - len(call.Messages)
	if lead < 0 {
		return nil, nil, 0, errList
	}
	for i := range call.Messages {
		items, messages = append(items, d.item(list[lead+i], &call.Messages[i])), append(messages, i)
	}
	return items, messages, lead, nil
}

// separate takes a list apart of which neighbours can be one message.
func (d *Dialect) separate(list []json.RawMessage, call *quire.Call) (items []Item, messages []int, err error) {
	at := -1
	for _, raw := range list {
		m, system, err := d.one(raw)
		if err != nil {
			return nil, nil, err
		}
		if system && at < 0 {
			continue
		}
		it := d.item(raw, &m)
		if n := len(items); n == 0 || it.Role != quire.RoleAssistant || items[n-1].Role != quire.RoleAssistant {
			at++
		}
		items, messages = append(items, it), append(messages, at)
	}
	if at+1 != len(call.Messages) {
		return nil, nil, errList
	}
	return items, messages, nil
}

// one reads an element by itself.
func (d *Dialect) one(raw json.RawMessage) (m quire.Message, system bool, err error) {
	body := append(append([]byte(`{"`+d.list+`":[`), raw...), "]}"...)
	call, err := d.decodeCall(body)
	switch {
	case err != nil:
		return m, false, fmt.Errorf("read an element of %s: %w", d.list, err)
	case len(call.Messages) == 1:
		return call.Messages[0], false, nil
	case len(call.System) > 0:
		return quire.Message{Role: quire.RoleSystem, Blocks: call.System}, true, nil
	}
	return m, false, errList
}

// Read is an item from its bytes alone. Where calls have no ids (Gemini) results
// are named by use, in their order.
func (d *Dialect) Read(raw json.RawMessage, uses []string) (Item, error) {
	m, _, err := d.one(raw)
	if err != nil {
		return Item{}, err
	}
	for i := range m.Blocks {
		if b := &m.Blocks[i]; b.Opaque == nil && (b.Kind == quire.PartToolCall || b.Kind == quire.PartToolResult) && len(uses) > 0 {
			b.ToolUse, uses = uses[0], uses[1:]
		}
	}
	return d.item(raw, &m), nil
}

// Uses are the ids of the calls and results of an item, in their order.
func (it *Item) Uses() (list []string) {
	for i := range it.Blocks {
		if b := &it.Blocks[i]; b.Opaque == nil && (b.Kind == quire.PartToolCall || b.Kind == quire.PartToolResult) {
			list = append(list, b.ToolUse)
		}
	}
	return list
}

func (d *Dialect) item(raw json.RawMessage, m *quire.Message) Item {
	if d.marks {
		raw = unmarked(raw)
	}
	return Item{Raw: raw, Role: m.Role, Blocks: m.Blocks, ID: m.ID, Rest: m.Rest}
}

// Made are the items of a message that a model made. Arguments that are JSON in the
// list are written as clients write them anew, without white space between members.
func (d *Dialect) Made(blocks []quire.Block) ([]Item, error) {
	if d.joins {
		blocks = compacted(blocks)
	}
	list, err := d.elements([]quire.Message{{Role: quire.RoleAssistant, Blocks: blocks}})
	if err != nil {
		return nil, fmt.Errorf("write an answer as %s: %w", d.list, err)
	}
	var items []Item
	at := 0
	for _, raw := range list {
		m, _, err := d.one(raw)
		if err != nil {
			return nil, err
		}
		for i := range m.Blocks {
			if at+i < len(blocks) && m.Blocks[i].Kind == blocks[at+i].Kind {
				m.Blocks[i].ToolUse = blocks[at+i].ToolUse // a name that is not sent
			}
		}
		at += len(m.Blocks)
		items = append(items, d.item(raw, &m))
	}
	return items, nil
}

// compacted are blocks with the arguments of calls as clients write them.
func compacted(blocks []quire.Block) []quire.Block {
	out := slices.Clone(blocks)
	for i := range out {
		if text := []byte(out[i].Text); out[i].Kind == quire.PartToolCall && out[i].Opaque == nil && json.Valid(text) {
			out[i].Text = string(appendPlain(nil, text))
		}
	}
	return out
}

// appendPlain appends valid JSON without white space and with no more escapes than
// there must be. Numbers keep their digits, members their order.
func appendPlain(dst []byte, raw json.RawMessage) []byte {
	switch {
	case rawjson.IsObject(raw):
		dst = append(dst, '{')
		for i, f := range rawjson.Members(raw) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendPlain(append(rawjson.AppendText(dst, f.Name), ':'), f.Value)
		}
		return append(dst, '}')
	case rawjson.IsArray(raw):
		dst = append(dst, '[')
		for i, e := range rawjson.Elements(raw) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendPlain(dst, e)
		}
		return append(dst, ']')
	case rawjson.IsString(raw):
		if text, exact := rawjson.TextOf(raw); exact {
			return rawjson.AppendText(dst, text)
		}
	}
	return append(dst, bytes.TrimSpace(raw)...)
}

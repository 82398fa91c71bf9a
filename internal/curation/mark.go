package curation

import (
	"bytes"
	"encoding/json"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// markName is the member that marks a place for the cache.
const markName = "cache_control"

// Longest is the longest lifetime that a request of the Messages API asks for, in
// whatever place; MarkNone where it asks for none.
func (d *Dialect) Longest(c *quire.Call) quire.Mark {
	mark := quire.MarkNone
	if !d.marks {
		return mark
	}
	if top := rawjson.Get(c.Rest, markName); top != nil {
		mark = lifeOf(top)
	}
	for i := range c.Tools {
		mark = max(mark, c.Tools[i].Cache)
	}
	mark = max(mark, deepest(c.System))
	for i := range c.Messages {
		mark = max(mark, deepest(c.Messages[i].Blocks))
	}
	return mark
}

// Tail is the longest lifetime that a request of the Messages API asks for in its
// list: MarkNone where it asks for none there.
func (d *Dialect) Tail(c *quire.Call) quire.Mark {
	mark := quire.MarkNone
	if !d.marks {
		return mark
	}
	if top := rawjson.Get(c.Rest, markName); top != nil {
		mark = lifeOf(top)
	}
	for i := range c.Messages {
		mark = max(mark, deepest(c.Messages[i].Blocks))
	}
	return mark
}

func deepest(blocks []quire.Block) (mark quire.Mark) {
	for i := range blocks {
		mark = max(mark, blocks[i].Cache, deepest(blocks[i].Content))
	}
	return mark
}

func lifeOf(raw json.RawMessage) quire.Mark {
	ttl, _ := rawjson.TextOf(rawjson.Get(rawjson.Members(raw), "ttl"))
	switch {
	case !rawjson.IsObject(raw):
		return quire.MarkNone
	case ttl == "1h":
		return quire.MarkLong
	}
	return quire.MarkShort
}

func markOf(m quire.Mark) json.RawMessage {
	if m == quire.MarkLong {
		return json.RawMessage(`{"type":"ephemeral","ttl":"1h"}`)
	}
	return json.RawMessage(`{"type":"ephemeral"}`)
}

// unmarked is an element, a tool, or a list of them, without the marks on it and on
// the pieces of its content. What has none is the same bytes.
func unmarked(raw json.RawMessage) json.RawMessage {
	if !bytes.Contains(raw, []byte(`"`+markName+`"`)) {
		return raw
	}
	switch {
	case rawjson.IsArray(raw):
		list := rawjson.Elements(raw)
		for i := range list {
			list[i] = unmarked(list[i])
		}
		return rawjson.Array(list)
	case rawjson.IsObject(raw):
		return object(rawjson.Members(raw), func(f *quire.Field) bool {
			if f.Name == "content" {
				f.Value = unmarked(f.Value)
			}
			return f.Name != markName
		})
	}
	return raw
}

// object writes the members that keep allows, which may change their values.
func object(fields []quire.Field, keep func(*quire.Field) bool) json.RawMessage {
	out := []byte{'{'}
	for _, f := range fields {
		if !keep(&f) {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(rawjson.AppendText(out, f.Name), ':')
		out = append(out, f.Value...)
	}
	return append(out, '}')
}

// marked is an element with a mark on piece i of its content. A content that is a
// text becomes a list of one.
func marked(raw json.RawMessage, i int, m quire.Mark) json.RawMessage {
	return object(rawjson.Members(raw), func(f *quire.Field) bool {
		if f.Name == "content" {
			f.Value = markedList(f.Value, i, m)
		}
		return true
	})
}

func markedList(raw json.RawMessage, i int, m quire.Mark) json.RawMessage {
	if rawjson.IsString(raw) {
		raw = json.RawMessage(`[{"type":"text","text":` + string(raw) + `}]`)
	}
	list := rawjson.Elements(raw)
	if i >= 0 && i < len(list) && rawjson.IsObject(list[i]) {
		list[i] = object(append(rawjson.Members(list[i]), quire.Field{Name: markName, Value: markOf(m)}), func(*quire.Field) bool { return true })
	}
	return rawjson.Array(list)
}

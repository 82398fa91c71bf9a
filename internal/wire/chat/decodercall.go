package chat

import (
	"encoding/json"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/openai"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// A callState is a tool call that streams.
type callState struct {
	slot  string // the index as it is written, "" without one
	index int    // of the block, -1 until it has begun
	block quire.Block
}

// call reads a piece of a tool call.
func (d *Decoder) call(raw json.RawMessage) []quire.Delta {
	r, ok := rawjson.Read(raw)
	if !ok {
		return nil
	}
	deltas := d.close()
	slot, id := string(r.Take("index")), r.Text("id")
	place, argument := "function", "arguments"
	if r.Peek("custom") != nil {
		place, argument = "custom", "input"
	}
	inner, _ := rawjson.Read(r.Take(place))
	name, text := inner.Text("name"), argumentText(inner.Peek(argument))
	c := d.find(slot, id, name)
	if c.block.ToolUse == "" {
		c.block.ToolUse = id
	}
	if c.index >= 0 {
		return append(deltas, grewBy(c.index, text)...)
	}
	c.block.Text += text
	c.block.Rest = append(c.block.Rest, callRest(r)...)
	if name == "" {
		return deltas
	}
	c.block.Tool = name
	return append(deltas, d.beginCall(c)...)
}

func grewBy(index int, text string) []quire.Delta {
	if text == "" {
		return nil
	}
	return []quire.Delta{quire.BlockGrew{Index: index, Text: text}}
}

// callRest is what rides along with a call: all but the ordinary type.
func callRest(r *rawjson.Reader) []quire.Field {
	r.Is("type", "function")
	r.Is("type", "")
	return openai.Without(r.Rest(), "id", "function", "custom")
}

func argumentText(raw json.RawMessage) string {
	if text, ok := rawjson.TextOf(raw); ok {
		return text
	}
	if len(raw) > 0 && raw[0] == '{' {
		return string(raw)
	}
	return ""
}

// find is the call that a piece belongs to: the last one of that index, or of
// that id where there is no index, or just the last one. A piece with a name and
// another id begins a new call, whatever its index: some servers number all 0.
func (d *Decoder) find(slot, id, name string) *callState {
	for i := len(d.calls) - 1; i >= 0; i-- {
		c := d.calls[i]
		other := id != "" && c.block.ToolUse != "" && c.block.ToolUse != id
		switch {
		case slot != "" && c.slot == slot && !(other && name != ""):
			return c
		case slot == "" && !other && (id != "" || name == ""):
			return c
		}
	}
	c := &callState{slot: slot, index: -1, block: quire.Block{Part: quire.Part{Kind: quire.PartToolCall}}}
	d.calls = append(d.calls, c)
	return c
}

func (d *Decoder) beginCall(c *callState) []quire.Delta {
	c.index = d.next
	d.next++
	nameCall(&c.block, d.id, c.index)
	text := c.block.Text
	begun := c.block
	begun.Text = ""
	return append([]quire.Delta{quire.BlockBegun{Index: c.index, Block: begun}}, grewBy(c.index, text)...)
}

// closeCall ends a call. One that never got a name begins and ends at once.
func (d *Decoder) closeCall(c *callState) []quire.Delta {
	var deltas []quire.Delta
	if c.index < 0 {
		deltas = d.beginCall(c)
	}
	return append(deltas, quire.BlockEnded{Index: c.index})
}

// joinDetails adds pieces of thinking to those that are there. A piece with the
// type and index of the last one continues it: its texts are appended, its other
// members replace.
func joinDetails(details, more []json.RawMessage) []json.RawMessage {
	for _, raw := range more {
		if len(details) > 0 {
			if joined, ok := joinDetail(details[len(details)-1], raw); ok {
				details[len(details)-1] = joined
				continue
			}
		}
		details = append(details, raw)
	}
	return details
}

func joinDetail(last, next json.RawMessage) (json.RawMessage, bool) {
	a, ok := rawjson.Read(last)
	b, isObject := rawjson.Read(next)
	if !ok || !isObject || b.Peek("index") == nil {
		return nil, false
	}
	for _, name := range [...]string{"type", "index"} {
		if string(a.Peek(name)) != string(b.Peek(name)) {
			return nil, false
		}
	}
	for _, f := range b.Rest() {
		before, isText := rawjson.TextOf(a.Peek(f.Name))
		after, both := rawjson.TextOf(f.Value)
		switch {
		case isText && both && (f.Name == "text" || f.Name == "summary" || f.Name == "data"):
			a.Put(f.Name, openai.Quote(before+after))
		case string(f.Value) != "null":
			a.Put(f.Name, f.Value)
		}
	}
	return openai.Object(a.Rest()), true
}

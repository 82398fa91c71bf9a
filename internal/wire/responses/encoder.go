package responses

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/openai"
	"github.com/quire-agent/quire/internal/x/rawjson"
	"github.com/quire-agent/quire/internal/x/sse"
)

// An Encoder turns the deltas of one answer into the bytes of its events, all
// that the API sends, numbered in sequence. The zero Encoder is ready; it is not
// for use from several goroutines. It keeps the answer until its end, as the last
// event repeats it.
type Encoder struct {
	begun  quire.ReplyBegun
	number int64 // of the next event
	blocks []outgoing
	items  []outItem
	last   int // the item whose message may go on, -1 without one
}

// An outgoing is a block and where it stands.
type outgoing struct {
	block quire.Block
	item  int // output_index
	part  int // content_index
	said  bool
}

// An outItem is an item of the output; raw is set when it has ended.
type outItem struct {
	id     string
	blocks []int
	raw    json.RawMessage
}

// Encode is the events of one delta, none for one that says nothing yet. It
// fails for what is not JSON where it should be.
func (e *Encoder) Encode(delta quire.Delta) ([]byte, error) {
	out := &events{number: &e.number}
	switch d := delta.(type) {
	case quire.ReplyBegun:
		e.begin(out, d)
	case quire.BlockBegun:
		e.beginBlock(out, d)
	case quire.BlockGrew:
		e.growBlock(out, d)
	case quire.BlockEnded:
		e.endBlock(out, d)
	case quire.ReplyEnded:
		e.finish(out, d)
	}
	if out.err != nil {
		return nil, fmt.Errorf("write responses stream: %w", out.err)
	}
	return out.bytes, nil
}

func (e *Encoder) begin(out *events, d quire.ReplyBegun) {
	e.begun, e.last = d, -1
	response := e.response(out, quire.ReplyEnded{}, "in_progress")
	for _, name := range [...]string{"response.created", "response.in_progress"} {
		out.add(name, func(w *rawjson.Writer) { w.Made("response", response) })
	}
}

// response is the answer as far as it is known.
func (e *Encoder) response(out *events, d quire.ReplyEnded, status string) json.RawMessage {
	reply := quire.Reply{ID: e.begun.ID, Model: e.begun.Model, Stop: d.Stop, Usage: d.Usage, Rest: over(e.begun.Rest, d.Rest)}
	for _, b := range e.blocks {
		reply.Blocks = append(reply.Blocks, b.block)
	}
	if status != "" {
		reply.Rest = over(reply.Rest, []quire.Field{{Name: "status", Value: openai.Quote(status)}})
		reply.Stop = quire.StopUnknown
	}
	var items []json.RawMessage
	for _, it := range e.items {
		items = append(items, it.raw)
	}
	raw, err := encodeResponse(reply, items)
	if err != nil {
		out.fail(err)
	}
	return raw
}

// over is a list of members with those of another in place of, or behind, them.
func over(old, with []quire.Field) []quire.Field {
	var list []quire.Field
	for _, f := range old {
		if rawjson.Get(with, f.Name) == nil {
			list = append(list, f)
		}
	}
	return append(list, with...)
}

func (e *Encoder) beginBlock(out *events, d quire.BlockBegun) {
	if d.Index != len(e.blocks) {
		out.fail(fmt.Errorf("block %d begins where %d is due", d.Index, len(e.blocks)))
		return
	}
	inside := e.last >= 0 && continues(d.Block)
	b := dress(d.Block, e.begun.ID, d.Index, inside)
	if !inside {
		e.closeMessage(out)
		e.items = append(e.items, outItem{id: itemID(b)})
	}
	place := len(e.items) - 1
	e.items[place].blocks = append(e.items[place].blocks, d.Index)
	text := b.Text
	b.Text = ""
	e.blocks = append(e.blocks, outgoing{block: b, item: place, part: len(e.items[place].blocks) - 1})
	switch {
	case isPart(b):
		e.beginPart(out, d.Index, inside)
	case b.Opaque != nil:
		e.item(out, "response.output_item.added", place, b.Opaque)
	default:
		e.item(out, "response.output_item.added", place, e.made(out, d.Index))
	}
	e.growBlock(out, quire.BlockGrew{Index: d.Index, Text: text})
}

// itemID is the id of the item that a block begins.
func itemID(b quire.Block) string {
	raw := rawjson.Get(b.Rest, "id")
	if isPart(b) {
		head, _ := rawjson.Read(rawjson.Get(b.Rest, itemMessage))
		raw = head.Peek("id")
	}
	id, _ := rawjson.TextOf(raw)
	return id
}

// beginPart announces a part of a message, and the message before its first.
func (e *Encoder) beginPart(out *events, index int, inside bool) {
	o := e.blocks[index]
	if !inside {
		e.last = o.item
		head, _ := rawjson.Read(rawjson.Get(o.block.Rest, itemMessage))
		var w rawjson.Writer
		w.Text("role", "assistant")
		w.Made("status", json.RawMessage(`"in_progress"`))
		w.Made("content", json.RawMessage("[]"))
		w.Rest(head.Rest())
		raw, err := w.Bytes()
		if err != nil {
			out.fail(err)
		}
		e.item(out, "response.output_item.added", o.item, raw)
	}
	e.part(out, "response.content_part.added", o)
}

// part is an event about a part of a message, with the part as it is.
func (e *Encoder) part(out *events, name string, o outgoing) {
	b := o.block
	b.Rest = openai.Without(b.Rest, itemMessage)
	raw, err := encodePart(b)
	if err != nil {
		out.fail(err)
	}
	e.about(out, name, o, func(w *rawjson.Writer) { w.Made("part", raw) })
}

// about is an event about a block.
func (e *Encoder) about(out *events, name string, o outgoing, fill func(*rawjson.Writer)) {
	out.add(name, func(w *rawjson.Writer) {
		w.Full("item_id", e.items[o.item].id)
		w.Number("output_index", int64(o.item))
		switch {
		case isPart(o.block):
			w.Number("content_index", int64(o.part))
		case o.block.Kind == quire.PartThinking:
			w.Number("summary_index", 0)
		}
		fill(w)
	})
}

func (e *Encoder) item(out *events, name string, place int, raw json.RawMessage) {
	out.add(name, func(w *rawjson.Writer) {
		w.Number("output_index", int64(place))
		w.Made("item", raw)
	})
}

// made is the item that a block is.
func (e *Encoder) made(out *events, index int) json.RawMessage {
	raw, err := encodeMade([]quire.Block{e.blocks[index].block})
	if err != nil {
		out.fail(err)
	}
	return raw
}

func (e *Encoder) growBlock(out *events, d quire.BlockGrew) {
	if d.Index >= len(e.blocks) {
		out.fail(fmt.Errorf("block %d grows before it begins", d.Index))
		return
	}
	o := &e.blocks[d.Index]
	o.block.Signature += d.Signature
	if d.Text == "" {
		return
	}
	if o.block.Kind == quire.PartThinking && !o.said {
		e.about(out, "response.reasoning_summary_part.added", *o, summaryPart(""))
	}
	o.said = true
	o.block.Text += d.Text
	growth, _, _ := eventNames(o.block)
	e.about(out, growth, *o, func(w *rawjson.Writer) {
		w.Full("delta", d.Text)
		if growth == "response.output_text.delta" {
			w.Made("logprobs", json.RawMessage("[]"))
		}
	})
}

func summaryPart(text string) func(*rawjson.Writer) {
	return func(w *rawjson.Writer) {
		part := append([]byte(`{"type":"summary_text","text":`), openai.Quote(text)...)
		w.Made("part", append(part, '}'))
	}
}

// eventNames are the events that say more of a block and all of it, and the
// member that holds all of it.
func eventNames(b quire.Block) (growth, whole, member string) {
	switch {
	case b.Kind == quire.PartThinking:
		return "response.reasoning_summary_text.delta", "response.reasoning_summary_text.done", "text"
	case b.Kind == quire.PartToolCall && isCustom(b):
		return "response.custom_tool_call_input.delta", "response.custom_tool_call_input.done", "input"
	case b.Kind == quire.PartToolCall:
		return "response.function_call_arguments.delta", "response.function_call_arguments.done", "arguments"
	case isRefusal(b):
		return "response.refusal.delta", "response.refusal.done", "refusal"
	}
	return "response.output_text.delta", "response.output_text.done", "text"
}

func (e *Encoder) endBlock(out *events, d quire.BlockEnded) {
	if d.Index >= len(e.blocks) {
		out.fail(fmt.Errorf("block %d ends before it begins", d.Index))
		return
	}
	o := &e.blocks[d.Index]
	o.block.Rest = over(o.block.Rest, d.Rest)
	if o.block.Opaque == nil {
		e.whole(out, *o)
	}
	switch {
	case isPart(o.block):
		e.part(out, "response.content_part.done", *o)
	case o.block.Opaque != nil:
		e.endItem(out, o.item, o.block.Opaque)
	default:
		e.endItem(out, o.item, e.made(out, d.Index))
	}
}

// whole repeats the text of a block that ends.
func (e *Encoder) whole(out *events, o outgoing) {
	_, name, member := eventNames(o.block)
	if o.block.Kind == quire.PartThinking && !o.said {
		return
	}
	e.about(out, name, o, func(w *rawjson.Writer) {
		w.Full(member, o.block.Text)
		switch name {
		case "response.output_text.done":
			w.Made("logprobs", json.RawMessage("[]"))
		case "response.function_call_arguments.done":
			w.Full("name", o.block.Tool)
		}
	})
	if o.block.Kind == quire.PartThinking {
		e.about(out, "response.reasoning_summary_part.done", o, summaryPart(o.block.Text))
	}
}

func (e *Encoder) endItem(out *events, place int, raw json.RawMessage) {
	e.items[place].raw = raw
	e.item(out, "response.output_item.done", place, raw)
}

// closeMessage ends the message that may have gone on.
func (e *Encoder) closeMessage(out *events) {
	if e.last < 0 {
		return
	}
	var blocks []quire.Block
	for _, i := range e.items[e.last].blocks {
		blocks = append(blocks, e.blocks[i].block)
	}
	raw, err := encodeWords(blocks)
	if err != nil {
		out.fail(err)
	}
	e.endItem(out, e.last, raw)
	e.last = -1
}

func (e *Encoder) finish(out *events, d quire.ReplyEnded) {
	e.closeMessage(out)
	response := e.response(out, d, "")
	r, _ := rawjson.Read(response)
	status, _ := rawjson.TextOf(r.Peek("status"))
	name := "response.completed"
	if status == "incomplete" {
		name = "response.incomplete"
	}
	out.add(name, func(w *rawjson.Writer) { w.Made("response", response) })
}

// events collects events, up to the first error.
type events struct {
	bytes  []byte
	number *int64
	err    error
}

func (ev *events) fail(err error) {
	if ev.err == nil {
		ev.err = err
	}
}

// add adds an event whose type is its name, on one line.
func (ev *events) add(name string, fill func(*rawjson.Writer)) {
	var w rawjson.Writer
	w.Full("type", name)
	w.Made("sequence_number", json.RawMessage(strconv.FormatInt(*ev.number, 10)))
	*ev.number++
	fill(&w)
	raw, err := w.Bytes()
	if err != nil {
		ev.fail(err)
		return
	}
	var line bytes.Buffer
	if err := json.Compact(&line, raw); err != nil {
		ev.fail(err)
		return
	}
	ev.bytes = sse.Append(ev.bytes, sse.Event{Name: name, Data: line.Bytes()})
}

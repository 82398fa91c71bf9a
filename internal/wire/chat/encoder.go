package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/openai"
	"github.com/quire-agent/quire/internal/x/rawjson"
	"github.com/quire-agent/quire/internal/x/sse"
)

// An Encoder turns the deltas of one answer into the bytes of its events. The
// zero Encoder is ready for use. It is not for use from several goroutines.
type Encoder struct {
	Usage bool // a last chunk with the usage, as stream_options.include_usage asks for

	begun  quire.ReplyBegun
	calls  int
	blocks map[int]outgoing
}

// An outgoing is what the encoder knows of an open block.
type outgoing struct {
	block quire.Block
	slot  int // of a tool call, its index among them
}

// errNoForm is what a block is that has no place in a stream of this protocol.
var errNoForm = errors.New("a block of this kind has no form in a chat stream")

// Encode writes a delta as events; none for one that says nothing in this
// protocol. The deltas must come in the order that [quire.Delta] tells.
func (e *Encoder) Encode(d quire.Delta) ([]byte, error) {
	switch d := d.(type) {
	case quire.ReplyBegun:
		e.begun = d
		return e.chunk(json.RawMessage(`{"role":"assistant","content":""}`), nil)
	case quire.BlockBegun:
		return e.begin(d)
	case quire.BlockGrew:
		return e.grow(e.blocks[d.Index], d.Text)
	case quire.BlockEnded:
		return e.end(d)
	case quire.ReplyEnded:
		return e.finish(d)
	}
	return nil, fmt.Errorf("write chat stream: unknown delta %T", d)
}

func (e *Encoder) begin(d quire.BlockBegun) ([]byte, error) {
	if e.blocks == nil {
		e.blocks = make(map[int]outgoing)
	}
	out := outgoing{block: d.Block}
	switch d.Block.Kind {
	case quire.PartText, quire.PartThinking:
	case quire.PartToolCall:
		out.slot = e.calls
		e.calls++
	default:
		return nil, fmt.Errorf("write chat stream: %w", errNoForm)
	}
	if d.Block.Opaque != nil {
		return nil, fmt.Errorf("write chat stream: %w", errNoForm)
	}
	e.blocks[d.Index] = out
	if out.block.Kind == quire.PartToolCall {
		return e.beginCall(out)
	}
	return e.grow(out, d.Block.Text)
}

func (e *Encoder) beginCall(out outgoing) ([]byte, error) {
	raw, err := toolCall(out.block)
	if err != nil {
		return nil, fmt.Errorf("write chat stream: %w", err)
	}
	var w rawjson.Writer
	w.Number("index", int64(out.slot))
	call, _ := rawjson.Read(raw)
	w.Rest(call.Rest())
	return e.callChunk(&w)
}

func (e *Encoder) callChunk(w *rawjson.Writer) ([]byte, error) {
	call, err := w.Bytes()
	if err != nil {
		return nil, fmt.Errorf("write chat stream: %w", err)
	}
	var delta rawjson.Writer
	delta.Made("tool_calls", rawjson.Array([]json.RawMessage{call}))
	raw, _ := delta.Bytes()
	return e.chunk(raw, nil)
}

// grow writes more text of a block.
func (e *Encoder) grow(out outgoing, text string) ([]byte, error) {
	if text == "" {
		return nil, nil
	}
	var w rawjson.Writer
	switch out.block.Kind {
	case quire.PartToolCall:
		return e.growCall(out, text)
	case quire.PartThinking:
		writeThought(&w, out.block, text)
	default:
		w.Text(textMember(out.block), text)
	}
	raw, err := w.Bytes()
	if err != nil {
		return nil, fmt.Errorf("write chat stream: %w", err)
	}
	return e.chunk(raw, nil)
}

// writeThought writes more thinking in the form in which its block came.
func writeThought(w *rawjson.Writer, b quire.Block, text string) {
	switch {
	case isPart(b):
		b.Text = text
		w.Made("content", encodeParts(w, []quire.Block{b}))
	case rawjson.Get(b.Rest, reasonName) != nil && rawjson.Get(b.Rest, thoughtName) == nil:
		w.Text(reasonName, text)
	default:
		w.Text(thoughtName, text)
	}
}

func textMember(b quire.Block) string {
	if isRefusal(b) {
		return "refusal"
	}
	return "content"
}

func (e *Encoder) growCall(out outgoing, text string) ([]byte, error) {
	place, argument := "function", "arguments"
	if kind, _ := rawjson.TextOf(rawjson.Get(out.block.Rest, "type")); kind == "custom" {
		place, argument = "custom", "input"
	}
	var w, inner rawjson.Writer
	inner.Text(argument, text)
	w.Number("index", int64(out.slot))
	w.Object(place, &inner)
	return e.callChunk(&w)
}

// end writes what a block has only at its end: the details of thinking.
func (e *Encoder) end(d quire.BlockEnded) ([]byte, error) {
	details := rawjson.Get(d.Rest, detailsName)
	if details == nil {
		details = rawjson.Get(e.blocks[d.Index].block.Rest, detailsName)
	}
	delete(e.blocks, d.Index)
	if details == nil {
		return nil, nil
	}
	var w rawjson.Writer
	w.Raw(detailsName, details)
	raw, err := w.Bytes()
	if err != nil {
		return nil, fmt.Errorf("write chat stream: %w", err)
	}
	return e.chunk(raw, nil)
}

func (e *Encoder) finish(d quire.ReplyEnded) ([]byte, error) {
	var choice *rawjson.Reader
	if list, ok := openai.List(rawjson.Get(d.Rest, "choices")); ok {
		choice, _ = rawjson.Read(list[0])
	}
	out, err := e.chunk(json.RawMessage("{}"), keptReason(choice.Peek("finish_reason"), d.Stop))
	if err != nil {
		return nil, err
	}
	if e.Usage {
		w := e.head()
		w.Made("choices", json.RawMessage("[]"))
		w.Raw("usage", keptUsage(d.Usage, d.Rest))
		raw, err := compact(w)
		if err != nil {
			return nil, err
		}
		out = sse.Append(out, sse.Event{Data: raw})
	}
	return sse.Append(out, sse.Event{Data: []byte("[DONE]")}), nil
}

// head begins a chunk.
func (e *Encoder) head() *rawjson.Writer {
	w := new(rawjson.Writer)
	w.Full("id", e.begun.ID)
	w.Text("object", "chat.completion.chunk")
	w.Raw("created", rawjson.Get(e.begun.Rest, "created"))
	w.Number("created", 0)
	w.Full("model", e.begun.Model)
	w.Rest(e.begun.Rest, "choices", "usage")
	return w
}

// chunk writes a chunk with what is new in the one choice.
func (e *Encoder) chunk(delta, reason json.RawMessage) ([]byte, error) {
	var choice rawjson.Writer
	choice.Number("index", 0)
	choice.Made("delta", delta)
	choice.Raw("finish_reason", reason)
	choice.Made("finish_reason", json.RawMessage("null"))
	raw, _ := choice.Bytes()
	w := e.head()
	w.Made("choices", rawjson.Array([]json.RawMessage{raw}))
	data, err := compact(w)
	if err != nil {
		return nil, err
	}
	return sse.Append(nil, sse.Event{Data: data}), nil
}

// compact is an object on one line.
func compact(w *rawjson.Writer) ([]byte, error) {
	data, err := w.Bytes()
	if err != nil {
		return nil, fmt.Errorf("write chat stream: %w", err)
	}
	var line bytes.Buffer
	if err := json.Compact(&line, data); err != nil {
		return nil, fmt.Errorf("write chat stream: %w", err)
	}
	return line.Bytes(), nil
}

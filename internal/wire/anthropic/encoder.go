package anthropic

import (
	"encoding/json"
	"fmt"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
	"github.com/quire-agent/quire/internal/x/sse"
)

// An Encoder turns the deltas of one answer into the bytes of its events. The
// zero Encoder is ready for use.
type Encoder struct {
	kinds []quire.PartKind // of the blocks, by their number
}

// Encode is the events of one delta, none for one that says nothing here. It
// fails for a delta that is out of order and for what is not JSON.
func (e *Encoder) Encode(delta quire.Delta) ([]byte, error) {
	var out events
	switch delta := delta.(type) {
	case quire.ReplyBegun:
		out.begin(delta)
	case quire.BlockBegun:
		e.beginBlock(&out, delta)
	case quire.BlockGrew:
		e.growBlock(&out, delta)
	case quire.BlockEnded:
		e.endBlock(&out, delta)
	case quire.ReplyEnded:
		out.end(delta)
	}
	if out.err != nil {
		return nil, fmt.Errorf("encode Messages stream: %w", out.err)
	}
	return out.bytes, nil
}

// EncodeStreamError is the event of an error in the middle of a stream.
func EncodeStreamError(e *quire.CallError) []byte {
	_, body := EncodeError(e)
	return sse.Append(nil, sse.Event{Name: "error", Data: body})
}

// events collects events, up to the first error.
type events struct {
	bytes []byte
	err   error
}

// add adds an event whose type is its name.
func (ev *events) add(name string, fill func(*rawjson.Writer)) {
	var w rawjson.Writer
	w.Full("type", name)
	fill(&w)
	raw, err := w.Bytes()
	if err != nil {
		ev.fail(err)
		return
	}
	ev.bytes = sse.Append(ev.bytes, sse.Event{Name: name, Data: raw})
}

func (ev *events) fail(err error) {
	if ev.err == nil {
		ev.err = err
	}
}

func (ev *events) begin(d quire.ReplyBegun) {
	var message rawjson.Writer
	writeHead(&message, d.ID, d.Model)
	message.Made("content", json.RawMessage("[]"))
	writeTail(&message, "", d.Usage, d.Rest)
	ev.add("message_start", func(w *rawjson.Writer) { w.Object("message", &message) })
}

// end writes the end of an answer. Of the members that ride along those of the
// message itself go into delta, as the API has it.
func (ev *events) end(d quire.ReplyEnded) {
	var delta rawjson.Writer
	delta.Raw("stop_reason", reasonOf(d.Stop, rawjson.Get(d.Rest, "stop_reason")))
	delta.Raw("stop_sequence", orNull(rawjson.Get(d.Rest, "stop_sequence")))
	for _, name := range [...]string{"stop_details", "container"} {
		delta.Raw(name, rawjson.Get(d.Rest, name))
	}
	ev.add("message_delta", func(w *rawjson.Writer) {
		w.Object("delta", &delta)
		w.Made("usage", encodeUsage(d.Usage, rawjson.Get(d.Rest, "usage")))
		w.Rest(d.Rest, "stop_reason", "stop_sequence", "stop_details", "container")
	})
	ev.add("message_stop", func(*rawjson.Writer) {})
}

// beginBlock opens a block, empty as the API has it, and lets it grow by what it
// holds already.
func (e *Encoder) beginBlock(ev *events, d quire.BlockBegun) {
	if d.Index != len(e.kinds) {
		ev.fail(fmt.Errorf("block %d begins, want %d", d.Index, len(e.kinds)))
		return
	}
	e.kinds = append(e.kinds, d.Block.Kind)
	empty := d.Block
	empty.Text, empty.Signature = "", ""
	raw, err := encodeBlock(empty)
	if err != nil {
		ev.fail(err)
		return
	}
	ev.add("content_block_start", func(w *rawjson.Writer) {
		w.Number("index", int64(d.Index))
		w.Made("content_block", raw)
	})
	e.growBlock(ev, quire.BlockGrew{Index: d.Index, Text: d.Block.Text, Signature: d.Block.Signature})
}

// growth says how the text of a block of a kind grows: the type of the delta
// and the member that holds the text.
func growth(kind quire.PartKind) (delta, member string) {
	switch kind {
	case quire.PartThinking:
		return "thinking_delta", "thinking"
	case quire.PartToolCall:
		return "input_json_delta", "partial_json"
	default:
		return "text_delta", "text"
	}
}

func (e *Encoder) growBlock(ev *events, d quire.BlockGrew) {
	if d.Index < 0 || d.Index >= len(e.kinds) {
		ev.fail(fmt.Errorf("block %d grows and has not begun", d.Index))
		return
	}
	kind := e.kinds[d.Index]
	if d.Text != "" {
		name, member := growth(kind)
		ev.grow(d.Index, name, member, rawjson.AppendText(nil, d.Text))
	}
	if d.Signature != "" && kind == quire.PartThinking {
		ev.grow(d.Index, "signature_delta", "signature", rawjson.AppendText(nil, d.Signature))
	}
}

func (ev *events) grow(index int, name, member string, value json.RawMessage) {
	var delta rawjson.Writer
	delta.Full("type", name)
	delta.Raw(member, value)
	ev.add("content_block_delta", func(w *rawjson.Writer) {
		w.Number("index", int64(index))
		w.Object("delta", &delta)
	})
}

func (e *Encoder) endBlock(ev *events, d quire.BlockEnded) {
	if d.Index < 0 || d.Index >= len(e.kinds) {
		ev.fail(fmt.Errorf("block %d ends and has not begun", d.Index))
		return
	}
	for _, citation := range rawjson.Elements(rawjson.Get(d.Rest, "citations")) {
		ev.grow(d.Index, "citations_delta", "citation", citation)
	}
	ev.add("content_block_stop", func(w *rawjson.Writer) { w.Number("index", int64(d.Index)) })
}

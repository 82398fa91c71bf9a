package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
	"github.com/quire-agent/quire/internal/x/sse"
)

// DecodeStream reads an answer that streams. The first error ends the sequence.
// It is a [*quire.CallError] for an error that the provider sent, for an answer
// that ended early (CallCut) or that makes no sense (CallGarbled); faults of the
// reader come wrapped as they are. Nothing is read behind the end of the answer.
func DecodeStream(r io.Reader) iter.Seq2[quire.Delta, error] {
	return func(yield func(quire.Delta, error) bool) {
		var d Decoder
		for event, err := range sse.Read(r) {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				break
			}
			if err != nil {
				yield(nil, err)
				return
			}
			deltas, err := d.Decode(event)
			if !pass(yield, deltas, err) || d.done {
				return
			}
		}
		deltas, err := d.End()
		pass(yield, deltas, err)
	}
}

// pass hands deltas and then an error on. It reports whether to go on.
func pass(yield func(quire.Delta, error) bool, deltas []quire.Delta, err error) bool {
	for _, delta := range deltas {
		if !yield(delta, nil) {
			return false
		}
	}
	return err == nil || yield(nil, err) && false
}

// A Decoder turns the events of one stream into deltas. Blocks that are opaque
// come whole when they end. Events and parts of events that it does not know are
// passed over. The zero Decoder is ready for use.
type Decoder struct {
	begun, done bool
	blocks      int         // how many have begun
	open        []openBlock // those that have not ended
	stopped     bool
	stop        quire.Stop
	usage       json.RawMessage
	rest        []quire.Field
}

// An openBlock is a block that may still grow.
type openBlock struct {
	theirs    string // index in the stream, as it is written
	ours      int
	block     quire.Block
	start     json.RawMessage // the block as it began
	grew      bool
	arguments []byte            // of an opaque block
	citations []json.RawMessage // of a text
}

// Decode reads one event. Deltas keep parts of its data. Errors are as of
// [DecodeStream].
func (d *Decoder) Decode(event sse.Event) ([]quire.Delta, error) {
	if d.done {
		return nil, nil
	}
	r, err := rawjson.Parse(event.Data)
	if err != nil {
		return nil, garbled(err)
	}
	name, _ := rawjson.TextOf(r.Peek("type"))
	if name != "message_start" && name != "error" && !d.begun {
		return nil, nil
	}
	switch name {
	case "message_start":
		return d.start(r)
	case "content_block_start":
		return d.beginBlock(r)
	case "content_block_delta":
		return d.growBlock(r)
	case "content_block_stop":
		return d.endBlock(r)
	case "message_delta":
		return nil, d.change(r)
	case "message_stop":
		if len(d.open) > 0 {
			return nil, garbled(errors.New("message_stop while a block is open"))
		}
		return d.finish(), nil
	case "error":
		return nil, DecodeError(0, "", event.Data)
	}
	return nil, nil
}

// End says that the stream is over. It is an error of kind CallCut when the
// answer was not; one that said why it stopped, and has no open block, is taken
// as whole.
func (d *Decoder) End() ([]quire.Delta, error) {
	switch {
	case d.done:
		return nil, nil
	case d.stopped && len(d.open) == 0:
		return d.finish(), nil
	default:
		return nil, &quire.CallError{Kind: quire.CallCut, Message: "the stream ended before the answer did"}
	}
}

func garbled(err error) error {
	return &quire.CallError{Kind: quire.CallGarbled, Message: err.Error()}
}

func (d *Decoder) start(r *rawjson.Reader) ([]quire.Delta, error) {
	message, ok := rawjson.Read(r.Peek("message"))
	if !ok || d.begun {
		return nil, garbled(errors.New("message_start without a message, or twice"))
	}
	d.begun = true
	d.usage = message.Peek("usage")
	message.Take("stop_reason")
	message.Take("stop_sequence")
	reply := decodeMessageObject(message)
	reply.Usage.Known |= quire.OutputAtStart
	return []quire.Delta{quire.ReplyBegun{ID: reply.ID, Model: reply.Model, Usage: reply.Usage, Rest: reply.Rest}}, nil
}

func (d *Decoder) beginBlock(r *rawjson.Reader) ([]quire.Delta, error) {
	raw := r.Peek("content_block")
	if raw == nil {
		return nil, garbled(errors.New("content_block_start without a block"))
	}
	o := openBlock{theirs: string(r.Peek("index")), ours: -1, start: raw, block: decodeBlock(raw, quire.PartText, 0)}
	if o.block.Opaque != nil {
		d.open = append(d.open, o)
		return nil, nil
	}
	if o.block.Kind == quire.PartToolCall {
		o.block.Text = ""
	}
	begun := d.number(&o)
	d.open = append(d.open, o)
	return []quire.Delta{begun}, nil
}

// number gives a block its number.
func (d *Decoder) number(o *openBlock) quire.Delta {
	o.ours = d.blocks
	d.blocks++
	return quire.BlockBegun{Index: o.ours, Block: o.block}
}

// find is the open block that an event is about.
func (d *Decoder) find(r *rawjson.Reader) (int, error) {
	theirs := string(r.Peek("index"))
	for i := range d.open {
		if d.open[i].theirs == theirs {
			return i, nil
		}
	}
	return 0, garbled(fmt.Errorf("no block %.20s is open", theirs))
}

func (d *Decoder) growBlock(r *rawjson.Reader) ([]quire.Delta, error) {
	at, err := d.find(r)
	if err != nil {
		return nil, err
	}
	delta, ok := rawjson.Read(r.Peek("delta"))
	if !ok {
		return nil, garbled(errors.New("content_block_delta without a delta"))
	}
	o := &d.open[at]
	if o.block.Opaque != nil {
		o.keep(delta)
		return nil, nil
	}
	if citation := delta.Peek("citation"); citation != nil {
		o.citations = append(o.citations, citation)
		return nil, nil
	}
	grew := quire.BlockGrew{Index: o.ours, Signature: delta.AnyText("signature")}
	for _, name := range [...]string{"text", "thinking", "partial_json"} {
		grew.Text += delta.AnyText(name)
	}
	if grew.Text == "" && grew.Signature == "" {
		return nil, nil
	}
	o.grew = o.grew || grew.Text != ""
	return []quire.Delta{grew}, nil
}

// keep lets an opaque block grow: arguments are text that goes on, of anything
// else what comes replaces what was there.
func (o *openBlock) keep(delta *rawjson.Reader) {
	delta.Take("type")
	o.arguments = append(o.arguments, delta.AnyText("partial_json")...)
	var w rawjson.Writer
	w.Rest(delta.Rest())
	if grown, err := w.Bytes(); err == nil {
		o.start = merge(o.start, grown)
	}
}

func (d *Decoder) endBlock(r *rawjson.Reader) ([]quire.Delta, error) {
	at, err := d.find(r)
	if err != nil {
		return nil, err
	}
	o := d.open[at]
	d.open = append(d.open[:at:at], d.open[at+1:]...)
	if o.block.Opaque != nil {
		return d.endOpaque(&o)
	}
	var deltas []quire.Delta
	if input := rawjson.Get(rawjson.Members(o.start), "input"); o.block.Kind == quire.PartToolCall && !o.grew {
		deltas = append(deltas, quire.BlockGrew{Index: o.ours, Text: string(input)})
	}
	ended := quire.BlockEnded{Index: o.ours}
	if len(o.citations) > 0 {
		ended.Rest = []quire.Field{{Name: "citations", Value: rawjson.Array(o.citations)}}
	}
	return append(deltas, ended), nil
}

// endOpaque gives an opaque block, now that it is whole.
func (d *Decoder) endOpaque(o *openBlock) ([]quire.Delta, error) {
	if len(o.arguments) > 0 {
		var w rawjson.Writer
		w.Raw("input", o.arguments)
		grown, err := w.Bytes()
		if err != nil {
			return nil, garbled(err)
		}
		o.start = merge(o.start, grown)
	}
	o.block = decodeBlock(o.start, quire.PartText, 0)
	begun := d.number(o)
	return []quire.Delta{begun, quire.BlockEnded{Index: o.ours}}, nil
}

// change reads message_delta: what is known of the whole answer at its end.
func (d *Decoder) change(r *rawjson.Reader) error {
	delta, ok := rawjson.Read(r.Peek("delta"))
	if !ok {
		return garbled(errors.New("message_delta without a delta"))
	}
	if stop := takeStop(delta); stop != "" {
		d.stop, d.stopped = stop, true
	}
	if usage := r.Take("usage"); usage != nil {
		d.usage = merge(d.usage, usage)
	}
	r.Take("type")
	r.Take("delta")
	d.rest = append(append(d.rest, delta.Rest()...), r.Rest()...)
	return nil
}

func (d *Decoder) finish() []quire.Delta {
	d.done = true
	if !d.stopped {
		d.stop = quire.StopUnknown
	}
	rest := d.rest
	if d.usage != nil {
		rest = append(rest, quire.Field{Name: "usage", Value: d.usage})
	}
	return []quire.Delta{quire.ReplyEnded{Stop: d.stop, Usage: usageOf(d.usage), Rest: rest}}
}

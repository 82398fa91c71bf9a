package gemini

import (
	"encoding/json"
	"fmt"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/sse"
)

// An Encoder turns the deltas of one answer into the bytes of its events
// (alt=sse). Texts go out as they come; a tool call, and what is no text, goes
// out whole when it ends. The zero Encoder is ready for use.
type Encoder struct {
	begun quire.ReplyBegun
	open  []quire.Block // by number, as far as it has come
}

// Encode is the events of one delta, none for one that says nothing here. It
// fails for a delta that is out of order and for what is not JSON.
func (e *Encoder) Encode(delta quire.Delta) ([]byte, error) {
	out, err := e.encode(delta)
	if err != nil {
		return nil, fmt.Errorf("encode Gemini stream: %w", err)
	}
	return out, nil
}

func (e *Encoder) encode(delta quire.Delta) ([]byte, error) {
	switch delta := delta.(type) {
	case quire.ReplyBegun:
		e.begun = delta
		return nil, nil
	case quire.BlockBegun:
		if delta.Index != len(e.open) {
			return nil, fmt.Errorf("block %d begins, want %d", delta.Index, len(e.open))
		}
		e.open = append(e.open, delta.Block)
		return e.first(delta.Block)
	case quire.BlockGrew:
		return e.grow(delta)
	case quire.BlockEnded:
		return e.endBlock(delta)
	case quire.ReplyEnded:
		return e.chunk(quire.Reply{Stop: delta.Stop, Usage: delta.Usage, Rest: delta.Rest}, nil)
	}
	return nil, nil
}

// EncodeStreamError is the event of an error in the middle of a stream.
func EncodeStreamError(e *quire.CallError) []byte {
	_, body := EncodeError(e)
	return sse.Append(nil, sse.Event{Data: body})
}

// first writes what a block of text holds when it begins.
func (e *Encoder) first(b quire.Block) ([]byte, error) {
	if !flows(b) || b.Text == "" && b.Signature == "" {
		return nil, nil
	}
	return e.part(b)
}

// flows reports whether a block is text that goes out as it comes. One with
// members that ride along goes out whole, so that they are said once.
func flows(b quire.Block) bool {
	return b.Opaque == nil && len(b.Rest) == 0 && (isText(b.Kind) || b.Kind == quire.PartThinking)
}

func (e *Encoder) grow(d quire.BlockGrew) ([]byte, error) {
	if d.Index < 0 || d.Index >= len(e.open) {
		return nil, fmt.Errorf("block %d grows and has not begun", d.Index)
	}
	b := &e.open[d.Index]
	if flows(*b) {
		piece := *b
		piece.Text, piece.Signature = d.Text, d.Signature
		return e.part(piece)
	}
	b.Text += d.Text
	b.Signature += d.Signature
	return nil, nil
}

func (e *Encoder) endBlock(d quire.BlockEnded) ([]byte, error) {
	if d.Index < 0 || d.Index >= len(e.open) {
		return nil, fmt.Errorf("block %d ends and has not begun", d.Index)
	}
	if b := e.open[d.Index]; !flows(b) {
		return e.part(b)
	}
	return nil, nil
}

func (e *Encoder) part(b quire.Block) ([]byte, error) {
	raw, err := encodePart(b)
	if err != nil {
		return nil, err
	}
	return e.chunk(quire.Reply{Usage: e.begun.Usage}, []json.RawMessage{raw})
}

func (e *Encoder) chunk(r quire.Reply, parts []json.RawMessage) ([]byte, error) {
	r.ID, r.Model = e.begun.ID, e.begun.Model
	raw, err := encodeChunk(r, parts)
	if err != nil {
		return nil, err
	}
	return sse.Append(nil, sse.Event{Data: raw}), nil
}

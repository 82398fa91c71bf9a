package gemini

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
	"github.com/quire-agent/quire/internal/x/sse"
)

// DecodeStream reads an answer that streams, as events (alt=sse) or as a JSON
// array, which it sees from the first byte. The first error ends the sequence.
// It is a [*quire.CallError] for an error that the provider sent, for an answer
// that ended early (CallCut) or that makes no sense (CallGarbled); faults of the
// reader come wrapped as they are. As nothing marks the end of an answer, it is
// read to the end of the stream.
func DecodeStream(r io.Reader) iter.Seq2[quire.Delta, error] {
	return func(yield func(quire.Delta, error) bool) {
		var d Decoder
		for event, err := range chunks(r) {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				break
			}
			if err != nil {
				yield(nil, err)
				return
			}
			deltas, err := d.Decode(event)
			if !pass(yield, deltas, err) {
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

// chunks are the pieces of a stream in either framing.
func chunks(r io.Reader) iter.Seq2[sse.Event, error] {
	in := bufio.NewReader(r)
	for {
		first, err := in.Peek(1)
		if err != nil || first[0] != ' ' && first[0] != '\n' && first[0] != '\r' && first[0] != '\t' {
			if err == nil && first[0] == '[' {
				return elements(in)
			}
			return sse.Read(in)
		}
		// It was peeked at.
		_, _ = in.Discard(1)
	}
}

// elements are the elements of a JSON array, each as soon as it is whole.
func elements(r io.Reader) iter.Seq2[sse.Event, error] {
	return func(yield func(sse.Event, error) bool) {
		d := json.NewDecoder(r)
		_, err := d.Token()
		for err == nil && d.More() {
			var raw json.RawMessage
			if err = d.Decode(&raw); err == nil && !yield(sse.Event{Data: raw}, nil) {
				return
			}
		}
		if err == nil {
			_, err = d.Token()
		}
		var syntax *json.SyntaxError
		switch {
		case errors.As(err, &syntax):
			yield(sse.Event{}, garbled(err))
		case errors.Is(err, io.EOF):
			yield(sse.Event{}, io.ErrUnexpectedEOF)
		case err != nil:
			yield(sse.Event{}, fmt.Errorf("read array of chunks: %w", err))
		}
	}
}

// A Decoder turns the chunks of one stream into deltas. Texts of one kind that
// follow each other are one block; a part with a signature is a block of its own,
// as it may not be joined with others. The zero Decoder is ready for use.
type Decoder struct {
	begun  bool
	open   bool // the last block is, and grows
	kind   quire.PartKind
	blocks []quire.Block // without their texts
	names  namer
	last   chunk // what was known last: reason, usage
	rest   []quire.Field
}

// Decode reads one chunk. Deltas keep parts of its data. Errors are as of
// [DecodeStream].
func (d *Decoder) Decode(event sse.Event) ([]quire.Delta, error) {
	r, err := rawjson.Parse(event.Data)
	if err != nil {
		return nil, garbled(err)
	}
	if r.Peek("error") != nil {
		return nil, DecodeError(0, "", event.Data)
	}
	usage := r.Peek("usageMetadata")
	c, err := takeChunk(r)
	if err != nil {
		return nil, garbled(err)
	}
	var deltas []quire.Delta
	if !d.begun {
		d.begun = true
		d.names.prefix = namePrefix(c.id)
		begun := quire.ReplyBegun{ID: c.id, Model: c.model, Usage: c.usage}
		begun.Usage.Known |= quire.OutputAtStart
		deltas = append(deltas, begun)
	}
	d.note(c, usage != nil, r.Rest())
	for i := range c.blocks {
		deltas = append(deltas, d.part(&c.blocks[i])...)
	}
	return deltas, nil
}

func garbled(err error) error {
	return &quire.CallError{Kind: quire.CallGarbled, Message: err.Error()}
}

// note keeps what is known of the whole answer.
func (d *Decoder) note(c chunk, counted bool, rest []quire.Field) {
	if c.reason != "" {
		d.last.reason = c.reason
	}
	d.last.blocked = d.last.blocked || c.blocked
	if counted {
		d.last.usage = c.usage
	}
	for _, m := range rest {
		at := slices.IndexFunc(d.rest, func(o quire.Field) bool { return o.Name == m.Name })
		switch {
		case at < 0:
			d.rest = append(d.rest, m)
		case m.Name == candidatesName:
			d.rest[at].Value = mergeFirst(d.rest[at].Value, m.Value)
		default:
			d.rest[at].Value = m.Value
		}
	}
}

// mergeFirst puts the members of the first candidate of a list over those of
// another; further candidates are those of the new list.
func mergeFirst(old, new json.RawMessage) json.RawMessage {
	before, now := rawjson.Elements(old), rawjson.Elements(new)
	if len(before) == 0 || len(now) == 0 {
		return new
	}
	var w rawjson.Writer
	w.Rest(rawjson.Members(now[0]))
	w.Rest(rawjson.Members(before[0]))
	// They were read as JSON.
	now[0], _ = w.Bytes()
	return rawjson.Array(now)
}

// part gives the deltas of one part.
func (d *Decoder) part(b *quire.Block) []quire.Delta {
	grows := b.Opaque == nil && (b.Kind == quire.PartText || b.Kind == quire.PartThinking) && b.Signature == "" && len(b.Rest) == 0
	if grows && d.open && d.kind == b.Kind {
		return d.grow(b.Text)
	}
	if grows && b.Text == "" {
		return nil
	}
	deltas := d.close()
	d.names.name(b)
	text, signature := b.Text, b.Signature
	if b.Kind == quire.PartText || b.Kind == quire.PartThinking || b.Kind == quire.PartToolCall {
		b.Text, b.Signature = "", ""
	} else {
		text, signature = "", ""
	}
	index := len(d.blocks)
	d.blocks = append(d.blocks, quire.Block{Part: quire.Part{Kind: b.Kind}})
	deltas = append(deltas, quire.BlockBegun{Index: index, Block: *b})
	if text != "" || signature != "" {
		deltas = append(deltas, quire.BlockGrew{Index: index, Text: text, Signature: signature})
	}
	if d.open, d.kind = grows, b.Kind; !grows {
		deltas = append(deltas, quire.BlockEnded{Index: index})
	}
	return deltas
}

func (d *Decoder) grow(text string) []quire.Delta {
	if text == "" {
		return nil
	}
	return []quire.Delta{quire.BlockGrew{Index: len(d.blocks) - 1, Text: text}}
}

func (d *Decoder) close() []quire.Delta {
	if !d.open {
		return nil
	}
	d.open = false
	return []quire.Delta{quire.BlockEnded{Index: len(d.blocks) - 1}}
}

// End says that the stream is over. It is an error of kind CallCut when no reason
// to stop was given.
func (d *Decoder) End() ([]quire.Delta, error) {
	stop := d.last.stop(d.blocks)
	if stop == "" {
		return nil, &quire.CallError{Kind: quire.CallCut, Message: "the stream ended before the answer did"}
	}
	ended := quire.ReplyEnded{Stop: stop, Usage: d.last.usage, Rest: d.rest}
	return append(d.close(), ended), nil
}

package openai

import (
	"errors"
	"io"
	"iter"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/sse"
)

// An EventDecoder turns the events of one stream into deltas.
type EventDecoder interface {
	Decode(sse.Event) ([]quire.Delta, error)
	End() ([]quire.Delta, error)
	Done() bool // whether the answer is over
}

// Stream reads an answer that streams with a decoder of its protocol. The first
// error ends the sequence. It is a [*quire.CallError] for an error that the
// provider sent, for an answer that ended early (CallCut) or that makes no sense
// (CallGarbled); faults of the reader come wrapped as they are. Nothing is read
// behind the end of the answer.
func Stream(r io.Reader, d EventDecoder) iter.Seq2[quire.Delta, error] {
	return func(yield func(quire.Delta, error) bool) {
		for event, err := range sse.Read(r) {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				break
			}
			if err != nil {
				yield(nil, err)
				return
			}
			deltas, err := d.Decode(event)
			if !pass(yield, deltas, err) || d.Done() {
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

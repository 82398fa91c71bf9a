package ingest

import (
	"context"
	"errors"
	"fmt"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
)

// errWriting says that an outlet met an error, which its close returns.
var errWriting = errors.New("the journal cannot be written")

// A batch is bodies and the lines that name them.
type batch struct {
	bodies [][]byte
	lines  []line
}

// An outlet writes batches behind the reading of a log, one at a time: the
// bodies, durably, then the lines, durably. After the first error nothing more
// is written.
type outlet struct {
	batch   batch // that is being filled
	bytes   int   // of its bodies
	batches chan batch
	failed  chan struct{} // closed after the first error
	ended   chan struct{}
	err     error // after ended
}

// newOutlet begins to write to a journal, which it closes in the end.
func newOutlet(ctx context.Context, bodies bodyPutter, w *journal.Writer) *outlet {
	o := &outlet{batches: make(chan batch, 1), failed: make(chan struct{}), ended: make(chan struct{})}
	go o.run(ctx, bodies, w)
	return o
}

// A bodyPutter is what an outlet needs of [quire.Bodies].
type bodyPutter interface {
	PutBodies(ctx context.Context, bodies [][]byte) ([]quire.Hash, error)
}

func (o *outlet) run(ctx context.Context, bodies bodyPutter, w *journal.Writer) {
	defer close(o.ended)
	for b := range o.batches {
		if o.err != nil {
			continue
		}
		if o.err = write(ctx, bodies, w, b); o.err != nil {
			close(o.failed)
		}
	}
	o.err = errors.Join(o.err, w.Close())
}

func write(ctx context.Context, bodies bodyPutter, w *journal.Writer, b batch) error {
	if _, err := bodies.PutBodies(ctx, b.bodies); err != nil {
		return fmt.Errorf("store the bodies: %w", err)
	}
	for _, l := range b.lines {
		if _, err := w.Append(l.kind, l.payload); err != nil {
			return err
		}
	}
	return w.Sync()
}

func (o *outlet) add(l line) {
	for _, b := range l.bodies {
		o.bytes += len(b)
	}
	o.batch.bodies = append(o.batch.bodies, l.bodies...)
	l.bodies = nil
	o.batch.lines = append(o.batch.lines, l)
}

// send hands the batch on, or says that an earlier one met an error.
func (o *outlet) send() error {
	b := o.batch
	o.batch, o.bytes = batch{}, 0
	select {
	case <-o.failed:
		return errWriting
	case o.batches <- b:
		return nil
	}
}

// close waits until everything sent is durable, or the error why it is not.
func (o *outlet) close() error {
	close(o.batches)
	<-o.ended
	return o.err
}

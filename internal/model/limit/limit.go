package limit

import (
	"context"
	"fmt"
	"iter"

	"github.com/quire-agent/quire/internal/quire"
)

// A Caller is a model whose calls are limited.
type Caller interface {
	Call(ctx context.Context, c quire.Call) iter.Seq2[quire.Delta, error]
}

// A Model lets a number of calls through at once. It is safe for concurrent use
// when what it wraps is.
type Model struct {
	inner Caller
	slots chan struct{}
}

// New wraps a model. Most is at least 1.
func New(inner Caller, most int) *Model {
	return &Model{inner, make(chan struct{}, max(1, most))}
}

// Call answers a call like the model that is wrapped, once there is room. A call
// takes its room from when its answer begins to be read until that ends; waiting
// for room ends at once with the context. Who waits longest is not promised to be
// next.
func (m *Model) Call(ctx context.Context, c quire.Call) iter.Seq2[quire.Delta, error] {
	return func(yield func(quire.Delta, error) bool) {
		select {
		case m.slots <- struct{}{}:
		case <-ctx.Done():
			yield(nil, fmt.Errorf("wait for room to call: %w", ctx.Err()))
			return
		}
		defer func() { <-m.slots }()
		m.inner.Call(ctx, c)(yield)
	}
}

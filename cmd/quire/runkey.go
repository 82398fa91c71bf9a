package main

import (
	"context"
	"iter"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/run"
)

// keyed names the session in each call, for providers that send calls with the same
// name to the machine that has their beginning in its cache. All calls of a session
// have one beginning, and no other session shares more of it than tools and system.
type keyed struct {
	run.Model
	key string
}

// Call answers a call as the model does.
func (m keyed) Call(ctx context.Context, c quire.Call) iter.Seq2[quire.Delta, error] {
	c.CacheKey = m.key
	return m.Model.Call(ctx, c)
}

package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/telemetry"
)

// counted sends what the scheduler of a session does to a collector, where the
// environment names one, until the context ends; what it returns waits for the last
// of it. The loop's events go where they went before too.
func (inv *invocation) counted(ctx context.Context, l *run.Loop) (wait func(), err error) {
	e, err := telemetry.New(inv.env.lookup, inv.release().Version, http.DefaultClient, time.Now)
	if err != nil {
		return nil, unusable(err, "set OTEL_EXPORTER_OTLP_ENDPOINT to the collector's address, or unset it")
	}
	if e == nil {
		return func() {}, nil
	}
	tally, show := &run.Tally{}, l.Emit
	l.Emit = func(event run.Event) {
		tally.Take(event)
		if show != nil {
			show(event)
		}
	}
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	failed := func(err error) { fmt.Fprintf(inv.err, "quire: %s\n", inv.mask(err.Error())) }
	go func() {
		defer close(ended)
		e.Run(ctx, tally.Metrics, failed)
	}()
	return func() { stop(); <-ended }, nil
}

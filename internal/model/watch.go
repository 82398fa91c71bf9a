package model

import (
	"context"
	"errors"
	"io"
	"time"
)

// Limits says how long nothing may come. Zero is the default of each.
type Limits struct {
	Begin time.Duration // from sending on to the first byte of the answer; 10 minutes
	Stall time.Duration // between two bytes of an answer; 10 minutes
}

// defaultLimit is long because a model may think in silence, and a server on
// this machine reads a long prompt for minutes before its first word.
const defaultLimit = 10 * time.Minute

func (l Limits) begin() time.Duration { return orDefault(l.Begin) }
func (l Limits) stall() time.Duration { return orDefault(l.Stall) }

func orDefault(d time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return defaultLimit
}

var errSilent = errors.New("nothing came")

// A watch ends an exchange in which nothing comes any more.
type watch struct {
	limit  time.Duration
	timer  *time.Timer
	cancel context.CancelCauseFunc
}

// newWatch begins to watch. The context is for the exchange; stop must be called.
func newWatch(ctx context.Context, limit time.Duration) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &watch{limit, time.AfterFunc(limit, func() { cancel(errSilent) }), cancel}
}

// alive says that something came, and how long the next may take.
func (w *watch) alive(limit time.Duration) {
	w.limit = limit
	w.timer.Reset(limit)
}

func (w *watch) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

// maxBody bounds an answer in bytes: many times what the longest is.
const maxBody = 1 << 30

var errTooLong = errors.New("longer than 1 GiB")

// A body is an answer that is watched and bounded.
type body struct {
	io.Reader
	watch *watch
	stall time.Duration
	left  int64
}

// Read reads, and tells the watch.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if n > 0 {
		b.watch.alive(b.stall)
	}
	if b.left -= int64(n); b.left < 0 {
		return 0, errTooLong
	}
	return n, err
}

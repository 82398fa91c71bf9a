package gateway

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

var (
	errClosed  = errors.New("the gateway is closing")
	errStuck   = errors.New("what passed before is still being recorded")
	errStalled = errors.New("upstream went silent")
)

// A job is work for the observer's goroutine that a request waits for, for a time.
type job struct {
	f     func(ready func() bool)
	done  chan struct{}
	state atomic.Int32
}

const (
	jobWaited int32 = iota // somebody waits
	jobOver                // it is done, and who waited goes on
	jobLeft                // nobody waits any more
)

// do runs f on the observer's goroutine, behind all calls that are over. What f does
// once it has called ready goes on while the caller does. A caller waits no longer
// than the limit for the record, and not at all while something else takes longer than
// that already: a store that hangs holds no answer up (errStuck). Then ready says
// false, or f is not run, and what f sets is not looked at.
func (o *observer) do(ctx context.Context, f func(ready func() bool)) error {
	limit := o.gateway.limits.Record
	if o.busyFor() > limit {
		return errStuck
	}
	patience := time.NewTimer(limit)
	defer patience.Stop()
	j := &job{f: f, done: make(chan struct{})}
	select {
	case o.jobs <- j:
	case <-ctx.Done():
		return ctx.Err()
	case <-o.done:
		return errClosed
	case <-patience.C:
		return errStuck
	}
	select {
	case <-j.done:
		return nil
	case <-o.done:
		return errClosed
	case <-patience.C:
	}
	if j.state.CompareAndSwap(jobWaited, jobLeft) {
		return errStuck
	}
	return nil
}

// ready lets who waits go on, and reports whether somebody did.
func (j *job) ready() bool {
	if j.state.CompareAndSwap(jobWaited, jobOver) {
		close(j.done)
	}
	return j.state.Load() == jobOver
}

// run does the work.
func (j *job) run() {
	defer j.ready()
	j.f(j.ready)
}

// working notes that the observer begins with something, and that it is done.
func (o *observer) working(f func()) {
	o.since.Store(time.Now().UnixNano())
	defer o.since.Store(0)
	f()
}

// busyFor is how long the observer has been at what it does.
func (o *observer) busyFor() time.Duration {
	since := o.since.Load()
	if since == 0 {
		return 0
	}
	return time.Duration(time.Now().UnixNano() - since)
}

// wait is until all that a call was planned from is durable, or too late for it.
func (w *writing) wait(ctx context.Context) {
	t := time.NewTimer(w.gateway.limits.Record)
	defer t.Stop()
	select {
	case <-w.durable:
	case <-ctx.Done():
	case <-t.C:
	}
}

// A patient transport gives an upstream a time for each piece of an answer.
type patient struct {
	*http.Transport
	idle time.Duration
}

// RoundTrip sends a request.
func (p *patient) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	answer, err := p.Transport.RoundTrip(r.WithContext(ctx))
	if err != nil {
		cancel(nil)
		return nil, err
	}
	b := &timed{body: answer.Body, idle: p.idle, cancel: cancel, ctx: ctx}
	b.timer = time.AfterFunc(p.idle, func() { cancel(errStalled) })
	b.timer.Stop()
	answer.Body, answer.Request = b, r // whoever goes on with the request has not ended with this answer
	return answer, nil
}

// A timed body is given up when it is silent for too long.
type timed struct {
	body   io.ReadCloser
	idle   time.Duration
	timer  *time.Timer
	cancel context.CancelCauseFunc
	ctx    context.Context // of the request, to say why it ended
}

// Read reads a piece as soon as there is one.
func (t *timed) Read(p []byte) (int, error) {
	t.timer.Reset(t.idle)
	n, err := t.body.Read(p)
	t.timer.Stop()
	if err != nil && errors.Is(context.Cause(t.ctx), errStalled) {
		err = errStalled
	}
	return n, err
}

// Close gives it up.
func (t *timed) Close() error {
	t.timer.Stop()
	err := t.body.Close()
	t.cancel(nil)
	return err
}

// A pressed connection gives an upstream a time for each piece that it takes.
type pressed struct {
	net.Conn
	limit time.Duration
}

// Write writes.
func (c *pressed) Write(p []byte) (n int, err error) {
	const piece = 256 << 10
	for first := true; first || len(p) > 0; first = false {
		if err := c.SetWriteDeadline(time.Now().Add(c.limit)); err != nil {
			return n, err
		}
		k, err := c.Conn.Write(p[:min(piece, len(p))])
		if n += k; err != nil {
			return n, err
		}
		p = p[k:]
	}
	return n, nil
}

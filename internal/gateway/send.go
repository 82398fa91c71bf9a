package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/quire-agent/quire/internal/quire"
)

// ask takes a request in and asks the observer what goes up for it.
func (e *exchange) ask(out *http.Request, up *upload) error {
	up.kept = true
	b, err := e.takeIn(out, up)
	if err != nil || !up.kept {
		return err
	}
	if e.call {
		e.up.adopt(e.came, e.held)
		e.held = 0
	}
	send := e.came
	if e.body = b; b != nil {
		if decided := e.decide(out.Context(), b); decided != nil {
			send = decided
			out.Header.Del("Content-Encoding")
		}
	}
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(send)), int64(len(send))
	out.TransferEncoding = nil
	return nil
}

// decide is what goes up in the place of a body, nil for the body itself.
func (e *exchange) decide(ctx context.Context, b *body) (send []byte) {
	o := e.gateway.observer
	if e.count {
		var counted []byte
		if o.do(ctx, func(func() bool) { counted = o.counted(ctx, e, b.data) }) == nil {
			send = counted
		}
		return send
	}
	if e.sentBody = b.data; b.places == nil {
		return nil // it is relayed, whatever it is
	}
	e.head = o.hints.headOf(b)
	if !o.hints.look(e, e.head) {
		return nil
	}
	if _, err := e.view(); err != nil { // here, where nobody else waits for it
		return nil
	}
	var w *writing
	err := o.do(ctx, func(ready func() bool) {
		if w = o.prepare(ctx, e, b.data); w != nil && o.settle(w, ready) {
			w.session.busy++
		}
	})
	switch {
	case errors.Is(err, errStuck):
		return e.alone()
	case err != nil || w == nil:
		return nil
	}
	e.writing = w
	return w.sent
}

// alone is what goes up where nobody says so in time: the client's own words, of a
// session that is curated without the thinking that is bound to its stream (G17).
func (e *exchange) alone() []byte {
	o := e.gateway.observer
	o.mu.Lock()
	o.totals.Opened++
	o.mu.Unlock()
	e.opened = errStuck.Error()
	if o.hints.curated(e) {
		return e.api.dialect().Unbound(e.sentBody)
	}
	return nil
}

// settle writes down what is about to be sent, while it is sent. A call that was not
// waited for is not sent: its stream begins again with the next one.
func (o *observer) settle(w *writing, ready func() bool) (sent bool) {
	defer close(w.durable)
	var err error
	if w.begun {
		err = w.intent()
	}
	if sent = ready(); !sent {
		w.openly(errStuck)
	}
	if w.begun && err == nil {
		err = w.sync(o.context)
	}
	if err != nil {
		o.fail(fmt.Errorf("record what is sent: %w", err))
	}
	return sent
}

// resend sends another body in the place of one that went up, with its headers.
func (e *exchange) resend(ctx context.Context, body []byte) (*http.Response, error) {
	r := e.outgoing.Clone(ctx)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Del("Content-Encoding")
	r.TransferEncoding = nil
	return e.gateway.transport.RoundTrip(r)
}

// refused looks at a refusal: a prompt that was too long is made smaller and sent
// once more (G14), and where the provider finds fault with a stream of ours the
// client's own view goes up (G17). Nothing was charged for either.
func (e *exchange) refused(r *http.Response) {
	if !e.call || e.sentBody == nil || e.retried {
		return
	}
	const longest = 1 << 20
	text, whole := readWhole(r, longest)
	if !whole {
		return
	}
	text, err := plain(text, r.Header.Get("Content-Encoding"))
	if err != nil {
		return
	}
	refusal := e.refusalOf(r.StatusCode, r.Header.Get("Retry-After"), text)
	next := e.another(r.Request.Context(), refusal)
	if next == nil {
		return
	}
	e.retried = true
	again, err := e.resend(r.Request.Context(), next)
	if err != nil {
		return
	}
	for _, name := range []string{"Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Upgrade"} {
		again.Header.Del(name)
	}
	r.Body.Close()
	r.StatusCode, r.Status, r.Header, r.Body, r.ContentLength = again.StatusCode, again.Status, again.Header, again.Body, again.ContentLength
	e.status, e.first = r.StatusCode, e.gateway.options.Pool.Now()
}

// readWhole reads a body that is shorter than a limit. It stays to be read, also where
// it is longer or breaks off.
func readWhole(r *http.Response, limit int) (text []byte, whole bool) {
	text, err := io.ReadAll(io.LimitReader(r.Body, int64(limit)))
	whole = err == nil && len(text) < limit
	again := []io.Reader{bytes.NewReader(text)}
	switch {
	case err != nil:
		again = append(again, broken{err})
	case !whole:
		again = append(again, r.Body)
	}
	r.Body = rest{io.MultiReader(again...), r.Body}
	return text, whole
}

// A broken reader gives an error.
type broken struct{ err error }

// Read fails.
func (b broken) Read([]byte) (int, error) { return 0, b.err }

// another is what is sent after a refusal, nil for nothing.
func (e *exchange) another(ctx context.Context, refusal *quire.CallError) (send []byte) {
	o := e.gateway.observer
	curated := e.writing != nil && e.writing.curates()
	switch refusal.Kind {
	case quire.CallTooLong, quire.CallTooLarge:
		var w *writing
		first := e.writing == nil
		err := o.do(ctx, func(ready func() bool) {
			if w = o.replan(ctx, e, refusal); w != nil && o.settle(w, ready) && first {
				w.session.busy++
			}
		})
		if err == nil && w != nil {
			e.writing, send = w, w.sent
		}
	case quire.CallInvalid:
		if !curated {
			return nil
		}
		var open []byte
		err := o.do(ctx, func(func() bool) {
			o.opened(refusal)
			open = e.writing.openly(refusal).sent
		})
		if err == nil {
			send = open
		}
	}
	return send
}

// replan plans a call that was too long; nil where that cannot be done.
func (o *observer) replan(ctx context.Context, e *exchange, refusal *quire.CallError) *writing {
	w, err := o.force(ctx, e, e.writing, e.sentBody, refusal)
	switch {
	case err == nil:
		w.durable = make(chan struct{})
		return w
	case !errors.Is(err, errNoPlace):
		o.opened(err)
	}
	return nil
}

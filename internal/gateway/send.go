package gateway

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/zstd"
)

// ask takes a request in and asks the observer what goes up for it.
func (e *exchange) ask(out *http.Request, up *upload) error {
	up.kept = true
	data, err := e.takeIn(up, out.ContentLength)
	if err != nil {
		return err
	}
	if e.call {
		e.up.adopt(data)
	}
	send := data
	e.packed = out.Header.Get("Content-Encoding")
	if body, err := unpacked(data, e.packed, e.gateway.limits.Body); err == nil {
		if send = e.decide(out.Context(), body); send == nil {
			send = data
		} else {
			out.Header.Del("Content-Encoding")
		}
	}
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(send)), int64(len(send))
	out.TransferEncoding = nil
	return nil
}

// takeIn reads a request to its end.
func (e *exchange) takeIn(up *upload, size int64) ([]byte, error) {
	const first = 4 << 20 // what is announced is a claim
	buffer := bytes.NewBuffer(make([]byte, 0, max(512, min(size+1, first))))
	_, err := buffer.ReadFrom(up)
	return buffer.Bytes(), err
}

// decide is what goes up in the place of a body, nil for the body itself.
func (e *exchange) decide(ctx context.Context, body []byte) (send []byte) {
	o := e.gateway.observer
	if e.count {
		_ = o.do(ctx, func(func()) { send = o.counted(ctx, e, body) })
		return send
	}
	e.sentBody = body
	e.head = headOf(body)
	if !o.hints.look(e, e.head) {
		return nil
	}
	// Without an answer the client's own words go up.
	_ = o.do(ctx, func(ready func()) {
		if e.writing = o.prepare(ctx, e, body); e.writing != nil {
			e.writing.session.busy++
			o.settle(e.writing, ready)
		}
	})
	if e.writing == nil {
		return nil
	}
	return e.writing.sent
}

// settle writes down what is about to be sent, while it is sent.
func (o *observer) settle(w *writing, ready func()) {
	defer close(w.durable)
	if !w.begun {
		return
	}
	err := w.intent()
	ready()
	if err == nil {
		err = w.sync(o.context)
	}
	if err != nil {
		o.fail(fmt.Errorf("record what is sent: %w", err))
	}
}

// errPacked says that a body cannot be read because of how it is compressed.
var errPacked = errors.New("the compression of the request is not known")

// unpacked takes the compression off a request, up to so many bytes.
func unpacked(data []byte, encoding string, limit int64) ([]byte, error) {
	var r io.Reader
	var err error
	switch encoding {
	case "", "identity":
		return data, nil
	case "gzip":
		r, err = gzip.NewReader(bytes.NewReader(data))
	case "zstd":
		r, err = zstd.NewReader(bytes.NewReader(data))
	case "deflate":
		if r, err = zlib.NewReader(bytes.NewReader(data)); err != nil {
			r, err = flate.NewReader(bytes.NewReader(data)), nil
		}
	default:
		return nil, errPacked
	}
	if err != nil {
		return nil, fmt.Errorf("read a request in %s: %w", encoding, err)
	}
	if c, ok := r.(io.Closer); ok {
		defer c.Close()
	}
	body, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(body)) > limit {
		err = errLarge
	}
	return body, err
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
	text, err := readAnswer(r)
	r.Body = io.NopCloser(bytes.NewReader(text))
	if err != nil {
		return
	}
	r.ContentLength = int64(len(text))
	refusal := e.api.decodeError(r.StatusCode, r.Header.Get("Retry-After"), text)
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
	r.StatusCode, r.Status, r.Header, r.Body, r.ContentLength = again.StatusCode, again.Status, again.Header, again.Body, again.ContentLength
	e.status, e.first = r.StatusCode, e.gateway.options.Pool.Now()
}

// another is what is sent after a refusal, nil for nothing.
func (e *exchange) another(ctx context.Context, refusal *quire.CallError) (send []byte) {
	o := e.gateway.observer
	curated := e.writing != nil && e.writing.curates()
	switch refusal.Kind {
	case quire.CallTooLong, quire.CallTooLarge:
		_ = o.do(ctx, func(ready func()) {
			if w := o.replan(ctx, e, refusal); w != nil {
				if e.writing == nil {
					w.session.busy++
				}
				e.writing, send = w, w.sent
				o.settle(w, ready)
			}
		})
	case quire.CallInvalid:
		if !curated {
			return nil
		}
		_ = o.do(ctx, func(func()) {
			o.opened(refusal)
			send = e.writing.openly(refusal).sent
		})
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

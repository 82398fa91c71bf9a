package model

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/script"
)

// An Endpoint is a place to send requests to. It is not changed once it is used.
type Endpoint struct {
	Base   string // as of [Provider]
	Key    Key
	Header http.Header // sent beside what the protocol wants
	Client *http.Client
	Limits Limits
}

// A Request is a call in the bytes of a protocol.
type Request struct {
	Path   string // behind the base
	Header http.Header
	Body   []byte
}

// A Codec reads the answers of a protocol: one that streams, one that does not
// although it was asked to, and one that is an error.
type Codec struct {
	Stream func(io.Reader) iter.Seq2[quire.Delta, error]
	Reply  func([]byte) (quire.Reply, error)
	Error  func(status int, retryAfter string, body []byte) *quire.CallError
}

// CodeCertificate is the code of a [quire.CallError] for a server that could not
// prove who it is. Trying again does not help there.
const CodeCertificate = "certificate"

// Send sends a request whenever the sequence is read, and gives the answer, in
// the manner of a model's Call. The key is hidden in what an error says.
func (e *Endpoint) Send(ctx context.Context, r Request, codec Codec) iter.Seq2[quire.Delta, error] {
	return func(yield func(quire.Delta, error) bool) {
		inner, w := newWatch(ctx, e.Limits.begin())
		defer w.stop()
		x := exchange{e, w, codec}
		resp, err := e.post(inner, r)
		if err != nil {
			yield(nil, x.explain(ctx, err, quire.CallNetwork))
			return
		}
		defer resp.Body.Close()
		w.alive(e.Limits.stall())
		for d, err := range x.deltas(resp) {
			if err != nil {
				yield(nil, x.explain(ctx, err, quire.CallCut))
				return
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

func (e *Endpoint) post(ctx context.Context, r Request) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.Base+r.Path, bytes.NewReader(r.Body))
	if err != nil {
		return nil, &quire.CallError{Kind: quire.CallInvalid, Message: err.Error()}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream, application/json")
	req.Header.Set("User-Agent", "quire")
	for _, h := range []http.Header{r.Header, e.Header} {
		for name, values := range h {
			req.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	return e.Client.Do(req)
}

// An exchange is one request with its answer.
type exchange struct {
	*Endpoint
	watch *watch
	codec Codec
}

// deltas reads an answer.
func (x *exchange) deltas(resp *http.Response) iter.Seq2[quire.Delta, error] {
	in := &body{resp.Body, x.watch, x.Limits.stall(), maxBody}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode != http.StatusOK:
		return failed(x.refused(resp, in))
	case kind == "application/json" && x.codec.Reply != nil:
		return x.whole(in)
	case kind == "text/html":
		return failed(&quire.CallError{Kind: quire.CallGarbled, Status: resp.StatusCode, Message: "a web page came in place of an answer: is the address right?"})
	default:
		return x.codec.Stream(in)
	}
}

func failed(err error) iter.Seq2[quire.Delta, error] {
	return func(yield func(quire.Delta, error) bool) { yield(nil, err) }
}

// Unsendable is the answer to a call that cannot be put into bytes.
func Unsendable(err error) iter.Seq2[quire.Delta, error] {
	return failed(&quire.CallError{Kind: quire.CallInvalid, Message: err.Error()})
}

// whole is an answer that came in one piece.
func (x *exchange) whole(in io.Reader) iter.Seq2[quire.Delta, error] {
	text, err := io.ReadAll(in)
	if err != nil {
		return failed(err)
	}
	reply, err := x.codec.Reply(text)
	if _, ok := errors.AsType[*quire.CallError](err); err != nil && !ok {
		err = &quire.CallError{Kind: quire.CallGarbled, Status: http.StatusOK, Message: err.Error()}
	}
	if err != nil {
		return failed(err)
	}
	return func(yield func(quire.Delta, error) bool) {
		for _, d := range script.Deltas(reply, 0) {
			if !yield(d, nil) {
				return
			}
		}
	}
}

// maxErrorBody bounds what is read of an error in bytes.
const maxErrorBody = 1 << 20

// refused reads an answer that is no success.
func (x *exchange) refused(resp *http.Response, in io.Reader) error {
	if to := resp.Header.Get("Location"); resp.StatusCode/100 == 3 {
		return &quire.CallError{Kind: quire.CallNotFound, Status: resp.StatusCode, Message: "the address sends on to " + to + ", which is not followed: give that one as the base"}
	}
	text, err := io.ReadAll(io.LimitReader(in, maxErrorBody))
	if err != nil && len(text) == 0 {
		text = []byte(http.StatusText(resp.StatusCode))
	}
	return x.codec.Error(resp.StatusCode, wait(resp.Header), text)
}

// wait is the header that says how long to wait, in seconds whatever its form.
func wait(h http.Header) string {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return strconv.FormatFloat(ms/1000, 'f', -1, 64)
	}
	text := h.Get("Retry-After")
	if at, err := http.ParseTime(text); err == nil {
		return strconv.FormatFloat(max(0, time.Until(at).Seconds()), 'f', 0, 64)
	}
	return text
}

// explain makes an error what a model promises. ctx is the caller's, kind is of
// what broke the connection.
func (x *exchange) explain(ctx context.Context, err error, kind quire.CallErrorKind) error {
	if ctx.Err() != nil {
		return fmt.Errorf("call the model: %w", ctx.Err())
	}
	known, ok := errors.AsType[*quire.CallError](err)
	switch {
	case ok:
	case errors.Is(err, errTooLong):
		known = &quire.CallError{Kind: quire.CallGarbled, Message: err.Error()}
	case x.silent(err):
		known = &quire.CallError{Kind: kind, Message: fmt.Sprintf("nothing came for %v", x.watch.limit)}
	default:
		known = &quire.CallError{Kind: kind, Message: plain(err)}
		if certificate(err) {
			known.Code = CodeCertificate
		}
	}
	hidden := *known
	hidden.Message, hidden.Code = x.Key.Hide(known.Message), x.Key.Hide(known.Code)
	return &hidden
}

// silent reports whether it was the watch that ended the exchange: nothing else
// cancels it while it is read.
func (x *exchange) silent(err error) bool {
	return errors.Is(err, errSilent) || errors.Is(err, context.Canceled)
}

// plain is what an error says without the address, which its reader knows.
func plain(err error) string {
	if of, ok := errors.AsType[*url.Error](err); ok {
		return of.Err.Error()
	}
	return err.Error()
}

func certificate(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	_, ok := errors.AsType[x509.UnknownAuthorityError](err)
	return ok
}

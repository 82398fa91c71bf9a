package gateway

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/curation"
	"github.com/quire-agent/quire/internal/quire"
)

// A joint is the answer to a curated call on its way down: what passes is looked at,
// a recall is answered here, and the call that follows goes on in the same answer.
type joint struct {
	*exchange
	answer *curation.Answer
	stream bool
	out    *io.PipeWriter
	behind http.Header // what goes down behind the answer
	ctx    context.Context
}

// mostAnswer is how many bytes of an answer to a curated call are taken in: it is kept
// whole, as the client's next request is known by it.
const mostAnswer = 64 << 20

var (
	errEndless = errors.New("the answer does not end")
	errFault   = errors.New("the gateway is at fault")
)

// curate takes the place of the body of an answer.
func (e *exchange) curate(r *http.Response) {
	j := &joint{exchange: e, answer: e.api.dialect().NewAnswer(e.sentBody), ctx: r.Request.Context()}
	j.stream = strings.HasPrefix(e.kind, "text/event-stream")
	r.Header.Set(sessionHeader, e.writing.session.name.Number.String())
	if !j.stream {
		e.writing.wait(j.ctx)
		j.take(r)
		return
	}
	body := r.Body
	in, out := io.Pipe()
	j.out = out
	if r.Trailer == nil {
		r.Trailer = http.Header{}
	}
	r.Trailer[innerCallsHeader], r.Trailer[innerCostHeader], j.behind = nil, nil, r.Trailer
	r.Body = struct {
		io.Reader
		io.Closer
	}{in, closers{in, body}}
	r.ContentLength = -1
	r.Header.Del("Content-Length")
	go j.run(body)
}

// The headers, or behind a stream the trailers, that say what the client does not see.
const (
	sessionHeader    = "X-Quire-Session"
	innerCallsHeader = "X-Quire-Inner-Calls"
	innerCostHeader  = "X-Quire-Inner-Cost"
)

// count says how many calls the client did not see, and what they cost in US dollars.
func (j *joint) count(h http.Header) {
	if n := j.answer.Inner(); n > 0 {
		h.Set(innerCallsHeader, strconv.Itoa(n))
		h.Set(innerCostHeader, strconv.FormatFloat(j.writing.curating.note.Inner, 'g', 6, 64))
	}
}

// closers close several in their order.
type closers []io.Closer

// Close closes them all.
func (c closers) Close() error {
	var errs []error
	for _, one := range c {
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}

// run passes a stream on, to its end or to that of the last call. A fault of ours in it
// breaks the answer off, and not the gateway.
func (j *joint) run(body io.Reader) {
	defer func() {
		if fault := recover(); fault != nil {
			j.gateway.fault(fault)
			j.out.CloseWithError(errFault)
		}
	}()
	j.writing.wait(j.ctx)
	for {
		err := j.pass(body)
		if err == nil {
			var next *http.Response
			if next, err = j.next(); next == nil {
				j.close(err)
				return
			}
			body = next.Body
			defer next.Body.Close()
			continue
		}
		j.close(err)
		return
	}
}

// close ends what goes down. An answer that only its upstream broke off ends as it
// did; where we wrote part of it the client is told to ask again.
func (j *joint) close(err error) {
	switch {
	case err == nil:
	case j.answer.Over():
		j.write(j.answer.Broken())
	}
	if err != nil && !j.answer.Over() {
		j.out.CloseWithError(err)
		return
	}
	j.out.Close()
}

func (j *joint) write(p []byte) bool {
	if len(p) == 0 {
		return true
	}
	_, err := j.out.Write(p)
	return err == nil
}

// pass passes the events of one answer on.
func (j *joint) pass(body io.Reader) error {
	in := bufio.NewReaderSize(body, 32<<10)
	for size := 0; ; {
		raw, err := event(in)
		if size += len(raw); size > mostAnswer {
			return errEndless
		}
		if len(raw) > 0 {
			down, ended, fault := j.answer.Event(raw)
			if !j.write(down) {
				return errors.New("the client left")
			}
			if fault != nil {
				return fault
			}
			if ended {
				return nil
			}
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, io.EOF) {
			return err
		}
		down, ended, fault := j.answer.End()
		j.write(down)
		if fault == nil && !ended {
			fault = io.ErrUnexpectedEOF
		}
		return fault
	}
}

// event reads the bytes of the next event, with the line that ends it.
func event(in *bufio.Reader) ([]byte, error) {
	var raw []byte
	for {
		line, err := in.ReadSlice('\n')
		raw = append(raw, line...)
		if errors.Is(err, bufio.ErrBufferFull) && len(raw) < mostAnswer {
			continue
		}
		if err != nil {
			return raw, err
		}
		if blank := bytes.TrimRight(line, "\r\n"); len(blank) == 0 {
			return raw, nil
		}
	}
}

// next sends the call that follows a recall; nil when the answer is over, and what
// was left of it went down.
func (j *joint) next() (*http.Response, error) {
	if _, alone := j.answer.Recalls(); alone && j.answer.Inner() <= mostRecalls {
		return j.inner()
	}
	end, err := j.answer.Finish() // while nobody else looks at the answer
	j.count(j.behind)
	j.finished()
	if err == nil {
		j.write(end)
	}
	return nil, err
}

// finished has the call written down, before the client can go on with it.
func (j *joint) finished() {
	j.reply = j.answer
	j.gateway.observer.finish(j.exchange)
}

// inner makes the call that follows a recall. The client is kept waiting with pings.
func (j *joint) inner() (*http.Response, error) {
	type result struct {
		r   *http.Response
		err error
	}
	done := make(chan result, 1)
	go func() {
		defer func() {
			if fault := recover(); fault != nil {
				j.gateway.fault(fault)
				done <- result{nil, errFault}
			}
		}()
		r, err := j.follow()
		done <- result{r, err}
	}()
	tick := time.NewTicker(j.gateway.limits.Ping)
	defer tick.Stop()
	for {
		select {
		case got := <-done:
			if got.err == nil {
				j.answer.Next()
			}
			return got.r, got.err
		case <-tick.C:
			if j.stream {
				j.write(j.answer.Ping())
			}
		}
	}
}

// follow plans the call behind a recall and sends it.
func (j *joint) follow() (*http.Response, error) {
	var fault error
	err := j.gateway.observer.do(j.ctx, func(func() bool) { fault = j.writing.inner(j.ctx, j.answer) })
	if err == nil {
		err = fault
	}
	if err != nil {
		return nil, err
	}
	r, err := j.resend(j.ctx, j.writing.sent)
	if err != nil {
		return nil, err
	}
	if r.StatusCode >= http.StatusBadRequest {
		defer r.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(r.Body, 1<<16))
		return nil, j.refusalOf(r.StatusCode, r.Header.Get("Retry-After"), text)
	}
	return r, nil
}

// take takes in an answer that does not stream, and those behind it.
func (j *joint) take(r *http.Response) {
	came, whole := readWhole(r, mostAnswer)
	if !whole {
		return
	}
	text, err := plain(came, r.Header.Get("Content-Encoding"))
	if err != nil {
		return
	}
	joined, err := j.answered(text)
	if err != nil {
		j.broken(r, text, err)
		return
	}
	j.give(r, joined)
}

// give makes a text the body of an answer.
func (j *joint) give(r *http.Response, text []byte) {
	r.Header.Del("Content-Encoding")
	r.Body = io.NopCloser(bytes.NewReader(text))
	r.ContentLength = int64(len(text))
	r.Header.Set("Content-Length", strconv.Itoa(len(text)))
	j.count(r.Header)
}

// broken answers in place of a call that failed behind a recall; an answer that
// cannot be read passes as it is.
func (j *joint) broken(r *http.Response, text []byte, err error) {
	var e *quire.CallError
	switch {
	case errors.As(err, &e):
	case j.answer.Over():
		e = &quire.CallError{Kind: quire.CallOverloaded, Message: "what was recalled could not be sent; ask again"}
	default:
		j.give(r, text)
		return
	}
	status, body := j.api.encodeError(e)
	r.StatusCode, r.Status = status, ""
	r.Header.Set("Content-Type", "application/json")
	j.status = status
	j.give(r, body)
}

// answered is the answer that the client gets for one that came, and for those that
// follow it.
func (j *joint) answered(text []byte) ([]byte, error) {
	for {
		if err := j.answer.Whole(text); err != nil {
			return nil, err
		}
		if _, alone := j.answer.Recalls(); !alone || j.answer.Inner() > mostRecalls {
			break
		}
		r, err := j.inner()
		if err != nil {
			return nil, err
		}
		if text, err = readAnswer(r); err != nil {
			return nil, err
		}
	}
	whole, err := text, error(nil)
	if j.answer.Over() { // while nobody else looks at the answer
		whole, err = j.answer.Body()
	}
	j.finished()
	return whole, err
}

func readAnswer(r *http.Response) ([]byte, error) {
	defer r.Body.Close()
	text, err := io.ReadAll(io.LimitReader(r.Body, mostAnswer))
	if err != nil {
		return nil, err
	}
	return plain(text, r.Header.Get("Content-Encoding"))
}

package gateway

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"

	"github.com/quire-agent/quire/internal/curation"
	"github.com/quire-agent/quire/internal/quire"
)

// An answered is what is known of an answer.
type answered struct {
	reply quire.Reply
	whole bool             // it came to its end
	err   *quire.CallError // what the provider said instead of it, or in the middle of it
	odd   string           // why it could not be read, "" where it could
}

// read reads an answer as far as it came.
func (e *ended) read(body []byte) answered {
	body, err := plain(body, e.encoding)
	switch {
	case err != nil:
		return answered{odd: err.Error()}
	case e.status >= 400:
		return answered{err: e.refusalOf(e.status, e.after, body)}
	case strings.HasPrefix(e.kind, "text/event-stream") || e.stream:
		return e.fold(body)
	}
	reply, err := e.api.decodeReply(body)
	if err != nil {
		return answered{odd: err.Error()}
	}
	return answered{reply: reply, whole: e.whole}
}

// plain takes the compression off, which an upstream may use though it was asked
// for none. Of what was cut off it is what is there.
func plain(body []byte, encoding string) ([]byte, error) {
	if encoding != "gzip" {
		return body, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	out, _ := io.ReadAll(io.LimitReader(r, mostAnswer)) // an error is the end of what came
	return out, nil
}

// fold adds up what streamed.
func (e *exchange) fold(body []byte) (out answered) {
	var f curation.Fold
	for delta, err := range e.api.decodeStream(bytes.NewReader(body)) {
		if err != nil {
			out.fail(err, e)
			break
		}
		f.Add(delta)
	}
	out.reply, out.whole = f.Reply()
	return out
}

func (a *answered) fail(err error, x *exchange) {
	if e, ok := err.(*quire.CallError); ok {
		hidden := *e
		hidden.Message = x.hide(e.Message)
		a.err = &hidden
		return
	}
	a.odd = x.hide(err.Error())
}

// refusalOf is what a provider said in the place of an answer, without keys.
func (e *exchange) refusalOf(status int, after string, body []byte) *quire.CallError {
	out := e.api.decodeError(status, after, body)
	out.Message = e.hide(out.Message)
	return out
}

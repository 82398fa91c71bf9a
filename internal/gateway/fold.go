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
		return answered{err: e.api.decodeError(e.status, e.after, body)}
	case strings.HasPrefix(e.kind, "text/event-stream") || e.stream:
		return fold(e.api, body)
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
	const most = 1 << 30
	out, _ := io.ReadAll(io.LimitReader(r, most)) // an error is the end of what came
	return out, nil
}

// fold adds up what streamed.
func fold(a API, body []byte) (out answered) {
	var f curation.Fold
	for delta, err := range a.decodeStream(bytes.NewReader(body)) {
		if err != nil {
			out.fail(err)
			break
		}
		f.Add(delta)
	}
	out.reply, out.whole = f.Reply()
	return out
}

func (a *answered) fail(err error) {
	if e, ok := err.(*quire.CallError); ok {
		a.err = e
		return
	}
	a.odd = err.Error()
}

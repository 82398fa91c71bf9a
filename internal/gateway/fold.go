package gateway

import (
	"bytes"
	"compress/gzip"
	"io"
	"slices"
	"strings"

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
func fold(a API, body []byte) answered {
	var f folding
	for delta, err := range a.decodeStream(bytes.NewReader(body)) {
		if err != nil {
			f.fail(err)
			break
		}
		f.add(delta)
	}
	for i := range f.answer.reply.Blocks {
		b := &f.answer.reply.Blocks[i]
		if i < len(f.texts) {
			b.Text += f.texts[i].String()
		}
	}
	return f.answer
}

type folding struct {
	answer answered
	texts  []*strings.Builder
}

func (f *folding) fail(err error) {
	if e, ok := err.(*quire.CallError); ok {
		f.answer.err = e
		return
	}
	f.answer.odd = err.Error()
}

func (f *folding) add(delta quire.Delta) {
	reply := &f.answer.reply
	switch d := delta.(type) {
	case quire.ReplyBegun:
		reply.ID, reply.Model, reply.Usage, reply.Rest = d.ID, d.Model, d.Usage, d.Rest
	case quire.BlockBegun:
		reply.Blocks, f.texts = append(reply.Blocks, d.Block), append(f.texts, &strings.Builder{})
	case quire.BlockGrew:
		if d.Index < len(reply.Blocks) {
			f.texts[d.Index].WriteString(d.Text)
			reply.Blocks[d.Index].Signature += d.Signature
		}
	case quire.BlockEnded:
		if d.Index < len(reply.Blocks) {
			reply.Blocks[d.Index].Rest = over(reply.Blocks[d.Index].Rest, d.Rest)
		}
	case quire.ReplyEnded:
		reply.Stop, reply.Usage, reply.Rest = d.Stop, d.Usage, over(reply.Rest, d.Rest)
		f.answer.whole = true
	}
}

// over is a list of members with later ones in their place or behind them.
func over(old, later []quire.Field) []quire.Field {
	list := slices.Clone(old)
	for _, m := range later {
		at := slices.IndexFunc(list, func(o quire.Field) bool { return o.Name == m.Name })
		if at < 0 {
			list = append(list, m)
		} else {
			list[at] = m
		}
	}
	return list
}

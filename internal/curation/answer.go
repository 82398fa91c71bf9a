package curation

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/wire/chat"
	"github.com/quire-agent/quire/internal/x/rawjson"
	"github.com/quire-agent/quire/internal/x/sse"
)

// An Answer is what a client sees of one or more answers of its provider: of a call,
// and of the calls that followed because the model recalled a page. It is not safe
// for concurrent use.
type Answer struct {
	d       *Dialect
	decoder Decoder
	encoder Encoder
	fold    Fold
	over    bool        // what goes down is written here
	begun   bool        // the beginning was sent
	index   map[int]int // blocks of the answer at hand: their number in what goes down, -1: a recall
	next    int
	text    bool // the last block that the client saw is a text
	ended   *quire.ReplyEnded
	last    []byte // the end of an answer that passed unchanged, not sent yet
	first   quire.Reply
	shown   []quire.Block // of all answers
	lead    lead          // of the answer at hand
	names   names
	output  int64 // tokens of the answers before
	inner   int   // answers before
}

// NewAnswer begins the answer to a client's request.
func (d *Dialect) NewAnswer(body []byte) *Answer {
	a := &Answer{d: d, decoder: d.decoder(), encoder: d.encoder(), index: map[int]int{}, names: names{dialect: d, body: body}}
	if e, ok := a.encoder.(*chat.Encoder); ok {
		options := rawjson.Members(rawjson.Get(rawjson.Members(body), "stream_options"))
		e.Usage = string(rawjson.Get(options, "include_usage")) == "true"
	}
	return a
}

// Event takes the bytes of one event of the answer at hand, with its end, and
// returns what goes down. What ends the answer is held back: when it was given,
// ended is true, and [Answer.Finish] or [Answer.Next] comes next.
func (a *Answer) Event(raw []byte) (down []byte, ended bool, err error) {
	for e, err := range sse.Read(bytes.NewReader(raw)) {
		if err != nil {
			return nil, false, fmt.Errorf("read an event: %w", err)
		}
		deltas, err := a.decoder.Decode(e)
		if err != nil {
			return a.passed(raw, nil), false, err
		}
		written, err := a.take(deltas)
		if err != nil {
			return nil, false, err
		}
		down = append(down, written...)
	}
	if a.ended != nil && !a.over {
		a.last = append(a.last, raw...)
		return nil, true, nil
	}
	return a.passed(raw, down), a.ended != nil, nil
}

// passed is what goes down of an event: its bytes, or what was written of it.
func (a *Answer) passed(raw, written []byte) []byte {
	if a.over {
		return written
	}
	return raw
}

// End says that the answer at hand has no more events.
func (a *Answer) End() (down []byte, ended bool, err error) {
	deltas, err := a.decoder.End()
	if err != nil {
		return nil, false, err
	}
	down, err = a.take(deltas)
	if !a.over {
		down = nil
	}
	return down, a.ended != nil, err
}

func (a *Answer) take(deltas []quire.Delta) (down []byte, err error) {
	for i, d := range deltas {
		if b, ok := d.(quire.BlockBegun); ok {
			a.names.give(&b.Block)
			d = b
		}
		a.fold.Add(d)
		if d = a.seen(a.signed(d, deltas[i+1:])); d == nil {
			continue
		}
		b, err := a.encoder.Encode(d)
		if err != nil && a.over {
			return nil, err
		}
		if a.over {
			down = append(down, b...)
		}
	}
	return down, nil
}

// signed is the beginning of a call with what a client has to send in the place of a
// signature. What follows may be a signature of its own.
func (a *Answer) signed(delta quire.Delta, behind []quire.Delta) quire.Delta {
	d, ok := delta.(quire.BlockBegun)
	if !ok {
		return delta
	}
	own := slices.ContainsFunc(behind, func(b quire.Delta) bool {
		g, ok := b.(quire.BlockGrew)
		return ok && g.Index == d.Index && g.Signature != ""
	})
	if a.lead.lost(&d.Block) && !own {
		d.Block.Signature = a.d.unsigned
	}
	return d
}

// A lead knows whether the calls of an answer begin with a recall. Where calls are
// signed the first one is, and the client does not see a recall.
type lead struct{ recalled, called bool }

// lost reports of each block in its order whether it is a call without a signature
// that has lost the one in front of it.
func (l *lead) lost(b *quire.Block) bool {
	if b.Kind != quire.PartToolCall || b.Opaque != nil {
		return false
	}
	if recalls(b) {
		l.recalled = true
		return false
	}
	first := l.recalled && !l.called
	l.called = true
	return first && b.Signature == ""
}

// seen is a delta as the client sees it, nil where it does not.
func (a *Answer) seen(delta quire.Delta) quire.Delta {
	switch d := delta.(type) {
	case quire.ReplyBegun:
		if a.begun {
			return nil
		}
		a.begun = true
		a.first = quire.Reply{ID: d.ID, Model: d.Model, Rest: d.Rest}
	case quire.BlockBegun:
		if recalls(&d.Block) {
			a.index[d.Index], a.over = -1, true
			return nil
		}
		a.index[d.Index] = a.next
		d.Index = a.next
		a.next++
		text := flowing(&d.Block)
		if text && a.text && a.over && a.d.flows {
			d.Block.Text = between + d.Block.Text
		}
		a.text = text
		return d
	case quire.BlockGrew:
		if d.Index = a.index[d.Index]; d.Index < 0 {
			return nil
		}
		return d
	case quire.BlockEnded:
		if d.Index = a.index[d.Index]; d.Index < 0 {
			return nil
		}
		return d
	case quire.ReplyEnded:
		a.ended = &d
		return nil
	}
	return delta
}

// between stands between the texts of two answers where they are one text for the
// client.
const between = "\n\n"

func flowing(b *quire.Block) bool { return b.Kind == quire.PartText && b.Opaque == nil }

func recalls(b *quire.Block) bool {
	return b.Kind == quire.PartToolCall && b.Opaque == nil && b.Tool == run.RecallName
}

// Whole takes an answer that does not stream.
func (a *Answer) Whole(body []byte) error {
	r, err := a.d.decodeReply(body)
	if err != nil {
		return err
	}
	if !a.begun {
		a.begun, a.first = true, r
	}
	a.fold = Fold{reply: r, whole: true}
	for range r.Blocks {
		a.fold.texts = append(a.fold.texts, new(strings.Builder))
	}
	for i := range r.Blocks {
		a.names.give(&r.Blocks[i])
		a.over = a.over || recalls(&r.Blocks[i])
	}
	a.ended = &quire.ReplyEnded{Stop: r.Stop, Usage: r.Usage, Rest: r.Rest}
	return nil
}

// Reply is the answer at hand as the provider gave it, as far as it came.
func (a *Answer) Reply() (r quire.Reply, whole bool) { return a.fold.Reply() }

// Recalls are the calls of the answer at hand that ask for pages, and alone says
// that it calls nothing else. An answer that broke off in the middle of a call asks
// for nothing.
func (a *Answer) Recalls() (calls []quire.Block, alone bool) {
	r, whole := a.fold.Reply()
	if !whole || r.Stop == quire.StopLength || r.Stop == quire.StopWindow || r.Stop == quire.StopRefusal {
		return nil, false
	}
	alone = true
	for i := range r.Blocks {
		switch b := &r.Blocks[i]; {
		case recalls(b):
			calls = append(calls, *b)
		case b.Kind == quire.PartToolCall && b.Opaque == nil:
			alone = false
		}
	}
	return calls, alone && len(calls) > 0
}

// Shown are the blocks that the client saw, of all answers.
func (a *Answer) Shown() []quire.Block {
	r, _ := a.fold.Reply()
	out := slices.Clone(a.shown)
	var l lead
	for _, b := range r.Blocks {
		n := len(out)
		if l.lost(&b) {
			b.Signature = a.d.unsigned
		}
		switch {
		case recalls(&b):
		case a.d.flows && a.over && n > 0 && flowing(&b) && flowing(&out[n-1]):
			out[n-1].Text += between + b.Text
		default:
			out = append(out, b)
		}
	}
	return out
}

// Next says that another answer goes on with this one.
func (a *Answer) Next() {
	r, _ := a.fold.Reply()
	a.shown, a.output = a.Shown(), a.output+r.Usage.Output
	a.inner++
	a.decoder, a.fold, a.index, a.ended, a.last = a.d.decoder(), Fold{}, map[int]int{}, nil, nil
	a.lead = lead{}
}

// Over reports whether what goes down is written here.
func (a *Answer) Over() bool { return a.over }

// Spent is how many tokens the answers before this one had.
func (a *Answer) Spent() int64 { return a.output }

// Inner is how many answers came before this one.
func (a *Answer) Inner() int { return a.inner }

// Usage is that of the last call, with the output of all (design, G11).
func (a *Answer) Usage() quire.Usage {
	r, _ := a.fold.Reply()
	r.Usage.Output += a.output
	return r.Usage
}

// Finish is the end of the answer.
func (a *Answer) Finish() ([]byte, error) {
	if !a.over {
		return a.last, nil
	}
	return a.encoder.Encode(a.end())
}

// end is the end as the client sees it: one that only recalled at last has ended.
func (a *Answer) end() quire.ReplyEnded {
	e := *a.ended
	e.Usage = a.Usage()
	if _, alone := a.Recalls(); alone {
		e.Stop = quire.StopEnd
	}
	return e
}

// Body is the whole of an answer that does not stream.
func (a *Answer) Body() ([]byte, error) {
	e := a.end()
	r := quire.Reply{ID: a.first.ID, Model: a.first.Model, Blocks: a.Shown(), Stop: e.Stop, Usage: e.Usage, Rest: e.Rest}
	return a.d.encodeReply(r)
}

// Broken is the end of an answer whose next call failed: the provider's own words
// for being overloaded, so that the client asks again.
func (a *Answer) Broken() []byte {
	return a.d.streamError(&quire.CallError{Kind: quire.CallOverloaded, Message: "the call that follows a recall failed; ask again"})
}

// Ping is what keeps a client waiting while a page is read and the next call begins.
func (a *Answer) Ping() []byte {
	if a.d.marks {
		return sse.Append(nil, sse.Event{Name: "ping", Data: []byte(`{"type":"ping"}`)})
	}
	return []byte(": wait\n\n")
}

package script

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/script"
	wire "github.com/quire-agent/quire/internal/wire/anthropic"
)

// A Model plays one script. It is safe for concurrent use; the order in which
// answers begin to be read decides which turn answers which.
type Model struct {
	player *script.Player
	usage  func(quire.Call, quire.Reply) quire.Usage
}

// New is a model that plays. usage says what an answer is to report; nil reports
// nothing.
func New(p *script.Player, usage func(quire.Call, quire.Reply) quire.Usage) *Model {
	if usage == nil {
		usage = func(quire.Call, quire.Reply) quire.Usage { return quire.Usage{} }
	}
	return &Model{p, usage}
}

// piece is in how many runes texts come.
const piece = 24

// Call answers a call, as package model promises. The faults of the script come
// true as far as they can without a connection: bytes are counted in the texts
// of the answer, errors of a status are those of the Messages API. A call that no
// turn answers is an invalid request.
func (m *Model) Call(ctx context.Context, c quire.Call) iter.Seq2[quire.Delta, error] {
	return func(yield func(quire.Delta, error) bool) {
		a, err := m.player.Next(c)
		if err != nil {
			yield(nil, &quire.CallError{Kind: quire.CallInvalid, Message: err.Error()})
			return
		}
		if err := before(ctx, a.Fault); err != nil {
			yield(nil, err)
			return
		}
		r := quire.Reply{ID: "line-" + strconv.Itoa(a.Line), Model: c.Model, Blocks: a.Blocks, Stop: a.Stop}
		r.Usage = m.usage(c, r)
		t := telling{fault: a.Fault, yield: yield}
		for _, d := range script.Deltas(r, piece) {
			if err := t.tell(ctx, d); err != nil {
				yield(nil, err)
				return
			}
			if t.left {
				return
			}
		}
	}
}

// before is what happens before the first byte.
func before(ctx context.Context, f script.Fault) error {
	if err := pause(ctx, f.Wait); err != nil {
		return err
	}
	switch {
	case f.Status > 0:
		e := wire.DecodeError(f.Status, "", []byte(f.Message))
		e.After = f.After
		return e
	case f.Break == script.BreakDrop:
		return &quire.CallError{Kind: quire.CallNetwork, Message: "the script drops the connection"}
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return fmt.Errorf("call the model: %w", ctx.Err())
	}
	return nil
}

// A telling is an answer under way.
type telling struct {
	fault script.Fault
	bytes int // of texts that were told
	yield func(quire.Delta, error) bool
	left  bool // nobody reads any more
}

// tell hands a delta on, as far as the fault lets it. The error is the fault's.
// An answer that is shorter than the fault wants breaks at its end.
func (t *telling) tell(ctx context.Context, d quire.Delta) error {
	if ctx.Err() != nil {
		return fmt.Errorf("call the model: %w", ctx.Err())
	}
	grown, grows := d.(quire.BlockGrew)
	_, ends := d.(quire.ReplyEnded)
	if t.fault.Break == "" || !ends && (!grows || t.bytes+len(grown.Text) < t.fault.At) {
		t.bytes += len(grown.Text)
		t.left = !t.yield(d, nil)
		return nil
	}
	if !grows {
		return t.broken(ctx, d)
	}
	at := t.fault.At - t.bytes
	for !utf8.ValidString(grown.Text[:at]) {
		at--
	}
	rest := grown
	rest.Text, grown.Text, grown.Signature = grown.Text[at:], grown.Text[:at], ""
	if t.left = !t.yield(grown, nil); t.left {
		return nil
	}
	return t.broken(ctx, rest)
}

// broken is what happens where the answer breaks. Behind a stall that ends the
// rest follows.
func (t *telling) broken(ctx context.Context, rest quire.Delta) error {
	switch f := t.fault; f.Break {
	case script.BreakGarbage:
		return &quire.CallError{Kind: quire.CallGarbled, Message: "the script sends garbage"}
	case script.BreakStall:
		if f.For > 0 {
			t.fault.Break = ""
			if err := pause(ctx, f.For); err != nil {
				return err
			}
			t.left = !t.yield(rest, nil)
			return nil
		}
		<-ctx.Done()
		return fmt.Errorf("call the model: %w", ctx.Err())
	default:
		return &quire.CallError{Kind: quire.CallCut, Message: "the script cuts the answer off"}
	}
}

package modeltest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/quire-agent/quire/internal/model"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/script"
	"github.com/quire-agent/quire/internal/wire/wiretest"
)

// Name is the name under which the model is called.
const Name = "model-1"

// secret is the key that the calls carry.
const secret = "made-up-key"

// A Caller is what is tested.
type Caller interface {
	Call(ctx context.Context, c quire.Call) iter.Seq2[quire.Delta, error]
}

// A Suite tests a model against its protocol.
type Suite struct {
	Protocol Protocol
	Base     string                         // path of the base address
	Open     func(e *model.Endpoint) Caller // the model itself
	Retrying func(inner Caller) Caller      // the model wrapped to try again, without long waits
}

// Run runs all scenarios.
func (s Suite) Run(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(*trial)
	}{
		{"text", (*trial).text},
		{"one tool", (*trial).oneTool},
		{"parallel tools", (*trial).parallelTools},
		{"thinking with tools", (*trial).thinking},
		{"image", (*trial).image},
		{"long stream", (*trial).long},
		{"answer in one piece", (*trial).onePiece},
		{"cancel", (*trial).cancel},
		{"leave", (*trial).leave},
		{"overload", (*trial).overload},
		{"overload in the middle", (*trial).overloadInside},
		{"cut stream", (*trial).cut},
		{"cut before the first word", (*trial).cutEarly},
		{"content filter", (*trial).filter},
		{"context overflow", (*trial).overflow},
		{"wrong key", (*trial).wrongKey},
		{"web page", (*trial).webPage},
		{"nobody there", (*trial).nobody},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			x := &trial{Suite: s, t: t}
			c.run(x)
			x.end()
			goleak.VerifyNone(t, before)
		})
	}
}

// A trial is one scenario.
type trial struct {
	Suite
	t      *testing.T
	client *http.Client
	server *server
}

// open starts a provider that answers so, and a model that calls it.
func (x *trial) open(answers ...answer) Caller {
	x.server = serve(x.t, x.Protocol, answers...)
	return x.dial(x.server.URL)
}

func (x *trial) dial(host string) Caller {
	x.client = model.NewClient(func(string) (string, bool) { return "", false })
	return x.Open(&model.Endpoint{Base: host + x.Base, Key: model.NewKey(secret, "a test"), Client: x.client})
}

func (x *trial) end() {
	x.client.CloseIdleConnections()
	if x.server != nil {
		x.server.Close()
	}
}

// ask calls and puts the answer together.
func (x *trial) ask(m Caller, c quire.Call) quire.Reply {
	deltas, err := collect(m.Call(x.t.Context(), c))
	if err != nil {
		x.t.Fatal(err)
	}
	reply, err := wiretest.Fold(deltas)
	if err != nil {
		x.t.Fatal(err)
	}
	return reply
}

// fail calls and wants an error of that kind. It returns what came before.
func (x *trial) fail(m Caller, kind quire.CallErrorKind) ([]quire.Delta, *quire.CallError) {
	deltas, err := collect(m.Call(x.t.Context(), call()))
	e, ok := errors.AsType[*quire.CallError](err)
	if !ok || e.Kind != kind {
		x.t.Fatalf("the error is %v, want kind %s", err, kind)
	}
	if strings.Contains(err.Error(), secret) {
		x.t.Errorf("the error shows the key: %v", err)
	}
	return deltas, e
}

func collect(seq iter.Seq2[quire.Delta, error]) ([]quire.Delta, error) {
	var deltas []quire.Delta
	for d, err := range seq {
		if err != nil {
			return deltas, err
		}
		deltas = append(deltas, d)
	}
	return deltas, nil
}

// same compares what counts of an answer: its blocks, why it stopped, its usage.
func (x *trial) same(got, want quire.Reply) {
	x.t.Helper()
	if a, b := outline(got.Blocks), outline(want.Blocks); a != b {
		x.t.Errorf("the answer is\n%swant\n%s", a, b)
	}
	if got.Stop != want.Stop {
		x.t.Errorf("it stopped for %s, want %s", got.Stop, want.Stop)
	}
	if got.Usage.Prompt() != want.Usage.Prompt() || got.Usage.Output != want.Usage.Output {
		x.t.Errorf("its usage is %+v, want %+v", got.Usage, want.Usage)
	}
}

func outline(blocks []quire.Block) string {
	var b strings.Builder
	for _, k := range blocks {
		fmt.Fprintf(&b, "%v %q %s %s %q\n", k.Kind, k.Text, k.Tool, k.ToolUse, k.Signature)
	}
	return b.String()
}

func (x *trial) exchange(c quire.Call, want quire.Reply) {
	x.t.Helper()
	m := x.open(streams(script.Deltas(want, 3)))
	x.same(x.ask(m, c), want)
}

// found is the one block of a kind in the calls that came.
func (x *trial) found(call int, kind quire.PartKind) quire.Block {
	all := x.all(call, kind)
	if len(all) != 1 {
		x.t.Fatalf("%d blocks of kind %v came, want 1", len(all), kind)
	}
	return all[0]
}

func (x *trial) all(call int, kind quire.PartKind) []quire.Block {
	var found []quire.Block
	for _, m := range x.server.call(call).Messages {
		for _, b := range m.Blocks {
			if b.Kind == kind {
				found = append(found, b)
			}
		}
	}
	return found
}

func block(kind quire.PartKind, text string) quire.Block {
	return quire.Block{Part: quire.Part{Kind: kind, Text: text}}
}

func toolCall(id, arguments string) quire.Block {
	return quire.Block{Part: quire.Part{Kind: quire.PartToolCall, Tool: "look", ToolUse: id, Text: arguments}}
}

func toolResult(id, text string) quire.Block {
	return quire.Block{Part: quire.Part{Kind: quire.PartToolResult, Tool: "look", ToolUse: id, Text: text}}
}

// call is a first call, with a tool, in which the user says something.
func call(more ...quire.Message) quire.Call {
	return quire.Call{
		Model:  Name,
		System: []quire.Block{block(quire.PartSystem, "Be brief.")},
		Tools:  []quire.ToolSpec{{Name: "look", Description: "Looks.", Schema: []byte(`{"type":"object","properties":{"at":{"type":"string"}}}`)}},
		Messages: append([]quire.Message{
			{Role: quire.RoleUser, Blocks: []quire.Block{block(quire.PartUser, "What is there?")}},
		}, more...),
	}
}

func reply(stop quire.Stop, blocks ...quire.Block) quire.Reply {
	known := quire.KnownInput | quire.KnownOutput | quire.KnownCache
	return quire.Reply{ID: "r1", Model: Name, Blocks: blocks, Stop: stop, Usage: quire.Usage{Input: 12, Output: 7, Known: known}}
}

func words(text string) quire.Reply { return reply(quire.StopEnd, block(quire.PartText, text)) }

// next is a call that goes on behind an answer, with results.
func next(answer quire.Reply, results ...quire.Block) quire.Call {
	return call(
		quire.Message{Role: quire.RoleAssistant, Blocks: answer.Blocks},
		quire.Message{Role: quire.RoleTool, Blocks: results},
	)
}

// beginning is the deltas of an answer until its first block has grown.
func beginning(r quire.Reply) []quire.Delta {
	deltas := script.Deltas(r, 3)
	isGrowth := func(d quire.Delta) bool { _, ok := d.(quire.BlockGrew); return ok }
	return deltas[:slices.IndexFunc(deltas, isGrowth)+1]
}

package modeltest

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/script"
)

func (x *trial) text() {
	x.exchange(call(), words("A lake, 湖."))
	c := x.server.call(0)
	if c.Model != Name || !c.Stream {
		x.t.Errorf("model %q was called, streaming %v", c.Model, c.Stream)
	}
	if len(c.System) != 1 || c.System[0].Text != "Be brief." {
		x.t.Errorf("the system prompt arrives as %+v", c.System)
	}
	if got := x.found(0, quire.PartUser); got.Text != "What is there?" {
		x.t.Errorf("the user's words arrive as %q", got.Text)
	}
}

func (x *trial) oneTool() {
	first := reply(quire.StopTool, block(quire.PartText, "I look."), toolCall("call_1", `{"at": "the lake"}`))
	m := x.open(streams(script.Deltas(first, 4)), streams(script.Deltas(words("A boat."), 0)))
	got := x.ask(m, call())
	x.same(got, first)
	x.same(x.ask(m, next(got, toolResult("call_1", "a boat"))), words("A boat."))
	if tools := x.server.call(0).Tools; len(tools) != 1 || tools[0].Name != "look" {
		x.t.Errorf("the tools arrive as %+v", tools)
	}
	if c := x.found(1, quire.PartToolCall); c.Text != `{"at": "the lake"}` || c.ToolUse != "call_1" {
		x.t.Errorf("the tool call arrives as %+v", c.Part)
	}
	if r := x.found(1, quire.PartToolResult); r.ToolUse != "call_1" || texts(r) != "a boat" {
		x.t.Errorf("the result arrives as %+v", r)
	}
}

// texts is the text of a block, wherever it stands.
func texts(b quire.Block) string {
	text := b.Text
	for _, inner := range b.Content {
		text += inner.Text
	}
	return text
}

// parallelTools holds that calls and results stay together and in order.
// failures.md A5
func (x *trial) parallelTools() {
	first := reply(quire.StopTool, toolCall("call_1", `{"at":"left"}`), toolCall("call_2", `{"at":"right"}`))
	m := x.open(streams(script.Deltas(first, 4)), streams(script.Deltas(words("Both."), 0)))
	got := x.ask(m, call())
	x.same(got, first)
	x.same(x.ask(m, next(got, toolResult("call_1", "one"), toolResult("call_2", "two"))), words("Both."))
	calls, results := x.all(1, quire.PartToolCall), x.all(1, quire.PartToolResult)
	if len(calls) != 2 || len(results) != 2 {
		x.t.Fatalf("%d calls and %d results arrive", len(calls), len(results))
	}
	for i, want := range []string{"call_1", "call_2"} {
		if calls[i].ToolUse != want || results[i].ToolUse != want {
			x.t.Errorf("call %d is %s, its result %s; want %s", i, calls[i].ToolUse, results[i].ToolUse, want)
		}
	}
}

// thinking holds that thinking goes back as it came. failures.md A8
func (x *trial) thinking() {
	first := x.thoughtful()
	m := x.open(streams(script.Deltas(first, 5)), streams(script.Deltas(words("There."), 0)))
	got := x.ask(m, call())
	x.same(got, first)
	x.same(x.ask(m, next(got, toolResult("call_1", "a boat"))), words("There."))
	if x.Protocol.NoThought {
		if all := x.all(1, quire.PartThinking); len(all) > 0 {
			x.t.Errorf("thinking arrives: %+v", all)
		}
		return
	}
	back := []quire.Block{x.found(1, quire.PartThinking), x.found(1, quire.PartToolCall)}
	if a, b := outline(back), outline(first.Blocks); a != b {
		x.t.Errorf("back goes\n%swant\n%s", a, b)
	}
}

// thoughtful is an answer that thinks and then calls, signed as the protocol does.
func (x *trial) thoughtful() quire.Reply {
	thought, act := block(quire.PartThinking, "Where would a boat be?"), toolCall("call_1", `{"at":"shore"}`)
	switch {
	case x.Protocol.NoSigning:
	case x.Protocol.SignsCalls:
		act.Signature = "c2lnbmVk"
	default:
		thought.Signature = "c2lnbmVk"
	}
	return reply(quire.StopTool, thought, act)
}

func (x *trial) image() {
	data := "\x89PNG made up \x00\xff"
	picture := quire.Block{Part: quire.Part{Kind: quire.PartImage, Media: &quire.Media{Type: "image/png", Bytes: len(data)}, Data: data}}
	c := call()
	c.Messages[0].Blocks = append(c.Messages[0].Blocks, picture)
	x.exchange(c, words("A lake."))
	if got := x.found(0, quire.PartImage); got.Data != data || got.Media == nil || got.Media.Type != "image/png" {
		x.t.Errorf("the image arrives as %+v", got)
	}
}

func (x *trial) long() {
	want := words(strings.Repeat("All work and no play. ", 400))
	x.exchange(call(), want)
}

// onePiece is the answer of a server that does not stream.
func (x *trial) onePiece() {
	want := words("All at once.")
	body, err := x.Protocol.Reply(want)
	if err != nil {
		x.t.Fatal(err)
	}
	m := x.open(writes("application/json", string(body)))
	x.same(x.ask(m, call()), want)
}

// cancel holds that a call ends with its context, and that the provider sees it.
func (x *trial) cancel() {
	left := make(chan struct{})
	m := x.open(hangs(beginning(words("A lake.")), left))
	ctx, cancel := context.WithCancel(x.t.Context())
	defer cancel()
	var last error
	for _, err := range m.Call(ctx, call()) {
		cancel()
		last = err
	}
	<-left
	if !errors.Is(last, context.Canceled) {
		x.t.Errorf("the error is %v", last)
	}
}

func (x *trial) leave() {
	left := make(chan struct{})
	m := x.open(hangs(beginning(words("A lake.")), left))
	for range m.Call(x.t.Context(), call()) {
		break
	}
	<-left
}

// overload holds how the provider's having too much to do is told and passes.
// failures.md B30
func (x *trial) overload() {
	busy := &quire.CallError{Kind: quire.CallOverloaded, After: 0.001, Message: "busy"}
	m := x.open(refuses(busy), refuses(busy), refuses(busy), streams(script.Deltas(words("At last."), 0)))
	_, e := x.fail(m, quire.CallOverloaded)
	if e.After != busy.After || !e.Kind.Passing() {
		x.t.Errorf("the error is %+v", e)
	}
	x.same(x.ask(x.Retrying(m), call()), words("At last."))
}

// overloadInside is an error in the middle of a stream, behind words.
func (x *trial) overloadInside() {
	busy := &quire.CallError{Kind: quire.CallOverloaded, Message: "busy"}
	m := x.open(breaks(beginning(words("A lake.")), busy))
	deltas, _ := x.fail(x.Retrying(m), quire.CallOverloaded)
	if len(deltas) == 0 {
		x.t.Error("nothing came before the error")
	}
}

// cut holds that an answer that breaks off is never taken for a whole one, and
// that it is not called for again behind words that were handed on.
func (x *trial) cut() {
	m := x.open(cuts(beginning(words("A lake."))))
	deltas, _ := x.fail(x.Retrying(m), quire.CallCut)
	if !slices.ContainsFunc(deltas, grew) {
		x.t.Errorf("the words before the cut are lost: %v", deltas)
	}
}

func grew(d quire.Delta) bool {
	g, ok := d.(quire.BlockGrew)
	return ok && g.Text != ""
}

func (x *trial) cutEarly() {
	start := script.Deltas(words("A lake."), 0)[:1]
	m := x.open(cuts(start), streams(script.Deltas(words("A lake."), 0)))
	x.same(x.ask(x.Retrying(m), call()), words("A lake."))
}

func (x *trial) filter() {
	refused := reply(quire.StopRefusal, block(quire.PartText, "I"))
	m := x.open(streams(script.Deltas(refused, 0)), refuses(&quire.CallError{Kind: quire.CallFiltered, Message: x.Protocol.Filtered}))
	if got := x.ask(m, call()); got.Stop != quire.StopRefusal {
		x.t.Errorf("it stopped for %s", got.Stop)
	}
	if x.Protocol.Filtered != "" {
		x.fail(m, quire.CallFiltered)
	}
}

// overflow holds that a prompt that is too long is known for that, and not sent
// again. failures.md A14
func (x *trial) overflow() {
	m := x.open(refuses(&quire.CallError{Kind: quire.CallTooLong, Message: x.Protocol.TooLong}))
	x.fail(x.Retrying(m), quire.CallTooLong)
}

// wrongKey has a provider that repeats the key, as some do.
func (x *trial) wrongKey() {
	m := x.open(refuses(&quire.CallError{Kind: quire.CallAuth, Message: "wrong key: " + secret}))
	_, e := x.fail(x.Retrying(m), quire.CallAuth)
	if !strings.Contains(e.Message, "wrong key") {
		x.t.Errorf("the message is %q", e.Message)
	}
}

func (x *trial) webPage() {
	m := x.open(writes("text/html; charset=utf-8", "<html>Sign in to the network</html>"))
	x.fail(x.Retrying(m), quire.CallGarbled)
}

func (x *trial) nobody() {
	m := x.open()
	x.server.Close()
	x.fail(m, quire.CallNetwork)
}

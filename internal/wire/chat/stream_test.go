package chat

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/wiretest"
)

// FuzzStream holds that a stream, whatever is in it, ends in order: with deltas
// that add up to a reply, or with an error that says what kind it is.
func FuzzStream(f *testing.F) {
	for _, seed := range streamSeeds() {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		list, err := collect(in)
		if err != nil {
			var e *quire.CallError
			if !errors.As(err, &e) || e.Kind == "" {
				t.Fatalf("%v", err)
			}
			return
		}
		if _, err := wiretest.Fold(list); err != nil {
			t.Fatalf("%s: %v", in, err)
		}
	})
}

func FuzzReply(f *testing.F) {
	for _, seed := range replySeeds() {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		reply, err := DecodeReply(in)
		if err != nil {
			return
		}
		out, err := EncodeReply(reply)
		if err != nil {
			t.Fatalf("%s: %v", in, err)
		}
		again, err := DecodeReply(out)
		if err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		twice, err := EncodeReply(again)
		if err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if err := wiretest.SameJSON(out, twice); err != nil {
			t.Fatal(err)
		}
	})
}

// TestStreamsComeBack holds that an answer of ours, streamed in pieces of any
// size and read again, is the same answer.
func TestStreamsComeBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := quire.Reply{ID: "r", Model: "m", Stop: quire.StopEnd, Usage: ownReply().Usage}
		list := []quire.Delta{quire.ReplyBegun{ID: "r", Model: "m"}}
		for i := range rapid.IntRange(0, 4).Draw(rt, "blocks") {
			b := anyBlock(rt, i)
			if b.Kind == quire.PartToolCall {
				want.Stop = quire.StopTool
			}
			want.Blocks = append(want.Blocks, b)
			list = append(list, pieces(rt, i, b)...)
		}
		list = append(list, quire.ReplyEnded{Stop: want.Stop, Usage: want.Usage})
		back, err := collect(encodeStream(t, anEncoder(), list))
		if err != nil {
			rt.Fatal(err)
		}
		got, err := wiretest.Fold(back)
		if err != nil {
			rt.Fatal(err)
		}
		checkSame(rt, got, want)
	})
}

func pieces(t *rapid.T, index int, b quire.Block) []quire.Delta {
	text := []rune(b.Text)
	b.Text = ""
	list := []quire.Delta{quire.BlockBegun{Index: index, Block: b}}
	for len(text) > 0 {
		n := rapid.IntRange(1, len(text)).Draw(t, "piece")
		list = append(list, quire.BlockGrew{Index: index, Text: string(text[:n])})
		text = text[n:]
	}
	return append(list, quire.BlockEnded{Index: index})
}

// checkSame compares what a client reads: texts, calls, how it ended and what it
// cost.
func checkSame(t *rapid.T, got, want quire.Reply) {
	if got.ID != want.ID || got.Model != want.Model || got.Stop != want.Stop || got.Usage != want.Usage || len(got.Blocks) != len(want.Blocks) {
		t.Fatalf("%+v came back as %+v", want, got)
	}
	for i, b := range want.Blocks {
		if g := got.Blocks[i]; g.Kind != b.Kind || g.Text != b.Text || g.Tool != b.Tool || g.ToolUse != b.ToolUse {
			t.Fatalf("%+v came back as %+v", b, g)
		}
	}
}

func anEncoder() *Encoder { return &Encoder{Usage: true} }

// anyBlock is a block of an answer: thinking first, then words, then calls, each
// with some text, as this protocol has no other order.
func anyBlock(t *rapid.T, i int) quire.Block {
	text := rapid.StringN(1, 20, -1).Draw(t, "text")
	switch i {
	case 0:
		return quire.Block{Part: quire.Part{Kind: quire.PartThinking, Text: text}}
	case 1:
		return quire.Block{Part: quire.Part{Kind: quire.PartText, Text: text}}
	}
	return quire.Block{Part: quire.Part{Kind: quire.PartToolCall, Tool: "f", ToolUse: string(rune('a' + i)), Text: text}}
}

func streamSeeds() []string {
	return []string{
		"data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"reasoning\":\"a\",\"reasoning_details\":[{\"type\":\"t\",\"index\":0}]}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"b\",\"tool_calls\":[{\"index\":0,\"id\":\"x\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}},{\"function\":{\"name\":\"g\"}}]},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		"data: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\",\"text\":\"a\"}]},{\"type\":\"x\"}]},\"finish_reason\":\"length\"}]}\n\n",
		"event: error\ndata: {\"message\":\"x\"}\n\n",
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":2,\"custom\":{\"name\":\"n\",\"input\":\"i\"}},{\"index\":2,\"id\":\"\",\"function\":null},5]}}],\"usage\":{\"prompt_tokens\":-1}}\n\ndata: [DONE]\n\n",
	}
}

func replySeeds() []string {
	return []string{
		`{"choices":[{"message":{"content":"a","reasoning":"b","reasoning_details":[{}],"tool_calls":[{"function":{"name":"f","arguments":{"a":1}}},{"id":"x","type":"custom","custom":{"input":"i"}}],"refusal":"no"},"finish_reason":"stop"},{"index":1}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`,
		`{"id":"a","choices":[{"finish_reason":"model_length"}],"usage":null}`,
		`{"choices":[5]}`,
		`{"error":{"message":"x"}}`,
	}
}

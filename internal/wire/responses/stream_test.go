package responses

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

func anEncoder() *Encoder { return new(Encoder) }

// anyBlock is a block of an answer.
func anyBlock(t *rapid.T, i int) quire.Block {
	text := rapid.StringN(1, 20, -1).Draw(t, "text")
	kind := rapid.SampledFrom([]quire.PartKind{quire.PartThinking, quire.PartText, quire.PartToolCall}).Draw(t, "kind")
	b := quire.Block{Part: quire.Part{Kind: kind, Text: text}}
	if kind == quire.PartToolCall {
		b.Tool, b.ToolUse = "f", string(rune('a'+i))
	}
	return b
}

func streamSeeds() []string {
	return []string{
		"data: {\"type\":\"response.created\",\"response\":{\"id\":\"r\"}}\n\ndata: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"message\",\"id\":\"m\"}}\n\ndata: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"content_index\":1,\"delta\":\"x\"}\n\ndata: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"xy\"},{\"type\":\"odd\"}]}}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"output\":[{},5]}}\n\n",
		"data: {\"type\":\"response.output_item.added\",\"item\":{\"type\":\"reasoning\",\"summary\":[]}}\n\ndata: {\"type\":\"response.reasoning_text.delta\",\"delta\":\"a\"}\n\ndata: {\"type\":\"response.reasoning_summary_part.added\",\"summary_index\":1}\n\ndata: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"function_call\",\"arguments\":\"\"}}\n\ndata: {\"type\":\"response.incomplete\",\"response\":{\"incomplete_details\":{\"reason\":\"content_filter\"}}}\n\n",
		"data: {\"type\":\"response.failed\",\"response\":{}}\n\n",
		"data: {\"type\":\"error\"}\n\n",
	}
}

func replySeeds() []string {
	return []string{
		`{"id":"r","status":"completed","output":[{"type":"reasoning","summary":[]},{"role":"assistant","content":"a"},{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"no"},{"type":"odd"}]},{"type":"custom_tool_call","input":"x"},{"type":"x_call"},{"type":"function_call_output","call_id":"c","output":"x"},{"role":"user","content":"y"}],"usage":{"input_tokens":3}}`,
		`{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}`,
		`{"output":[5,null,{}]}`,
		`{"error":{"message":"x"}}`,
	}
}

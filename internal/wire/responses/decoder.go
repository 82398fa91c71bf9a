package responses

import (
	"bytes"
	"io"
	"iter"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/openai"
	"github.com/quire-agent/quire/internal/x/rawjson"
	"github.com/quire-agent/quire/internal/x/sse"
)

// DecodeStream reads an answer that streams, as [openai.Stream] tells.
func DecodeStream(r io.Reader) iter.Seq2[quire.Delta, error] { return openai.Stream(r, new(Decoder)) }

// A Decoder turns the events of one stream into deltas. Texts, thinking and
// calls grow; their blocks end with their item, which repeats the whole and has
// the last word on its members. Other items come whole when they end. Events
// that are not known are passed over. The zero Decoder is ready; it is not for
// use from several goroutines. Deltas keep parts of the events.
type Decoder struct {
	begun, ended bool
	next         int     // the number of the next block
	items        []*item // by their place in the output
	blocks       []quire.Block
}

// An item is one that streams.
type item struct {
	place string // output_index, as it is written
	head  quire.Field
	open  []*growing
	done  bool
}

// A growing is a block that is open.
type growing struct {
	index  int
	part   string // content_index, as it is written
	source string // the event that its text comes with
	text   strings.Builder
}

// Done reports whether the answer is over.
func (d *Decoder) Done() bool { return d.ended }

// Decode reads one event. An error that the server reports, or an event that is
// not understood, is a [quire.CallError]; the answer is over then.
func (d *Decoder) Decode(e sse.Event) ([]quire.Delta, error) {
	data := bytes.TrimSpace(e.Data)
	if d.ended || len(data) == 0 || string(data) == "[DONE]" {
		return nil, nil
	}
	r, err := rawjson.Parse(data)
	if err != nil {
		return nil, &quire.CallError{Kind: quire.CallGarbled, Message: "an event of the stream: " + err.Error()}
	}
	kind, _ := rawjson.TextOf(r.Peek("type"))
	switch kind {
	case "error":
		return nil, openai.DecodeError(0, "", data)
	case "response.created", "response.in_progress", "response.queued":
		return d.begin(r), nil
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled", "response.done":
		return d.finish(r)
	case "":
		if rawjson.IsObject(r.Peek("error")) {
			return nil, openai.DecodeError(0, "", data)
		}
	}
	if !d.begun && strings.HasPrefix(kind, "response.") {
		deltas := d.begin(nil)
		return append(deltas, d.event(kind, r)...), nil
	}
	return d.event(kind, r), nil
}

// End is to be called when the stream is over. It is an error of kind CallCut
// when the answer was not.
func (d *Decoder) End() ([]quire.Delta, error) {
	if d.ended {
		return nil, nil
	}
	return nil, &quire.CallError{Kind: quire.CallCut, Message: "the stream ended before the answer did"}
}

func (d *Decoder) begin(r *rawjson.Reader) []quire.Delta {
	if d.begun {
		return nil
	}
	d.begun = true
	response, _ := rawjson.Read(r.Peek("response"))
	begun := quire.ReplyBegun{ID: response.Text("id"), Model: response.Text("model")}
	begun.Rest = openai.Without(response.Rest(), "output", "status", "usage", "error", "incomplete_details")
	return []quire.Delta{begun}
}

func (d *Decoder) event(kind string, r *rawjson.Reader) []quire.Delta {
	it := d.item(r)
	switch kind {
	case "response.output_item.added":
		return d.add(it, r)
	case "response.content_part.added":
		return d.addPart(it, r)
	case "response.output_text.delta", "response.refusal.delta", "response.function_call_arguments.delta",
		"response.custom_tool_call_input.delta", "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		text, _ := rawjson.TextOf(r.Peek("delta"))
		return d.grow(it, kind, r, text)
	case "response.reasoning_summary_part.added":
		if number := string(r.Peek("summary_index")); number != "0" && number != "" {
			return d.grow(it, "response.reasoning_summary_text.delta", r, pieceBreak)
		}
	case "response.output_item.done":
		return d.end(it, outputBlocks(r.Peek("item")))
	}
	return nil
}

// item is the item that an event is about.
func (d *Decoder) item(r *rawjson.Reader) *item {
	return d.at(string(r.Peek("output_index")))
}

func (d *Decoder) at(place string) *item {
	for _, it := range d.items {
		if it.place == place {
			return it
		}
	}
	it := &item{place: place}
	d.items = append(d.items, it)
	return it
}

// add begins an item: the block of thinking or of a call at once, those of a
// message with their parts. Others wait for their end.
func (d *Decoder) add(it *item, r *rawjson.Reader) []quire.Delta {
	raw := r.Peek("item")
	inner, _ := rawjson.Read(raw)
	switch kind, _ := rawjson.TextOf(inner.Peek("type")); kind {
	case itemMessage:
		head := openai.Object(openai.Without(inner.Rest(), "role", "content"))
		it.head = quire.Field{Name: itemMessage, Value: head}
	case itemReasoning, itemCall, itemCustomCall:
		blocks := outputBlocks(raw)
		if len(blocks) == 1 && blocks[0].Opaque == nil {
			blocks[0].Text, blocks[0].Signature = "", ""
			blocks[0].Rest = openai.Without(blocks[0].Rest, "summary", "content")
			return d.open(it, "", blocks[0])
		}
	}
	return nil
}

func (d *Decoder) addPart(it *item, r *rawjson.Reader) []quire.Delta {
	if it.head.Name == "" {
		return nil
	}
	b := decodePart(r.Peek("part"), quire.PartText)
	if b.Opaque != nil {
		return nil
	}
	b.Text = ""
	return d.openPart(it, string(r.Peek("content_index")), b)
}

// openPart begins a part of a message. The first says what the item has beside.
func (d *Decoder) openPart(it *item, part string, b quire.Block) []quire.Delta {
	if len(it.open) == 0 {
		b.Rest = append(b.Rest, it.head)
	}
	return d.open(it, part, b)
}

func (d *Decoder) open(it *item, part string, b quire.Block) []quire.Delta {
	it.open = append(it.open, &growing{index: d.next, part: part})
	d.next++
	d.blocks = append(d.blocks, b)
	return []quire.Delta{quire.BlockBegun{Index: d.next - 1, Block: b}}
}

// grow appends to the block that an event is about. A text whose part was not
// announced begins with its first words. Thinking comes as itself or as a
// summary; the first that comes is the one that is shown.
func (d *Decoder) grow(it *item, kind string, r *rawjson.Reader, text string) []quire.Delta {
	if it.done || text == "" {
		return nil
	}
	part := string(r.Peek("content_index"))
	if it.head.Name == "" {
		part = ""
	}
	g := it.find(part)
	var deltas []quire.Delta
	if g == nil {
		if it.head.Name == "" {
			return nil
		}
		deltas = d.openPart(it, part, partOf(kind))
		g = it.find(part)
	}
	if g.source == "" {
		g.source = kind
	}
	if g.source != kind {
		return deltas
	}
	g.text.WriteString(text)
	return append(deltas, quire.BlockGrew{Index: g.index, Text: text})
}

func (it *item) find(part string) *growing {
	for _, g := range it.open {
		if g.part == part {
			return g
		}
	}
	return nil
}

func partOf(kind string) quire.Block {
	b := quire.Block{Part: quire.Part{Kind: quire.PartText}}
	if kind == "response.refusal.delta" {
		b.Rest = []quire.Field{{Name: "type", Value: openai.Quote("refusal")}}
	}
	return b
}

package responses

import (
	"strconv"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/openai"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// end closes an item with the blocks that it turned out to be: those that are
// open get what is missing and the last word on their members, those that are
// not yet come whole.
func (d *Decoder) end(it *item, blocks []quire.Block) []quire.Delta {
	if it.done {
		return nil
	}
	it.done = true
	var deltas []quire.Delta
	for i, b := range blocks {
		if i < len(it.open) {
			deltas = append(deltas, d.endGrowing(it.open[i], b)...)
			continue
		}
		deltas = append(deltas, quire.BlockBegun{Index: d.next, Block: b}, quire.BlockEnded{Index: d.next})
		d.next++
		d.blocks = append(d.blocks, b)
	}
	for i := len(blocks); i < len(it.open); i++ {
		deltas = append(deltas, quire.BlockEnded{Index: it.open[i].index})
	}
	return deltas
}

func (d *Decoder) endGrowing(g *growing, b quire.Block) []quire.Delta {
	var deltas []quire.Delta
	begun := d.blocks[g.index]
	missing, ok := strings.CutPrefix(b.Text, g.text.String())
	if ok && missing != "" || b.Signature != "" {
		deltas = append(deltas, quire.BlockGrew{Index: g.index, Text: missing, Signature: b.Signature})
		if !ok {
			deltas = []quire.Delta{quire.BlockGrew{Index: g.index, Signature: b.Signature}}
		}
	}
	var rest []quire.Field
	for _, f := range b.Rest {
		if string(rawjson.Get(begun.Rest, f.Name)) != string(f.Value) {
			rest = append(rest, f)
		}
	}
	b.Text = g.text.String()
	d.blocks[g.index] = b
	return append(deltas, quire.BlockEnded{Index: g.index, Rest: rest})
}

// finish reads the last event: it holds the whole answer, or none of its items.
func (d *Decoder) finish(r *rawjson.Reader) ([]quire.Delta, error) {
	deltas := d.begin(r)
	response, _ := rawjson.Read(r.Peek("response"))
	if err := streamFailure(response); err != nil {
		return deltas, err
	}
	d.ended = true
	deltas = append(deltas, d.missing(response)...)
	for _, it := range d.items {
		deltas = append(deltas, d.end(it, nil)...)
	}
	end := quire.ReplyEnded{Usage: decodeUsage(response.Peek("usage")), Stop: stopOf(response, d.blocks)}
	end.Rest = openai.Without(response.Rest(), "id", "model", "output")
	return append(deltas, end), nil
}

// streamFailure is what makes a last event an error.
func streamFailure(response *rawjson.Reader) error {
	if response == nil {
		return &quire.CallError{Kind: quire.CallGarbled, Message: "a last event without a response"}
	}
	status, _ := rawjson.TextOf(response.Peek("status"))
	if rawjson.IsObject(response.Peek("error")) || status == "failed" {
		return failure(response)
	}
	return nil
}

// missing gives the items that stand in the answer and did not end in the stream.
func (d *Decoder) missing(response *rawjson.Reader) []quire.Delta {
	var deltas []quire.Delta
	for i, raw := range rawjson.Elements(response.Peek("output")) {
		deltas = append(deltas, d.end(d.at(strconv.Itoa(i)), outputBlocks(raw))...)
	}
	return deltas
}

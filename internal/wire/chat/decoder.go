package chat

import (
	"bytes"
	"encoding/json"
	"io"
	"iter"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/openai"
	"github.com/quire-agent/quire/internal/x/rawjson"
	"github.com/quire-agent/quire/internal/x/sse"
)

// DecodeStream reads an answer that streams, as [openai.Stream] tells.
func DecodeStream(r io.Reader) iter.Seq2[quire.Delta, error] { return openai.Stream(r, new(Decoder)) }

// A Decoder reads one answer that streams. The zero Decoder is ready; it is not
// for use from several goroutines. The deltas it gives keep parts of the events.
//
// Thinking and words follow one another, a block ends where the other begins.
// Calls of tools begin when their name is known and all end with the answer, as
// servers may write them in turns. Only the first choice is read.
type Decoder struct {
	id, model string
	begun     bool
	ended     bool
	next      int // the number of the next block
	open      *stretch
	calls     []*callState
	stop      quire.Stop
	reason    json.RawMessage // as it is written
	usage     quire.Usage
	metered   json.RawMessage // as it is written
}

// A stretch is the open block of thinking or words.
type stretch struct {
	index   int
	kind    quire.PartKind
	begun   string // the member or the part it began in
	form    string // the one its text comes in
	details []json.RawMessage
}

// Decode reads one event. An error that the server reports, or an event that is
// not understood, is a [quire.CallError]; the answer is over then. What comes
// after the end is passed over.
func (d *Decoder) Decode(e sse.Event) ([]quire.Delta, error) {
	data := bytes.TrimSpace(e.Data)
	if d.ended || len(data) == 0 {
		return nil, nil
	}
	if string(data) == "[DONE]" {
		return d.finish(), nil
	}
	r, err := rawjson.Parse(data)
	if err != nil {
		return nil, &quire.CallError{Kind: quire.CallGarbled, Message: "an event of the stream: " + err.Error()}
	}
	if raw := r.Peek("error"); e.Name == "error" || raw != nil && string(raw) != "null" {
		return nil, openai.DecodeError(0, "", data)
	}
	return d.chunk(r)
}

// End is to be called when the stream is over. It gives what is left to say, or
// an error when the answer was cut off.
func (d *Decoder) End() ([]quire.Delta, error) {
	if d.ended {
		return nil, nil
	}
	if d.stop == "" {
		return nil, &quire.CallError{Kind: quire.CallCut, Message: "the stream ended before the answer"}
	}
	return d.finish(), nil
}

// Done reports whether the answer is over.
func (d *Decoder) Done() bool { return d.ended }

func (d *Decoder) chunk(r *rawjson.Reader) ([]quire.Delta, error) {
	deltas := d.begin(r)
	d.meter(r)
	list, _ := openai.List(r.Peek("choices"))
	for _, raw := range list {
		choice, ok := rawjson.Read(raw)
		if !ok || choice.Count("index") > 0 {
			continue
		}
		d.meter(choice)
		if delta, ok := rawjson.Read(choice.Peek("delta")); ok {
			deltas = append(deltas, d.grow(delta)...)
		}
		if err := d.stopped(choice); err != nil {
			return deltas, err
		}
	}
	return deltas, nil
}

func (d *Decoder) begin(r *rawjson.Reader) []quire.Delta {
	if d.begun {
		return nil
	}
	d.begun = true
	d.id, d.model = r.Text("id"), r.Text("model")
	rest := openai.Without(r.Rest(), "object", "choices", "usage", "obfuscation")
	return []quire.Delta{quire.ReplyBegun{ID: d.id, Model: d.model, Rest: rest}}
}

// meter takes the usage of a chunk, or of a choice, where Kimi puts it. The last
// one counts: servers that report as they go report sums.
func (d *Decoder) meter(r *rawjson.Reader) {
	if u := decodeUsage(r.Peek("usage")); u.Known != 0 {
		d.usage, d.metered = u, r.Peek("usage")
	}
}

// stopped takes the reason to stop. Some of them are failures.
func (d *Decoder) stopped(choice *rawjson.Reader) error {
	raw := choice.Peek("finish_reason")
	reason := choice.Text("finish_reason")
	switch reason {
	case "":
		return nil
	case "error", "network_error":
		return &quire.CallError{Kind: quire.CallServer, Code: reason}
	case "insufficient_system_resource":
		return &quire.CallError{Kind: quire.CallOverloaded, Code: reason}
	}
	d.reason = raw
	if d.stop != quire.StopRefusal {
		d.stop = stopOf(reason)
	}
	return nil
}

// grow reads what is new in the first choice.
func (d *Decoder) grow(delta *rawjson.Reader) []quire.Delta {
	deltas := d.think(delta)
	if text := delta.Text("content"); text != "" {
		deltas = append(deltas, d.put(quire.PartText, "content", text)...)
	}
	parts, _ := openai.List(delta.Peek("content"))
	for _, raw := range parts {
		deltas = append(deltas, d.part(decodePart(raw, quire.PartText))...)
	}
	if text := delta.Text("refusal"); text != "" {
		d.stop = quire.StopRefusal
		deltas = append(deltas, d.put(quire.PartText, "refusal", text)...)
	}
	calls, _ := openai.List(delta.Peek("tool_calls"))
	for _, raw := range calls {
		deltas = append(deltas, d.call(raw)...)
	}
	return deltas
}

func (d *Decoder) think(delta *rawjson.Reader) []quire.Delta {
	var deltas []quire.Delta
	for _, name := range [...]string{thoughtName, reasonName} {
		if text := delta.Text(name); text != "" {
			deltas = d.put(quire.PartThinking, name, text)
			break
		}
	}
	details, _ := openai.List(delta.Peek(detailsName))
	if len(details) > 0 {
		if d.open == nil || d.open.kind != quire.PartThinking {
			deltas = append(deltas, d.put(quire.PartThinking, detailsName, "")...)
		}
		d.open.details = joinDetails(d.open.details, details)
	}
	return deltas
}

// part reads a piece of content that comes as a part, as Mistral sends it.
func (d *Decoder) part(b quire.Block) []quire.Delta {
	switch {
	case b.Opaque != nil:
		deltas := d.close()
		d.next++
		return append(deltas, quire.BlockBegun{Index: d.next - 1, Block: b}, quire.BlockEnded{Index: d.next - 1})
	case b.Kind == quire.PartThinking:
		return d.put(quire.PartThinking, partForm, b.Text)
	}
	return d.put(quire.PartText, "text", b.Text)
}

// put lets the open block grow, or closes it and opens another one.
func (d *Decoder) put(kind quire.PartKind, form, text string) []quire.Delta {
	var deltas []quire.Delta
	if d.open == nil || d.open.kind != kind || (d.open.form != form && d.open.form != detailsName) {
		deltas = append(d.close(), quire.BlockBegun{Index: d.next, Block: quire.Block{Part: quire.Part{Kind: kind}, Plain: form == "content", Rest: formRest(form)}})
		d.open = &stretch{index: d.next, kind: kind, begun: form, form: form}
		d.next++
	}
	if text == "" {
		return deltas
	}
	if d.open.form == detailsName {
		d.open.form = form
	}
	return append(deltas, quire.BlockGrew{Index: d.open.index, Text: text})
}

// formRest is what a block says of the form it came in.
func formRest(form string) []quire.Field {
	switch form {
	case reasonName:
		return []quire.Field{{Name: reasonName, Value: json.RawMessage(`""`)}}
	case partForm:
		return []quire.Field{{Name: "type", Value: json.RawMessage(`"thinking"`)}}
	case "refusal":
		return refusalBlock("").Rest
	}
	return nil
}

// close ends the open block.
func (d *Decoder) close() []quire.Delta {
	o := d.open
	if o == nil {
		return nil
	}
	d.open = nil
	ended := quire.BlockEnded{Index: o.index}
	if o.form != o.begun {
		ended.Rest = formRest(o.form)
	}
	if len(o.details) > 0 {
		ended.Rest = append(ended.Rest, quire.Field{Name: detailsName, Value: rawjson.Array(o.details)})
	}
	return []quire.Delta{ended}
}

func (d *Decoder) finish() []quire.Delta {
	d.ended = true
	var deltas []quire.Delta
	if !d.begun {
		deltas = append(deltas, quire.ReplyBegun{})
	}
	deltas = append(deltas, d.close()...)
	for _, c := range d.calls {
		deltas = append(deltas, d.closeCall(c)...)
	}
	return append(deltas, quire.ReplyEnded{Stop: d.lastStop(), Usage: d.usage, Rest: d.rest()})
}

// rest is the reason to stop and the usage as they are written, in the place
// where a whole answer has them.
func (d *Decoder) rest() []quire.Field {
	var rest []quire.Field
	if d.reason != nil {
		reason := keptReason(d.reason, d.lastStop())
		choice := openai.Object([]quire.Field{{Name: "finish_reason", Value: reason}})
		rest = append(rest, quire.Field{Name: "choices", Value: rawjson.Array([]json.RawMessage{choice})})
	}
	if d.metered != nil {
		rest = append(rest, quire.Field{Name: "usage", Value: d.metered})
	}
	return rest
}

// lastStop is why the answer ended. Some servers say "stop" behind tool calls,
// others nothing at all.
func (d *Decoder) lastStop() quire.Stop {
	switch {
	case len(d.calls) > 0 && (d.stop == quire.StopEnd || d.stop == ""):
		return quire.StopTool
	case d.stop == "":
		return quire.StopUnknown
	}
	return d.stop
}

package anthropic

import (
	"encoding/json"
	"fmt"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// stops pairs the stops with the stop reasons of the API. A reason that is not
// the first of its stop is kept in the rest of a reply.
var stops = [...]struct {
	stop   quire.Stop
	reason string
}{
	{quire.StopEnd, "end_turn"},
	{quire.StopTool, "tool_use"},
	{quire.StopLength, "max_tokens"},
	{quire.StopWindow, "model_context_window_exceeded"},
	{quire.StopPhrase, "stop_sequence"},
	{quire.StopRefusal, "refusal"},
	{quire.StopPause, "pause_turn"},
	{quire.StopPause, "compaction"},
}

// stopOf is the stop of a reason, "" for none.
func stopOf(raw json.RawMessage) quire.Stop {
	reason, _ := rawjson.TextOf(raw)
	for _, s := range stops {
		if s.reason == reason {
			return s.stop
		}
	}
	if reason == "" {
		return ""
	}
	return quire.StopUnknown
}

// takeStop takes the stop reason if it is the one of its stop, and leaves it
// otherwise.
func takeStop(r *rawjson.Reader) quire.Stop {
	raw := r.Peek("stop_reason")
	stop := stopOf(raw)
	if string(reasonOf(stop, nil)) == string(raw) {
		r.Take("stop_reason")
	}
	return stop
}

// reasonOf is the JSON of a stop: the reason that was kept if it says the same.
// A stop without a reason of its own is the end of a turn.
func reasonOf(stop quire.Stop, kept json.RawMessage) json.RawMessage {
	if stop == "" {
		return json.RawMessage("null")
	}
	if stopOf(kept) == stop {
		return kept
	}
	for _, s := range stops {
		if s.stop == stop {
			return rawjson.AppendText(nil, s.reason)
		}
	}
	return json.RawMessage(`"end_turn"`)
}

// DecodeReply reads the body of an answer that does not stream. Values in the
// Reply are parts of b. Usage is kept in Rest too, as it has more members than a
// [quire.Usage].
func DecodeReply(b []byte) (quire.Reply, error) {
	r, err := rawjson.Parse(b)
	if err != nil {
		return quire.Reply{}, fmt.Errorf("decode Messages reply: %w", err)
	}
	if !r.Is("type", "message") {
		return quire.Reply{}, fmt.Errorf("decode Messages reply: its type is %.40s, not message", r.Peek("type"))
	}
	return decodeMessageObject(r), nil
}

// decodeMessageObject reads an answer, whole or at its beginning.
func decodeMessageObject(r *rawjson.Reader) quire.Reply {
	r.Take("type")
	r.Is("role", "assistant")
	reply := quire.Reply{ID: r.Text("id"), Model: r.Text("model")}
	reply.Blocks = decodeBlocks(rawjson.Elements(r.Take("content")), quire.PartText, 0)
	reply.Stop = takeStop(r)
	reply.Usage = usageOf(r.Peek("usage"))
	reply.Rest = r.Rest()
	return reply
}

// EncodeReply is the body of an answer that does not stream, with all members
// that the API promises. It fails where a value that rides along is not JSON.
func EncodeReply(reply quire.Reply) ([]byte, error) {
	var w rawjson.Writer
	writeHead(&w, reply.ID, reply.Model)
	content := make([]json.RawMessage, len(reply.Blocks))
	for i, b := range reply.Blocks {
		raw, err := encodeBlock(b)
		if err != nil {
			w.Fail(fmt.Errorf("content.%d: %w", i, err))
		}
		content[i] = raw
	}
	w.Made("content", rawjson.Array(content))
	writeTail(&w, reply.Stop, reply.Usage, reply.Rest)
	raw, err := w.Bytes()
	if err != nil {
		return nil, fmt.Errorf("encode Messages reply: %w", err)
	}
	return raw, nil
}

func writeHead(w *rawjson.Writer, id, model string) {
	w.Full("id", id)
	w.Full("type", "message")
	w.Full("role", "assistant")
	w.Full("model", model)
}

func writeTail(w *rawjson.Writer, stop quire.Stop, usage quire.Usage, rest []quire.Field) {
	w.Raw("stop_reason", reasonOf(stop, rawjson.Get(rest, "stop_reason")))
	w.Raw("stop_sequence", orNull(rawjson.Get(rest, "stop_sequence")))
	w.Raw("usage", encodeUsage(usage, rawjson.Get(rest, "usage")))
	w.Rest(rest)
}

func orNull(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("null")
	}
	return raw
}

package gemini

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// stops pairs the stops with the finish reasons of the API. A reason that is not
// the first of its stop is kept in the rest of a reply.
var stops = [...]struct {
	stop   quire.Stop
	reason string
}{
	{quire.StopEnd, "STOP"},
	{quire.StopTool, "STOP"},
	{quire.StopPhrase, "STOP"},
	{quire.StopLength, "MAX_TOKENS"},
	{quire.StopWindow, "MAX_TOKENS"},
	{quire.StopRefusal, "SAFETY"},
	{quire.StopRefusal, "RECITATION"},
	{quire.StopRefusal, "BLOCKLIST"},
	{quire.StopRefusal, "PROHIBITED_CONTENT"},
	{quire.StopRefusal, "SPII"},
	{quire.StopRefusal, "IMAGE_SAFETY"},
	{quire.StopRefusal, "IMAGE_PROHIBITED_CONTENT"},
	{quire.StopRefusal, "IMAGE_RECITATION"},
	{quire.StopPause, "CONTINUATION"},
	{quire.StopUnknown, "OTHER"},
}

// stopOf is the stop of a finish reason, "" for none. An answer that calls tools
// ends like any other here; that it wants them run is seen from its blocks.
func stopOf(reason string, blocks []quire.Block) quire.Stop {
	if reason == "STOP" && slices.ContainsFunc(blocks, func(b quire.Block) bool { return b.Kind == quire.PartToolCall }) {
		return quire.StopTool
	}
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

func reasonOf(stop quire.Stop) string {
	for _, s := range stops {
		if s.stop == stop {
			return s.reason
		}
	}
	return ""
}

const candidatesName = "candidates"

// DecodeReply reads the body of an answer that does not stream: its first
// candidate. Values in the Reply are parts of b. The rest of the candidates, and
// usage, are kept in Rest. A prompt that was blocked is an answer without blocks
// that was refused.
func DecodeReply(b []byte) (quire.Reply, error) {
	r, err := rawjson.Parse(b)
	if err != nil {
		return quire.Reply{}, fmt.Errorf("decode Gemini reply: %w", err)
	}
	c, err := takeChunk(r)
	if err != nil {
		return quire.Reply{}, fmt.Errorf("decode Gemini reply: %w", err)
	}
	if c.blocks == nil && c.reason == "" && !c.blocked && r.Peek(candidatesName) == nil {
		return quire.Reply{}, fmt.Errorf("decode Gemini reply: no candidates and no promptFeedback")
	}
	reply := quire.Reply{ID: c.id, Model: c.model, Blocks: c.blocks, Usage: c.usage, Rest: r.Rest()}
	n := namer{prefix: namePrefix(c.id)}
	for i := range reply.Blocks {
		n.name(&reply.Blocks[i])
	}
	reply.Stop = c.stop(reply.Blocks)
	return reply, nil
}

// namePrefix keeps the names of calls of one answer apart from those of others.
func namePrefix(id string) string {
	if id == "" {
		return ""
	}
	return id + "-"
}

// A chunk is an answer, or a part of one that streams.
type chunk struct {
	id, model string
	usage     quire.Usage
	blocks    []quire.Block
	reason    string
	blocked   bool
}

func (c *chunk) stop(blocks []quire.Block) quire.Stop {
	if c.blocked && c.reason == "" {
		return quire.StopRefusal
	}
	return stopOf(c.reason, blocks)
}

// takeChunk takes what has a place in a chunk, and leaves the rest of the
// candidates in their list. It fails where the first candidate is no object.
func takeChunk(r *rawjson.Reader) (chunk, error) {
	c := chunk{id: r.Text("responseId"), model: r.Text("modelVersion"), usage: usageOf(r.Peek("usageMetadata"))}
	c.blocked = rawjson.Get(rawjson.Members(r.Peek("promptFeedback")), "blockReason") != nil
	list := rawjson.Elements(r.Peek(candidatesName))
	if len(list) == 0 {
		return c, nil
	}
	first, ok := rawjson.Read(list[0])
	if !ok {
		return c, fmt.Errorf("candidates.0: %w", rawjson.ErrObject)
	}
	c.takeCandidate(first)
	r.Take(candidatesName)
	if rest := first.Rest(); len(rest) > 0 || len(list) > 1 {
		list[0] = objectOf(rest)
		r.Put(candidatesName, rawjson.Array(list))
	}
	return c, nil
}

func (c *chunk) takeCandidate(r *rawjson.Reader) {
	c.reason, _ = rawjson.TextOf(r.Peek("finishReason"))
	if reasonOf(stopOf(c.reason, nil)) == c.reason {
		r.Take("finishReason")
	}
	if string(r.Peek("index")) == "0" {
		r.Take("index")
	}
	content, ok := rawjson.Read(r.Peek("content"))
	if !ok {
		return
	}
	r.Take("content")
	content.Is("role", "model")
	c.blocks = takeParts(content, quire.PartText)
	if rest := content.Rest(); len(rest) > 0 {
		r.Put("content", objectOf(rest))
	}
}

func objectOf(members []quire.Field) json.RawMessage {
	var w rawjson.Writer
	w.Rest(members)
	// They were read as JSON.
	raw, _ := w.Bytes()
	return raw
}

// EncodeReply is the body of an answer that does not stream. It fails where
// arguments, or a value that rides along, are not JSON.
func EncodeReply(reply quire.Reply) ([]byte, error) {
	parts := make([]json.RawMessage, len(reply.Blocks))
	for i, b := range reply.Blocks {
		raw, err := encodePart(b)
		if err != nil {
			return nil, fmt.Errorf("encode Gemini reply: parts.%d: %w", i, err)
		}
		parts[i] = raw
	}
	raw, err := encodeChunk(reply, parts)
	if err != nil {
		return nil, fmt.Errorf("encode Gemini reply: %w", err)
	}
	return raw, nil
}

// encodeChunk writes an answer, or a part of one that streams, with the parts
// given for its blocks.
func encodeChunk(reply quire.Reply, parts []json.RawMessage) (json.RawMessage, error) {
	var w rawjson.Writer
	kept := rawjson.Elements(rawjson.Get(reply.Rest, candidatesName))
	blocked := rawjson.Get(reply.Rest, "promptFeedback") != nil && len(parts) == 0 && len(kept) == 0
	if !blocked {
		candidate, err := encodeCandidate(reply.Stop, parts, kept)
		if err != nil {
			return nil, err
		}
		w.Made(candidatesName, rawjson.Array(append([]json.RawMessage{candidate}, kept[min(1, len(kept)):]...)))
	}
	keptUsage := rawjson.Get(reply.Rest, "usageMetadata")
	if keptUsage != nil || reply.Usage != (quire.Usage{}) {
		w.Raw("usageMetadata", encodeUsage(reply.Usage, keptUsage))
	}
	w.Text("modelVersion", reply.Model)
	w.Text("responseId", reply.ID)
	w.Rest(reply.Rest, candidatesName)
	return w.Bytes()
}

func encodeCandidate(stop quire.Stop, parts, kept []json.RawMessage) (json.RawMessage, error) {
	var w, content rawjson.Writer
	var rest []quire.Field
	if len(kept) > 0 {
		rest = rawjson.Members(kept[0])
	}
	if len(parts) > 0 {
		content.Made("parts", rawjson.Array(parts))
	}
	content.Full("role", "model")
	content.Rest(rawjson.Members(rawjson.Get(rest, "content")))
	w.Object("content", &content)
	reason, _ := rawjson.TextOf(rawjson.Get(rest, "finishReason"))
	if reason == "" || stopOf(reason, nil) != stop {
		w.Text("finishReason", reasonOf(stop))
	}
	w.Rest(rest, "content")
	if rawjson.Get(rest, "index") == nil {
		w.Number("index", 0)
	}
	return w.Bytes()
}

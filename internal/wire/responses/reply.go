package responses

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/openai"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// DecodeReply reads a whole answer. The Reply keeps parts of b. Status, reason
// and usage stay in the Rest too, and are written back as they are as long as
// they say the same. An answer that failed, or an error in its place, is
// returned as a [quire.CallError].
func DecodeReply(b []byte) (quire.Reply, error) {
	r, err := rawjson.Parse(b)
	if err != nil {
		return quire.Reply{}, fmt.Errorf("read response: %w", err)
	}
	return decodeResponse(r)
}

func decodeResponse(r *rawjson.Reader) (quire.Reply, error) {
	if err := failure(r); err != nil {
		return quire.Reply{}, err
	}
	list := rawjson.Elements(r.Take("output"))
	reply := quire.Reply{ID: r.Text("id"), Model: r.Text("model"), Usage: decodeUsage(r.Peek("usage"))}
	for _, raw := range list {
		reply.Blocks = append(reply.Blocks, outputBlocks(raw)...)
	}
	reply.Stop = stopOf(r, reply.Blocks)
	reply.Rest = r.Rest()
	return reply, nil
}

// failure is the error that stands in an answer, or in its place.
func failure(r *rawjson.Reader) error {
	status, _ := rawjson.TextOf(r.Peek("status"))
	raw := r.Peek("error")
	switch {
	case rawjson.IsObject(raw):
		return openai.DecodeError(0, "", openai.Object([]quire.Field{{Name: "error", Value: raw}}))
	case status == "failed":
		return &quire.CallError{Kind: quire.CallServer, Message: "the response failed"}
	case !rawjson.IsArray(r.Peek("output")):
		return &quire.CallError{Kind: quire.CallGarbled, Message: "a response without output"}
	}
	return nil
}

// outputBlocks reads an item of an answer. One that is not the model's has no
// business there, and is opaque.
func outputBlocks(raw json.RawMessage) []quire.Block {
	if m := decodeItem(raw); m.Role == quire.RoleAssistant {
		return m.Blocks
	}
	return []quire.Block{{Opaque: raw}}
}

// stopOf says why an answer ended.
func stopOf(r *rawjson.Reader, blocks []quire.Block) quire.Stop {
	status, _ := rawjson.TextOf(r.Peek("status"))
	details, _ := rawjson.Read(r.Peek("incomplete_details"))
	reason, _ := rawjson.TextOf(details.Peek("reason"))
	switch {
	case reason == "max_output_tokens":
		return quire.StopLength
	case reason == "content_filter":
		return quire.StopRefusal
	case status == "incomplete" || status == "cancelled" || status == "in_progress" || status == "queued":
		return quire.StopUnknown
	case slices.ContainsFunc(blocks, wantsAnswer):
		return quire.StopTool
	case slices.ContainsFunc(blocks, isRefusal):
		return quire.StopRefusal
	}
	return quire.StopEnd
}

// wantsAnswer reports whether a block is a call that is ours to run. Of the
// provider's own tools these are the ones that act on this side.
func wantsAnswer(b quire.Block) bool {
	if b.Kind != quire.PartToolCall {
		return false
	}
	if b.Opaque == nil {
		return true
	}
	r, _ := rawjson.Read(b.Opaque)
	switch kind, _ := rawjson.TextOf(r.Peek("type")); kind {
	case itemCall, itemCustomCall, "local_shell_call", "shell_call", "apply_patch_call", "computer_call", "mcp_approval_request":
		return true
	case "tool_search_call":
		return r.Is("execution", "client")
	}
	return false
}

// EncodeReply writes a whole answer. Items that were made here get ids.
func EncodeReply(reply quire.Reply) ([]byte, error) {
	items, err := encodeAnswer(dressAll(reply.Blocks, reply.ID))
	if err != nil {
		return nil, fmt.Errorf("write response: %w", err)
	}
	b, err := encodeResponse(reply, items)
	if err != nil {
		return nil, fmt.Errorf("write response: %w", err)
	}
	return b, nil
}

func encodeResponse(reply quire.Reply, items []json.RawMessage) (json.RawMessage, error) {
	var w rawjson.Writer
	w.Text("id", reply.ID)
	w.Raw("object", rawjson.Get(reply.Rest, "object"))
	w.Text("object", "response")
	w.Raw("created_at", rawjson.Get(reply.Rest, "created_at"))
	w.Number("created_at", 0)
	writeStatus(&w, reply)
	w.Text("model", reply.Model)
	w.Made("output", rawjson.Array(items))
	w.Raw("usage", keptUsage(reply.Usage, reply.Rest))
	w.Rest(reply.Rest, "usage")
	return w.Bytes()
}

// writeStatus writes how the answer ended, as it was written if that says the
// same.
func writeStatus(w *rawjson.Writer, reply quire.Reply) {
	kept, _ := rawjson.Read(openai.Object(reply.Rest))
	if kept.Peek("status") != nil && stopOf(kept, reply.Blocks) == reply.Stop {
		w.Raw("status", kept.Peek("status"))
		w.Raw("incomplete_details", kept.Peek("incomplete_details"))
		return
	}
	reason := ""
	switch reply.Stop {
	case quire.StopLength, quire.StopWindow:
		reason = "max_output_tokens"
	case quire.StopRefusal:
		if !slices.ContainsFunc(reply.Blocks, isRefusal) {
			reason = "content_filter"
		}
	}
	if reason == "" {
		w.Text("status", "completed")
		w.Made("incomplete_details", json.RawMessage("null"))
		return
	}
	var details rawjson.Writer
	details.Text("reason", reason)
	w.Text("status", "incomplete")
	w.Object("incomplete_details", &details)
}

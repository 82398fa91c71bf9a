package chat

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/openai"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// DecodeReply reads a whole answer. The Reply keeps parts of b. The first choice
// is the answer; what is beside it stays in the Rest, under choices. The reason
// to stop and the usage stay there too, and are written back as they are as long
// as they say the same. An error in the place of an answer is returned as a
// [quire.CallError].
func DecodeReply(b []byte) (quire.Reply, error) {
	r, err := rawjson.Parse(b)
	if err != nil {
		return quire.Reply{}, fmt.Errorf("read chat answer: %w", err)
	}
	list, ok := openai.List(r.Peek("choices"))
	if !ok || len(list) == 0 {
		return quire.Reply{}, noReply(r, b)
	}
	reply := quire.Reply{ID: r.Text("id"), Model: r.Text("model"), Usage: decodeUsage(r.Peek("usage"))}
	if choice, ok := rawjson.Read(list[0]); ok {
		decodeChosen(choice, &reply)
		list[0] = openai.Object(choice.Rest())
	}
	r.Put("choices", rawjson.Array(list))
	reply.Rest = r.Rest()
	return reply, nil
}

// noReply is what an answer without choices is: an error with status 200, or
// something else altogether.
func noReply(r *rawjson.Reader, b []byte) error {
	if raw := r.Peek("error"); raw != nil && string(raw) != "null" {
		return openai.DecodeError(0, "", b)
	}
	return &quire.CallError{Kind: quire.CallGarbled, Message: "an answer without choices"}
}

func decodeChosen(choice *rawjson.Reader, reply *quire.Reply) {
	reason, _ := rawjson.TextOf(choice.Peek("finish_reason"))
	reply.Stop = stopOf(reason)
	message, ok := rawjson.Read(choice.Peek("message"))
	if !ok {
		return
	}
	message.Is("role", "assistant")
	reply.Blocks = decodeAnswer(message)
	if text := message.Text("refusal"); text != "" {
		reply.Blocks = append(reply.Blocks, refusalBlock(text))
		reply.Stop = quire.StopRefusal
	}
	for i := range reply.Blocks {
		nameCall(&reply.Blocks[i], reply.ID, i)
	}
	if reply.Stop == quire.StopEnd && slices.ContainsFunc(reply.Blocks, isCall) {
		reply.Stop = quire.StopTool
	}
	choice.Put("message", openai.Object(message.Rest()))
}

func isCall(b quire.Block) bool { return b.Kind == quire.PartToolCall }

// nameCall gives a tool call an id where the server gave none: a result must be
// able to name its call. The n-th block of a reply always gets the same.
func nameCall(b *quire.Block, reply string, n int) {
	if isCall(*b) && b.ToolUse == "" && b.Opaque == nil {
		b.ToolUse = "call_" + reply + "_" + strconv.Itoa(n)
	}
}

// EncodeReply writes a whole answer.
func EncodeReply(reply quire.Reply) ([]byte, error) {
	var w rawjson.Writer
	w.Text("id", reply.ID)
	if rawjson.Get(reply.Rest, "object") == nil {
		w.Text("object", "chat.completion")
	}
	w.Text("model", reply.Model)
	w.Made("choices", encodeChoices(&w, reply))
	w.Raw("usage", keptUsage(reply.Usage, reply.Rest))
	w.Rest(reply.Rest, "usage")
	b, err := w.Bytes()
	if err != nil {
		return nil, fmt.Errorf("write chat answer: %w", err)
	}
	return b, nil
}

func encodeChoices(w *rawjson.Writer, reply quire.Reply) json.RawMessage {
	list, _ := openai.List(rawjson.Get(reply.Rest, "choices"))
	if len(list) == 0 {
		list = []json.RawMessage{nil}
	}
	first, _ := rawjson.Read(list[0])
	raw, err := encodeChosen(reply, first)
	if err != nil {
		w.Fail(err)
	}
	return rawjson.Array(append([]json.RawMessage{raw}, list[1:]...))
}

func encodeChosen(reply quire.Reply, kept *rawjson.Reader) (json.RawMessage, error) {
	var w, message rawjson.Writer
	left, _ := rawjson.Read(kept.Peek("message"))
	if kept.Peek("index") == nil {
		w.Number("index", 0)
	}
	if left == nil || left.Peek("role") == nil {
		message.Text("role", "assistant")
	}
	var refusal string
	words := slices.DeleteFunc(slices.Clone(reply.Blocks), func(b quire.Block) bool {
		if isRefusal(b) {
			refusal += b.Text
		}
		return isRefusal(b)
	})
	writeAnswer(&message, quire.Message{Role: quire.RoleAssistant, Blocks: words, Rest: left.Rest()})
	message.Text("refusal", refusal)
	message.Rest(left.Rest())
	if left == nil {
		message.Made("content", json.RawMessage("null"))
	}
	w.Object("message", &message)
	w.Raw("finish_reason", keptReason(kept.Peek("finish_reason"), reply.Stop))
	w.Rest(kept.Rest())
	return w.Bytes()
}

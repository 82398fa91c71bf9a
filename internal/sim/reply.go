package sim

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/script"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// made is the reply that an answer of the script becomes.
func (e *exchange) made(a script.Answer) quire.Reply {
	r := quire.Reply{ID: fmt.Sprintf("%s%06d", e.api.id(), e.note.Number), Model: e.call.Model, Stop: a.Stop}
	for _, b := range a.Blocks {
		if b.Kind == quire.PartThinking && !e.thinks() {
			continue
		}
		r.Blocks = append(r.Blocks, e.dialect(b))
	}
	e.cut(&r)
	e.sign(r.Blocks)
	r.Usage = e.meter.usage(e.charge, e.call.Model, r.Blocks)
	return r
}

// thinks reports whether thinking is shown: where it was asked for, by the APIs
// that want that.
func (e *exchange) thinks() bool {
	switch e.api {
	case Messages:
		return e.call.Thinking.Mode == "enabled" || e.call.Thinking.Mode == "adaptive"
	case Gemini:
		return string(rawjson.Get(e.call.Thinking.Rest, "includeThoughts")) == "true"
	}
	return true
}

// dialect marks a call of a tool that takes free text. A text stands alone where
// the API has it so.
func (e *exchange) dialect(b quire.Block) quire.Block {
	if b.Kind != quire.PartToolCall {
		b.Plain = b.Kind == quire.PartText && e.api == Chat
		return b
	}
	for _, t := range e.call.Tools {
		if t.Name != b.Tool || t.Type != "custom" {
			continue
		}
		kind := map[API]string{Chat: `"custom"`, Responses: `"custom_tool_call"`}[e.api]
		if kind != "" {
			b.Rest = []quire.Field{{Name: "type", Value: json.RawMessage(kind)}}
		}
	}
	return b
}

// cut ends an answer at the limit of the call. A call that does not fit is left
// out, as its arguments would be no JSON.
func (e *exchange) cut(r *quire.Reply) {
	left := e.call.MaxOutput
	if left == 0 {
		return
	}
	for i := range r.Blocks {
		b := &r.Blocks[i]
		n := e.meter.answerTokens(e.call.Model, *b)
		if n <= left {
			left -= n
			continue
		}
		r.Stop = quire.StopLength
		r.Blocks = r.Blocks[:i+1]
		if b.Text = e.fitting(*b, left); b.Kind == quire.PartToolCall || b.Text == "" {
			r.Blocks = r.Blocks[:i]
		}
		return
	}
}

// fitting is the longest beginning of a text that has no more tokens.
func (e *exchange) fitting(b quire.Block, most int) string {
	runes := []rune(b.Text)
	low, high := 0, len(runes)
	for low < high {
		mid := (low + high + 1) / 2
		b.Text = string(runes[:mid])
		if e.meter.answerTokens(e.call.Model, b) <= most {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return strings.TrimRight(string(runes[:low]), " \n")
}

// sign signs the blocks of an answer as its API does.
func (e *exchange) sign(blocks []quire.Block) {
	ch := end(&e.call)
	signed := false
	for i := range blocks {
		b := &blocks[i]
		switch {
		case b.Kind == quire.PartThinking && (e.api == Messages || e.api == Responses && e.encrypts()):
			b.Signature = e.signer.sign(e.call.Model, b.Text, ch.prefix, ch.before)
		case b.Kind == quire.PartToolCall && e.api == Gemini && !signed && signs(e.call.Model):
			b.Signature = e.signer.sign(e.call.Model, signedCall(*b), ch.prefix, "")
			signed = true
		}
		ch.pass(quire.RoleAssistant, *b)
	}
}

// encrypts reports whether a request of Responses wants its reasoning encrypted.
func (e *exchange) encrypts() bool {
	for _, one := range rawjson.Elements(rawjson.Get(e.call.Rest, "include")) {
		if text, _ := rawjson.TextOf(one); text == "reasoning.encrypted_content" {
			return true
		}
	}
	return false
}

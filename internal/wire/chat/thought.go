package chat

import (
	"encoding/json"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/openai"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// The members of an answer that hold thinking: the text by the name that
// DeepSeek gave it and most took over, the text by that of OpenRouter, Ollama and
// newer vLLM, and what OpenRouter wants back.
const (
	thoughtName = "reasoning_content"
	reasonName  = "reasoning"
	detailsName = "reasoning_details"
)

// decodeThought reads the thinking of an answer. All its members go into one
// block, so that it is kept or dropped as a whole; the text is that of the first
// that has one, and "" stands for it under each name that repeats it.
func decodeThought(r *rawjson.Reader) (quire.Block, bool) {
	b := quire.Block{Part: quire.Part{Kind: quire.PartThinking}}
	for _, name := range [...]string{thoughtName, reasonName} {
		text, ok := rawjson.TextOf(r.Peek(name))
		switch {
		case !ok || text == "":
			continue
		case b.Text == "" || b.Text == text:
			b.Text = text
			b.Rest = append(b.Rest, quire.Field{Name: name, Value: json.RawMessage(`""`)})
		default:
			b.Rest = append(b.Rest, quire.Field{Name: name, Value: r.Peek(name)})
		}
		r.Take(name)
	}
	if list, ok := openai.List(r.Peek(detailsName)); ok && len(list) > 0 {
		b.Rest = append(b.Rest, quire.Field{Name: detailsName, Value: r.Take(detailsName)})
	}
	if len(b.Rest) == 1 && b.Rest[0].Name == thoughtName {
		b.Rest = nil
	}
	return b, b.Text != "" || b.Rest != nil
}

// writeThoughts undoes decodeThought. Thinking that came in several blocks is
// joined, as there is one place for it.
func writeThoughts(w *rawjson.Writer, blocks []quire.Block) {
	if len(blocks) == 0 {
		return
	}
	var texts []string
	var rest []quire.Field
	var details []json.RawMessage
	for _, b := range blocks {
		if b.Text != "" {
			texts = append(texts, b.Text)
		}
		rest = append(rest, b.Rest...)
		list, _ := openai.List(rawjson.Get(b.Rest, detailsName))
		details = append(details, list...)
	}
	text := strings.Join(texts, "\n\n")
	if len(details) > 0 {
		w.Raw(detailsName, rawjson.Array(details))
	}
	if rawjson.Get(rest, thoughtName) == nil && rawjson.Get(rest, reasonName) == nil {
		w.Text(thoughtName, text)
	}
	for _, f := range rest {
		if (f.Name == thoughtName || f.Name == reasonName) && string(f.Value) == `""` {
			w.Text(f.Name, text)
		}
	}
	w.Rest(rest, detailsName)
}

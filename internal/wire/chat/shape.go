package chat

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/openai"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// partForm is thinking that stands as a part in the content.
const partForm = "part"

// Shape puts a call that was made here into the form that the dialect wants. The
// same call always gets the same form, and what stands in front keeps its form
// when more follows. The call itself is not changed. A call that came from a
// client in this protocol is sent as it is instead.
func (d Dialect) Shape(c quire.Call) quire.Call {
	c.Rest = d.shapeRest(c)
	c.Thinking.Rest = slices.Concat(d.thinkingForm(c.Thinking), c.Thinking.Rest)
	if d.AutoOnly && c.Choice.Mode != "" && c.Choice.Mode != "none" {
		c.Choice = quire.Choice{Mode: "auto"}
	}
	c.Tools = slices.Clone(c.Tools)
	for i := range c.Tools {
		c.Tools[i].Rest = d.markForm(&c.Tools[i].Cache, c.Tools[i].Rest)
	}
	c.System = d.shapeSystem(c.System)
	c.Messages = d.shapeMessages(c.Messages)
	return c
}

// shapeMessages shapes messages. What results may not hold follows behind the
// last of them, as nothing may stand between the results of parallel calls.
func (d Dialect) shapeMessages(messages []quire.Message) []quire.Message {
	var list []quire.Message
	var behind []quire.Block
	flush := func() {
		if len(behind) > 0 {
			list = append(list, quire.Message{Role: quire.RoleUser, Blocks: behind})
			behind = nil
		}
	}
	for _, m := range messages {
		if m.Role != quire.RoleTool {
			flush()
			list = append(list, d.shapeMessage(m))
			continue
		}
		m = d.shapeMessage(m)
		results := slices.DeleteFunc(slices.Clone(m.Blocks), func(b quire.Block) bool { return !isResult(b) })
		behind = append(behind, slices.DeleteFunc(m.Blocks, isResult)...)
		m.Blocks = results
		list = append(list, m)
	}
	flush()
	return list
}

func (d Dialect) shapeRest(c quire.Call) []quire.Field {
	rest := openai.Without(c.Rest, d.Refuses...)
	add := func(name, value string) {
		if rawjson.Get(rest, name) == nil && !slices.Contains(d.Refuses, name) {
			rest = append(rest, quire.Field{Name: name, Value: json.RawMessage(value)})
		}
	}
	if d.Limit == oldLimitName && c.MaxOutput > 0 {
		add(oldLimitName, "0")
	}
	if c.Stream {
		add("stream_options", `{"include_usage":true}`)
	}
	if d.Keyed && c.CacheKey != "" {
		add("prompt_cache_key", string(openai.Quote(c.CacheKey)))
	}
	for _, l := range d.Adds {
		add(l.Name, l.Value)
	}
	if d.Asks == AsksTemplate && c.Thinking.Mode != "" {
		add("chat_template_kwargs", `{"enable_thinking":`+onOff(c.Thinking.Mode)+`}`)
	}
	return rest
}

func onOff(mode string) string {
	if mode == modeOff {
		return "false"
	}
	return "true"
}

// thinkingForm names the form in which [writeThinking] says how much to think.
func (d Dialect) thinkingForm(t quire.Thinking) []quire.Field {
	empty := func(name, value string) quire.Field {
		return quire.Field{Name: name, Value: json.RawMessage(value)}
	}
	switch d.Asks {
	case AsksSwitch:
		return []quire.Field{empty(switchName, "true"), empty(budgetName, "0")}
	case AsksRouter:
		if t.Mode != "" || t.Effort != "" || t.Budget > 0 {
			return []quire.Field{empty(routerName, "{}")}
		}
	case AsksEffort, AsksTemplate:
		return []quire.Field{empty(effortName, `""`)}
	}
	return nil
}

// markForm names the form of a mark, or takes it away where there are none.
func (d Dialect) markForm(mark *quire.Mark, rest []quire.Field) []quire.Field {
	if d.Marks == "" {
		*mark = quire.MarkNone
	}
	if *mark == quire.MarkNone || openai.ReadMark(rest) != quire.MarkNone {
		return rest
	}
	var w rawjson.Writer
	openai.WriteMark(&w, *mark, []quire.Field{{Name: d.Marks, Value: json.RawMessage("null")}})
	raw, _ := w.Bytes() // made here, cannot fail
	r, _ := rawjson.Read(raw)
	return slices.Concat(rest, r.Rest())
}

func (d Dialect) shapeSystem(blocks []quire.Block) []quire.Block {
	if len(blocks) == 0 {
		return nil
	}
	blocks = d.shapeBlocks(blocks)
	if d.OneSystem {
		var texts []string
		for _, b := range blocks {
			texts = append(texts, b.Text)
		}
		blocks = []quire.Block{{Part: quire.Part{Kind: quire.PartSystem, Text: strings.Join(texts, "\n\n")}, Plain: true}}
	}
	if d.Developer && rawjson.Get(blocks[0].Rest, "role") == nil {
		role := quire.Field{Name: "role", Value: openai.Quote("developer")}
		blocks[0].Rest = append(slices.Clone(blocks[0].Rest), role)
	}
	return blocks
}

func (d Dialect) shapeMessage(m quire.Message) quire.Message {
	m.Blocks = d.shapeBlocks(m.Blocks)
	if m.Role == quire.RoleAssistant && !slices.ContainsFunc(m.Blocks, isWord) && rawjson.Get(m.Rest, "content") == nil {
		m.Rest = append(slices.Clone(m.Rest), quire.Field{Name: "content", Value: json.RawMessage("null")})
	}
	return m
}

func isWord(b quire.Block) bool {
	return b.Kind != quire.PartToolCall && (b.Kind != quire.PartThinking || isPart(b))
}

// shapeBlocks shapes blocks and what is in them. Images in results go behind them
// where results may hold text only.
func (d Dialect) shapeBlocks(blocks []quire.Block) []quire.Block {
	var list, behind []quire.Block
	for _, b := range blocks {
		if b.Kind == quire.PartThinking {
			if d.Thought == "" {
				continue
			}
			b.Rest = d.thoughtForm(b)
		}
		if isResult(b) && len(b.Content) > 0 {
			var images []quire.Block
			b.Content, images = d.splitImages(d.shapeBlocks(b.Content))
			behind = append(behind, images...)
		}
		b.Rest = d.markForm(&b.Cache, b.Rest)
		b.Plain = b.Plain || isText(b.Kind)
		list = append(list, b)
	}
	return append(list, behind...)
}

func (d Dialect) splitImages(blocks []quire.Block) (kept, images []quire.Block) {
	for _, b := range blocks {
		if !d.Images && b.Kind == quire.PartImage {
			images = append(images, b)
			b = quire.Block{Part: quire.Part{Kind: quire.PartMachine, Text: "(the image follows)"}, Plain: true}
		}
		kept = append(kept, b)
	}
	return kept, images
}

// thoughtForm names the form in which thinking is sent back.
func (d Dialect) thoughtForm(b quire.Block) []quire.Field {
	switch {
	case len(b.Rest) > 0 || d.Thought == thoughtName:
		return b.Rest
	case d.Thought == partForm:
		return formRest(partForm)
	}
	return []quire.Field{{Name: d.Thought, Value: json.RawMessage(`""`)}}
}

package gateway

import (
	"regexp"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// enteredParts are the parts of a message that a client sent. theirs judges whether
// a text may be the user's own words.
func enteredParts(m *message, theirs func(text string) bool) (parts []quire.Part) {
	words := -1
	if m.Role == quire.RoleUser {
		words = wordsOf(m)
	}
	for i := range m.Blocks {
		b := &m.Blocks[i]
		made := blockParts(b, kindOf(m.Role))
		if i == words && !framed(b.Text) && theirs(b.Text) {
			made[0].Kind = quire.PartUser
		}
		parts = append(parts, made...)
	}
	return parts
}

// answerParts are the parts of an answer.
func answerParts(blocks []quire.Block) (parts []quire.Part) {
	for i := range blocks {
		parts = append(parts, blockParts(&blocks[i], quire.PartText)...)
	}
	return parts
}

// kindOf is the kind of text that a role speaks. Who stands behind the role of a
// user is judged apart from it.
func kindOf(r quire.Role) quire.PartKind {
	switch r {
	case quire.RoleAssistant:
		return quire.PartText
	case quire.RoleSystem:
		return quire.PartSystem
	}
	return quire.PartMachine
}

// wordsOf is the block that alone can be the user's words: the last text of a
// message without tool results (G19); -1 for none.
func wordsOf(m *message) int {
	last := -1
	for i := range m.Blocks {
		switch b := &m.Blocks[i]; {
		case b.Kind == quire.PartToolResult:
			return -1
		case b.Opaque == nil && b.Media == nil && b.Text != "" && b.Kind != quire.PartThinking:
			last = i
		}
	}
	return last
}

var frameStart = regexp.MustCompile(`^<([A-Za-z][A-Za-z0-9_.:-]*)[^<>]*>`)

// framed reports whether a text stands in a tag-like frame, as what harnesses say
// in the user's role does.
func framed(text string) bool {
	text = strings.TrimSpace(text)
	m := frameStart.FindStringSubmatch(text)
	return m != nil && strings.HasSuffix(text, "</"+m[1]+">")
}

// blockParts are the parts of a block: one, or for a result with media one for the
// text and one for each of them. said is what a text is.
func blockParts(b *quire.Block, said quire.PartKind) []quire.Part {
	switch {
	case b.Opaque != nil:
		return []quire.Part{opaquePart(b, said)}
	case b.Kind == quire.PartToolResult:
		return resultParts(b)
	case b.Kind == quire.PartImage, b.Kind == quire.PartDocument:
		return []quire.Part{mediaPart(b)}
	case b.Kind == quire.PartThinking, b.Kind == quire.PartToolCall:
		return []quire.Part{b.Part}
	}
	return []quire.Part{{Kind: said, Text: b.Text}}
}

// opaquePart is a block of which only the bytes are known. What is encrypted in
// thinking can be read by nobody, and is left out.
func opaquePart(b *quire.Block, said quire.PartKind) quire.Part {
	if b.Kind == quire.PartThinking {
		return quire.Part{Kind: quire.PartThinking, Text: b.Text}
	}
	return quire.Part{Kind: said, Text: string(b.Opaque)}
}

func resultParts(b *quire.Block) []quire.Part {
	p := quire.Part{Kind: quire.PartToolResult, Text: b.Text, Tool: b.Tool, ToolUse: b.ToolUse, IsError: b.IsError}
	if len(b.Content) == 0 {
		return []quire.Part{p}
	}
	var texts []string
	var media []quire.Part
	for i := range b.Content {
		c := &b.Content[i]
		if c.Kind == quire.PartImage || c.Kind == quire.PartDocument && c.Media != nil {
			m := mediaPart(c)
			m.Tool, m.ToolUse, m.After = b.Tool, b.ToolUse, len(texts)
			media = append(media, m)
			continue
		}
		texts = append(texts, textOf(c))
	}
	p.Text, p.Cuts = quire.Joined(texts)
	return append([]quire.Part{p}, media...)
}

// textOf is the text of a piece, or its bytes where it has no meaning here.
func textOf(b *quire.Block) string {
	if b.Opaque != nil {
		return string(b.Opaque)
	}
	return b.Text
}

// mediaPart is an image or a document with its bytes, where they were sent.
func mediaPart(b *quire.Block) quire.Part {
	p := b.Part
	if p.Media == nil {
		p.Media = &quire.Media{}
	}
	media := *p.Media
	p.Media = &media
	if p.Data != "" && media.Hash == (quire.Hash{}) {
		p.Media.Hash, p.Media.Bytes = quire.Sum(p.Data), len(p.Data)
	}
	return p
}

// toolsPart is the declaration of tools as one text.
func toolsPart(tools []quire.ToolSpec) quire.Part {
	var b strings.Builder
	for _, t := range tools {
		b.WriteString(t.Name + "\n" + t.Description + "\n")
		if t.Schema != nil {
			b.Write(t.Schema)
			b.WriteByte('\n')
		}
	}
	return quire.Part{Kind: quire.PartTools, Text: b.String()}
}

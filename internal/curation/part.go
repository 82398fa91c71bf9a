package curation

import (
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/trace"
)

// Parts are the parts of a block as a session records them: one, or for a result
// with media one for the text and one for each of them. said is what a text is.
func Parts(b *quire.Block, said quire.PartKind) []quire.Part {
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
		if isMedia(c) {
			m := mediaPart(c)
			m.Tool, m.ToolUse, m.After = b.Tool, b.ToolUse, len(texts)
			media = append(media, m)
			continue
		}
		texts = append(texts, TextOf(c))
	}
	p.Text, p.Cuts = quire.Joined(texts)
	return append([]quire.Part{p}, media...)
}

// isMedia reports whether a piece of a result is a part of its own.
func isMedia(c *quire.Block) bool {
	return c.Kind == quire.PartImage || c.Kind == quire.PartDocument && c.Media != nil
}

// TextOf is the text of a piece, or its bytes where it has no meaning here.
func TextOf(b *quire.Block) string {
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
	if p.Data != "" && p.Kind == quire.PartImage && media.Width == 0 {
		p.Media.Width, p.Media.Height = trace.Dimensions(p.Data) // an image counts by its size: a guess would make epochs that do not pay
	}
	return p
}

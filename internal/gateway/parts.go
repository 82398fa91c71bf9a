package gateway

import (
	"regexp"
	"strings"

	"github.com/quire-agent/quire/internal/curation"
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
		made := curation.Parts(b, kindOf(m.Role))
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
		parts = append(parts, curation.Parts(&blocks[i], quire.PartText)...)
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

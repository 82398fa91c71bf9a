package run

import "github.com/quire-agent/quire/internal/quire"

// PageOf is the page of a tool call's result, 0 where none has entered.
func (s *Step) PageOf(toolUse string) quire.PageNumber {
	for i := len(s.texts.blocks) - 1; i >= 0; i-- {
		h := &s.texts.blocks[i]
		if h.piece.Kind == quire.PartToolResult && h.piece.ToolUse == toolUse {
			return h.page.Number
		}
	}
	return 0
}
